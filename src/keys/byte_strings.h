/*
 * byte_strings.h
 *		Elements of an array or an aggregate as byte strings that order as their type does.
 */
#ifndef MGPU_KEYS_BYTE_STRINGS_H
#define MGPU_KEYS_BYTE_STRINGS_H

#include <locale.h>

#include "core/byte_keys.h"

#include "array/element_type.h"
#include "array/source.h"
#include "keys/byte_encode.h"

/* Strings of elements.  Memory belongs to the context that was current when they were made. */
typedef struct byte_source
{
	mgpu_byte_keys keys;		/* ascending */
	mgpu_span  *spans;
	char	   *arena;			/* NULL: strings lie in the array */
	locale_t	locale;			/* not 0: strings are collated, and their order has to be checked (keys/collated.h) */
} byte_source;

/*
 * Strings of an array's num_items present elements.  The array gets loaded and must stay loaded.
 * Returns false, with nothing to close, if there are no such strings for the type, the collation
 * or one of the elements, or if they are collated and the caller does not want that.
 */
extern bool byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
							 Oid collation, int64 num_items, bool may_collate);

/* Values that do not lie in one array. */
typedef struct byte_cells
{
	const char *cells;			/* cells, end to end */
	uint32		width;			/* of a cell, in bytes */
	bool		variable;		/* each cell points to a value with a 4-byte length word */
	uint32		size;			/* if not variable: bytes of the value at the cell's start */
} byte_cells;

/*
 * Strings of the values of num_items cells, made or copied.  expected_bytes is roughly the size
 * of all values.  Returns false in the same cases, and if strings may exceed 4 GB.
 */
extern bool byte_source_copy(byte_source *bytes, const byte_cells *cells, const element_type *type,
							 Oid collation, int64 num_items, Size expected_bytes);

extern void byte_source_close(byte_source *bytes);

#endif							/* MGPU_KEYS_BYTE_STRINGS_H */

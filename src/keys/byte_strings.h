/*
 * byte_strings.h
 *		Elements of an array or an aggregate as byte strings that order as their
 *		type does.
 */
#ifndef MGPU_KEYS_BYTE_STRINGS_H
#define MGPU_KEYS_BYTE_STRINGS_H

#include "core/byte_keys.h"

#include "array/element_type.h"
#include "array/source.h"
#include "keys/byte_encode.h"

/* Strings, in memory that belongs to the context of byte_source_open. */
typedef struct byte_source
{
	mgpu_byte_keys keys;		/* ascending */
	mgpu_span  *spans;
	char	   *arena;			/* NULL: strings lie in the array */
} byte_source;

/*
 * The num_items present elements of an array, which gets loaded and must stay
 * so.  False, and nothing to close, if they have no such strings: the type has
 * none, or not under this collation, or not for one of these elements.
 */
extern bool byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
							 Oid collation, int64 num_items);

/* Values that do not lie in one array. */
typedef struct byte_cells
{
	const char *cells;			/* one behind the other */
	uint32		width;			/* of a cell, in bytes */
	bool		variable;		/* a cell points to a value, which has a 4-byte length before it */
	uint32		size;			/* else: of the value that it begins with */
} byte_cells;

/*
 * The same for num_items of those, whose strings are copied if they need not be
 * made; expected_bytes is about what all of them take.  False also where strings
 * may be more than 4 GB.
 */
extern bool byte_source_copy(byte_source *bytes, const byte_cells *cells, const element_type *type,
							 Oid collation, int64 num_items, Size expected_bytes);

extern void byte_source_close(byte_source *bytes);

#endif							/* MGPU_KEYS_BYTE_STRINGS_H */

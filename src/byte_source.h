/*
 * byte_source.h
 *		An array's elements as byte strings that order as their type does.
 */
#ifndef MGPU_BYTE_SOURCE_H
#define MGPU_BYTE_SOURCE_H

#include "core/byte_keys.h"

#include "array_source.h"
#include "element_type.h"

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

extern void byte_source_close(byte_source *bytes);

#endif							/* MGPU_BYTE_SOURCE_H */

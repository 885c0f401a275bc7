/*
 * byte_source.h
 *		Elements of an array or an aggregate as byte strings that order as their
 *		type does.
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

/* Whether elements have such strings, as far as type and collation go. */
extern bool byte_source_applies(const element_type *type, Oid collation);

/*
 * The num_items present elements of an array, which gets loaded and must stay
 * so.  False, and nothing to close, if they have no such strings: the type has
 * none, or not under this collation, or not for one of these elements.
 */
extern bool byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
							 Oid collation, int64 num_items);

/*
 * Element i of some that do not lie in one array: all of its bytes where the
 * width is fixed, else with a 4-byte length before them.  Called once for each,
 * in ascending order.
 */
typedef const char *(*byte_element_fn) (void *context, int64 i);

/*
 * The same for num_items of those, whose strings are copied if they need not be
 * made; expected_bytes is about what all of them take.  False also for more than
 * 4 GB of strings.
 */
extern bool byte_source_copy(byte_source *bytes, byte_element_fn element, void *context,
							 const element_type *type, Oid collation, int64 num_items, Size expected_bytes);

extern void byte_source_close(byte_source *bytes);

#endif							/* MGPU_BYTE_SOURCE_H */

/*
 * key_codes.h
 *		Codes of an array's elements, a block of them at a time.
 */
#ifndef MGPU_KEY_CODES_H
#define MGPU_KEY_CODES_H

#include "core/cpu_codec.h"

#include "array_source.h"
#include "element_type.h"
#include "enum_keys.h"

/*
 * 64-bit numbers that order as elements of one width do: no element's code is
 * above that of one behind it.
 */
typedef struct key_codes
{
	const element_type *type;
	const char *data;
	int64		num_items;		/* elements that are there */
	bool		exact;			/* equal codes are equal elements */
	uint64		flip;			/* descending order: all bits */
	mgpu_codec	codec;
	enum_labels *labels;		/* of enums whose OIDs are in no order */
} key_codes;

/* Whether a type's elements have such codes, but for some that its encode refuses. */
extern bool key_codes_apply(const element_type *type);

/* Of a loaded array. */
extern void key_codes_open(key_codes *codes, const array_source *source, const element_type *type, bool descending);
extern void key_codes_close(key_codes *codes);

/* Those of num_items elements from number begin on, NULL ones not counted.  False: some element has none. */
extern bool key_codes_read(const key_codes *codes, int64 begin, int num_items, uint64 *out);

#endif							/* MGPU_KEY_CODES_H */

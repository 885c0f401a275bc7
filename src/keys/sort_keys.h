/*
 * sort_keys.h
 *		The keys of a sort: what stands for each element while it is sorted.
 *
 * This is the one place that chooses among the forms:
 *
 *	 words		numbers of 1 to 16 bytes, equal for equal elements.  They are the
 *				elements' own bytes, or made: codes of encoded types, ranks of labels.
 *	 strings	byte strings that order as the type does.  They are sorted by eight
 *				bytes at a time; ties go by the next eight.
 *	 values		the elements as Datums.  A type that abbreviates to numbers is
 *				sorted by those, and its comparison breaks ties.
 */
#ifndef MGPU_SORT_KEYS_H
#define MGPU_SORT_KEYS_H

#include "array/element_type.h"
#include "array/source.h"
#include "keys/byte_strings.h"

typedef enum key_form
{
	KEY_WORDS,
	KEY_STRINGS,
	KEY_VALUES
} key_form;

typedef struct sort_keys
{
	key_form	form;
	int64		num_items;
	const element_type *type;
	Oid			collation;
	Size		data_bytes;		/* of the elements, for mgpu_last_run() */

	/* words */
	uint32		kind;			/* mgpu_key_kind */
	uint32		width;
	const void *words;			/* NULL: still to be read from stream */
	array_source *stream;
	void	   *own_words;		/* NULL: words belong to the source */

	byte_source strings;
	Datum	   *values;			/* by-reference ones point into the source */
} sort_keys;

/*
 * Keys of the elements of a one-dimensional array that are not NULL, at least one.
 * The source may get loaded; it must stay open while the keys are.
 */
extern void sort_keys_of_array(sort_keys *keys, array_source *source, const element_type *type, Oid collation);

/*
 * The same of two arrays, either of which may have none: both get the same form, in
 * which keys of one compare with those of the other.
 */
extern void sort_keys_of_arrays(sort_keys keys[2], array_source *sources[2], const element_type *type, Oid collation);

/* The same of one array as values, whatever the type. */
extern void sort_keys_as_values(sort_keys *keys, array_source *source, const element_type *type, Oid collation);

/*
 * Keys of num_items rows in memory; cells as in byte_source.h.  data_bytes: about
 * what the values take.
 */
extern void sort_keys_of_cells(sort_keys *keys, const byte_cells *cells, const element_type *type,
							   Oid collation, int64 num_items, Size data_bytes);

extern void sort_keys_free(sort_keys *keys);

/* Whether words are the elements' own bytes, so that sorted words are the result. */
static inline bool
sort_keys_are_elements(const sort_keys *keys)
{
	return keys->form == KEY_WORDS && keys->type->key_kind != 0;
}

#endif							/* MGPU_SORT_KEYS_H */

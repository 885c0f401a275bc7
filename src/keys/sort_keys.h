/*
 * sort_keys.h
 *		The keys of a sort, which represent the elements while they are sorted.
 *
 * This file alone chooses among the forms:
 *
 *	 words		numbers of 1 to 16 bytes, equal for equal elements: the elements' own
 *				bytes, codes made from them, or ranks of enum labels
 *	 strings	byte strings that order as the type does.  They are sorted eight
 *				bytes at a time; ties go by the next eight.
 *	 values		the elements as Datums.  If the type abbreviates to numbers, those
 *				are sorted first, and its comparison breaks ties.
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
	Datum	   *values;			/* pass-by-reference values point into the source */
} sort_keys;

/*
 * Keys of a one-dimensional array's present elements, of which there is at least one.  The source
 * may get loaded.  It must stay open as long as the keys.
 */
extern void sort_keys_of_array(sort_keys *keys, array_source *source, const element_type *type, Oid collation);

/*
 * Keys of two arrays, either of which may have no present elements.  Both get the same form, and
 * keys of one array compare with keys of the other.
 */
extern void sort_keys_of_arrays(sort_keys keys[2], array_source *sources[2], const element_type *type, Oid collation);

/* Keys of one array as values, whatever the type. */
extern void sort_keys_as_values(sort_keys *keys, array_source *source, const element_type *type, Oid collation);

/*
 * Keys of num_items rows in memory; byte_strings.h explains cells.  data_bytes is roughly the
 * size of the values.
 */
extern void sort_keys_of_cells(sort_keys *keys, const byte_cells *cells, const element_type *type,
							   Oid collation, int64 num_items, Size data_bytes);

extern void sort_keys_free(sort_keys *keys);

/* Whether the words are the elements' own bytes, so that sorted words are sorted elements. */
static inline bool
sort_keys_are_elements(const sort_keys *keys)
{
	return keys->form == KEY_WORDS && keys->type->key_kind != 0;
}

#endif							/* MGPU_SORT_KEYS_H */

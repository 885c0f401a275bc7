/*
 * index_keys.h
 *		The key columns of a btree index as numbers or bytes that order as the index does.
 *
 * A row whose keys and NULLs fit in 80 bits is a number, from which its index tuple is made again.  Any other row keeps its
 * index tuple, and its keys are a string of bytes: for each column a byte that tells NULLs from values, and the value's bytes.  Where
 * one begins another, the shorter one is first.
 */
#ifndef MGPU_INDEX_KEYS_H
#define MGPU_INDEX_KEYS_H

#include <locale.h>

#include "access/itup.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "core/cpu_codec.h"

#include "keys/byte_encode.h"

/* Bits of a row's number that its place in the table leaves. */
#define INDEX_CODE_BITS 80

/* Bytes of a string that an item has. */
#define INDEX_ITEM_BYTES 8

/* Longest value whose string is made without an allocation: PostgreSQL compresses longer ones, and threads leave those alone. */
#define INDEX_NEAR_BYTES 1024

typedef struct index_key
{
	uint32		kind;			/* mgpu_key_kind; 0: variable width */
	uint32		width;			/* of a value, in bytes */
	byte_encode_fn encode;		/* variable width: makes the bytes; NULL: they are the value's own */
	locale_t	locale;			/* not 0: they are collated (keys/collated.h) */
	bool		by_value;
	bool		descending;
	bool		nulls_first;
	uint16		offset;			/* of the value in the data of a tuple without NULLs, if rows are numbers */
} index_key;

typedef struct index_keys
{
	Relation	index;
	int			num_columns;	/* with those that are included */
	int			num_keys;
	bool		are_numbers;	/* keys fit, and there are no other columns */
	bool		is_collated;	/* the order of strings has to be checked */
	bool		are_values;		/* strings are the only key's own bytes behind one byte, without an end: one may begin another */
	Size		rest_begin;		/* where what items do not have of strings begins */
	uint32		number_bits;
	uint32		plain_bytes;	/* of a tuple without NULLs, if rows are numbers */
	mgpu_u128	null_bits;		/* of numbers, those that tell NULLs from values */
	mgpu_u128	no_null;		/* these bits of a row without NULLs */
	index_key	keys[INDEX_MAX_KEYS];
} index_keys;

/* Fill keys for an index.  Returns why that cannot be done, a constant clause, or NULL. */
extern const char *index_keys_fill(index_keys *keys, Relation index);

/* The number of a row.  False: a tuple that is made from it would not have the values' own bits. */
extern bool index_keys_number(const index_keys *keys, const Datum *values, const bool *nulls, mgpu_u128 *number);

/* Make the tuple of a number in a buffer of INDEX_NUMBER_TUPLE_BYTES, aligned to 8, but for its place in the table. */
#define INDEX_NUMBER_TUPLE_BYTES 128
extern IndexTuple index_keys_tuple(const index_keys *keys, mgpu_u128 number, char *buffer);

/* The same, of a number without NULLs, in plain_bytes. */
extern void index_keys_write_plain(const index_keys *keys, mgpu_u128 number, char *buffer);

/* Whether a key of the number is NULL. */
static inline bool
index_keys_has_null(const index_keys *keys, mgpu_u128 number)
{
	return (number & keys->null_bits) != keys->no_null;
}

/*
 * The numbers of the rows of a page, one key after the other: the next key's values, where NULL stands for NULL, are added
 * to the numbers of those before.  False: as above.
 */
extern bool index_keys_add_values(const index_key *key, const char *const *values, uint32 num_rows, mgpu_u128 *numbers);

/* Bytes that hold the string of a row whose values are not toasted. */
extern Size index_keys_space(const index_keys *keys, const Datum *values, const bool *nulls);

/* Write the string and return its length, or 0 if a value is malformed. */
extern Size index_keys_bytes(const index_keys *keys, const Datum *values, const bool *nulls, unsigned char *out);

#endif							/* MGPU_INDEX_KEYS_H */

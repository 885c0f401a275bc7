/*
 * group_keys.h
 *		Grouping keys of rows: which are equal, their hashes and codes.
 */
#ifndef MGPU_BATCH_GROUP_KEYS_H
#define MGPU_BATCH_GROUP_KEYS_H

#include "batch/pick.h"

/* How the values of a column are compared.  Equal values have equal hashes in each form. */
typedef enum group_key_form
{
	GROUP_KEY_BITS,				/* fixed width; equal values have equal bytes */
	GROUP_KEY_FLOAT,			/* float4, float8: zeros are equal, and so are NaNs */
	GROUP_KEY_VARLENA,			/* variable width; equal values have equal bytes, but for trailing blanks of bpchar */
	GROUP_KEY_NUMERIC,			/* by an encoding of the digits, and the type's equality */
	GROUP_KEY_CALLS				/* by the type's functions */
} group_key_form;

typedef struct group_key
{
	int			column;			/* of the rows */
	group_key_form form;
	bool		is_padded;		/* trailing blanks do not count */
	Oid			collation;
	FmgrInfo	equal;			/* for the last two forms */
	FmgrInfo	hash;			/* for GROUP_KEY_CALLS, of keys that group_key_fill has filled */
} group_key;

typedef struct group_keys
{
	int			num_keys;
	group_key  *keys;
} group_keys;

/* Fill a key, except for its column, to tell whether values are equal.  Functions live in the current context. */
extern void group_key_fill_equal(group_key *key, Oid type_id, Oid equality, Oid collation);

/*
 * The same, to hash values too.  False: values of the type cannot be hashed, or equality is
 * not the type's own.
 */
extern bool group_key_fill(group_key *key, Oid type_id, Oid equality, Oid collation);

/*
 * Functions of types may leave memory behind, for each row: before calls, switch to a context of their own, and return the
 * caller's; after them, delete it.
 */
extern MemoryContext group_calls_start(void);
extern void group_calls_end(MemoryContext caller);

/* Hash the keys of num_rows rows.  keys is a group_keys: this is a spill's function. */
extern void group_keys_hash(const void *keys, const chunk *rows, uint64 first, uint32 num_rows, uint64 seed,
							uint64 *hashes);

/* Whether two values, of the same column in chunks, are equal. */
extern bool group_key_values_equal(const group_key *key, const column *col_a, uint64 a, const column *col_b, uint64 b);

/* Whether two rows, of chunks with the same columns, are equal in the first num_keys keys. */
extern bool group_keys_equal(const group_keys *keys, int num_keys, const chunk *rows_a, uint64 a, const chunk *rows_b,
							 uint64 b);

/* Rows, and for each the number of a row of known, a chunk with the same columns; known's number of rows stands for none. */
typedef struct row_pairs
{
	const chunk *rows;
	const chunk *known;
	const uint32 *numbers;
} row_pairs;

/* Clear equal[i], for each pair, unless its rows are equal in all keys or one of them is none. */
extern void group_keys_compare(const group_keys *keys, const row_pairs *pairs, bool *equal);

/* Bits of a code that holds all keys of a row, and whether they are NULL if with_nulls; above 64, codes are hashes. */
extern uint32 group_keys_bits(const group_keys *keys, const chunk *rows, bool with_nulls);

/*
 * Make the codes of num_rows rows.  Rows with equal keys have equal codes, in all chunks with the same columns, but if with_nulls only
 * in this one.  True: rows with different keys have different ones.
 */
extern bool group_keys_codes(const group_keys *keys, const chunk *rows, uint64 first, uint32 num_rows, bool with_nulls,
							 uint64 *codes);

/* The last step of MurmurHash3: all bits depend on all bits. */
static inline uint64
group_code_hash(uint64 code)
{
	code = (code ^ (code >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	code = (code ^ (code >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return code ^ (code >> 33);
}

#endif							/* MGPU_BATCH_GROUP_KEYS_H */

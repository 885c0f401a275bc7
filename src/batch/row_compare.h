/*
 * row_compare.h
 *		The order of rows by several keys, as a number of each row where that decides, else by comparison.
 *
 * The first key makes the number, its code: rows with a smaller one come first.  Other types than numbers and strings of bytes
 * are compared by PostgreSQL's functions, and so are rows whose codes are equal and do not decide.  Codes of all keys, as
 * sorts make them, were rejected: most rows are compared once, with the last row that is still wanted.
 */
#ifndef MGPU_BATCH_ROW_COMPARE_H
#define MGPU_BATCH_ROW_COMPARE_H

#include "utils/sortsupport.h"

#include "batch/chunk.h"

typedef struct compare_key
{
	int			column;
	bool		has_codes;		/* equal ones are of equal values */
	bool		has_prefixes;	/* the values' first bytes are codes; if equal, the values may differ */
	bool		descending;		/* these two only */
	bool		by_bytes;		/* values are equal if their bytes are, and only then */
	SortSupportData support;
} compare_key;

typedef struct row_compare
{
	int			num_keys;
	compare_key *keys;
} row_compare;

/* An order key as plans name it. */
typedef struct order_key
{
	int			column;
	Oid			operator;		/* of a btree operator family: its < or > */
	Oid			collation;
	bool		nulls_first;
} order_key;

/* Fill a key, in the current context, for values of a type. */
extern void row_compare_fill(compare_key *key, const order_key *by, Oid type_id);

/* Whether such keys have codes. */
extern bool row_compare_has_codes(Oid type_id, Oid operator);

/* The code of a NULL that comes last. */
#define ROW_CODE_LAST PG_UINT64_MAX

/* Make a code for each row. */
extern void row_compare_codes(const row_compare *order, const chunk *rows, uint64 *codes);

/* Compare two rows whose codes are the same, of chunks with the same columns.  May leave memory behind. */
extern int	row_compare_ties(const row_compare *order, uint64 code, const chunk *rows_a, uint64 a, const chunk *rows_b,
							 uint64 b);

/* Whether two rows, of chunks with the same columns, are equal in all keys.  May leave memory behind. */
extern bool row_compare_are_equal(const row_compare *order, const chunk *rows_a, uint64 a, const chunk *rows_b, uint64 b);

#endif							/* MGPU_BATCH_ROW_COMPARE_H */

/*
 * group_spec.h
 *		What a job of MGPU_OP_GROUP reads from the pages of a heap table, and what it returns of each group or row.
 *
 * A device reads pages where they are, in shared buffers, or copies of them.  It decodes some attributes of each row
 * as columns, keeps the rows that meet all filters, and groups these by the key columns.  Of each group it returns a
 * record of 8-byte words:
 *
 *	 rows | NULL keys | key ... | reduction ... | sort ...
 *
 *	 rows			how many the group has
 *	 NULL keys		bit i: key i is NULL
 *	 key			its code, one word for each key
 *	 reduction		of each column with one, in the order of the columns: see mgpu_reduction
 *	 sort			of each sort: how many values the group has that are not NULL; how many different ones, if that
 *					is asked for; of each percentile two codes: see mgpu_group_percentile
 *
 * and, for each sort that asks for them, the values of all groups that are not NULL, as they are stored: group after
 * group, in the order of the records, those of a group in order.  Groups come in any order.  Without keys there is one group, even of no
 * rows.
 *
 * Or, if the spec has a limit, it returns the first rows of each group: their marks (MGPU_MARK_...) and, for each column that is
 * returned, its values as they are stored, 0 for NULL.  Groups come in the order of their keys, NULLs last.  The rows of a group are
 * in the order of the order columns, equal ones as they were read.
 *
 * A column's code is a number that orders as its values do (mgpu_column_code).  Rows are taken in the order of pages
 * and, in a page, of line pointers.
 *
 * A spec is plain data, and comes from another process: mgpu_group_validate checks all that could lead astray.
 */
#ifndef MGPU_GROUP_SPEC_H
#define MGPU_GROUP_SPEC_H

#include <math.h>
#include <stdbool.h>

#include "key_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The only size of pages for which devices have code; PostgreSQL's default. */
#define MGPU_PAGE_BYTES 8192

#define MGPU_GROUP_MAX_ATTRIBUTES 128
#define MGPU_GROUP_MAX_COLUMNS 8
#define MGPU_GROUP_MAX_FILTERS 8
#define MGPU_GROUP_MAX_KEYS 4
#define MGPU_GROUP_MAX_SORTS 4
#define MGPU_GROUP_MAX_PERCENTILES 4
#define MGPU_GROUP_MAX_ORDERS 4

/* A device looks for the ends of so many different rows of a group, one after the other. */
#define MGPU_GROUP_MAX_DENSE_RANKS 100

/* Outputs beside records or marks: the values of each sort, or of each column. */
#define MGPU_GROUP_MAX_VALUES MGPU_GROUP_MAX_COLUMNS

/* A page of a batch of input: the batch begins with these. */
typedef struct mgpu_page_ref
{
	uint32_t	number;			/* of a shared buffer, from 0; or of a copy in this batch */
	uint16_t	num_items;		/* line pointers to look at, from the first on; those that are not normal are passed over */
	uint16_t	is_copy;		/* 0 or 1 */
} mgpu_page_ref;

/* Copies lie behind, each of MGPU_PAGE_BYTES, from this offset of the batch on. */
#define MGPU_PAGE_COPIES_OFFSET MGPU_PAGE_BYTES

/* Pages of a batch, at most.  A device reads these in 20 us. */
#define MGPU_BATCH_PAGES 128

/* An attribute of the table, up to the last that is read. */
typedef struct mgpu_group_attribute
{
	int16_t		length;			/* bytes; -1: a varlena, -2: a C string */
	uint8_t		align;			/* 1, 2, 4 or 8 */
	int8_t		column;			/* that holds it, or -1 */
} mgpu_group_attribute;

/* What is computed of the values of a column that are not NULL, and the words that it takes in a record. */
typedef enum mgpu_reduction
{
	MGPU_REDUCE_NONE = 0,
	/* where the count is 0, sums are too, the least code is UINT64_MAX, and the greatest 0 */
	MGPU_REDUCE_COUNT,			/* count */
	MGPU_REDUCE_INTEGER,		/* count, low, high, least code, greatest code: the sum is high * 2^32 + low, where
								 * low is that of the values' low 32 bits, unsigned, high of the rest, signed */
	MGPU_REDUCE_REAL,			/* count, sum, 0, float4 sum, least code, greatest code: sums as the bits of floats, of
								 * values added in the order of the rows */
	MGPU_REDUCE_SPREAD			/* as REAL, with the sum of squared differences in place of 0, as float8_accum has it */
} mgpu_reduction;

/* A column: an attribute of fixed width, passed by value. */
typedef struct mgpu_group_column
{
	uint32_t	kind;			/* MGPU_KEY_UNSIGNED, MGPU_KEY_SIGNED, MGPU_KEY_FLOAT */
	uint32_t	width;			/* 1, 2, 4, 8 bytes: as in mgpu_job */
	int32_t		offset;			/* in rows that have all attributes and no NULL; -1: it depends on the row */
	uint32_t	reduction;		/* mgpu_reduction */

	/*
	 * More than the order of values matters: a float's code is not enough.  A job that meets a negative zero here, or
	 * a NaN other than PostgreSQL's own, ends with MGPU_UNSUPPORTED.
	 */
	uint8_t		is_shown;
	uint8_t		is_returned;	/* of rows */
	uint8_t		missing_is_null;	/* rows that are older than the attribute: have NULL ... */
	uint64_t	missing;		/* ... or these stored bits, zero-extended */
} mgpu_group_column;

/* A condition on a column.  outcomes 0: only whether it is NULL counts. */
#define MGPU_FILTER_LESS 1
#define MGPU_FILTER_EQUAL 2
#define MGPU_FILTER_GREATER 4

typedef struct mgpu_group_filter
{
	uint32_t	column;
	uint32_t	outcomes;		/* of a comparison with code that are kept */
	uint64_t	code;
	uint8_t		keeps_null;
	uint8_t		keeps_value;	/* if outcomes is 0 */
} mgpu_group_filter;

/* What comes back of a sort, or-ed. */
#define MGPU_SORT_VALUES	0x1
#define MGPU_SORT_DISTINCT	0x2

/* The codes of the sorted values between which a percentile lies; twice that of the value, if it is one. */
typedef struct mgpu_group_percentile
{
	double		fraction;		/* 0 to 1 */
	uint32_t	continuous;		/* 0 or 1 */
} mgpu_group_percentile;

typedef struct mgpu_group_sort
{
	uint32_t	column;
	uint32_t	descending;		/* 0 or 1 */
	uint32_t	returns;		/* MGPU_SORT_... */
	uint32_t	num_percentiles;
	mgpu_group_percentile percentiles[MGPU_GROUP_MAX_PERCENTILES];
} mgpu_group_sort;

/* The number of a row in its group that is limited. */
typedef enum mgpu_group_limit
{
	MGPU_LIMIT_NONE = 0,		/* groups come back, not rows */
	MGPU_LIMIT_ROWS,			/* its place */
	MGPU_LIMIT_RANKS,			/* one more than there are rows before it that differ from it in the order columns */
	MGPU_LIMIT_DENSE_RANKS		/* one more than there are different such rows */
} mgpu_group_limit;

typedef struct mgpu_group_order
{
	uint32_t	column;
	uint8_t		descending;
	uint8_t		nulls_first;
} mgpu_group_order;

/* Of each row that comes back, 16 bits.  Bit i: column i is NULL. */
#define MGPU_MARK_GROUP		0x100	/* the first row of its group */
#define MGPU_MARK_PEERS		0x200	/* so too, or the row before it differs in an order column */

typedef struct mgpu_group_spec
{
	uint32_t	num_attributes;
	uint32_t	num_columns;
	uint32_t	num_filters;
	uint32_t	num_keys;
	uint32_t	num_sorts;
	uint32_t	num_orders;
	uint32_t	limit_rule;		/* mgpu_group_limit: without one, there are no order columns */
	uint32_t	num_fixed;		/* attributes at the front whose offsets are fixed, if none is NULL ... */
	uint32_t	fixed_end;		/* ... and the offset behind them */
	mgpu_group_attribute attributes[MGPU_GROUP_MAX_ATTRIBUTES];
	mgpu_group_column columns[MGPU_GROUP_MAX_COLUMNS];
	mgpu_group_filter filters[MGPU_GROUP_MAX_FILTERS];
	uint32_t	keys[MGPU_GROUP_MAX_KEYS];	/* columns */
	mgpu_group_sort sorts[MGPU_GROUP_MAX_SORTS];
	mgpu_group_order orders[MGPU_GROUP_MAX_ORDERS];
	uint64_t	limit;			/* the last number that comes back, from 1 on; dense ranks have a most */
} mgpu_group_spec;

/* Where the words of a record are, from 0. */
typedef struct mgpu_group_record
{
	uint32_t	keys;			/* of the first key */
	uint32_t	reductions[MGPU_GROUP_MAX_COLUMNS];	/* of the first word, if the column has a reduction */
	uint32_t	sorts[MGPU_GROUP_MAX_SORTS];	/* of the first word: the count */
	uint32_t	percentiles[MGPU_GROUP_MAX_SORTS];	/* of the first percentile's */
	uint32_t	num_words;
} mgpu_group_record;

/* What a job has found, once its kernels have ended. */
typedef struct mgpu_group_result
{
	uint64_t	num_read;		/* rows that were looked at: normal line pointers */
	uint64_t	num_rows;		/* that met the filters */
	uint64_t	num_groups;
	uint64_t	num_returned;	/* rows that come back, if the spec has a limit */
	uint64_t	num_sorted[MGPU_GROUP_MAX_SORTS];	/* values that come back, of all groups */
} mgpu_group_result;

/* The outputs of a job: records or marks, then the values of each sort or column. */
#define MGPU_GROUP_OUTPUTS (1 + MGPU_GROUP_MAX_VALUES)

/* The next bytes of an output. */
typedef struct mgpu_group_piece
{
	uint32_t	output;
	const void *data;
	uint64_t	num_bytes;
} mgpu_group_piece;

/* MGPU_OK, or MGPU_BAD_JOB with the first broken rule. */
mgpu_status mgpu_group_validate(const mgpu_group_spec *spec, mgpu_error *err);

void		mgpu_group_plan_record(const mgpu_group_spec *spec, mgpu_group_record *record);

/* Bytes of the records or marks of a result, of the values of one sort or column, and of an output: the one or the other. */
uint64_t	mgpu_group_record_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result);
uint64_t	mgpu_group_value_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result, uint32_t number);
uint64_t	mgpu_group_output_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result, uint32_t output);

/* Where a percentile of num_values sorted values lies, which are at least one. */
MGPU_CODEC void
mgpu_percentile_positions(const mgpu_group_percentile *percentile, int64_t num_values, int64_t *low, int64_t *high)
{
	double		place = percentile->fraction * (double) (percentile->continuous ? num_values - 1 : num_values);

	*low = (int64_t) (percentile->continuous ? floor(place) : ceil(place) - 1);
	*high = percentile->continuous ? (int64_t) ceil(place) : *low;
	if (*low < 0)
		*low = *high = 0;
}

/* The ascending code of a stored value, whose bits are zero-extended. */
MGPU_CODEC uint64_t
mgpu_column_code(uint64_t bits, uint32_t kind, uint32_t width)
{
	if (kind == MGPU_KEY_FLOAT)
		return width == 4 ? mgpu_encode_f32((uint32_t) bits) : mgpu_encode_f64(bits);
	if (kind == MGPU_KEY_UNSIGNED)
		return bits;
	if (width < 8 && (bits >> (width * 8 - 1) & 1) != 0)
		bits |= ~UINT64_C(0) << width * 8;
	return bits ^ MGPU_F64_SIGN;
}

/* The stored bits of a code: signed ones in 64 bits. */
MGPU_CODEC uint64_t
mgpu_column_bits(uint64_t code, uint32_t kind, uint32_t width)
{
	if (kind == MGPU_KEY_FLOAT)
		return width == 4 ? mgpu_decode_f32((uint32_t) code) : mgpu_decode_f64(code);
	return kind == MGPU_KEY_SIGNED ? code ^ MGPU_F64_SIGN : code;
}

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_GROUP_SPEC_H */

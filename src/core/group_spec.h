/*
 * group_spec.h
 *		What a job of MGPU_OP_GROUP reads from the pages of a heap table, and what it returns of each group or row.
 *
 * An executor reads pages where they are, in shared buffers, or copies of them.  It finds some attributes of each row, the inputs
 * of a program (program.h).  The program's first operations compute the tests, one after the other: a row that fails one needs no
 * operation behind it.  The others compute the columns of kept rows, which are grouped by the key columns.  Of each group a record of 8-byte words comes back:
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
 * Or rows come that are no page's (mgpu_row_batch), for which threads alone have a job.
 *
 * A program may look rows up in builds (build.h), which are the job's other input.  One of its inputs may be the row's TID (mgpu_tid_of, group_decode.h).
 *
 * A row whose test or column is a fault ends the job with MGPU_UNSUPPORTED, unless a test before drops the row.
 *
 * Or, if the spec has a limit, the first rows of each group come back: their marks (MGPU_MARK_...) and, for each column that is
 * returned, its values as they are stored, 0 for NULL.  Groups come in the order of their keys, NULLs last.  The rows of a group are
 * in the order of the order columns, equal ones as they were read.
 *
 * A value may be several columns, one behind the other, such as the words of a text: its first column is a head, which tells how many.
 * The codes of all order such values, from the first one on, and all are NULL or none.  They can be reduced to extremes, or as pairs of
 * floats, and counted in sorts: those that differ.
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

#include "build.h"
#include "input_batch.h"
#include "key_codec.h"
#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MGPU_GROUP_MAX_ATTRIBUTES 128
#define MGPU_GROUP_MAX_INPUTS 32
#define MGPU_GROUP_MAX_TESTS 16
#define MGPU_GROUP_MAX_COLUMNS 30	/* a mark has a bit for each */
#define MGPU_GROUP_MAX_KEYS 16
#define MGPU_GROUP_MAX_CELLS 8		/* columns of one value */
#define MGPU_GROUP_MAX_SORTS 8
#define MGPU_GROUP_MAX_PERCENTILES 4
#define MGPU_GROUP_MAX_ORDERS 16
#define MGPU_GROUP_MAX_OPS 256
#define MGPU_GROUP_MAX_REGISTERS 64
#define MGPU_GROUP_MAX_CONSTANTS 32
#define MGPU_GROUP_TABLE_BYTES 8192
#define MGPU_GROUP_MAX_BUILDS 8

/* A device looks for the ends of so many different rows of a group, one after the other. */
#define MGPU_GROUP_MAX_DENSE_RANKS 100

/* Outputs beside records or marks: the values of each sort, or of each column. */
#define MGPU_GROUP_MAX_VALUES MGPU_GROUP_MAX_COLUMNS

/* An attribute of the table, up to the last that is read. */
typedef struct mgpu_group_attribute
{
	int16_t		length;			/* bytes; -1: a varlena, -2: a C string */
	uint8_t		align;			/* 1, 2, 4 or 8 */
	int8_t		input;			/* that it is, or -1 */
} mgpu_group_attribute;

/* An attribute that the program loads. */
typedef struct mgpu_group_input
{
	int32_t		length;			/* the attribute's */
	int32_t		offset;			/* in rows that have all attributes and no NULL; -1: it depends on the row */
	int32_t		missing;		/* what rows have that are older than the attribute: an offset into the tables, or -1 for NULL */
} mgpu_group_input;

/* What one of the first registers holds. */
typedef struct mgpu_group_constant
{
	int64_t		bits;			/* of a number; of bytes, their offset in the tables */
	uint32_t	length;			/* of bytes */
	uint32_t	is_null;		/* 0 or 1 */
} mgpu_group_constant;

/* Rows are kept whose register is true, once the operations up to here have run. */
typedef struct mgpu_group_test
{
	uint32_t	reg;
	uint32_t	end_op;			/* behind its operations: no less than that of the test before */
} mgpu_group_test;

/* What becomes of a row that has matches, or none. */
typedef enum mgpu_match_kind
{
	MGPU_MATCH_PAIRS = 0,		/* as many rows as it has matches */
	MGPU_MATCH_ALL,				/* so too; one without any is kept, as if the build's row were NULL */
	MGPU_MATCH_SOME,			/* it is kept if it has a match */
	MGPU_MATCH_NONE,			/* it is kept if it has none */
	MGPU_MATCH_MARKS			/* it marks its matches, and that is all */
} mgpu_match_kind;

/* Rows of a build that come once all others have, with NULL for what the table has: none, those that no row has matched, or the others. */
typedef enum mgpu_match_adds {MGPU_ADDS_NOTHING = 0, MGPU_ADDS_UNMATCHED, MGPU_ADDS_MATCHED} mgpu_match_adds;

/*
 * A row that has met so many tests, at least one, may match rows of a build: that which is in a register, if it is not NULL, and those with the
 * same key (mgpu_build_next).  A pair is a match if it meets the next tests, the conditions.  Without conditions, a row that has none has met the
 * tests before.  If rows of the build come themselves, that match is the first; those of each round of a build come at its end.
 */
typedef struct mgpu_group_match
{
	uint32_t	test;
	uint32_t	num_conditions;	/* tests; SOME and NONE have some */
	uint32_t	build;
	uint32_t	reg;
	uint32_t	kind;			/* mgpu_match_kind */
	uint32_t	adds;			/* mgpu_match_adds: of MARKS, something */
} mgpu_group_match;

/* What is computed of the values of a column that are not NULL, and the words that it takes in a record. */
typedef enum mgpu_reduction
{
	MGPU_REDUCE_NONE = 0,
	/* where the count is 0, sums are too, the least code is UINT64_MAX, and the greatest 0 */
	MGPU_REDUCE_COUNT,			/* count */
	MGPU_REDUCE_INTEGER,		/* count, low, high, least code, greatest code: the sum is high * 2^32 + low, where
								 * low is that of the values' low 32 bits, unsigned, high of the rest, signed; of floats, it is 0 */
	MGPU_REDUCE_EXTREMES,		/* of a head: count, the codes of the least value, those of the greatest */
	MGPU_REDUCE_BITS,			/* by threads alone, of signed integers: as INTEGER, and behind it the bits that any value has, and those that all have */
	MGPU_REDUCE_REAL,			/* count, sum, 0, float4 sum, least code, greatest code: sums as the bits of floats, of
								 * values added in the order of the rows */
	MGPU_REDUCE_SPREAD,			/* as REAL, with the sum of squared differences in place of 0, as float8_accum has it */
	MGPU_REDUCE_PAIRS			/* of a head of two columns, y and x: count, Sx, Sxx, Sy, Syy, Sxy, as the bits of floats, as
								 * float8_regr_accum has them; all 0 where the count is */
} mgpu_reduction;

/* A column: what a register holds of kept rows.  Of a register of bytes without names, only whether they are NULL. */
typedef struct mgpu_group_column
{
	uint32_t	kind;			/* MGPU_KEY_UNSIGNED, MGPU_KEY_SIGNED, MGPU_KEY_FLOAT */
	uint32_t	width;			/* of values that come back: 1, 2, 4, 8 bytes, as in mgpu_job */
	uint32_t	reg;
	uint32_t	reduction;		/* mgpu_reduction */

	/*
	 * More than the order of values matters: a float's code is not enough.  A job that meets a negative zero here, or
	 * a NaN other than PostgreSQL's own, ends with MGPU_UNSUPPORTED.
	 */
	uint8_t		is_shown;
	uint8_t		is_returned;	/* of rows */
	uint8_t		num_cells;		/* of a head: columns that its values have, itself among them; else 0 */

	/* By threads alone.  EXTREMES are those of the spec's locale: codes of a head, maybe its only column, are a text, zeros and its length. */
	uint8_t		is_collated;
	uint8_t		is_named;		/* of a register of bytes: numbers among the binding's names, which have no order */
} mgpu_group_column;

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
	uint32_t	returns;		/* MGPU_SORT_...; of a head MGPU_SORT_DISTINCT alone, and no percentiles */
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

/* Of each row that comes back: 32 bits.  Bit i: column i is NULL. */
#define MGPU_MARK_GROUP	(UINT32_C(1) << 30)	/* the first row of its group */
#define MGPU_MARK_PEERS	(UINT32_C(1) << 31)	/* so too, or the row before it differs in an order column */

typedef struct mgpu_group_spec
{
	uint32_t	num_attributes;
	uint32_t	num_inputs;
	uint32_t	num_tests;
	uint32_t	num_columns;
	uint32_t	num_keys;
	uint32_t	num_sorts;
	uint32_t	num_orders;
	uint32_t	num_builds;
	uint32_t	limit_rule;		/* mgpu_group_limit: without one, there are no order columns */

	uint32_t	num_matches;
	uint16_t	takes_rows;		/* 0 or 1: input is batches of rows (mgpu_row_batch) in place of pages */
	uint16_t	tid_input;		/* one more than the input that is the row's TID, of 8 bytes, and no attribute; 0: none is */
	uint32_t	locale;			/* by its name in the C library, in the tables: where a column is collated, or texts are compared by it */
	uint64_t	limit;			/* the last number that comes back, from 1 on; dense ranks have a most */
	uint32_t	num_fixed;		/* attributes at the front whose offsets are fixed, if none is NULL ... */
	uint32_t	fixed_end;		/* ... and the offset behind them */
	mgpu_group_attribute attributes[MGPU_GROUP_MAX_ATTRIBUTES];
	mgpu_group_input inputs[MGPU_GROUP_MAX_INPUTS];
	mgpu_group_test tests[MGPU_GROUP_MAX_TESTS];	/* in the order in which they count */
	mgpu_group_match matches[MGPU_GROUP_MAX_BUILDS];	/* by their tests, of which no two are the same */
	mgpu_group_column columns[MGPU_GROUP_MAX_COLUMNS];
	uint32_t	keys[MGPU_GROUP_MAX_KEYS];	/* columns */
	mgpu_group_sort sorts[MGPU_GROUP_MAX_SORTS];
	mgpu_group_order orders[MGPU_GROUP_MAX_ORDERS];

	/* the program */
	uint32_t	num_ops;
	uint32_t	num_registers;
	uint32_t	num_constants;	/* the first registers */
	uint32_t	table_bytes;
	mgpu_program_op ops[MGPU_GROUP_MAX_OPS];
	uint8_t		lanes[MGPU_GROUP_MAX_REGISTERS];	/* mgpu_lane */
	mgpu_group_constant constants[MGPU_GROUP_MAX_CONSTANTS];
	uint64_t	tables[MGPU_GROUP_TABLE_BYTES / sizeof(uint64_t)];
	mgpu_build	builds[MGPU_GROUP_MAX_BUILDS];
	uint64_t	build_bytes;	/* of all builds: a multiple of 8 */
	uint64_t	name_bytes;		/* that texts of named columns are expected to take */
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
	uint64_t	read_of_source[MGPU_GROUP_MAX_SOURCES];	/* num_read, num_rows of each */
	uint64_t	rows_of_source[MGPU_GROUP_MAX_SOURCES];
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

/* The name of the locale of collated columns, or NULL: there is none in the tables. */
const char *mgpu_group_locale(const mgpu_group_spec *spec);

/* Whether there are such columns, or some that are named; in either case, or of rows that are no page's, CPU threads alone have the job. */
bool		mgpu_group_is_collated(const mgpu_group_spec *spec);
bool		mgpu_group_is_named(const mgpu_group_spec *spec);
bool		mgpu_group_needs_threads(const mgpu_group_spec *spec);

bool		mgpu_group_passes_rows(const mgpu_group_spec *spec);	/* all come back as they come */

/* Of the counts of a spec that are valid: its tests, constants, operations, and registers of columns. */
mgpu_status mgpu_group_validate_program(const mgpu_group_spec *spec, mgpu_error *err);

void		mgpu_group_plan_record(const mgpu_group_spec *spec, mgpu_group_record *record);

/* Bytes of the records or marks of a result, of the values of one sort or column, and of an output: the one or the other. */
uint64_t	mgpu_group_record_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result);
uint64_t	mgpu_group_value_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result, uint32_t number);
uint64_t	mgpu_group_output_bytes(const mgpu_group_spec *spec, const mgpu_group_result *result, uint32_t output);

/* Tests up to the last condition of a match. */
MGPU_CODEC uint32_t
mgpu_group_match_end(const mgpu_group_match *match)
{
	return match->test + match->num_conditions;
}

/* Whether a match is more than a look-up where no key of the build repeats. */
MGPU_CODEC bool
mgpu_group_match_stays(const mgpu_group_match *match)
{
	return match->num_conditions > 0 || match->adds != MGPU_ADDS_NOTHING;
}

/* Where the operations of all tests end, and those of columns begin. */
MGPU_CODEC uint32_t
mgpu_group_tests_end(const mgpu_group_spec *spec)
{
	return spec->num_tests > 0 ? spec->tests[spec->num_tests - 1].end_op : 0;
}

/* Whether the only sort is there to count different values: these need no order. */
MGPU_CODEC bool
mgpu_group_only_counts(const mgpu_group_spec *spec)
{
	return spec->num_sorts == 1 && spec->sorts[0].returns == MGPU_SORT_DISTINCT && spec->sorts[0].num_percentiles == 0;
}

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

/* The ascending code of a value: an integer in 64 bits, or the bits of a float of the column's width. */
MGPU_CODEC uint64_t
mgpu_column_code(uint64_t bits, uint32_t kind, uint32_t width)
{
	if (kind == MGPU_KEY_FLOAT)
		return width == 4 ? mgpu_encode_f32((uint32_t) bits) : mgpu_encode_f64(bits);
	return kind == MGPU_KEY_SIGNED ? bits ^ MGPU_F64_SIGN : bits;
}

/* The bits of a code. */
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

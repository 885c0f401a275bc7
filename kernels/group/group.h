/*
 * group/group.h
 *		Kernels that read pages as columns, and that group the rows of such columns.
 *
 * Each call enqueues its work on one stream, allocates nothing and waits for nothing.  In their order:
 *
 *	 decode		a batch of pages → rows behind those of the batches before
 *	 ranges		columns → the least and greatest code of each
 *	 pack		the keys of each row → one number, its group's code
 *	 (a stable sort of codes and row numbers: sort/sorter.h)
 *	 heads		sorted codes → the position where each group begins
 *	 (wide keys)	if keys need more than 63 bits, they are sorted in several passes, and heads compares columns;
 *				then a group's code is its number
 *	 (heads of values)	rows are sorted by the values' columns, and each value's rank takes its place
 *	 records	what a group has beside its reductions: its rows and keys
 *	 reduce		a column's values in the order of groups → words of the records
 *	 (sorts)	pack_values → a sort → counts and percentiles, values
 *	 (a limit)	keys and order columns are packed and sorted, in several passes if they need more than 64 bits;
 *				heads → how many rows of each group are kept → these rows
 *
 * A packed number holds each key's distance from the least one in as many bits as the greatest takes.  NULL is one
 * more than that.  Hashing was rejected: a radix sort of few bits is as fast, and keeps rows in their order, which
 * sums of floats need.  Of wide keys too: rows of equal hashes would have to be told apart.
 */
#ifndef MGPU_GROUP_GROUP_H
#define MGPU_GROUP_GROUP_H

#include <cuda_runtime.h>

#include "core/group_decode.h"

/* Why a run cannot go on: mgpu_group_facts.flags. */
#define MGPU_GROUP_DAMAGED 1	/* a page or row breaks a rule */
#define MGPU_GROUP_ODD 2		/* a shown float whose code is not enough */
#define MGPU_GROUP_OVERFLOW 4	/* of a sum of floats */
#define MGPU_GROUP_FAULT 8		/* a test or column is beyond what programs compute */
#define MGPU_GROUP_FULL 16		/* rows have more matches than the columns have room for */

/* Launches of decode that may be on the device at a time, each with a place of its own in the control block. */
#define MGPU_DECODE_PLACES 8

/* Rows of a build that take the place of a page. */
#define MGPU_DECODE_ADDED 512u

/* Room that there is for rows which have matches, at most: a launch counts up to twice as many (page_rows.cuh). */
#define MGPU_DECODE_MOST_MATCHED (UINT64_C(1) << 29)

/* The total of a launch is read by the next one too. */
#define MGPU_GROUP_TOTALS (2 * MGPU_DECODE_PLACES)

/* What kernels find out. */
typedef struct mgpu_group_facts
{
	uint64_t	rows[MGPU_GROUP_TOTALS];	/* up to a launch of decode, by its number: launch << 32 | rows */
	uint64_t	num_groups;
	uint64_t	num_returned;	/* rows that are kept, if there is a limit */
	uint64_t	read_of_source[MGPU_GROUP_MAX_SOURCES];	/* rows that were looked at, and kept */
	uint64_t	rows_of_source[MGPU_GROUP_MAX_SOURCES];
	uint64_t	largest;		/* rows of the largest group, if that is asked for */
	/* of columns whose range is asked for */
	uint64_t	nulls[MGPU_GROUP_MAX_COLUMNS];	/* how many */
	uint64_t	greatest[MGPU_GROUP_MAX_COLUMNS];	/* code; 0 without values */
	uint64_t	inverse_least[MGPU_GROUP_MAX_COLUMNS];	/* ~ of the least code; 0 without values */
	uint32_t	flags;
} mgpu_group_facts;

/* All 0 at first, but for the spec: it is too large for a kernel's parameters. */
typedef struct mgpu_group_control
{
	mgpu_group_facts facts;
	uint64_t	num_tickets[MGPU_DECODE_PLACES];	/* pages that were begun, of the launches of each place ... */
	uint64_t	num_placed[MGPU_DECODE_PLACES];	/* ... and those whose rows have their places */
	uint64_t	num_different;	/* numbers of the last sort that counts them */
	uint64_t	words[MGPU_DECODE_PLACES][MGPU_BATCH_REFS];	/* what the CTAs of a launch tell each other (page_rows.cuh) */
	mgpu_group_spec spec;
} mgpu_group_control;

/* Rows as columns.  Those that are not stored are NULL. */
typedef struct mgpu_group_columns
{
	uint64_t   *codes[MGPU_GROUP_MAX_COLUMNS];
	uint32_t   *nulls;			/* of each row: bit i: column i is NULL */
	uint64_t	capacity;		/* rows; at most MGPU_MAX_ITEMS */
} mgpu_group_columns;

typedef struct mgpu_decode_request
{
	const mgpu_page_ref *refs;	/* the batch */
	mgpu_page_places places;
	uint64_t	num_tickets;	/* pages of the launches before that had its place */
	uint32_t	num_refs;		/* 1 to MGPU_BATCH_REFS */
	uint32_t	launch;			/* its number, from 1 on */
	mgpu_group_columns columns;
	const char *builds;			/* on the device */
	uint8_t    *marked;			/* of each row of the first match's build, if it has rows to add: whether a row has matched it */
	uint64_t	first_added;	/* instead of pages: of that build, rows from this one on ... */
	uint32_t	num_added;		/* ... if there are some, each num_refs MGPU_DECODE_ADDED, the last ones what is left */
	mgpu_group_control *control;
	uint64_t   *progress;		/* host memory: launch << 32 | rows, once it knows its rows */
	uint64_t   *landed;			/* host memory: landed_number, once it needs the batch and its pages no more */
	uint64_t	landed_number;
} mgpu_decode_request;

/* Of which columns the ranges go to the facts.  The device knows how many rows there are. */
typedef struct mgpu_ranges_request
{
	mgpu_group_columns columns;
	uint32_t	mask;			/* a bit for each column */
	uint32_t	launch;			/* the last one of decode */
	mgpu_group_facts *facts;
} mgpu_ranges_request;

/* Columns by which rows are told apart, where no number holds them. */
typedef struct mgpu_group_keys
{
	const uint32_t *nulls;
	uint32_t	num_keys;
	uint32_t	columns[MGPU_GROUP_MAX_KEYS];
	const uint64_t *codes[MGPU_GROUP_MAX_KEYS];
} mgpu_group_keys;

/* How the values of one column become bits of a number. */
typedef struct mgpu_packed_column
{
	const uint64_t *codes;
	uint32_t	column;
	uint32_t	shift;
	uint64_t	least;			/* code */
	uint64_t	greatest;
	uint64_t	null_part;		/* what stands for NULL */
	uint32_t	first_part;		/* what stands for the value that comes first: 0 or 1 */
	uint32_t	bits;
	bool		descending;
} mgpu_packed_column;

/* Sorted numbers, and where groups begin in them. */
typedef struct mgpu_sorted_codes
{
	const void *codes;
	uint32_t	code_bytes;		/* 4 or 8 */
	uint32_t	shift;			/* bits below it do not tell groups apart */
	const uint32_t *order;		/* of the rows, for keys that are not in the codes ... */
	mgpu_group_keys keys;		/* ... and these; none: the codes tell all */
} mgpu_sorted_codes;

#define MGPU_PACKING_MAX_KEYS (MGPU_GROUP_MAX_KEYS + MGPU_GROUP_MAX_ORDERS)

/* That the number of a row's group has: none of a spec's, never NULL. */
#define MGPU_GROUP_NUMBER_COLUMN 31

typedef struct mgpu_group_packing
{
	const uint32_t *nulls;
	uint32_t	num_keys;
	uint32_t	bits;			/* of a group's code at most 63, of wide keys and with order columns 64 */
	mgpu_packed_column keys[MGPU_PACKING_MAX_KEYS];
} mgpu_group_packing;

/* How the values of a sort are put in order. */
typedef struct mgpu_value_packing
{
	mgpu_packed_column value;	/* shift 0; bits of the values that are not NULL alone */
	bool		descending;
	bool		in_two_steps;	/* values are sorted by themselves, then by their groups */
	uint32_t	group_shift;	/* of the group's code: value.bits, or 0 in two steps */
	uint32_t	bits;			/* of the whole number */
	uint64_t	null_number;	/* of a row without a value: behind all others, if there are such rows */
} mgpu_value_packing;

/* Rows in the order of their groups. */
typedef struct mgpu_grouped_rows
{
	const uint32_t *starts;		/* of each group: its first position */
	const uint32_t *order;		/* the row at each position; NULL: their own order */
	uint64_t	num_rows;
	uint64_t	num_groups;
} mgpu_grouped_rows;

/* Where a column's reductions go. */
typedef struct mgpu_reduce_request
{
	mgpu_grouped_rows rows;
	const uint64_t *codes;
	const uint64_t *second_codes;	/* of pairs: the column behind */
	const uint32_t *nulls;
	uint32_t	column;
	uint32_t	kind;
	uint32_t	width;
	uint32_t	reduction;
	uint64_t   *words;			/* of the first record ... */
	uint32_t	record_words;	/* ... and those of a record */
	uint32_t   *flags;
} mgpu_reduce_request;

/* Ranks that were reduced, in the words of MGPU_REDUCE_INTEGER, become the words of MGPU_REDUCE_EXTREMES. */
typedef struct mgpu_extremes_request
{
	const uint32_t *order;		/* rows in the order of ranks ... */
	const uint32_t *starts;		/* ... and the first position of each rank */
	uint32_t	num_cells;
	const uint64_t *codes[MGPU_GROUP_MAX_CELLS];
	uint64_t	num_groups;
	uint64_t   *words;			/* of the first record ... */
	uint32_t	record_words;	/* ... and those of a record */
} mgpu_extremes_request;

/* What records tell of the values of a sort. */
typedef struct mgpu_values_request
{
	mgpu_value_packing values;
	const void *numbers;		/* sorted */
	uint32_t	number_bytes;
	uint64_t	num_values;
	const uint32_t *first_order;	/* in two steps: the rows in the order of values, and of that in the order of groups */
	const uint32_t *second_order;
	const uint64_t *group_codes;
	uint64_t	num_groups;
	const uint32_t *different;	/* positions where another number begins; NULL: nobody asks */
	const uint64_t *num_different;
	uint64_t   *words;			/* of the first record: the count, different ones if asked for, then percentiles ... */
	uint32_t	record_words;	/* ... and the words of a record */
	uint32_t	num_percentiles;
	mgpu_group_percentile percentiles[MGPU_GROUP_MAX_PERCENTILES];
} mgpu_values_request;

/* Of which rows the first of each group are kept. */
typedef struct mgpu_limit_request
{
	const mgpu_group_spec *spec;	/* host memory */
	mgpu_group_columns columns;
	const uint32_t *order;		/* the row at each position */
	const uint32_t *starts;		/* of each group: its first position */
	const uint64_t *num_groups;
	uint64_t	num_rows;		/* 1 or more */
	uint32_t   *ends;			/* num_rows of them: up to each group, how many rows are kept */
	uint64_t   *num_returned;	/* the last of these */
} mgpu_limit_request;

/* Where kept rows go, in order. */
typedef struct mgpu_returned_rows
{
	uint64_t	num_groups;
	uint64_t	num_returned;
	uint32_t   *marks;
	void	   *values[MGPU_GROUP_MAX_COLUMNS];	/* of columns that are returned */
} mgpu_returned_rows;

#ifdef __cplusplus
extern "C" {
#endif

/* A batch of pages.  It may start before the one before it in the stream has ended. */
cudaError_t mgpu_group_decode(const mgpu_decode_request *request, cudaStream_t stream);

/* Behind all of decode. */
cudaError_t mgpu_group_find_ranges(const mgpu_ranges_request *request, cudaStream_t stream);

/* The code of the row at each position, in 4 bytes (bits up to 32) or 8.  order NULL: rows are in their own order. */
cudaError_t mgpu_group_pack(const mgpu_group_packing *packing, const uint32_t *order, void *codes, uint32_t code_bytes,
							uint64_t num_rows, cudaStream_t stream);

/* *num_groups, and starts of groups in sorted codes.  num_rows is 1 or more. */
uint64_t	mgpu_group_heads_temp_bytes(uint64_t num_rows);
cudaError_t mgpu_group_heads(const mgpu_sorted_codes *sorted, uint64_t num_rows, uint32_t *starts, uint64_t *num_groups,
							 void *temp, uint64_t temp_bytes, cudaStream_t stream);

/* *largest: the rows of the largest group.  num_rows is 1 or more. */
cudaError_t mgpu_group_find_largest(const uint32_t *starts, const uint64_t *num_groups, uint64_t num_rows,
									uint64_t *largest, cudaStream_t stream);

/* Positions of a sort in two steps where another group or value begins. */
cudaError_t mgpu_group_value_heads(const mgpu_values_request *values, uint32_t *starts, uint64_t *num_starts, void *temp,
								   uint64_t temp_bytes, cudaStream_t stream);

/*
 * The first words of all records: rows, NULL keys, keys.  codes: sorted; NULL: all are 0.  group_codes: the code of
 * each group.
 */
cudaError_t mgpu_group_records(const mgpu_group_packing *packing, const mgpu_grouped_rows *rows, const void *codes,
							   uint32_t code_bytes, uint64_t *group_codes, uint64_t *records, uint32_t record_words,
							   cudaStream_t stream);

/* The same of wide keys, which the columns hold.  A group's code is its number. */
cudaError_t mgpu_group_wide_records(const mgpu_group_keys *keys, const mgpu_grouped_rows *rows, uint64_t *group_codes,
									uint64_t *records, uint32_t record_words, cudaStream_t stream);

/* numbers[row]: of its group.  There may be fewer groups than it says, if UINT32_MAX is behind their starts. */
cudaError_t mgpu_group_number_rows(const mgpu_grouped_rows *rows, uint64_t *numbers, cudaStream_t stream);

/* Reductions of integers, and counts; of floats and of pairs of them, which are added in the order of the rows. */
cudaError_t mgpu_group_reduce(const mgpu_reduce_request *request, cudaStream_t stream);
cudaError_t mgpu_group_reduce_reals(const mgpu_reduce_request *request, cudaStream_t stream);
cudaError_t mgpu_group_reduce_pairs(const mgpu_reduce_request *request, cudaStream_t stream);

/* The least and greatest values of ranks. */
cudaError_t mgpu_group_fetch_extremes(const mgpu_extremes_request *request, cudaStream_t stream);

/* What a sort compares: group's code and value, in 4 bytes or 8; or, in two steps, values, then codes in their order. */
cudaError_t mgpu_group_pack_values(const mgpu_group_packing *groups, const mgpu_value_packing *values, void *numbers,
								   uint32_t number_bytes, uint64_t num_rows, cudaStream_t stream);
cudaError_t mgpu_group_pack_values_alone(const mgpu_group_packing *groups, const mgpu_value_packing *values,
										 uint64_t *numbers, uint64_t num_rows, cudaStream_t stream);
cudaError_t mgpu_group_pack_ordered(const mgpu_group_packing *groups, const mgpu_value_packing *values,
									const uint32_t *order, uint64_t *numbers, uint64_t num_rows, cudaStream_t stream);

/* Of each group: how many values it has, different ones, percentiles. */
cudaError_t mgpu_group_describe_values(const mgpu_values_request *request, cudaStream_t stream);

/* Sorted values as they are stored: of numbers that hold them; or, in two orders, the second one of the first. */
cudaError_t mgpu_group_unpack_values(const mgpu_value_packing *values, const void *numbers, uint32_t number_bytes,
									 uint32_t kind, uint32_t width, uint64_t num_values, void *out, cudaStream_t stream);
cudaError_t mgpu_group_fetch_values(const uint64_t *codes, const uint32_t *first_order, const uint32_t *second_order,
									uint32_t kind, uint32_t width, uint64_t num_values, void *out, cudaStream_t stream);

/* out[i] = first[second[i]]: two sorts, one after the other. */
cudaError_t mgpu_group_compose(const uint32_t *first, const uint32_t *second, uint64_t num_rows, uint32_t *out,
							   cudaStream_t stream);

/* How many rows of each group are kept, and these rows. */
uint64_t	mgpu_group_limit_temp_bytes(uint64_t num_rows);
cudaError_t mgpu_group_limit_rows(const mgpu_limit_request *request, void *temp, uint64_t temp_bytes, cudaStream_t stream);
cudaError_t mgpu_group_return_rows(const mgpu_limit_request *request, const mgpu_returned_rows *rows, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_GROUP_GROUP_H */

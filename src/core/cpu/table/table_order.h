/*
 * table_order.h
 *		Of ORDER (table.h): rows as sort keys, and their order.
 */
#ifndef MGPU_TABLE_ORDER_H
#define MGPU_TABLE_ORDER_H

#include <stdbool.h>

#include "core/cpu/table/table_groups.h"
#include "core/executor.h"

struct mgpu_table_batch;
struct mgpu_table_worker;

/* Bits of a row's sort key: some of a column's code, or whether it is NULL. */
typedef struct mgpu_table_field
{
	uint8_t		column;
	uint8_t		is_null_flag;
	uint8_t		shift;
	uint8_t		bits;
	uint8_t		is_flipped;		/* descending, or NULLs first */
	uint64_t	base;			/* taken off a code; of a flipped field, what a code is taken off */
} mgpu_table_field;

#define MGPU_TABLE_MAX_FIELDS 128

/* Fields of one sort: as many as fit beside a row's number. */
typedef struct mgpu_table_level
{
	uint32_t	begin;
	uint32_t	end;
	uint32_t	bits;
	uint32_t	order_bits;		/* those at the end that are no key's */
} mgpu_table_level;

typedef struct mgpu_table_order
{
	mgpu_table_field fields[MGPU_TABLE_MAX_FIELDS];
	uint32_t	num_fields;
	uint32_t	num_key_fields;
	mgpu_table_level levels[MGPU_TABLE_MAX_FIELDS];
	uint32_t	num_levels;
	uint32_t	row_bits;
	uint32_t	width;			/* of sort keys: 8 or 16 bytes */
	uint64_t	num_rows;
	void	   *keys;			/* with the numbers of rows in the lowest bits ... */
	void	   *sorted;			/* ... in order */
	uint32_t   *rows;			/* in order; those that come back, once these are known */
	uint64_t	num_selected;	/* rows in order that were looked at */
	uint64_t	numbers[MGPU_LIMIT_DENSE_RANKS + 1];	/* of the last of them in its group, by rules */
	uint8_t    *marks;			/* of them: MGPU_TABLE_STARTS, MGPU_TABLE_DIFFERS */
	struct mgpu_table_batch **batches;
	uint64_t	num_batches;
	uint32_t   *hints;			/* a batch for every MGPU_TABLE_HINT_ROWS rows */
	uint64_t	num_left;		/* rows that the limit leaves, of those in order */

	/* beyond memory (table_order_parts.c): one part of all rows after the other is in order */
	bool		has_parts;
	struct mgpu_table_batch **filed;	/* all rows as they came, part after part ... */
	uint64_t	num_filed;
	struct mgpu_table_batch **ordered;	/* ... and those in order that are left, of each part */
	uint64_t	num_ordered;
	mgpu_u128  *bounds;			/* sort keys with which parts begin, but the first; before, those of every sample_step'th row */
	uint64_t	sample_step;
	uint32_t	part;
	char	   *memory;			/* of the rows of the part ... */
	mgpu_table_rows part_rows;
	struct mgpu_table_batch *slices;	/* ... which are batches, too */
	bool		has_last;
	mgpu_u128	last_keys[MGPU_TABLE_MAX_FIELDS];	/* of each level: of the row before the part, if there is one */
} mgpu_table_order;

/* A row begins a group; it does, or differs from the row before in an order column. */
#define MGPU_TABLE_STARTS 1
#define MGPU_TABLE_DIFFERS 2

#define MGPU_TABLE_HINT_ROWS 256

/* table_fields.c.  A row's part of a sort key, without its number; with it. */
void		mgpu_table_plan_fields(mgpu_run *run);
mgpu_u128	mgpu_table_sort_key(const mgpu_table_order *order, uint32_t level, const mgpu_table_rows *rows, uint64_t row);
mgpu_u128	mgpu_table_add_number(const mgpu_table_order *order, mgpu_u128 key, uint64_t row);

/* Columns that sort keys are made of; what says which part a row is of; the parts of a worker's rows, and how many rows parts have. */
uint32_t	mgpu_table_order_columns(const mgpu_table_order *order);
mgpu_u128	mgpu_table_place_of(const mgpu_table_order *order, const mgpu_table_rows *rows, uint64_t row, uint64_t number);
void		mgpu_table_find_order_parts(const mgpu_run *run, struct mgpu_table_worker *worker, const mgpu_table_rows *rows, uint32_t *sizes);

/* table_list.c.  List the run's batches; number the rows of those that are listed, and find one by a row's number.  false: out of memory. */
bool		mgpu_table_list_batches(mgpu_run *run);
bool		mgpu_table_number_rows(mgpu_table_order *order);
const struct mgpu_table_batch *mgpu_table_batch_of(const mgpu_table_order *order, uint64_t row);

/* table_order.c.  Stages: false: out of memory.  Tasks: a batch; some sorted rows. */
bool		mgpu_table_plan_order(mgpu_run *run);
bool		mgpu_table_plan_pass(mgpu_run *run);
bool		mgpu_table_make_keys(mgpu_table_order *order);
void		mgpu_table_pack(void *context, uint64_t task, int worker);
uint64_t	mgpu_table_row_tasks(const mgpu_run *run);
void		mgpu_table_refine(void *context, uint64_t task, int worker);
void		mgpu_table_mark(void *context, uint64_t task, int worker);
void		mgpu_table_keep_last(mgpu_table_order *order);	/* the last row's keys, for the next part's first */
bool		mgpu_table_select(mgpu_run *run);	/* some more rows; whether all are done */
void		mgpu_table_free_order(mgpu_table_order *order);

/* table_order_parts.c.  Stages, in their order: false: out of memory.  Tasks: a batch of all rows; some rows in order. */
bool		mgpu_table_plan_samples(mgpu_run *run);
void		mgpu_table_take_samples(void *context, uint64_t task, int worker);
bool		mgpu_table_plan_order_parts(mgpu_run *run);
void		mgpu_table_cut_rows(void *context, uint64_t task, int worker);
bool		mgpu_table_begin_order_part(mgpu_run *run);
void		mgpu_table_load_rows(void *context, uint64_t task, int worker);
uint64_t	mgpu_table_plan_ordered(mgpu_run *run);	/* how many tasks there are */
void		mgpu_table_write_ordered(void *context, uint64_t task, int worker);
bool		mgpu_table_join_ordered(mgpu_run *run);
void		mgpu_table_free_order_parts(mgpu_table_order *order);

#endif							/* MGPU_TABLE_ORDER_H */

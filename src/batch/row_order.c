/*
 * row_order.c
 *		The rows of a node and their groups, as aggregates see them: some of the rows, in some order.
 *
 * An order by several columns is one stable sort for each of them, from the last to the
 * first.  Each sorts all groups at once, as segments.  A sort that compares whole rows was
 * rejected: it could use neither codes nor executors.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"

#include "compat.h"
#include "batch/row_order.h"
#include "order/order.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS (256 * 1024)

/* Assumed size of a value of variable width. */
#define VARIABLE_BYTES 32

typedef struct derived_rows
{
	int			filter;
	const row_order *order;
	row_groups	rows;
} derived_rows;

/* Groups that have rows, as segments.  heads is allocated in the current context. */
static segment_list
segments_of(const row_groups *rows)
{
	segment_list segments = {palloc_extended(rows->num_groups * sizeof(uint32), MCXT_ALLOC_HUGE), 0, row_groups_count(rows)};

	for (uint32 group = 0; group < rows->num_groups; group++)
		if (row_groups_size(rows, group) > 0)
			segments.heads[segments.num_segments++] = rows->starts[group];
	return segments;
}

/* positions[i]: place of the i-th value in order, group by group, where all values lie. */
static void
sort_values(group_input *input, const row_key *by, const row_groups *items, uint32 *positions)
{
	const column *col = &input->rows->columns[by->column];
	const column_type *type = col->type;
	uint64		num_items = row_groups_count(items);
	segment_list segments = segments_of(items);
	char	   *cells = col->cells;
	byte_cells	values = {cells, type->width, column_is_variable(type), type->element.typlen};
	sort_spec	spec = {
		.function = input->function,
		.op = MGPU_OP_SORT,
		.order = {by->descending, false},
		.collation = by->collation,
		.is_one_of_many = segments.num_segments <= 1,
		.record = &input->record
	};
	sort_keys	keys;

	if (items->numbers)
		cells = pick_cells(input->context, cells, type->width, items->numbers, num_items);
	values.cells = cells;
	sort_keys_of_cells(&keys, &values, &type->element, by->collation, num_items,
					   num_items * (values.variable ? VARIABLE_BYTES : type->width));
	(void) order_ranks(&spec, segments.num_segments > 1 ? &segments : NULL, &keys, positions, NULL);
	run_report(&input->record);
	sort_keys_free(&keys);
	if (cells != col->cells)
		pfree(cells);
	pfree(segments.heads);
}

/* Write a group's rows without a value to next, and return the entry after them. */
static uint32 *
put_nulls(const row_groups *nulls, uint32 group, uint32 *next)
{
	uint64		count = row_groups_size(nulls, group);

	if (count > 0)
		memcpy(next, nulls->numbers + nulls->starts[group], count * sizeof(uint32));
	return next + count;
}

/* Order the rows of each group by one column. */
static row_groups
order_by(group_input *input, const row_groups *rows, const row_key *by)
{
	row_groups	ordered = {rows->num_groups, large_alloc(input->context, row_groups_count(rows) * sizeof(uint32)), rows->starts};
	uint32	   *next = ordered.numbers;
	uint32	   *positions;
	row_groups	items;
	row_groups	nulls;

	row_groups_split(input->context, rows, &input->rows->columns[by->column], &items, &nulls);
	positions = large_alloc(input->context, row_groups_count(&items) * sizeof(uint32));
	if (row_groups_count(&items) > 0)
		sort_values(input, by, &items, positions);
	for (uint32 group = 0; group < rows->num_groups; group++)
	{
		if (by->nulls_first)
			next = put_nulls(&nulls, group, next);
		for (uint64 i = items.starts[group]; i < items.starts[group + 1]; i++)
		{
			*next++ = row_groups_row(&items, positions[i]);
			if (i % STEP_ROWS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		if (!by->nulls_first)
			next = put_nulls(&nulls, group, next);
	}
	pfree(positions);
	return ordered;
}

static bool
is_same_order(const row_order *a, const row_order *b)
{
	if (a->num_keys != b->num_keys)
		return false;
	for (int i = 0; i < a->num_keys; i++)
		if (a->keys[i].column != b->keys[i].column || a->keys[i].descending != b->keys[i].descending ||
			a->keys[i].nulls_first != b->keys[i].nulls_first || a->keys[i].collation != b->keys[i].collation)
			return false;
	return true;
}

const row_groups *
group_rows_in_order(group_input *input, int filter, const row_order *order)
{
	MemoryContext caller;
	derived_rows *derived;
	row_groups	excluded;
	ListCell   *cell;

	if (filter < 0 && order->num_keys == 0)
		return &input->groups;
	foreach(cell, input->derived)
	{
		derived = lfirst(cell);
		if (derived->filter == filter && is_same_order(derived->order, order))
			return &derived->rows;
	}
	caller = MemoryContextSwitchTo(input->context);
	derived = palloc(sizeof(derived_rows));
	*derived = (derived_rows) {filter, order, input->groups};
	if (filter >= 0)
		row_groups_split(input->context, &input->groups, &input->rows->columns[filter], &derived->rows, &excluded);
	for (int i = order->num_keys - 1; i >= 0; i--)
		derived->rows = order_by(input, &derived->rows, &order->keys[i]);
	input->derived = lappend(input->derived, derived);
	MemoryContextSwitchTo(caller);
	return &derived->rows;
}

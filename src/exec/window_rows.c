/*
 * window_rows.c
 *		The rows that MgpuWindow has at hand: all that are sorted, or, where these do not fit in memory, those around a row.
 *
 * Functions of a window look at rows of their partition, or no further than the row's peers, or than some rows back and ahead (query/window_reach.h).  So
 * sorted rows, which come from files, are copied until those are there, and rows behind are forgotten.  Looking at rows in the files was rejected: they are
 * merged forward, a row at a time.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"

#include "compat.h"
#include "exec/window_rows.h"

/* Rows to take at least, so that few are copied again. */
#define LEAST_ROWS 1024

static void
read_next(window_rows *input)
{
	input->next = sort_next(input->sort, &input->next_row);
}

static chunk *
new_part(const window_rows *input)
{
	const sort_state *sort = input->sort;

	return chunk_like(sort->node.css.ss.ps.state->es_query_cxt, sort->node.rows);
}

bool
window_rows_start(window_rows *input)
{
	sort_state *sort = input->sort;

	sort_prepare(sort);
	input->rows = sort->node.rows;
	input->numbers = sort->numbers;
	input->next = NULL;
	input->first = 0;
	if (sort_has_all_rows(sort))
		return true;
	if (input->reach.keeps == WINDOW_KEEPS_ALL)
		return false;
	if (input->part == NULL)
	{
		input->part = new_part(input);
		input->last_part = new_part(input);
	}
	chunk_reset(input->part);
	input->rows = input->part;
	input->numbers = NULL;
	read_next(input);
	return true;
}

/* Whether the row that is read belongs with the last one at hand. */
static bool
goes_on(const window_rows *input)
{
	PlanState  *plan = &input->sort->node.css.ss.ps;
	MemoryContext caller;
	bool		are_equal;

	if (input->together == NULL)
		return false;
	caller = MemoryContextSwitchTo(plan->ps_ExprContext->ecxt_per_tuple_memory);
	are_equal = row_compare_are_equal(input->together, input->part, input->part->num_rows - 1, input->next, input->next_row);
	MemoryContextSwitchTo(caller);
	ResetExprContext(plan->ps_ExprContext);
	return are_equal;
}

/* The first row that a place looks back to; what is at hand ends with its partition, unless the place is in it. */
static uint64
first_wanted(const window_rows *input, uint64 place, uint64 partition)
{
	uint64		first = place - Min(place, (uint64) input->reach.back);

	if (input->reach.keeps == WINDOW_KEEPS_PARTITION && place < window_rows_end(input))
		first = Min(first, partition);
	return Max(first, input->first);
}

static void
forget_before(window_rows *input, uint64 first)
{
	uint64		end = window_rows_end(input);
	chunk	   *left = input->last_part;

	chunk_reset(left);
	for (uint64 i = first; i < end; i++)
		chunk_append_row(left, input->part, i - input->first);
	input->last_part = input->part;
	input->rows = input->part = left;
	input->first = first;
}

/* Have more rows, from this one on. */
static void
take_rows(window_rows *input, uint64 first)
{
	NodeInstrumentation *times = input->sort->node.css.ss.ps.instrument;
	uint64		least;
	uint64		num_left;

	if (times)
		InstrStartNode(times);
	forget_before(input, first);
	num_left = input->part->num_rows;
	least = num_left + Max(LEAST_ROWS, num_left);
	do
	{
		if (input->part->num_rows % LEAST_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		chunk_append_row(input->part, input->next, input->next_row);
		read_next(input);
	} while (input->next && (input->part->num_rows < least || goes_on(input)));
	if (times)
		InstrStopNode(times, input->part->num_rows - num_left);
}

bool
window_rows_reach(window_rows *input, uint64 place, uint64 partition)
{
	while (place + input->reach.ahead >= window_rows_end(input) && input->next)
		take_rows(input, first_wanted(input, place, partition));
	return place < window_rows_end(input);
}

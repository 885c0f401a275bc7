/*
 * window_rows.c
 *		The rows that MgpuWindow has at hand: all that are sorted, or, where these do not fit in memory, some partitions of them.
 *
 * No function of a window looks beyond its partition.  So sorted rows, which come from files, are copied until enough are there and the next begins a
 * partition.  Looking at rows in the files was rejected: they are merged forward, a row at a time.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"

#include "compat.h"
#include "exec/window_rows.h"

/* Rows to have at hand at least. */
#define LEAST_ROWS 1024

static void
read_next(window_rows *input)
{
	input->next = sort_next(input->sort, &input->next_row);
}

bool
window_rows_start(window_rows *input)
{
	sort_state *sort = input->sort;

	sort_prepare(sort);
	input->rows = sort->node.rows;
	input->numbers = sort->numbers;
	input->next = NULL;
	if (sort_has_all_rows(sort))
		return true;
	if (input->partition->num_keys == 0)
		return false;
	if (input->part == NULL)
		input->part = chunk_like(sort->node.css.ss.ps.state->es_query_cxt, sort->node.rows);
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
	MemoryContext caller = MemoryContextSwitchTo(plan->ps_ExprContext->ecxt_per_tuple_memory);
	bool		are_equal = row_compare_are_equal(input->partition, input->part, input->part->num_rows - 1, input->next, input->next_row);

	MemoryContextSwitchTo(caller);
	ResetExprContext(plan->ps_ExprContext);
	return are_equal;
}

bool
window_rows_next(window_rows *input)
{
	NodeInstrumentation *times = input->sort->node.css.ss.ps.instrument;

	if (input->rows != input->part || input->next == NULL)
		return false;
	if (times)
		InstrStartNode(times);
	chunk_reset(input->part);
	do
	{
		if (input->part->num_rows % LEAST_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		chunk_append_row(input->part, input->next, input->next_row);
		read_next(input);
	} while (input->next && (input->part->num_rows < LEAST_ROWS || goes_on(input)));
	if (times)
		InstrStopNode(times, input->part->num_rows);
	return true;
}

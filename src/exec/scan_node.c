/*
 * scan_node.c
 *		MgpuScan: returns rows that a job has found.
 *
 * A GPU or threads read the child's table, look rows up in the smaller sides of its joins, and return those that meet all conditions.
 * If they cannot, the child's rows go through this node as they come, some at a time.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "compat.h"
#include "declined.h"
#include "exec/device_rows.h"
#include "exec/node.h"

typedef struct scan_state
{
	node_state	node;			/* its rows are those that were read last, or what a job has returned */
	bool		has_begun;
	device_rows device;			/* a job's rows, */
	uint64		next;			/* or the next of those that were read */
} scan_state;

/* Have a job find all rows, or nothing. */
static void
start(scan_state *state)
{
	node_state *node = &state->node;

	state->has_begun = true;
	node->num_rows = node_expected_rows(node);
	if (!device_rows_read(&state->device, node))
		return;
	node->ended = true;
	node->most_bytes = device_rows_bytes(&state->device);
}

/* The child's next row. */
static const chunk *
read_next(scan_state *state, uint64 *row)
{
	node_state *node = &state->node;

	if (state->next == node->rows->num_rows)
	{
		chunk_reset(node->rows);
		state->next = 0;
		(void) node_read_step(node);
	}
	*row = state->next++;
	return *row < node->rows->num_rows ? node->rows : NULL;
}

static TupleTableSlot *
next(node_state *node)
{
	scan_state *state = (scan_state *) node;
	const chunk *rows;
	uint64		row;
	int64		number;

	if (!state->has_begun)
		start(state);
	rows = state->device.query ? device_rows_next(&state->device, TOP_ROWS, &row, &number) : read_next(state, &row);
	return rows ? node_return_row(node, rows, row) : NULL;
}

/* Rows that went through are read again. */
static bool
restart(node_state *node)
{
	scan_state *state = (scan_state *) node;

	device_rows_rescan(&state->device);
	return state->device.query != NULL;
}

static void
forget(node_state *node)
{
	scan_state *state = (scan_state *) node;

	device_rows_forget(&state->device);
	state->has_begun = false;
	state->next = 0;
}

static void
explain(node_state *node, List *ancestors, ExplainState *es)
{
	report_printed(es, DECLINED_SCAN);
}

static void
explain_run(node_state *node, ExplainState *es)
{
	const scan_state *state = (const scan_state *) node;

	if (state->device.query)
		device_query_explain(state->device.query, es);
}

const node_operator scan_operator = {
	.name = "MgpuScan",
	.state_bytes = sizeof(scan_state),
	.begin = node_open,
	.next = next,
	.restart = restart,
	.forget = forget,
	.explain = explain,
	.explain_run = explain_run
};

/*
 * sort_node.c
 *		MgpuSort: sorts rows.
 *
 * The node reads all rows of its child into columns and sorts their numbers, one stable sort for each key from the last
 * to the first (row_order.c).  PostgreSQL's Sort compares whole rows, one pair after the other.
 *
 * Rows that do not fit in memory are written as sorted runs, which are merged as they are returned (sort_runs.c).
 * PostgreSQL's own tuplesort had them once, since runs of columns seemed to gain little beside writing and reading the rows.
 * But files are mostly memory of the system: sorting is what takes the time, and columns have fewer bytes than tuples.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "declined.h"
#include "exec/sort.h"
#include "keys/collation.h"
#include "run/run_job.h"

/* Memory is looked at after CHUNK_STEP_BYTES of rows, or this part of what there is. */
#define STEP_PART 16

/* How many rows ahead values are fetched: they lie anywhere. */
#define ROWS_AHEAD 16

/* ---- reading and sorting */

/* Keys of variable width are copied once more when they are sorted. */
static bool
is_full(sort_state *state)
{
	const chunk *rows = state->node.rows;

	for (int i = 0; i < state->order.num_keys; i++)
	{
		const row_key *by = &state->order.keys[i];
		const column *key = &rows->columns[by->column];
		Size		bytes = 0;

		if (!column_is_variable(key->type))
			continue;
		for (uint64 row = state->num_counted; row < rows->num_rows; row++)
			if (!column_is_null(key, row))
				bytes += element_bytes(key->type, cell_element(key->type, key->cells, row));
		state->key_bytes += collation_key_bytes(by->collation, bytes);
	}
	state->num_counted = rows->num_rows;
	return node_is_full(&state->node, state->key_bytes);
}

static void
sort_rows(sort_state *state)
{
	const chunk *rows = state->node.rows;
	group_input *input = &state->input;

	run_call_start();
	input->record = (run_record) {0};
	input->rows = rows;
	input->derived = NIL;
	input->groups = (row_groups) {1, NULL, MemoryContextAlloc(input->context, 2 * sizeof(uint32))};
	input->groups.starts[0] = 0;
	input->groups.starts[1] = rows->num_rows;
	state->numbers = group_rows_in_order(input, -1, &state->order)->numbers;
	state->executor = input->record.function ? run_executor_name(input->record.on_gpu) : NULL;
	state->algorithm = input->record.algorithm;
	state->num_threads = input->record.num_threads;
}

/* Forget the rows, but not their memory. */
static void
reset(sort_state *state)
{
	chunk_reset(state->node.rows);
	MemoryContextReset(state->input.context);
	state->numbers = NULL;
	state->key_bytes = 0;
	state->num_counted = 0;
}

/* Write the rows as a sorted run. */
static void
write_run(sort_state *state)
{
	const chunk *rows = state->node.rows;

	if (rows->num_rows == 0)
		return;
	sort_rows(state);
	if (state->runs == NULL)
		state->runs = sort_runs_create(state->node.css.ss.ps.state->es_query_cxt, &state->run_order, rows);
	sort_runs_add(state->runs, rows, state->numbers);
	state->num_in_runs += rows->num_rows;
	reset(state);
}

static void
start(node_state *node)
{
	Size		step = Min(CHUNK_STEP_BYTES, get_hash_memory_limit() / STEP_PART);

	node->step_bytes = step;
	node->step_rows = (step + node->row_bytes - 1) / node->row_bytes;
	node_reserve(node);
}

static void
take(node_state *node)
{
	sort_state *state = (sort_state *) node;

	if (!is_full(state))
		return;
	write_run(state);
	sort_runs_make_room(state->runs, node->rows);
}

static void
finish(node_state *node)
{
	sort_state *state = (sort_state *) node;

	(void) is_full(state);
	if (state->runs)
	{
		write_run(state);
		chunk_free(node->rows);
		sort_runs_start(state->runs);
	}
	else if (node->rows->num_rows > 0)
		sort_rows(state);
}

/* Have a GPU read and sort all rows. */
static bool
read_by_device(node_state *node)
{
	sort_state *state = (sort_state *) node;

	if (!device_rows_read(&state->device, node))
		return false;
	node->most_bytes = device_rows_bytes(&state->device);
	return true;
}

void
sort_prepare(sort_state *state)
{
	PlanState  *plan = &state->node.css.ss.ps;

	if (plan->chgParam)
		ExecReScan(plan);
	if (state->node.ended)
		return;
	if (plan->instrument)
		InstrStartNode(plan->instrument);
	node_read_child(&state->node);
	if (plan->instrument)
		InstrStopNode(plan->instrument, sort_has_all_rows(state) ? state->node.rows->num_rows : 0);
}

/* ---- for a job above */

device_query *
sort_read_cells(sort_state *state, const query *query, device_accepts_fn accepts, void *context)
{
	node_state *node = &state->node;
	NodeInstrumentation *times = node->css.ss.ps.instrument;
	double		num_rows = node_expected_rows(node);
	device_question question = {
		.node = node->operator->name,.source = node->source,.below = node->below,.of.query = query,
		.expected_rows = num_rows,.expected_results = num_rows,.accepts = accepts,.accepts_context = context
	};

	sort_end_cells(state, false);
	if (times)
		InstrStartNode(times);
	state->as_cells = device_query_run(node->css.ss.ps.state->es_query_cxt, &question);
	if (times)
		InstrStopNode(times, 0);
	return state->as_cells;
}

void
sort_end_cells(sort_state *state, bool done)
{
	NodeInstrumentation *times = state->node.css.ss.ps.instrument;

	state->node.gave_cells = done;
	if (state->as_cells == NULL)
		return;
	if (done && times)
	{
		InstrStartNode(times);
		InstrStopNode(times, state->as_cells->request.result.num_returned);
	}
	if (done)
	{
		run_group_forget(&state->as_cells->request);
		return;
	}
	device_query_forget(state->as_cells);
	state->as_cells = NULL;
}

/* ---- returning */

void
sort_fetch_ahead(const sort_state *state, uint64 place)
{
	const chunk *rows = state->node.rows;

	if (state->numbers == NULL || place + 2 * ROWS_AHEAD >= rows->num_rows)
		return;
	for (int i = 0; i < rows->num_columns; i++)
	{
		const column *col = &rows->columns[i];

		__builtin_prefetch(col->cells + (Size) state->numbers[place + 2 * ROWS_AHEAD] * col->type->width);
		if (column_is_variable(col->type))
			__builtin_prefetch(((char *const *) col->cells)[state->numbers[place + ROWS_AHEAD]]);
	}
}

const chunk *
sort_next(sort_state *state, uint64 *row)
{
	int64		number;

	if (state->runs)
		return sort_runs_next(state->runs, row);
	if (state->device.query)
		return device_rows_next(&state->device, TOP_ROWS, row, &number);
	if (state->place >= state->node.rows->num_rows)
		return NULL;
	*row = sort_row_at(state, state->place++);
	sort_fetch_ahead(state, state->place);
	return state->node.rows;
}

/* Put the next row into the scan slot. */
static TupleTableSlot *
next(node_state *node)
{
	const chunk *rows;
	uint64		row;

	if (!node->ended)
		node_read_child(node);
	rows = sort_next((sort_state *) node, &row);
	return rows ? node_return_row(node, rows, row) : NULL;
}

/* ---- beginning and starting again */

static void
start_order(sort_state *state, const query *query)
{
	row_order  *order = &state->order;

	order->num_keys = list_length(query->order_columns);
	order->keys = palloc0(order->num_keys * sizeof(row_key));
	for (int i = 0; i < order->num_keys; i++)
	{
		row_key    *key = &order->keys[i];

		key->column = list_nth_int(query->order_columns, i);
		key->descending = list_nth_oid(query->order_operators, i) ==
			state->node.rows->columns[key->column].type->element.gt_operator;
		key->nulls_first = list_nth_int(query->order_nulls_first, i);
		key->collation = list_nth_oid(query->order_collations, i);
	}
}

static void
begin(node_state *node)
{
	sort_state *state = (sort_state *) node;

	node_open(node);
	node->row_bytes = most_bytes_of_row(node->row_bytes, sizeof(uint32));
	start_order(state, node->query);
	state->run_order = node_order(node->query, node->rows, 0, state->order.num_keys);
	state->input.context = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg sorted rows", ALLOCSET_DEFAULT_SIZES);
	state->input.function = node->operator->name;
}

/* Also a child that would return the same rows might return others, if it calls volatile functions. */
static bool
restart(node_state *node)
{
	sort_state *state = (sort_state *) node;

	state->place = 0;
	device_rows_rescan(&state->device);
	if (state->runs)
		sort_runs_start(state->runs);
	return true;
}

static void
forget(node_state *node)
{
	sort_state *state = (sort_state *) node;

	if (state->runs)
		sort_runs_free(state->runs);
	state->runs = NULL;
	state->num_in_runs = 0;
	device_rows_forget(&state->device);
	sort_end_cells(state, false);
	reset(state);
	state->place = 0;
	state->executor = NULL;
}

/* ---- EXPLAIN */

static void
explain(node_state *node, List *ancestors, ExplainState *es)
{
	report_printed(es, DECLINED_SORT);
	node_explain_order(node, ancestors, es);
}

static void
explain_run(node_state *node, ExplainState *es)
{
	const sort_state *state = (const sort_state *) node;

	if (state->device.query || state->as_cells)
		device_query_explain(state->device.query ? state->device.query : state->as_cells, es);
	else if (state->executor)
	{
		ExplainPropertyText("Sort Executor", state->executor, es);
		ExplainPropertyText("Sort Algorithm", state->algorithm, es);
		ExplainPropertyInteger("Sort Threads", NULL, state->num_threads, es);
	}
	if (state->runs == NULL)
		return;
	node->most_bytes = Max(node->most_bytes, sort_runs_bytes(state->runs));
	ExplainPropertyInteger("Spilled Runs", NULL, sort_runs_count(state->runs), es);
	ExplainPropertyInteger("Disk Usage", "kB", sort_runs_disk_bytes(state->runs) / 1024, es);
}

const node_operator sort_operator = {
	.name = "MgpuSort",
	.state_bytes = sizeof(sort_state),
	.begin = begin,
	.next = next,
	.read_by_device = read_by_device,
	.start = start,
	.take = take,
	.finish = finish,
	.restart = restart,
	.forget = forget,
	.explain = explain,
	.explain_run = explain_run
};

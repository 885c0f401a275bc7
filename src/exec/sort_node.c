/*
 * sort_node.c
 *		MgpuSort: a plan node that sorts rows.
 *
 * The node reads all rows of its child into columns and sorts their numbers, one stable sort for each key from the last
 * to the first (row_order.c).  PostgreSQL's Sort compares whole rows, one pair after the other.
 *
 * Rows that do not fit in memory are written as sorted runs, which are merged as they are returned (sort_runs.c).
 * PostgreSQL's own tuplesort had them once, since runs of columns seemed to gain little beside writing and reading the rows.
 * But files are mostly memory of the system: sorting is what takes the time, and columns have fewer bytes than tuples.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/nodes.h"
#include "exec/sort.h"
#include "exec/top.h"
#include "query/custom_plan.h"
#include "run/run_job.h"

/* Memory is looked at after as many bytes of rows, or a part of what there is. */
#define STEP_BYTES CHUNK_STEP_BYTES
#define STEP_PART 16

/* How many rows ahead values are fetched: they lie anywhere. */
#define ROWS_AHEAD 16

/* ---- reading and sorting */

static void
count_key(sort_state *state, const column *key)
{
	for (uint64 row = state->num_counted; row < state->rows->num_rows; row++)
		if (!column_is_null(key, row))
			state->key_bytes += element_bytes(key->type, cell_element(key->type, key->cells, row));
}

static bool
is_full(sort_state *state)
{
	const chunk *rows = state->rows;
	Size		bytes;

	for (int i = 0; i < state->order.num_keys; i++)
		if (column_is_variable(rows->columns[state->order.keys[i].column].type))
			count_key(state, &rows->columns[state->order.keys[i].column]);
	state->num_counted = rows->num_rows;

	/* keys of variable width are copied once more when they are sorted */
	bytes = rows->num_rows * state->row_bytes + rows->arena.taken_bytes + state->key_bytes;
	state->most_bytes = Max(state->most_bytes, bytes);
	/* a row has more than a byte */
	return bytes > get_hash_memory_limit() || rows->num_rows > MGPU_MAX_ITEMS - STEP_BYTES;
}

/* Take memory for the rows that are expected, so that columns need not move while they grow. */
static void
reserve(sort_state *state)
{
	const PlanState *child = linitial(state->css.custom_ps);
	uint64		most_rows = Min(get_hash_memory_limit() / state->row_bytes, MGPU_MAX_ITEMS);
	uint64		num_rows = Min(child->plan->plan_rows, (double) most_rows);

	if (num_rows > 0)
		chunk_grow(state->rows, num_rows);
}

static void
sort_rows(sort_state *state)
{
	group_input *input = &state->input;

	run_call_start();
	input->rows = state->rows;
	input->derived = NIL;
	input->groups = (row_groups) {1, NULL, MemoryContextAlloc(input->context, 2 * sizeof(uint32))};
	input->groups.starts[0] = 0;
	input->groups.starts[1] = state->rows->num_rows;
	state->numbers = group_rows_in_order(input, -1, &state->order)->numbers;
	state->executor = run_last.executor;
	state->algorithm = run_last.algorithm;
	state->num_threads = run_last.num_threads;
}

/* Write the rows as a sorted run. */
static void
write_run(sort_state *state)
{
	if (state->rows->num_rows == 0)
		return;
	sort_rows(state);
	if (state->runs == NULL)
		state->runs = sort_runs_create(state->css.ss.ps.state->es_query_cxt, &state->run_order, state->rows);
	sort_runs_add(state->runs, state->rows, state->numbers);
	MemoryContextReset(state->input.context);
	state->numbers = NULL;
	chunk_reset(state->rows);
	state->key_bytes = 0;
	state->num_counted = 0;
}

static void
read_child(sort_state *state)
{
	const chunk *rows = state->rows;
	Size		step = Min(STEP_BYTES, get_hash_memory_limit() / STEP_PART);
	Size		checked = 0;

	reserve(state);
	while (row_source_read(state->source, state->rows))
	{
		if (rows->num_rows * state->row_bytes + rows->arena.taken_bytes < checked + step)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (is_full(state))
		{
			write_run(state);
			sort_runs_make_room(state->runs, state->rows);
		}
		checked = rows->num_rows * state->row_bytes + rows->arena.taken_bytes;
	}
	(void) is_full(state);
}

/* Have a GPU read and sort all rows.  False: it does not. */
static bool
sort_by_device(sort_state *state)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;
	const PlanState *child = linitial(state->css.custom_ps);

	if (!device_rows_read(&state->device, "MgpuSort", state->source, state->rows, query_of(scan->custom_private), child->plan->plan_rows))
		return false;
	state->most_bytes = device_rows_bytes(&state->device);
	return true;
}

static void
sort_all(sort_state *state)
{
	bool		is_sorted = sort_by_device(state);

	if (!is_sorted)
		read_child(state);
	if (state->runs)
	{
		write_run(state);
		chunk_free(state->rows);
		sort_runs_start(state->runs);
	}
	else if (!is_sorted && state->rows->num_rows > 0)
		sort_rows(state);
	state->sorted = true;
}

void
sort_prepare(sort_state *state)
{
	PlanState  *node = &state->css.ss.ps;

	if (node->chgParam)
		ExecReScan(node);
	if (state->sorted)
		return;
	if (node->instrument)
		InstrStartNode(node->instrument);
	sort_all(state);
	if (node->instrument)
		InstrStopNode(node->instrument, sort_has_all_rows(state) ? state->rows->num_rows : 0);
}

/* ---- returning */

void
sort_fetch_ahead(const sort_state *state, uint64 place)
{
	const chunk *rows = state->rows;

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

/* The next row's number in the chunk that is returned.  NULL: no more rows. */
static const chunk *
find_next_row(sort_state *state, uint64 *row)
{
	int64		number;

	if (state->runs)
		return sort_runs_next(state->runs, row);
	if (state->device.query)
		return device_rows_next(&state->device, TOP_ROWS, row, &number);
	if (state->place >= state->rows->num_rows)
		return NULL;
	*row = sort_row_at(state, state->place++);
	sort_fetch_ahead(state, state->place);
	return state->rows;
}

/* Put the next row into the scan slot.  False: no more rows. */
static bool
next_row(sort_state *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const chunk *rows;
	uint64		row;

	if (!state->sorted)
		sort_all(state);
	rows = find_next_row(state, &row);
	if (rows == NULL)
		return false;
	/* nothing else is in the slot but values of the row before, unless somebody has made it keep them */
	if (TTS_EMPTY(slot) || TTS_SHOULDFREE(slot))
	{
		ExecClearTuple(slot);
		ExecStoreVirtualTuple(slot);
	}
	rows_fill_values(rows, row, slot->tts_values, slot->tts_isnull);
	return true;
}

static TupleTableSlot *
return_next(CustomScanState *css)
{
	ExprContext *context = css->ss.ps.ps_ExprContext;

	CHECK_FOR_INTERRUPTS();
	if (!next_row((sort_state *) css))
		return NULL;
	if (css->ss.ps.ps_ProjInfo == NULL)
		return css->ss.ss_ScanTupleSlot;
	ResetExprContext(context);
	context->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	return row_history_next(&((sort_state *) css)->history, css, return_next);
}

/* ---- methods */

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
		key->descending = list_nth_oid(query->order_operators, i) == state->rows->columns[key->column].type->element.gt_operator;
		key->nulls_first = list_nth_int(query->order_nulls_first, i);
		key->collation = list_nth_oid(query->order_collations, i);
	}
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	sort_state *state = (sort_state *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	MemoryContext context = estate->es_query_cxt;
	PlanState  *child = ExecInitNode(linitial(scan->custom_plans), estate, eflags & ~(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD));

	css->custom_ps = list_make1(child);
	row_history_start(&state->history, css, eflags);
	state->source = row_source_open(child);
	state->rows = rows_create_for(context, child);
	(void) top_keep_stored(state->rows, query_of(scan->custom_private));
	state->row_bytes = most_bytes_of_row(rows_bytes_of_one(state->rows), sizeof(uint32));
	start_order(state, query_of(scan->custom_private));
	state->run_order = top_order_of(query_of(scan->custom_private), state->rows);
	state->input.context = AllocSetContextCreate(context, "mgpu_pg sorted rows", ALLOCSET_DEFAULT_SIZES);
	state->input.function = "MgpuSort";
}

static void
forget_all(sort_state *state)
{
	if (state->runs)
		sort_runs_free(state->runs);
	state->runs = NULL;
	device_rows_forget(&state->device);
	chunk_free(state->rows);
	MemoryContextReset(state->input.context);
	state->numbers = NULL;
	state->place = 0;
	state->sorted = false;
	state->key_bytes = 0;
	state->num_counted = 0;
	state->most_bytes = 0;
	state->executor = NULL;
}

static void
rescan(CustomScanState *css)
{
	sort_state *state = (sort_state *) css;
	PlanState  *child = linitial(css->custom_ps);

	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (row_history_rescan(&state->history, child->chgParam == NULL && css->ss.ps.chgParam == NULL))
		return;
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	/* return the same rows: the child might not, if it calls volatile functions */
	if (state->sorted && child->chgParam == NULL)
	{
		state->place = 0;
		device_rows_rescan(&state->device);
		if (state->runs)
			sort_runs_start(state->runs);
		return;
	}
	forget_all(state);
	row_source_stop(state->source);
	/* if parameters have changed, whoever reads it rescans the child */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end(CustomScanState *css)
{
	sort_state *state = (sort_state *) css;

	row_source_stop(state->source);
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	forget_all(state);
	row_history_end(&state->history);
	ExecEndNode(linitial(css->custom_ps));
}

const CustomExecMethods sort_exec_methods = {
	.CustomName = "MgpuSort",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = sort_explain
};

static Node *
make_state(CustomScan *scan)
{
	return custom_plan_state(sizeof(sort_state), &sort_exec_methods);
}

const CustomScanMethods sort_scan_methods = {
	.CustomName = "MgpuSort",
	.CreateCustomScanState = make_state
};

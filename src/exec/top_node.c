/*
 * top_node.c
 *		MgpuTop: keeps the first rows of each partition.
 *
 * It stands for a window function with a limit (row_number() <= 3) and the sort below it, for DISTINCT ON, and for
 * ORDER BY with LIMIT.  Rows are read as columns, some thousand at a time, and most of them are passed over at once
 * (top_rows.c).  What is kept goes by the result, not by the input.
 *
 * If the kept rows do not fit in memory, they are partitioned by their keys' hashes, as are those that
 * are kept later, and each part is processed alone by the same code: the first rows of what has been
 * kept are the first of all.  The rows of one partition have to fit.
 *
 * The last entry of the scan tuple, behind the columns, is the window function, if there is one.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "declined.h"
#include "exec/device_rows.h"
#include "exec/node.h"
#include "query/custom_plan.h"

/*
 * Rows that are looked at together: some times as many as are wanted, within these limits.  Fewer if they take
 * CHUNK_STEP_BYTES.
 */
#define STEP_ROWS 1024
#define MOST_STEP_ROWS 8192

typedef struct top_state
{
	node_state	node;			/* its rows are those that were read last */
	group_keys	partitions;
	row_compare order;
	top_limit	limit;
	const TargetEntry *number;	/* the entry of the scan tuple that is the rows' number, or NULL */
	top_rows   *top;
	device_rows device;			/* or what a GPU has kept */

	/* for EXPLAIN */
	int64		num_partitions;
} top_state;

/* ---- reading */

/* The first steps are shorter: without a bar, all rows are kept. */
static void
start(node_state *node)
{
	top_rows_start(((top_state *) node)->top);
	node->step_rows = 1;
}

/* Write what is kept to partitions; more is to come, or some has been written before. */
static void
spill_kept(top_state *state)
{
	node_spill(&state->node, top_rows_kept(state->top), state->node.row_bytes);
	top_rows_start(state->top);
}

/* Write the rows that were read to partitions as they are: what was kept there is not known any more. */
static void
spill_read_rows(node_state *node)
{
	uint64		num_rows = node->rows->num_rows;
	uint32	   *all = palloc(num_rows * sizeof(uint32) + 1);

	for (uint64 row = 0; row < num_rows; row++)
		all[row] = (uint32) row;
	row_source_complete(node->source, node->rows, all, num_rows);
	node_spill(node, node->rows, node->row_bytes);
	row_source_release(node->source);
	pfree(all);
}

/* Look at the rows that were read, and make room where what is kept takes too much. */
static void
keep_rows(top_state *state)
{
	node_state *node = &state->node;
	Size		limit = get_hash_memory_limit();
	uint64		num_found;
	const uint32 *found = top_rows_find(state->top, node->rows, &num_found);

	row_source_complete(node->source, node->rows, found, num_found);
	top_rows_add(state->top, node->rows);
	chunk_reset(node->rows);
	row_source_release(node->source);
	node->most_bytes = Max(node->most_bytes, top_rows_bytes(state->top));
	if (node->level == 0 || state->partitions.num_keys == 0 || top_rows_bytes(state->top) <= limit)
		return;
	(void) top_rows_kept(state->top);
	if (top_rows_bytes(state->top) > limit / 2)
		spill_kept(state);
}

static void
take(node_state *node)
{
	top_state  *state = (top_state *) node;

	if (node->spill.num_open > 0)
		spill_read_rows(node);
	else
		keep_rows(state);
	node->step_rows = Min(2 * node->step_rows, Min(Max(STEP_ROWS, UINT64CONST(4) * state->limit.count), MOST_STEP_ROWS));
}

/* If some rows were spilled, spill the rest too. */
static void
finish(node_state *node)
{
	top_state  *state = (top_state *) node;

	take(node);
	if (node->spill.num_open > 0)
		spill_kept(state);
	top_rows_finish(state->top);
	state->num_partitions += top_rows_partitions(state->top);
}

/* Have a GPU read all rows, and keep the first. */
static bool
read_by_device(node_state *node)
{
	top_state  *state = (top_state *) node;

	if (!device_rows_read(&state->device, node))
		return false;
	state->num_partitions = state->device.query->request.result.num_groups;
	node->most_bytes = device_rows_bytes(&state->device);
	return true;
}

/* ---- returning */

/* The next row of what has been read.  Comparisons leave their memory in that of a row. */
static const chunk *
take_next(top_state *state, uint64 *row, int64 *number)
{
	MemoryContext caller = MemoryContextSwitchTo(state->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	const chunk *rows = NULL;

	*number = 0;
	if (state->device.query)
		rows = device_rows_next(&state->device, state->limit.rule, row, number);
	else if (state->node.ended)
		rows = top_rows_next(state->top, row, number);
	MemoryContextSwitchTo(caller);
	return rows;
}

/* Prepare the next rows.  False: all have been returned. */
static bool
read_more(node_state *node)
{
	if (node->ended)
		return node_read_partition(node);
	node_read_child(node);
	return true;
}

/* Put the next row into the scan slot. */
static TupleTableSlot *
next(node_state *node)
{
	top_state  *state = (top_state *) node;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	const chunk *rows;
	uint64		row;
	int64		number;

	while ((rows = take_next(state, &row, &number)) == NULL)
		if (!read_more(node))
			return NULL;
	ExecClearTuple(slot);
	rows_fill_values(rows, row, slot->tts_values, slot->tts_isnull);
	if (state->number)
	{
		slot->tts_values[rows->num_columns] = Int64GetDatum(number);
		slot->tts_isnull[rows->num_columns] = false;
	}
	return ExecStoreVirtualTuple(slot);
}

/* ---- beginning and starting again */

static Oid
function_of(const TargetEntry *entry)
{
	return IsA(entry->expr, WindowFunc) ? ((const WindowFunc *) entry->expr)->winfnoid : castNode(FuncExpr, entry->expr)->funcid;
}

static void
begin(node_state *node)
{
	top_state  *state = (top_state *) node;
	const query *query = node->query;
	List	   *entries = ((const CustomScan *) node->css.ss.ps.plan)->custom_scan_tlist;

	node_open(node);
	node_start_keys(node, &state->partitions);
	state->number = list_length(entries) > node->rows->num_columns ? llast(entries) : NULL;
	/* PostgreSQL's WindowAgg node checks the same */
	if (state->number)
		custom_plan_check_function(function_of(state->number), GetUserId());
	state->order = node_order(query, node->rows, 0, list_length(query->order_columns));
	state->limit = (top_limit) {&state->partitions, &state->order, query->rule, query->count};
	state->top = top_rows_create(CurrentMemoryContext, &state->limit, node->rows);
}

static bool
restart(node_state *node)
{
	top_state  *state = (top_state *) node;

	if (node->spill.num_partitions > 0)
		return false;
	device_rows_rescan(&state->device);
	top_rows_restart(state->top);
	return true;
}

static void
forget(node_state *node)
{
	top_state  *state = (top_state *) node;

	device_rows_forget(&state->device);
	top_rows_start(state->top);
	state->num_partitions = 0;
}

/* ---- EXPLAIN */

static void
explain(node_state *node, List *ancestors, ExplainState *es)
{
	const top_state *state = (const top_state *) node;
	uint32		count = state->limit.count;

	report_printed(es, DECLINED_TOP);
	node_explain_entries(node, "Partition Key", node->query->key_columns, ancestors, es);
	node_explain_order(node, ancestors, es);
	ExplainPropertyText("Keeps", state->number ? psprintf("%s() <= %u", get_func_name(function_of(state->number)), count) :
						psprintf("%u %s", count, count == 1 ? "row" : "rows"), es);
}

static void
explain_run(node_state *node, ExplainState *es)
{
	const top_state *state = (const top_state *) node;

	if (state->device.query)
		device_query_explain(state->device.query, es);
	if (state->partitions.num_keys > 0)
		ExplainPropertyInteger("Partitions", NULL, state->num_partitions, es);
}

const node_operator top_operator = {
	.name = "MgpuTop",
	.state_bytes = sizeof(top_state),
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

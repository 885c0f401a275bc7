/*
 * top_node.c
 *		MgpuTop: a plan node that keeps the first rows of each partition.
 *
 * It stands for a window function with a limit (row_number() <= 3) and the sort below it, for DISTINCT ON, and for
 * ORDER BY with LIMIT.  Rows are read as columns, some thousand at a time, and most of them are passed over at once
 * (top_rows.c).  What is kept goes by the result, not by the input.
 *
 * If the kept rows do not fit in memory, they are partitioned by their keys' hashes (batch/spill.h), as are those that
 * are kept later, and each part is processed alone by the same code: the first rows of what has been
 * kept are the first of all.  The rows of one partition have to fit.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "exec/nodes.h"
#include "exec/top.h"
#include "query/custom_plan.h"

/*
 * Rows that are looked at together: some times as many as are wanted, within these limits.  Fewer if they take
 * CHUNK_STEP_BYTES.
 */
#define STEP_ROWS 1024
#define MOST_STEP_ROWS 8192

/* ---- reading */

/* Write what is kept to partitions; more is to come, or some has been written before. */
static void
spill_kept(top_state *state, int level, chunk *kept, uint64 num_rows)
{
	spill_rows(&state->spill, kept, level, num_rows * state->row_bytes, get_hash_memory_limit());
	top_rows_start(state->top);
}

/* Write the rows that were read to partitions as they are: what was kept there is not known any more. */
static void
spill_read_rows(top_state *state, int level, uint64 num_rows)
{
	uint32	   *all = palloc(state->rows->num_rows * sizeof(uint32) + 1);

	for (uint64 row = 0; row < state->rows->num_rows; row++)
		all[row] = (uint32) row;
	row_source_complete(state->source, state->rows, all, state->rows->num_rows);
	spill_rows(&state->spill, state->rows, level, num_rows * state->row_bytes, get_hash_memory_limit());
	row_source_release(state->source);
	pfree(all);
}

/* Look at the rows that were read, and make room where what is kept takes too much. */
static void
keep_rows(top_state *state, int level, uint64 num_rows)
{
	Size		limit = get_hash_memory_limit();
	uint64		num_found;
	const uint32 *found = top_rows_find(state->top, state->rows, &num_found);
	chunk	   *kept;

	row_source_complete(state->source, state->rows, found, num_found);
	top_rows_add(state->top, state->rows);
	chunk_reset(state->rows);
	row_source_release(state->source);
	state->most_bytes = Max(state->most_bytes, top_rows_bytes(state->top));
	if (level == 0 || top_rows_bytes(state->top) <= limit)
		return;
	kept = top_rows_kept(state->top);
	if (top_rows_bytes(state->top) > limit / 2)
		spill_kept(state, level, kept, num_rows);
}

static void
take_rows(top_state *state, int level, uint64 num_rows)
{
	if (state->spill.num_open > 0)
		spill_read_rows(state, level, num_rows);
	else
		keep_rows(state, level, num_rows);
}

/* After the last row: if some were spilled, spill the rest too. */
static void
finish_reading(top_state *state, int level, uint64 num_rows)
{
	take_rows(state, level, num_rows);
	if (state->spill.num_open > 0)
	{
		spill_kept(state, level, top_rows_kept(state->top), num_rows);
		spill_finish(&state->spill);
	}
	top_rows_finish(state->top);
	state->num_partitions += top_rows_partitions(state->top);
}

static void
read_child(top_state *state)
{
	const PlanState *child = linitial(state->css.custom_ps);
	uint64		num_rows = Min(child->plan->plan_rows, (double) MGPU_MAX_ITEMS);
	int			level = state->partitions.num_keys > 0 ? 1 : 0;
	uint64		most_step = Min(Max(STEP_ROWS, UINT64CONST(4) * state->limit.count), MOST_STEP_ROWS);
	uint64		step = 1;

	chunk_reset(state->rows);
	top_rows_start(state->top);
	/* the first steps are shorter: without a bar, all rows are kept */
	while (row_source_read(state->source, state->rows))
		if (state->rows->num_rows >= step || state->rows->arena.taken_bytes >= CHUNK_STEP_BYTES)
		{
			take_rows(state, level, num_rows);
			step = Min(2 * step, most_step);
		}
	finish_reading(state, level, num_rows);
}

/* Have a GPU read all rows, and keep the first.  False: it does not. */
static bool
read_by_device(top_state *state)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;
	const PlanState *child = linitial(state->css.custom_ps);

	if (!device_rows_read(&state->device, "MgpuTop", state->source, state->rows, query_of(scan->custom_private), child->plan->plan_rows))
		return false;
	state->num_partitions = state->device.query->request.result.num_groups;
	state->most_bytes = device_rows_bytes(&state->device);
	return true;
}

static void
read_part(top_state *state, partition *part)
{
	uint64		num_rows = part->num_rows;
	int			level = part->one_group ? 0 : part->level + 1;

	chunk_reset(state->rows);
	top_rows_start(state->top);
	while (part->num_rows > 0)
	{
		spill_read(part, state->rows);
		take_rows(state, level, num_rows);
	}
	BufFileClose(part->file);
	finish_reading(state, level, num_rows);
}

/* Prepare the next rows.  False: all have been returned. */
static bool
read_more(top_state *state)
{
	partition  *part;

	if (!state->collected)
	{
		if (!read_by_device(state))
			read_child(state);
		state->collected = true;
		return true;
	}
	part = spill_next(&state->spill);
	if (part == NULL)
		return false;
	read_part(state, part);
	return true;
}

/* ---- returning */

/* The next row of what has been read.  Comparisons leave their memory in that of a row. */
static const chunk *
take_next(top_state *state, uint64 *row, int64 *number)
{
	MemoryContext caller = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	const chunk *rows = NULL;

	*number = 0;
	if (state->device.query)
		rows = device_rows_next(&state->device, state->limit.rule, row, number);
	else if (state->collected)
		rows = top_rows_next(state->top, row, number);
	MemoryContextSwitchTo(caller);
	return rows;
}

/* Put the next row into the scan slot.  NULL: no more rows. */
static TupleTableSlot *
next_row(top_state *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const chunk *rows;
	uint64		row;
	int64		number;

	while ((rows = take_next(state, &row, &number)) == NULL)
		if (!read_more(state))
			return NULL;
	ExecClearTuple(slot);
	rows_fill_values(rows, row, slot->tts_values, slot->tts_isnull);
	if (state->has_number)
	{
		slot->tts_values[rows->num_columns] = Int64GetDatum(number);
		slot->tts_isnull[rows->num_columns] = false;
	}
	return ExecStoreVirtualTuple(slot);
}

static TupleTableSlot *
return_next(CustomScanState *css)
{
	ExprContext *context = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(context);
	slot = next_row((top_state *) css);
	if (slot == NULL || css->ss.ps.ps_ProjInfo == NULL)
		return slot;
	context->ecxt_scantuple = slot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	return row_history_next(&((top_state *) css)->history, css, return_next);
}

/* ---- methods */

static void
start_partitions(top_state *state, const query *query)
{
	group_keys *keys = &state->partitions;

	keys->num_keys = list_length(query->key_columns);
	keys->keys = palloc0(keys->num_keys * sizeof(group_key) + 1);
	for (int i = 0; i < keys->num_keys; i++)
	{
		int			column = list_nth_int(query->key_columns, i);
		Oid			equality = list_nth_oid(query->key_equalities, i);

		if (!group_key_fill(&keys->keys[i], state->rows->columns[column].type->element.type_id, equality,
							list_nth_oid(query->key_collations, i)))
			elog(ERROR, "a partition key is not what it was planned as");
		custom_plan_check_function(get_opcode(equality), GetUserId());
		keys->keys[i].column = column;
	}
}

row_compare
top_order_of(const query *query, const chunk *like)
{
	row_compare order = {list_length(query->order_columns), palloc0(list_length(query->order_columns) * sizeof(compare_key) + 1)};

	for (int i = 0; i < order.num_keys; i++)
	{
		order_key	by = {
			.column = list_nth_int(query->order_columns, i),
			.operator = list_nth_oid(query->order_operators, i),
			.collation = list_nth_oid(query->order_collations, i),
			.nulls_first = list_nth_int(query->order_nulls_first, i)
		};

		row_compare_fill(&order.keys[i], &by, like->columns[by.column].type->element.type_id);
	}
	return order;
}

Bitmapset *
top_keep_stored(chunk *rows, const query *query)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < rows->num_columns; i++)
	{
		if (list_member_int(query->key_columns, i) || list_member_int(query->order_columns, i))
			continue;
		chunk_keep_stored(rows, &rows->columns[i]);
		columns = bms_add_member(columns, i);
	}
	return columns;
}

/* PostgreSQL's WindowAgg node checks the same. */
static void
start_number(top_state *state, const CustomScan *scan)
{
	const TargetEntry *entry = list_length(scan->custom_scan_tlist) > state->rows->num_columns ? llast(scan->custom_scan_tlist) : NULL;

	state->has_number = entry != NULL;
	if (entry)
		custom_plan_check_function(custom_plan_function_of(entry), GetUserId());
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	top_state  *state = (top_state *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	MemoryContext context = estate->es_query_cxt;
	PlanState  *child = ExecInitNode(linitial(scan->custom_plans), estate, eflags & ~EXEC_FLAG_BACKWARD);
	const query *query = query_of(scan->custom_private);

	css->custom_ps = list_make1(child);
	row_history_start(&state->history, css, eflags);
	state->rows = rows_create_for(context, child);
	state->row_bytes = rows_bytes_of_one(state->rows);
	state->source = row_source_open_late(child, top_keep_stored(state->rows, query));
	start_partitions(state, query);
	start_number(state, scan);
	state->order = top_order_of(query, state->rows);
	state->limit = (top_limit) {&state->partitions, &state->order, query->rule, query->count};
	state->top = top_rows_create(context, &state->limit, state->rows);
	state->spill.context = AllocSetContextCreate(context, "mgpu_pg partitions of rows", ALLOCSET_DEFAULT_SIZES);
	state->spill.hash = group_keys_hash;
	state->spill.keys = &state->partitions;
	custom_plan_name_functions(scan);
}

static void
forget_all(top_state *state)
{
	spill_close(&state->spill);
	state->spill.num_partitions = 0;
	state->spill.num_bytes = 0;
	state->num_partitions = 0;
	state->most_bytes = 0;
	device_rows_forget(&state->device);
	chunk_free(state->rows);
	top_rows_start(state->top);
	state->collected = false;
}

static void
rescan(CustomScanState *css)
{
	top_state  *state = (top_state *) css;
	PlanState  *child = linitial(css->custom_ps);

	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (row_history_rescan(&state->history, child->chgParam == NULL && css->ss.ps.chgParam == NULL))
		return;
	/* the child would return the same rows: return those that are kept again */
	if (state->collected && child->chgParam == NULL && state->spill.num_partitions == 0)
	{
		device_rows_rescan(&state->device);
		top_rows_restart(state->top);
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
	top_state  *state = (top_state *) css;

	row_source_stop(state->source);
	forget_all(state);
	row_history_end(&state->history);
	ExecEndNode(linitial(css->custom_ps));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "MgpuTop",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = top_explain
};

static Node *
make_state(CustomScan *scan)
{
	return custom_plan_state(sizeof(top_state), &exec_methods);
}

const CustomScanMethods top_scan_methods = {
	.CustomName = "MgpuTop",
	.CreateCustomScanState = make_state
};

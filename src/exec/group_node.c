/*
 * group_node.c
 *		MgpuGroup: a plan node that groups rows and runs aggregates.
 *
 * There are two methods.  Either the node reads all rows of its child into columns and finds the groups by one
 * sort of the keys (key_sort.c), and aggregates then work on all groups at once (aggregate.h).  Or, where no aggregate
 * needs a row twice and groups are not too many, rows are added to their groups as they come (group_fold.c).
 * Rows that do not fit in memory are partitioned by key (batch/spill.h), and each partition is processed alone
 * (group_read.c).  Workers fold their rows, and the leader combines what they return (group_partial.c).
 *
 * With many groups, PostgreSQL's Agg node spends most of its time on finding the group
 * of each row in a hash table, or on sorting rows one by one.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/key_sort.h"
#include "exec/group_state.h"
#include "exec/nodes.h"
#include "query/aggregate_ways.h"
#include "query/custom_plan.h"
#include "run/run_job.h"

/* ---- groups */

/* Sort the rows by their keys, and let the aggregates work on all groups. */
static void
sort_groups(group_state *state)
{
	group_input *input = &state->input;
	ListCell   *cell;

	run_call_start();
	state->executor = NULL;
	input->rows = state->rows;
	input->derived = NIL;
	input->groups = group_keys_rank(&state->keys, state->rows, input->context, &state->key_form);
	if (state->keys.num_keys > 0)
	{
		state->executor = run_last.executor;
		state->algorithm = run_last.algorithm;
		state->num_threads = run_last.num_threads;
	}
	foreach(cell, state->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		aggregate->prepare(aggregate);
	}
}

/* Prepare the next groups.  False: all groups have been returned. */
static bool
next_groups(group_state *state)
{
	/* rows that never spilled stay in memory for a rescan */
	if (state->collected && state->spill.num_partitions == 0 && state->device == NULL)
		return false;
	MemoryContextReset(state->input.context);
	state->input.groups.num_groups = 0;
	state->next_group = 0;
	if (!group_read(state))
		return false;
	if (state->device)
		;
	else if (state->fold)
		group_fold_finish(state->fold, &state->input);
	else
		sort_groups(state);
	state->num_groups += state->input.groups.num_groups;
	return true;
}

/* Set an entry of the scan tuple for a group that has rows, or is the only one. */
static Datum
output_of(group_state *state, const group_output *output, uint32 group, bool *is_null)
{
	const column *col;
	uint64		row;

	if (output->aggregate)
		return output->aggregate->result(output->aggregate, group, is_null);
	row = row_groups_row(&state->input.groups, state->input.groups.starts[group]);
	col = &state->input.rows->columns[output->column];
	*is_null = column_is_null(col, row);
	return *is_null ? (Datum) 0 : cell_datum(col->type, col->cells, row);
}

/* Put the next group into the scan slot.  NULL: no more groups. */
static TupleTableSlot *
next_group(group_state *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	MemoryContext caller;
	uint32		group;

	while (state->next_group >= state->input.groups.num_groups)
		if (!next_groups(state))
			return NULL;
	group = state->next_group++;
	ReScanExprContext(state->state_context);
	state->input.turn++;
	caller = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	ExecClearTuple(slot);
	for (int i = 0; i < state->num_outputs; i++)
		slot->tts_values[i] = output_of(state, &state->outputs[i], group, &slot->tts_isnull[i]);
	MemoryContextSwitchTo(caller);
	return ExecStoreVirtualTuple(slot);
}

/* ---- methods */

static void
start_keys(group_state *state, List *outputs, const query *query)
{
	group_keys *keys = &state->keys;

	keys->num_keys = list_length(query->key_columns);
	keys->keys = palloc0(keys->num_keys * sizeof(group_key) + 1);
	for (int i = 0; i < keys->num_keys; i++)
	{
		const TargetEntry *entry = list_nth(outputs, i);
		Oid			equality = list_nth_oid(query->key_equalities, i);

		if (!group_key_fill(&keys->keys[i], exprType((const Node *) entry->expr), equality, list_nth_oid(query->key_collations, i)))
			elog(ERROR, "a grouping key is not what it was planned as");
		custom_plan_check_function(get_opcode(equality), GetUserId());
		keys->keys[i].column = list_nth_int(query->key_columns, i);
	}
}

static group_aggregate *
start_aggregate(group_state *state, const Aggref *aggref, List *columns)
{
	const char *why_not;
	group_aggregate_source source = {
		.aggref = aggref,
		.plan = group_plan_of(aggref, &why_not),
		.columns = columns,
		.rows = state->rows,
		.input = &state->input,
		.node = (PlanState *) &state->css.ss.ps,
		.state_context = state->state_context,
		.earlier = state->aggregates
	};

	return group_aggregate_start(&source);
}

static void
start_outputs(group_state *state, List *outputs, List *uses)
{
	ListCell   *cell;

	state->outputs = palloc0(list_length(outputs) * sizeof(group_output));
	foreach(cell, outputs)
	{
		const TargetEntry *entry = lfirst(cell);
		group_output *output = &state->outputs[state->num_outputs];
		List	   *columns = list_nth(uses, state->num_outputs);

		state->num_outputs++;
		output->column = linitial_int(columns);
		/* in a DISTINCT the child has computed aggregates */
		if (!IsA(entry->expr, Aggref) || state->num_outputs <= state->keys.num_keys)
			continue;
		output->aggregate = start_aggregate(state, castNode(Aggref, entry->expr), columns);
		state->row_bytes += group_plan_row_bytes(&output->aggregate->plan);
		state->aggregates = lappend(state->aggregates, output->aggregate);
	}
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	group_state *state = (group_state *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	MemoryContext context = estate->es_query_cxt;
	const query *query = query_of(scan->custom_private);
	List	   *packed_types = query->packed_types;
	List	   *outputs;

	state->method = query->method;
	outputs = state->method == GROUP_PARTIAL ? list_copy_tail(scan->custom_scan_tlist, 1) : scan->custom_scan_tlist;
	css->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate, eflags));
	if (packed_types == NIL)
		state->source = row_source_open(linitial(css->custom_ps));
	state->rows = packed_types ? rows_create(context, packed_types) : rows_create_for(context, linitial(css->custom_ps));
	rows_keep_stored(state->rows, query->stored);
	state->row_bytes = most_bytes_of_row(rows_bytes_of_one(state->rows), 0);
	state->state_context = CreateExprContext(estate);
	start_keys(state, outputs, query);
	start_outputs(state, outputs, query->uses);
	state->input.context = AllocSetContextCreate(context, "mgpu_pg groups", ALLOCSET_DEFAULT_SIZES);
	state->input.function = "MgpuGroup";
	if (state->method == GROUP_COMBINE)
		state->rows = group_partial_rows(context, state->rows, state->aggregates);
	if (state->method != GROUP_SORT)
	{
		state->fold = group_fold_create(context, &state->keys, state->aggregates, state->rows, state->method == GROUP_COMBINE);
		state->others = chunk_like(context, state->rows);
	}
	state->spill.context = AllocSetContextCreate(context, "mgpu_pg partitions of rows", ALLOCSET_DEFAULT_SIZES);
	state->spill.hash = group_keys_hash;
	state->spill.keys = &state->keys;
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	group_state *state = (group_state *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;
	ProjectionInfo *projection = css->ss.ps.ps_ProjInfo;

	for (;;)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(context);
		slot = state->method == GROUP_PARTIAL ? group_partial_next(state) : next_group(state);
		if (slot == NULL)
			return NULL;
		context->ecxt_scantuple = slot;
		if (ExecQual(css->ss.ps.qual, context))
			return projection ? ExecProject(projection) : slot;
		InstrCountFiltered1(css, 1);
	}
}

static void
forget_all(group_state *state)
{
	spill_close(&state->spill);
	state->spill.num_partitions = 0;
	state->spill.num_bytes = 0;
	state->num_groups = 0;
	state->most_bytes = 0;
	chunk_free(state->rows);
	if (state->fold)
	{
		group_fold_start(state->fold);
		chunk_free(state->others);
		state->shown = NULL;
	}
	MemoryContextReset(state->input.context);
	state->input.groups.num_groups = 0;
	state->next_group = 0;
	state->collected = false;
	group_device_forget(state);
}

static void
rescan(CustomScanState *css)
{
	group_state *state = (group_state *) css;
	PlanState  *child = linitial(css->custom_ps);

	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	/* the child would return the same rows: reuse their groups */
	if (state->collected && child->chgParam == NULL && state->spill.num_partitions == 0 && state->method != GROUP_PARTIAL)
	{
		state->next_group = 0;
		if (state->device)
		{
			device_query_restart(state->device);
			state->input.groups.num_groups = 0;
			state->num_groups = 0;
		}
		return;
	}
	forget_all(state);
	if (state->source)
		row_source_stop(state->source);
	/* if parameters have changed, whoever reads it rescans the child */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end(CustomScanState *css)
{
	group_state *state = (group_state *) css;

	if (state->source)
		row_source_stop(state->source);
	forget_all(state);
	ExecEndNode(linitial(css->custom_ps));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "MgpuGroup",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = group_explain
};

static Node *
make_state(CustomScan *scan)
{
	return custom_plan_state(sizeof(group_state), &exec_methods);
}

const CustomScanMethods group_scan_methods = {
	.CustomName = "MgpuGroup",
	.CreateCustomScanState = make_state
};

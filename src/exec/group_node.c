/*
 * group_node.c
 *		MgpuGroup: groups rows and runs aggregates.
 *
 * There are two methods.  Either all rows are kept as columns, the groups are found by one sort of the keys
 * (key_sort.c), and aggregates then work on all groups at once (aggregate.h).  Or, where no aggregate needs a row twice and
 * groups are not too many, rows are added to their groups as they come (group_fold.c).  What does not fit in memory,
 * rows or rows of new groups, goes to partitions, and each partition is processed alone.  Workers fold their rows,
 * and the leader combines what they return (group_partial.c).
 *
 * With many groups, PostgreSQL's Agg node spends most of its time on finding the group
 * of each row in a hash table, or on sorting rows one by one.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/key_sort.h"
#include "exec/group_state.h"
#include "query/aggregate_ways.h"
#include "run/run_job.h"

/* With as many of them, rows that the fold has no memory for are written. */
#define STEP_OTHERS 1024

/* ---- reading */

/* Forget the groups that were folded before. */
static void
start(node_state *node)
{
	group_state *state = (group_state *) node;

	if (state->fold)
		group_fold_start(state->fold);
	else
		node_reserve(node);
}

/* Values of variable width lie in the arena, and once more as keys. */
static bool
is_full(node_state *node)
{
	return node_is_full(node, node->rows->arena.taken_bytes);
}

static void
spill_all(node_state *node)
{
	node_spill(node, node->rows, node->row_bytes + 2 * node->rows->arena.taken_bytes / Max(node->rows->num_rows, 1));
}

/* Fold the rows that are there; rows of groups that there is no memory for are put aside. */
static void
fold_all(group_state *state)
{
	node_state *node = &state->node;

	group_fold_rows(state->fold, node->rows, node->level > 0 ? node_limit_bytes(node) : SIZE_MAX, state->others);
	chunk_reset(node->rows);
	node->most_bytes = Max(node->most_bytes, group_fold_bytes(state->fold));
}

static void
take(node_state *node)
{
	group_state *state = (group_state *) node;

	if (state->fold)
	{
		fold_all(state);
		if (state->others->num_rows >= STEP_OTHERS || state->others->arena.taken_bytes >= CHUNK_STEP_BYTES)
			node_spill(node, state->others, node->row_bytes);
	}
	else if (node->level > 0 && is_full(node))
		spill_all(node);
}

/* If some rows were spilled, spill the rest too. */
static void
finish(node_state *node)
{
	group_state *state = (group_state *) node;

	if (state->fold)
	{
		fold_all(state);
		if (state->others->num_rows > 0)
			node_spill(node, state->others, node->row_bytes);
	}
	else if (node->spill.num_open > 0)
		spill_all(node);
	else
		/* only for its side effect: it records the peak memory */
		(void) is_full(node);
}

static bool
read_by_device(node_state *node)
{
	return group_device_run((group_state *) node, node->num_rows);
}

/* ---- groups */

/* Sort the rows by their keys, and let the aggregates work on all groups. */
static void
sort_groups(group_state *state)
{
	group_input *input = &state->input;
	run_record	record;
	ListCell   *cell;

	run_call_start();
	state->executor = NULL;
	input->rows = state->node.rows;
	input->derived = NIL;
	input->groups = group_keys_rank(&state->keys, state->node.rows, input->context, &state->key_form, &record);
	if (state->keys.num_keys > 0)
	{
		state->executor = run_executor_name(record.on_gpu);
		state->algorithm = record.algorithm;
		state->num_threads = record.num_threads;
	}
	foreach(cell, state->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		aggregate->prepare(aggregate);
	}
}

/* Find the groups of the rows that were read.  There may be none: all rows have been spilled. */
static void
find_groups(group_state *state)
{
	if (state->fold)
		group_fold_finish(state->fold, &state->input);
	else if (state->node.rows->num_rows > 0 || (state->keys.num_keys == 0 && state->node.spill.num_partitions == 0))
		sort_groups(state);
}

/* Prepare the next groups.  False: all groups have been returned. */
static bool
next_groups(group_state *state)
{
	node_state *node = &state->node;

	/* rows that never spilled stay in memory for a rescan */
	if (node->ended && node->spill.num_partitions == 0 && state->device == NULL)
		return false;
	MemoryContextReset(state->input.context);
	state->input.groups.num_groups = 0;
	state->next_group = 0;
	if (!node->ended)
		node_read_child(node);
	else if (state->device == NULL && !node_read_partition(node))
		return false;
	if (state->device == NULL)
		find_groups(state);
	else if (!group_device_next(state))
		return false;
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

/* Put the next group into the scan slot. */
static TupleTableSlot *
next(node_state *node)
{
	group_state *state = (group_state *) node;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	MemoryContext caller;
	uint32		group;

	if (state->method == GROUP_PARTIAL)
		return group_partial_next(state);
	while (state->next_group >= state->input.groups.num_groups)
		if (!next_groups(state))
			return NULL;
	group = state->next_group++;
	ReScanExprContext(state->state_context);
	state->input.turn++;
	caller = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	ExecClearTuple(slot);
	for (int i = 0; i < state->num_outputs; i++)
		slot->tts_values[i] = output_of(state, &state->outputs[i], group, &slot->tts_isnull[i]);
	MemoryContextSwitchTo(caller);
	return ExecStoreVirtualTuple(slot);
}

/* ---- beginning and starting again */

static group_aggregate *
start_aggregate(group_state *state, const Aggref *aggref, int number, List *columns)
{
	const char *why_not;
	group_aggregate_source source = {
		.aggref = aggref,
		.plan = group_plan_of(aggref, &why_not),
		.wants_first = query_wants_first(state->node.query, number),
		.columns = columns,
		.rows = state->node.rows,
		.input = &state->input,
		.node = &state->node.css.ss.ps,
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
		output->aggregate = start_aggregate(state, castNode(Aggref, entry->expr), state->num_outputs - 1, columns);
		state->node.row_bytes += group_plan_row_bytes(&output->aggregate->plan);
		state->aggregates = lappend(state->aggregates, output->aggregate);
	}
}

static void
begin(node_state *node)
{
	group_state *state = (group_state *) node;
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	MemoryContext context = CurrentMemoryContext;

	state->method = node->query->method;
	node_open(node);
	node->row_bytes = most_bytes_of_row(node->row_bytes, 0);
	node_start_keys(node, &state->keys);
	state->state_context = CreateExprContext(node->css.ss.ps.state);
	start_outputs(state, state->method == GROUP_PARTIAL ? list_copy_tail(scan->custom_scan_tlist, 1) : scan->custom_scan_tlist,
				  node->query->uses);
	group_having_start(state);
	state->input.context = AllocSetContextCreate(context, "mgpu_pg groups", ALLOCSET_DEFAULT_SIZES);
	state->input.function = node->operator->name;
	if (state->method == GROUP_COMBINE)
		node->rows = group_partial_rows(context, node->rows, state->aggregates);
	if (state->method == GROUP_SORT)
		return;
	state->fold = group_fold_create(context, &state->keys, state->aggregates, node->rows, state->method == GROUP_COMBINE);
	state->others = chunk_like(context, node->rows);
}

static bool
restart(node_state *node)
{
	group_state *state = (group_state *) node;

	if (node->spill.num_partitions > 0 || state->method == GROUP_PARTIAL)
		return false;
	state->next_group = 0;
	if (state->device)
	{
		device_query_restart(state->device);
		state->input.groups.num_groups = 0;
		state->num_groups = 0;
	}
	return true;
}

static void
forget(node_state *node)
{
	group_state *state = (group_state *) node;

	if (state->fold)
	{
		group_fold_start(state->fold);
		chunk_free(state->others);
		state->shown = NULL;
	}
	MemoryContextReset(state->input.context);
	state->input.groups.num_groups = 0;
	state->next_group = 0;
	state->num_groups = 0;
	group_device_forget(state);
}

const node_operator group_operator = {
	.name = "MgpuGroup",
	.state_bytes = sizeof(group_state),
	.begin = begin,
	.next = next,
	.read_by_device = read_by_device,
	.start = start,
	.take = take,
	.finish = finish,
	.restart = restart,
	.forget = forget,
	.explain = group_explain,
	.explain_run = group_explain_run
};

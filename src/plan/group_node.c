/*
 * group_node.c
 *		MgpuGroup: a plan node that groups rows and runs aggregates.
 *
 * There are two methods.  Either the node reads all rows of its child into columns and finds the groups by one
 * sort of the keys (keys.c), and aggregates then work on all groups at once (aggregate.h).  Or, where no aggregate
 * needs a row twice and groups are not too many, rows are added to their groups as they come (group_fold.c).
 * Rows that do not fit in memory are partitioned by key (columns/spill.h), and each partition is processed alone.
 *
 * With many groups, PostgreSQL's Agg node spends most of its time on finding the group
 * of each row in a hash table, or on sorting rows one by one.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "columns/spill.h"
#include "columns/wire.h"
#include "plan/aggregate.h"
#include "plan/declined.h"
#include "plan/group.h"
#include "plan/group_fold.h"
#include "plan/keys.h"
#include "plan/row_source.h"
#include "run/run.h"

/* Rows between two checks of memory. */
#define STEP_ROWS 1024

/* Most rows added between two checks, by a pack or a piece of a file. */
#define MOST_STEP_ROWS (64 * 1024)

/* An entry of the scan tuple: an aggregate, or else a column of the group's first row. */
typedef struct group_output
{
	group_aggregate *aggregate; /* NULL: none */
	int			column;
} group_output;

typedef struct group_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	group_keys	keys;
	chunk	   *rows;
	row_source *source;			/* unless the child returns packs */
	Size		row_bytes;		/* most memory that a row takes, but for its values of variable width */
	group_fold *fold;			/* NULL: groups are found by sorting, once all rows are there */
	chunk	   *others;			/* rows that the fold has no memory for */
	spill		spill;
	ExprContext *state_context; /* of transition states of one group */
	group_input input;			/* its context has all memory derived from the current rows */
	bool		collected;		/* all rows of the child have been read */
	uint32		next_group;		/* next group of input to return */
	int			num_outputs;
	group_output *outputs;
	List	   *aggregates;

	/* for EXPLAIN */
	int64		num_groups;		/* this and the next since the last rescan that read rows */
	Size		most_bytes;
	const char *key_form;
	const char *executor;		/* of the sort of keys; set together with the next two */
	const char *algorithm;
	int			num_threads;
} group_state;

/* ---- collecting rows */

/* Memory for rows: all, but for the buffers of files once there are some. */
static Size
limit_bytes(const group_state *state)
{
	Size		limit = get_hash_memory_limit();

	return state->spill.num_partitions > 0 ? limit - limit / SPILL_BUFFER_PART : limit;
}

static bool
is_full(group_state *state)
{
	/* values of variable width lie in the arena, and once more as keys */
	Size		bytes = state->rows->num_rows * state->row_bytes + 2 * state->rows->arena.taken_bytes;

	state->most_bytes = Max(state->most_bytes, bytes);
	return bytes > limit_bytes(state) || state->rows->num_rows > MGPU_MAX_ITEMS - MOST_STEP_ROWS;
}

static void
spill_all(group_state *state, int level, uint64 num_rows)
{
	Size		row_bytes = state->row_bytes + 2 * state->rows->arena.taken_bytes / Max(state->rows->num_rows, 1);

	spill_rows(&state->spill, state->rows, level, num_rows * row_bytes, get_hash_memory_limit());
}

/* Fold the rows that are there; rows of groups that there is no memory for are spilled. */
static void
fold_all(group_state *state, int level, uint64 num_rows, Size limit)
{
	group_fold_rows(state->fold, state->rows, limit, state->others);
	chunk_reset(state->rows);
	state->most_bytes = Max(state->most_bytes, group_fold_bytes(state->fold));
	if (state->others->num_rows >= STEP_ROWS)
		spill_rows(&state->spill, state->others, level, num_rows * state->row_bytes, get_hash_memory_limit());
}

/* Take note of the rows that are there: more are to come. */
static void
take_step(group_state *state, int level, uint64 num_rows)
{
	if (state->fold)
		fold_all(state, level, num_rows, limit_bytes(state));
	else if (is_full(state))
		spill_all(state, level, num_rows);
}

/* Complete the reading of rows: if some were spilled, spill the rest too. */
static void
finish_reading(group_state *state, int level, uint64 num_rows)
{
	if (state->fold)
	{
		fold_all(state, level, num_rows, limit_bytes(state));
		if (state->others->num_rows > 0)
			spill_rows(&state->spill, state->others, level, num_rows * state->row_bytes, get_hash_memory_limit());
	}
	else if (state->spill.num_open > 0)
		spill_all(state, level, num_rows);
	else
		/* only for its side effect: is_full records the peak memory */
		(void) is_full(state);
	if (state->spill.num_open > 0)
		spill_finish(&state->spill);
}

/* Append the rows of the child's next pack.  False: there are no more. */
static bool
read_pack(group_state *state)
{
	TupleTableSlot *slot = ExecProcNode(linitial(state->css.custom_ps));
	const bytea *pack;
	bool		is_null;

	if (TupIsNull(slot))
		return false;
	pack = (const bytea *) DatumGetPointer(slot_getattr(slot, 1, &is_null));
	if (is_null)
		elog(ERROR, "a parallel worker sent no rows to group");
	if (chunk_read(state->rows, state->rows->num_columns, VARDATA_ANY(pack), VARSIZE_ANY_EXHDR(pack)) !=
		VARSIZE_ANY_EXHDR(pack))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid rows of a parallel worker")));
	return true;
}

static void
read_child(group_state *state)
{
	const PlanState *child = linitial(state->css.custom_ps);
	double		slot_rows = state->source ? 1 : rows_of_pack(rows_bytes_of_one(state->rows));
	uint64		expected = Min(child->plan->plan_rows * slot_rows, (double) MGPU_MAX_ITEMS);
	uint64		checked = 0;

	if (state->fold)
		group_fold_start(state->fold);
	while (state->source ? row_source_read(state->source, state->rows) : read_pack(state))
	{
		if (state->rows->num_rows < checked + STEP_ROWS)
			continue;
		take_step(state, 1, expected);
		checked = state->rows->num_rows;
	}
	finish_reading(state, 1, expected);
}

/* Read a partition, or as much of it as fits and spill the rest again.  False: it had no row that fits. */
static bool
read_rows_of(group_state *state, partition *part)
{
	uint64		num_rows = part->num_rows;
	int			level = part->level + 1;

	chunk_free(state->rows);
	if (state->fold)
		group_fold_start(state->fold);
	while (part->num_rows > 0)
	{
		CHECK_FOR_INTERRUPTS();
		spill_read(part, state->rows);
		/* one group, or groups that no hash tells apart, have to fit */
		if (!part->one_group)
			take_step(state, level, num_rows);
		else if (state->fold)
			fold_all(state, level, num_rows, SIZE_MAX);
	}
	BufFileClose(part->file);
	finish_reading(state, level, num_rows);
	return state->fold || state->rows->num_rows > 0;
}

/* Read a partition that has rows to group.  False: there are no more partitions. */
static bool
read_partition(group_state *state)
{
	partition  *part;

	while ((part = spill_next(&state->spill)) != NULL)
		if (read_rows_of(state, part))
			return true;
	return false;
}

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

		aggregate->prepare(aggregate, input);
	}
}

/* Read rows: of the child at first, of a partition later.  False: there are none. */
static bool
read_some(group_state *state)
{
	bool		is_first = !state->collected;

	if (is_first)
	{
		read_child(state);
		state->collected = true;
		/* groups that were folded are complete; the others are all in partitions */
		if (state->fold)
			return true;
	}
	if (state->spill.num_partitions > 0)
		return read_partition(state);
	return state->rows->num_rows > 0 || state->keys.num_keys == 0;
}

/* Prepare the next groups.  False: all groups have been returned. */
static bool
next_groups(group_state *state)
{
	/* rows that never spilled stay in memory for a rescan */
	if (state->collected && state->spill.num_partitions == 0)
		return false;
	MemoryContextReset(state->input.context);
	state->input.groups.num_groups = 0;
	state->next_group = 0;
	if (!read_some(state))
		return false;
	if (state->fold)
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
start_keys(group_state *state, List *outputs, List *uses, List *private)
{
	List	   *equalities = lsecond(private);
	group_keys *keys = &state->keys;

	keys->num_keys = list_length(equalities);
	keys->keys = palloc0(keys->num_keys * sizeof(group_key) + 1);
	for (int i = 0; i < keys->num_keys; i++)
	{
		const TargetEntry *entry = list_nth(outputs, i);

		if (!group_key_fill(&keys->keys[i], exprType((const Node *) entry->expr), list_nth_oid(equalities, i),
							list_nth_oid(lthird(private), i)))
			elog(ERROR, "a grouping key is not what it was planned as");
		keys->keys[i].column = linitial_int(list_nth(uses, i));
	}
}

static group_aggregate *
start_aggregate(const group_state *state, const Aggref *aggref, List *columns)
{
	const char *why_not;
	group_aggregate_source source = {
		.aggref = aggref,
		.plan = group_plan_of(aggref, &why_not),
		.columns = columns,
		.rows = state->rows,
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
	List	   *packed_types = lfourth(scan->custom_private);

	css->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate, eflags));
	if (packed_types == NIL)
		state->source = row_source_open(linitial(css->custom_ps));
	state->rows = packed_types ? rows_create(context, packed_types) : rows_create_for(context, linitial(css->custom_ps));
	state->row_bytes = most_bytes_of_row(rows_bytes_of_one(state->rows), 0);
	state->state_context = CreateExprContext(estate);
	start_keys(state, scan->custom_scan_tlist, linitial(scan->custom_private), scan->custom_private);
	start_outputs(state, scan->custom_scan_tlist, linitial(scan->custom_private));
	state->input.context = AllocSetContextCreate(context, "mgpu_pg groups", ALLOCSET_DEFAULT_SIZES);
	if (linitial_int(list_nth(scan->custom_private, 4)))
	{
		state->fold = group_fold_create(context, &state->keys, state->aggregates, state->rows);
		state->others = chunk_like(context, state->rows);
	}
	state->spill.context = AllocSetContextCreate(context, "mgpu_pg partitions of rows", ALLOCSET_DEFAULT_SIZES);
	state->spill.hash = group_keys_hash;
	state->spill.keys = &state->keys;
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	ExprContext *context = css->ss.ps.ps_ExprContext;
	ProjectionInfo *projection = css->ss.ps.ps_ProjInfo;

	for (;;)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(context);
		slot = next_group((group_state *) css);
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
	}
	MemoryContextReset(state->input.context);
	state->input.groups.num_groups = 0;
	state->next_group = 0;
	state->collected = false;
}

static void
rescan(CustomScanState *css)
{
	group_state *state = (group_state *) css;
	PlanState  *child = linitial(css->custom_ps);

	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	/* the child would return the same rows: reuse their groups */
	if (state->collected && child->chgParam == NULL && state->spill.num_partitions == 0)
	{
		state->next_group = 0;
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

/* The keys, and how each aggregate is run. */
static void
explain_plan(const group_state *state, CustomScan *scan, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	bool		prefix = mgpu_explained_relations(es) > 1 || es->verbose;
	List	   *keys = NIL;
	List	   *ways = NIL;

	for (int i = 0; i < state->num_outputs; i++)
	{
		const TargetEntry *entry = list_nth(scan->custom_scan_tlist, i);
		const group_aggregate *aggregate = state->outputs[i].aggregate;

		if (aggregate)
			ways = lappend(ways, psprintf("%s: %s", get_func_name(aggregate->aggref->aggfnoid), group_way_name(&aggregate->plan)));
		else if (i < state->keys.num_keys)
			keys = lappend(keys, deparse_expression((Node *) entry->expr, context, prefix, true));
	}
	if (keys)
		ExplainPropertyList("Group Key", keys, es);
	if (ways)
		ExplainPropertyList("Aggregates", ways, es);
	ExplainPropertyText("Method", state->fold ? "hash" : "sort", es);
}

static void
explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	group_state *state = (group_state *) css;

	report_printed(es);
	explain_plan(state, (CustomScan *) css->ss.ps.plan, ancestors, es);
	if (state->source)
		row_source_explain(state->source, es);
	if (!es->analyze || !state->collected)
		return;
	ExplainPropertyInteger("Groups", NULL, state->num_groups, es);
	if (state->executor)
	{
		ExplainPropertyText("Key Form", state->key_form, es);
		ExplainPropertyText("Sort Executor", state->executor, es);
		ExplainPropertyText("Sort Algorithm", state->algorithm, es);
		ExplainPropertyInteger("Sort Threads", NULL, state->num_threads, es);
	}
	ExplainPropertyInteger("Peak Memory Usage", "kB", state->most_bytes / 1024, es);
	if (state->spill.num_partitions == 0)
		return;
	ExplainPropertyInteger("Spill Partitions", NULL, state->spill.num_partitions, es);
	ExplainPropertyInteger("Disk Usage", "kB", state->spill.num_bytes / 1024, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "MgpuGroup",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain
};

static Node *
make_state(CustomScan *scan)
{
	return custom_state(sizeof(group_state), &exec_methods);
}

const CustomScanMethods group_scan_methods = {
	.CustomName = "MgpuGroup",
	.CreateCustomScanState = make_state
};

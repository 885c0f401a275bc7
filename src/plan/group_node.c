/*
 * group_node.c
 *		MgpuGroup: a plan node that groups rows and runs the extension's aggregates.
 *
 * The node reads all rows of its child into columns and finds the groups by one sort of
 * the keys (rank.c).  It makes a batch of each aggregate's values by group.  A batch
 * sorts all its groups at once, and the node returns one row for each group.  Rows that
 * do not fit in memory are partitioned by key (columns/spill.c), and each partition is
 * processed alone.
 *
 * With many groups, PostgreSQL's Agg node spends most of its time on finding the group
 * of each row in a hash table.  A transition function cannot avoid that, so this node
 * exists.
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
#include "utils/ruleutils.h"

#include "compat.h"
#include "columns/spill.h"
#include "columns/wire.h"
#include "plan/group.h"
#include "run/run.h"

/* Rows between two checks of memory. */
#define STEP_ROWS 1024

/* Most rows added between two checks, by a pack or a piece of a file. */
#define MOST_STEP_ROWS (64 * 1024)

typedef struct group_aggregate
{
	agg_call   *call;
	int			column;			/* column of rows with the argument */
	bool		last_use;		/* no later aggregate's batch needs the column */
	agg_batch  *batch;			/* its own or its leader's */
} group_aggregate;

typedef struct group_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	bool		packed;			/* the child returns packs of rows */
	chunk	   *rows;
	Size		row_bytes;		/* most memory that a row takes */
	spill		spill;
	MemoryContext batch_context;	/* memory derived from the current rows */
	group_ranks ranks;
	bool		collected;		/* all rows of the child have been read */
	uint32		next_group;		/* next group of ranks to return */
	int			num_aggregates;
	group_aggregate *aggregates;

	/* for EXPLAIN */
	int64		num_groups;		/* this and the next since the last rescan that read rows */
	Size		most_bytes;
	const char *executor;		/* of the sort of keys; set together with the next two */
	const char *algorithm;
	int			num_threads;
} group_state;

/* ---- collecting rows */

static Size
most_row_bytes(const group_state *state)
{
	Size		widest = 0;
	Size		copies = 0;

	for (int i = 0; i < state->rows->num_columns; i++)
		widest = Max(widest, state->rows->columns[i].type->width);
	/* a column that two batches need is copied for each */
	for (int i = 0; i < state->num_aggregates; i++)
		if (state->aggregates[i].call->leader == NULL && !state->aggregates[i].last_use)
			copies += widest;
	return most_bytes_of_row(rows_bytes_of_one(state->rows), widest) + copies;
}

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
	Size		bytes = state->rows->num_rows * state->row_bytes;

	state->most_bytes = Max(state->most_bytes, bytes);
	return bytes > limit_bytes(state) || state->rows->num_rows > MGPU_MAX_ITEMS - MOST_STEP_ROWS;
}

static void
spill_all(group_state *state, int level, uint64 num_rows)
{
	spill_rows(&state->spill, state->rows, level, num_rows * state->row_bytes, get_hash_memory_limit());
}

/* Complete the reading of rows: if some were spilled, spill the rest too. */
static void
finish_reading(group_state *state, int level, uint64 num_rows)
{
	/* only for its side effect: is_full records the peak memory */
	if (state->spill.num_open == 0)
		(void) is_full(state);
	else
	{
		spill_all(state, level, num_rows);
		spill_finish(&state->spill);
	}
}

/* Take a tuple of the child: a row or a pack of rows. */
static void
take_slot(group_state *state, TupleTableSlot *slot)
{
	const bytea *pack;
	bool		is_null;

	if (!state->packed)
	{
		rows_put_slot(state->rows, slot);
		return;
	}
	pack = (const bytea *) DatumGetPointer(slot_getattr(slot, 1, &is_null));
	if (is_null)
		elog(ERROR, "a parallel worker sent no rows to group");
	if (chunk_read(state->rows, state->rows->num_columns, VARDATA_ANY(pack), VARSIZE_ANY_EXHDR(pack)) !=
		VARSIZE_ANY_EXHDR(pack))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid rows of a parallel worker")));
}

static void
read_child(group_state *state)
{
	PlanState  *child = linitial(state->css.custom_ps);
	double		slot_rows = state->packed ? rows_of_pack(rows_bytes_of_one(state->rows)) : 1;
	uint64		expected = Min(child->plan->plan_rows * slot_rows, (double) MGPU_MAX_ITEMS);

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(child);

		if (TupIsNull(slot))
			break;
		take_slot(state, slot);
		if ((state->packed || state->rows->num_rows % STEP_ROWS == 0) && is_full(state))
			spill_all(state, 1, expected);
	}
	finish_reading(state, 1, expected);
}

/* Read a partition that fits, or that has only one group.  False: there are no more partitions. */
static bool
read_partition(group_state *state)
{
	partition  *part;

	while ((part = spill_next(&state->spill)) != NULL)
	{
		uint64		num_rows = part->num_rows;

		chunk_free(state->rows);
		while (part->num_rows > 0)
		{
			CHECK_FOR_INTERRUPTS();
			spill_read(part, state->rows);
			if (!part->one_group && is_full(state))
				spill_all(state, part->level + 1, num_rows);
		}
		BufFileClose(part->file);
		finish_reading(state, part->level + 1, num_rows);
		if (state->rows->num_rows > 0)
			return true;
	}
	return false;
}

/* ---- groups */

static agg_batch *
batch_of(const group_state *state, const agg_call *call)
{
	for (int i = 0;; i++)
		if (state->aggregates[i].call == call)
			return state->aggregates[i].batch;
}

static void
make_batches(group_state *state)
{
	chunk	   *rows = state->rows;

	run_call_start();
	state->ranks = group_rank(rows, state->aggregates[0].call->function, state->batch_context);
	state->executor = run_last.executor;
	state->algorithm = run_last.algorithm;
	state->num_threads = run_last.num_threads;
	chunk_free_column(rows, &rows->columns[0]);
	for (int i = 0; i < state->num_aggregates; i++)
	{
		group_aggregate *aggregate = &state->aggregates[i];

		if (aggregate->call->leader)
		{
			aggregate->batch = batch_of(state, aggregate->call->leader);
			continue;
		}
		aggregate->batch = agg_batch_of_rows(aggregate->call, state->batch_context, rows, aggregate->column,
											 &state->ranks.rows);
		if (aggregate->last_use)
			chunk_free_column(rows, &rows->columns[aggregate->column]);
	}
	state->next_group = 0;
	state->num_groups += state->ranks.rows.num_groups;
}

/* Prepare the next groups.  False: all groups have been returned. */
static bool
next_batch(group_state *state)
{
	bool		spilled = state->spill.num_partitions > 0;

	/* rows that never spilled stay in memory for a rescan */
	if (state->collected && !spilled)
		return false;
	MemoryContextReset(state->batch_context);
	memset(&state->ranks, 0, sizeof(state->ranks));
	state->next_group = 0;
	if (!state->collected)
	{
		read_child(state);
		state->collected = true;
		spilled = state->spill.num_partitions > 0;
	}
	if (spilled ? !read_partition(state) : state->rows->num_rows == 0)
		return false;
	make_batches(state);
	return true;
}

/* An aggregate's result for a group, allocated in the current context. */
static Datum
result_of(const group_state *state, const group_aggregate *aggregate, uint32 group, bool *is_null)
{
	const agg_call *call = aggregate->call;

	*is_null = false;
	if (call->kind == AGG_SORT)
		return PointerGetDatum(agg_batch_array(aggregate->batch, group, call->order.nulls_first));
	return agg_batch_percentile(aggregate->batch, group, &(chunk_slice) {call->constant_fraction, 1, 0, NULL, 1},
								call->kind == AGG_PERCENTILE_CONT, is_null);
}

/* Put the next group's key and results into the scan slot.  NULL: no more groups. */
static TupleTableSlot *
next_group(group_state *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const column_type *key = state->rows->columns[0].type;
	MemoryContext caller;
	uint32		group;

	while (state->next_group >= state->ranks.rows.num_groups)
		if (!next_batch(state))
			return NULL;
	group = state->next_group++;
	caller = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	ExecClearTuple(slot);
	slot->tts_isnull[0] = group == state->ranks.null_group;
	slot->tts_values[0] = cell_datum(key, state->ranks.keys, group);
	for (int i = 0; i < state->num_aggregates; i++)
		slot->tts_values[i + 1] = result_of(state, &state->aggregates[i], group, &slot->tts_isnull[i + 1]);
	MemoryContextSwitchTo(caller);
	return ExecStoreVirtualTuple(slot);
}

/* ---- methods */

static void
start_aggregates(group_state *state, const CustomScan *scan, MemoryContext context)
{
	List	   *columns = linitial(scan->custom_private);

	state->num_aggregates = list_length(columns);
	state->aggregates = MemoryContextAllocZero(context, state->num_aggregates * sizeof(group_aggregate));
	for (int i = 0; i < state->num_aggregates; i++)
	{
		const TargetEntry *entry = list_nth(scan->custom_scan_tlist, i + 1);
		const Aggref *aggref = castNode(Aggref, entry->expr);
		group_aggregate *aggregate = &state->aggregates[i];
		agg_kind	kind;

		if (!group_aggregate_kind(aggref, &kind))
			elog(ERROR, "aggregate %u is not what it was planned as", aggref->aggfnoid);
		group_aggregate_check_permissions(aggref);
		aggregate->call = agg_call_create(context, aggref, kind);
		aggregate->column = list_nth_int(columns, i);
		aggregate->last_use = true;
		for (int j = 0; j < i && aggregate->call->leader == NULL; j++)
			if (agg_call_can_share(aggregate->call, state->aggregates[j].call))
				aggregate->call->leader = state->aggregates[j].call;
		for (int j = 0; j < i && aggregate->call->leader == NULL; j++)
			if (state->aggregates[j].column == aggregate->column)
				state->aggregates[j].last_use = false;
	}
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	group_state *state = (group_state *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	MemoryContext context = estate->es_query_cxt;
	List	   *packed_types = lsecond(scan->custom_private);

	css->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate, eflags));
	start_aggregates(state, scan, context);
	state->packed = packed_types != NIL;
	if (state->packed)
		state->rows = rows_create(context, packed_types);
	else
		state->rows = rows_create_for(context, linitial(css->custom_ps));
	state->row_bytes = most_row_bytes(state);
	state->batch_context = AllocSetContextCreate(context, "mgpu_pg groups", ALLOCSET_DEFAULT_SIZES);
	state->spill.context = AllocSetContextCreate(context, "mgpu_pg partitions of rows", ALLOCSET_DEFAULT_SIZES);
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
	MemoryContextReset(state->batch_context);
	memset(&state->ranks, 0, sizeof(state->ranks));
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
	/* if parameters have changed, ExecProcNode rescans the child */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end(CustomScanState *css)
{
	group_state *state = (group_state *) css;

	forget_all(state);
	ExecEndNode(linitial(css->custom_ps));
}

static void
explain_key(CustomScanState *css, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	const TargetEntry *entry = linitial(scan->custom_scan_tlist);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	bool		prefix = mgpu_explained_relations(es) > 1 || es->verbose;

	ExplainPropertyText("Group Key", deparse_expression((Node *) entry->expr, context, prefix, true), es);
}

static void
explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	group_state *state = (group_state *) css;

	explain_key(css, ancestors, es);
	if (!es->analyze || state->executor == NULL)
		return;
	ExplainPropertyInteger("Groups", NULL, state->num_groups, es);
	ExplainPropertyText("Sort Executor", state->executor, es);
	ExplainPropertyText("Sort Algorithm", state->algorithm, es);
	ExplainPropertyInteger("Sort Threads", NULL, state->num_threads, es);
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

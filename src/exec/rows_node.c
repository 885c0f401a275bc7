/*
 * rows_node.c
 *		MgpuRows: a plan node that packs rows for an MgpuGroup node (group_node.c).
 *
 * The node runs below a Gather, in every worker and in a participating leader.  It
 * reads its child's rows into columns and returns them as packs, one tuple for about a
 * thousand rows, and it holds at most one pack and a page.  To the nodes above, it is a scan with
 * one column, so the nodes in between need no knowledge of packs.  Shared memory that
 * the leader sorts in place was rejected.  The queue already bounds the memory of
 * workers, and the copy that it adds costs a tenth of the sort that follows.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/wire.h"
#include "exec/nodes.h"
#include "query/custom_plan.h"
#include "scan/row_source.h"

typedef struct rows_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	row_source *source;
	chunk	   *rows;			/* rows of the next pack, or of several if they are wide */
	uint64		next;			/* the first that is in no pack yet */
	uint32		most_rows;		/* the pack is full with as many */
	bool		ended;			/* the child has no more rows */
} rows_state;

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	rows_state *state = (rows_state *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	PlanState  *child = ExecInitNode(linitial(scan->custom_plans), estate, eflags);

	css->custom_ps = list_make1(child);
	state->source = row_source_open(child);
	state->rows = rows_create_for(estate->es_query_cxt, child);
	rows_keep_stored(state->rows, query_of(scan->custom_private)->stored);
	state->most_rows = rows_of_pack(rows_bytes_of_one(state->rows));
}

static void
collect(rows_state *state)
{
	chunk_reset(state->rows);
	state->next = 0;
	while (state->rows->num_rows < state->most_rows && state->rows->arena.taken_bytes < CHUNK_STEP_BYTES && !state->ended)
		state->ended = !row_source_read(state->source, state->rows);
}

/* The next pack, allocated in the current context. */
static bytea *
pack(rows_state *state)
{
	chunk_slice slice = {state->rows, state->rows->num_columns, state->next, NULL, 0};
	StringInfoData message;

	slice.num_rows = rows_of_step(state->rows, state->next, state->rows->num_rows - state->next);
	state->next += slice.num_rows;
	message_start(&message);
	message_append_rows(&message, &slice);
	return message_end(&message);
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	rows_state *state = (rows_state *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	MemoryContext caller;

	CHECK_FOR_INTERRUPTS();
	if (state->next == state->rows->num_rows)
		collect(state);
	if (state->rows->num_rows == 0)
		return NULL;
	ResetExprContext(context);
	caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	ExecClearTuple(slot);
	slot->tts_isnull[0] = false;
	slot->tts_values[0] = PointerGetDatum(pack(state));
	MemoryContextSwitchTo(caller);
	return ExecStoreVirtualTuple(slot);
}

static void
rescan(CustomScanState *css)
{
	rows_state *state = (rows_state *) css;
	PlanState  *child = linitial(css->custom_ps);

	state->ended = false;
	chunk_reset(state->rows);
	state->next = 0;
	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	row_source_stop(state->source);
	/* if parameters have changed, whoever reads it rescans the child */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end(CustomScanState *css)
{
	row_source_stop(((rows_state *) css)->source);
	ExecEndNode(linitial(css->custom_ps));
}

static void
explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	row_source_explain(((const rows_state *) css)->source, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "MgpuRows",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain
};

static Node *
make_state(CustomScan *scan)
{
	return custom_plan_state(sizeof(rows_state), &exec_methods);
}

const CustomScanMethods rows_scan_methods = {
	.CustomName = "MgpuRows",
	.CreateCustomScanState = make_state
};

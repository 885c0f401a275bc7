/*
 * group_send.c
 *		MgpuRows: a plan node that packs rows for an MgpuGroup node (group_node.c).
 *
 * It stands below a Gather, in every worker and in the leader where that takes
 * part.  It reads its child's rows into columns and returns them as packs
 * (group_pack.c), a tuple for some thousand rows; it holds no more than one of
 * them.  What stands above it is a scan of one column, so that nothing between
 * the two nodes knows what passes through.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "group_pack.h"
#include "group_send.h"

typedef struct send_state
{
	CustomScanState css;		/* first, as PostgreSQL allocates and frees this */
	group_rows *rows;			/* of the pack in the making */
	uint32		most_rows;		/* in a pack */
	bool		ended;			/* the child has no more */
} send_state;

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	send_state *state = (send_state *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	PlanState  *child = ExecInitNode(linitial(scan->custom_plans), estate, eflags);

	css->custom_ps = list_make1(child);
	state->rows = group_rows_create_for(estate->es_query_cxt, child);
	state->most_rows = group_pack_rows(state->rows->record_bytes);
}

static void
collect(send_state *state)
{
	PlanState  *child = linitial(state->css.custom_ps);

	group_rows_restart(state->rows);
	while (state->rows->num_rows < state->most_rows && !state->ended)
	{
		TupleTableSlot *slot = ExecProcNode(child);

		if (TupIsNull(slot))
			state->ended = true;
		else
			group_rows_put_slot(state->rows, slot);
	}
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	send_state *state = (send_state *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;
	MemoryContext caller;

	CHECK_FOR_INTERRUPTS();
	collect(state);
	if (state->rows->num_rows == 0)
		return NULL;
	ResetExprContext(context);
	caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	ExecClearTuple(slot);
	slot->tts_isnull[0] = false;
	slot->tts_values[0] = PointerGetDatum(group_pack(state->rows));
	MemoryContextSwitchTo(caller);
	return ExecStoreVirtualTuple(slot);
}

static void
rescan(CustomScanState *css)
{
	send_state *state = (send_state *) css;
	PlanState  *child = linitial(css->custom_ps);

	group_rows_restart(state->rows);
	state->ended = false;
	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	/* where parameters have changed the child starts over by itself */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end(CustomScanState *css)
{
	ExecEndNode(linitial(css->custom_ps));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "MgpuRows",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan
};

static Node *
make_state(CustomScan *scan)
{
	send_state *state = palloc0(sizeof(send_state));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	return (Node *) state;
}

const CustomScanMethods group_send_scan_methods = {
	.CustomName = "MgpuRows",
	.CreateCustomScanState = make_state
};

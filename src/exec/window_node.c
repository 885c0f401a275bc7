/*
 * window_node.c
 *		MgpuWindow: a plan node that computes window functions.
 *
 * The node's child is PostgreSQL's WindowAgg over an MgpuSort.  If the sorted rows are in memory, the node takes them from
 * there and computes the functions itself.  WindowAgg copies each row into a store first and calls a function for each
 * value.  If the rows did not fit, WindowAgg computes everything: it has files for partitions of any size.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "batch/rows.h"
#include "declined.h"
#include "exec/nodes.h"
#include "exec/window.h"
#include "query/custom_plan.h"

static void
prepare(window_state *state)
{
	if (state->core->chgParam)
		ExecReScan(state->core);
	sort_prepare(state->sort);
	state->place = 0;
	state->prepared = true;
}

/* The next row as the scan tuple, or NULL. */
static TupleTableSlot *
next_row(window_state *state, ExprContext *context)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	const chunk *rows = state->sort->rows;
	MemoryContext caller;

	if (state->place >= rows->num_rows)
		return ExecClearTuple(slot);
	sort_fetch_ahead(state->sort, state->place);
	ExecClearTuple(slot);
	rows_fill_values(rows, sort_row_at(state->sort, state->place), slot->tts_values, slot->tts_isnull);
	caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	window_compute(state, slot->tts_values + rows->num_columns, slot->tts_isnull + rows->num_columns);
	MemoryContextSwitchTo(caller);
	state->place++;
	return ExecStoreVirtualTuple(slot);
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	window_state *state = (window_state *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;

	CHECK_FOR_INTERRUPTS();
	if (!state->prepared)
		prepare(state);
	ResetExprContext(context);
	context->ecxt_scantuple = sort_has_all_rows(state->sort) ? next_row(state, context) : ExecProcNode(state->core);
	if (TupIsNull(context->ecxt_scantuple))
		return NULL;
	return css->ss.ps.ps_ProjInfo ? ExecProject(css->ss.ps.ps_ProjInfo) : context->ecxt_scantuple;
}

/* ---- methods */

static row_compare
start_keys(const window_state *state, const query *query, int first, int last)
{
	row_compare keys = {last - first, palloc0((last - first) * sizeof(compare_key) + 1)};

	for (int i = first; i < last; i++)
	{
		order_key	by = {
			.column = list_nth_int(query->order_columns, i),
			.operator = list_nth_oid(query->order_operators, i),
			.collation = list_nth_oid(query->order_collations, i)
		};

		row_compare_fill(&keys.keys[i - first], &by, state->sort->rows->columns[by.column].type->element.type_id);
	}
	return keys;
}

static void
start_functions(window_state *state, const query *query)
{
	state->num_functions = list_length(query->functions);
	state->functions = palloc0(state->num_functions * sizeof(window_function));
	for (int i = 0; i < state->num_functions; i++)
	{
		window_function *function = &state->functions[i];
		const Const *otherwise = list_nth(query->defaults, i);

		function->kind = list_nth_int(query->functions, i);
		function->column = list_nth_int(query->arguments, i);
		function->offset = list_nth_int(query->offsets, i);
		function->otherwise_is_null = otherwise == NULL || otherwise->constisnull;
		function->otherwise = function->otherwise_is_null ? (Datum) 0 : otherwise->constvalue;
		state->has_aggregates |= WINDOW_IS_AGGREGATE(function->kind);
	}
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	window_state *state = (window_state *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	const query *query = query_of(scan->custom_private);
	int			num_partitions = query->num_partition_keys;

	state->core = ExecInitNode(linitial(scan->custom_plans), estate, eflags);
	css->custom_ps = list_make1(state->core);
	state->sort = castNode(CustomScanState, outerPlanState(state->core))->methods == &sort_exec_methods ?
		(sort_state *) outerPlanState(state->core) : NULL;
	if (state->sort == NULL)
		elog(ERROR, "the child of MgpuWindow's WindowAgg is not MgpuSort");
	state->partition = start_keys(state, query, 0, num_partitions);
	state->order = start_keys(state, query, num_partitions, list_length(query->order_columns));
	state->frame = query->frame;
	start_functions(state, query);
	custom_plan_name_functions(scan);
}

static void
rescan(CustomScanState *css)
{
	window_state *state = (window_state *) css;

	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(state->core, css->ss.ps.chgParam);
	if (state->core->chgParam == NULL)
		ExecReScan(state->core);
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	state->prepared = false;
}

static void
end(CustomScanState *css)
{
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	ExecEndNode(((window_state *) css)->core);
}

static void
explain(CustomScanState *css, List *ancestors, struct ExplainState *es)
{
	report_printed(es, DECLINED_WINDOW);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "MgpuWindow",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = explain
};

static Node *
make_state(CustomScan *scan)
{
	return custom_plan_state(sizeof(window_state), &exec_methods);
}

const CustomScanMethods window_scan_methods = {
	.CustomName = "MgpuWindow",
	.CreateCustomScanState = make_state
};

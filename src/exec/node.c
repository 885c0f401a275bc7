/*
 * node.c
 *		The plan node: what PostgreSQL calls, for nodes of all kinds.
 *
 * A node reads its child to columns and returns rows of its scan tuple.  What it does with them is the operator's
 * (node.h).  All else is the same for all kinds: conditions and the target are evaluated here, and a rescan decides
 * here whether the rows are still those of before.
 *
 * PostgreSQL's Sort can go back, so a cursor without SCROLL does so over it, and statements rely on that.  Operators
 * go forward only.  For a cursor, a tuplestore keeps what the node has returned, as PostgreSQL's Material does.  Going
 * back in the sorted rows themselves was rejected: those in files, and those of a GPU, each took code of their own.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/node.h"
#include "query/custom_plan.h"

static const node_operator *const operators[NUM_QUERY_KINDS] = {
	[QUERY_GROUP] = &group_operator,
	[QUERY_ROWS] = &rows_operator,
	[QUERY_TOP] = &top_operator,
	[QUERY_SORT] = &sort_operator,
	[QUERY_WINDOW] = &window_operator,
	[QUERY_SCAN] = &scan_operator
};

static CustomScanMethods scan_methods[NUM_QUERY_KINDS];

/* ---- beginning */

/*
 * Since 18, EXPLAIN finds the name of a function's window in a WindowAgg, and fails without one.  Calls stand in for such
 * functions once the planner has matched them: nothing evaluates a scan tuple.  The plan itself is changed, since
 * EXPLAIN also comes from the node above.
 */
static void
name_window_functions(CustomScan *scan)
{
#if PG_VERSION_NUM >= 180000
	MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(scan));
	ListCell   *cell;

	foreach(cell, scan->custom_scan_tlist)
	{
		TargetEntry *entry = lfirst(cell);
		const WindowFunc *function = (const WindowFunc *) entry->expr;

		if (IsA(function, WindowFunc))
			entry->expr = (Expr *) makeFuncExpr(function->winfnoid, function->wintype, function->args, function->wincollid,
												function->inputcollid, COERCE_EXPLICIT_CALL);
	}
	MemoryContextSwitchTo(caller);
#endif
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	node_state *node = (node_state *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	/* the child is read forward only, whatever is asked of the node */
	node->child = ExecInitNode(linitial(scan->custom_plans), estate, eflags & ~EXEC_FLAG_BACKWARD);
	css->custom_ps = list_make1(node->child);
	if ((eflags & EXEC_FLAG_BACKWARD) != 0)
	{
		node->history.store = tuplestore_begin_heap(true, false, work_mem);
		node->history.kept = MakeSingleTupleTableSlot(css->ss.ps.ps_ResultTupleDesc, &TTSOpsMinimalTuple);
	}
	node->operator->begin(node);
	name_window_functions(scan);
}

void
node_start_keys(node_state *node, group_keys *keys)
{
	const query *query = node->query;

	keys->num_keys = list_length(query->key_columns);
	keys->keys = palloc0(keys->num_keys * sizeof(group_key) + 1);
	for (int i = 0; i < keys->num_keys; i++)
	{
		int			column = list_nth_int(query->key_columns, i);
		Oid			equality = list_nth_oid(query->key_equalities, i);

		if (!group_key_fill(&keys->keys[i], node->rows->columns[column].type->element.type_id, equality,
							list_nth_oid(query->key_collations, i)))
			elog(ERROR, "a key is not what it was planned as");
		custom_plan_check_function(get_opcode(equality), GetUserId());
		keys->keys[i].column = column;
	}
	node->spill.context = AllocSetContextCreate(CurrentMemoryContext, "mgpu_pg partitions of rows", ALLOCSET_DEFAULT_SIZES);
	node->spill.hash = group_keys_hash;
	node->spill.keys = keys;
}

row_compare
node_order(const query *query, const chunk *like, int first, int num_keys)
{
	row_compare order = {num_keys, palloc0(num_keys * sizeof(compare_key) + 1)};

	for (int i = 0; i < num_keys; i++)
	{
		order_key	by = {
			.column = list_nth_int(query->order_columns, first + i),
			.operator = list_nth_oid(query->order_operators, first + i),
			.collation = list_nth_oid(query->order_collations, first + i),
			.nulls_first = query->order_nulls_first && list_nth_int(query->order_nulls_first, first + i)
		};

		row_compare_fill(&order.keys[i], &by, like->columns[by.column].type->element.type_id);
	}
	return order;
}

/* ---- returning rows */

/* The next row that meets the conditions. */
static TupleTableSlot *
find_next(node_state *node)
{
	PlanState  *plan = &node->css.ss.ps;
	ExprContext *context = plan->ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = node->operator->next(node);

		if (TupIsNull(slot))
			return NULL;
		context->ecxt_scantuple = slot;
		if (ExecQual(plan->qual, context))
			return plan->ps_ProjInfo ? ExecProject(plan->ps_ProjInfo) : slot;
		InstrCountFiltered1(plan, 1);
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(context);
	}
}

static pg_attribute_always_inline TupleTableSlot *
return_next(node_state *node)
{
	const PlanState *plan = &node->css.ss.ps;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(plan->ps_ExprContext);
	/* as ExecScan does, nothing else where there is nothing else to do */
	return plan->qual || plan->ps_ProjInfo ? find_next(node) : node->operator->next(node);
}

/* A row that was returned before.  False: there is none, in this direction. */
static bool
find_kept(row_history *history, bool forward)
{
	bool		behind_last = tuplestore_ateof(history->store);

	if (forward)
		return !behind_last && tuplestore_gettupleslot(history->store, true, false, history->kept);
	/* the last row is the one that was returned last, unless its end has been said since */
	if (behind_last && !history->at_end && !tuplestore_advance(history->store, false))
		return false;
	return tuplestore_gettupleslot(history->store, false, false, history->kept);
}

/* The next row in the direction of the scan. */
static TupleTableSlot *
return_for_cursor(node_state *node)
{
	row_history *history = &node->history;
	PlanState  *plan = &node->css.ss.ps;
	bool		forward = ScanDirectionIsForward(plan->state->es_direction);
	TupleTableSlot *slot;

	/* who reads the node was told that its slots are virtual */
	if (find_kept(history, forward))
		return ExecCopySlot(plan->ps_ResultTupleSlot, history->kept);
	if (!forward || history->at_end)
		return NULL;
	slot = return_next(node);
	history->at_end = TupIsNull(slot);
	if (!history->at_end)
		tuplestore_puttupleslot(history->store, slot);
	return slot;
}

static TupleTableSlot *
execute(CustomScanState *css)
{
	node_state *node = (node_state *) css;

	return unlikely(node->history.store != NULL) ? return_for_cursor(node) : return_next(node);
}

/* ---- starting again, and ending */

static void
forget_rows(node_state *node)
{
	if (node->source)
		row_source_stop(node->source);
	if (node->operator->forget)
		node->operator->forget(node);
	if (node->spill.context)
		spill_close(&node->spill);
	if (node->rows)
		chunk_free(node->rows);
	node->ended = false;
	node->most_bytes = 0;
}

/* True: the rows are the same, and come from the history first, so that the operator goes on where it is. */
static bool
rescan_history(row_history *history, bool are_same)
{
	if (history->store == NULL)
		return false;
	if (are_same)
		tuplestore_rescan(history->store);
	else
	{
		tuplestore_clear(history->store);
		history->at_end = false;
	}
	return are_same;
}

static void
rescan(CustomScanState *css)
{
	node_state *node = (node_state *) css;
	PlanState  *child = node->child;

	if (css->ss.ps.chgParam)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (rescan_history(&node->history, child->chgParam == NULL && css->ss.ps.chgParam == NULL))
		return;
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	if (node->ended && child->chgParam == NULL && node->operator->restart && node->operator->restart(node))
		return;
	forget_rows(node);
	/* if parameters have changed, whoever reads it rescans the child */
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end(CustomScanState *css)
{
	node_state *node = (node_state *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	forget_rows(node);
	if (node->history.store)
	{
		ExecDropSingleTupleTableSlot(node->history.kept);
		tuplestore_end(node->history.store);
	}
	ExecEndNode(node->child);
}

/* ---- kinds */

static const CustomExecMethods exec_methods = {
	.CustomName = "mgpu_pg",
	.BeginCustomScan = begin,
	.ExecCustomScan = execute,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = node_explain
};

node_state *
node_of(PlanState *plan)
{
	return IsA(plan, CustomScanState) && ((CustomScanState *) plan)->methods == &exec_methods ? (node_state *) plan : NULL;
}

static Node *
make_state(CustomScan *scan)
{
	const query *query = query_of(scan->custom_private);
	node_state *node = palloc0(operators[query->kind]->state_bytes);

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	node->operator = operators[query->kind];
	node->query = query;
	return (Node *) node;
}

void
nodes_init(void)
{
	query_init();
	for (int kind = 0; kind < NUM_QUERY_KINDS; kind++)
	{
		scan_methods[kind] = (CustomScanMethods) {operators[kind]->name, make_state};
		custom_plan_register(kind, &scan_methods[kind]);
	}
}

/*
 * row_source.c
 *		The rows of a node's child: pages of tables as columns where that can be, else rows one by one.
 *
 * Scans are replaced while the query runs, not when it is planned: they stay in the plan, and core locks
 * their tables, checks who may read them and ends them.  Between them and the node above there may be an
 * Append of partitions, and a Result that computes columns.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/pg_class.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "batch/rows.h"
#include "declined.h"
#include "run/run_table.h"
#include "scan/row_source_state.h"
#include "settings.h"

/* ---- what can be read so? */

static row_source *row_source_open_rows(PlanState *child);

Node *
row_source_look_below(Node *node, void *plan)
{
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && var->varno == OUTER_VAR)
		return copyObject((Node *) list_nth_node(TargetEntry, ((const Plan *) plan)->targetlist, var->varattno - 1)->expr);
	return expression_tree_mutator(node, row_source_look_below, plan);
}

static bool
add_reader(row_source *source, ScanState *scan, List *exprs)
{
	List	   *of_scan = (List *) row_source_look_below((Node *) exprs, scan->ps.plan);
	heap_reader *reader;

	/* with joins, it reads for jobs alone */
	if (source->joins)
		reader = heap_reader_open(scan, NIL, NULL, NULL);
	else
		reader = heap_reader_open(scan, linitial(of_scan), source->late_columns, source->late);
	source->exprs = lappend(source->exprs, of_scan);
	source->readers = lappend(source->readers, reader);
	return reader != NULL;
}

static bool
is_scan(const PlanState *node)
{
	return IsA(node, SeqScanState) || IsA(node, BitmapHeapScanState);
}

static bool
add_append(row_source *source, AppendState *append, List *exprs)
{
	/* partitions may be left out while the query runs; one worker alone may run some plans */
	if ((append->as_prune_state && append->as_prune_state->do_exec_prune) ||
		(append->ps.plan->parallel_aware && ((Append *) append->ps.plan)->first_partial_plan > 0))
		return false;
	source->passed = lappend(source->passed, append);
	for (int i = 0; i < append->as_nplans; i++)
		if (!is_scan(append->appendplans[i]) || !add_reader(source, (ScanState *) append->appendplans[i], exprs))
			return false;
	return append->as_nplans > 0;
}

static bool add_readers(row_source *source, PlanState *node, List *exprs);

static bool
add_hash_join(row_source *source, HashJoinState *join, List *exprs)
{
	List	   *below;
	source_join *added;

	source->passed = lappend(source->passed, join);
	below = source_add_join(source, join, (List *) row_source_look_below((Node *) exprs, join->js.ps.plan));
	if (below == NIL)
		return false;
	added = llast(source->joins);
	added->source = row_source_open_rows(added->rows);
	return add_readers(source, source_join_stream(join), below);
}

/* Make readers of lists of expressions of what a node returns.  False: rows have to come one by one. */
static bool
add_readers(row_source *source, PlanState *node, List *exprs)
{
	ResultState *result = (ResultState *) node;

	if (is_scan(node))
		return add_reader(source, (ScanState *) node, exprs);
	/* its plans return what it returns, entry for entry */
	if (IsA(node, AppendState))
		return add_append(source, (AppendState *) node, exprs);
	if (IsA(node, HashJoinState))
		return add_hash_join(source, (HashJoinState *) node, exprs);
	if (!IsA(node, ResultState) || outerPlanState(node) == NULL || node->qual || result->resconstantqual)
		return false;
	source->passed = lappend(source->passed, node);
	return add_readers(source, outerPlanState(node), (List *) row_source_look_below((Node *) exprs, node->plan));
}

/* Workers open what the session has opened. */
static void
report_lack_of_service(void)
{
	const char *lack = run_lack_of_service();

	if (lack && !IsParallelWorker())
		ereport(NOTICE, (errmsg("no GPU reads the table: %s", lack)));
}

List *
row_source_columns(const Plan *child)
{
	List	   *exprs = NIL;
	ListCell   *cell;

	foreach(cell, child->targetlist)
	{
		const TargetEntry *entry = lfirst(cell);
		Node	   *expr = (Node *) entry->expr;

		exprs = lappend(exprs, makeVar(OUTER_VAR, entry->resno, exprType(expr), exprTypmod(expr), exprCollation(expr), 0));
	}
	return exprs;
}

/* Make readers of all that the child returns, if that can be. */
static void
open_readers(row_source *source)
{
	List	   *exprs = row_source_columns(source->child->plan);

	if (mgpu_setting_enable_columns && !add_readers(source, source->child, list_make1(exprs)))
		source->readers = source->passed = source->joins = NIL;
}

row_source *
row_source_open(PlanState *child, const Bitmapset *late_columns)
{
	row_source *source = palloc0(sizeof(row_source));

	source->child = child;
	source->late_columns = late_columns;
	if (!bms_is_empty(late_columns))
	{
		source->late = palloc(sizeof(late_pages));
		late_pages_init(source->late);
	}
	open_readers(source);
	if (source->readers && mgpu_setting_report_declined)
		report_lack_of_service();
	return source;
}

static row_source *
row_source_open_rows(PlanState *child)
{
	row_source *source = palloc0(sizeof(row_source));

	source->child = child;
	open_readers(source);
	return source;
}

/* ---- reading */

/* Read the next page with visible rows of any table. */
static bool
read_page(row_source *source, chunk *rows)
{
	while (source->current < list_length(source->readers))
	{
		if (heap_reader_read(list_nth(source->readers, source->current), rows))
			return true;
		source->current++;
	}
	return false;
}

void
row_source_instrument(const row_source *source, bool begins, uint64 num_rows)
{
	ListCell   *cell;

	foreach(cell, source->passed)
	{
		NodeInstrumentation *times = ((PlanState *) lfirst(cell))->instrument;

		if (times && begins)
			InstrStartNode(times);
		else if (times)
			InstrStopNode(times, num_rows);
	}
}

/* As ExecProcNode does. */
static void
rescan_if_changed(row_source *source)
{
	if (source->child->chgParam == NULL)
		return;
	row_source_stop(source);
	rescan_node(source->child);
}

List *
row_source_readers(row_source *source)
{
	ListCell   *cell;

	if (source->readers)
		rescan_if_changed(source);
	if (source->joins)
		source_settle_joins(source);
	foreach(cell, source->readers)
		if (!heap_reader_prepare(lfirst(cell)))
			return NIL;
	return source->readers;
}

void
row_source_complete(row_source *source, chunk *rows, const uint32 *numbers, uint64 num_rows)
{
	if (source->late)
		late_pages_complete(source->late, rows, numbers, num_rows);
}

void
row_source_release(row_source *source)
{
	if (source->late)
		late_pages_release(source->late);
}

bool
row_source_read(row_source *source, chunk *rows)
{
	uint64		first = rows->num_rows;
	TupleTableSlot *slot;
	bool		found;

	if (source->readers && source->joins == NIL)
	{
		rescan_if_changed(source);
		row_source_instrument(source, true, 0);
		found = read_page(source, rows);
		row_source_instrument(source, false, rows->num_rows - first);
		return found;
	}
	slot = ExecProcNode(source->child);
	if (TupIsNull(slot))
		return false;
	rows_put_slot(rows, slot);
	return true;
}

void
row_source_stop(row_source *source)
{
	ListCell   *cell;

	source->current = 0;
	row_source_release(source);
	foreach(cell, source->readers)
		heap_reader_stop(lfirst(cell));
}

void
row_source_tell(row_source *source, bool ran_job, const char *why_not)
{
	source->ran_job = ran_job;
	strlcpy(source->no_gpu, why_not ? why_not : "", sizeof(source->no_gpu));
}

void
row_source_end_build(source_join *join)
{
	row_source_stop(join->source);
	rescan_node(join->rows);
}

void
row_source_start_again(row_source *source)
{
	row_source_stop(source);
	rescan_node(source->child);
}

/* Not in every EXPLAIN: plans look the same wherever they are made. */
static void
explain_no_gpu(const row_source *source, ExplainState *es)
{
	const char *lack = run_lack_of_service();

	/* who has run it says so */
	if (source->ran_job || (lack == NULL && source->no_gpu[0] == '\0'))
		return;
	ExplainPropertyText("Executor", "cpu", es);
	ExplainPropertyText("Reason", lack ? lack : source->no_gpu, es);
}

void
row_source_explain(const row_source *source, bool by_job, List *ancestors, struct ExplainState *es)
{
	bool		reads_pages = source->readers && (source->joins == NIL || (es->analyze ? source->ran_job : by_job));

	ExplainPropertyText("Input", reads_pages ? "pages as columns" : "rows", es);
	/* partitions have programs of their own, alike but for columns' numbers; a job's takes their place */
	if (source->readers && source->joins == NIL && !source->ran_job && es->verbose)
		heap_reader_explain(linitial(source->readers), ancestors, es);
	if (source->readers && (es->analyze || report_is_wanted(es)))
		explain_no_gpu(source, es);
}

void
row_source_explain_pages(const row_source *source, struct ExplainState *es)
{
	heap_reader_counts sum = {0};
	ListCell   *cell;

	if (source->readers == NIL || (source->joins && !source->ran_job))
		return;
	foreach(cell, source->readers)
	{
		heap_reader_counts counts = heap_reader_count(lfirst(cell));

		sum.pages += counts.pages;
		sum.checked_pages += counts.checked_pages;
	}
	ExplainPropertyInteger("Pages Read", NULL, sum.pages, es);
	ExplainPropertyInteger("Pages Not All-Visible", NULL, sum.checked_pages, es);
}

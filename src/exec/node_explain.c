/*
 * node_explain.c
 *		What EXPLAIN tells of all nodes.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "exec/rows_below.h"

/* An entry of the scan tuple. */
static char *
name_of(node_state *node, int entry, List *ancestors, ExplainState *es)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) scan, ancestors);

	return deparse_expression((Node *) list_nth_node(TargetEntry, scan->custom_scan_tlist, entry)->expr, context,
							  mgpu_explained_relations(es) > 1 || es->verbose, true);
}

void
node_explain_entries(node_state *node, const char *label, List *entries, List *ancestors, ExplainState *es)
{
	List	   *names = NIL;
	ListCell   *cell;

	foreach(cell, entries)
		names = lappend(names, name_of(node, lfirst_int(cell), ancestors, es));
	if (names)
		ExplainPropertyList(label, names, es);
}

/* What a key is ordered by in place of its own collation, as partitions of windows are by bytes. */
static const char *
other_collation(const node_state *node, int entry, Oid collation)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	const TargetEntry *of = list_nth_node(TargetEntry, scan->custom_scan_tlist, entry);

	return exprCollation((Node *) of->expr) == collation ? "" : psprintf(" COLLATE \"%s\"", get_collation_name(collation));
}

void
node_explain_order(node_state *node, List *ancestors, ExplainState *es)
{
	List	   *keys = NIL;
	ListCell   *column;
	ListCell   *operator;
	ListCell   *nulls;

	forthree(column, node->query->order_columns, operator, node->query->order_operators, nulls, node->query->order_nulls_first)
	{
		char	   *key = name_of(node, lfirst_int(column), ancestors, es);
		Oid			collation = list_nth_oid(node->query->order_collations, foreach_current_index(column));
		bool		descending;

		(void) get_equality_op_for_ordering_op(lfirst_oid(operator), &descending);
		keys = lappend(keys, psprintf("%s%s%s%s", key, other_collation(node, lfirst_int(column), collation), descending ? " DESC" : "",
									  lfirst_int(nulls) == descending ? "" : descending ? " NULLS LAST" : " NULLS FIRST"));
	}
	if (keys)
		ExplainPropertyList("Sort Key", keys, es);
}

/* What has happened.  Of several processes, those that return packs, only this one's would be known. */
static void
explain_run(node_state *node, ExplainState *es)
{
	if (!(node->ended || node->gave_cells) || node->operator->explain_run == NULL || query_returns_packs(node->query))
		return;
	if (node->source && !node->is_merged && !(node->below && node->below->ran))
		row_source_explain_pages(node->source, es);
	node->operator->explain_run(node, es);
	ExplainPropertyInteger("Peak Memory Usage", "kB", node->most_bytes / 1024, es);
	if (node->spill.num_partitions == 0)
		return;
	ExplainPropertyInteger("Spill Partitions", NULL, node->spill.num_partitions, es);
	ExplainPropertyInteger("Disk Usage", "kB", node->spill.num_bytes / 1024, es);
}

void
node_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	node_state *node = (node_state *) css;

	if (node->operator->explain)
		node->operator->explain(node, ancestors, es);
	if (es->analyze ? node->is_merged : node->query->merges)
		ExplainPropertyText("Input", "groups of another set", es);
	else if (node->below && (es->analyze ? node->below->ran : node->below->windows->node.query->as_columns))
		ExplainPropertyText("Input", "windows as columns", es);
	else if (node->source)
		row_source_explain(node->source, node->query->by_job, ancestors, es);
	if (es->analyze)
		explain_run(node, es);
}

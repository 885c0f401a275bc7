/*
 * top_explain.c
 *		What EXPLAIN tells of an MgpuTop node.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "declined.h"
#include "exec/device_query.h"
#include "exec/top.h"
#include "query/custom_plan.h"

/* An entry of the scan tuple. */
static char *
name_of(CustomScanState *css, int column, List *ancestors, ExplainState *es)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	const TargetEntry *entry = list_nth(scan->custom_scan_tlist, column);

	return deparse_expression((Node *) entry->expr, context, mgpu_explained_relations(es) > 1 || es->verbose, true);
}

static List *
names_of(CustomScanState *css, List *columns, List *ancestors, ExplainState *es)
{
	List	   *names = NIL;
	ListCell   *cell;

	foreach(cell, columns)
		names = lappend(names, name_of(css, lfirst_int(cell), ancestors, es));
	return names;
}

/* As PostgreSQL's Sort shows them, but for collations. */
List *
top_explain_keys(CustomScanState *css, List *ancestors, ExplainState *es)
{
	const query *query = query_of(((const CustomScan *) css->ss.ps.plan)->custom_private);
	List	   *keys = NIL;
	ListCell   *column;
	ListCell   *operator;
	ListCell   *nulls;

	forthree(column, query->order_columns, operator, query->order_operators, nulls, query->order_nulls_first)
	{
		char	   *key = name_of(css, lfirst_int(column), ancestors, es);
		bool		descending;

		(void) get_equality_op_for_ordering_op(lfirst_oid(operator), &descending);
		keys = lappend(keys, psprintf("%s%s%s", key, descending ? " DESC" : "",
									  lfirst_int(nulls) == descending ? "" : descending ? " NULLS LAST" : " NULLS FIRST"));
	}
	return keys;
}

static void
explain_limit(const top_state *state, const CustomScan *scan, ExplainState *es)
{
	if (state->has_number)
		ExplainPropertyText("Keeps", psprintf("%s() <= %u", get_func_name(custom_plan_function_of(llast(scan->custom_scan_tlist))),
											  state->limit.count), es);
	else
		ExplainPropertyText("Keeps", psprintf("%u %s", state->limit.count, state->limit.count == 1 ? "row" : "rows"), es);
}

void
top_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	top_state  *state = (top_state *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	List	   *partitions = query_of(scan->custom_private)->key_columns;

	report_printed(es, DECLINED_TOP);
	if (partitions)
		ExplainPropertyList("Partition Key", names_of(css, partitions, ancestors, es), es);
	if (state->order.num_keys > 0)
		ExplainPropertyList("Sort Key", top_explain_keys(css, ancestors, es), es);
	explain_limit(state, scan, es);
	row_source_explain(state->source, es);
	if (!es->analyze || !state->collected)
		return;
	row_source_explain_pages(state->source, es);
	if (state->device.query)
		device_query_explain(state->device.query, es);
	if (partitions)
		ExplainPropertyInteger("Partitions", NULL, state->num_partitions, es);
	ExplainPropertyInteger("Peak Memory Usage", "kB", state->most_bytes / 1024, es);
	if (state->spill.num_partitions == 0)
		return;
	ExplainPropertyInteger("Spill Partitions", NULL, state->spill.num_partitions, es);
	ExplainPropertyInteger("Disk Usage", "kB", state->spill.num_bytes / 1024, es);
}

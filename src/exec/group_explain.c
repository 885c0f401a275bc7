/*
 * group_explain.c
 *		What EXPLAIN tells of an MgpuGroup node.
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
#include "exec/group_state.h"
#include "query/aggregate_ways.h"

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
	if (keys)
		ExplainPropertyText("Method", state->fold ? "hash" : "sort", es);
}

void
group_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	group_state *state = (group_state *) css;

	if (state->method == GROUP_PARTIAL)
		ExplainPropertyText("Method", "partial hash", es);
	else
	{
		report_printed(es, DECLINED_GROUP);
		explain_plan(state, (CustomScan *) css->ss.ps.plan, ancestors, es);
	}
	if (state->source)
		row_source_explain(state->source, es);
	if (!es->analyze || !state->collected)
		return;
	/* of several processes, only this one's are known */
	if (state->method == GROUP_PARTIAL)
		return;
	if (state->source)
		row_source_explain_pages(state->source, es);
	if (state->device)
		device_query_explain(state->device, es);
	ExplainPropertyInteger("Groups", NULL, state->num_groups, es);
	if (state->executor && state->device == NULL)
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

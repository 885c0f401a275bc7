/*
 * group_explain.c
 *		What EXPLAIN tells of MgpuGroup alone.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "utils/lsyscache.h"

#include "compat.h"
#include "declined.h"
#include "exec/group_state.h"
#include "query/aggregate_ways.h"

/* How each aggregate is run. */
static void
explain_aggregates(const group_state *state, ExplainState *es)
{
	List	   *ways = NIL;
	ListCell   *cell;

	foreach(cell, state->aggregates)
	{
		const group_aggregate *aggregate = lfirst(cell);

		ways = lappend(ways, psprintf("%s: %s", get_func_name(aggregate->aggref->aggfnoid), group_way_name(&aggregate->plan)));
	}
	if (ways)
		ExplainPropertyList("Aggregates", ways, es);
}

void
group_explain(node_state *node, List *ancestors, ExplainState *es)
{
	const group_state *state = (const group_state *) node;
	List	   *keys = NIL;

	if (state->method == GROUP_PARTIAL)
	{
		ExplainPropertyText("Method", "partial hash", es);
		return;
	}
	report_printed(es, DECLINED_GROUP);
	for (int i = 0; i < state->keys.num_keys; i++)
		keys = lappend_int(keys, i);
	node_explain_entries(node, "Group Key", keys, ancestors, es);
	explain_aggregates(state, es);
	if (keys)
		ExplainPropertyText("Method", state->fold ? "hash" : "sort", es);
}

void
group_explain_run(node_state *node, ExplainState *es)
{
	const group_state *state = (const group_state *) node;

	if (state->device && !node->is_merged)
		device_query_explain(state->device, es);
	ExplainPropertyInteger("Groups", NULL, state->num_groups, es);
	if (state->values)
		ExplainPropertyInteger("Values of Groups", NULL, group_values_count(state), es);
	if (state->executor == NULL || state->device)
		return;
	ExplainPropertyText("Key Form", state->key_form, es);
	ExplainPropertyText("Sort Executor", state->executor, es);
	ExplainPropertyText("Sort Algorithm", state->algorithm, es);
	ExplainPropertyInteger("Sort Threads", NULL, state->num_threads, es);
}

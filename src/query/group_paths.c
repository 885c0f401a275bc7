/*
 * group_paths.c
 *		Offers MgpuGroup nodes (group_node.c) to the planner.
 *
 * A GROUP BY or DISTINCT that the node supports (group_task.c) gets paths (group_offer.c) beside those of
 * PostgreSQL's Agg node, and the cheapest path wins.
 *
 * The hook must be set before a query is planned.  For the extension's own aggregates nothing else need
 * load the library by then: the planner asks for the cost of each transition function, and those
 * have a support function in this library.
 */
#include "postgres.h"

#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"

#include "compat.h"
#include "declined.h"
#include "query/group_offer.h"
#include "query/group_task.h"
#include "query/grouping_sets.h"
#include "query/offers.h"
#include "settings.h"

#define AGG_COST 4.0			/* a transition under Agg, without finding the group, in units of cpu_operator_cost */

PG_FUNCTION_INFO_V1(mgpu_agg_support);

static create_upper_paths_hook_type previous_hook;

/*
 * mgpu_agg_support(request internal) → internal: support function of the transition
 * functions.  It estimates the cost of a row under PostgreSQL's Agg node.  The call
 * also loads the library.
 */
Datum
mgpu_agg_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestCost *costs = (SupportRequestCost *) request;

	if (!IsA(request, SupportRequestCost))
		PG_RETURN_POINTER(NULL);
	costs->startup = 0;
	costs->per_tuple = AGG_COST * cpu_operator_cost;
	PG_RETURN_POINTER(costs);
}

/* Offer a node for a stage of planning, that of GROUP BY or that of DISTINCT.  Returns why none is taken, or NULL. */
static const char *
offer_node(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	group_offer offer = {.input_rel = input_rel,.output_rel = output_rel};
	grouping	grouping;
	const char *why_not;
	bool		can_do;

	if (mgpu_setting_enable_group == MGPU_ENABLE_OFF)
		return "mgpu.enable_group is off";
	if (stage == UPPERREL_GROUP_AGG && root->parse->groupingSets)
		return set_paths_offer(root, input_rel, output_rel);
	if (stage == UPPERREL_GROUP_AGG)
	{
		offer.target = output_rel->reltarget;
		grouping = grouping_of_query(root, offer.target);
		can_do = group_task_of_grouping(&offer.task, root, &grouping);
	}
	else
	{
		offer.target = input_rel->cheapest_total_path->pathtarget;
		can_do = group_task_of_distinct(&offer.task, root, offer.target);
	}
	if (!can_do)
		return offer.task.why_not;
	why_not = group_offer_make(&offer);
	return why_not ? why_not : group_offer_add(output_rel, offer.paths, offer.executor != TABLE_BY_NOBODY);
}

static void
upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (previous_hook)
		previous_hook(root, stage, input_rel, output_rel, extra);
	if (output_rel->reloptkind == RELOPT_UPPER_REL && (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT))
		report_offer(root, DECLINED_GROUP, offer_node(root, stage, input_rel, output_rel));
}

void
group_path_init(void)
{
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
	declined_init();
}

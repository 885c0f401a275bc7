/*
 * declined.c
 *		Tells why the planner took none of the extension's nodes: in a NOTICE and, since PostgreSQL 18, in
 *		EXPLAIN (MGPU).
 *
 * EXPLAIN parses its options, plans its statement, may execute it, and prints.  Meanwhile functions may
 * have statements of their own planned, which are not reported.  A statement of EXPLAIN is planned
 * in the memory context of the ExplainState, or, under EXPLAIN (MEMORY), in a child of it; those of
 * functions are not.  When that context ends, which it also does after an error, so does the collecting.
 */
#include "postgres.h"

#include "compat.h"
#ifdef MGPU_HAS_EXPLAIN_OPTIONS
#include "commands/defrem.h"
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "lib/ilist.h"
#include "utils/memutils.h"
#endif

#include "declined.h"
#include "settings.h"

static const char *const names[NUM_DECLINED] = {"MgpuGroup", "MgpuTop", "MgpuSort", "MgpuWindow", "MgpuScan"};

#ifdef MGPU_HAS_EXPLAIN_OPTIONS
/* An EXPLAIN that had the option, in the memory context of es. */
typedef struct explained
{
	dlist_node	node;
	MemoryContextCallback at_end;
	ExplainState *es;
	bool		wanted;			/* the option's last value */
	const PlannerGlobal *planning;	/* gave the reasons */
	List	   *reasons[NUM_DECLINED];	/* strings, for the next plan that is printed */
	int			num_accepted[NUM_DECLINED]; /* offers that have no reason, less the nodes printed */
} explained;

static dlist_head all_explained = DLIST_STATIC_INIT(all_explained);
static int	extension_id;
static explain_per_plan_hook_type previous_hook;

static void
forget(void *arg)
{
	dlist_delete(&((explained *) arg)->node);
}

/* EXPLAIN (MGPU [boolean]) */
static void
take_option(ExplainState *es, DefElem *option, ParseState *pstate)
{
	explained  *statement = GetExplainExtensionState(es, extension_id);

	if (statement == NULL)
	{
		statement = MemoryContextAllocZero(GetMemoryChunkContext(es), sizeof(*statement));
		statement->es = es;
		statement->at_end = (MemoryContextCallback) {.func = forget, .arg = statement};
		dlist_push_head(&all_explained, &statement->node);
		MemoryContextRegisterResetCallback(GetMemoryChunkContext(es), &statement->at_end);
		SetExplainExtensionState(es, extension_id, statement);
	}
	statement->wanted = defGetBoolean(option);
}

static void
start_plan(explained *statement, const PlannerGlobal *planning)
{
	statement->planning = planning;
	for (int i = 0; i < NUM_DECLINED; i++)
	{
		statement->reasons[i] = NIL;
		statement->num_accepted[i] = 0;
	}
}

static bool
is_planned_for(const PlannerInfo *root, ExplainState *es)
{
	MemoryContext context = GetMemoryChunkContext(es);

	return root->planner_cxt == context || (es->memory && MemoryContextGetParent(root->planner_cxt) == context);
}

static void
collect(const PlannerInfo *root, declined_node node, const char *why_not)
{
	dlist_iter	cursor;

	dlist_foreach(cursor, &all_explained)
	{
		explained  *statement = dlist_container(explained, node, cursor.cur);

		if (!is_planned_for(root, statement->es))
			continue;
		/* EXPLAIN EXECUTE may plan twice, and takes the second plan */
		if (statement->planning != root->glob)
			start_plan(statement, root->glob);
		if (why_not)
			statement->reasons[node] = lappend(statement->reasons[node], (char *) why_not);
		else
			statement->num_accepted[node]++;
	}
}

static void
print_node(explained *statement, declined_node node)
{
	const char *label = psprintf("No %s", names[node]);
	List	   *reasons = statement->reasons[node];
	ListCell   *cell;

	/* LIMIT or ORDER BY, which are planned later, have made another path the cheapest */
	while (statement->num_accepted[node]-- > 0)
		reasons = lappend(reasons, "PostgreSQL's own plan is expected to be faster as a whole");
	/* as text, a list is one line with commas, and reasons have commas themselves */
	if (statement->es->format == EXPLAIN_FORMAT_TEXT)
		foreach(cell, reasons)
			ExplainPropertyText(label, lfirst(cell), statement->es);
	else if (reasons)
		ExplainPropertyList(label, reasons, statement->es);
}

static void
print_reasons(PlannedStmt *plan, IntoClause *into, ExplainState *es, const char *query, ParamListInfo params,
			  QueryEnvironment *environment)
{
	explained  *statement = GetExplainExtensionState(es, extension_id);

	if (previous_hook)
		previous_hook(plan, into, es, query, params, environment);
	if (statement == NULL || !statement->wanted)
		return;
	for (int i = 0; i < NUM_DECLINED; i++)
		print_node(statement, i);
	start_plan(statement, NULL);
}
#endif

void
declined_init(void)
{
#ifdef MGPU_HAS_EXPLAIN_OPTIONS
	extension_id = GetExplainExtensionId("mgpu_pg");
	mgpu_register_explain_option("mgpu", take_option);
	previous_hook = explain_per_plan_hook;
	explain_per_plan_hook = print_reasons;
#endif
}

void
report_offer(const PlannerInfo *root, declined_node node, const char *why_not)
{
	if (why_not && mgpu_setting_report_declined)
		ereport(NOTICE, (errmsg("no %s node: %s", names[node], why_not)));
#ifdef MGPU_HAS_EXPLAIN_OPTIONS
	collect(root, node, why_not);
#endif
}

void
report_index_build(const char *index, const char *why_not)
{
	if (why_not == NULL)
		ereport(DEBUG1, (errmsg_internal("mgpu_pg builds index \"%s\"", index)));
	else
		ereport(mgpu_setting_report_declined ? NOTICE : DEBUG1,
				(errmsg("PostgreSQL builds index \"%s\": %s", index, why_not)));
}

bool
report_is_wanted(struct ExplainState *es)
{
#ifdef MGPU_HAS_EXPLAIN_OPTIONS
	explained  *statement = GetExplainExtensionState(es, extension_id);

	return statement && statement->wanted;
#else
	return false;
#endif
}

void
report_printed(struct ExplainState *es, declined_node node)
{
#ifdef MGPU_HAS_EXPLAIN_OPTIONS
	explained  *statement = GetExplainExtensionState(es, extension_id);

	if (statement)
		statement->num_accepted[node]--;
#endif
}

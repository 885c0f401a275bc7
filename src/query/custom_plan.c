/*
 * custom_plan.c
 *		What plans of all nodes are made of, and what has to hold of their expressions and functions.
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "query/custom_plan.h"

/* ---- paths and plans */

static const CustomScanMethods *scan_methods[NUM_QUERY_KINDS];

void
custom_plan_register(query_kind kind, const CustomScanMethods *methods)
{
	scan_methods[kind] = methods;
	RegisterCustomScanMethods(methods);
}

static List *
add_entries(List *tuple, List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
		tuple = lappend(tuple, makeTargetEntry(copyObject(lfirst(cell)), list_length(tuple) + 1, NULL, false));
	return tuple;
}

/*
 * All expressions of a plan are in its target, its conditions and its scan tuple: the planner puts those of custom_private
 * in no form that a worker can read.
 */
static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	query	   *query = query_of(path->custom_private);

	scan->custom_scan_tlist = add_entries(query_returns_packs(query) ? copyObject(tlist) : NIL, lsecond(path->custom_private));
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = copyObject((List *) lthird(path->custom_private));
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = list_make1(query);
	scan->methods = scan_methods[query->kind];
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "mgpu_pg",
	.PlanCustomPath = make_plan
};

CustomPath *
custom_plan_path(const node_path *of)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = of->rel;
	path->path.pathtarget = of->target;
	path->path.pathkeys = of->pathkeys;
	path->path.parallel_safe = of->parallel_safe;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION | (of->goes_back ? CUSTOMPATH_SUPPORT_BACKWARD_SCAN : 0);
	path->custom_paths = list_make1(of->child);
	path->custom_private = list_make3(of->query, of->entries, of->quals);
	path->methods = &path_methods;
	return path;
}

const query *
custom_plan_query(const Path *path)
{
	const CustomPath *custom = (const CustomPath *) path;

	return IsA(path, CustomPath) && custom->methods == &path_methods ? query_of(custom->custom_private) : NULL;
}

/* ---- expressions and functions */

/*
 * Whether an expression has parts that the child cannot compute: subqueries, for
 * instance.  Fields of records count as such, because EXPLAIN would search a plan for
 * their names in vain.
 */
static bool
has_special_parts(Node *node, void *allowed)
{
	if (node == NULL || (allowed && equal(node, allowed)))
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, FieldSelect) ||
		IsA(node, GroupingFunc) || IsA(node, WindowFunc))
		return true;
	return expression_tree_walker(node, has_special_parts, allowed);
}

bool
custom_plan_has_special_parts(Node *node, const WindowFunc *allowed)
{
	return has_special_parts(node, (void *) allowed);
}

bool
custom_plan_is_simple(Expr *expr)
{
	return !has_special_parts((Node *) expr, NULL) && !contain_volatile_functions((Node *) expr) &&
		!expression_returns_set((Node *) expr);
}

Size
custom_plan_cell_bytes(const Expr *expr)
{
	int			width = get_typlen(exprType((const Node *) expr));

	return (width > 0 ? width : (int) sizeof(char *)) + sizeof(bool);
}

Size
custom_plan_value_bytes(PlannerInfo *root, Expr *expr)
{
	PathTarget *target = create_empty_pathtarget();

	if (get_typlen(exprType((Node *) expr)) > 0)
		return 0;
	add_column_to_pathtarget(target, expr, 0);
	return set_pathtarget_cost_width(root, target)->width;
}

void
custom_plan_check_function(Oid function, Oid user)
{
	AclResult	result = mgpu_function_aclcheck(function, user);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

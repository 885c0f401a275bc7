/*
 * plans.c
 *		Turns paths of MgpuGroup and MgpuRows into plans.
 *
 * The planner needs a target list for packs and matches it to the child's columns by
 * expression.  The target is record_send(ROW(columns)), which is only a name for the
 * bytes of a pack.  No executor evaluates it.
 *
 * All expressions of a plan are in its target and its scan tuple: the planner puts those of custom_private in no form
 * that a worker can read.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "group/plans.h"
#include "plan/rows_node.h"

/* ---- packs */

PathTarget *
group_pack_target(const group_task *task)
{
	PathTarget *target = create_empty_pathtarget();
	RowExpr    *row = makeNode(RowExpr);

	row->args = list_copy(task->columns);
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->location = -1;
	add_column_to_pathtarget(target, (Expr *) makeFuncExpr(F_RECORD_SEND, BYTEAOID, list_make1(row), InvalidOid,
														   InvalidOid, COERCE_EXPLICIT_CALL), 0);
	target->width = PACK_BYTES;
	return target;
}

static Plan *
make_pack_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->custom_scan_tlist = copyObject(tlist);
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = path->custom_private;
	scan->methods = &rows_scan_methods;
	return &scan->scan.plan;
}

const CustomPathMethods rows_path_methods = {
	.CustomName = "MgpuRows",
	.PlanCustomPath = make_pack_plan
};

/* ---- groups */

/* Lists of outputs, uses, equality operators, packed columns or NIL, HAVING, the method, and the stored columns. */
List *
group_path_private(const group_task *task, bool packed, group_method method)
{
	List	   *private = list_make5(task->outputs, task->uses, task->equalities, packed ? task->columns : NIL, task->having);

	return lappend(lappend(private, list_make1_int(method)), group_task_stored(task));
}

static List *
types_of(List *exprs)
{
	List	   *types = NIL;
	ListCell   *cell;

	foreach(cell, exprs)
		types = lappend_oid(types, exprType(lfirst(cell)));
	return types;
}

/* The scan of a group path.  Its scan tuple has the entries of first, then the outputs. */
static CustomScan *
make_scan(const CustomPath *path, List *tlist, List *custom_plans, List *first)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *equalities = lthird(path->custom_private);
	List	   *collations = NIL;
	ListCell   *cell;

	scan->custom_scan_tlist = first;
	foreach(cell, (List *) linitial(path->custom_private))
	{
		int			number = list_length(scan->custom_scan_tlist) + 1;

		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(lfirst(cell)), number, NULL, false));
		if (foreach_current_index(cell) < list_length(equalities))
			collations = lappend_oid(collations, exprCollation(lfirst(cell)));
	}
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_private = list_make5(lsecond(path->custom_private), equalities, collations,
									  types_of(lfourth(path->custom_private)), list_nth(path->custom_private, 5));
	scan->custom_private = lappend(scan->custom_private, list_nth(path->custom_private, 6));
	scan->methods = &group_scan_methods;
	return scan;
}

static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = make_scan(path, tlist, custom_plans, NIL);

	scan->scan.plan.qual = copyObject((List *) list_nth(path->custom_private, 4));
	return &scan->scan.plan;
}

const CustomPathMethods group_path_methods = {
	.CustomName = "MgpuGroup",
	.PlanCustomPath = make_plan
};

static Plan *
make_partial_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *custom_plans)
{
	return &make_scan(path, tlist, custom_plans, copyObject(tlist))->scan.plan;
}

const CustomPathMethods partial_path_methods = {
	.CustomName = "MgpuGroup",
	.PlanCustomPath = make_partial_plan
};

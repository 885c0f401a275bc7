/*
 * join_exprs.c
 *		The expressions of joins in paths of rows, as table jobs have them: columns of smaller sides are those of builds.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "query/join_exprs.h"

void
join_exprs_conditions(const HashPath *join, List **of_match, List **of_result)
{
	ListCell   *cell;

	*of_match = *of_result = NIL;
	foreach(cell, join->jpath.joinrestrictinfo)
	{
		RestrictInfo *info = lfirst(cell);
		bool		is_above = join->jpath.jointype == JOIN_INNER ||
			(IS_OUTER_JOIN(join->jpath.jointype) && RINFO_IS_PUSHED_DOWN(info, join->jpath.path.parent->relids));

		if (list_member_ptr(join->path_hashclauses, info))
			continue;
		if (is_above)
			*of_result = lappend(*of_result, info->clause);
		else
			*of_match = lappend(*of_match, info->clause);
	}
}

/* Variables of the inner sides, of each join those that were met so far. */
typedef struct build_names
{
	const List *joins;
	List	  **vars;
} build_names;

/* The number that a variable has among those of its build. */
static int
number_of(List **vars, const Var *var)
{
	ListCell   *cell;

	foreach(cell, *vars)
	{
		const Var  *known = lfirst(cell);

		if (known->varno == var->varno && known->varattno == var->varattno)
			return 1 + foreach_current_index(cell);
	}
	*vars = lappend(*vars, (void *) var);
	return list_length(*vars);
}

static Node *
name_builds(Node *node, void *context)
{
	build_names *names = context;
	ListCell   *cell;

	if (node == NULL || !IsA(node, Var))
		return node == NULL ? NULL : expression_tree_mutator(node, name_builds, context);
	foreach(cell, names->joins)
	{
		const HashPath *join = lfirst(cell);
		int			number = foreach_current_index(cell);
		Var		   *var = (Var *) node;

		if (!bms_is_member(var->varno, join->jpath.innerjoinpath->parent->relids))
			continue;
		var = copyObject(var);
		/* system columns have no cells */
		var->varattno = var->varattno > 0 ? number_of(&names->vars[number], (const Var *) node) : 0;
		var->varno = EXPR_BUILD_VARNO + number;
		return (Node *) var;
	}
	return (Node *) copyObject(node);
}

/* An equality whose first argument is the outer side's. */
static Expr *
switched(const RestrictInfo *info, const Path *outer)
{
	OpExpr	   *clause = castNode(OpExpr, info->clause);

	if (bms_is_subset(info->left_relids, outer->parent->relids))
		return (Expr *) clause;
	return make_opclause(get_commutator(clause->opno), BOOLOID, false, lsecond(clause->args), linitial(clause->args), InvalidOid,
						 clause->inputcollid);
}

static List *
own_exprs(const HashPath *join)
{
	List	   *clauses = NIL;
	List	   *of_match;
	List	   *of_result;
	ListCell   *cell;

	foreach(cell, join->path_hashclauses)
		clauses = lappend(clauses, switched(lfirst(cell), join->jpath.outerjoinpath));
	join_exprs_conditions(join, &of_match, &of_result);
	return list_make3(clauses, of_match, of_result);
}

List *
join_exprs_make(List *columns, const List *joins)
{
	List	   *exprs = list_make1(columns);
	build_names names = {joins, palloc0((list_length(joins) + 1) * sizeof(List *))};
	ListCell   *cell;

	foreach(cell, joins)
		exprs = lappend(exprs, own_exprs(lfirst(cell)));
	if (joins == NIL)
		return exprs;
	exprs = (List *) name_builds((Node *) exprs, &names);
	for_each_from(cell, exprs, 1)
		lfirst(cell) = lappend(lfirst(cell), names.vars[foreach_current_index(cell) - 1]);
	return exprs;
}

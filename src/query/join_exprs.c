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
#include "query/join_path.h"
#include "scan/heap_reader.h"

/* Variables of the smaller sides, of each join those that were met so far. */
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

		if (!bms_is_member(var->varno, join_path_side(join)->parent->relids))
			continue;
		var = copyObject(var);
		/* system columns have no cells */
		var->varattno = var->varattno > 0 ? number_of(&names->vars[number], (const Var *) node) : 0;
		var->varno = EXPR_BUILD_VARNO + number;
		return (Node *) var;
	}
	return (Node *) copyObject(node);
}

/* An equality whose first argument is that of the rows that stream. */
static Expr *
ordered(const RestrictInfo *info, const Path *stream)
{
	OpExpr	   *clause = castNode(OpExpr, info->clause);

	return bms_is_subset(info->left_relids, stream->parent->relids) ? (Expr *) clause : table_join_switched(clause);
}

static List *
own_exprs(const HashPath *join)
{
	List	   *clauses = NIL;
	List	   *of_match;
	List	   *of_result;
	ListCell   *cell;

	foreach(cell, join->path_hashclauses)
		clauses = lappend(clauses, ordered(lfirst(cell), join_path_streaming(join)));
	join_path_conditions(join, &of_match, &of_result);
	return list_make3(clauses, of_match, of_result);
}

/* Expressions of joins, of which the last is turned, without what streams; NIL: that is not possible. */
static List *
without_stream(PlannerInfo *root, List *exprs, const HashPath *turned)
{
	List	   *own = llast(exprs);
	List	   *others = table_join_take_equal(list_truncate(list_copy(exprs), list_length(exprs) - 1), linitial(own));

	if (bms_overlap(pull_varnos(root, (Node *) others), join_path_streaming(turned)->parent->relids))
		return NIL;
	return lappend(others, own);
}

List *
join_exprs_make(PlannerInfo *root, List *columns, const List *joins)
{
	List	   *exprs = list_make1(columns);
	build_names names = {joins, palloc0((list_length(joins) + 1) * sizeof(List *))};
	ListCell   *cell;

	foreach(cell, joins)
		exprs = lappend(exprs, own_exprs(lfirst(cell)));
	if (joins == NIL)
		return exprs;
	if (join_path_is_turned(llast(joins)))
		exprs = without_stream(root, exprs, llast(joins));
	if (exprs == NIL)
		return NIL;
	exprs = (List *) name_builds((Node *) exprs, &names);
	for_each_from(cell, exprs, 1)
		lfirst(cell) = lappend(lfirst(cell), names.vars[foreach_current_index(cell) - 1]);
	return exprs;
}

/*
 * not_in.c
 *		NOT IN (SELECT …), as joins.
 *
 * PostgreSQL keeps NOT IN as a subquery whose rows are looked through for each row of the table.  Where they do not fit in work_mem, that takes
 * hours.  It is no anti join because of NULLs: x NOT IN (SELECT y …) is true if there are no rows, or if x and all y are there, and none is x.
 * So it becomes two conditions:
 *
 *		CASE WHEN x IS NULL THEN NOT EXISTS (SELECT …)				is there a row at all?
 *			 ELSE NOT EXISTS (SELECT … WHERE y IS NULL) END			is there a NULL?
 *		NOT EXISTS (SELECT … WHERE x = y)							PostgreSQL makes an anti join of this
 *
 * Where x or y is never NULL, less is left of the first.  Its subqueries depend on no row of the table, so each runs once.  It names x in any case, since a
 * condition without columns would stand above the join, where jobs have none; and it is one condition, since jobs know results of queries in their first.
 * A subquery whose rows may be others when it runs again stays as it is, and so does one that knows rows of the query around it.
 *
 * An operation of jobs with the rule for NULLs was rejected: anti joins have it all, and PostgreSQL's own plans gain too.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "query/offers.h"
#include "settings.h"

/* ---- what is never NULL */

/* Whether there are outer joins, whose rows may have NULLs that tables have not. */
static bool
has_outer_join(Node *node, void *context)
{
	if (node == NULL || IsA(node, RangeTblRef))
		return false;
	if (IsA(node, JoinExpr) && IS_OUTER_JOIN(((JoinExpr *) node)->jointype))
		return true;
	/* what a FromExpr joins is a List */
	return (IsA(node, JoinExpr) || IsA(node, FromExpr) || IsA(node, List)) && expression_tree_walker(node, has_outer_join, context);
}

/* Whether a query's expression is a column that no row has a NULL in. */
static bool
is_never_null(const Query *query, Node *expr)
{
	const Var  *var = (const Var *) strip_implicit_coercions(expr);
	const RangeTblEntry *entry;

	if (!IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0 || query->groupingSets || has_outer_join((Node *) query->jointree, NULL))
		return false;
	entry = rt_fetch(var->varno, query->rtable);
	/* a table may have rows that its parent could not have, a partition may not; nobody checks those of foreign tables */
	return entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_FOREIGN_TABLE &&
		(!entry->inh || entry->relkind == RELKIND_PARTITIONED_TABLE || !has_subclass(entry->relid)) &&
		mgpu_is_not_null(entry->relid, var->varattno);
}

/* ---- which subqueries */

/* Whether a subquery may have other rows when it runs again, or has parts that cannot be there twice. */
static bool
may_differ(Node *node, void *context)
{
	const RangeTblEntry *entry = (const RangeTblEntry *) node;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return entry->rtekind == RTE_CTE || entry->tablesample != NULL;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		return query->limitCount || query->limitOffset || query->rowMarks || query->cteList || query->commandType != CMD_SELECT ||
			query_tree_walker(query, may_differ, context, QTW_EXAMINE_RTES_BEFORE);
	}
	return expression_tree_walker(node, may_differ, context);
}

/* The equality that a NOT IN is made of, with a Param for the subquery's column; NULL: it is another condition. */
static OpExpr *
equality_of(const Node *condition, const SubLink **link)
{
	bool		is_not = is_notclause(condition);
	const SubLink *of = (const SubLink *) (is_not ? (const Node *) get_notclausearg(condition) : condition);
	OpExpr	   *test;

	if (!IsA(of, SubLink) || of->subLinkType != (is_not ? ANY_SUBLINK : ALL_SUBLINK) || !IsA(of->testexpr, OpExpr))
		return NULL;
	*link = of;
	test = copyObject((OpExpr *) of->testexpr);
	if (!is_not)
	{
		test->opno = get_negator(test->opno);
		test->opfuncid = InvalidOid;
	}
	return list_length(test->args) == 2 && OidIsValid(test->opno) &&
		op_hashjoinable(test->opno, exprType(linitial(test->args))) ? test : NULL;
}

static bool
is_column_param(const Node *node)
{
	return IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_SUBLINK;
}

/* Whether a NOT IN may become joins: its sides are computed as often, and the right one is the subquery's column. */
static bool
takes(const OpExpr *test, const SubLink *link)
{
	Node	   *x = linitial(test->args);
	Node	   *subquery = link->subselect;

	return is_column_param(strip_implicit_coercions(lsecond(test->args))) && !checkExprHasSubLink(x) && !contain_volatile_functions(x) &&
		!contain_vars_of_level(subquery, 1) && !contain_volatile_functions(subquery) && !may_differ(subquery, NULL);
}

/* ---- conditions */

/* What the subquery's column is in a query around it. */
static Node *
name_column(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (is_column_param(node))
	{
		const Param *param = (const Param *) node;

		return (Node *) makeVar(1, 1, param->paramtype, param->paramtypmod, param->paramcollid, 0);
	}
	return expression_tree_mutator(node, name_column, context);
}

/* NOT EXISTS of the subquery's rows that meet a condition, or of any. */
static Expr *
no_row(const SubLink *link, Node *condition)
{
	Query	   *subquery = (Query *) copyObject(link->subselect);
	Query	   *around = makeNode(Query);
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	RangeTblRef *from = makeNode(RangeTblRef);
	SubLink    *exists = makeNode(SubLink);

	/* what the subquery has of queries farther out is one level farther */
	IncrementVarSublevelsUp((Node *) subquery, 1, 1);
	entry->rtekind = RTE_SUBQUERY;
	entry->subquery = subquery;
	entry->eref = makeAlias("not_in", list_make1(makeString(pstrdup("y"))));
	entry->inFromCl = true;
	from->rtindex = 1;
	around->commandType = CMD_SELECT;
	around->canSetTag = true;
	around->rtable = list_make1(entry);
	around->jointree = makeFromExpr(list_make1(from), condition);
	around->targetList = list_make1(makeTargetEntry((Expr *) makeBoolConst(true, false), 1, NULL, false));
	exists->subLinkType = EXISTS_SUBLINK;
	exists->subselect = (Node *) around;
	exists->location = -1;
	return makeBoolExpr(NOT_EXPR, list_make1(exists), -1);
}

static Expr *
null_test(Node *arg, NullTestType type)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) arg;
	test->nulltesttype = type;
	test->location = -1;
	return (Expr *) test;
}

static Expr *
either(Expr *a, Expr *b)
{
	return makeBoolExpr(OR_EXPR, list_make2(a, b), -1);
}

/* What has to be met beside the join; NULL: nothing. */
static Expr *
condition_of_nulls(const Query *query, const OpExpr *test, const SubLink *link)
{
	const Query *subquery = (const Query *) link->subselect;
	Node	   *x = linitial(test->args);
	Node	   *y = (Node *) ((TargetEntry *) linitial(subquery->targetList))->expr;
	bool		has_x = is_never_null(query, x);
	bool		has_y = subquery->setOperations == NULL && is_never_null(subquery, y);
	Expr	   *y_is_null = null_test(name_column(lsecond(test->args), NULL), IS_NULL);
	CaseExpr   *by_x;
	CaseWhen   *is_null;

	if (has_y)
		return has_x ? NULL : either(null_test(copyObject(x), IS_NOT_NULL), no_row(link, NULL));
	if (has_x)
		return either(null_test(copyObject(x), IS_NULL), no_row(link, (Node *) y_is_null));
	by_x = makeNode(CaseExpr);
	is_null = makeNode(CaseWhen);
	is_null->expr = null_test(copyObject(x), IS_NULL);
	is_null->result = no_row(link, NULL);
	is_null->location = by_x->location = -1;
	by_x->casetype = BOOLOID;
	by_x->args = list_make1(is_null);
	by_x->defresult = no_row(link, (Node *) y_is_null);
	return (Expr *) by_x;
}

/* The conditions that a NOT IN becomes. */
static List *
conditions_of(const Query *query, OpExpr *test, const SubLink *link)
{
	Expr	   *of_nulls = condition_of_nulls(query, test, link);
	Node	   *x = copyObject(linitial(test->args));

	IncrementVarSublevelsUp(x, 1, 0);
	linitial(test->args) = x;
	lsecond(test->args) = name_column(lsecond(test->args), NULL);
	return of_nulls ? list_make2(of_nulls, no_row(link, (Node *) test)) : list_make1(no_row(link, (Node *) test));
}

/* ---- queries */

static void
rewrite_conditions(Query *query)
{
	List	   *conditions = NIL;
	bool		is_rewritten = false;
	ListCell   *cell;

	foreach(cell, make_ands_implicit((Expr *) query->jointree->quals))
	{
		const SubLink *link;
		OpExpr	   *test = equality_of(lfirst(cell), &link);
		bool		is_taken = test && takes(test, link);

		is_rewritten |= is_taken;
		conditions = is_taken ? list_concat(conditions, conditions_of(query, test, link)) : lappend(conditions, lfirst(cell));
	}
	if (is_rewritten)
		query->jointree->quals = (Node *) make_ands_explicit(conditions);
}

/* All queries of a statement. */
static bool
rewrite_below(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, rewrite_below, context);
	(void) query_tree_walker((Query *) node, rewrite_below, context, 0);
	if (((Query *) node)->hasSubLinks && ((Query *) node)->jointree)
		rewrite_conditions((Query *) node);
	return false;
}

void
not_in_rewrite(Query *query)
{
	if (mgpu_setting_enable_not_in)
		(void) rewrite_below((Node *) query, NULL);
}

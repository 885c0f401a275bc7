/*
 * correlated_wanted.c
 *		Leaves out groups that no row of the query around asks for.
 *
 * Where these rows are of one table, and conditions of it are known to leave few, as in
 *
 *		WHERE r.kind = 3 AND x < (SELECT avg(y) FROM s WHERE s.k = r.k)
 *
 * all groups of s would be computed for the few that are looked up.  So those rows of s are grouped that have a row of r: EXISTS (SELECT FROM r WHERE
 * r.kind = 3 AND s.k = r.k).  That r is read twice was preferred to a join below the groups, which would have to be joined with r once more.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "query/correlated_groups.h"

/* Levels that an expression is looked at for queries around. */
#define MOST_LEVELS 10

/* Whether an expression knows of no query around. */
static bool
is_of_query(Node *node)
{
	for (int level = 1; level < MOST_LEVELS; level++)
		if (contain_vars_of_level(node, level))
			return false;
	return true;
}

/* Whether there is a table in a FROM of which each row that comes is one of the table. */
static bool
is_joined(const Node *from, int number)
{
	ListCell   *cell;

	if (IsA(from, RangeTblRef))
		return ((const RangeTblRef *) from)->rtindex == number;
	if (IsA(from, JoinExpr))
	{
		const JoinExpr *join = (const JoinExpr *) from;

		return (join->jointype <= JOIN_LEFT && is_joined(join->larg, number)) || (join->jointype == JOIN_INNER && is_joined(join->rarg, number));
	}
	foreach(cell, ((const FromExpr *) from)->fromlist)
		if (is_joined(lfirst(cell), number))
			return true;
	return false;
}

/* Whether a condition may be met once more, by rows that nobody asked for.  One of LIKE fails by its pattern alone, which all rows have. */
static bool
may_repeat(Node *condition)
{
	const OpExpr *clause = (const OpExpr *) condition;
	const SubLink *link = (const SubLink *) condition;
	ListCell   *cell;

	if (IsA(condition, SubLink))
		return link->subLinkType == ANY_SUBLINK && !contain_leaked_vars(link->testexpr) && is_of_query(link->subselect) && !contain_volatile_functions(condition);
	if (IsA(condition, OpExpr) && (clause->opfuncid == F_TEXTLIKE || clause->opfuncid == F_TEXTNLIKE || clause->opfuncid == F_BPCHARLIKE || clause->opfuncid == F_BPCHARNLIKE))
		return IsA(lsecond(clause->args), Const) && !contain_leaked_vars(linitial(clause->args));
	if (!IsA(condition, BoolExpr))
		return !contain_leaked_vars(condition) && !contain_subplans(condition);
	foreach(cell, ((const BoolExpr *) condition)->args)
		if (!may_repeat(lfirst(cell)))
			return false;
	return true;
}

/* The only table of the query around that keys of groups are equal to; 0: there are several, or it is none. */
static int
table_of_keys(const Query *query, const grouped_subquery *groups)
{
	Relids		tables = bms_del_member(pull_varnos(NULL, (Node *) groups->outer), groups->number);
	const RangeTblEntry *entry;
	int			number;

	if (!bms_get_singleton_member(tables, &number) || !is_of_query((Node *) groups->outer) || !is_joined((Node *) query->jointree, number))
		return 0;
	entry = rt_fetch(number, query->rtable);
	/* policies name the table by its number */
	return entry->rtekind == RTE_RELATION && entry->tablesample == NULL && entry->securityQuals == NIL ? number : 0;
}

/* Copies of the conditions that a table's rows meet, of a table number 1. */
static List *
conditions_of(int number, const List *conditions)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		Node	   *condition = lfirst(cell);
		int			only;

		if (!bms_get_singleton_member(pull_varnos(NULL, condition), &only) || only != number || !is_of_query(condition) || !may_repeat(condition))
			continue;
		condition = copyObject(condition);
		ChangeVarNodes(condition, number, 1, 0);
		found = lappend(found, condition);
	}
	return found;
}

/* A key of groups, as rows of the subquery have it, in a query within that. */
static Node *
name_keys(Node *node, void *context)
{
	const grouped_subquery *groups = context;
	const Var  *var = (const Var *) node;
	Node	   *key;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || (int) var->varno != groups->number || var->varlevelsup > 0)
		return expression_tree_mutator(node, name_keys, context);
	key = copyObject((Node *) list_nth_node(TargetEntry, groups->groups->targetList, var->varattno - 1)->expr);
	IncrementVarSublevelsUp(key, 1, 0);
	return key;
}

/* Rows of the table that are equal to a row of the subquery. */
static Query *
rows_that_ask(const Query *query, int number, List *conditions, grouped_subquery *groups)
{
	Query	   *rows = makeNode(Query);
	RangeTblEntry *entry = copyObject(rt_fetch(number, query->rtable));
	RangeTblRef *place = makeNode(RangeTblRef);
	List	   *keys = copyObject(groups->outer);

	/* of groups, which have another number */
	ChangeVarNodes((Node *) keys, number, 1, 0);
	keys = (List *) name_keys((Node *) keys, groups);
	mgpu_take_permissions(rows, entry, query);
	place->rtindex = 1;
	rows->commandType = CMD_SELECT;
	rows->querySource = QSRC_ORIGINAL;
	rows->canSetTag = true;
	rows->rtable = list_make1(entry);
	rows->jointree = makeFromExpr(list_make1(place), (Node *) make_ands_explicit(list_concat(conditions, keys)));
	rows->hasSubLinks = checkExprHasSubLink(rows->jointree->quals);
	return rows;
}

void
correlated_leave_wanted(const Query *query, const List *conditions, grouped_subquery *groups)
{
	int			number = table_of_keys(query, groups);
	List	   *of_table = number > 0 ? conditions_of(number, conditions) : NIL;
	SubLink    *link = makeNode(SubLink);

	if (of_table == NIL)
		return;
	link->subLinkType = EXISTS_SUBLINK;
	link->subselect = (Node *) rows_that_ask(query, number, of_table, groups);
	link->location = -1;
	groups->groups->jointree->quals = (Node *) make_ands_explicit(lappend(make_ands_implicit((Expr *) groups->groups->jointree->quals), link));
	groups->groups->hasSubLinks = true;
}

/*
 * correlated.c
 *		Aggregates of the rows that belong to each row, as groups that are joined.
 *
 * WHERE x < (SELECT avg(y) FROM s WHERE s.k = r.k) is a subquery to PostgreSQL, which runs once for each row.  Without an index, that takes hours.
 * It also means:
 *
 *		FROM r, (SELECT k, avg(y) AS a FROM s GROUP BY k) AS q WHERE q.k = r.k AND x < q.a
 *
 * since a row without any in s has no average, so that the condition is not met.  Where that is no reason, as in a list of columns, it is a left join.
 * For a few rows with an index, the subquery is faster.  So both are planned, and the cheaper one runs (mgpu_add_query_hooks).
 *
 * After Kim, "On Optimizing an SQL-like Nested Query", 1982, with the left joins that Ganski and Wong added in 1987: a count of no rows is 0.  To join
 * rows before they are grouped, as Dayal does, was rejected: groups are made without the query around, by whatever is fastest for them.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

#include "compat.h"
#include "query/correlated_groups.h"
#include "query/offers.h"
#include "settings.h"

/* The groups as a table of the query around. */
static Node *
add_groups(Query *query, const grouped_subquery *from)
{
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	RangeTblRef *place = makeNode(RangeTblRef);
	ListCell   *cell;

	entry->rtekind = RTE_SUBQUERY;
	entry->subquery = from->groups;
	entry->eref = makeAlias("groups", NIL);
	foreach(cell, from->groups->targetList)
		entry->eref->colnames = lappend(entry->eref->colnames, makeString(pstrdup(lfirst_node(TargetEntry, cell)->resname)));
	entry->inFromCl = true;
	place->rtindex = from->number;
	query->rtable = lappend(query->rtable, entry);
	return (Node *) place;
}

static void
join_groups(Query *query, const grouped_subquery *from)
{
	query->jointree->fromlist = lappend(query->jointree->fromlist, add_groups(query, from));
	query->jointree->quals = (Node *) make_ands_explicit(list_concat(make_ands_implicit((Expr *) query->jointree->quals), from->outer));
}

/* Rows without a group stay.  An expression has columns of the groups. */
static Node *
left_join_groups(Query *query, const grouped_subquery *from, Node *expr)
{
	JoinExpr   *join = makeNode(JoinExpr);
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	List	   *tables = query->jointree->fromlist;

	join->jointype = entry->jointype = JOIN_LEFT;
	join->larg = list_length(tables) == 1 ? linitial(tables) : (Node *) makeFromExpr(tables, NULL);
	join->rarg = add_groups(query, from);
	join->quals = (Node *) make_ands_explicit(from->outer);
	entry->rtekind = RTE_JOIN;
	entry->eref = makeAlias("joined_groups", NIL);
	query->rtable = lappend(query->rtable, entry);
	join->rtindex = list_length(query->rtable);
	query->jointree->fromlist = list_make1(join);
	return mgpu_make_nullable(expr, from->number, join->rtindex);
}

/* ---- expressions */

static bool
find_subquery(Node *node, void *found)
{
	if (node == NULL)
		return false;
	if (!IsA(node, SubLink))
		return expression_tree_walker(node, find_subquery, found);
	*(SubLink **) found = (SubLink *) node;
	return true;
}

typedef struct replaced_link
{
	const SubLink *link;
	Node	   *by;
} replaced_link;

static Node *
replace_link(Node *node, void *context)
{
	const replaced_link *replaced = context;

	if (node == NULL)
		return NULL;
	return node == (const Node *) replaced->link ? replaced->by : expression_tree_mutator(node, replace_link, context);
}

/* What an expression of a query with these conditions becomes, to which groups are added. */
static Node *
rewrite_expression(Query *query, const List *conditions, Node *expr, bool is_condition)
{
	SubLink    *link = NULL;
	grouped_subquery made;
	Node	   *column;

	if (!find_subquery(expr, &link) || link->subLinkType != EXPR_SUBLINK || !correlated_has_one_row((Query *) link->subselect) ||
		!correlated_make_groups((Query *) link->subselect, list_length(query->rtable) + 1, &made, &column))
		return expr;
	column = replace_link(expr, &(replaced_link) {link, column});
	if (checkExprHasSubLink(column))
		return expr;
	correlated_leave_wanted(query, conditions, &made);
	if (!is_condition || !bms_is_member(made.number, find_nonnullable_rels(column)))
		return left_join_groups(query, &made, column);
	join_groups(query, &made);
	return column;
}

/* ---- queries */

/* Conditions, and columns of rows that are not grouped.  Whether any is another one now. */
static bool
rewrite_query(Query *query)
{
	int			num_tables = list_length(query->rtable);
	List	   *conditions;
	List	   *rewritten = NIL;
	ListCell   *cell;

	if (query->commandType != CMD_SELECT || query->rowMarks || !query->hasSubLinks || query->jointree == NULL || query->setOperations)
		return false;
	conditions = make_ands_implicit((Expr *) query->jointree->quals);
	query->jointree->quals = NULL;
	foreach(cell, conditions)
		rewritten = lappend(rewritten, rewrite_expression(query, conditions, lfirst(cell), true));
	rewritten = list_concat(rewritten, make_ands_implicit((Expr *) query->jointree->quals));
	query->jointree->quals = rewritten ? (Node *) make_ands_explicit(rewritten) : NULL;
	foreach(cell, query->hasAggs || query->groupClause || query->groupingSets ? NIL : query->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		entry->expr = (Expr *) rewrite_expression(query, conditions, (Node *) entry->expr, false);
	}
	return list_length(query->rtable) > num_tables;
}

/* All queries of a statement. */
static bool
rewrite_below(Node *node, void *is_rewritten)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, rewrite_below, is_rewritten);
	(void) query_tree_walker((Query *) node, rewrite_below, is_rewritten, 0);
	*(bool *) is_rewritten |= rewrite_query((Query *) node);
	*(bool *) is_rewritten |= whole_windows_rewrite((Query *) node);
	return false;
}

/* Or an aggregate of all rows. */
static bool
has_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query) && whole_windows_are_in((const Query *) node))
		return true;
	if (IsA(node, SubLink) && ((const SubLink *) node)->subLinkType == EXPR_SUBLINK && correlated_has_one_row((const Query *) ((const SubLink *) node)->subselect))
		return true;
	return IsA(node, Query) ? query_tree_walker((Query *) node, has_subquery, context, 0) : expression_tree_walker(node, has_subquery, context);
}

Query *
correlated_rewrite(const Query *query)
{
	Query	   *copy;
	bool		is_rewritten = false;

	if (!mgpu_setting_enable_correlated || !has_subquery((Node *) query, NULL))
		return NULL;
	copy = copyObject((Query *) query);
	(void) rewrite_below((Node *) copy, &is_rewritten);
	return is_rewritten ? copy : NULL;
}

/* ---- plans */

/* The part that groups cost, of subqueries that look rows up in indexes, at most: these cost as if pages came from a disk.  Measured: 2.4 times as long at 0.49. */
#define INDEX_PART 0.4

/* The same where a LIMIT says of how many rows they are: these are looked up in the order of an index, often.  Measured: 1.5 to 2 times as long at 0.13. */
#define LIMITED_PART 0.1

static bool
has_index_scan(const Plan *plan)
{
	if (plan == NULL)
		return false;
	return IsA(plan, IndexScan) || IsA(plan, IndexOnlyScan) || IsA(plan, BitmapHeapScan) || has_index_scan(plan->lefttree) || has_index_scan(plan->righttree);
}

/* Whether a subquery is a column of rows. */
static bool
shows_subquery(const Plan *plan)
{
	if (plan == NULL)
		return false;
	return contain_subplans((Node *) plan->targetlist) || shows_subquery(plan->lefttree) || shows_subquery(plan->righttree);
}

/* What a plan costs: below a LIMIT, aggregates over all rows are counted as if few of these were read. */
static Cost
cost_of(const Plan *plan)
{
	Cost		cost = plan->total_cost;

	for (const Plan *below = plan; below; below = below->lefttree)
		if (IsA(below, WindowAgg) && ((const WindowAgg *) below)->partNumCols == 0 && ((const WindowAgg *) below)->ordNumCols == 0)
			cost = Max(cost, below->total_cost);
	return cost;
}

/* A plan of this cost takes a few ms, and planning the other a part of one: it runs. */
#define LEAST_COST 100.0

bool
correlated_is_better(const PlannedStmt *plan, const PlannedStmt *before)
{
	bool		is_limited = IsA(before->planTree, Limit) && shows_subquery(before->planTree);
	double		part = 1;
	ListCell   *cell;

	if (plan == NULL)
		return cost_of(before->planTree) >= LEAST_COST;
	foreach(cell, before->subplans)
		if (has_index_scan(lfirst(cell)))
			part = is_limited ? LIMITED_PART : INDEX_PART;
	return cost_of(plan->planTree) < cost_of(before->planTree) * part;
}

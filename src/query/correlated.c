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
 * All groups are computed, not only those that somebody asks for.  So the subquery has nothing that may fail: functions that are leakproof, and aggregates
 * of exact types, whose answer does not depend on the order of rows either.  What is computed of aggregates is computed above the join.
 *
 * After Kim, "On Optimizing an SQL-like Nested Query", 1982, with the left joins that Ganski and Wong added in 1987: a count of no rows is 0.  To join
 * rows before they are grouped, as Dayal does, was rejected: groups are made without the query around, by whatever is fastest for them.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "query/offers.h"
#include "settings.h"

/* A subquery that becomes groups. */
typedef struct grouped_subquery
{
	Query	   *groups;			/* its target list: keys, then aggregates */
	List	   *outer;			/* OpExpr, of each key: the equality with a row of the query around, as that has it */
	int			number;			/* among the tables of that query */
	int			num_keys;
	bool		is_bad;			/* an aggregate that is not taken */
} grouped_subquery;

/* ---- what may be taken */

static bool
has_one_row(const Query *query)
{
	return query->commandType == CMD_SELECT && query->hasAggs && query->jointree && !query->groupClause && !query->groupingSets && !query->havingQual &&
		!query->distinctClause && !query->sortClause && !query->limitCount && !query->limitOffset && !query->hasWindowFuncs &&
		!query->hasTargetSRFs && !query->setOperations && !query->cteList && !query->rowMarks && !query->hasSubLinks && list_length(query->targetList) == 1;
}

/* Whether tables and joins of a FROM have nothing that may fail, and know nothing of the query around. */
static bool
is_safe_from(const Query *query, Node *from)
{
	ListCell   *cell;

	if (IsA(from, RangeTblRef))
	{
		const RangeTblEntry *entry = rt_fetch(((RangeTblRef *) from)->rtindex, query->rtable);

		return (entry->rtekind == RTE_RELATION && entry->tablesample == NULL) || entry->rtekind == RTE_CTE;
	}
	if (IsA(from, JoinExpr))
	{
		const JoinExpr *join = (const JoinExpr *) from;

		return is_safe_from(query, join->larg) && is_safe_from(query, join->rarg) &&
			!contain_leaked_vars(join->quals) && !contain_vars_of_level(join->quals, 1);
	}
	foreach(cell, ((const FromExpr *) from)->fromlist)
		if (!is_safe_from(query, lfirst(cell)))
			return false;
	return true;
}

static bool
is_exact(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == NUMERICOID;
}

static bool
is_count(const Aggref *call)
{
	return call->aggfnoid == F_COUNT_ || call->aggfnoid == F_COUNT_ANY;
}

/* Whether an aggregate has one answer, whatever the order of its rows, which cannot fail, and is NULL without rows, or a count. */
static bool
takes_aggregate(const Aggref *call)
{
	const char *name = call->aggfnoid < FirstGenbkiObjectId ? get_func_name(call->aggfnoid) : NULL;
	Oid			type = list_length(call->aggargtypes) == 1 ? linitial_oid(call->aggargtypes) : InvalidOid;

	if (name == NULL || call->agglevelsup > 0 || call->aggkind != AGGKIND_NORMAL || call->aggfilter || call->aggorder)
		return false;
	if (call->aggstar)
		return is_count(call);
	if (!OidIsValid(type) || contain_leaked_vars((Node *) linitial_node(TargetEntry, call->args)->expr) || contain_vars_of_level((Node *) call->args, 1))
		return false;
	if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
		return type < FirstNormalObjectId;
	return is_count(call) || ((strcmp(name, "sum") == 0 || strcmp(name, "avg") == 0) && is_exact(type));
}

/* Whether an equality of a value of the subquery is that of its groups. */
static bool
is_equality_of_groups(const OpExpr *clause, const Node *inner)
{
	const TypeCacheEntry *type = lookup_type_cache(exprType(inner), TYPECACHE_BTREE_OPFAMILY);

	return OidIsValid(type->btree_opf) && get_op_opfamily_strategy(clause->opno, type->btree_opf) == BTEqualStrategyNumber &&
		clause->inputcollid == exprCollation(inner);
}

/* The argument, 0 or 1, of an equality with the query around that is the subquery's; -1: it is another condition. */
static int
inner_argument(const Node *condition)
{
	const OpExpr *clause = (const OpExpr *) condition;

	if (!IsA(condition, OpExpr) || list_length(clause->args) != 2)
		return -1;
	for (int i = 0; i < 2; i++)
	{
		Node	   *inner = list_nth(clause->args, i);
		Node	   *outer = list_nth(clause->args, 1 - i);

		if (contain_vars_of_level(inner, 0) && !contain_vars_of_level(inner, 1) && !contain_vars_of_level(outer, 0) &&
			contain_vars_of_level(outer, 1) && !contain_leaked_vars(inner) && is_equality_of_groups(clause, inner))
			return i;
	}
	return -1;
}

/* ---- groups */

static void
add_key(grouped_subquery *to, const OpExpr *clause, int inner)
{
	Expr	   *expr = list_nth(clause->args, inner);
	TargetEntry *entry = makeTargetEntry(expr, list_length(to->groups->targetList) + 1, psprintf("k%d", to->num_keys), false);
	SortGroupClause *group = makeNode(SortGroupClause);
	OpExpr	   *outer = copyObject((OpExpr *) clause);
	bool		hashable;

	get_sort_group_operators(exprType((Node *) expr), true, true, false, &group->sortop, &group->eqop, NULL, &hashable);
	group->hashable = hashable;
	group->tleSortGroupRef = entry->ressortgroupref = ++to->num_keys;
	to->groups->targetList = lappend(to->groups->targetList, entry);
	to->groups->groupClause = lappend(to->groups->groupClause, group);
	IncrementVarSublevelsUp((Node *) outer, -1, 1);
	list_nth_cell(outer->args, inner)->ptr_value = makeVar(to->number, entry->resno, exprType((Node *) expr), exprTypmod((Node *) expr), exprCollation((Node *) expr), 0);
	to->outer = lappend(to->outer, outer);
}

/* Split the subquery's conditions: equalities with rows of the query around become keys.  false: others know of these, or may fail. */
static bool
take_conditions(grouped_subquery *to)
{
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, make_ands_implicit((Expr *) to->groups->jointree->quals))
	{
		int			inner = inner_argument(lfirst(cell));

		if (inner >= 0)
			add_key(to, lfirst(cell), inner);
		else if (contain_vars_of_level(lfirst(cell), 1) || contain_leaked_vars(lfirst(cell)))
			return false;
		else
			left = lappend(left, lfirst(cell));
	}
	to->groups->jointree->quals = left ? (Node *) make_ands_explicit(left) : NULL;
	return to->num_keys > 0;
}

/* An aggregate's column of the groups. */
static Node *
column_of(grouped_subquery *to, Aggref *call)
{
	int			number = list_length(to->groups->targetList) + 1;
	Var		   *var = makeVar(to->number, number, call->aggtype, -1, call->aggcollid, 0);
	CoalesceExpr *count;

	to->is_bad |= !takes_aggregate(call);
	to->groups->targetList = lappend(to->groups->targetList, makeTargetEntry((Expr *) call, number, psprintf("a%d", number), false));
	if (!is_count(call))
		return (Node *) var;
	count = makeNode(CoalesceExpr);
	count->coalescetype = INT8OID;
	count->args = list_make2(var, makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL));
	count->location = -1;
	return (Node *) count;
}

/* The subquery's column in the query around: aggregates become columns of groups. */
static Node *
name_aggregates(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup > 0)
	{
		Var		   *var = copyObject((Var *) node);

		var->varlevelsup--;
		return (Node *) var;
	}
	return IsA(node, Aggref) ? column_of(context, (Aggref *) node) : expression_tree_mutator(node, name_aggregates, context);
}

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

/* What an expression of a query becomes, to which groups are added. */
static Node *
rewrite_expression(Query *query, Node *expr, bool is_condition)
{
	SubLink    *link = NULL;
	grouped_subquery made = {.number = list_length(query->rtable) + 1};
	replaced_link replaced;
	Node	   *column;

	if (!find_subquery(expr, &link) || link->subLinkType != EXPR_SUBLINK || !has_one_row((Query *) link->subselect) ||
		contain_volatile_functions(link->subselect))
		return expr;
	made.groups = copyObject((Query *) link->subselect);
	column = (Node *) linitial_node(TargetEntry, made.groups->targetList)->expr;
	made.groups->targetList = NIL;
	if (!is_safe_from(made.groups, (Node *) made.groups->jointree) || !take_conditions(&made))
		return expr;
	replaced = (replaced_link) {link, name_aggregates(column, &made)};
	column = replace_link(expr, &replaced);
	if (made.is_bad || checkExprHasSubLink(column))
		return expr;
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
		rewritten = lappend(rewritten, rewrite_expression(query, lfirst(cell), true));
	rewritten = list_concat(rewritten, make_ands_implicit((Expr *) query->jointree->quals));
	query->jointree->quals = rewritten ? (Node *) make_ands_explicit(rewritten) : NULL;
	foreach(cell, query->hasAggs || query->groupClause || query->groupingSets ? NIL : query->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		entry->expr = (Expr *) rewrite_expression(query, (Node *) entry->expr, false);
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
	return false;
}

static bool
has_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink) && ((const SubLink *) node)->subLinkType == EXPR_SUBLINK && has_one_row((const Query *) ((const SubLink *) node)->subselect))
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

static bool
has_index_scan(const Plan *plan)
{
	if (plan == NULL)
		return false;
	return IsA(plan, IndexScan) || IsA(plan, IndexOnlyScan) || IsA(plan, BitmapHeapScan) || has_index_scan(plan->lefttree) || has_index_scan(plan->righttree);
}

bool
correlated_is_better(const PlannedStmt *plan, const PlannedStmt *before)
{
	double		part = 1;
	ListCell   *cell;

	foreach(cell, before->subplans)
		if (has_index_scan(lfirst(cell)))
			part = INDEX_PART;
	return plan->planTree->total_cost < before->planTree->total_cost * part;
}

/*
 * correlated_groups.c
 *		Groups in place of a subquery that aggregates the rows which belong to a row of the query around.
 *
 * Equalities with that row become keys, other conditions stay, and aggregates become columns.  All groups are computed, not only those that somebody
 * asks for.  So the subquery has nothing that may fail: functions that are leakproof, and aggregates of exact types, whose answer does not depend on
 * the order of rows either.  What is computed of aggregates is computed by the query around.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
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

#include "query/correlated_groups.h"

/* ---- what may be taken */

bool
correlated_has_one_row(const Query *query)
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

/* Whether a value of the query around may be computed for all of its rows: also where nobody asked for the subquery, as of CASE. */
static bool
is_safe_outside(const Node *outer)
{
	Node	   *copy = copyObject((Node *) outer);

	IncrementVarSublevelsUp(copy, -1, 1);
	return !contain_leaked_vars(copy);
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
			contain_vars_of_level(outer, 1) && !contain_leaked_vars(inner) && is_safe_outside(outer) && is_equality_of_groups(clause, inner))
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

bool
correlated_make_groups(const Query *subquery, int number, grouped_subquery *made, Node **column)
{
	*made = (grouped_subquery) {.groups = copyObject((Query *) subquery),.number = number};
	*column = (Node *) linitial_node(TargetEntry, made->groups->targetList)->expr;
	made->groups->targetList = NIL;
	if (contain_volatile_functions((Node *) subquery) || !is_safe_from(made->groups, (Node *) made->groups->jointree) || !take_conditions(made))
		return false;
	*column = name_aggregates(*column, made);
	return !made->is_bad;
}

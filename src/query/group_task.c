/*
 * group_task.c
 *		What a query asks an MgpuGroup node to compute.
 *
 * The node computes grouping keys and aggregates.  The child computes their arguments, as
 * columns.  An argument of an aggregate with a FILTER is computed only where the filter is true,
 * as Agg does it: it might raise an error elsewhere.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "batch/group_keys.h"
#include "query/aggregate_ways.h"
#include "query/custom_plan.h"
#include "query/group_task.h"
#include "query/reductions.h"

/* Costs of an aggregate's row, in units of cpu_operator_cost. */
#define REDUCE_COST 0.1
#define NUMERIC_COST 0.4		/* the same of numeric */
#define SQUARES_COST 2.5		/* a call that squares an int8 or numeric */
#define SORT_COST 0.4
#define FEED_COST 1.0			/* the call that Agg makes too */
#define ARRAY_COST 0.8

/* Computed values by reference take more memory than stored ones, and another copy: 20 ns more, measured with numeric. */
#define COMPUTED_COPIES 1.5

static bool
give_up(group_task *task, const char *why_not)
{
	task->why_not = why_not;
	return false;
}

/* ---- columns */

/* The number of the column that holds an expression, or -1 if the node cannot have it.  It may be of a pseudo-type. */
static int
take_any_column(group_task *task, Expr *expr)
{
	Oid			type_id = exprType((Node *) expr);
	ListCell   *cell;

	foreach(cell, task->columns)
		if (equal(lfirst(cell), expr))
			return foreach_current_index(cell);
	if (!custom_plan_is_simple(expr))
	{
		give_up(task, "an expression is volatile, returns a set or has a subquery");
		return -1;
	}
	task->columns = lappend(task->columns, expr);
	if (!get_typbyval(type_id))
		task->copies += IsA(expr, Var) ? 1 : COMPUTED_COPIES;
	if (get_typstorage(type_id) == TYPSTORAGE_MAIN)
		task->looked_into = bms_add_member(task->looked_into, list_length(task->columns) - 1);
	task->record_bytes += custom_plan_cell_bytes(expr) + custom_plan_value_bytes(task->root, expr);
	return list_length(task->columns) - 1;
}

static int
take_column(group_task *task, Expr *expr)
{
	if (get_typtype(exprType((Node *) expr)) == TYPTYPE_PSEUDO)
	{
		give_up(task, "a column has a pseudo-type");
		return -1;
	}
	return take_any_column(task, expr);
}

/* ---- keys */

static bool
take_key(group_task *task, const SortGroupClause *clause)
{
	Expr	   *expr = grouping_key(task->root, clause);
	group_key	key;
	int			column;

	if (!group_key_fill(&key, exprType((Node *) expr), clause->eqop, exprCollation((Node *) expr)))
		return give_up(task, "a grouping key's type cannot be hashed");
	column = take_column(task, expr);
	if (column < 0)
		return false;
	task->looked_into = bms_add_member(task->looked_into, column);
	task->keys = lappend(task->keys, expr);
	task->equalities = lappend_oid(task->equalities, clause->eqop);
	task->outputs = lappend(task->outputs, expr);
	task->uses = lappend(task->uses, list_make1_int(column));
	return true;
}

/* Columns of keys, which are the first, so that sets that have other keys have the same ones. */
static bool
take_columns(group_task *task, List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
		if (take_column(task, grouping_key(task->root, lfirst(cell))) < 0)
			return false;
	return true;
}

static bool
take_keys(group_task *task, List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
		if (!take_key(task, lfirst(cell)))
			return false;
	return true;
}

/* ---- aggregates */

static Expr *
make_case(Expr *condition, Expr *result)
{
	CaseExpr   *expr = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);
	Oid			type_id = exprType((Node *) result);
	int32		typmod = exprTypmod((Node *) result);
	Oid			collation = exprCollation((Node *) result);
	int16		typlen;
	bool		typbyval;

	get_typlenbyval(type_id, &typlen, &typbyval);
	when->expr = copyObject(condition);
	when->result = copyObject(result);
	when->location = expr->location = -1;
	expr->casetype = type_id;
	expr->casecollid = collation;
	expr->args = list_make1(when);
	expr->defresult = (Expr *) makeConst(type_id, typmod, collation, typlen, (Datum) 0, true, typbyval);
	return (Expr *) expr;
}

/* Whether an argument is a constant that can do without a column: count counts rows then, and DISTINCT has another argument. */
static bool
may_stay_constant(const Aggref *aggref, const group_plan *plan, int n)
{
	const Const *argument = (const Const *) group_argument(aggref, plan, n);

	if (!IsA(argument, Const))
		return false;
	if (plan->way == GROUP_WAY_FEED)
		return aggref->aggdistinct == NIL || (n > 0 && !IsA(group_argument(aggref, plan, 0), Const));
	return aggref->aggfnoid == F_COUNT_ANY && aggref->aggdistinct == NIL && !argument->constisnull;
}

/* The column of an aggregate's argument, -1 for a constant; why_not is set if there can be none. */
static int
take_argument(group_task *task, const Aggref *aggref, const group_plan *plan, int n)
{
	Expr	   *argument = group_argument(aggref, plan, n);
	bool		sorts = ((const TargetEntry *) list_nth(aggref->args, n))->ressortgroupref != 0;
	bool		counts_rows = IsA(argument, RowExpr) && plan->way == GROUP_WAY_SORT && plan->result == SORTED_COUNT_DISTINCT;
	int			column;

	if (may_stay_constant(aggref, plan, n))
		return -1;
	if (aggref->aggfilter && !IsA(argument, Var) && !IsA(argument, Const))
		argument = make_case(aggref->aggfilter, argument);
	column = counts_rows ? take_any_column(task, argument) : take_column(task, argument);
	if (column >= 0 && (sorts || plan->way == GROUP_WAY_SORT || plan->way == GROUP_WAY_ARRAY))
		task->looked_into = bms_add_member(task->looked_into, column);
	return column;
}

/* The column that is NULL where FILTER is not true; -1 without FILTER. */
static int
take_filter(group_task *task, const Aggref *aggref)
{
	if (aggref->aggfilter == NULL)
		return -1;
	return take_column(task, make_case(aggref->aggfilter, (Expr *) makeBoolConst(true, false)));
}

/* Whether an earlier aggregate has the same transition states. */
static bool
shares_state(const group_task *task, const Aggref *aggref)
{
	ListCell   *cell;

	foreach(cell, task->outputs)
		if (IsA(lfirst(cell), Aggref) && ((const Aggref *) lfirst(cell))->aggtransno == aggref->aggtransno)
			return true;
	return false;
}

/* Whether a node's own rows are squared by a call of PostgreSQL's function, whose states are large. */
static bool
squares_by_call(const known_reduction *known, const Aggref *aggref)
{
	return known->kind == REDUCED_SQUARES && linitial_oid(aggref->aggargtypes) != INT2OID && linitial_oid(aggref->aggargtypes) != INT4OID;
}

static void
count_reduction(group_task *task, const Aggref *aggref)
{
	const known_reduction *known = known_reduction_of(aggref->aggfnoid);
	bool		is_numeric = known->kind >= REDUCED_NUMERIC_SUM;
	bool		adds_floats = (known->kind == REDUCED_REAL || known->kind == REDUCED_SPREAD) && !reduction_is_float_extreme(known->reduction);
	bool		calls = squares_by_call(known, aggref);

	/* one state at a time */
	task->folds &= task->keys == NIL || !calls;
	task->combines &= !is_numeric;
	task->merges &= !adds_floats;
	task->operators += calls ? SQUARES_COST : is_numeric ? NUMERIC_COST : REDUCE_COST;
}

static void
count_costs(group_task *task, const Aggref *aggref, const group_plan *plan)
{
	int			num_orders = Max(list_length(aggref->aggorder), list_length(aggref->aggdistinct));

	if (shares_state(task, aggref))
		return;

	task->sorts |= plan->way == GROUP_WAY_SORT || num_orders > 0;
	task->folds &= plan->way == GROUP_WAY_REDUCE;
	task->merges &= plan->way == GROUP_WAY_REDUCE;
	task->num_states++;
	task->beside_bytes += group_plan_row_bytes(plan);
	switch (plan->way)
	{
		case GROUP_WAY_REDUCE:
			count_reduction(task, aggref);
			break;
		case GROUP_WAY_SORT:
			task->operators += SORT_COST;
			break;
		default:
			task->num_fed++;
			task->operators += (plan->way == GROUP_WAY_FEED ? FEED_COST : ARRAY_COST) + SORT_COST * num_orders;
	}
}

static bool
take_aggregate(group_task *task, Aggref *aggref)
{
	const char *why_not;
	group_plan	plan;
	List	   *columns;

	if (list_member(task->outputs, aggref))
		return true;
	if (aggref->aggsplit != AGGSPLIT_SIMPLE || aggref->agglevelsup > 0)
		return give_up(task, "an aggregate is partial or of an outer query");
	plan = group_plan_of(aggref, &why_not);
	if (plan.way == GROUP_WAY_NONE)
		return give_up(task, why_not);
	columns = list_make1_int(take_filter(task, aggref));
	/* the trailing arguments of the extension's aggregates are constants, which the plan has */
	for (int i = 0; i < list_length(aggref->args) && (plan.way != GROUP_WAY_SORT || i == 0); i++)
		columns = lappend_int(columns, take_argument(task, aggref, &plan, i));
	count_costs(task, aggref, &plan);
	task->outputs = lappend(task->outputs, aggref);
	task->uses = lappend(task->uses, columns);
	return task->why_not == NULL;
}

/* ---- the whole */

List *
group_task_stored(const group_task *task)
{
	List	   *stored = NIL;

	for (int i = 0; i < list_length(task->columns); i++)
		if (!bms_is_member(i, task->looked_into))
			stored = lappend_int(stored, i);
	return stored;
}

/* Take an expression of a group's first row, which is the same in all rows of the group. */
static bool
take_output(group_task *task, Expr *expr)
{
	int			column = take_column(task, expr);

	task->outputs = lappend(task->outputs, expr);
	task->uses = lappend(task->uses, list_make1_int(column));
	return column >= 0;
}

/* Take what an expression needs of a group.  True: the node cannot do it. */
static bool
is_unfit(Node *node, group_task *task)
{
	if (node == NULL || list_member(task->outputs, node))
		return false;
	if (IsA(node, Aggref))
		return !take_aggregate(task, (Aggref *) node);
	/* it depends on the keys */
	if (IsA(node, Var) || IsA(node, PlaceHolderVar))
		return !take_output(task, (Expr *) node);
	if (custom_plan_has_special_parts(node, NULL))
		return !give_up(task, "an expression has a subquery or a record's field");
	return expression_tree_walker(node, is_unfit, task);
}

bool
group_task_of_grouping(group_task *task, PlannerInfo *root, const grouping *grouping)
{
	memset(task, 0, sizeof(*task));
	task->root = root;
	task->folds = task->combines = task->merges = true;
	task->having = grouping->having;
	if (root->parse->hasTargetSRFs)
		return give_up(task, "the select list returns sets");
	if (!take_columns(task, grouping->columns) || !take_keys(task, grouping->clauses) ||
		is_unfit((Node *) grouping->target->exprs, task) || is_unfit((Node *) grouping->having, task))
		return false;
	task->firsts = group_firsts(task->outputs, list_make2(grouping->target->exprs, grouping->having));
	if (task->keys == NIL && !task->sorts && !task->folds)
		return give_up(task, "there is one group, and an aggregate needs PostgreSQL's own function");
	return true;
}

/* Take what is no key, but equal to one or constant.  The child has computed it. */
static bool
take_others(group_task *task, List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
	{
		Expr	   *expr = lfirst(cell);

		if (!list_member(task->outputs, expr) && !take_output(task, expr))
			return false;
	}
	return true;
}

bool
group_task_of_distinct(group_task *task, PlannerInfo *root, const PathTarget *target)
{
	memset(task, 0, sizeof(*task));
	task->root = root;
	task->folds = task->combines = true;
	if (root->parse->hasDistinctOn)
		return give_up(task, "DISTINCT ON is for MgpuTop");
	return take_keys(task, mgpu_distinct_clause(root)) && take_others(task, target->exprs);
}

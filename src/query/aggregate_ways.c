/*
 * aggregate_ways.c
 *		The aggregates that MgpuGroup runs, and the ways in which it does.
 *
 * PostgreSQL's aggregates are recognized by OID, the extension's by their functions.
 * Recognition by name was rejected: anybody may create an aggregate of any name.
 *
 * An aggregate that has no way of its own is run by its transition function if this is one of
 * PostgreSQL's.  Functions of other libraries may look into the Agg node that calls them,
 * and here there is none.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "agg/call.h"
#include "array/element_type.h"
#include "query/aggregate_ways.h"
#include "query/custom_plan.h"
#include "query/reductions.h"

extern Datum mgpu_sort_agg_trans(PG_FUNCTION_ARGS);
extern Datum mgpu_percentile_cont_trans(PG_FUNCTION_ARGS);
extern Datum mgpu_percentile_disc_trans(PG_FUNCTION_ARGS);

aggregate_functions
group_functions_of(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	aggregate_functions found;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	found = (aggregate_functions) {form->aggkind, {form->aggtransfn, form->aggfinalfn}};
	ReleaseSysCache(tuple);
	return found;
}

/* ---- how is it run? */

List *
group_sort_clauses(const Aggref *aggref)
{
	return list_length(aggref->aggdistinct) > list_length(aggref->aggorder) ? aggref->aggdistinct : aggref->aggorder;
}

Oid
group_type_of_clause(const Aggref *aggref, SortGroupClause *clause)
{
	return exprType((Node *) get_sortgroupclause_tle(clause, aggref->args)->expr);
}

sort_order
group_order_of_clause(const Aggref *aggref, SortGroupClause *clause)
{
	TypeCacheEntry *type = lookup_type_cache(group_type_of_clause(aggref, clause), TYPECACHE_GT_OPR);

	return (sort_order) {clause->sortop == type->gt_opr, clause->nulls_first};
}

static bool
is_default_order(const SortGroupClause *clause, Oid type_id)
{
	TypeCacheEntry *type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	return OidIsValid(clause->sortop) && clause->eqop == type->eq_opr &&
		(clause->sortop == type->lt_opr || clause->sortop == type->gt_opr);
}

static bool
orders_are_default(const Aggref *aggref)
{
	List	   *clauses = group_sort_clauses(aggref);
	ListCell   *cell;

	foreach(cell, clauses)
		if (!is_default_order(lfirst(cell), group_type_of_clause(aggref, lfirst(cell))))
			return false;
	return true;
}

/* Whether an expression has the same value in all groups, before the plan is run. */
static bool
varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN;
	if (!IsA(node, Const) && !IsA(node, FuncExpr) && !IsA(node, RelabelType) && !IsA(node, ArrayCoerceExpr) &&
		!IsA(node, CaseTestExpr) && !IsA(node, ArrayExpr) && !IsA(node, OpExpr) && !IsA(node, List) && !IsA(node, CoerceViaIO))
		return true;
	return expression_tree_walker(node, varies, context);
}

/* PostgreSQL's percentiles and mode. */
static group_plan
ordered_set_plan(const Aggref *aggref, sorted_result result, const char **why_not)
{
	group_plan	plan = {.way = GROUP_WAY_SORT,.result = result};

	plan.order = group_order_of_clause(aggref, linitial(aggref->aggorder));
	if (aggref->aggdirectargs)
		plan.fraction = linitial(aggref->aggdirectargs);
	if (varies((Node *) plan.fraction, NULL) || contain_volatile_functions((Node *) plan.fraction))
	{
		*why_not = "a percentile's fraction is not the same in all groups";
		plan.way = GROUP_WAY_NONE;
	}
	return plan;
}

/* The extension's aggregates.  Their trailing arguments must be constants. */
static group_plan
own_plan(const Aggref *aggref, PGFunction transition, const char **why_not)
{
	group_plan	plan = {.way = GROUP_WAY_NONE};
	bool		is_sort = transition == mgpu_sort_agg_trans;
	bool		flags[2] = {false, false};
	int			num_args = list_length(aggref->aggargtypes);

	if (!is_sort && transition != mgpu_percentile_cont_trans && transition != mgpu_percentile_disc_trans)
		return plan;
	*why_not = "an aggregate of the extension has DISTINCT, ORDER BY or an argument that is not a constant";
	if (aggref->aggorder || aggref->aggdistinct)
		return plan;
	for (int i = 1; i < num_args; i++)
	{
		const Const *constant = (const Const *) agg_argument(aggref, i);

		/* a NULL order is an error, which the transition function raises */
		if (!IsA(constant, Const) || (is_sort && constant->constisnull))
			return plan;
		if (is_sort)
			flags[i - 1] = DatumGetBool(constant->constvalue);
	}
	plan.way = GROUP_WAY_SORT;
	plan.result = is_sort ? SORTED_ARRAY : transition == mgpu_percentile_cont_trans ? SORTED_PERCENTILE_CONT : SORTED_PERCENTILE_DISC;
	if (is_sort)
		plan.order = (sort_order) {flags[0], num_args > 2 ? flags[1] : flags[0]};
	else
		plan.fraction = agg_argument(aggref, 1);
	return plan;
}

static bool
is_sortable(Oid type_id)
{
	element_type type;

	element_type_fill(&type, type_id);
	return OidIsValid(type.lt_operator) && OidIsValid(type.gt_operator);
}

/* Aggregates whose rows come in a given order, or once each. */
static group_plan
ordered_plan(const Aggref *aggref)
{
	const TargetEntry *first = linitial(aggref->args);
	List	   *clauses = group_sort_clauses(aggref);
	const SortGroupClause *clause = clauses ? linitial(clauses) : NULL;
	bool		by_first = list_length(clauses) == 1 && clause->tleSortGroupRef == first->ressortgroupref;
	group_plan	plan = {.way = GROUP_WAY_FEED};

	if (aggref->aggfnoid == F_COUNT_ANY && aggref->aggdistinct && by_first)
		plan = (group_plan) {.way = GROUP_WAY_SORT,.result = SORTED_COUNT_DISTINCT};
	else if (aggref->aggfnoid == F_ARRAY_AGG_ANYNONARRAY && !aggref->aggdistinct)
	{
		plan.way = by_first ? GROUP_WAY_SORT : GROUP_WAY_ARRAY;
		plan.result = SORTED_ARRAY;
		if (by_first)
			plan.order = group_order_of_clause(aggref, linitial(clauses));
	}
	return plan;
}

static bool
is_core_function(Oid function)
{
	return function < FirstGenbkiObjectId;
}

static group_plan
plan_of_normal(const Aggref *aggref, const char **why_not)
{
	aggregate_functions functions = group_functions_of(aggref->aggfnoid);
	group_plan	plan = {.way = GROUP_WAY_NONE};
	FmgrInfo	transition;

	*why_not = "an ordered-set aggregate is neither a percentile nor mode";
	if (functions.kind != AGGKIND_NORMAL)
		return plan;
	*why_not = "an aggregate is neither PostgreSQL's nor one that the node knows";
	if (is_core_function(functions.functions[0]) && is_core_function(functions.functions[1]))
	{
		if (aggref->aggdistinct == NIL && aggref->aggorder == NIL && known_reduction_of(aggref->aggfnoid))
			return (group_plan) {.way = GROUP_WAY_REDUCE};
		return aggref->args ? ordered_plan(aggref) : (group_plan) {.way = GROUP_WAY_FEED};
	}
	fmgr_info(functions.functions[0], &transition);
	return own_plan(aggref, transition.fn_addr, why_not);
}

group_plan
group_plan_of(const Aggref *aggref, const char **why_not)
{
	group_plan	plan = {.way = GROUP_WAY_NONE};

	*why_not = "an aggregate's ORDER BY is not its type's default order";
	if (!orders_are_default(aggref))
		return plan;
	switch (aggref->aggfnoid)
	{
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			plan = ordered_set_plan(aggref, SORTED_PERCENTILE_DISC, why_not);
			break;
		case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT_FLOAT8_INTERVAL:
		case F_PERCENTILE_CONT__FLOAT8_INTERVAL:
			plan = ordered_set_plan(aggref, SORTED_PERCENTILE_CONT, why_not);
			break;
		case F_MODE:
			plan = ordered_set_plan(aggref, SORTED_MODE, why_not);
			break;
		default:
			plan = plan_of_normal(aggref, why_not);
	}
	if (plan.way == GROUP_WAY_SORT && !is_sortable(exprType((Node *) group_argument(aggref, &plan, 0))))
	{
		*why_not = "an aggregate's argument has no order";
		plan.way = GROUP_WAY_NONE;
	}
	return plan;
}

Expr *
group_argument(const Aggref *aggref, const group_plan *plan, int n)
{
	Expr	   *argument = (Expr *) agg_argument(aggref, n);
	const FuncExpr *cast = (const FuncExpr *) argument;

	if (plan->way == GROUP_WAY_SORT && plan->result == SORTED_PERCENTILE_CONT && IsA(argument, FuncExpr) &&
		(cast->funcid == F_FLOAT8_INT2 || cast->funcid == F_FLOAT8_INT4 || cast->funcid == F_FLOAT8_INT8 ||
		 cast->funcid == F_FLOAT8_FLOAT4))
		return linitial(cast->args);
	return argument;
}

const char *
group_way_name(const group_plan *plan)
{
	switch (plan->way)
	{
		case GROUP_WAY_REDUCE:
			return "reduce";
		case GROUP_WAY_SORT:
			return "sort";
		case GROUP_WAY_ARRAY:
			return "array";
		default:
			return "transition function";
	}
}

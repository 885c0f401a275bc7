/*
 * group_count.c
 *		How many groups are expected: by PostgreSQL's estimate, or fewer, where keys cannot have as many values (value_spread.c, value_sample.c), or conditions leave
 *		few of them.
 *
 * PostgreSQL expects of any condition that it leaves some rows of most groups.  One that asks for the key's own column, as for some devices or days, leaves some groups
 * with all their rows.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "query/group_count.h"
#include "query/value_sample.h"
#include "query/value_spread.h"

/* A group may have so many times as many rows as the mean. */
#define GROUP_MARGIN 4

/* The one column that an expression is made of, of a table or one like it; or NULL. */
static const Var *
column_of(Node *expr)
{
	List	   *vars = pull_var_clause(expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	const Var  *var = vars ? linitial(vars) : NULL;
	ListCell   *cell;

	foreach(cell, vars)
		if (!equal(lfirst(cell), var))
			return NULL;
	return var && var->varlevelsup == 0 ? var : NULL;
}

/* The share of a column's values that conditions on it alone leave. */
static double
share_left(PlannerInfo *root, const Var *var)
{
	const RelOptInfo *rel = (int) var->varno < root->simple_rel_array_size ? root->simple_rel_array[var->varno] : NULL;
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, rel ? rel->baserestrictinfo : NIL)
	{
		const Var  *column = column_of((Node *) ((const RestrictInfo *) lfirst(cell))->clause);

		if (column && equal(column, var))
			clauses = lappend(clauses, lfirst(cell));
	}
	return clauses ? clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL) : 1;
}

/* How many values a key has in the rows that conditions leave; HUGE_VAL: as many as PostgreSQL expects. */
static double
values_of_key(PlannerInfo *root, Node *key, double num_rows)
{
	const Var  *var = column_of(key);
	double		share = var ? share_left(root, var) : 1;
	double		values = HUGE_VAL;
	VariableStatData variable;
	bool		is_default;

	/* statistics know a column's values */
	if (!IsA(key, Var))
		return Min(ceil(value_spread_count(root, key) * share), value_sample_count(root, key, num_rows));
	if (share == 1)
		return values;
	examine_variable(root, key, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple))
		values = ceil(get_variable_numdistinct(&variable, &is_default) * share);
	ReleaseVariableStats(variable);
	return values;
}

double
group_count(PlannerInfo *root, List *keys, double num_rows)
{
	List	   *others = NIL;
	double		most = 1;
	double		count;
	ListCell   *cell;

	foreach(cell, keys)
	{
		double		values = values_of_key(root, lfirst(cell), num_rows);

		/* NULL is one more */
		if (values < num_rows)
			most *= values + 1;
		else
			others = lappend(others, lfirst(cell));
	}
	count = keys ? estimate_num_groups(root, keys, num_rows, NULL, NULL) : 1;
	if (list_length(others) < list_length(keys))
		count = Min(count, most * (others ? estimate_num_groups(root, others, num_rows, NULL, NULL) : 1));
	return clamp_row_est(count);
}

/* The share of rows that have a key's most common value, or NULL, by statistics; 1: they do not say. */
static double
largest_share(PlannerInfo *root, Node *key)
{
	VariableStatData variable;
	AttStatsSlot slot;
	double		share = 1;

	examine_variable(root, key, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple))
	{
		share = ((Form_pg_statistic) GETSTRUCT(variable.statsTuple))->stanullfrac;
		if (get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_MCV, InvalidOid, ATTSTATSSLOT_NUMBERS))
		{
			if (slot.nnumbers > 0)
				share = Max(share, slot.numbers[0]);
			free_attstatsslot(&slot);
		}
	}
	ReleaseVariableStats(variable);
	return share;
}

double
group_largest(PlannerInfo *root, List *keys, double num_rows)
{
	double		share = 1;
	ListCell   *cell;

	foreach(cell, keys)
		share = Min(share, largest_share(root, lfirst(cell)));
	/* without statistics, some are larger than the mean */
	return Max(share < 1 ? share * num_rows : 0, GROUP_MARGIN * num_rows / group_count(root, keys, num_rows));
}

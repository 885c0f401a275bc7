/*
 * group_count.c
 *		How many groups are expected: by PostgreSQL's estimate, or fewer, where keys cannot have as many values (value_spread.c).
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
#include "query/value_spread.h"

/* A group may have so many times as many rows as the mean. */
#define GROUP_MARGIN 4

double
group_count(PlannerInfo *root, List *keys, double num_rows)
{
	List	   *others = NIL;
	double		most = 1;
	double		count;
	ListCell   *cell;

	foreach(cell, keys)
	{
		/* statistics know a column's values */
		double		values = IsA(lfirst(cell), Var) ? HUGE_VAL : value_spread_count(root, lfirst(cell));

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

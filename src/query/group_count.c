/*
 * group_count.c
 *		How many groups are expected: by PostgreSQL's estimate, or fewer, where keys cannot have as many values (value_spread.c).
 */
#include "postgres.h"

#include <math.h>

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "query/group_count.h"
#include "query/value_spread.h"

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

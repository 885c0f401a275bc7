/*
 * group_cost.c
 *		What paths of MgpuGroup cost.
 *
 * The planner compares them with those of PostgreSQL's Agg, whose costs are far from what runs: a look-up in its hash table
 * counts one cpu_operator_cost, however many groups there are.  So costs here are differences.  What both nodes do
 * alike costs what PostgreSQL counts for it, what this one does beside that costs what was measured, and what
 * PostgreSQL does not count is taken off.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "compat.h"
#include "batch/rows.h"
#include "core/sizes.h"
#include "query/costs.h"
#include "query/aggregate_ways.h"
#include "query/group_cost.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "settings.h"

/*
 * Costs of a row in units of cpu_operator_cost.  One is about 20 ns, since SAVED_PART (scan_path.c) of a row's cost
 * is 60 ns.  Measured with 1 to 7 sums of numeric in 1,000,000 rows of 4 and 100 groups, from a table and from a join: each
 * column of them takes 25 to 35 ns more than in Agg, which keeps no rows, so that 2 to 4 are the most that pay.
 */
#define RANK_COST 0.5			/* finding a row's group */
#define KEPT_COPY_COST 1.4		/* copying a value by reference to memory that no cache holds, and reading it */
#define FOLD_COPY_COST 0.4		/* the same of one that is soon overwritten */
#define EMPTY_COST 1.5			/* making one without columns of one that has some */

/*
 * The same of what Agg's hash table takes beyond the unit that is counted for each key.  Measured: a look-up takes 30 ns
 * more than here with 4 groups, 50 with 100, 100 with 10,000.  With a thousand groups the states of aggregates whose functions
 * are called stay in a cache.  With 10,000 each takes 40 ns more.
 */
#define LOOK_UP_COST 1.2
#define LOOK_UP_LEVEL_COST 0.2	/* for each doubling of the groups */
#define STATE_LEVEL_COST 0.6	/* the same of a state, beyond CACHED_LEVELS */
#define CACHED_LEVELS 10

/* With more groups than these, sorting the rows is faster than finding each one's group. */
#define FOLD_MOST_GROUPS MGPU_SIZE(1e6, 50)

/* A group that is merged with others, and each of its states.  Measured: 30 ns with three states where the merged groups
 * fit a cache, else 100. */
#define MERGE_COST 2.0
#define MERGE_STATE_COST 0.5

/* A value of a group that a job has found: its group is looked up, and it is sorted and handed to a function. */
#define VALUE_COST 10.0

Size
group_row_bytes(const group_task *task)
{
	return most_bytes_of_row(task->record_bytes, task->beside_bytes);
}

/* The cost of writing rows to files and reading them once, if so many have to be kept. */
static Cost
spill_cost(double num_rows, double kept_rows, const group_task *task)
{
	double		pages = ceil(num_rows * task->record_bytes / BLCKSZ);

	if (kept_rows * group_row_bytes(task) <= get_hash_memory_limit())
		return 0;
	return pages * (random_page_cost + seq_page_cost) + 2 * cpu_tuple_cost * num_rows;
}

static void
add_having_cost(PlannerInfo *root, Path *path, List *having)
{
	QualCost	cost;

	cost_qual_eval(&cost, having, root);
	path->startup_cost += cost.startup;
	path->total_cost += cost.startup + path->rows * cost.per_tuple;
	path->rows = clamp_row_est(path->rows * clauselist_selectivity(root, having, 0, JOIN_INNER, NULL));
}

bool
group_path_folds(const group_task *task, double num_rows, double num_groups)
{
	if (!task->folds || num_groups <= FOLD_MOST_GROUPS)
		return task->folds;
	/* groups may fit in memory where rows do not */
	return spill_cost(num_rows, num_rows, task) > 0 && spill_cost(num_rows, num_groups, task) == 0;
}

bool
group_path_groups_fit(const group_task *task, double num_groups)
{
	/* a row, which may move while its columns grow, the states, and two to four slots of the hash table */
	Size		group_bytes = 2 * task->record_bytes + task->num_states * GROUP_STATE_BYTES + 3 * 2 * sizeof(uint64);

	return num_groups * group_bytes <= get_hash_memory_limit();
}

Cost
group_row_cost(const group_task *task, bool fold)
{
	return cpu_operator_cost * ((task->keys == NIL ? 0 : fold ? FOLD_COST : RANK_COST) +
								COLUMN_COST * list_length(task->columns) +
								(fold ? FOLD_COPY_COST : KEPT_COPY_COST) * task->copies + task->operators);
}

/* The cost of making rows without columns, where rows come one by one: Agg's count(*) takes them as they are. */
static Cost
empty_rows_cost(const group_task *task, const Path *child, double num_rows)
{
	if (task->columns != NIL || scan_saved_cost(task->root, child, NIL) > 0)
		return 0;
	return EMPTY_COST * cpu_operator_cost * num_rows;
}

/* Add what returning groups takes to what finding them does. */
static void
add_groups_cost(const group_task *task, Path *path, double num_groups)
{
	const QualCost *target_cost = &path->pathtarget->cost;

	path->total_cost = path->startup_cost +
		num_groups * (cpu_tuple_cost + cpu_operator_cost * list_length(task->outputs));
	path->rows = num_groups;
	if (task->having)
		add_having_cost(task->root, path, task->having);
	path->startup_cost += target_cost->startup;
	path->total_cost += target_cost->startup + path->rows * target_cost->per_tuple;
}

/* The cost of what a job reads: once, and for each list of values. */
static Cost
job_cost(const group_task *task, const Path *rows)
{
	Cost		cost = table_job_node_cost(task->root, rows, task->executor) * (1 + list_length(task->values));
	ListCell   *cell;

	foreach(cell, task->values)
		cost += VALUE_COST * cpu_operator_cost * ((const query *) lfirst(cell))->expected;
	return cost;
}

void
group_path_cost(const group_task *task, Path *path, const Path *child, double num_rows, double num_groups, bool fold)
{
	Cost		rows_cost = num_rows * group_row_cost(task, fold);

	if (task->executor != TABLE_BY_NOBODY)
		path->startup_cost = job_cost(task, child) + START_COST + rows_cost * table_job_part(task->executor);
	else
		path->startup_cost = child->total_cost + START_COST + rows_cost +
			empty_rows_cost(task, child, num_rows) + spill_cost(num_rows, fold ? num_groups : num_rows, task);
	add_groups_cost(task, path, num_groups);
	mgpu_take_disabled_nodes(path, child);
}

void
group_path_cost_merged(const group_task *task, Path *path, double num_merged, double num_groups)
{
	path->startup_cost = START_COST + num_merged * cpu_operator_cost * (MERGE_COST + MERGE_STATE_COST * task->num_states);
	add_groups_cost(task, path, num_groups);
}

/* ---- what PostgreSQL does not count */

/* The node of a path that finds groups in a hash table: in workers, if they do. */
static const AggPath *
find_hashed(const Path *path)
{
	while (path != NULL)
		switch (nodeTag(path))
		{
			case T_AggPath:
				if (((const AggPath *) path)->aggstrategy == AGG_HASHED &&
					((const AggPath *) path)->aggsplit != AGGSPLIT_FINAL_DESERIAL)
					return (const AggPath *) path;
				path = ((const AggPath *) path)->subpath;
				break;
			case T_GatherPath:
				path = ((const GatherPath *) path)->subpath;
				break;
			case T_GatherMergePath:
				path = ((const GatherMergePath *) path)->subpath;
				break;
			case T_SortPath:
				path = ((const SortPath *) path)->subpath;
				break;
			case T_ProjectionPath:
				path = ((const ProjectionPath *) path)->subpath;
				break;
			default:
				path = NULL;
		}
	return NULL;
}

Cost
group_path_uncounted(const group_task *task, const Path *own, double num_groups)
{
	const AggPath *hashed = find_hashed(own);
	double		levels = log2(Max(num_groups, 1));

	if (hashed == NULL)
		return 0;
	return hashed->subpath->rows * cpu_operator_cost *
		(LOOK_UP_COST + LOOK_UP_LEVEL_COST * levels + STATE_LEVEL_COST * Max(levels - CACHED_LEVELS, 0) * task->num_fed);
}

void
group_path_save(const group_task *task, Path *path, const Path *rows, Cost uncounted)
{
	Cost		least = task->executor != TABLE_BY_NOBODY ? job_cost(task, rows) : rows->total_cost;
	Cost		saved = Max(Min(uncounted, path->startup_cost - least), 0);

	path->startup_cost -= saved;
	path->total_cost -= saved;
}

/*
 * set_paths.c
 *		Offers MgpuGroup nodes for GROUPING SETS, ROLLUP and CUBE: one for each set, below an Append.
 *
 * Of sets, the one with the most keys comes first.  If a job is expected to find its groups, sets that have some of its keys are merged
 * from these, where their aggregates allow it (core/group_merge.h): rows are read once for all of them.  Other sets read the rows anew.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "query/custom_plan.h"
#include "query/group_cost.h"
#include "query/group_count.h"
#include "query/group_offer.h"
#include "query/group_query.h"

/* A set whose groups are made of rows, and others of its groups. */
typedef struct set_offer
{
	group_offer offer;
	const List *set;
	List	   *clauses;
} set_offer;

typedef struct set_offers
{
	PlannerInfo *root;
	RelOptInfo *input_rel;
	RelOptInfo *output_rel;
	List	   *from_rows;		/* set_offer */
	List	   *paths;			/* of all sets */
	const char *why_not;
} set_offers;

/* PostgreSQL's node for the set without keys, in which any aggregate may be. */
static Path *
make_plain_path(PlannerInfo *root, const group_offer *offer, List *having)
{
	AggClauseCosts costs = {0};

	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	return (Path *) create_agg_path(root, offer->output_rel, offer->input_rel->cheapest_total_path, offer->target, AGG_PLAIN,
									AGGSPLIT_SIMPLE, NIL, having, &costs, 1);
}

/* A path for a set, of rows.  NULL: the node cannot do it. */
static Path *
make_path(set_offers *sets, const List *set)
{
	set_offer  *from_rows = palloc0(sizeof(set_offer));
	group_offer *offer = &from_rows->offer;
	group_task *task = &offer->task;
	grouping	of = grouping_of_set(sets->root, sets->output_rel->reltarget, set, NIL);

	from_rows->set = set;
	from_rows->clauses = of.clauses;
	offer->input_rel = sets->input_rel;
	offer->output_rel = sets->output_rel;
	offer->target = of.target;
	if (group_task_of_grouping(task, sets->root, &of))
	{
		task->shared = task->merges && set != NIL ? assign_special_exec_param(sets->root) + 1 : 0;
		task->why_not = group_offer_make(offer);
	}
	if (task->why_not == NULL && !grouping_may_reread(sets->root, offer->rows, offer->executor))
		task->why_not = "GROUPING SETS need the rows of a table, or of a join that a table job does, which are read for each of them";
	sets->why_not = set == NIL ? NULL : task->why_not;
	if (task->why_not)
		return set == NIL ? make_plain_path(sets->root, offer, of.having) : NULL;
	sets->from_rows = lappend(sets->from_rows, from_rows);
	return group_offer_cheapest(offer->paths);
}

/* Whether a set can be merged from groups of another. */
static bool
may_merge(const set_offer *finer, const List *set)
{
	return finer->offer.executor != TABLE_BY_NOBODY && finer->offer.task.shared > 0 && list_difference_int(set, finer->set) == NIL &&
		group_offer_cheapest(finer->offer.paths) == linitial(finer->offer.paths);
}

/* A path for a set, of the groups of another.  NULL: there is none. */
static Path *
make_merged_path(const set_offers *sets, const set_offer *finer, const List *set)
{
	group_task	task;
	grouping	of = grouping_of_set(sets->root, sets->output_rel->reltarget, set, finer->clauses);
	query	   *merged;
	CustomPath *path;
	double		num_groups;

	if (!group_task_of_grouping(&task, sets->root, &of) || !equal(task.columns, finer->offer.task.columns))
		return NULL;
	num_groups = group_count(sets->root, task.keys, finer->offer.num_rows);
	if (!group_path_groups_fit(&task, num_groups))
		return NULL;
	task.shared = finer->offer.task.shared;
	merged = group_query(&task, false, group_path_folds(&task, finer->offer.num_rows, num_groups) ? GROUP_FOLD : GROUP_SORT);
	merged->merges = true;
	path = custom_plan_path(&(node_path) {
		.query = merged,
		.entries = task.outputs,
		.quals = task.having,
		.rel = sets->output_rel,
		.target = of.target,
		.child = finer->offer.rows,
		.parallel_safe = ((const Path *) linitial(finer->offer.paths))->parallel_safe
	});
	group_path_cost_merged(&task, &path->path, finer->offer.num_groups, num_groups);
	group_offer_favour(&path->path);
	return &path->path;
}

/* The cheapest path for a set, of rows or of groups that others find. */
static Path *
make_set_path(set_offers *sets, const List *set)
{
	ListCell   *cell;

	foreach(cell, sets->from_rows)
	{
		Path	   *path = may_merge(lfirst(cell), set) ? make_merged_path(sets, lfirst(cell), set) : NULL;

		if (path && path->total_cost < ((const Path *) linitial(((const set_offer *) lfirst(cell))->offer.paths))->total_cost)
			return path;
	}
	return make_path(sets, set);
}

static int
by_keys(const ListCell *a, const ListCell *b)
{
	return list_length(lfirst(b)) - list_length(lfirst(a));
}

/* An Append of the sets' paths.  All but the first that read rows read pages that have just been read. */
static Path *
append_sets(const set_offers *sets)
{
	Path	   *append = (Path *) mgpu_create_append_path(sets->root, sets->output_rel, sets->paths);
	const RelOptInfo *table = ((const set_offer *) linitial(sets->from_rows))->offer.rows->parent;
	int			num_readings = list_length(sets->from_rows);

	if (table->pages <= (BlockNumber) Max(effective_cache_size, NBuffers))
		append->total_cost -= Min((num_readings - 1) * table->pages * seq_page_cost, append->total_cost * (num_readings - 1) / num_readings);
	return append;
}

const char *
set_paths_offer(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	List	   *sorted = list_copy(root->parse->groupingSets);
	set_offers	sets = {.root = root,.input_rel = input_rel,.output_rel = output_rel};
	ListCell   *cell;

	if (list_length(sorted) < 2)
		return "there is one grouping set";
	list_sort(sorted, by_keys);
	foreach(cell, sorted)
	{
		Path	   *path = make_set_path(&sets, lfirst(cell));

		if (path == NULL)
			return sets.why_not;
		sets.paths = lappend(sets.paths, path);
	}
	if (sets.from_rows == NIL)
		return "GROUPING SETS have no keys";
	return group_offer_add(output_rel, list_make1(append_sets(&sets)), ((const set_offer *) linitial(sets.from_rows))->offer.executor != TABLE_BY_NOBODY);
}

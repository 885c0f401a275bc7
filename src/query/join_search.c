/*
 * join_search.c
 *		Joins as a table job does them best.
 *
 * The planner keeps the plans that are cheapest for it: with parallel workers no hash join of one process, without them often one
 * whose outer side is the small one.  So each pair of relations that it thinks of joining gets a hash join here too: the outer side
 * streams, from one table on, and the inner side becomes a build.  Of all pairs of a joined relation the cheapest for a job is kept.
 * That is the planner's own search by dynamic programming, with its own proofs of what is unique, so the large table streams.  Of EXISTS and NOT
 * EXISTS, that may be the inner side's (table_join_is_turned).
 *
 * The path is no candidate of PostgreSQL's: it is kept beside, in a field that is for foreign tables alone.  A list of the planner's
 * relations was rejected, since planners run inside of planners.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"

#include "compat.h"
#include "query/join_path.h"
#include "query/join_search.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "settings.h"

static set_join_pathlist_hook_type previous_hook;
static join_search_hook_type previous_search;

/* What was kept of a joined relation, or NULL. */
static Path *
kept_path(const RelOptInfo *rel)
{
	Path	   *path = rel->fdw_private;

	return rel->fdwroutine == NULL && path && IsA(path, HashPath) && path->parent == rel ? path : NULL;
}

Path *
join_search_path(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind == RELOPT_JOINREL)
		return kept_path(rel);
	return IS_SIMPLE_REL(rel) ? scan_path_of_table(root, rel) : NULL;
}

List *
join_search_clauses(const JoinPathExtraData *extra, JoinType type, const RelOptInfo *joined, const RelOptInfo *outer, const RelOptInfo *inner)
{
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, extra->restrictlist)
	{
		RestrictInfo *info = lfirst(cell);
		bool		is_above = IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(info, joined->relids);

		if (!is_above && info->can_join && OidIsValid(info->hashjoinoperator) &&
			((bms_is_subset(info->left_relids, outer->relids) && bms_is_subset(info->right_relids, inner->relids)) ||
			 (bms_is_subset(info->left_relids, inner->relids) && bms_is_subset(info->right_relids, outer->relids))))
			clauses = lappend(clauses, info);
	}
	return clauses;
}

/* The join of two paths; NULL: there is none. */
static Path *
make_path(PlannerInfo *root, RelOptInfo *joined, Path *outer, Path *inner, JoinType type, JoinPathExtraData *extra)
{
	List	   *clauses = outer && inner ? join_search_clauses(extra, type, joined, outer->parent, inner->parent) : NIL;
	JoinCostWorkspace workspace;

	if (clauses == NIL || outer->param_info || inner->param_info || !bms_is_empty(joined->lateral_relids))
		return NULL;
	initial_cost_hashjoin(root, &workspace, type, clauses, outer, inner, extra, false);
	return (Path *) create_hashjoin_path(root, joined, type, &workspace, extra, outer, inner, false, extra->restrictlist, NULL, clauses);
}

/* Whether so many rows stream that somebody would run a job of them. */
static bool
is_large(const Path *stream)
{
	double		num_read = stream ? join_path_rows_read(join_path_scans(stream)) : 0;

	return num_read > 0 && (run_may_use_gpu() || table_job_has_threads(num_read, true));
}

/* By whoever would run it. */
static Cost
cost_of(PlannerInfo *root, const Path *path)
{
	return table_job_scan_cost(root, path, run_may_use_gpu() ? TABLE_BY_GPU : TABLE_BY_THREADS);
}

/* Keep a path of a joined relation, if it is the cheapest so far. */
static void
keep_cheapest(PlannerInfo *root, RelOptInfo *joined, Path *path)
{
	const Path *known = kept_path(joined);
	List	   *joins;

	if (path && is_large(join_path_stream(root, path, &joins)) && (known == NULL || cost_of(root, path) < cost_of(root, known)))
		joined->fdw_private = path;
}

static void
keep_better(PlannerInfo *root, RelOptInfo *joined, RelOptInfo *outer, RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	Path	   *stream;
	Path	   *of_inner;

	if (previous_hook)
		previous_hook(root, joined, outer, inner, type, extra);
	if (!mgpu_setting_enable_columns || !enable_hashjoin || joined->reloptkind != RELOPT_JOINREL || joined->fdwroutine ||
		(joined->fdw_private && kept_path(joined) == NULL))
		return;
	stream = join_search_path(root, outer);
	of_inner = join_search_path(root, inner);
	keep_cheapest(root, joined, make_path(root, joined, stream, table_job_side(root, inner, of_inner), type, extra));
	if (type == JOIN_SEMI || type == JOIN_ANTI)
		keep_cheapest(root, joined, make_path(root, joined, table_job_side(root, outer, stream), of_inner, type, extra));
}

/* Once all joins are known, their rows are offered as they come. */
static RelOptInfo *
search(PlannerInfo *root, int levels_needed, List *initial_rels)
{
	RelOptInfo *rel;

	if (previous_search)
		rel = previous_search(root, levels_needed, initial_rels);
	else if (enable_geqo && levels_needed >= geqo_threshold)
		rel = geqo(root, levels_needed, initial_rels);
	else
		rel = standard_join_search(root, levels_needed, initial_rels);
	scan_offer_joined(root, rel, kept_path(rel));
	return rel;
}

void
join_search_init(void)
{
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = keep_better;
	previous_search = join_search_hook;
	join_search_hook = search;
}

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
 * The path is no candidate of PostgreSQL's: it is kept beside, in a field that is for foreign tables alone, with what it costs: pairs are many, and
 * most of them cost more than the best so far by their sides alone.  A list of the planner's relations was rejected, since planners run inside of
 * planners.
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/memutils.h"

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

/* What is kept of a relation. */
typedef struct kept_rows
{
	ExtensibleNode node;		/* which nobody copies or writes */
	Path	   *path;			/* its rows as a job takes least for them, or NULL */
	Cost		cost;			/* of that, by whoever would run it */
	Path	   *side;			/* its rows as a smaller side; NULL: nobody has asked */
	Cost		side_cost;
} kept_rows;

static const char *const kept_name = "mgpu_pg rows of a relation";

/* NULL: nothing was kept, or somebody else uses the field. */
static kept_rows *
find_kept(const RelOptInfo *rel)
{
	kept_rows  *kept = rel->fdw_private;

	return rel->fdwroutine == NULL && kept && IsA(kept, ExtensibleNode) && kept->node.extnodename == kept_name ? kept : NULL;
}

/* By whoever would run it. */
static Cost
cost_of(PlannerInfo *root, const Path *path)
{
	return table_job_scan_cost(root, path, run_may_use_gpu() ? TABLE_BY_GPU : TABLE_BY_THREADS);
}

/* Whether nobody else uses the field. */
static bool
may_keep(const RelOptInfo *rel)
{
	return rel->fdwroutine == NULL && (rel->fdw_private == NULL || find_kept(rel));
}

/* A relation may outlive the search for an order of its joins, and what is kept of it does too. */
static MemoryContext
switch_to_kept(RelOptInfo *rel)
{
	return MemoryContextSwitchTo(may_keep(rel) ? GetMemoryChunkContext(rel) : CurrentMemoryContext);
}

/* What is kept of a relation, made if there is none. */
static kept_rows *
keep_rows(PlannerInfo *root, RelOptInfo *rel)
{
	kept_rows  *kept = find_kept(rel);
	MemoryContext caller;

	if (kept)
		return kept;
	caller = switch_to_kept(rel);
	kept = palloc0(sizeof(kept_rows));
	kept->node.type = T_ExtensibleNode;
	kept->node.extnodename = kept_name;
	kept->path = IS_SIMPLE_REL(rel) ? scan_path_of_table(root, rel) : NULL;
	kept->cost = kept->path ? cost_of(root, kept->path) : 0;
	rel->fdw_private = may_keep(rel) ? kept : rel->fdw_private;
	MemoryContextSwitchTo(caller);
	return kept;
}

/* The rows of a relation, of which all paths are known, as a smaller side. */
static Path *
keep_side(PlannerInfo *root, RelOptInfo *rel, kept_rows *kept)
{
	MemoryContext caller;

	if (kept->side)
		return kept->side;
	caller = switch_to_kept(rel);
	kept->side = table_job_side(root, rel, kept->path, &kept->side_cost);
	MemoryContextSwitchTo(caller);
	return kept->side;
}

Path *
join_search_path(PlannerInfo *root, RelOptInfo *rel)
{
	const kept_rows *kept = find_kept(rel);

	/* the target of a table may be another one by now */
	if (rel->reloptkind != RELOPT_JOINREL)
		return IS_SIMPLE_REL(rel) ? scan_path_of_table(root, rel) : NULL;
	return kept ? kept->path : NULL;
}

bool
join_search_knows_side(const Path *side, Cost *cost)
{
	const kept_rows *kept = find_kept(side->parent);

	if (kept == NULL || kept->side != side)
		return false;
	*cost = kept->side_cost;
	return true;
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

/* Rows of a smaller side, at most, each of which is looked at for each row that streams. */
#define MOST_PAIRED 10000

/*
 * The equality of a join that has none, as of bands, days or a few constants: one that all pairs of rows meet, so that all rows of the smaller side are
 * matches of one key.
 */
static List *
clauses_of_pairs(PlannerInfo *root, const Path *inner)
{
	Expr	   *zero = (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
	RestrictInfo *info;

	if (inner->rows > MOST_PAIRED)
		return NIL;
	info = make_simple_restrictinfo(root, make_opclause(Int4EqualOperator, BOOLOID, false, zero, copyObject(zero), InvalidOid, InvalidOid));
	set_opfuncid((OpExpr *) info->clause);
	info->hashjoinoperator = Int4EqualOperator;
	return list_make1(info);
}

/* The join of two paths; NULL: there is none. */
static Path *
make_path(PlannerInfo *root, RelOptInfo *joined, Path *outer, Path *inner, JoinType type, JoinPathExtraData *extra)
{
	List	   *clauses = outer && inner ? join_search_clauses(extra, type, joined, outer->parent, inner->parent) : NIL;
	JoinCostWorkspace workspace;

	if (clauses == NIL && outer && inner)
		clauses = clauses_of_pairs(root, inner);
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

	return num_read > 0 && (run_may_use_gpu() || table_job_has_threads(num_read));
}

/* Keep a path of a joined relation, if it is the cheapest so far. */
static void
keep_cheapest(PlannerInfo *root, kept_rows *kept, Path *path)
{
	List	   *joins;
	Cost		cost;

	if (path == NULL || !is_large(join_path_stream(root, path, &joins)))
		return;
	cost = cost_of(root, path);
	if (kept->path && cost >= kept->cost)
		return;
	kept->path = path;
	kept->cost = cost;
}

static void
keep_better(PlannerInfo *root, RelOptInfo *joined, RelOptInfo *outer, RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	kept_rows  *kept;
	kept_rows  *of_outer;
	kept_rows  *of_inner;
	bool		may_turn = type == JOIN_SEMI || type == JOIN_ANTI;
	Path	   *side;

	if (previous_hook)
		previous_hook(root, joined, outer, inner, type, extra);
	if (!mgpu_setting_enable_columns || !enable_hashjoin || joined->reloptkind != RELOPT_JOINREL || !may_keep(joined))
		return;
	kept = keep_rows(root, joined);
	of_outer = keep_rows(root, outer);
	of_inner = keep_rows(root, inner);
	side = keep_side(root, inner, of_inner);
	/* a join costs what its sides do, and more */
	if (may_turn || kept->path == NULL || of_outer->cost + of_inner->side_cost < kept->cost)
		keep_cheapest(root, kept, make_path(root, joined, of_outer->path, side, type, extra));
	if (may_turn)
		keep_cheapest(root, kept, make_path(root, joined, keep_side(root, outer, of_outer), of_inner->path, type, extra));
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
	scan_offer_joined(root, rel, join_search_path(root, rel));
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

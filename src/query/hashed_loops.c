/*
 * hashed_loops.c
 *		Nested loops that read all of one side for each row of the other, as hash joins.
 *
 * Where one row is expected of a side, PostgreSQL loops over the other: to find its rows once costs a little less than to hash either side.  When thousands
 * come, as of conditions that depend on each other, or of WITH queries, of which nobody knows what they hold, a statement of a second takes hours.  A hash
 * join costs about the same for one row, and no more for thousands.  So it takes such a loop's place, unless the loop is expected to be much cheaper.
 *
 * Loops whose inner side looks rows up for each row stay: where these are few, nothing is faster.  After the adaptive joins of other systems, which decide
 * once rows have come; to do that here was rejected, for it takes both plans and a node of its own.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "query/join_search.h"
#include "query/offers.h"
#include "settings.h"

/* So many times a loop's cost, a hash join is taken. */
#define HASH_TIMES 1.1

/* A side that costs less, such as a table of a few rows, may be read for thousands. */
#define LEAST_COST 100.0

static set_join_pathlist_hook_type previous_hook;

/* The pair of relations that is joined. */
typedef struct joined_pair
{
	PlannerInfo *root;
	RelOptInfo *joined;
	RelOptInfo *outer;
	RelOptInfo *inner;
	JoinType	type;
	JoinPathExtraData *extra;
} joined_pair;

/* Whether a path loops over all rows of the inner side. */
static bool
is_full_loop(const Path *path, const RelOptInfo *outer, const RelOptInfo *inner)
{
	const JoinPath *join = (const JoinPath *) path;

	return IsA(path, NestPath) && path->param_info == NULL && join->innerjoinpath->total_cost >= LEAST_COST && join->outerjoinpath->parent == outer && join->innerjoinpath->parent == inner &&
		join->innerjoinpath->param_info == NULL;
}

static Path *
make_hash(const joined_pair *pair, Path *outer, Path *inner)
{
	JoinPathExtraData extra = *pair->extra;
	List	   *clauses = join_search_clauses(&extra, pair->type, pair->joined, outer->parent, inner->parent);
	JoinCostWorkspace workspace;

	if (clauses == NIL || (outer->parallel_workers > 0 && !inner->parallel_safe))
		return NULL;
	/* known of the loop's inner side alone */
	extra.inner_unique &= inner->parent == pair->inner;
	initial_cost_hashjoin(pair->root, &workspace, pair->type, clauses, outer, inner, &extra, false);
	return (Path *) create_hashjoin_path(pair->root, pair->joined, pair->type, &workspace, &extra, outer, inner, false, extra.restrictlist, NULL, clauses);
}

/* The cheapest hash join of a loop's sides, or NULL. */
static Path *
hash_of(const joined_pair *pair, const JoinPath *loop)
{
	Path	   *outer = loop->outerjoinpath;
	Path	   *inner = IsA(loop->innerjoinpath, MaterialPath) ? ((MaterialPath *) loop->innerjoinpath)->subpath : loop->innerjoinpath;
	Path	   *hash = make_hash(pair, outer, inner);
	Path	   *turned = pair->type == JOIN_INNER && outer->parallel_workers == 0 ? make_hash(pair, inner, outer) : NULL;

	return hash == NULL || (turned && turned->total_cost < hash->total_cost) ? turned : hash;
}

/* The paths that are left of some without such loops; hash joins in their place are added to *hashes. */
static List *
without_loops(const joined_pair *pair, List *paths, List **hashes)
{
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, paths)
	{
		Path	   *path = lfirst(cell);
		Path	   *hash = is_full_loop(path, pair->outer, pair->inner) ? hash_of(pair, (JoinPath *) path) : NULL;

		if (hash && hash->total_cost < path->total_cost * HASH_TIMES)
			*hashes = lappend(*hashes, hash);
		else
			left = lappend(left, path);
	}
	return left;
}

static void
replace_loops(PlannerInfo *root, RelOptInfo *joined, RelOptInfo *outer, RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	joined_pair pair = {root, joined, outer, inner, type, extra};
	List	   *hashes = NIL;
	List	   *partial = NIL;
	ListCell   *cell;

	if (previous_hook)
		previous_hook(root, joined, outer, inner, type, extra);
	if (!mgpu_setting_enable_hashed_loops || !enable_hashjoin || (type != JOIN_INNER && type != JOIN_LEFT && type != JOIN_SEMI && type != JOIN_ANTI))
		return;
	joined->pathlist = without_loops(&pair, joined->pathlist, &hashes);
	joined->partial_pathlist = without_loops(&pair, joined->partial_pathlist, &partial);
	foreach(cell, hashes)
		add_path(joined, lfirst(cell));
	foreach(cell, partial)
		add_partial_path(joined, lfirst(cell));
}

void
hashed_loops_init(void)
{
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = replace_loops;
}

/*
 * offers.h
 *		Where nodes are offered to the planner.
 */
#ifndef MGPU_QUERY_OFFERS_H
#define MGPU_QUERY_OFFERS_H

#include "query/top_task.h"

/* Let the planner ask about MgpuGroup, and about the nodes that sort rows.  Called once, when the library is loaded. */
extern void group_path_init(void);
extern void top_path_init(void);

/* Let the planner ask about MgpuScan. */
extern void scan_offer_init(void);

/* Offer it for a joined relation whose other paths are all known.  joins: its rows by a job, or NULL. */
extern void scan_offer_joined(PlannerInfo *root, RelOptInfo *joined, Path *joins);

/* Leave out paths that group what it returns, where a job groups: that has no rows to return, however many they are. */
extern void scan_offer_withdraw(RelOptInfo *grouped);

/* Make joins of NOT IN of subqueries. */
extern void not_in_rewrite(Query *query);

/* A copy of a query that has groups for subqueries which aggregate; NULL: there are none.  Whether its plan is to run, and not that of before; NULL: whether any could be. */
extern Query *correlated_rewrite(const Query *query);
extern bool correlated_is_better(const PlannedStmt *plan, const PlannedStmt *before);

/* Whether a query has windows of all its rows.  Have aggregates over these be subqueries; false: it has none that can be. */
extern bool whole_windows_are_in(const Query *query);
extern bool whole_windows_rewrite(Query *query);

/* Put hash joins in the place of nested loops that read all of a side for each row. */
extern void hashed_loops_init(void);

/* Keep joins that jobs may do (query/join_search.h). */
extern void join_search_init(void);

/* The next ones return why a node is not taken, NULL if it is the cheapest so far. */

/* Offer MgpuSort in place of an ORDER BY's Sort, or of the Sort below a relation's paths. */
extern const char *sort_offer(const top_task *task, const SortPath *sort, RelOptInfo *output_rel);
extern void sort_offer_below(PlannerInfo *root, RelOptInfo *rel);

/* A copy of a relation's path over an MgpuSort, which nobody has yet; or NULL, and why. */
extern Path *sort_path_below(PlannerInfo *root, const RelOptInfo *rel, bool of_windows, const char **reason);

/* Offer MgpuWindow in place of a relation's WindowAgg, over an MgpuSort, and MgpuSort alone below that.  *no_window: why not the former. */
extern const char *window_offer(PlannerInfo *root, RelOptInfo *rel, const char **no_window);

/* Where windows have several orders: offer nodes for those below the last Sort, from the lowest on. */
extern void window_offer_lower(PlannerInfo *root, RelOptInfo *rel);

/* The Sort of a relation's cheapest path that has one, or NULL; above is that path. */
extern const SortPath *sort_of_rel(const RelOptInfo *rel, const Path **above);

/* Add a copy of such a path with another in place of its Sort. */
extern const char *sort_add_copy(RelOptInfo *rel, const Path *above, const SortPath *sort, Path *instead);

/* A path that does what a Sort does, and computes target.  NULL: there is none, and *reason says why. */
extern Path *sort_make_path(const top_task *task, const SortPath *sort, PathTarget *target, const char **reason);

/* Add a path to a relation. */
extern const char *sort_add_path(RelOptInfo *rel, Path *path);

#endif							/* MGPU_QUERY_OFFERS_H */

/*
 * group_offer.h
 *		What MgpuGroup nodes are offered for: a grouping of a relation's rows (group_offer.c), or several sets of them (set_paths.c).
 */
#ifndef MGPU_QUERY_GROUP_OFFER_H
#define MGPU_QUERY_GROUP_OFFER_H

#include "query/group_task.h"

/* What a path is added to, and for what. */
typedef struct group_offer
{
	group_task	task;
	RelOptInfo *input_rel;
	RelOptInfo *output_rel;
	PathTarget *target;
	double		num_rows;
	double		num_groups;
	bool		folds;			/* rows are to be folded as they come */
	Cost		uncounted;		/* by PostgreSQL's own plan */
	Path	   *rows;			/* of the input, with the columns that the node reads ... */
	table_executor executor;	/* ... and who is expected to read them in one process */
	List	   *paths;			/* of the node: the first is that of one process */
} group_offer;

/* Make the paths of the node, for a task that is made.  Returns why there are none, or NULL. */
extern const char *group_offer_make(group_offer *offer);

extern Path *group_offer_cheapest(const List *paths);

/* Where the node is forced, a path costs less than any other plan's; of several of the node's, the cheapest is taken all the same. */
extern void group_offer_favour(Path *path);

/* Add paths to a relation; by_job: the first is one of a job.  Returns why none of them is taken, or NULL: one is the cheapest so far. */
extern const char *group_offer_add(RelOptInfo *rel, List *paths, bool by_job);

/* Offer nodes for all grouping sets.  Returns as above. */
extern const char *set_paths_offer(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel);

#endif							/* MGPU_QUERY_GROUP_OFFER_H */

/*
 * sort.h
 *		MgpuSort, a plan node that sorts rows.
 *
 * Contents of its CustomScan: those of MgpuTop (top.h), without partition keys and a window function.
 */
#ifndef MGPU_PLAN_SORT_H
#define MGPU_PLAN_SORT_H

#include "nodes/extensible.h"

#include "plan/row_order.h"
#include "plan/row_source.h"
#include "plan/top_task.h"

extern const CustomScanMethods sort_scan_methods;

/* Offer the node in place of an ORDER BY's Sort.  Returns why it is not taken, NULL if it is the cheapest so far. */
extern const char *sort_offer(const top_task *task, const SortPath *sort, RelOptInfo *output_rel);

/* Offer it in place of the Sort below a relation's paths, likewise. */
extern const char *sort_offer_below(PlannerInfo *root, RelOptInfo *rel);

/* Called once, when the library is loaded. */
extern void sort_path_init(void);

/* A running node. */
typedef struct sort_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	row_source *source;
	chunk	   *rows;
	Size		row_bytes;		/* most memory that a row takes, but for its values of variable width */
	row_order	order;
	group_input input;			/* one group; its context has all memory derived from the rows */
	const uint32 *numbers;		/* of the rows, in order */
	uint64		place;			/* rows up to the one that was returned last */
	bool		at_end;			/* none is left behind it, and that has been said */
	bool		goes_back;		/* rows may be asked for backward */
	struct Tuplesortstate *tuplesort;	/* has all rows if they do not fit, else NULL */
	TupleTableSlot *spilled;	/* a row of it */
	bool		sorted;			/* all rows have been read and sorted */

	/* for EXPLAIN */
	Size		most_bytes;
	const char *executor;
	const char *algorithm;
	int			num_threads;
} sort_state;

/* ExplainCustomScan (sort_explain.c). */
extern void sort_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

#endif							/* MGPU_PLAN_SORT_H */

/*
 * group_task.h
 *		What a query asks an MgpuGroup node to compute.
 */
#ifndef MGPU_QUERY_GROUP_TASK_H
#define MGPU_QUERY_GROUP_TASK_H

#include "query/grouping_sets.h"
#include "query/table_job.h"

typedef struct group_task
{
	PlannerInfo *root;
	const char *why_not;		/* a clause, once the node cannot do it */

	List	   *keys;			/* grouping expressions */
	List	   *equalities;		/* their equality operators */
	List	   *outputs;		/* the scan tuple: keys, other expressions of the group's first row, Aggrefs */
	List	   *uses;			/* for each output a list of column numbers: its own, or those of an Aggref (group.h) */
	List	   *firsts;			/* as a query has it */
	List	   *having;			/* to be true of a group */
	List	   *columns;		/* expressions that the child computes, each once */
	Bitmapset  *looked_into;	/* numbers of columns whose values are compared or copied into arrays */

	Size		record_bytes;	/* estimate of a row's columns */
	Size		beside_bytes;	/* and of what aggregates hold beside them */
	bool		sorts;			/* an aggregate sorts */
	bool		folds;			/* no aggregate needs a row twice */
	bool		combines;		/* states of workers can be combined */
	bool		merges;			/* groups of a job can be merged to groups of fewer keys (core/group_merge.h) */
	int			shared;			/* as a query has it ... */
	List	   *values;			/* ... once group_values_plan has made them */
	int			num_fed;		/* aggregates whose own functions are called, or that put rows into arrays as they come */
	double		copies;			/* columns whose values are by reference; computed ones count for more */
	int			num_states;		/* of folded groups, at most */
	double		operators;		/* cost of a row's aggregates, in units of cpu_operator_cost */
	table_executor executor;	/* who is expected to do all of it for the path that is made */
} group_task;

/*
 * Find out what a GROUP BY, plain aggregates or a DISTINCT ask for; target is what is to be
 * returned.  False: the node cannot do it, and why_not says why.
 */
extern bool group_task_of_grouping(group_task *task, PlannerInfo *root, const grouping *grouping);
extern bool group_task_of_distinct(group_task *task, PlannerInfo *root, const PathTarget *target);

/* For each output, whether the expressions have it as (array_agg(x ORDER BY y))[1] alone; NIL: none is so (group_firsts.c). */
extern List *group_firsts(const List *outputs, List *exprs);

/* The numbers of columns that are only handed on, or counted: their values may stay as the table has them. */
extern List *group_task_stored(const group_task *task);

#endif							/* MGPU_QUERY_GROUP_TASK_H */

/*
 * table_job.h
 *		Table jobs: what a GPU can read and compute of a table.
 *
 * The planner and the executor ask the same function whether a query and the scan below its node make such a job, so they
 * agree.  Only what the planner cannot know is an argument of its own.
 */
#ifndef MGPU_QUERY_TABLE_JOB_H
#define MGPU_QUERY_TABLE_JOB_H

#include "nodes/pathnodes.h"

#include "core/group_spec.h"
#include "query/query.h"
#include "scan/heap_reader.h"

/* Why there is no job, for EXPLAIN. */
#define TABLE_JOB_NONE "a GPU does no statements of this kind"

/* The part of a row's cost above its page that is left if a GPU does the work. */
#define TABLE_JOB_PART 0.05

/* Compute the fraction of an output that is a percentile.  False: it is NULL. */
typedef bool (*table_fraction_fn) (void *context, int output, double *fraction);

typedef struct table_question
{
	const query *query;
	table_scan	scan;
	List	   *outputs;		/* MgpuGroup: the expressions of its scan tuple */
	table_fraction_fn fraction;	/* NULL: the plan does not run yet, and parameters are not known */
	void	   *context;		/* its argument */
} table_question;

typedef struct table_job
{
	mgpu_group_spec *spec;		/* all but where attributes are and the values of constants (scan/heap_sender.h) */
	bool		needs_row;		/* a constant may be computed only if there is a row to compare with it */
	List	   *columns;		/* of each column of the node's rows: the spec's */
	List	   *sorts;			/* of each aggregate, all outputs but the keys: the spec's sort, or -1 */
	List	   *percentiles;	/* and the percentile of that sort, or -1 */
} table_job;

/* Make a job, whose spec the caller has, in the current context.  Returns NULL, or a constant clause: why there is none. */
extern const char *table_job_make(table_job *job, const table_question *question);

/* Whether a GPU is expected to do what a node is to do with a path's rows (table_job_path.c).  outputs: as above. */
extern bool table_job_is_likely(PlannerInfo *root, const Path *rows, const query *query, List *outputs);

/* The cost of such a path's rows, where it is likely. */
extern Cost table_job_scan_cost(const Path *rows);

#endif							/* MGPU_QUERY_TABLE_JOB_H */

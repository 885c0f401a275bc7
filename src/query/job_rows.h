/*
 * job_rows.h
 *		Which rows a node's path reads: those of a path of PostgreSQL's, or those that a table job reads best.
 */
#ifndef MGPU_QUERY_JOB_ROWS_H
#define MGPU_QUERY_JOB_ROWS_H

#include "query/table_job.h"

/* What a node is to do with its rows. */
typedef struct job_wish
{
	const query *query;
	List	   *columns;		/* expressions that it reads */
	List	   *outputs;		/* of MgpuGroup */
	double		num_results;
} job_wish;

/* A path with the columns over a path or, if that costs less, over what join_search.h has of its relation.  *executor: who would read it. */
extern Path *job_rows(PlannerInfo *root, Path *source, const job_wish *wish, table_executor *executor);

#endif							/* MGPU_QUERY_JOB_ROWS_H */

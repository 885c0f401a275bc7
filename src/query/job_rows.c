/*
 * job_rows.c
 *		Which rows a node's path reads.
 *
 * PostgreSQL's cheapest path may be one of workers, or end in an index, and then no job can do it.  The same rows from a scan, or from
 * hash joins in another order, may cost less as a job.
 */
#include "postgres.h"

#include "compat.h"
#include "query/job_rows.h"
#include "query/join_search.h"
#include "query/scan_path.h"

/* A path over some rows, and what it costs by whoever would read it. */
static Path *
rows_over(PlannerInfo *root, Path *source, const job_wish *wish, table_executor *executor, Cost *cost)
{
	Path	   *rows = scan_path(root, source, wish->columns);

	*executor = table_job_expected(root, rows, wish->query, wish->outputs, wish->num_results);
	*cost = *executor == TABLE_BY_NOBODY ? rows->total_cost : table_job_node_cost(root, rows, *executor);
	return rows;
}

Path *
job_rows(PlannerInfo *root, Path *source, const job_wish *wish, table_executor *executor)
{
	table_executor of_job = TABLE_BY_NOBODY;
	Cost		cost;
	Cost		job_cost;
	Path	   *rows = rows_over(root, source, wish, executor, &cost);
	Path	   *other;

	other = join_search_path(root, source->parent);
	/* of one table there is nothing better */
	if (*executor != TABLE_BY_NOBODY && IS_SIMPLE_REL(source->parent) && other && nodeTag(other) == nodeTag(source))
		return rows;
	if (other)
		other = rows_over(root, other, wish, &of_job, &job_cost);
	if (other == NULL || of_job == TABLE_BY_NOBODY)
		return rows;
	/* an MgpuScan has its rows by a job that could do more */
	if (job_cost >= cost && !scan_path_is_found(source))
		return rows;
	*executor = of_job;
	return other;
}

/*
 * table_job_path.c
 *		Whether a GPU is expected to read the rows of a path, to group or to sort them, and what that costs.
 *
 * The planner asks, so that it does not prefer workers that would take longer.
 */
#include "postgres.h"

#include "access/table.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "compat.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "settings.h"

/* The part of a row's cost on its page that is left. */
#define SCAN_PART 0.02

/* The scan of a whole table by one process, or NULL. */
static const Path *
scan_of(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return path->pathtype == T_SeqScan && !path->parallel_aware ? path : NULL;
}

static bool
makes_job(PlannerInfo *root, const RelOptInfo *rel, table_question *question)
{
	Relation	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	mgpu_group_spec spec;
	table_job	job = {.spec = &spec};
	bool		is_made;

	question->scan.relation = relation;
	is_made = heap_reader_reads(relation) && table_job_make(&job, question) == NULL;
	table_close(relation, NoLock);
	return is_made;
}

bool
table_job_is_likely(PlannerInfo *root, const Path *rows, const query *query, List *outputs)
{
	const Path *scan = scan_of(rows);
	table_question question = {.query = query,.outputs = outputs,.scan.columns = rows->pathtarget->exprs};

	if (!mgpu_setting_enable_columns || !run_may_use_gpu() || scan == NULL)
		return false;
	/* a condition without columns is tested above the scan, so that rows come one by one */
	if (extract_actual_clauses(scan->parent->baserestrictinfo, true))
		return false;
	question.scan.conditions = extract_actual_clauses(scan->parent->baserestrictinfo, false);
	return makes_job(root, scan->parent, &question) && run_would_use_gpu(rows->rows);
}

Cost
table_job_scan_cost(const Path *rows)
{
	const RelOptInfo *rel = scan_of(rows)->parent;
	Cost		per_page = 0;

	get_tablespace_page_costs(rel->reltablespace, NULL, &per_page);
	return rel->pages * per_page + SCAN_PART * rel->tuples * (cpu_tuple_cost + rel->baserestrictcost.per_tuple);
}

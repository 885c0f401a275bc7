/*
 * scan_offer.c
 *		Offers MgpuScan nodes (scan_node.c) to the planner: in place of the scan of a table with conditions, and of joins.
 *
 * So PostgreSQL's own nodes above get their rows from a job, whatever they do with them, and a statement with nothing above gets them too.
 * All rows are found before the first is returned: the planner knows, by the cost of the start, and takes none where few are wanted.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "declined.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/join_path.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "settings.h"

/* Returning a row, in units of cpu_operator_cost: measured, as long as a scan takes to read two. */
#define RETURN_COST 4.0

static set_rel_pathlist_hook_type previous_hook;

/*
 * Whether the statement may have rows from a job.  One that locks or changes rows may look at some of them once more, each by itself, when somebody
 * else has changed them: a scan does that, and a job of all rows cannot.
 */
static bool
takes_jobs(const PlannerInfo *root)
{
	CmdType		command = root->parse->commandType;

	return mgpu_setting_enable_scan != MGPU_ENABLE_OFF && mgpu_setting_enable_columns && (command == CMD_SELECT || command == CMD_INSERT) &&
		root->rowMarks == NIL;
}

/*
 * Whether a relation has all that a query joins.  A part of it by a job was tried: then PostgreSQL joins the rest one by one, since it expects far fewer
 * rows than come, and half of TPC-DS took twice as long.
 */
static bool
is_whole(const PlannerInfo *root, const RelOptInfo *rel)
{
	return bms_equal(rel->relids, mgpu_query_relids(root));
}

static bool
are_columns(List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
		if (!custom_plan_is_simple(lfirst(cell)) || get_typtype(exprType(lfirst(cell))) == TYPTYPE_PSEUDO)
			return false;
	return exprs != NIL;
}

/* rows: as the job has them; cost: what it takes to find them. */
static Path *
make_path(const Path *rows, query *query, table_executor executor, Cost cost)
{
	RelOptInfo *rel = rows->parent;
	List	   *columns = rows->pathtarget->exprs;
	CustomPath *path = custom_plan_path(&(node_path) {
		.query = query,
		.entries = columns,
		.rel = rel,
		.target = rel->reltarget,
		.child = (Path *) rows,
		.goes_back = true
	});

	path->path.rows = rel->rows;
	path->path.startup_cost = START_COST + cost +
		rel->rows * COLUMN_COST * list_length(columns) * cpu_operator_cost * table_job_part(executor);
	path->path.total_cost = path->path.startup_cost + rel->rows * RETURN_COST * cpu_operator_cost;
	mgpu_take_disabled_nodes(&path->path, rows);
	/* below any other plan's */
	if (mgpu_setting_enable_scan == MGPU_ENABLE_FORCE)
	{
		path->path.startup_cost /= 1e6;
		path->path.total_cost /= 1e6;
	}
	return &path->path;
}

/* What the planner's best path so far costs. */
static Cost
least_cost(const RelOptInfo *rel)
{
	Cost		cost = HUGE_VAL;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (path->param_info == NULL)
			cost = Min(cost, path->total_cost);
	}
	return cost;
}

static const char *const is_slower = "PostgreSQL's own plan is expected to be faster";

/* A path of a relation, whose rows are those of source, if it costs less than all others.  NULL: it does not, and *why_not says why. */
static Path *
offered_path(PlannerInfo *root, RelOptInfo *rel, Path *source, const char **why_not)
{
	query	   *query = query_create(QUERY_SCAN);
	List	   *columns = rel->reltarget->exprs;
	table_executor likely = run_may_use_gpu() ? TABLE_BY_GPU : TABLE_BY_THREADS;
	table_executor executor;
	Path	   *rows;
	Path	   *path;

	*why_not = "a column has a pseudo-type or no simple expression, or there is none";
	if (!are_columns(columns))
		return NULL;
	rows = scan_path(root, source, columns);
	/* making a job takes long beside planning a join */
	*why_not = is_slower;
	if (mgpu_setting_enable_scan != MGPU_ENABLE_FORCE && table_job_node_cost(root, rows, likely) >= least_cost(rel))
		return NULL;
	executor = table_job_expected(root, rows, query, NIL, rel->rows);
	*why_not = "no job reads these rows";
	if (executor == TABLE_BY_NOBODY)
		return NULL;
	path = make_path(rows, query, executor, table_job_node_cost(root, rows, executor));
	*why_not = path->total_cost < least_cost(rel) ? NULL : is_slower;
	return *why_not ? NULL : path;
}

/* add_path would free paths that others may have below them. */
void
scan_offer_joined(PlannerInfo *root, RelOptInfo *joined, Path *joins)
{
	const char *why_not;
	Path	   *path = joins && is_whole(root, joined) && takes_jobs(root) ? offered_path(root, joined, joins, &why_not) : NULL;

	if (path == NULL)
		return;
	joined->pathlist = lcons(path, joined->pathlist);
	set_cheapest(joined);
}

/* Without conditions, a job is only one more that has the rows in hand. */
static void
rel_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *entry)
{
	const char *why_not;
	Path	   *scan;
	Path	   *path;

	if (previous_hook)
		previous_hook(root, rel, rti, entry);
	if (rel->reloptkind != RELOPT_BASEREL || entry->rtekind != RTE_RELATION || rel->baserestrictinfo == NIL || IS_DUMMY_REL(rel) ||
		!is_whole(root, rel) || !takes_jobs(root))
		return;
	scan = scan_path_of_table(root, rel);
	if (scan == NULL || !(run_may_use_gpu() || table_job_has_threads(join_path_rows_read(join_path_scans(scan)), false)))
		return;
	path = offered_path(root, rel, scan, &why_not);
	if (path)
		add_path(rel, path);
	report_offer(root, DECLINED_SCAN, why_not);
}

void
scan_offer_withdraw(RelOptInfo *grouped)
{
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, grouped->pathlist)
		if (!scan_path_is_found(lfirst(cell)))
			left = lappend(left, lfirst(cell));
	grouped->pathlist = left;
}

void
scan_offer_init(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_paths;
}

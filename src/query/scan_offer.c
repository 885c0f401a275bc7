/*
 * scan_offer.c
 *		Offers MgpuScan nodes (scan_node.c) to the planner: in place of the scan of a table with conditions, of joins, and of windows with conditions.
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
#include "optimizer/planner.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "declined.h"
#include "query/costs.h"
#include "query/custom_plan.h"
#include "query/join_path.h"
#include "query/offers.h"
#include "query/scan_path.h"
#include "query/slow_functions.h"
#include "query/table_job.h"
#include "query/window_columns.h"
#include "run/run_table.h"
#include "settings.h"

/* Returning a row, in units of cpu_operator_cost: measured, as long as a scan takes to read two. */
#define RETURN_COST 4.0

static set_rel_pathlist_hook_type previous_rel_hook;
static create_upper_paths_hook_type previous_upper_hook;

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

/* What a path is made for. */
typedef struct scan_offer
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* whose path it is */
	PathTarget *target;
	List	   *columns;		/* that this is computed of */
	Path	   *source;			/* has the rows */
	const char *why_not;		/* there is none */
} scan_offer;

/* What calls above the node take, where groups are made of its rows: workers would make some of these, and share the calls. */
static Cost
calls_cost(const scan_offer *offer)
{
	const Query *parse = offer->root->parse;

	if (!parse->hasAggs && parse->groupClause == NIL && parse->distinctClause == NIL)
		return 0;
	return slow_functions_cost(offer->root, offer->source, parse->targetList);
}

/* rows: as the job has them; cost: what it takes to find them. */
static Path *
make_path(const scan_offer *offer, Path *rows, query *query, table_executor executor)
{
	double		num_rows = offer->source->parent->rows;
	CustomPath *path = custom_plan_path(&(node_path) {
		.query = query,
		.entries = offer->columns,
		.rel = offer->rel,
		.target = offer->target,
		.child = rows,
		.goes_back = true
	});

	path->path.rows = num_rows;
	path->path.startup_cost = START_COST + table_job_node_cost(offer->root, rows, executor) + offer->target->cost.startup +
		num_rows * COLUMN_COST * list_length(offer->columns) * cpu_operator_cost * table_job_part(executor);
	path->path.startup_cost += calls_cost(offer);
	path->path.total_cost = path->path.startup_cost + num_rows * (RETURN_COST * cpu_operator_cost + offer->target->cost.per_tuple);
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

/* A path that costs less than all others of the relation, or NULL. */
static Path *
offered_path(scan_offer *offer)
{
	PlannerInfo *root = offer->root;
	query	   *query = query_create(QUERY_SCAN);
	table_executor likely = run_may_use_gpu() ? TABLE_BY_GPU : TABLE_BY_THREADS;
	table_executor executor;
	Path	   *rows;
	Path	   *path;

	offer->why_not = "a column has a pseudo-type or no simple expression, or there is none";
	if (!are_columns(offer->columns))
		return NULL;
	rows = scan_path(root, offer->source, offer->columns);
	/* making a job takes long beside planning a join */
	offer->why_not = is_slower;
	if (mgpu_setting_enable_scan != MGPU_ENABLE_FORCE && table_job_node_cost(root, rows, likely) >= least_cost(offer->rel))
		return NULL;
	executor = table_job_expected(root, rows, query, NIL, rows->rows);
	offer->why_not = "no job reads these rows";
	if (executor == TABLE_BY_NOBODY)
		return NULL;
	query->by_job = true;
	path = make_path(offer, rows, query, executor);
	offer->why_not = path->total_cost < least_cost(offer->rel) ? NULL : is_slower;
	return offer->why_not ? NULL : path;
}

/* add_path would free paths that others may have below them. */
void
scan_offer_joined(PlannerInfo *root, RelOptInfo *joined, Path *joins)
{
	scan_offer	offer = {.root = root,.rel = joined,.target = joined->reltarget,.columns = joined->reltarget->exprs,.source = joins};
	Path	   *path = joins && is_whole(root, joined) && takes_jobs(root) ? offered_path(&offer) : NULL;

	if (path == NULL)
		return;
	joined->pathlist = lcons(path, joined->pathlist);
	set_cheapest(joined);
}

/* Offer a path of a query's only table, if it has conditions: without, a job is only one more that has the rows in hand. */
static void
offer_table(scan_offer *offer, RelOptInfo *table)
{
	Path	   *path;

	if (table->baserestrictinfo == NIL || IS_DUMMY_REL(table) || !is_whole(offer->root, table) || !takes_jobs(offer->root))
		return;
	offer->source = scan_path_of_table(offer->root, table);
	if (offer->source == NULL ||
		!(run_may_use_gpu() || table_job_has_threads(join_path_rows_read(join_path_scans(offer->source)))))
		return;
	path = offered_path(offer);
	if (path)
		add_path(offer->rel, path);
	report_offer(offer->root, DECLINED_SCAN, offer->why_not);
}

/* The same of a query's only subquery, whose windows have conditions above. */
static void
offer_windows(scan_offer *offer, RelOptInfo *subquery)
{
	Path	   *path;

	if (subquery->baserestrictinfo == NIL || !is_whole(offer->root, subquery) || !takes_jobs(offer->root))
		return;
	offer->source = window_columns_source(subquery);
	if (offer->source == NULL)
		return;
	path = offered_path(offer);
	if (path)
		add_path(offer->rel, path);
	report_offer(offer->root, DECLINED_SCAN, offer->why_not);
}

static void
rel_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *entry)
{
	scan_offer	offer = {.root = root,.rel = rel,.target = rel->reltarget,.columns = rel->reltarget->exprs};

	if (previous_rel_hook)
		previous_rel_hook(root, rel, rti, entry);
	if (rel->reloptkind == RELOPT_BASEREL && entry->rtekind == RTE_RELATION && !IS_PARTITIONED_REL(rel))
		offer_table(&offer, rel);
	else if (rel->reloptkind == RELOPT_BASEREL && entry->rtekind == RTE_SUBQUERY)
		offer_windows(&offer, rel);
}

/* The planner drops a partitioned table's paths when it computes the target, so there the node has nothing above. */
static void
upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	scan_offer	offer = {.root = root,.rel = output_rel,.target = root->upper_targets[UPPERREL_FINAL]};
	ListCell   *cell;

	if (previous_upper_hook)
		previous_upper_hook(root, stage, input_rel, output_rel, extra);
	if (stage != UPPERREL_FINAL || input_rel->reloptkind != RELOPT_BASEREL || !IS_PARTITIONED_REL(input_rel) ||
		root->parse->commandType != CMD_SELECT || root->parse->limitCount || root->parse->limitOffset || root->parse->hasTargetSRFs)
		return;
	/* scans compute the target by now, and the node its constants */
	foreach(cell, offer.target->exprs)
		if (!IsA(lfirst(cell), Const))
			offer.columns = lappend(offer.columns, lfirst(cell));
	offer_table(&offer, input_rel);
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
	previous_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_paths;
	previous_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
}

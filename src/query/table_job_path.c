/*
 * table_job_path.c
 *		Whether a GPU is expected to read the rows of a path, to group or to sort them, and what that costs.
 *
 * The planner asks, so that it does not prefer workers that would take longer.
 */
#include "postgres.h"

#include "access/table.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "compat.h"
#include "query/join_exprs.h"
#include "query/join_path.h"
#include "query/join_search.h"
#include "query/look_ups.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "query/window_columns.h"
#include "run/run_table.h"
#include "settings.h"

/* The part that a GPU leaves of a row's cost above its page, and one thread: it takes longer than the node does with rows of its own. */
#define GPU_PART 0.05
#define THREAD_PART 1.2

/*
 * A row of a build, beyond being read, in units of cpu_operator_cost: its place is found, and each column is copied and becomes a cell.
 * Measured: 130 ns with one column, 330 with two of which one is a text; of a side that a job reads, 30 where the build fits a cache, else 100.
 */
#define BUILD_COST 4.0
#define BUILD_COLUMN_COST 4.0
#define BUILD_CELLS_COST 5.0
#define BUILD_CELL_COST 0.5

/* Words for texts of a build's columns, by statistics. */
static int *
words_of(PlannerInfo *root, const List *vars)
{
	int		   *words = palloc(list_length(vars) * sizeof(int) + 1);
	ListCell   *cell;

	foreach(cell, vars)
	{
		const Var  *var = lfirst(cell);
		const RangeTblEntry *table = planner_rt_fetch(var->varno, root);

		words[foreach_current_index(cell)] = table_job_words_of(var, table->rtekind == RTE_RELATION ? table->relid : InvalidOid);
	}
	return words;
}

/* Tables of a side, as table_join has them. */
static int
num_tables_of(PlannerInfo *root, const Path *side)
{
	int			number = 1;
	List	   *joins;
	ListCell   *cell;

	(void) join_path_stream(root, side, &joins);
	foreach(cell, joins)
		number += num_tables_of(root, join_path_side(lfirst(cell)));
	return number;
}

/* The number of a variable's table among those; -1: rows of its side are read one by one. */
static int
table_of(PlannerInfo *root, const Path *side, const Var *var)
{
	int			number = 1;
	List	   *joins;
	ListCell   *cell;

	if (!join_path_reads_side(root, side))
		return -1;
	(void) join_path_stream(root, side, &joins);
	foreach(cell, joins)
	{
		const Path *below = join_path_side(lfirst(cell));

		if (bms_is_member(var->varno, below->parent->relids))
		{
			int			table = table_of(root, below, var);

			return table < 0 ? -1 : number + table;
		}
		number += num_tables_of(root, below);
	}
	return 0;
}

static int *
tables_of(PlannerInfo *root, const Path *side, const List *vars)
{
	int		   *tables = palloc(list_length(vars) * sizeof(int) + 1);
	ListCell   *cell;

	if (!join_path_reads_side(root, side))
		return NULL;
	foreach(cell, vars)
		tables[foreach_current_index(cell)] = table_of(root, side, lfirst(cell));
	return tables;
}

/* The joins whose expressions these are. */
static List *
joins_of(PlannerInfo *root, const List *exprs, const List *joins)
{
	List	   *made = NIL;
	ListCell   *cell;

	foreach(cell, joins)
	{
		const HashPath *hash = lfirst(cell);
		const JoinPath *path = &hash->jpath;
		const List *own = list_nth(exprs, 1 + foreach_current_index(cell));
		table_join *join = palloc(sizeof(table_join));

		*join = (table_join) {
			.type = path->jointype,.is_turned = join_path_is_turned(hash),
			.may_repeat = join_path_is_turned(hash) || table_join_may_repeat(path->jointype, path->inner_unique, lsecond(own) != NIL),
			.clauses = linitial(own),.match_conditions = lsecond(own),.conditions = lthird(own),.words = words_of(root, lfourth(own)),
			.one_by_one = !join_path_reads_side(root, join_path_side(hash)),
			.tables = tables_of(root, join_path_side(hash), lfourth(own)),.num_tables = num_tables_of(root, join_path_side(hash)),
			.num_rounds = 1
		};
		made = lappend(made, join);
	}
	return made;
}

/* Make the job of a scan whose rows have the columns and joins of these expressions (join_path.h). */
static bool
makes_job(PlannerInfo *root, const Path *scan, List *exprs, const List *joins, table_question *question, table_job *job)
{
	Relation	relation = table_open(planner_rt_fetch(scan->parent->relid, root)->relid, NoLock);
	Oid			widths = question->widths ? RelationGetRelid(question->widths) : InvalidOid;
	bool		is_made;

	question->scan = (table_scan) {
		.relation = relation,.columns = linitial(exprs),.conditions = extract_actual_clauses(scan->parent->baserestrictinfo, false),
		.joins = joins_of(root, exprs, joins)
	};
	if (!OidIsValid(widths))
		question->widths = relation;
	is_made = heap_reader_reads(relation) && table_job_make(job, question) == NULL;
	table_close(relation, NoLock);
	/* a condition without columns is tested above the scan, so that rows come one by one */
	return is_made && extract_actual_clauses(scan->parent->baserestrictinfo, true) == NIL;
}

/* Expressions of an Append's rows as one of its scans has them, or NIL. */
static List *
exprs_of_scan(PlannerInfo *root, const Path *append, const Path *scan, List *exprs)
{
	RelOptInfo *parent = append->parent;

	if (scan == append)
		return exprs;
	if (parent->reloptkind != RELOPT_BASEREL || scan->parent->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return NIL;
	return (List *) mgpu_adjust_to_child(root, (Node *) exprs, scan->parent, parent);
}

/* The job of all scans, or NULL.  Their rows have the columns of `rows`, by the names of each table. */
static mgpu_group_spec *
make_one_job(PlannerInfo *root, const Path *rows, List *scans, table_question *question)
{
	mgpu_group_spec *specs = palloc(2 * sizeof(mgpu_group_spec));
	List	   *joins;
	const Path *stream = join_path_stream(root, rows, &joins);
	List	   *exprs = join_exprs_make(root, rows->pathtarget->exprs, joins);
	ListCell   *cell;

	foreach(cell, scans)
	{
		int			number = foreach_current_index(cell);
		const Path *scan = lfirst(cell);
		table_job	job = {.spec = &specs[number > 0]};
		List	   *of_scan = exprs_of_scan(root, stream, scan, exprs);

		if (of_scan == NIL || !makes_job(root, scan, of_scan, joins, question, &job) || (number > 0 && memcmp((const void *) &specs[0], (const void *) &specs[1], sizeof(mgpu_group_spec)) != 0))
			return NULL;
	}
	return specs;
}

/* Whether somebody is expected to find the values of groups that a query wants besides. */
static bool
finds_values(PlannerInfo *root, const Path *rows, const query *of)
{
	ListCell   *cell;

	foreach(cell, of->values)
	{
		const query *values = lfirst(cell);

		if (table_job_expected(root, rows, values, NIL, values->expected) == TABLE_BY_NOBODY)
			return false;
	}
	return true;
}

table_executor
table_job_expected(PlannerInfo *root, const Path *rows, const query *query, List *outputs, double num_results)
{
	List	   *joins;
	const Path *stream = join_path_stream(root, rows, &joins);
	List	   *scans = mgpu_setting_enable_columns ? join_path_scans(stream) : NIL;
	table_question question = {.query = query,.outputs = outputs};
	double		num_read = join_path_rows_read(scans);
	mgpu_group_spec *spec;
	table_executor executor = TABLE_BY_NOBODY;

	question.num_read = num_read;
	question.num_results = num_results;
	/* rows of windows come once */
	if (mgpu_setting_enable_columns && window_columns_below(rows))
		return window_columns_are_taken(rows) && query->values == NIL ? TABLE_BY_THREADS : TABLE_BY_NOBODY;
	if (scans == NIL || list_length(scans) > MGPU_GROUP_MAX_SOURCES || (!run_may_use_gpu() && !table_job_has_threads(num_read)))
		return TABLE_BY_NOBODY;
	spec = make_one_job(root, rows, scans, &question);
	/* of rounds, a GPU would be sent all of a build */
	if (query->as_cells)
		return spec && table_job_may_order(spec, rows->rows) ? TABLE_BY_THREADS : TABLE_BY_NOBODY;
	if (spec && run_may_use_gpu() && run_would_use_gpu(num_read) && join_path_rounds_of(root, joins, 1, NULL) == 1 &&
		table_job_is_for_gpu(spec, num_read, rows->rows))
		executor = TABLE_BY_GPU;
	else if (spec && table_job_is_for_threads(spec, num_read, rows->rows, num_results))
		executor = TABLE_BY_THREADS;
	return executor != TABLE_BY_NOBODY && finds_values(root, rows, query) ? executor : TABLE_BY_NOBODY;
}

/* Who reads a smaller side for a build. */
static table_executor
side_executor(PlannerInfo *root, const Path *side)
{
	List	   *joins;
	double		num_read = join_path_rows_read(join_path_scans(join_path_stream(root, side, &joins)));

	return run_may_use_gpu() && run_would_use_gpu(num_read) ? TABLE_BY_GPU : TABLE_BY_THREADS;
}

/* What a smaller side of a join costs, read and as a build. */
static Cost
side_cost(PlannerInfo *root, const Path *side)
{
	int			num_columns = list_length(side->pathtarget->exprs);
	Cost		known;

	if (join_search_knows_side(side, &known))
		return known;
	if (join_path_reads_side(root, side))
		return table_job_scan_cost(root, side, side_executor(root, side)) + side->rows * (BUILD_CELLS_COST + BUILD_CELL_COST * num_columns) * cpu_operator_cost;
	return side->total_cost - scan_saved_cost(root, side, side->pathtarget->exprs) - scan_cached_saving(root, side) +
		side->rows * (BUILD_COST + BUILD_COLUMN_COST * num_columns) * cpu_operator_cost;
}

Path *
table_job_side(PlannerInfo *root, RelOptInfo *rel, Path *scan, Cost *cost)
{
	Path	   *cheapest = rel->cheapest_total_path;
	Cost		of_scan = scan ? side_cost(root, scan) : 0;

	*cost = side_cost(root, cheapest);
	if (scan == NULL || cheapest->param_info || of_scan >= *cost)
		return cheapest;
	*cost = of_scan;
	return scan;
}

/* The part of rows that a join leaves for the next one's look-ups, at least: fewer are expected than come. */
#define LEAST_LEFT 0.1

/*
 * What reading the smaller sides and looking up so many rows costs; a part of the latter is left.  More rows may come than are looked up, but of a
 * build that is turned, its own; pairs that conditions drop are looked at, too.
 */
static Cost
joins_cost(PlannerInfo *root, const List *joins, double num_rows, double part)
{
	Cost		cost = 0;

	for (int i = list_length(joins) - 1; i >= 0; i--)
	{
		const HashPath *join = list_nth(joins, i);
		double		num_found = join->jpath.path.rows;

		cost += side_cost(root, join_path_side(join)) + part * num_rows * cpu_operator_cost +
			part * Max(Max(num_found, join_path_pairs(root, join)) - join_path_streaming(join)->rows, 0) * cpu_tuple_cost;
		num_rows = join_path_is_turned(join) ? num_found : Max(num_found, num_rows * LEAST_LEFT);
	}
	return cost;
}

double
table_job_part(table_executor executor)
{
	return executor == TABLE_BY_GPU ? GPU_PART : THREAD_PART / run_table_threads();
}

Cost
table_job_node_cost(PlannerInfo *root, const Path *rows, table_executor executor)
{
	return look_ups_beside(root, rows->parent, table_job_scan_cost(root, rows, executor));
}

/* Builds may be so many times as large as is expected, for their keys lie further apart, and rows are more: then they take more rounds. */
#define BUILDS_MARGIN 1.5

Cost
table_job_scan_cost(PlannerInfo *root, const Path *rows, table_executor executor)
{
	List	   *joins;
	const Path *stream = join_path_stream(root, rows, &joins);
	Cost		cost = 0;
	const Path *large = NULL;
	int			num_rounds = join_path_rounds_of(root, joins, BUILDS_MARGIN, &large);
	ListCell   *cell;

	if (window_columns_below(rows))
		return window_columns_cost(rows);

	foreach(cell, join_path_scans(stream))
		cost += scan_path_read_cost(root, lfirst(cell), executor == TABLE_BY_GPU);
	if (num_rounds == 0)
		num_rounds = join_path_rounds_of(root, joins, 1, &large);
	/* each round reads all, and looks its own rows up */
	if (num_rounds > 1)
		cost = num_rounds * cost + (num_rounds - 1) * table_job_scan_cost(root, large, executor);
	return cost + joins_cost(root, joins, stream->rows, scan_path_part(executor == TABLE_BY_GPU));
}

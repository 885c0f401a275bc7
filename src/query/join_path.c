/*
 * join_path.c
 *		Joins in paths of rows that a table job may do.
 *
 * What a plan will have is told from its path.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "query/join_path.h"
#include "query/scan_path.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "scan/heap_reader.h"

/* The part of a table's rows that have to be different: statistics are estimates. */
#define DISTINCT_PART 0.98

const Path *
path_below_projections(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return path;
}

/* ---- sides */

bool
join_path_is_turned(const HashPath *join)
{
	const Path *outer = join->jpath.outerjoinpath;
	const Path *inner = join->jpath.innerjoinpath;
	join_side	sides[2] = {
		{outer->rows, outer->pathtarget->width, false}, {inner->rows, inner->pathtarget->width, join_path_scans(inner) != NIL}
	};

	return table_join_is_turned(join->jpath.jointype, &sides[0], &sides[1]);
}

const Path *
join_path_streaming(const HashPath *join)
{
	return join_path_is_turned(join) ? join->jpath.innerjoinpath : join->jpath.outerjoinpath;
}

const Path *
join_path_side(const HashPath *join)
{
	return join_path_is_turned(join) ? join->jpath.outerjoinpath : join->jpath.innerjoinpath;
}

/* ---- which */

void
join_path_conditions(const HashPath *join, List **of_match, List **of_result)
{
	ListCell   *cell;

	*of_match = *of_result = NIL;
	foreach(cell, join->jpath.joinrestrictinfo)
	{
		RestrictInfo *info = lfirst(cell);
		bool		is_above = join->jpath.jointype == JOIN_INNER ||
			(IS_OUTER_JOIN(join->jpath.jointype) && RINFO_IS_PUSHED_DOWN(info, join->jpath.path.parent->relids));

		if (list_member_ptr(join->path_hashclauses, info))
			continue;
		if (is_above)
			*of_result = lappend(*of_result, info->clause);
		else
			*of_match = lappend(*of_match, info->clause);
	}
}

/* As PostgreSQL estimates it for its own hash joins: as of an inner join. */
double
join_path_pairs(PlannerInfo *root, const HashPath *join)
{
	const Path *outer = join->jpath.outerjoinpath;
	const Path *inner = join->jpath.innerjoinpath;
	SpecialJoinInfo *of_inner = makeNode(SpecialJoinInfo);
	double		num_pairs = outer->rows * inner->rows;
	ListCell   *cell;

	if (list_difference_ptr(join->jpath.joinrestrictinfo, join->path_hashclauses) == NIL)
		return 0;
	of_inner->min_lefthand = of_inner->syn_lefthand = outer->parent->relids;
	of_inner->min_righthand = of_inner->syn_righthand = inner->parent->relids;
	of_inner->jointype = JOIN_INNER;
	foreach(cell, join->path_hashclauses)
		if (!bms_is_empty(lfirst_node(RestrictInfo, cell)->clause_relids))
			num_pairs *= clause_selectivity(root, lfirst(cell), 0, JOIN_INNER, of_inner);
	return num_pairs;
}

/* Whether an expression has another value in each row of its table, by statistics. */
static bool
is_distinct_by_statistics(PlannerInfo *root, Node *expr)
{
	VariableStatData variable;
	bool		is_default;
	double		num_distinct;
	bool		is_distinct;

	examine_variable(root, expr, 0, &variable);
	num_distinct = get_variable_numdistinct(&variable, &is_default);
	is_distinct = variable.rel && variable.rel->reloptkind == RELOPT_BASEREL && !is_default && num_distinct >= variable.rel->tuples * DISTINCT_PART;
	ReleaseVariableStats(variable);
	return is_distinct;
}

/* Whether a row that streams is expected to find one row at most.  Many tables have no unique index, so statistics count. */
static bool
finds_one(PlannerInfo *root, const HashPath *join)
{
	const RelOptInfo *side = join_path_side(join)->parent;
	ListCell   *cell;

	foreach(cell, side->reloptkind == RELOPT_BASEREL ? join->path_hashclauses : NIL)
	{
		const RestrictInfo *info = lfirst(cell);
		const OpExpr *clause = castNode(OpExpr, info->clause);

		if (is_distinct_by_statistics(root, bms_is_subset(info->left_relids, side->relids) ? linitial(clause->args) : lsecond(clause->args)))
			return true;
	}
	return false;
}

static bool
repeats(PlannerInfo *root, const HashPath *join)
{
	List	   *of_match;
	List	   *of_result;

	if (join_path_is_turned(join))
		return !finds_one(root, join);
	if (join->jpath.inner_unique)
		return false;
	join_path_conditions(join, &of_match, &of_result);
	return table_join_may_repeat(join->jpath.jointype, join->jpath.inner_unique, of_match != NIL) && !finds_one(root, join);
}

bool
join_path_repeats(PlannerInfo *root, const List *joins)
{
	ListCell   *cell;

	foreach(cell, joins)
		if (repeats(root, lfirst(cell)))
			return true;
	return false;
}

/* Whether a right or full join may have an outer side: a table, of which no expression is computed below the join. */
static bool
takes_outer(PlannerInfo *root, const Path *outer)
{
	const RelOptInfo *rel = outer->parent;

	return rel->reloptkind == RELOPT_BASEREL && planner_rt_fetch(rel->relid, root)->rtekind == RTE_RELATION &&
		table_join_takes_outer(outer->pathtarget->exprs);
}

static bool
takes_join(PlannerInfo *root, const HashPath *join)
{
	JoinType	type = join->jpath.jointype;

	if (join->jpath.path.parallel_aware)
		return false;
	if (table_join_adds_unmatched(type) && !takes_outer(root, join->jpath.outerjoinpath))
		return false;
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI || table_join_adds_unmatched(type);
}

bool
join_path_is_dense(const List *clauses)
{
	const Node *clause = list_length(clauses) == 1 ? linitial(clauses) : NULL;
	Oid			type;

	if (clause && IsA(clause, RestrictInfo))
		clause = (const Node *) ((const RestrictInfo *) clause)->clause;
	if (clause == NULL || !IsA(clause, OpExpr))
		return false;
	type = exprType(linitial(((const OpExpr *) clause)->args));
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID;
}

/*
 * Bytes that a build takes, as its rows are read and then as a build: cells, which are wider than values, slots and what links rows.  A dense build's
 * cells are most of it.
 */
static double
bytes_of(const build_size *size)
{
	int			of_hashed = size->width + size->width / 4 + 6 * sizeof(uint64);
	int			of_dense = 2 * size->width + 3 * sizeof(uint64);

	return size->num_rows * (size->is_dense ? Min(of_dense, of_hashed) : of_hashed);
}

/* Parts of a build are not all as large as their mean. */
#define ROUND_MARGIN 1.1

int
join_path_rounds_of_bytes(double bytes, double memory)
{
	double		num_rounds = memory > 0 ? ceil(bytes * ROUND_MARGIN / memory) : HUGE_VAL;

	return num_rounds <= MGPU_BUILD_MAX_ROUNDS ? (int) num_rounds : 0;
}

int
join_path_rounds(const build_size *sizes, int num_builds, int *largest)
{
	double		memory = run_table_memory();

	*largest = 0;
	for (int i = 0; i < num_builds; i++)
	{
		memory -= bytes_of(&sizes[i]);
		*largest = bytes_of(&sizes[i]) > bytes_of(&sizes[*largest]) ? i : *largest;
	}
	if (memory >= 0)
		return 1;
	memory += bytes_of(&sizes[*largest]);
	return join_path_rounds_of_bytes(bytes_of(&sizes[*largest]), memory);
}

/* So many times as many rows of a side as are expected, but of a table without conditions: these are known. */
static double
times_of(PlannerInfo *root, const RelOptInfo *side, double times)
{
	return IS_SIMPLE_REL(side) && side->baserestrictinfo == NIL && planner_rt_fetch(side->relid, root)->rtekind == RTE_RELATION ? 1 : times;
}

int
join_path_rounds_of(PlannerInfo *root, const List *joins, double times, const Path **large)
{
	build_size *sizes = palloc(list_length(joins) * sizeof(build_size) + 1);
	const Path *side;
	int			num_rounds;
	int			largest;
	ListCell   *cell;

	foreach(cell, joins)
	{
		const HashPath *hash = lfirst(cell);
		const Path *of_join = join_path_side(hash);

		sizes[foreach_current_index(cell)] = (build_size) {
			.num_rows = of_join->rows * times_of(root, of_join->parent, times),.width = of_join->pathtarget->width,.is_dense = join_path_is_dense(hash->path_hashclauses)
		};
	}
	num_rounds = join_path_rounds(sizes, list_length(joins), &largest);
	if (num_rounds <= 1)
		return num_rounds;
	side = join_path_side(list_nth(joins, largest));
	if (large)
		*large = side;
	return join_path_reads_side(root, side) ? num_rounds : 0;
}

/* Rows of the largest table below a relation. */
static double
largest_table(const PlannerInfo *root, const RelOptInfo *rel)
{
	double		largest = 0;
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		if (root->simple_rel_array[relid])
			largest = Max(largest, root->simple_rel_array[relid]->tuples);
	return largest;
}

/* So many times as few rows are expected of a table that it may be the smaller side, whatever its size. */
#define FEW_TIMES 4

/*
 * Whether the largest table streams through joins of keys that repeat, but for tables of which conditions leave few rows.  Nothing else says which
 * side is the smaller one, for estimates of joined rows may be far from what comes.
 */
static bool
streams_largest(PlannerInfo *root, const Path *stream, const List *joins)
{
	double		num_read = join_path_rows_read(join_path_scans(stream));
	/* an index may name some of its pages */
	double		num_rows = Max(num_read, largest_table(root, stream->parent));
	ListCell   *cell;

	foreach(cell, joins)
	{
		const HashPath *join = lfirst(cell);
		const Path *side = join_path_side(join);
		bool		is_few = side->parent->reloptkind == RELOPT_BASEREL && side->rows * FEW_TIMES <= num_read;

		if (!is_few && repeats(root, join) && largest_table(root, side->parent) > num_rows)
			return false;
	}
	return true;
}

const Path *
join_path_stream(PlannerInfo *root, const Path *rows, List **joins)
{
	*joins = NIL;
	for (rows = path_below_projections(rows); IsA(rows, HashPath); rows = path_below_projections(rows))
	{
		if (!takes_join(root, (const HashPath *) rows))
			return NULL;
		*joins = lappend(*joins, (void *) rows);
		rows = join_path_streaming((const HashPath *) rows);
	}
	return streams_largest(root, rows, *joins) && join_path_rounds_of(root, *joins, 1, NULL) > 0 ? rows : NULL;
}

/* ---- tables */

List *
join_path_scans(const Path *path)
{
	List	   *scans = NIL;
	ListCell   *cell;

	if (path == NULL)
		return NIL;
	path = path_below_projections(path);
	if (!IsA(path, AppendPath))
		return scan_path_is_scan(path) ? list_make1((void *) path) : NIL;
	if (path->parallel_aware)
		return NIL;
	foreach(cell, ((const AppendPath *) path)->subpaths)
	{
		const Path *scan = path_below_projections(lfirst(cell));

		if (!scan_path_is_scan(scan))
			return NIL;
		scans = lappend(scans, (void *) scan);
	}
	return scans;
}

double
join_path_rows_read(const List *scans)
{
	double		num_rows = 0;
	ListCell   *cell;

	foreach(cell, scans)
		num_rows += scan_path_rows_read(lfirst(cell));
	return num_rows;
}

bool
join_path_reads_side(PlannerInfo *root, const Path *side)
{
	List	   *joins;
	List	   *scans = join_path_scans(join_path_stream(root, side, &joins));

	return scans != NIL && table_job_reads_build(join_path_rows_read(scans));
}

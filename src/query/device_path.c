/*
 * device_path.c
 *		Whether a GPU is expected to read a table's rows, to group or to sort them, and what that costs.
 *
 * The planner asks, so that it does not prefer workers that would take longer.  The limits are those of a GPU's job
 * (core/group_spec.h).  Memory is none: rows stay in the GPU's, and results that work_mem does not hold go to files.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

#include "compat.h"
#include "array/element_type.h"
#include "core/group_spec.h"
#include "query/device_path.h"
#include "run/run_table.h"
#include "scan/column_filter.h"
#include "settings.h"

/* The part of a row's cost on its page that is left. */
#define SCAN_PART 0.02

static bool
is_number_column(const Node *node)
{
	element_type type;

	if (!IsA(node, Var) || ((const Var *) node)->varattno <= 0)
		return false;
	element_type_fill(&type, exprType(node));
	return type.typbyval && type.key_kind != 0 && type.typlen == (int16) type.key_width;
}

static bool
are_number_columns(List *exprs, bool may_add_floats)
{
	ListCell   *cell;

	foreach(cell, exprs)
	{
		Oid			type_id = exprType(lfirst(cell));

		if (!is_number_column(lfirst(cell)) || (!may_add_floats && (type_id == FLOAT4OID || type_id == FLOAT8OID)))
			return false;
	}
	return list_length(exprs) <= MGPU_GROUP_MAX_COLUMNS;
}

static bool
are_filters(List *conditions)
{
	ListCell   *cell;

	foreach(cell, conditions)
	{
		column_filter filter;

		if (!column_filter_fill(&filter, lfirst(cell)))
			return false;
	}
	return list_length(conditions) <= MGPU_GROUP_MAX_FILTERS;
}

/* The scan of a whole table by one process, or NULL. */
static const Path *
scan_of(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return path->pathtype == T_SeqScan && !path->parallel_aware ? path : NULL;
}

static bool
is_ordinary_table(PlannerInfo *root, const RelOptInfo *rel)
{
	return get_rel_persistence(planner_rt_fetch(rel->relid, root)->relid) != RELPERSISTENCE_TEMP;
}

bool
device_path_is_likely(PlannerInfo *root, const Path *rows, List *columns, bool may_add_floats)
{
	const Path *scan = scan_of(rows);

	return mgpu_setting_enable_columns && run_may_use_gpu() && scan != NULL && are_number_columns(columns, may_add_floats) &&
		is_ordinary_table(root, scan->parent) && are_filters(extract_actual_clauses(scan->parent->baserestrictinfo, false)) &&
		run_would_use_gpu(scan->parent->tuples);
}

Cost
device_path_scan_cost(const Path *rows)
{
	const RelOptInfo *rel = scan_of(rows)->parent;
	Cost		per_page = 0;

	get_tablespace_page_costs(rel->reltablespace, NULL, &per_page);
	return rel->pages * per_page + SCAN_PART * rel->tuples * (cpu_tuple_cost + rel->baserestrictcost.per_tuple);
}

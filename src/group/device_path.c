/*
 * device_path.c
 *		Whether a GPU is expected to read and group the rows of a task.
 *
 * The planner asks, so that it does not prefer workers that would take longer.  The limits are those of a GPU's job
 * (core/group_spec.h).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "core/group_spec.h"
#include "array/element_type.h"
#include "run/run_group.h"
#include "columns/column_filter.h"
#include "group/device_path.h"
#include "settings.h"

/* Bytes of a group's record: more are rare. */
#define RECORD_BYTES 128

static bool
is_number_column(const Node *node)
{
	element_type type;

	if (!IsA(node, Var) || ((const Var *) node)->varattno <= 0)
		return false;
	element_type_fill(&type, exprType(node));
	return type.typbyval && type.key_kind != 0 && type.typlen == (int16) type.key_width;
}

/* Without keys, floats may have to be added up one after another. */
static bool
are_number_columns(List *exprs, bool has_keys)
{
	ListCell   *cell;

	foreach(cell, exprs)
	{
		Oid			type_id = exprType(lfirst(cell));

		if (!is_number_column(lfirst(cell)) || (!has_keys && (type_id == FLOAT4OID || type_id == FLOAT8OID)))
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
device_path_is_likely(const group_task *task, const Path *rows, double num_groups)
{
	const Path *scan = scan_of(rows);
	const RelOptInfo *rel;

	if (!mgpu_setting_enable_columns || !run_may_use_gpu() || scan == NULL || task->num_fed > 0 ||
		list_length(task->keys) > MGPU_GROUP_MAX_KEYS || !are_number_columns(task->columns, task->keys != NIL))
		return false;
	rel = scan->parent;
	return num_groups * RECORD_BYTES + rel->rows * task->sorted_bytes <= get_hash_memory_limit() &&
		is_ordinary_table(task->root, rel) && are_filters(extract_actual_clauses(rel->baserestrictinfo, false)) &&
		run_would_use_gpu(rel->tuples);
}

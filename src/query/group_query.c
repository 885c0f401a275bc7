/*
 * group_query.c
 *		Queries of MgpuGroup and MgpuRows.
 *
 * The planner needs a target list for packs and matches it to the child's columns by
 * expression.  The target is record_send(ROW(columns)), which is only a name for the
 * bytes of a pack.  No executor evaluates it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "batch/wire.h"
#include "query/group_query.h"

PathTarget *
group_pack_target(const group_task *task)
{
	PathTarget *target = create_empty_pathtarget();
	RowExpr    *row = makeNode(RowExpr);

	row->args = list_copy(task->columns);
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->location = -1;
	add_column_to_pathtarget(target, (Expr *) makeFuncExpr(F_RECORD_SEND, BYTEAOID, list_make1(row), InvalidOid,
														   InvalidOid, COERCE_EXPLICIT_CALL), 0);
	target->width = PACK_BYTES;
	return target;
}

query *
group_rows_query(const group_task *task)
{
	query	   *rows = query_create(QUERY_ROWS);

	rows->stored = group_task_stored(task);
	return rows;
}

query *
group_query(const group_task *task, bool packed, group_method method)
{
	query	   *group = query_create(QUERY_GROUP);
	ListCell   *cell;

	group->method = method;
	group->uses = task->uses;
	group->firsts = task->firsts;
	group->stored = group_task_stored(task);
	group->key_equalities = task->equalities;
	group->shared = task->shared;
	group->values = task->values;
	foreach(cell, task->keys)
	{
		group->key_columns = lappend_int(group->key_columns, linitial_int(list_nth(task->uses, foreach_current_index(cell))));
		group->key_collations = lappend_oid(group->key_collations, exprCollation(lfirst(cell)));
	}
	foreach(cell, packed ? task->columns : NIL)
		group->packed_types = lappend_oid(group->packed_types, exprType(lfirst(cell)));
	return group;
}

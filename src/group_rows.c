/*
 * group_rows.c
 *		What an MgpuGroup node (group_node.c) collects: the grouping key and the
 *		aggregates' arguments of every row, columnar, in arrival order.
 *
 * Each column has rows of its own (agg_rows.h), so that it can be read by itself
 * and given back when it has been used.  Keeping whole tuples was rejected: a
 * header and padding of each are more than most rows' values, and sorting wants
 * columns.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "core/job.h"
#include "agg_memory.h"
#include "group_rows.h"

static void
init_columns(group_rows *rows)
{
	rows->num_rows = 0;
	for (int i = 0; i < rows->num_columns; i++)
		agg_rows_init(&rows->columns[i].rows, &rows->columns[i].column, NULL, false,
					  MGPU_MAX_ITEMS, rows->context);
}

group_rows *
group_rows_create(MemoryContext parent, List *types)
{
	int			num_columns = list_length(types);
	group_rows *rows = MemoryContextAllocZero(parent, offsetof(group_rows, columns) +
											  num_columns * sizeof(group_column));

	rows->context = AllocSetContextCreate(parent, "mgpu_pg rows to group", ALLOCSET_DEFAULT_SIZES);
	rows->num_columns = num_columns;
	for (int i = 0; i < num_columns; i++)
	{
		agg_column_init(&rows->columns[i].column, list_nth_oid(types, i));
		rows->record_bytes += rows->columns[i].column.width + sizeof(bool);
	}
	init_columns(rows);
	return rows;
}

group_rows *
group_rows_create_for(MemoryContext parent, const PlanState *source)
{
	TupleDesc	descriptor = source->ps_ResultTupleDesc;
	List	   *types = NIL;
	group_rows *rows;

	for (int i = 0; i < descriptor->natts; i++)
		types = lappend_oid(types, TupleDescAttr(descriptor, i)->atttypid);
	rows = group_rows_create(parent, types);
	list_free(types);
	return rows;
}

void
group_rows_reset(group_rows *rows)
{
	MemoryContextReset(rows->context);
	init_columns(rows);
}

void
group_rows_restart(group_rows *rows)
{
	for (int i = 0; i < rows->num_columns; i++)
		agg_rows_reset(&rows->columns[i].rows);
	rows->num_rows = 0;
}

Size
group_rows_bytes(const group_rows *rows)
{
	return MemoryContextMemAllocated(rows->context, true);
}

void
group_rows_put_cells(group_rows *rows, int column, const char *cells, const char *marks, uint64 num_rows)
{
	group_column *to = &rows->columns[column];
	uint32		width = to->column.width;

	if (marks == NULL)
	{
		agg_rows_add_keys(&to->rows, 0, cells, num_rows);
		return;
	}
	for (uint64 i = 0; i < num_rows; i++)
	{
		uint32		row = agg_rows_add(&to->rows, 0);

		if (marks[i])
			group_rows_mark(to, row);
		else
			memcpy(to->rows.last->keys + (Size) row * width, cells + i * width, width);
	}
}

void
group_rows_put_record(group_rows *rows, const char *record)
{
	const char *marks = record + rows->record_bytes - rows->num_columns;

	for (int i = 0; i < rows->num_columns; i++)
	{
		group_column *to = &rows->columns[i];
		uint32		row = agg_rows_add(&to->rows, 0);

		memcpy(to->rows.last->keys + (Size) row * to->column.width, record, to->column.width);
		if (marks[i])
			agg_rows_value_is_null(&to->rows, row);
		record += to->column.width;
	}
	rows->num_rows++;
}

bool
group_rows_get_record(const group_rows *rows, group_cursor *cursors, char *record)
{
	char	   *marks = record + rows->record_bytes - rows->num_columns;

	for (int i = 0; i < rows->num_columns; i++)
	{
		const group_column *from = &rows->columns[i];
		group_cursor *cursor = &cursors[i];

		if (cursor->chunk == NULL)
			cursor->chunk = from->rows.first;
		else if (cursor->row == cursor->chunk->used)
		{
			cursor->chunk = cursor->chunk->next;
			cursor->row = 0;
		}
		if (cursor->chunk == NULL)
			return false;
		memcpy(record, cursor->chunk->keys + (Size) cursor->row * from->column.width, from->column.width);
		marks[i] = cursor->chunk->value_nulls && cursor->chunk->value_nulls[cursor->row];
		record += from->column.width;
		cursor->row++;
	}
	return true;
}

char *
group_rows_cells(const group_rows *rows, int column)
{
	const group_column *from = &rows->columns[column];
	char	   *cells = agg_alloc(CurrentMemoryContext, rows->num_rows * from->column.width);

	agg_rows_copy(&from->rows, AGG_KEYS, cells);
	return cells;
}

bool *
group_rows_marks(const group_rows *rows, int column)
{
	const agg_rows *from = &rows->columns[column].rows;
	bool	   *marks;

	if (!from->has_value_nulls)
		return NULL;
	marks = agg_alloc(CurrentMemoryContext, rows->num_rows);
	agg_rows_copy_value_nulls(from, marks);
	return marks;
}

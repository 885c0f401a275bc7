/*
 * group_rows.h
 *		What an MgpuGroup node (group_node.c) collects: the grouping key and the
 *		aggregates' arguments of every row, columnar, in arrival order.
 *
 * Column 0 is the key.  A cell without a value (NULL) is zeros, and marked.
 */
#ifndef MGPU_GROUP_ROWS_H
#define MGPU_GROUP_ROWS_H

#include "nodes/execnodes.h"

#include "agg_rows.h"

typedef struct group_column
{
	agg_column	column;
	agg_rows	rows;			/* its keys are the cells, its value_nulls the marks */
} group_column;

typedef struct group_rows
{
	MemoryContext context;		/* holds the cells and nothing else */
	uint64		num_rows;
	Size		record_bytes;	/* a row's cells and marks, see group_rows_put_record */
	int			num_columns;
	group_column columns[FLEXIBLE_ARRAY_MEMBER];
} group_rows;

/* For rows of these types, all of them of fixed width. */
extern group_rows *group_rows_create(MemoryContext parent, List *types);

/* The same for the tuples of a plan node. */
extern group_rows *group_rows_create_for(MemoryContext parent, const PlanState *source);

/* Give all rows back. */
extern void group_rows_reset(group_rows *rows);

/* Forget all rows; some memory is kept for those to come. */
extern void group_rows_restart(group_rows *rows);

/* Bytes that the rows take, with room for some more. */
extern Size group_rows_bytes(const group_rows *rows);

/*
 * Cells of rows to come, in one column; marks: a byte each that is not 0 for NULL,
 * or NULL if none is.  The caller does all columns, and counts the rows.
 */
extern void group_rows_put_cells(group_rows *rows, int column, const char *cells, const char *marks,
								 uint64 num_rows);

/* A row of a record: cells one after another, then a byte each that is 1 for NULL. */
extern void group_rows_put_record(group_rows *rows, const char *record);

/* Goes through the rows as records. */
typedef struct group_cursor
{
	const agg_chunk *chunk;
	uint32		row;
} group_cursor;

/* cursors: one a column, zeros at first.  False: no more rows. */
extern bool group_rows_get_record(const group_rows *rows, group_cursor *cursors, char *record);

/* All cells of a column, and its marks or NULL if there are none, in the current context. */
extern char *group_rows_cells(const group_rows *rows, int column);
extern bool *group_rows_marks(const group_rows *rows, int column);

/* A cell without a value. */
static inline void
group_rows_mark(group_column *to, uint32 row)
{
	memset(to->rows.last->keys + (Size) row * to->column.width, 0, to->column.width);
	agg_rows_value_is_null(&to->rows, row);
}

/* A row's value in a column. */
static inline void
group_rows_put(group_rows *rows, int column, Datum value, bool is_null)
{
	group_column *to = &rows->columns[column];
	uint32		row = agg_rows_add(&to->rows, 0);

	if (likely(!is_null))
	{
		agg_column_put(&to->column, NULL, to->rows.last->keys, row, value);
		return;
	}
	group_rows_mark(to, row);
}

/* A row that comes as a tuple, its first columns being those of the rows. */
static inline void
group_rows_put_slot(group_rows *rows, TupleTableSlot *slot)
{
	slot_getsomeattrs(slot, rows->num_columns);
	for (int i = 0; i < rows->num_columns; i++)
		group_rows_put(rows, i, slot->tts_values[i], slot->tts_isnull[i]);
	rows->num_rows++;
}

#endif							/* MGPU_GROUP_ROWS_H */

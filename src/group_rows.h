/*
 * group_rows.h
 *		What an MgpuGroup node (group_node.c) collects: the grouping key and the
 *		aggregates' arguments of every row, columnar, in arrival order.
 *
 * Column 0 is the key.  A cell without a value (NULL) is zeros, and marked.
 */
#ifndef MGPU_GROUP_ROWS_H
#define MGPU_GROUP_ROWS_H

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
extern group_rows *group_rows_create(MemoryContext parent, int num_columns, const Oid *types);

/* Give all rows back. */
extern void group_rows_reset(group_rows *rows);

/* Bytes that the rows take, with room for some more. */
extern Size group_rows_bytes(const group_rows *rows);

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
	memset(to->rows.last->keys + (Size) row * to->column.width, 0, to->column.width);
	agg_rows_value_is_null(&to->rows, row);
}

#endif							/* MGPU_GROUP_ROWS_H */

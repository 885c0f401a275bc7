/*
 * rows.h
 *		Rows of plan nodes in chunks.
 */
#ifndef MGPU_BATCH_ROWS_H
#define MGPU_BATCH_ROWS_H

#include "nodes/execnodes.h"

#include "batch/chunk.h"

/* Create a chunk for rows of these types, or for the rows of a plan node. */
extern chunk *rows_create(MemoryContext context, List *types);
extern chunk *rows_create_for(MemoryContext context, const PlanState *source);

/* Append a tuple.  Its first columns are those of rows. */
extern void rows_put_slot(chunk *rows, TupleTableSlot *slot);

/* The values of a row, one for each column. */
static inline void
rows_fill_values(const chunk *rows, uint64 row, Datum *values, bool *is_null)
{
	for (int i = 0; i < rows->num_columns; i++)
	{
		const column *col = &rows->columns[i];

		is_null[i] = column_is_null(col, row);
		values[i] = is_null[i] ? (Datum) 0 : cell_datum(col->type, col->cells, row);
	}
}

/* Bytes of a row, including one byte per column that says whether it is NULL, but no value of variable width. */
extern Size rows_bytes_of_one(const chunk *rows);

/* Bytes of a row's values of variable width. */
extern Size rows_variable_bytes(const chunk *rows, uint64 row);

/* How many of the rows from first on are enough at a time, if there are most_rows: their values may be wide. */
extern uint32 rows_of_step(const chunk *rows, uint64 first, uint32 most_rows);

/*
 * Most memory that a row takes, from its arrival to its group's result: its own bytes, what aggregates
 * hold beside them, and a larger copy of the row while columns grow or, once all rows are there, a
 * code with its number, a sorted code and a place among the groups.
 */
static inline Size
most_bytes_of_row(Size own_bytes, Size beside_bytes)
{
	return own_bytes + beside_bytes + Max(own_bytes, 24);
}

#endif							/* MGPU_BATCH_ROWS_H */

/*
 * rows_node.h
 *		MgpuRows, a node below a Gather that packs rows for MgpuGroup, and the rows of all nodes.
 *
 * Contents of its CustomScan:
 *
 *	 custom_plans		one child, whose rows are packed
 *	 custom_scan_tlist	one expression, which stands for a pack (group/plans.c): a bytea of
 *						rows (columns/wire.h)
 *	 custom_private		the numbers of columns that are kept as they come
 */
#ifndef MGPU_PLAN_ROWS_NODE_H
#define MGPU_PLAN_ROWS_NODE_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "columns/chunk.h"

extern const CustomScanMethods rows_scan_methods;

/* The state of a node, of so many bytes, of which the first are a CustomScanState. */
extern Node *custom_state(Size bytes, const CustomExecMethods *methods);

/*
 * Approximate size of a full pack: a quarter of the queue between two processes.  Then
 * a pack can be written while another is read, mostly within the queue.  It also limits
 * the rows that a leader reads itself before it receives workers' packs again.
 */
#define PACK_BYTES (16 * 1024)

/* Number of rows in a full pack if a row takes row_bytes: PACK_BYTES at most, but at least one row. */
static inline uint32
rows_of_pack(Size row_bytes)
{
	return Max(PACK_BYTES / Max(row_bytes, 1), 1);
}

/* Create a chunk for rows of these types, or for the rows of a plan node. */
extern chunk *rows_create(MemoryContext context, List *types);
extern chunk *rows_create_for(MemoryContext context, const PlanState *source);

/* Keep columns, by their numbers, as they come (columns/chunk.h). */
extern void rows_keep_stored(chunk *rows, List *columns);

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

#endif							/* MGPU_PLAN_ROWS_NODE_H */

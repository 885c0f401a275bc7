/*
 * pick.h
 *		Sorts row numbers by group, and copies cells and elements by row number.
 */
#ifndef MGPU_PICK_H
#define MGPU_PICK_H

#include "batch/chunk.h"

/*
 * Row numbers sorted by group.  The rows of group g are numbers[starts[g]] …
 * numbers[starts[g + 1] - 1], in arrival order.
 */
typedef struct row_groups
{
	uint32		num_groups;
	uint32	   *numbers;		/* NULL: the rows are 0, 1, 2 … */
	uint32	   *starts;			/* num_groups + 1 positions; NULL: there are no rows */
} row_groups;

/* Group rows by number: groups[i] is the group of row i.  Arrays are allocated in context. */
extern row_groups row_groups_make(MemoryContext context, const uint32 *groups, uint64 num_rows, uint32 num_groups);

/* Groups of one row each. */
extern row_groups row_groups_single(MemoryContext context, uint32 num_groups);

/*
 * Separate rows with a value in a column from rows with a NULL there.  Without any
 * NULL, present shares all's arrays; otherwise it has its own, in context.
 */
extern void row_groups_split(MemoryContext context, const row_groups *all, const column *by,
							 row_groups *present, row_groups *nulls);

/* Copy cells by row number into contiguous memory in context. */
extern char *pick_cells(MemoryContext context, const char *cells, uint32 width,
						const uint32 *numbers, uint64 num_rows);

/* How many rows ahead to fetch. */
#define ROWS_AHEAD 16

/*
 * Fetch the cell, and what it points to, of rows that are to come: the rows of groups lie anywhere.
 * Position i of end is looked at now.  Always inlined: gcc drops calls of what only prefetches.
 */
static pg_attribute_always_inline void
row_groups_fetch_ahead(const row_groups *rows, const column *col, uint64 i, uint64 end)
{
	if (rows->numbers == NULL)
		return;
	if (i + 2 * ROWS_AHEAD < end)
		__builtin_prefetch(col->cells + (Size) rows->numbers[i + 2 * ROWS_AHEAD] * col->type->width);
	if (column_is_variable(col->type) && i + ROWS_AHEAD < end)
		__builtin_prefetch(((char *const *) col->cells)[rows->numbers[i + ROWS_AHEAD]]);
}

static inline uint64
row_groups_count(const row_groups *rows)
{
	return rows->starts ? rows->starts[rows->num_groups] : 0;
}

static inline uint64
row_groups_size(const row_groups *rows, uint32 group)
{
	return rows->starts ? rows->starts[group + 1] - rows->starts[group] : 0;
}

static inline uint64
row_groups_row(const row_groups *rows, uint64 i)
{
	return rows->numbers ? rows->numbers[i] : i;
}

/* The elements of a column in some rows: those of positions begin … end - 1. */
typedef struct row_list
{
	const column *col;
	const row_groups *rows;
	uint64		begin;
	uint64		end;
} row_list;

static inline row_list
row_list_of(const column *col, const row_groups *rows, uint32 group)
{
	uint64		begin = rows->starts ? rows->starts[group] : 0;

	return (row_list) {col, rows, begin, begin + row_groups_size(rows, group)};
}

static inline uint64
row_list_size(const row_list *list)
{
	return list->end - list->begin;
}

/* Bytes of the elements in an array.  The number of NULLs is added to *num_nulls. */
extern Size row_list_bytes(const row_list *list, int64 *num_nulls);

/* Where the next element of an array goes.  bitmap is NULL, or has only zeros from position on. */
typedef struct element_writer
{
	char	   *dest;
	uint8	   *bitmap;
	uint64		position;
} element_writer;

extern void row_list_write(const row_list *list, element_writer *to);

#endif							/* MGPU_PICK_H */

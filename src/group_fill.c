/*
 * group_fill.c
 *		The values of an aggregate, brought together by group.
 *
 * Values are picked by the row numbers that the ranking has put in order, from
 * memory that is in arrival order.  Having the sort of keys move them was
 * rejected: it moves one column at a time, and an aggregate's NULLs stay behind.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "agg_call.h"
#include "agg_memory.h"
#include "group_keys.h"

/* Rows handled between looks at interrupts. */
#define STEP_ROWS (256 * 1024)

/* Cells by row number, without those that are marked. */
#define PICK(type) \
	do { \
		const type *from = (const type *) cells; \
		type *to = (type *) dest; \
		\
		for (uint64 i = begin; i < end; i++) \
			if (marks == NULL || !marks[positions[i]]) \
				*to++ = from[positions[i]]; \
		return (char *) to; \
	} while (0)

static char *
pick_cells(uint32 width, const char *cells, const bool *marks, const uint32 *positions,
		   uint64 begin, uint64 end, char *dest)
{
	switch (width)
	{
		case 1:
			PICK(uint8);
		case 2:
			PICK(uint16);
		case 4:
			PICK(uint32);
		case 8:
			PICK(uint64);
		default:
			for (uint64 i = begin; i < end; i++)
			{
				if (marks && marks[positions[i]])
					continue;
				memcpy(dest, cells + (Size) positions[i] * width, width);
				dest += width;
			}
			return dest;
	}
}

static char *
pick_all(agg_batch *batch, const char *cells, const bool *marks, uint64 num_rows, const group_ranks *ranks)
{
	uint32		width = batch->call->key.width;
	char	   *picked = agg_batch_alloc(batch, num_rows * width);
	char	   *next = picked;

	for (uint64 begin = 0; begin < num_rows; begin += STEP_ROWS)
	{
		next = pick_cells(width, cells, marks, ranks->positions, begin, Min(begin + STEP_ROWS, num_rows), next);
		CHECK_FOR_INTERRUPTS();
	}
	return picked;
}

/* Where each group's rows with a value start, and those without one, counted by themselves. */
static void
count_marks(const bool *marks, const group_ranks *ranks, uint32 *starts, uint32 *null_starts)
{
	uint32		num_nulls = 0;

	for (uint32 group = 0; group < ranks->num_groups; group++)
	{
		starts[group] = ranks->starts[group] - num_nulls;
		null_starts[group] = num_nulls;
		for (uint32 i = ranks->starts[group]; i < ranks->starts[group + 1]; i++)
			num_nulls += marks[ranks->positions[i]];
		if (group % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	starts[ranks->num_groups] = ranks->starts[ranks->num_groups] - num_nulls;
	null_starts[ranks->num_groups] = num_nulls;
}

void
group_fill_batch(agg_batch *batch, group_rows *rows, int column, const group_ranks *ranks, bool last)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);
	Size		start_bytes = ((Size) ranks->num_groups + 1) * sizeof(uint32);
	char	   *cells = group_rows_cells(rows, column);
	bool	   *marks = group_rows_marks(rows, column);
	uint32	   *starts = agg_batch_alloc(batch, start_bytes);
	uint32	   *null_starts = NULL;
	char	   *picked;

	if (last)
		agg_rows_free(&rows->columns[column].rows);
	if (marks)
	{
		null_starts = agg_batch_alloc(batch, start_bytes);
		count_marks(marks, ranks, starts, null_starts);
	}
	else
		memcpy(starts, ranks->starts, start_bytes);
	picked = pick_all(batch, cells, marks, rows->num_rows, ranks);
	pfree(cells);
	if (marks)
		pfree(marks);
	agg_batch_set_groups(batch, ranks->num_groups, picked, starts, null_starts);
	MemoryContextSwitchTo(caller);
}

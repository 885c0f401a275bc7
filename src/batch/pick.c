/*
 * pick.c
 *		Sorts row numbers by group, and copies cells and elements by row number.
 *
 * Groups are numbered from 0, so a counting sort of row numbers brings the rows of each
 * group together.  Each column is then copied in the order of these numbers.  Sorting
 * the cells themselves was rejected: the sort of grouping keys (batch/key_sort.c) also
 * returns row numbers, and workers' messages and files need some rows of all columns.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "array/array_gather.h"
#include "batch/pick.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS (256 * 1024)

row_groups
row_groups_make(MemoryContext context, const uint32 *groups, uint64 num_rows, uint32 num_groups)
{
	Size		start_bytes = ((Size) num_groups + 1) * sizeof(uint32);
	uint32	   *numbers = large_alloc(context, num_rows * sizeof(uint32));
	uint32	   *starts = memset(large_alloc(context, start_bytes), 0, start_bytes);
	uint32	   *cursors = starts + 1;	/* cursors[g]: start of group g; after the second pass, its end */
	uint32		start = 0;

	for (uint64 begin = 0; begin < num_rows; begin += STEP_ROWS)
	{
		for (uint64 i = begin; i < Min(begin + STEP_ROWS, num_rows); i++)
			cursors[groups[i]]++;
		CHECK_FOR_INTERRUPTS();
	}
	for (uint32 group = 0; group < num_groups; group++)
	{
		uint32		count = cursors[group];

		cursors[group] = start;
		start += count;
	}
	for (uint64 begin = 0; begin < num_rows; begin += STEP_ROWS)
	{
		for (uint64 i = begin; i < Min(begin + STEP_ROWS, num_rows); i++)
			numbers[cursors[groups[i]]++] = i;
		CHECK_FOR_INTERRUPTS();
	}
	return (row_groups) {num_groups, numbers, starts};
}

row_groups
row_groups_single(MemoryContext context, uint32 num_groups)
{
	row_groups	groups = {num_groups, NULL, large_alloc(context, ((Size) num_groups + 1) * sizeof(uint32))};

	for (uint32 group = 0; group <= num_groups; group++)
		groups.starts[group] = group;
	return groups;
}

void
row_groups_split(MemoryContext context, const row_groups *all, const column *by,
				 row_groups *present, row_groups *nulls)
{
	uint64		num_rows = row_groups_count(all);
	Size		start_bytes = ((Size) all->num_groups + 1) * sizeof(uint32);
	uint64		num_nulls = 0;
	uint64		next = 0;

	*present = *all;
	*nulls = (row_groups) {all->num_groups, NULL, NULL};
	if (by->nulls == NULL)
		return;
	for (uint64 i = 0; i < num_rows; i++)
		num_nulls += column_is_null(by, row_groups_row(all, i));
	present->numbers = large_alloc(context, (num_rows - num_nulls) * sizeof(uint32));
	present->starts = large_alloc(context, start_bytes);
	nulls->numbers = large_alloc(context, num_nulls * sizeof(uint32));
	nulls->starts = large_alloc(context, start_bytes);
	num_nulls = 0;
	for (uint32 group = 0; group < all->num_groups; group++)
	{
		present->starts[group] = next;
		nulls->starts[group] = num_nulls;
		for (uint64 i = all->starts[group]; i < all->starts[group + 1]; i++)
		{
			uint32		row = row_groups_row(all, i);

			if (column_is_null(by, row))
				nulls->numbers[num_nulls++] = row;
			else
				present->numbers[next++] = row;
			if (i % STEP_ROWS == 0)
				CHECK_FOR_INTERRUPTS();
		}
	}
	present->starts[all->num_groups] = next;
	nulls->starts[all->num_groups] = num_nulls;
}

char *
pick_cells(MemoryContext context, const char *cells, uint32 width, const uint32 *numbers, uint64 num_rows)
{
	char	   *picked = large_alloc(context, num_rows * width);

	gather_cells(picked, cells, width, numbers, num_rows);
	return picked;
}

Size
row_list_bytes(const row_list *list, int64 *num_nulls)
{
	const column *col = list->col;
	uint64		num_rows = row_groups_count(list->rows);
	Size		bytes = 0;

	if (!column_is_variable(col->type) && col->nulls == NULL)
		return row_list_size(list) * col->type->width;
	for (uint64 i = list->begin; i < list->end; i++)
	{
		uint64		row = row_groups_row(list->rows, i);

		if (i % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		row_groups_fetch_ahead(list->rows, col, i, num_rows);
		if (column_is_null(col, row))
			(*num_nulls)++;
		else
			bytes += element_bytes(col->type, cell_element(col->type, col->cells, row));
	}
	return bytes;
}

void
row_list_write(const row_list *list, element_writer *to)
{
	const column *col = list->col;
	uint64		num_rows = row_groups_count(list->rows);

	for (uint64 i = list->begin; i < list->end; i++, to->position++)
	{
		uint64		row = row_groups_row(list->rows, i);
		const char *element;
		Size		bytes;

		if (i % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		row_groups_fetch_ahead(list->rows, col, i, num_rows);
		if (column_is_null(col, row))
			continue;
		if (to->bitmap)
			to->bitmap[to->position / 8] |= 1 << (to->position % 8);
		element = cell_element(col->type, col->cells, row);
		bytes = element_bytes(col->type, element);
		memcpy(to->dest, element, bytes);
		to->dest += bytes;
	}
}

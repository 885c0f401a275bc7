/*
 * table_list.c
 *		All batches of rows that are kept, in the order of the table.
 */
#include "core/cpu/table/table_read.h"

#include <string.h>

/* Rows are listed in the order of the table. */
mgpu_table_batch *
mgpu_table_add_batch(mgpu_run *run)
{
	mgpu_table_batch *batch = mgpu_arena_allocate(&run->arena, sizeof(*batch));

	if (batch == NULL)
		return NULL;
	memset(batch, 0, sizeof(*batch));
	if (run->last == NULL)
		run->first = batch;
	else
		run->last->next = batch;
	run->last = batch;
	return batch;
}

/* Once all is read, those behind a batch are in the list, too. */
void
mgpu_table_join_batches(mgpu_run *run)
{
	for (mgpu_table_batch *batch = run->first; batch != NULL; batch = batch->next)
	{
		mgpu_table_batch *more = batch->more;

		if (more == NULL)
			continue;
		more->next = batch->next;
		batch->next = more;
		run->last = run->last == batch ? more : run->last;
		batch->more = NULL;
	}
}

/* ---- rows by their numbers */

bool
mgpu_table_list_batches(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;
	uint64_t	num_batches = 0;

	for (const mgpu_table_batch *batch = run->first; batch != NULL; batch = batch->next)
		num_batches++;
	order->batches = mgpu_table_allocate(num_batches * sizeof(mgpu_table_batch *));
	if (order->batches == NULL)
		return false;
	for (mgpu_table_batch *batch = run->first; batch != NULL; batch = batch->next)
		order->batches[order->num_batches++] = batch;
	return true;
}

/* Number the rows of all batches, and find batches by these numbers. */
bool
mgpu_table_number_rows(mgpu_table_order *order)
{
	uint64_t	num_hints = 0;

	order->num_rows = 0;
	for (uint64_t i = 0; i < order->num_batches; i++)
	{
		order->batches[i]->first_row = order->num_rows;
		order->num_rows += order->batches[i]->rows.num_rows;
	}
	order->hints = mgpu_table_allocate((order->num_rows / MGPU_TABLE_HINT_ROWS + 1) * sizeof(uint32_t));
	for (uint64_t i = 0; order->hints != NULL && i < order->num_batches; i++)
	{
		for (; num_hints * MGPU_TABLE_HINT_ROWS < order->batches[i]->first_row + order->batches[i]->rows.num_rows; num_hints++)
			order->hints[num_hints] = (uint32_t) i;
	}
	return order->hints != NULL;
}

const mgpu_table_batch *
mgpu_table_batch_of(const mgpu_table_order *order, uint64_t row)
{
	uint32_t	batch = order->hints[row / MGPU_TABLE_HINT_ROWS];

	while (row - order->batches[batch]->first_row >= order->batches[batch]->rows.num_rows)
		batch++;
	return order->batches[batch];
}

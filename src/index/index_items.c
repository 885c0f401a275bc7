/*
 * index_items.c
 *		The rows of an index that is built, in memory.  See index_items.h.
 */
#include "postgres.h"

#include "index/index_items.h"

void
index_rows_reset(index_rows *rows)
{
	for (uint32 i = 0; i < rows->num_entry_blocks; i++)
		pfree(rows->blocks[i]);
	for (int i = 0; i < rows->num_makers; i++)
	{
		rows->makers[i].block = NULL;
		rows->makers[i].block_used = rows->makers[i].block_bytes = 0;
	}
	if (rows->items)
		pfree(rows->items);
	rows->items = NULL;
	rows->num_items = rows->most_items = 0;
	rows->num_entry_blocks = 0;
	rows->entry_bytes = 0;
}

/*
 * late_columns.c
 *		Columns of a heap reader's rows that are filled only for the rows that are wanted.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "scan/heap_reader_state.h"
#include "scan/late_columns.h"

void
late_pages_init(late_pages *late)
{
	late->num_pages = 0;
	/* no more than one session's share of the buffers is pinned at a time */
	late->most_pages = Min(lengthof(late->pages), NBuffers / MaxBackends);
}

void
late_pages_release(late_pages *late)
{
	while (late->num_pages > 0)
		ReleaseBuffer(late->pages[--late->num_pages].buffer);
}

static void
fill_column(chunk *rows, column *col, const value_list *from, const uint32 *numbers, uint32 num_rows)
{
	const element_type *element = &col->type->element;

	for (uint32 i = 0; i < num_rows; i++)
	{
		const char *value = from->values[i];

		if (col->type->store == COLUMN_STORED && value)
			((const char **) col->cells)[numbers[i]] = value;
		else
			chunk_put(rows, col, numbers[i], value ? fetch_att(value, element->typbyval, element->typlen) : (Datum) 0, value == NULL);
	}
}

static void
complete_page(const late_page *page, chunk *rows, const uint32 *numbers, uint32 num_rows)
{
	const heap_reader *reader = page->reader;
	ItemIdData	items[MaxHeapTuplesPerPage];

	for (uint32 i = 0; i < num_rows; i++)
		items[i] = page->items[numbers[i] - page->first];
	page_values_find_all(reader->values, BufferGetPage(page->buffer), items, num_rows);
	for (int i = 0; i < reader->num_columns; i++)
		if (reader->columns[i].is_late)
			fill_column(rows, &rows->columns[i], page_values_list(reader->values, reader->columns[i].list), numbers, num_rows);
}

void
late_pages_complete(late_pages *late, chunk *rows, const uint32 *numbers, uint64 num_rows)
{
	uint64		done = 0;

	for (uint32 i = 0; i < late->num_pages && done < num_rows; i++)
	{
		const late_page *page = &late->pages[i];
		uint64		end;

		while (done < num_rows && numbers[done] < page->first)
			done++;
		for (end = done; end < num_rows && numbers[end] < page->first + page->num_rows;)
			end++;
		if (end > done)
			complete_page(page, rows, numbers + done, end - done);
		done = end;
	}
}

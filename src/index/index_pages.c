/*
 * index_pages.c
 *		Rows of a table's pages as items of an index, by threads.
 *
 * Pages are pinned, and their table is locked against changes, so that nothing in them changes but hints.  A page is read here if all
 * of its rows are live by hints, and none is part of a chain of HOT updates.  Of any other page the session finds the rows.
 */
#include "postgres.h"

#include "access/tupmacs.h"

#include "compat.h"
#include "index/index_pages.h"

void
index_reader_start(index_reader *reader, Relation heap, const IndexInfo *info, index_rows *rows, int maker)
{
	reader->rows = rows;
	reader->maker = &rows->makers[maker];
	reader->values = page_values_create(RelationGetDescr(heap));
	for (int i = 0; i < rows->keys->num_columns; i++)
		reader->lists[i] = page_values_want(reader->values, info->ii_IndexAttrNumbers[i], true);
	page_values_plan(reader->values);
}

/* ---- rows */

static inline index_row_state
state_of_row(const index_page *page, ItemId item, OffsetNumber offset, index_ask_fn ask, void *context)
{
	HeapTupleHeader header = (HeapTupleHeader) PageGetItem((Page) page->page, item);
	uint16		settled = HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID;
	HeapTupleData row;

	if ((header->t_infomask2 & HEAP_ONLY_TUPLE) != 0)
		return INDEX_ROW_IS_POSTGRESQLS;
	/* then that is PostgreSQL's first answer, too */
	if ((header->t_infomask & settled) == settled || PageIsAllVisible((Page) page->page))
		return INDEX_ROW_LIVE;
	if (ask == NULL)
		return INDEX_ROW_IS_POSTGRESQLS;
	row.t_len = ItemIdGetLength(item);
	row.t_data = header;
	ItemPointerSet(&row.t_self, page->block, offset);
	return ask(context, page->block, offset, &row);
}

bool
index_reader_find(index_reader *reader, const index_page *page, index_ask_fn ask, void *context)
{
	reader->num_rows = 0;
	if (page->num_items > MaxHeapTuplesPerPage)
		return false;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= page->num_items; offset++)
	{
		ItemId		item = PageGetItemId((Page) page->page, offset);
		index_row_state state;

		if (ItemIdIsRedirected(item))
			return false;
		if (!ItemIdIsNormal(item))
			continue;
		state = state_of_row(page, item, offset, ask, context);
		if (state == INDEX_ROW_IS_POSTGRESQLS)
			return false;
		reader->items[reader->num_rows] = *item;
		reader->offsets[reader->num_rows] = offset;
		reader->num_rows += state == INDEX_ROW_LIVE;
	}
	return true;
}

void
index_reader_values(index_reader *reader, const index_page *page, const char *ahead)
{
	page_values_find(reader->values, page->page, reader->items, reader->num_rows, ahead);
}

void
index_reader_row(const index_reader *reader, uint32 row, Datum *values, bool *nulls)
{
	const index_keys *keys = reader->rows->keys;

	for (int i = 0; i < keys->num_columns; i++)
	{
		const char *value = page_values_list(reader->values, reader->lists[i])->values[row];

		nulls[i] = value == NULL;
		values[i] = value ? fetchatt(TupleDescAttr(RelationGetDescr(keys->index), i), value) : (Datum) 0;
	}
}

/* ---- items */

static index_page_state
take_numbers(index_reader *reader, index_page *page)
{
	const index_keys *keys = reader->rows->keys;
	mgpu_u128	numbers[MaxHeapTuplesPerPage];
	bool		is_exact = true;

	memset(numbers, 0, reader->num_rows * sizeof(mgpu_u128));
	for (int i = 0; i < keys->num_keys; i++)
		is_exact &= index_keys_add_values(&keys->keys[i], page_values_list(reader->values, reader->lists[i])->values,
										  reader->num_rows, numbers);
	if (!is_exact)
		return INDEX_PAGE_NO_NUMBERS;
	for (uint32 i = 0; i < reader->num_rows; i++)
		index_put_number(reader->rows, page->first + i, numbers[i], index_place(page->block, reader->offsets[i], false));
	page->num_done = reader->num_rows;
	return INDEX_PAGE_DONE;
}

static index_page_state
take_strings(index_reader *reader, index_page *page)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	index_row	row = {.values = values,.nulls = nulls,.plain = values};

	for (; page->num_done < reader->num_rows; page->num_done++)
	{
		mgpu_u128  *item = index_strings(reader->rows) + page->first + page->num_done;
		index_made	made;

		index_reader_row(reader, page->num_done, values, nulls);
		ItemPointerSet(&row.place, page->block, reader->offsets[page->num_done]);
		made = index_make(reader->maker, &row, item);
		if (made != INDEX_MADE)
			return made == INDEX_NO_ROOM ? INDEX_PAGE_NO_ROOM : INDEX_PAGE_IS_SESSIONS;
	}
	return INDEX_PAGE_DONE;
}

void
index_reader_take(index_reader *reader, index_page *page, const char *ahead)
{
	page->state = INDEX_PAGE_IS_SESSIONS;
	if (!index_reader_find(reader, page, NULL, NULL))
		return;
	index_reader_values(reader, page, ahead);
	page->state = reader->rows->keys->are_numbers ? take_numbers(reader, page) : take_strings(reader, page);
}

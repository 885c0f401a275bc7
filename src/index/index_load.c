/*
 * index_load.c
 *		Brings the sorted rows of an index to its pages.
 *
 * Rows of equal keys become one tuple with a list of places, by the rules of nbtsort.c.  Most rows of most indexes have keys of
 * their own: if they are in memory, threads bring them there, and numbers of which few are equal (index_leaves.c).
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/index_leaves.h"
#include "index/index_load.h"

/* Rows between two reports of progress. */
#define REPORTED_ROWS 4096

/* Most rows that are looked at before they are written. */
#define MOST_SINGLES 512

typedef struct posting
{
	IndexTuple	first;			/* a copy of the first row's tuple */
	Size		space;
	int			num_places;		/* 0: none yet */
	int			most_places;
	ItemPointerData places[INDEX_MOST_POSTING_BYTES / sizeof(ItemPointerData) + 1];
} posting;

typedef struct index_loader
{
	Relation	heap;
	const IndexInfo *info;
	index_cursor *cursor;
	index_tree *tree;
	posting		equals;			/* rows on their way */
	bool		has_live;		/* a live row of these keys was there before */
	uint64		num_rows;
} index_loader;

/* ---- unique keys */

static void
raise_duplicate(const index_loader *loader, IndexTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	Relation	index = loader->cursor->rows->keys->index;
	char	   *description;

	index_deform_tuple(tuple, RelationGetDescr(index), values, nulls);
	description = BuildIndexValueDescription(index, values, nulls);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"", RelationGetRelationName(index)),
			 description ? errdetail("Key %s is duplicated.", description) : errdetail("Duplicate keys exist."),
			 errtableconstraint(loader->heap, RelationGetRelationName(index))));
}

static void
check_unique(index_loader *loader)
{
	const index_cursor *cursor = loader->cursor;

	if (!cursor->is_equal)
		loader->has_live = false;
	if (cursor->is_dead)
		return;
	if (loader->has_live && (mgpu_nulls_not_distinct(loader->info) || !index_cursor_has_null(cursor)))
		raise_duplicate(loader, cursor->tuple);
	loader->has_live = true;
}

/* ---- rows of equal keys as one tuple */

static void
end_posting(index_tree *tree, posting *rows)
{
	IndexTuple	tuple;

	if (rows->num_places == 1)
		index_tree_add(tree, rows->first, 0);
	else if (rows->num_places > 1)
	{
		tuple = _bt_form_posting(rows->first, rows->places, rows->num_places);
		index_tree_add(tree, tuple, IndexTupleSize(tuple) - BTreeTupleGetPostingOffset(tuple));
		pfree(tuple);
	}
	rows->num_places = 0;
}

static void
start_posting(posting *rows, IndexTuple tuple)
{
	Size		size = IndexTupleSize(tuple);

	if (size > rows->space)
	{
		if (rows->first)
			pfree(rows->first);
		rows->space = Max(size, 256);
		rows->first = palloc(rows->space);
	}
	memcpy(rows->first, tuple, size);
	rows->most_places = index_most_places(size);
	rows->num_places = 1;
	rows->places[0] = tuple->t_tid;
}

static inline void
add_to_posting(index_tree *tree, posting *rows, const index_cursor *cursor)
{
	if (cursor->is_equal && rows->num_places < rows->most_places)
		rows->places[rows->num_places++] = cursor->tuple->t_tid;
	else
	{
		end_posting(tree, rows);
		if (cursor->is_single)
			index_tree_add(tree, cursor->tuple, 0);
		else
			start_posting(rows, cursor->tuple);
	}
}

/* ---- rows with keys of their own */

/* Write numbers to the page as long as it has room.  Returns how many. */
static uint32
write_numbers(index_loader *loader, uint32 num_rows)
{
	const index_rows *rows = loader->cursor->rows;
	uint32		plain_bytes = rows->keys->plain_bytes;
	char	   *at;
	uint32		taken = index_tree_extend(loader->tree, plain_bytes, num_rows, &at);

	for (uint32 i = 0; i < taken; i++, at -= plain_bytes)
	{
		mgpu_u128	number = index_number_at(rows, loader->cursor->next + i);

		index_keys_write_plain(rows->keys, number >> 48, at);
		index_place_set(&((IndexTuple) at)->t_tid, (uint64) number);
	}
	return taken;
}

/* Write a row's tuple.  Returns 1. */
static uint32
write_string(index_loader *loader)
{
	const index_rows *rows = loader->cursor->rows;

	index_tree_add(loader->tree, index_entry_tuple(index_entry_of(rows, index_strings(rows)[loader->cursor->next])), 0);
	return 1;
}

/* Write rows; when a leaf is full, threads fill the next ones. */
static void
write_singles(index_loader *loader, uint32 num_rows)
{
	index_cursor *cursor = loader->cursor;
	const index_rows *rows = cursor->rows;
	uint64		end = cursor->next + num_rows;

	while (cursor->next < end)
	{
		uint32		written = rows->keys->are_numbers ? write_numbers(loader, end - cursor->next) : write_string(loader);

		index_cursor_skip(cursor, cursor->next + written);
		if (cursor->next < rows->num_items && index_tree_is_full(loader->tree, index_row_bytes(rows, cursor->next)))
			index_leaves_load(loader->tree, cursor, cursor->next - 1);
	}
	loader->num_rows = cursor->next;
}

/* ---- all rows */

static void
report_rows(const index_loader *loader)
{
	CHECK_FOR_INTERRUPTS();
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, loader->num_rows);
}

static void
load_singles(index_loader *loader)
{
	uint32		num_rows;

	while ((num_rows = index_count_singles(loader->cursor, MOST_SINGLES)) > 0)
	{
		end_posting(loader->tree, &loader->equals);
		write_singles(loader, num_rows);
		report_rows(loader);
	}
}

static void
load_row(index_loader *loader)
{
	if (loader->info->ii_Unique)
		check_unique(loader);
	if (loader->cursor->merges)
		add_to_posting(loader->tree, &loader->equals, loader->cursor);
	else
		index_tree_add(loader->tree, loader->cursor->tuple, 0);
	if (++loader->num_rows % REPORTED_ROWS == 0)
		report_rows(loader);
}

/* If the last row ends a tuple that ends a leaf, threads fill the next ones. */
static void
load_leaves(index_loader *loader)
{
	index_cursor *cursor = loader->cursor;
	uint64		last = cursor->next - loader->equals.num_places;

	if (loader->equals.num_places == 0 || !index_ends_tuple(cursor))
		return;
	end_posting(loader->tree, &loader->equals);
	if (index_tree_is_full(loader->tree, index_row_bytes(cursor->rows, cursor->next)))
		index_leaves_load(loader->tree, cursor, last);
	loader->num_rows = cursor->next;
}

static void
load_from_memory(index_loader *loader)
{
	if (loader->cursor->merges && loader->cursor->rows->keys->are_numbers)
		load_leaves(loader);
	load_singles(loader);
}

void
index_load(Relation heap, const IndexInfo *info, index_cursor *cursor)
{
	index_loader loader = {.heap = heap,.info = info,.cursor = cursor};

	loader.tree = index_tree_start(heap, cursor->rows->keys->index);
	cursor->merges = index_tree_merges(loader.tree) && !info->ii_Unique;
	cursor->equals_matter = cursor->merges || info->ii_Unique;
	for (;;)
	{
		if (cursor->heap == NULL)
			load_from_memory(&loader);
		if (!index_cursor_next(cursor))
			break;
		load_row(&loader);
	}
	end_posting(loader.tree, &loader.equals);
	report_rows(&loader);
	index_tree_finish(loader.tree);
}

/*
 * index_leaves.c
 *		Leaves of an index that threads fill.
 *
 * The sizes of tuples are known from their items, if rows have keys of their own, or if they are numbers and those with equal keys
 * fit in one tuple.  So the session plans leaves by the rules of index_levels.c, and threads fill some while the session adds those
 * before to the tree, logs and writes them.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "compat.h"
#include "core/sizes.h"
#include "index/index_leaves.h"

/* Leaves of a batch. */
#define BATCH_LEAVES MGPU_SIZE(64, 4)

#define ENTRIES_AHEAD 12

typedef struct planned_leaf
{
	uint64		first;			/* row */
	uint64		last;			/* the first row of the last tuple */
	uint64		end;			/* the row behind the last tuple's last one */
	uint32		num_tuples;
	Size		last_posting;	/* bytes of the last tuple's list of places */
	Page		page;
} planned_leaf;

typedef struct leaf_batch
{
	const index_cursor *cursor;
	const index_rows *rows;
	uint32		most_places;	/* of a tuple */
	uint64		last;			/* as those of its last leaf */
	uint64		end;
	uint32		num_leaves;
	planned_leaf leaves[BATCH_LEAVES];
} leaf_batch;

/* ---- rows with keys of their own */

/* Whether a row can be one of them, but for its neighbours. */
static inline bool
is_plain(const index_rows *rows, uint64 i)
{
	if (rows->keys->are_numbers)
		return !index_has_null(rows, i);
	/* longer ones raise an error */
	return index_item_tuple_bytes(index_strings(rows)[i]) <= BLCKSZ / 4;
}

/* Whether a row may have the key of the one before, and that matters. */
static inline bool
is_equal(const index_cursor *cursor, uint64 i)
{
	return cursor->equals_matter && i < cursor->rows->num_items && index_may_be_equal(cursor->rows, i);
}

uint32
index_count_singles(const index_cursor *cursor, uint32 most)
{
	const index_rows *rows = cursor->rows;
	uint64		i = cursor->next;
	uint64		end = Min(rows->num_items, i + most);

	if (i > 0 && is_equal(cursor, i))
		return 0;
	while (i < end && is_plain(rows, i) && !is_equal(cursor, i + 1))
		i++;
	return i - cursor->next;
}

bool
index_ends_tuple(const index_cursor *cursor)
{
	return cursor->next > 0 && cursor->next < cursor->rows->num_items && !index_may_be_equal(cursor->rows, cursor->next);
}

/* ---- plans */

/* How many rows the tuple has that begins with this one: those of equal keys.  0: it is not for threads. */
static inline uint32
rows_of_tuple(const leaf_batch *batch, uint64 i)
{
	uint32		num_rows = 1;

	if (!is_plain(batch->rows, i))
		return 0;
	while (is_equal(batch->cursor, i + num_rows))
		if (++num_rows > batch->most_places)
			return 0;
	return num_rows;
}

/* Bytes of a tuple's list of places, if it has more than one. */
static inline Size
list_bytes(Size key_bytes, uint32 num_rows)
{
	return num_rows == 1 ? 0 : MAXALIGN(key_bytes + num_rows * sizeof(ItemPointerData)) - key_bytes;
}

/* Plan a leaf that begins with this row.  False: a tuple that is not of this kind comes before it is full. */
static bool
plan_leaf(const leaf_batch *batch, planned_leaf *leaf, Size least_space)
{
	const index_rows *rows = batch->rows;
	Size		space = BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)) - sizeof(ItemIdData);
	uint32		num_rows;

	leaf->num_tuples = 0;
	leaf->last_posting = 0;
	for (uint64 i = leaf->first; i < rows->num_items; i += num_rows)
	{
		Size		size = index_row_bytes(rows, i);
		Size		list;

		num_rows = rows_of_tuple(batch, i);
		if (num_rows == 0)
			return false;
		list = list_bytes(size, num_rows);
		leaf->end = i;
		if (index_page_is_full(space - sizeof(ItemIdData), INDEX_LEAF_NEEDS(size + list), leaf->num_tuples, leaf->last_posting, least_space))
			return true;
		space -= size + list + sizeof(ItemIdData);
		leaf->last = i;
		leaf->last_posting = list;
		leaf->num_tuples++;
	}
	return false;
}

/* Plan the leaves behind those of another batch.  The first one begins with a copy of their last tuple. */
static void
plan_batch(index_tree *tree, leaf_batch *batch, const leaf_batch *before)
{
	Size		least_space = index_tree_least_space(tree);

	batch->last = before->last;
	batch->end = before->end;
	for (batch->num_leaves = 0; batch->num_leaves < BATCH_LEAVES; batch->num_leaves++)
	{
		planned_leaf *leaf = &batch->leaves[batch->num_leaves];

		leaf->first = batch->last;
		if (!plan_leaf(batch, leaf, least_space))
			break;
		leaf->page = index_tree_page(tree);
		batch->last = leaf->last;
		batch->end = leaf->end;
	}
}

/* ---- tuples */

/* Give a tuple without a place those of some rows, as _bt_form_posting does. */
static void
write_places(const index_rows *rows, uint64 first, uint32 num_rows, IndexTuple tuple)
{
	Size		key_bytes = IndexTupleSize(tuple);
	Size		bytes = key_bytes + list_bytes(key_bytes, num_rows);
	ItemPointer places;

	/* what aligns it */
	((uint64 *) ((char *) tuple + bytes))[-1] = 0;
	tuple->t_info += bytes - key_bytes;
	BTreeTupleSetPosting(tuple, num_rows, key_bytes);
	places = BTreeTupleGetPosting(tuple);
	for (uint32 i = 0; i < num_rows; i++)
		index_place_set(&places[i], (uint64) index_number_at(rows, first + i));
}

static inline void
write_tuple(const index_rows *rows, uint64 i, uint32 num_rows, char *at)
{
	mgpu_u128	number;

	if (!rows->keys->are_numbers)
	{
		IndexTuple	tuple = index_entry_tuple(index_entry_of(rows, index_strings(rows)[i]));

		memcpy(at, tuple, index_row_bytes(rows, i));
		return;
	}
	number = index_number_at(rows, i);
	index_keys_write_plain(rows->keys, number >> 48, at);
	if (num_rows == 1)
		index_place_set(&((IndexTuple) at)->t_tid, (uint64) number);
	else
		write_places(rows, i, num_rows, (IndexTuple) at);
}

static void
fill_task(void *context, uint64 task, int worker)
{
	const leaf_batch *batch = context;
	const planned_leaf *leaf = &batch->leaves[task];
	const index_rows *rows = batch->rows;
	PageHeader	header = (PageHeader) leaf->page;
	bool		are_single = leaf->end - leaf->first == leaf->num_tuples;
	ItemId		item;
	uint32		num_rows;

	index_page_start(leaf->page, 0);
	item = PageGetItemId(leaf->page, P_FIRSTKEY);
	for (uint64 i = leaf->first; i < leaf->end; i += num_rows, item++)
	{
		Size		size = index_row_bytes(rows, i);

		num_rows = are_single ? 1 : rows_of_tuple(batch, i);
		size += list_bytes(size, num_rows);
		if (!rows->keys->are_numbers && i + ENTRIES_AHEAD < rows->num_items)
			index_fetch_ahead(index_entry_of(rows, index_strings(rows)[i + ENTRIES_AHEAD]));
		header->pd_upper -= size;
		ItemIdSetNormal(item, header->pd_upper, size);
		write_tuple(rows, i, num_rows, (char *) leaf->page + header->pd_upper);
	}
	header->pd_lower += leaf->num_tuples * sizeof(ItemIdData);
}

/* ---- batches */

static void
begin_batch(leaf_batch *batch)
{
	thread_work_begin(batch->rows->work, fill_task, batch, batch->num_leaves);
}

static void
add_batch(index_tree *tree, const leaf_batch *batch)
{
	for (uint32 i = 0; i < batch->num_leaves; i++)
		index_tree_add_leaf(tree, batch->leaves[i].page, batch->leaves[i].last_posting);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, batch->leaves[batch->num_leaves - 1].first);
}

static leaf_batch *
create_batch(const index_cursor *cursor, uint64 last)
{
	leaf_batch *batch = palloc(sizeof(leaf_batch));

	batch->cursor = cursor;
	batch->rows = cursor->rows;
	batch->most_places = cursor->merges && batch->rows->keys->are_numbers ? index_most_places(batch->rows->keys->plain_bytes) : 1;
	batch->last = last;
	batch->end = cursor->next;
	return batch;
}

void
index_leaves_load(index_tree *tree, index_cursor *cursor, uint64 last)
{
	leaf_batch *filled = create_batch(cursor, last);
	leaf_batch *next = create_batch(cursor, last);

	plan_batch(tree, next, filled);
	begin_batch(next);
	while (next->num_leaves > 0)
	{
		leaf_batch *planned = filled;

		filled = next;
		next = planned;
		plan_batch(tree, next, filled);
		thread_work_end(cursor->rows->work);
		begin_batch(next);
		add_batch(tree, filled);
	}
	thread_work_end(cursor->rows->work);
	index_cursor_skip(cursor, next->end);
	pfree(filled);
	pfree(next);
}

/*
 * index_leaves.c
 *		Leaves of an index that threads fill.
 *
 * Most rows of most indexes have keys of their own, and the sizes of their tuples are known from their items.  So the session
 * plans leaves by the rules of index_levels.c, and threads fill some while the session adds those before to the tree, logs and
 * writes them.
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
	uint32		num_tuples;
	Page		page;
} planned_leaf;

typedef struct leaf_batch
{
	const index_cursor *cursor;
	const index_rows *rows;
	uint32		num_leaves;
	planned_leaf leaves[BATCH_LEAVES];
} leaf_batch;

/* ---- rows with keys of their own */

/* Whether a row can be one of them, but for its neighbours. */
static inline bool
is_plain(const index_rows *rows, uint64 i)
{
	if (rows->keys->are_numbers)
		return !index_keys_has_null(rows->keys, index_number_at(rows, i) >> 48);
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

/* ---- plans */

/* Plan a leaf that begins with this row.  False: one that is not of this kind comes before it is full. */
static bool
plan_leaf(const index_cursor *cursor, planned_leaf *leaf, Size least_space)
{
	const index_rows *rows = cursor->rows;
	Size		space = BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)) - sizeof(ItemIdData);
	uint32		num_tuples = 0;

	for (uint64 i = leaf->first; i < rows->num_items; i++)
	{
		Size		size = index_row_bytes(rows, i);

		/* the first one was looked at before */
		if (num_tuples > 0 && (!is_plain(rows, i) || is_equal(cursor, i) || is_equal(cursor, i + 1)))
			return false;
		if (index_page_is_full(space - sizeof(ItemIdData), INDEX_LEAF_NEEDS(size), num_tuples, 0, least_space))
		{
			leaf->num_tuples = num_tuples;
			return true;
		}
		space -= size + sizeof(ItemIdData);
		num_tuples++;
	}
	return false;
}

/* Plan the leaves from this row on.  Returns the last leaf's last row, with which the next one begins. */
static uint64
plan_batch(index_tree *tree, leaf_batch *batch, uint64 first)
{
	Size		least_space = index_tree_least_space(tree);

	for (batch->num_leaves = 0; batch->num_leaves < BATCH_LEAVES; batch->num_leaves++)
	{
		planned_leaf *leaf = &batch->leaves[batch->num_leaves];

		leaf->first = first;
		if (!plan_leaf(batch->cursor, leaf, least_space))
			break;
		leaf->page = index_tree_page(tree);
		first += leaf->num_tuples - 1;
	}
	return first;
}

/* ---- tuples */

static inline void
write_tuple(const index_rows *rows, uint64 i, char *at)
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
	index_place_set(&((IndexTuple) at)->t_tid, (uint64) number);
}

static void
fill_task(void *context, uint64 task, int worker)
{
	const leaf_batch *batch = context;
	const planned_leaf *leaf = &batch->leaves[task];
	const index_rows *rows = batch->rows;
	PageHeader	header = (PageHeader) leaf->page;
	ItemId		item;

	index_page_start(leaf->page, 0);
	item = PageGetItemId(leaf->page, P_FIRSTKEY);
	for (uint64 i = leaf->first; i < leaf->first + leaf->num_tuples; i++, item++)
	{
		Size		size = index_row_bytes(rows, i);

		if (!rows->keys->are_numbers && i + ENTRIES_AHEAD < rows->num_items)
			index_fetch_ahead(index_entry_of(rows, index_strings(rows)[i + ENTRIES_AHEAD]));
		header->pd_upper -= size;
		ItemIdSetNormal(item, header->pd_upper, size);
		write_tuple(rows, i, (char *) leaf->page + header->pd_upper);
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
		index_tree_add_leaf(tree, batch->leaves[i].page);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, batch->leaves[batch->num_leaves - 1].first);
}

void
index_leaves_load(index_tree *tree, index_cursor *cursor)
{
	leaf_batch *filled = palloc(sizeof(leaf_batch));
	leaf_batch *next = palloc(sizeof(leaf_batch));
	uint64		last = cursor->next - 1;

	filled->cursor = next->cursor = cursor;
	filled->rows = next->rows = cursor->rows;
	last = plan_batch(tree, next, last);
	begin_batch(next);
	while (next->num_leaves > 0)
	{
		leaf_batch *planned = filled;

		filled = next;
		next = planned;
		last = plan_batch(tree, next, last);
		thread_work_end(cursor->rows->work);
		begin_batch(next);
		add_batch(tree, filled);
	}
	thread_work_end(cursor->rows->work);
	index_cursor_skip(cursor, last + 1);
	pfree(filled);
	pfree(next);
}

/*
 * index_levels.c
 *		Forms the pages of a btree from its tuples in order, the same bytes as PostgreSQL's build.
 *
 * Each level has a page that is filled.  When it is full, its last tuple becomes the first of the next page; what separates
 * the two becomes the full page's high key, and goes to the level above with a link to the next page.  When a page is full,
 * how blocks are numbered and where tuples lie in a page are those of nbtsort.c.  What a high key keeps of a tuple
 * is PostgreSQL's own function's to say: it is called once for each page.
 *
 * Rejected: to feed PostgreSQL's btbuild with sorted rows.  It takes twice as long, most of it for comparing tuples.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"

#include "compat.h"
#include "index/index_file.h"
#include "index/index_levels.h"

typedef struct index_level
{
	uint32		number;			/* 0: leaves */
	Page		page;
	BlockNumber block;
	OffsetNumber last;			/* P_HIKEY: the page has no tuple yet */
	Size		last_posting;	/* of the last tuple */
	Size		least_space;	/* a page with less is full */
	IndexTuple	low_key;		/* of the page: the high key of the one before */
	struct index_level *above;	/* NULL: none yet */
} index_level;

struct index_tree
{
	Relation	heap;
	Relation	index;
	BTScanInsert key;
	index_file *file;
	BlockNumber num_blocks;		/* given out */
	index_level *leaves;		/* NULL: there are no tuples yet */
};

index_tree *
index_tree_start(Relation heap, Relation index)
{
	index_tree *tree = palloc0(sizeof(index_tree));

	tree->heap = heap;
	tree->index = index;
	tree->key = _bt_mkscankey(index, NULL);
	tree->key->allequalimage = _bt_allequalimage(index, true);
	tree->num_blocks = BTREE_METAPAGE + 1;
	tree->file = index_file_open(index);
	return tree;
}

bool
index_tree_merges(const index_tree *tree)
{
	return tree->key->allequalimage && BTGetDeduplicateItems(tree->index);
}

/* ---- pages */

static inline BTPageOpaque
links_of(Page page)
{
	return (BTPageOpaque) PageGetSpecialPointer(page);
}

void
index_page_start(Page page, uint32 level)
{
	BTPageOpaque links;

	_bt_pageinit(page, BLCKSZ);
	links = links_of(page);
	links->btpo_prev = links->btpo_next = P_NONE;
	links->btpo_level = level;
	links->btpo_flags = level == 0 ? BTP_LEAF : 0;
	links->btpo_cycleid = 0;
	((PageHeader) page)->pd_lower += sizeof(ItemIdData);
}

static Page
start_page(index_tree *tree, uint32 level)
{
	Page		page = index_file_page(tree->file);

	index_page_start(page, level);
	return page;
}

/* A key below all others, with nothing but a link. */
static IndexTuple
make_lowest_key(void)
{
	IndexTuple	key = palloc0(sizeof(IndexTupleData));

	key->t_info = sizeof(IndexTupleData);
	BTreeTupleSetNAtts(key, 0, false);
	return key;
}

static index_level *
start_level(index_tree *tree, uint32 number)
{
	index_level *level = palloc0(sizeof(index_level));

	level->number = number;
	level->page = start_page(tree, number);
	level->block = tree->num_blocks++;
	level->last = P_HIKEY;
	level->least_space = number == 0 ? BTGetTargetPageFreeSpace(tree->index) : BLCKSZ * (100 - BTREE_NONLEAF_FILLFACTOR) / 100;
	level->low_key = make_lowest_key();
	return level;
}

/* Put a tuple behind the last one of the page. */
static inline void
append(index_level *level, IndexTuple tuple, Size size)
{
	PageHeader	header = (PageHeader) level->page;
	ItemId		item = PageGetItemId(level->page, ++level->last);
	IndexTupleData lowest;

	if (level->number > 0 && level->last == P_FIRSTKEY)
	{
		/* the first key above the leaves is below all others, whatever it was */
		lowest = *tuple;
		lowest.t_info = size = sizeof(IndexTupleData);
		BTreeTupleSetNAtts(&lowest, 0, false);
		tuple = &lowest;
	}
	header->pd_lower += sizeof(ItemIdData);
	header->pd_upper -= size;
	memcpy((char *) level->page + header->pd_upper, tuple, size);
	ItemIdSetNormal(item, header->pd_upper, size);
}

/* ---- full pages */

/* Make the last tuple of a page its high key: its line pointer is the first one, which was kept free. */
static void
move_to_high_key(Page page, OffsetNumber last)
{
	ItemId		item = PageGetItemId(page, last);

	*PageGetItemId(page, P_HIKEY) = *item;
	ItemIdSetUnused(item);
	((PageHeader) page)->pd_lower -= sizeof(ItemIdData);
}

/* A leaf's high key keeps only what tells its last tuple from the next page's first. */
static void
shorten_high_key(const index_tree *tree, Page page, OffsetNumber last)
{
	IndexTuple	left = (IndexTuple) PageGetItem(page, PageGetItemId(page, last));
	IndexTuple	right = (IndexTuple) PageGetItem(page, PageGetItemId(page, P_HIKEY));
	IndexTuple	key = _bt_truncate(tree->index, left, right, tree->key);

	if (!PageIndexTupleOverwrite(page, P_HIKEY, (Pointer) key, IndexTupleSize(key)))
		elog(ERROR, "a high key does not fit into page of index \"%s\"", RelationGetRelationName(tree->index));
	pfree(key);
}

static void add_to_level(index_tree *tree, index_level *level, IndexTuple tuple, Size posting_bytes);

/* Tell the level above of a page that is complete. */
static void
link_page(index_tree *tree, index_level *level, BlockNumber block)
{
	BTreeTupleSetDownLink(level->low_key, block);
	add_to_level(tree, level->above, level->low_key, 0);
	pfree(level->low_key);
	level->low_key = NULL;
}

/* Begin the next page of a level: given, or with the last tuple of the full one. */
static void
next_page(index_tree *tree, index_level *level, Page given)
{
	Page		full = level->page;
	BlockNumber block = level->block;
	OffsetNumber last = level->last;
	ItemId		moved = PageGetItemId(full, last);

	level->page = given ? given : start_page(tree, level->number);
	level->block = tree->num_blocks++;
	level->last = given ? PageGetMaxOffsetNumber(given) : P_HIKEY;
	if (given == NULL)
		append(level, (IndexTuple) PageGetItem(full, moved), ItemIdGetLength(moved));
	move_to_high_key(full, last);
	if (level->number == 0)
		shorten_high_key(tree, full, last - 1);
	if (level->above == NULL)
		level->above = start_level(tree, level->number + 1);
	link_page(tree, level, block);
	level->low_key = CopyIndexTuple((IndexTuple) PageGetItem(full, PageGetItemId(full, P_HIKEY)));
	links_of(full)->btpo_next = level->block;
	links_of(level->page)->btpo_prev = block;
	index_file_write(tree->file, block, full);
}

static inline bool
is_full(const index_level *level, Size size)
{
	return index_page_is_full(PageGetFreeSpace(level->page), level->number == 0 ? INDEX_LEAF_NEEDS(size) : size, level->last - P_HIKEY,
							  level->last_posting, level->least_space);
}

static void
add_to_level(index_tree *tree, index_level *level, IndexTuple tuple, Size posting_bytes)
{
	Size		size = MAXALIGN(IndexTupleSize(tuple));

	if (unlikely(size > mgpu_btree_most_bytes(level->page)))
		_bt_check_third_page(tree->index, tree->heap, level->number == 0, level->page, tuple);
	if (is_full(level, size))
	{
		CHECK_FOR_INTERRUPTS();
		next_page(tree, level, NULL);
	}
	level->last_posting = posting_bytes;
	append(level, tuple, size);
}

void
index_tree_add(index_tree *tree, IndexTuple tuple, Size posting_bytes)
{
	if (unlikely(tree->leaves == NULL))
		tree->leaves = start_level(tree, 0);
	add_to_level(tree, tree->leaves, tuple, posting_bytes);
}

/* How many tuples of a size can be added to a leaf that takes one: as many as add_to_level would before it is full. */
static uint32
most_tuples(const index_level *leaf, Size size)
{
	Size		least = Max(leaf->least_space, INDEX_LEAF_NEEDS(size));
	Size		step = size + sizeof(ItemIdData);
	Size		space = PageGetFreeSpace(leaf->page);

	/* the first two have other rules */
	if (leaf->last < P_FIRSTKEY || space < least + step)
		return 1;
	return (space - least) / step + 1;
}

uint32
index_tree_extend(index_tree *tree, Size size, uint32 num_tuples, char **first)
{
	index_level *leaf;
	PageHeader	header;
	ItemId		items;

	if (unlikely(tree->leaves == NULL))
		tree->leaves = start_level(tree, 0);
	leaf = tree->leaves;
	if (is_full(leaf, size))
		next_page(tree, leaf, NULL);
	num_tuples = Min(num_tuples, most_tuples(leaf, size));
	header = (PageHeader) leaf->page;
	*first = (char *) leaf->page + header->pd_upper - size;
	items = PageGetItemId(leaf->page, leaf->last + 1);
	for (uint32 i = 0; i < num_tuples; i++)
	{
		header->pd_upper -= size;
		ItemIdSetNormal(&items[i], header->pd_upper, size);
	}
	header->pd_lower += num_tuples * sizeof(ItemIdData);
	leaf->last += num_tuples;
	leaf->last_posting = 0;
	return num_tuples;
}

/* ---- leaves of threads */

Page
index_tree_page(index_tree *tree)
{
	return index_file_page(tree->file);
}

bool
index_tree_is_full(const index_tree *tree, Size size)
{
	return tree->leaves && is_full(tree->leaves, size);
}

Size
index_tree_least_space(const index_tree *tree)
{
	return BTGetTargetPageFreeSpace(tree->index);
}

void
index_tree_add_leaf(index_tree *tree, Page page, Size last_posting)
{
	CHECK_FOR_INTERRUPTS();
	next_page(tree, tree->leaves, page);
	tree->leaves->last_posting = last_posting;
}

/* ---- the end */

/* The last page of a level has no high key: move its line pointers to the place that was kept for one. */
static void
drop_high_key(Page page)
{
	PageHeader	header = (PageHeader) page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	memmove(&header->pd_linp[0], &header->pd_linp[1], (last - 1) * sizeof(ItemIdData));
	header->pd_lower -= sizeof(ItemIdData);
}

void
index_tree_finish(index_tree *tree)
{
	BlockNumber root = P_NONE;
	uint32		root_level = 0;
	Page		meta;

	for (index_level *level = tree->leaves; level != NULL; level = level->above)
	{
		if (level->above)
			link_page(tree, level, level->block);
		else
		{
			links_of(level->page)->btpo_flags |= BTP_ROOT;
			root = level->block;
			root_level = level->number;
		}
		drop_high_key(level->page);
		index_file_write(tree->file, level->block, level->page);
	}
	meta = index_file_page(tree->file);
	_bt_initmetapage(meta, root, root_level, tree->key->allequalimage);
	index_file_write(tree->file, BTREE_METAPAGE, meta);
	index_file_close(tree->file);
}

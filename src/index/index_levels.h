/*
 * index_levels.h
 *		Forms the pages of a btree from its tuples in order, the same bytes as PostgreSQL's build.
 */
#ifndef MGPU_INDEX_LEVELS_H
#define MGPU_INDEX_LEVELS_H

#include "access/itup.h"
#include "utils/rel.h"

typedef struct index_tree index_tree;

extern index_tree *index_tree_start(Relation heap, Relation index);

/* Whether tuples of rows with equal keys may be merged: to posting lists of so many bytes. */
extern bool index_tree_merges(const index_tree *tree);
#define INDEX_MOST_POSTING_BYTES (MAXALIGN_DOWN(BLCKSZ / 10) - sizeof(ItemIdData))

/* How many places the list of a tuple with a key of this size may have. */
static inline int
index_most_places(Size key_bytes)
{
	if (key_bytes >= INDEX_MOST_POSTING_BYTES)
		return 1;
	return Max(1, (MAXALIGN_DOWN(INDEX_MOST_POSTING_BYTES) - key_bytes) / sizeof(ItemPointerData));
}

/* Add a tuple.  posting_bytes: what of it is a list of places, which a key above the leaves does not keep. */
extern void index_tree_add(index_tree *tree, IndexTuple tuple, Size posting_bytes);

/*
 * Add up to num_tuples tuples of a size, each of a row of its own, which the caller writes before the next call: the first one
 * to *first, each next one right before the last.  Returns how many the page takes, at least one.
 */
extern uint32 index_tree_extend(index_tree *tree, Size size, uint32 num_tuples, char **first);

/* A leaf that threads fill (index_leaf_start), and that is then added. */
extern Page index_tree_page(index_tree *tree);

/* Whether the leaf takes no tuple of this size. */
extern bool index_tree_is_full(const index_tree *tree, Size size);

/* How many bytes a leaf that is not full has free, at least. */
extern Size index_tree_least_space(const index_tree *tree);

/*
 * Add a leaf, behind one that is full.  It has the tuples that it would have been given one by one, beginning with a copy of that one's
 * last; it is full, too.  last_posting: of its last tuple, as above.
 */
extern void index_tree_add_leaf(index_tree *tree, Page page, Size last_posting);

/* Start an empty page with a place for a high key.  For threads. */
extern void index_page_start(Page page, uint32 level);

/*
 * Whether a page with so much free space and so many tuples takes no more.  A leaf needs space for a tuple and for a place in the
 * table, which its high key may have.  The last tuple's list of places counts as free.  At least two tuples go to each page,
 * whatever the fill factor.
 */
#define INDEX_LEAF_NEEDS(size) ((size) + MAXALIGN(sizeof(ItemPointerData)))
static inline bool
index_page_is_full(Size space, Size needed, uint32 num_tuples, Size last_posting, Size least_space)
{
	return space < needed || (space + last_posting < least_space && num_tuples > 1);
}

/* Write what is left. */
extern void index_tree_finish(index_tree *tree);

#endif							/* MGPU_INDEX_LEVELS_H */

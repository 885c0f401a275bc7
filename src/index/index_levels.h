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

/* Add a tuple.  posting_bytes: what of it is a list of places, which a key above the leaves does not keep. */
extern void index_tree_add(index_tree *tree, IndexTuple tuple, Size posting_bytes);

/*
 * Add up to num_tuples tuples of a size, each of a row of its own, which the caller writes before the next call: the first one
 * to *first, each next one right before the last.  Returns how many the page takes, at least one.
 */
extern uint32 index_tree_extend(index_tree *tree, Size size, uint32 num_tuples, char **first);

/* Write what is left. */
extern void index_tree_finish(index_tree *tree);

#endif							/* MGPU_INDEX_LEVELS_H */

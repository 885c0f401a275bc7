/*
 * merge_blocks.h
 *		Merges two sorted arrays block by block, by keys that are made as it goes.
 */
#ifndef MGPU_MERGE_BLOCKS_H
#define MGPU_MERGE_BLOCKS_H

#include "run_series.h"
#include "sorted_input.h"

/*
 * What has been read of one array and is not merged yet: items begin to end of a
 * block that holds at most as many as there is room for.  What is before begin has
 * been merged; the last of it is kept, so that an item always has its predecessor.
 */
typedef struct merge_block
{
	int64		num_items;		/* of the whole array, NULL elements left out */
	int64		num_read;
	int64		room;			/* items */
	int64		begin;
	int64		end;
	int64		unsorted;		/* which item belongs before its predecessor; -1: none so far */
} merge_block;

typedef struct merge_blocks merge_blocks;

/*
 * How items are held.  which: 0 is a, 1 is b.
 *
 * read_on adds items behind end: as many as there is room for, at least one if the
 * block has none; it notes the first that belongs before its predecessor.  False: an
 * element has no key.  shift forgets the first items of a block.  compare is
 * memcmp's answer for an item of a and one of b, in the order that is asked for.
 * merge ranks the next num_a and num_b items, a's from 0 and b's from num_a on.
 */
typedef struct merge_items
{
	bool		(*read_on) (merge_blocks *merge, int which);
	void		(*shift) (merge_blocks *merge, int which, int64 num_items);
	int			(*compare) (const merge_blocks *merge, int64 a_item, int64 b_item);
	void		(*merge) (merge_blocks *merge, int64 num_a, int64 num_b, uint32 *ranks);
} merge_items;

struct merge_blocks
{
	const merge_items *items;
	const sorted_input *input;
	merge_block blocks[2];
	run_series *series;			/* of the call */
};

/* Sets up everything but what items themselves need; at most most_items of each array at a time. */
extern void merge_blocks_start(merge_blocks *merge, const merge_items *items, const sorted_input *input,
							   int64 most_items, run_series *series);

/*
 * Sets the bits of sides (sorted_input.h) from the one at place on where elements
 * are b's; the others are 0 on entry.  False, and sides undefined: some element has
 * no key.  Raises where an array is not sorted: a's first such item or, if a has none, b's.
 */
extern bool merge_blocks_run(merge_blocks *merge, uint8 *sides, int64 place);

/* One job for merge: keys of its items, in memory. */
extern void merge_blocks_job(merge_blocks *merge, const void *a_keys, int64 num_a, const void *b_keys, int64 num_b,
							 uint32 key_kind, uint32 *ranks);

/* Where in the array an item of a block is. */
static inline int64
merge_block_position(const merge_block *block, int64 item)
{
	return block->num_read - block->end + item;
}

#endif							/* MGPU_MERGE_BLOCKS_H */

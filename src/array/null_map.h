/*
 * null_map.h
 *		Rank and select over an array's null bitmap.
 *
 * A sort handles only the present elements, numbered 0, 1, 2 … (their rank).  SQL uses positions,
 * which also count NULL elements.  The map converts one to the other in a few instructions, and
 * takes at most an eighth of a byte for each element of the array.  A table of positions was
 * rejected: it takes 4 bytes for each element.
 */
#ifndef MGPU_ARRAY_NULL_MAP_H
#define MGPU_ARRAY_NULL_MAP_H

#include "utils/array.h"

typedef struct null_map
{
	const uint8 *bitmap;
	int64		num_items;
	uint32	   *word_ranks;		/* elements present before each 64-bit word */
	uint32	   *rank_words;		/* word of every 64th present element */
	int64		num_words;
} null_map;

/* The map's memory is palloc'd.  null_map_free frees it. */
extern void null_map_build(null_map *map, const uint8 *bitmap, int64 num_items);
extern void null_map_free(null_map *map);

/* Position of the present element with this rank. */
extern int64 null_map_select(const null_map *map, uint32 rank);

/* Number of present elements before position. */
extern uint32 null_map_rank(const null_map *map, int64 position);

/* Present elements among positions begin … end - 1; bitmap may be NULL. */
extern int64 null_bitmap_count(const uint8 *bitmap, int64 begin, int64 end);

static inline bool
null_bitmap_present(const uint8 *bitmap, int64 position)
{
	return bitmap == NULL || (bitmap[position / 8] & (1 << (position % 8))) != 0;
}

#endif							/* MGPU_ARRAY_NULL_MAP_H */

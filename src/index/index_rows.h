/*
 * index_rows.h
 *		The rows of an index that is built, collected in the order of the table and then sorted.
 *
 * An item stands for a row: 16 bytes, most significant first, so that one sort serves all.  If rows are numbers (index_keys.h),
 * an item is the number and the row's place in the table.  Otherwise it is the first 8 bytes of the row's string, and where its
 * entry is: the index tuple and the rest of the string.
 */
#ifndef MGPU_INDEX_ROWS_H
#define MGPU_INDEX_ROWS_H

#include "storage/itemptr.h"

#include "index/index_keys.h"

typedef struct index_item
{
	uint64		high;			/* both in network byte order */
	uint64		low;
} index_item;

/* A row with a string.  The tuple follows, then the string's bytes from the ninth on. */
typedef struct index_entry
{
	uint32		rest_bytes;
	uint16		tuple_bytes;
	bool		is_dead;		/* some snapshot may see it, but uniqueness does not count it */
	bool		has_null;		/* in a key */
} index_entry;

/* Blocks of entries; an entry is found by block << 32 | offset. */
#define INDEX_MOST_BLOCKS 65536

typedef struct index_rows
{
	const index_keys *keys;
	MemoryContext context;
	Size		memory;			/* bytes to stay within */
	index_item *items;
	uint64		num_items;
	uint64		most_items;
	char	  **blocks;
	uint32		num_blocks;
	Size		block_used;		/* of the last block */
	Size		block_bytes;	/* its size */
	Size		entry_bytes;	/* size of all blocks */
	unsigned char *string;		/* of the row that is added */
	Size		string_space;
	MemoryContext detoasted;	/* of the row that is added */
	uint64		num_rows;		/* those in runs, too */
	const char *why_not;		/* rows cannot be collected this way; a constant clause */
	bool		needs_strings;	/* because they are no numbers */
	struct index_runs *runs;	/* what did not fit in memory; NULL: nothing */
} index_rows;

extern void index_rows_start(index_rows *rows, const index_keys *keys, MemoryContext context, Size memory);

/* Add a row.  Does nothing once why_not is set.  Values may be toasted. */
extern void index_rows_add(index_rows *rows, ItemPointer place, const Datum *values, const bool *nulls, bool is_dead);

/* Add rows of a block that are numbers. */
extern void index_rows_add_numbers(index_rows *rows, BlockNumber block, const OffsetNumber *offsets, const mgpu_u128 *numbers,
								   uint32 num_rows);

/* Values do not fit in numbers. */
extern void index_rows_need_strings(index_rows *rows);

/* Sort the items that are in memory. */
extern void index_rows_sort(index_rows *rows);

/* Forget the rows in memory. */
extern void index_rows_reset(index_rows *rows);

static inline index_entry *
index_entry_at(char *const *blocks, uint64 at)
{
	return (index_entry *) (blocks[at >> 32] + (uint32) at);
}

static inline IndexTuple
index_entry_tuple(const index_entry *entry)
{
	return (IndexTuple) (entry + 1);
}

static inline const unsigned char *
index_entry_rest(const index_entry *entry)
{
	return (const unsigned char *) (entry + 1) + entry->tuple_bytes;
}

static inline Size
index_entry_bytes(const index_entry *entry)
{
	return MAXALIGN(sizeof(index_entry) + entry->tuple_bytes + entry->rest_bytes);
}

/* A place in the table as a number of 48 bits: block, offset, whether the row is dead. */
static inline uint64
index_place(const ItemPointerData *place, bool is_dead)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(place) << 16 |
		(uint64) ItemPointerGetOffsetNumberNoCheck(place) << 1 | (is_dead ? 1 : 0);
}

/* The place that the low 48 bits of a number stand for. */
static inline void
index_place_set(ItemPointerData *place, uint64 number)
{
	ItemPointerSet(place, (BlockNumber) (number >> 16), (number & 0xFFFF) >> 1);
}

#endif							/* MGPU_INDEX_ROWS_H */

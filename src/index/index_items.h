/*
 * index_items.h
 *		The rows of an index that is built, in memory: collected in the order of the table, and then sorted.
 *
 * An item stands for a row: a number, so that one sort serves all.  If rows are numbers (index_keys.h), an item is the number and
 * the row's place in the table, in 16 bytes, or in 8 or 12 if both fit there.  Otherwise it is the first 8 bytes of the row's string, and
 * where its entry is (index_make.h).
 */
#ifndef MGPU_INDEX_ITEMS_H
#define MGPU_INDEX_ITEMS_H

#include "storage/block.h"
#include "storage/itemptr.h"

#include "index/index_make.h"
#include "index/index_narrow.h"
#include "threads.h"

/* Blocks of entries. */
#define INDEX_MOST_BLOCKS 65536

/* Bits of a place in an item of 8 or 12 bytes that are no block: the offset, and whether the row is dead. */
#define INDEX_OFFSET_BITS 10

typedef struct index_rows
{
	const index_keys *keys;
	MemoryContext context;
	thread_work *work;
	Size		memory;			/* bytes to stay within */
	uint32		item_bytes;		/* 8, 12 or 16 */
	uint32		place_bits;		/* of a place in an item of 8 or 12; 0: items have 16 */
	BlockNumber num_blocks;		/* else no place is beyond */
	mgpu_u128	least_key;		/* of an item that has a number, the lowest bit of the keys */
	mgpu_u128	null_bits;		/* those that tell NULLs from values */
	mgpu_u128	no_null;		/* these bits of a row without NULLs */
	void	   *items;
	uint64		num_items;
	uint64		most_items;
	uint64		expected_items;	/* 0: not known */
	char	  **blocks;			/* of entries */
	uint32		num_entry_blocks;
	Size		entry_bytes;	/* size of all blocks */
	int			num_makers;
	index_maker makers[MGPU_MAX_CPU_THREADS];	/* of threads; the first one is the session's */
	MemoryContext detoasted;	/* of the row that is added */
	uint64		num_rows;		/* those in runs, too */
	const char *why_not;		/* rows cannot be collected this way; a constant clause */
	bool		needs_strings;	/* because they are no numbers */
	struct index_runs *runs;	/* what did not fit in memory; NULL: nothing */
} index_rows;

/* Forget the rows in memory. */
extern void index_rows_reset(index_rows *rows);

/* A place in the table as a number of 48 bits: block, offset, whether the row is dead. */
static inline uint64
index_place(BlockNumber block, OffsetNumber offset, bool is_dead)
{
	return (uint64) block << 16 | (uint64) offset << 1 | (is_dead ? 1 : 0);
}

/* The place that the low 48 bits of a number stand for. */
static inline void
index_place_set(ItemPointerData *place, uint64 number)
{
	ItemPointerSet(place, (BlockNumber) (number >> 16), (number & 0xFFFF) >> 1);
}

static inline void *
index_item_at(const index_rows *rows, uint64 i)
{
	return (char *) rows->items + i * rows->item_bytes;
}

/* Set item i to a row's number and its place. */
static inline void
index_put_number(const index_rows *rows, uint64 i, mgpu_u128 number, uint64 place)
{
	uint64		packed = place >> 16 << INDEX_OFFSET_BITS | (place & ((1 << INDEX_OFFSET_BITS) - 1));

	if (rows->item_bytes == sizeof(uint64))
		*(uint64 *) index_item_at(rows, i) = (uint64) number << rows->place_bits | packed;
	else if (rows->item_bytes == sizeof(index_narrow))
		*(index_narrow *) index_item_at(rows, i) = index_narrow_of(number << rows->place_bits | packed);
	else
		*(mgpu_u128 *) index_item_at(rows, i) = number << 48 | place;
}

static inline mgpu_u128
index_item_bits(const index_rows *rows, const void *item)
{
	if (rows->item_bytes == sizeof(uint64))
		return *(const uint64 *) item;
	if (rows->item_bytes == sizeof(index_narrow))
		return index_narrow_value(*(const index_narrow *) item);
	return *(const mgpu_u128 *) item;
}

/* An item that has a number: that, and the place in the low 48 bits. */
static inline mgpu_u128
index_number_of(const index_rows *rows, const void *item)
{
	mgpu_u128	bits = index_item_bits(rows, item);
	uint64		place = (uint64) bits & ((UINT64CONST(1) << rows->place_bits) - 1);

	if (rows->item_bytes == sizeof(mgpu_u128))
		return bits;
	return (bits >> rows->place_bits) << 48 | place >> INDEX_OFFSET_BITS << 16 | (place & ((1 << INDEX_OFFSET_BITS) - 1));
}

static inline mgpu_u128
index_number_at(const index_rows *rows, uint64 i)
{
	return index_number_of(rows, index_item_at(rows, i));
}

/* Whether a key of item i, which has a number, is NULL. */
static inline bool
index_has_null(const index_rows *rows, uint64 i)
{
	return (index_item_bits(rows, index_item_at(rows, i)) & rows->null_bits) != rows->no_null;
}

/* Whether item i has the key of the one before.  Strings: whether it may. */
static inline bool
index_may_be_equal(const index_rows *rows, uint64 i)
{
	const mgpu_u128 *wide = rows->items;

	if (rows->keys->are_numbers)
		return (index_item_bits(rows, index_item_at(rows, i - 1)) ^ index_item_bits(rows, index_item_at(rows, i))) < rows->least_key;
	return (wide[i - 1] ^ wide[i]) >> 64 == 0 && (wide[i] & INDEX_ITEM_DIFFERS) == 0;
}

/* Items of strings. */
static inline mgpu_u128 *
index_strings(const index_rows *rows)
{
	return (mgpu_u128 *) rows->items;
}

static inline index_entry *
index_entry_of(const index_rows *rows, mgpu_u128 item)
{
	return index_entry_at(rows->blocks, item);
}

#endif							/* MGPU_INDEX_ITEMS_H */

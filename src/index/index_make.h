/*
 * index_make.h
 *		Makes what the sort of an index needs of a row whose keys are a string: its index tuple and the string.
 *
 * These functions are for threads, too: they call nothing of PostgreSQL that allocates or throws.
 */
#ifndef MGPU_INDEX_MAKE_H
#define MGPU_INDEX_MAKE_H

#include "storage/itemptr.h"

#include "index/index_keys.h"

/*
 * The tuple follows.  The rest of the string are its bytes from the ninth on, or all of a collated one.  It is the tuple's own
 * value, or is behind the tuple.
 */
typedef struct index_entry
{
	uint32		rest_bytes;
	uint16		rest_at;		/* from the tuple on */
	bool		is_dead;		/* some snapshot may see it, but uniqueness does not count it */
	bool		has_null;		/* in a key */
} index_entry;

/* Where a thread puts its entries, and the space that it needs. */
typedef struct index_maker
{
	const index_keys *keys;
	char	   *block;			/* NULL: none */
	uint32		block_number;
	uint32		block_bytes;
	uint32		block_used;
	uint32		needed;			/* of a row that found no room: bytes of its entry */
	unsigned char *string;		/* of the row that is made */
	Size		string_space;
} index_maker;

typedef struct index_row
{
	const Datum *values;
	const bool *nulls;
	const Datum *plain;			/* the keys' values, not toasted */
	IndexTuple	made;			/* NULL: it is made where it is to be */
	ItemPointerData place;
	bool		is_dead;
} index_row;

typedef enum index_made
{
	INDEX_MADE,
	INDEX_NO_ROOM,				/* in the block */
	INDEX_NO_SPACE,				/* for the string */
	INDEX_TOASTED,				/* PostgreSQL has to make the tuple */
	INDEX_MALFORMED
} index_made;

/*
 * Make a row's entry and item: its string's first 8 bytes as a number, the tuple's size, and where the entry is.  So pages can be
 * planned without a look at entries, which lie anywhere.
 */
extern index_made index_make(index_maker *maker, const index_row *row, mgpu_u128 *item);

static inline mgpu_u128
index_string_item(uint64 code, Size tuple_bytes, uint32 block, uint32 offset)
{
	return (mgpu_u128) code << 64 | (uint64) (tuple_bytes / MAXIMUM_ALIGNOF) << 48 | (uint64) block << 32 | offset;
}

/* Set in an item once it is known that its string differs from that of the one before. */
#define INDEX_ITEM_DIFFERS ((mgpu_u128) 1 << 63)

static inline index_entry *
index_entry_at(char *const *blocks, mgpu_u128 item)
{
	return (index_entry *) (blocks[(uint16) (item >> 32)] + (uint32) item);
}

static inline Size
index_item_tuple_bytes(mgpu_u128 item)
{
	return (Size) ((uint16) (item >> 48) & 0x7FFF) * MAXIMUM_ALIGNOF;
}

/* Most entries have two lines of the processor's cache, or three. */
static inline void
index_fetch_ahead(const index_entry *entry)
{
	for (int i = 0; i < 3; i++)
		__builtin_prefetch((const char *) entry + i * 64);
}

static inline IndexTuple
index_entry_tuple(const index_entry *entry)
{
	return (IndexTuple) (entry + 1);
}

static inline const unsigned char *
index_entry_rest(const index_entry *entry)
{
	return (const unsigned char *) (entry + 1) + entry->rest_at;
}

static inline Size
index_entry_bytes(const index_entry *entry)
{
	Size		tuple_bytes = IndexTupleSize(index_entry_tuple(entry));

	return MAXALIGN(sizeof(index_entry) + Max(tuple_bytes, entry->rest_at + entry->rest_bytes));
}

/* Compare strings whose first bytes are equal, up to an offset in their rests; of equal ones, the rows' places. */
static inline int
index_compare_rest(const index_entry *a, const index_entry *b, uint32 offset)
{
	uint32		common = Min(a->rest_bytes, b->rest_bytes);
	int			order = 0;

	if (common > offset)
		order = memcmp(index_entry_rest(a) + offset, index_entry_rest(b) + offset, common - offset);
	if (order == 0 && a->rest_bytes != b->rest_bytes)
		order = a->rest_bytes < b->rest_bytes ? -1 : 1;
	if (order == 0)
		order = ItemPointerCompare(&index_entry_tuple(a)->t_tid, &index_entry_tuple(b)->t_tid);
	return order;
}

/* Whether strings with the same first 8 bytes are equal. */
static inline bool
index_same_rest(const index_entry *a, const index_entry *b)
{
	return a->rest_bytes == b->rest_bytes && memcmp(index_entry_rest(a), index_entry_rest(b), a->rest_bytes) == 0;
}

#endif							/* MGPU_INDEX_MAKE_H */

/*
 * index_sort.c
 *		Sorts the items of an index that is built.
 *
 * By radix, from the highest bits in which items differ: threads move all items to parts that fit a cache, and each part is sorted
 * by one thread in the same way.  Memory for a second copy is there, so items are moved and not swapped.  Parts that are
 * too large for one thread, as of keys that crowd, are cut again by all.
 *
 * Short items of a part are left to the core's sort.  Its executors were rejected: they choose bounds from a sample and compare
 * each item with several, so that 10 million items of 16 bytes take nearly twice as long.
 */
#include "postgres.h"

#include <stdatomic.h>

#include "core/cpu_codec.h"
#include "core/sizes.h"
#include "core/unsigned_sort.h"
#include "index/index_narrow.h"
#include "index/index_sort.h"
#include "large_memory.h"

/* All threads cut by so many bits; one thread by as many as leave a few items in each part. */
#define SHARED_BITS 10
#define MOST_BITS 11
#define LEAST_BITS 6

/* Items of a task of the cut. */
#define CHUNK_ITEMS MGPU_SIZE(128 * 1024, 64)

/* Items that one thread sorts, at most. */
#define PART_ITEMS MGPU_SIZE(64 * 1024, 64)

/* Fewer items are inserted one by one. */
#define INSERTED_ITEMS 16

typedef struct sort_part
{
	uint64		begin;
	uint64		end;
	int			side;			/* of index_sorter.sides, where its items are */
} sort_part;

typedef struct index_sorter
{
	char	   *sides[2];		/* the caller's memory, and where the result will be */
	uint32		width;
	uint64		part_items;		/* larger parts are cut by all threads */
	uint32		num_parts;
	uint32		most_parts;
	sort_part  *parts;			/* for one thread each */
	atomic_bool out_of_order;

	/* of a part that is cut */
	sort_part	whole;
	uint64		num_chunks;
	unsigned	shift;
	mgpu_u128  *differing;		/* by chunk */
	uint32	   *counts;			/* by chunk and digit: numbers, then places from the part's begin on */
} index_sorter;

/* ---- of one thread */

static inline unsigned
digit_bits(uint64 num_items)
{
	unsigned	bits = mgpu_bit_length(num_items);

	return bits < LEAST_BITS + 2 ? LEAST_BITS : Min(bits - 2, MOST_BITS);
}

/* The digit's lowest bit, if it is the highest one that differs. */
static inline unsigned
digit_shift(mgpu_u128 differing, unsigned bits)
{
	unsigned	length = mgpu_bit_length(differing);

	return length < bits ? 0 : length - bits;
}

/* The items of each width have functions of their own. */
#define SORT_ITEM uint64
#define SORT_VALUE(item) (item)
#include "index/index_sort_items.h"
#define SORT_ITEM mgpu_u128
#define SORT_VALUE(item) (item)
#include "index/index_sort_items.h"
#define SORT_ITEM index_narrow
#define SORT_VALUE(item) index_narrow_value(item)
#include "index/index_sort_items.h"

#define CALL_WIDTH(sorter, function, ...) \
	((sorter)->width == sizeof(uint64) ? function##_uint64(__VA_ARGS__) : \
	 (sorter)->width == sizeof(index_narrow) ? function##_index_narrow(__VA_ARGS__) : function##_mgpu_u128(__VA_ARGS__))

static inline void *
item_at(const index_sorter *sorter, int side, uint64 i)
{
	return sorter->sides[side] + i * sorter->width;
}

static void
sort_task(void *context, uint64 task, int worker)
{
	const index_sorter *sorter = context;
	const sort_part *part = &sorter->parts[task];
	void	   *items = item_at(sorter, part->side, part->begin);
	void	   *other = item_at(sorter, !part->side, part->begin);

	uint64		num_items = part->end - part->begin;

	if (sorter->width != sizeof(uint64))
		CALL_WIDTH(sorter, sort_items, items, other, num_items, part->side == 0);
	else if (part->side == 0)
	{
		memcpy(other, items, num_items * sizeof(uint64));
		mgpu_sort_unsigned(other, num_items, sizeof(uint64), items);
	}
	else
		mgpu_sort_unsigned(items, num_items, sizeof(uint64), other);
}

/* ---- of all threads */

/* The items of a task of the cut: sets begin and returns how many. */
static uint64
chunk_of(const index_sorter *sorter, uint64 task, uint64 *begin)
{
	*begin = sorter->whole.begin + task * CHUNK_ITEMS;
	return Min(sorter->whole.end - *begin, CHUNK_ITEMS);
}

static void
check_task(void *context, uint64 task, int worker)
{
	index_sorter *sorter = context;
	uint64		begin;
	uint64		num_items = chunk_of(sorter, task, &begin);

	/* with the next chunk's first one */
	num_items += begin + num_items < sorter->whole.end ? 1 : 0;
	if (!sorter->out_of_order && !CALL_WIDTH(sorter, is_in_order, item_at(sorter, 0, begin), num_items))
		sorter->out_of_order = true;
}

static void
differ_task(void *context, uint64 task, int worker)
{
	index_sorter *sorter = context;
	int			side = sorter->whole.side;
	uint64		begin;
	uint64		num_items = chunk_of(sorter, task, &begin);

	sorter->differing[task] = CALL_WIDTH(sorter, find_differing, item_at(sorter, side, begin), num_items,
										 item_at(sorter, side, sorter->whole.begin));
}

static void
count_task(void *context, uint64 task, int worker)
{
	index_sorter *sorter = context;
	uint64		begin;
	uint64		num_items = chunk_of(sorter, task, &begin);

	CALL_WIDTH(sorter, count_digits, item_at(sorter, sorter->whole.side, begin), num_items, sorter->shift,
			   (1 << SHARED_BITS) - 1, sorter->counts + (task << SHARED_BITS));
}

static void
move_task(void *context, uint64 task, int worker)
{
	index_sorter *sorter = context;
	int			side = sorter->whole.side;
	uint64		begin;
	uint64		num_items = chunk_of(sorter, task, &begin);

	CALL_WIDTH(sorter, move_items, item_at(sorter, side, begin), item_at(sorter, !side, sorter->whole.begin), num_items,
			   sorter->shift, (1 << SHARED_BITS) - 1, sorter->counts + (task << SHARED_BITS));
}

static void
add_part(index_sorter *sorter, uint64 begin, uint64 end, int side)
{
	if (begin == end)
		return;
	if (sorter->num_parts == sorter->most_parts)
	{
		sorter->most_parts = Max(sorter->most_parts * 2, 2 << SHARED_BITS);
		sorter->parts = sorter->parts ? repalloc(sorter->parts, sorter->most_parts * sizeof(sort_part))
			: palloc(sorter->most_parts * sizeof(sort_part));
	}
	sorter->parts[sorter->num_parts++] = (sort_part) {begin, end, side};
}

/* Turn numbers into places, by digit and then by chunk.  What has a digit is a part. */
static void
place_chunks(index_sorter *sorter)
{
	uint32		place = 0;

	for (uint32 digit = 0; digit < 1 << SHARED_BITS; digit++)
	{
		uint32		first = place;

		for (uint64 chunk = 0; chunk < sorter->num_chunks; chunk++)
		{
			uint32	   *entry = &sorter->counts[chunk << SHARED_BITS | digit];
			uint32		count = *entry;

			*entry = place;
			place += count;
		}
		add_part(sorter, sorter->whole.begin + first, sorter->whole.begin + place, !sorter->whole.side);
	}
}

static void
run_chunks(index_sorter *sorter, mgpu_task_function function, thread_work *work)
{
	thread_work_run(work, function, sorter, sorter->num_chunks, UINT64_MAX);
}

static void
start_whole(index_sorter *sorter, sort_part whole)
{
	sorter->whole = whole;
	sorter->num_chunks = (whole.end - whole.begin + CHUNK_ITEMS - 1) / CHUNK_ITEMS;
}

/* Cut a part by all threads. */
static void
cut(index_sorter *sorter, sort_part whole, thread_work *work)
{
	mgpu_u128	differing = 0;

	start_whole(sorter, whole);
	run_chunks(sorter, differ_task, work);
	for (uint64 chunk = 0; chunk < sorter->num_chunks; chunk++)
		differing |= sorter->differing[chunk];
	/* a part of equal items has nothing to cut */
	if (differing == 0)
		sorter->part_items = Max(sorter->part_items, whole.end - whole.begin);
	sorter->shift = digit_shift(differing, SHARED_BITS);
	run_chunks(sorter, count_task, work);
	place_chunks(sorter);
	run_chunks(sorter, move_task, work);
}

/* Cut parts until each is for one thread. */
static void
cut_all(index_sorter *sorter, uint64 num_items, thread_work *work)
{
	uint32		next = 0;

	sorter->differing = palloc(sorter->num_chunks * sizeof(mgpu_u128));
	sorter->counts = palloc(sorter->num_chunks * (sizeof(uint32) << SHARED_BITS));
	add_part(sorter, 0, num_items, 0);
	while (next < sorter->num_parts)
	{
		sort_part	part = sorter->parts[next];

		if (part.end - part.begin <= sorter->part_items)
		{
			next++;
			continue;
		}
		sorter->parts[next] = sorter->parts[--sorter->num_parts];
		cut(sorter, part, work);
	}
	pfree(sorter->differing);
	pfree(sorter->counts);
}

void *
index_sort(void *items, uint64 num_items, uint32 width, thread_work *work)
{
	index_sorter sorter = {.sides = {items},.width = width};

	/* one thread sorts short items faster without a cut */
	sorter.part_items = width == sizeof(uint64) && work->pool == NULL ? num_items : PART_ITEMS;
	start_whole(&sorter, (sort_part) {0, num_items, 0});
	run_chunks(&sorter, check_task, work);
	if (!sorter.out_of_order)
		return items;
	mgpu_unsigned_sort_prepare();
	sorter.sides[1] = large_alloc(CurrentMemoryContext, num_items * width);
	cut_all(&sorter, num_items, work);
	thread_work_run(work, sort_task, &sorter, sorter.num_parts, UINT64_MAX);
	pfree(sorter.parts);
	return sorter.sides[1];
}

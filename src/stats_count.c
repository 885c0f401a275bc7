/*
 * stats_count.c
 *		What the passes of the CPU's mergesort would do, without one.
 *
 * A merge of two neighbouring lists moves those of the first above the least of
 * the second, and those of the second below the greatest of the first.  How many
 * these are does not depend on the order inside the lists, so that the keys as they
 * came tell it too: each pass looks at all of them twice, and nothing is copied.
 * That takes several times as long as a sort, whose keys are in memory once more,
 * and with the places that they move to, twice.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_tile_shape.h"

#include "compat.h"
#include "stats_count.h"

/* Codes made at a time. */
#define BLOCK_ITEMS 1024

/* Two neighbouring lists, or what of them is of one segment. */
typedef struct list_pair
{
	int64		begin;
	int64		middle;
	int64		end;
} list_pair;

typedef struct pass_counter
{
	const key_codes *codes;
	const segment_list *segments;
	int64		next_head;		/* number of the first head behind middle */
	mgpu_tile_shape shape;
	bool		failed;			/* some key has no code */
} pass_counter;

/* Codes of some keys, from *next on, which is moved behind them; how many. */
static int
next_block(pass_counter *counter, int64 *next, int64 end, uint64 *block)
{
	int			count = Min(BLOCK_ITEMS, end - *next);

	if (!key_codes_read(counter->codes, *next, count, block))
		counter->failed = true;
	*next += count;
	if (*next / BLOCK_ITEMS % 256 == 0)
		CHECK_FOR_INTERRUPTS();
	return count;
}

static uint64
least_code(pass_counter *counter, int64 begin, int64 end)
{
	uint64		block[BLOCK_ITEMS];
	uint64		least = PG_UINT64_MAX;

	while (begin < end)
	{
		int			count = next_block(counter, &begin, end, block);

		for (int i = 0; i < count; i++)
			least = Min(least, block[i]);
	}
	return least;
}

static uint64
greatest_code(pass_counter *counter, int64 begin, int64 end)
{
	uint64		block[BLOCK_ITEMS];
	uint64		greatest = 0;

	while (begin < end)
	{
		int			count = next_block(counter, &begin, end, block);

		for (int i = 0; i < count; i++)
			greatest = Max(greatest, block[i]);
	}
	return greatest;
}

/* How many codes are above the first bound or below the second. */
static int64
count_codes(pass_counter *counter, int64 begin, int64 end, uint64 above, uint64 below)
{
	uint64		block[BLOCK_ITEMS];
	int64		total = 0;

	while (begin < end)
	{
		int			count = next_block(counter, &begin, end, block);

		for (int i = 0; i < count; i++)
			total += block[i] > above || block[i] < below;
	}
	return total;
}

/* Leaves the one segment that lies in both lists.  False: there is none. */
static bool
clamp(pass_counter *counter, list_pair *pair)
{
	const segment_list *segments = counter->segments;

	if (segments == NULL)
		return true;
	while (counter->next_head < segments->num_segments && segments->heads[counter->next_head] <= pair->middle)
		counter->next_head++;
	pair->begin = Max(pair->begin, segments->heads[counter->next_head - 1]);
	if (counter->next_head < segments->num_segments)
		pair->end = Min(pair->end, segments->heads[counter->next_head]);
	return pair->begin < pair->middle;
}

static int64
tiles_touched(int64 begin, int64 end, int64 tile_items)
{
	return (end - 1) / tile_items - begin / tile_items + 1;
}

static void
count_merge(pass_counter *counter, list_pair pair, int pass, mgpu_pass_stats *counts)
{
	int64		tile_items = counter->shape.tile_items;
	int64		unit_items = counter->shape.unit_items;
	uint64		least;
	uint64		greatest;
	int64		num_tiles;

	if (!clamp(counter, &pair))
		return;
	greatest = greatest_code(counter, pair.begin, pair.middle);
	least = least_code(counter, pair.middle, pair.end);
	if (least >= greatest)
		return;
	pair.begin = pair.middle - count_codes(counter, pair.begin, pair.middle, least, 0);
	pair.end = pair.middle + count_codes(counter, pair.middle, pair.end, PG_UINT64_MAX, greatest);
	num_tiles = tiles_touched(pair.begin, pair.end, tile_items);
	counts->merge_tiles += num_tiles;
	if (pass < (int) counter->shape.chunk_passes)
		return;
	/* whole units are written */
	pair.begin = pair.begin / unit_items * unit_items;
	pair.end = Min(((pair.end - 1) / unit_items + 1) * unit_items, counter->codes->num_items);
	counts->copy_tiles += tiles_touched(pair.begin, pair.end, tile_items) - num_tiles;
}

bool
stats_count_passes(const mgpu_job *job, const key_codes *codes, const segment_list *segments, mgpu_run_stats *stats)
{
	pass_counter counter = {.codes = codes, .segments = segments};

	Assert(codes->exact);
	mgpu_cpu_tile_shape(job, &counter.shape);
	memset(stats, 0, sizeof(*stats));
	stats->algorithm = job->algorithm;
	stats->num_tiles = counter.shape.num_tiles;
	stats->num_passes = counter.shape.num_passes;
	for (int pass = 0; pass < stats->num_passes && !counter.failed; pass++)
	{
		int64		list_items = counter.shape.tile_items << pass;

		counter.next_head = 0;
		for (int64 middle = list_items; middle < codes->num_items; middle += 2 * list_items)
		{
			list_pair	pair = {middle - list_items, middle, Min(middle + list_items, codes->num_items)};

			count_merge(&counter, pair, pass, &stats->passes[pass]);
		}
	}
	return !counter.failed;
}

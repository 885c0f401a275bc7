/*
 * tile_records.c
 *		Keys to records, records to outputs, and the sort of a tile (tiles.h).
 *
 * Records of pairs hold the index beside the code in one number.  So a merge reads
 * one stream instead of two, ties cannot occur, and an unstable network or vqsort
 * may sort a tile.
 */
#include "core/cpu/order_pairs.h"
#include "core/cpu/tiles.h"

#include <string.h>

#include "core/cpu_sort.h"
#include "core/cpu/input.h"

uint32_t
mgpu_record_bytes(const mgpu_run *run)
{
	return run->job.op == MGPU_OP_SORT ? run->job.key_width : sizeof(uint64_t);
}

static const void *
key_at(const mgpu_run *run, uint64_t i)
{
	if (run->keys.data == NULL)
		return mgpu_stream_key(run, i);
	return mgpu_key_at(run, i);
}

static void
load_pairs(const mgpu_run *run, uint64_t *records, uint64_t begin, uint64_t num_items)
{
	mgpu_encode_wide(&run->keys.codec, key_at(run, begin), records, num_items);
	for (uint64_t i = 0; i < num_items; i++)
		records[i] = records[i] << 32 | (begin + i);
}

const char *
mgpu_records_load(const mgpu_run *run, mgpu_tiles *tiles, uint64_t begin, uint64_t end)
{
	char	   *home = mgpu_home_of(tiles, begin);

	if (run->job.op == MGPU_OP_SORT)
	{
		if (run->keys.codec.kind == tiles->codec.kind)
			return key_at(run, begin);
		mgpu_encode_items(&run->keys.codec, key_at(run, begin), home, end - begin);
	}
	else
		load_pairs(run, (uint64_t *) home, begin, end - begin);
	return home;
}

/* Write items [begin, end) of one unit to the outputs. */
static void
unload_unit(const mgpu_run *run, const mgpu_tiles *tiles, uint64_t begin, uint64_t end)
{
	const char *records = mgpu_record_of(tiles, begin);
	void	   *out = mgpu_out_key_at(run, begin);

	if (run->job.op == MGPU_OP_SORT_PAIRS)
		mgpu_unpack_pairs(run, (const uint64_t *) records, begin, end - begin);
	else if (tiles->codec.kind != run->codec.kind || tiles->codec.flip != run->codec.flip)
		mgpu_decode_items(&run->codec, records, out, end - begin);
	else if (records != out)
		memcpy(out, records, (end - begin) * run->job.key_width);
}

static void
unload_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const mgpu_tiles *tiles = run->state;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = mgpu_task_end(run, task);

	for (; begin < end; begin += tiles->unit_items)
		unload_unit(run, tiles, begin, mgpu_min(begin + tiles->unit_items, end));
}

void
mgpu_begin_unload(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;
	uint64_t	units = mgpu_pass_items(run, tiles->codec.width) / tiles->unit_items;

	run->pass_items = (units > 0 ? units : 1) * tiles->unit_items;
	mgpu_begin_phase(run, unload_task, mgpu_num_tasks(tiles->num_items, run->pass_items));
}

/* Sort by a vector network; false if none can. */
static bool
sort_by_network(const mgpu_tiles *tiles, const void *records, void *sorted, uint32_t num_records)
{
	static const uint32_t head = 0;
	mgpu_flips	flips = {tiles->codec.width, tiles->codec.flip, tiles->codec.flip};

	return tiles->vectors && mgpu_vector_items(tiles->codec.width) > 0 &&
		mgpu_vector_sort_segments(records, sorted, &head, 1, num_records, &flips) == 1;
}

void
mgpu_records_sort(const mgpu_tiles *tiles, const void *records, void *sorted, uint32_t num_records)
{
	bool		in_order = mgpu_first_unsorted(&tiles->codec, tiles->vectors, records, 0, num_records) == num_records;

	if (!in_order && sort_by_network(tiles, records, sorted, num_records))
		return;
	if (records != sorted)
		memcpy(sorted, records, num_records * tiles->codec.width);
	if (in_order)
		return;
	mgpu_encode_items(&tiles->codec, sorted, sorted, num_records);
	mgpu_sort_codes(sorted, num_records, tiles->codec.width);
	mgpu_decode_items(&tiles->codec, sorted, sorted, num_records);
}

bool
mgpu_record_below(const mgpu_tiles *tiles, const void *x, const void *y)
{
	uint64_t	flip = tiles->codec.flip;

	switch (tiles->codec.width)
	{
		case 1:
			return (*(const uint8_t *) x ^ (uint8_t) flip) < (*(const uint8_t *) y ^ (uint8_t) flip);
		case 2:
			return (*(const uint16_t *) x ^ (uint16_t) flip) < (*(const uint16_t *) y ^ (uint16_t) flip);
		case 4:
			return (*(const uint32_t *) x ^ (uint32_t) flip) < (*(const uint32_t *) y ^ (uint32_t) flip);
		case 8:
			return (*(const uint64_t *) x ^ flip) < (*(const uint64_t *) y ^ flip);
		default:
			return *(const mgpu_u128 *) x < *(const mgpu_u128 *) y;
	}
}

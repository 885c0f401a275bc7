/*
 * cpu_tile_records.c
 *		Keys to records, records to outputs, and the sort of a tile (cpu_tiles.h).
 *
 * Records carry their index in front of the merge rather than beside it: one
 * stream instead of two, ties cannot occur, and so an unstable network or vqsort
 * may sort a tile of them.
 */
#include "cpu_tiles.h"

#include <string.h>

#include "cpu_sort.h"
#include "cpu_stream.h"
#include "order_codes.h"

#define BLOCK_ITEMS 512

uint32_t
mgpu_record_bytes(const mgpu_run *run)
{
	if (run->job.op == MGPU_OP_SORT)
		return run->job.key_width;
	if (run->job.key_width <= 4)
		return sizeof(uint64_t);
	return run->job.key_width == 8 ? sizeof(mgpu_u128) : MGPU_RECORD_WIDTH;
}

static const void *
key_at(const mgpu_run *run, uint64_t i)
{
	if (run->keys.data == NULL)
		return mgpu_stream_key(run, i);
	return (const char *) run->keys.data + i * run->job.key_width;
}

static void
load_pairs(const mgpu_run *run, void *records, uint64_t begin, uint32_t num_items)
{
	union
	{
		uint64_t	narrow[BLOCK_ITEMS];
		mgpu_u128	wide[BLOCK_ITEMS];
	}			codes;

	if (run->job.key_width == 16)
		mgpu_encode_u128(&run->keys.codec, key_at(run, begin), codes.wide, num_items);
	else
		mgpu_encode_wide(&run->keys.codec, key_at(run, begin), codes.narrow, num_items);
	for (uint32_t i = 0; i < num_items; i++)
		if (run->job.key_width <= 4)
			((uint64_t *) records)[i] = codes.narrow[i] << 32 | (begin + i);
		else if (run->job.key_width == 8)
			((mgpu_u128 *) records)[i] = (mgpu_u128) codes.narrow[i] << 64 | (begin + i);
		else
			((mgpu_record *) records)[i] = (mgpu_record) {codes.wide[i], begin + i};
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
		for (uint64_t i = begin; i < end; i += BLOCK_ITEMS)
			load_pairs(run, mgpu_home_of(tiles, i), i, (uint32_t) (end - i < BLOCK_ITEMS ? end - i : BLOCK_ITEMS));
	return home;
}

/* Split records into codes of the key's width and indices. */
static void
unload_pairs(uint32_t key_width, const void *records, void *codes, uint32_t *indices, uint32_t num_items)
{
	for (uint32_t i = 0; i < num_items; i++)
	{
		if (key_width <= 4)
		{
			uint64_t	record = ((const uint64_t *) records)[i];

			indices[i] = (uint32_t) record;
			if (key_width == 4)
				((uint32_t *) codes)[i] = (uint32_t) (record >> 32);
			else if (key_width == 2)
				((uint16_t *) codes)[i] = (uint16_t) (record >> 32);
			else
				((uint8_t *) codes)[i] = (uint8_t) (record >> 32);
		}
		else if (key_width == 8)
		{
			mgpu_u128	record = ((const mgpu_u128 *) records)[i];

			indices[i] = (uint32_t) record;
			((uint64_t *) codes)[i] = (uint64_t) (record >> 64);
		}
		else
		{
			indices[i] = (uint32_t) ((const mgpu_record *) records)[i].index;
			((mgpu_u128 *) codes)[i] = ((const mgpu_record *) records)[i].code;
		}
	}
}

static void
unload_pairs_block(const mgpu_run *run, const char *records, uint64_t begin, uint32_t num_items)
{
	mgpu_u128	codes[BLOCK_ITEMS];

	unload_pairs(run->job.key_width, records, codes, run->indices + begin, num_items);
	if (run->job.outputs & MGPU_OUT_KEYS)
		mgpu_decode_items(&run->codec, codes, (char *) run->binding.out_keys + begin * run->job.key_width, num_items);
}

/* Items [begin, end) of one unit. */
static void
unload_unit(const mgpu_run *run, const mgpu_tiles *tiles, uint64_t begin, uint64_t end)
{
	const char *records = mgpu_record_of(tiles, begin);
	char	   *out = (char *) run->binding.out_keys + begin * run->job.key_width;

	if (run->job.op == MGPU_OP_SORT_PAIRS)
		for (uint64_t i = begin; i < end; i += BLOCK_ITEMS)
			unload_pairs_block(run, records + (i - begin) * tiles->codec.width, i,
							   (uint32_t) (end - i < BLOCK_ITEMS ? end - i : BLOCK_ITEMS));
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
	uint64_t	end = tiles->num_items - begin < run->pass_items ? tiles->num_items : begin + run->pass_items;

	(void) worker;
	for (; begin < end; begin += tiles->unit_items)
		unload_unit(run, tiles, begin, end - begin < tiles->unit_items ? end : begin + tiles->unit_items);
}

void
mgpu_begin_unload(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;
	uint64_t	units = mgpu_pass_items(run, tiles->codec.width) / tiles->unit_items;

	run->pass_items = (units > 0 ? units : 1) * tiles->unit_items;
	mgpu_begin_phase(run, unload_task, mgpu_num_tasks(tiles->num_items, run->pass_items));
}

/* Records of 24 bytes: the order of their codes, whose ties are in input order. */
static void
sort_wide_records(mgpu_record *records, uint32_t num_records, void *scratch)
{
	mgpu_record *copy = scratch;
	mgpu_u128  *codes = (mgpu_u128 *) (copy + num_records);
	uint64_t   *packed = (uint64_t *) (codes + num_records);
	uint64_t	mask = mgpu_order_mask(num_records);

	for (uint32_t i = 0; i < num_records; i++)
	{
		copy[i] = records[i];
		codes[i] = records[i].code;
	}
	mgpu_order_codes_u128(codes, packed, num_records);
	for (uint32_t i = 0; i < num_records; i++)
		records[i] = copy[packed[i] & mask];
}

/* Whether vector networks took all of it. */
static bool
sort_by_network(const mgpu_tiles *tiles, const void *records, void *sorted, uint32_t num_records)
{
	static const uint32_t head = 0;
	mgpu_flips	flips = {tiles->codec.flip, tiles->codec.flip};

	return tiles->vectors && mgpu_vector_items(tiles->codec.width) > 0 &&
		mgpu_vector_sort_segments(records, sorted, &head, 1, num_records, tiles->codec.width, &flips) == 1;
}

void
mgpu_records_sort(const mgpu_tiles *tiles, const void *records, void *sorted,
				  uint32_t num_records, void *scratch)
{
	bool		in_order = mgpu_first_unsorted(&tiles->codec, tiles->vectors, records, 0, num_records) == num_records;

	if (!in_order && sort_by_network(tiles, records, sorted, num_records))
		return;
	if (records != sorted)
		memcpy(sorted, records, num_records * tiles->codec.width);
	if (in_order)
		return;
	if (tiles->codec.width == MGPU_RECORD_WIDTH)
	{
		sort_wide_records(sorted, num_records, scratch);
		return;
	}
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
		case 16:
			return *(const mgpu_u128 *) x < *(const mgpu_u128 *) y;
		default:
			return ((const mgpu_record *) x)->code < ((const mgpu_record *) y)->code ||
				(((const mgpu_record *) x)->code == ((const mgpu_record *) y)->code &&
				 ((const mgpu_record *) x)->index < ((const mgpu_record *) y)->index);
	}
}

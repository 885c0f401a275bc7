/*
 * cpu_segsort_pairs.c
 *		The order of pairs inside segments (cpu_segments.h).
 *
 * Codes of up to 4 bytes are packed with their positions into 64 bits, which
 * makes ties impossible, and sorted like keys.  Wider codes go segment by
 * segment through order_codes.h, which packs what distinguishes them.  Values
 * follow at once, while their segment is in cache, unless indices are wanted.
 */
#include "cpu_segments.h"

#include <string.h>

#include "cpu_vector.h"
#include "order_codes.h"

static uint64_t
scratch_item_bytes(const mgpu_run *run)
{
	if (run->job.op != MGPU_OP_SORT_PAIRS)
		return 0;
	return sizeof(uint64_t) + (run->job.key_width >= 8 ? run->job.key_width : 0);
}

/* All workers together stay within bounds, but for a block each. */
uint64_t
mgpu_segment_most_items(const mgpu_run *run)
{
	uint64_t	most = run->tuning.segment_items;
	uint64_t	block_items = mgpu_segment_block_items(run);
	uint64_t	item_bytes = scratch_item_bytes(run);
	uint64_t	limit;

	if (item_bytes > 0)
	{
		limit = run->tuning.segment_scratch_bytes / (uint64_t) run->num_threads / item_bytes;
		most = most < limit ? most : limit;
	}
	return most > block_items ? most : block_items;
}

uint64_t
mgpu_segment_scratch_bytes(const mgpu_run *run)
{
	uint64_t	most = mgpu_segment_most_items(run);

	if (run->job.op != MGPU_OP_SORT_PAIRS)
		return 0;
	if (most > run->job.num_items)
		most = run->job.num_items;
	return (most * scratch_item_bytes(run) + 127) / 64 * 64;
}

static const void *
key_at(const mgpu_run *run, uint64_t i)
{
	return (const char *) run->keys.data + i * run->job.key_width;
}

static void *
out_key_at(const mgpu_run *run, uint64_t i)
{
	return (char *) run->binding.out_keys + i * run->job.key_width;
}

/* Values of items from begin on, by their order; packed counts from first. */
static void
move_values(const mgpu_run *run, const uint64_t *packed, uint64_t mask, uint64_t first, uint64_t begin,
			uint64_t num_items)
{
	uint32_t	width = run->job.value_width;

	if (width > 0)
		mgpu_gather_packed((const char *) run->in[MGPU_CHANNEL_VALUES] + first * width, width, packed, mask,
						   (char *) run->binding.out_values + begin * width, num_items);
}

/* Packed codes of up to 4 bytes, in order, become indices or values, and keys. */
static void
unpack(const mgpu_run *run, const uint64_t *packed, uint64_t begin, uint64_t num_items)
{
	uint32_t	width = run->job.key_width;

	if (mgpu_segments_move_values(run))
		move_values(run, packed, UINT32_MAX, 0, begin, num_items);
	else
		for (uint64_t i = 0; i < num_items; i++)
			run->indices[begin + i] = (uint32_t) packed[i];
	if ((run->job.outputs & MGPU_OUT_KEYS) == 0)
		return;
	if (width == 4)
		for (uint64_t i = 0; i < num_items; i++)
			((uint32_t *) run->binding.out_keys)[begin + i] = (uint32_t) (packed[i] >> 32);
	else if (width == 2)
		for (uint64_t i = 0; i < num_items; i++)
			((uint16_t *) run->binding.out_keys)[begin + i] = (uint16_t) (packed[i] >> 32);
	else
		for (uint64_t i = 0; i < num_items; i++)
			((uint8_t *) run->binding.out_keys)[begin + i] = (uint8_t) (packed[i] >> 32);
	mgpu_decode_items(&run->codec, out_key_at(run, begin), out_key_at(run, begin), num_items);
}

static void
order_packed(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, uint64_t *packed)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	begin = heads[first];
	uint64_t	segment = first;
	mgpu_flips	flips = {0};

	mgpu_encode_wide(&run->keys.codec, key_at(run, begin), packed, end - begin);
	for (uint64_t i = begin; i < end; i++)
		packed[i - begin] = packed[i - begin] << 32 | i;
	if (run->tuning.vectors != 0 && mgpu_vector_items(sizeof(*packed)) > 0)
		segment += mgpu_vector_sort_segments(packed, packed, heads + first, last - first, (uint32_t) end,
											 sizeof(*packed), &flips);
	for (; segment < last; segment++)
	{
		uint64_t	stop = segment + 1 < last ? heads[segment + 1] : end;

		mgpu_sort_codes(packed + (heads[segment] - begin), stop - heads[segment], sizeof(*packed));
	}
	unpack(run, packed, begin, end - begin);
}

/* One segment of wide codes, which are encoded already. */
static void
order_wide(mgpu_run *run, const void *codes, uint64_t *packed, uint64_t begin, uint32_t num_items)
{
	uint32_t	width = run->job.key_width;
	uint64_t	mask = mgpu_order_mask(num_items);
	char	   *out;

	if (width == 8)
		mgpu_order_codes_u64(codes, packed, num_items);
	else
		mgpu_order_codes_u128(codes, packed, num_items);
	if (run->job.outputs & MGPU_OUT_KEYS)
	{
		out = out_key_at(run, begin);
		mgpu_gather_packed(codes, width, packed, mask, out, num_items);
		mgpu_decode_items(&run->codec, out, out, num_items);
	}
	if (mgpu_segments_move_values(run))
		move_values(run, packed, mask, begin, begin, num_items);
	else
		for (uint32_t i = 0; i < num_items; i++)
			run->indices[begin + i] = (uint32_t) ((packed[i] & mask) + begin);
}

void
mgpu_order_segments(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, int worker)
{
	mgpu_segments *state = run->state;
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	begin = heads[first];
	char	   *scratch = (char *) state->scratch.data + state->worker_bytes * (uint64_t) worker;
	uint64_t   *packed = (uint64_t *) (scratch + (end - begin) * run->job.key_width);

	if (run->job.key_width <= 4)
	{
		order_packed(run, first, last, end, (uint64_t *) scratch);
		return;
	}
	if (run->job.key_width == 8)
		mgpu_encode_wide(&run->keys.codec, key_at(run, begin), (uint64_t *) scratch, end - begin);
	else
		mgpu_encode_u128(&run->keys.codec, key_at(run, begin), (mgpu_u128 *) scratch, end - begin);
	for (uint64_t segment = first; segment < last; segment++)
	{
		uint64_t	stop = segment + 1 < last ? heads[segment + 1] : end;

		order_wide(run, scratch + (heads[segment] - begin) * run->job.key_width, packed, heads[segment],
				   (uint32_t) (stop - heads[segment]));
	}
}

/*
 * segment_pairs.c
 *		The order of pairs inside segments (segments.c).
 *
 * A code of up to 4 bytes is packed with its position into 64 bits, which excludes
 * ties, and sorted like a key, by a vector network for each segment if the machine
 * has vectors.  Wider codes go segment by segment (order_pairs.h).  Values follow at
 * once, while their segment is in cache.
 */
#include "core/cpu/order_pairs.h"
#include "core/cpu/segments_state.h"
#include "core/cpu_vector.h"

uint64_t
mgpu_segment_scratch_bytes(const mgpu_run *run)
{
	uint64_t	most = run->tuning.segment_items;
	uint64_t	item_bytes = sizeof(uint64_t) + (run->job.key_width > 4 ? run->job.key_width : 0);

	if (run->job.op != MGPU_OP_SORT_PAIRS)
		return 0;
	if (most < MGPU_SEGMENT_BLOCK_BYTES / sizeof(uint64_t))
		most = MGPU_SEGMENT_BLOCK_BYTES / sizeof(uint64_t);
	return (mgpu_min(most, run->job.num_items) * item_bytes + 127) / 64 * 64;
}

static void
order_packed(const mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, uint64_t *packed)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint64_t	begin = heads[first];
	uint64_t	segment = first;
	mgpu_flips	flips = {.width = sizeof(*packed)};

	mgpu_encode_wide(&run->keys.codec, mgpu_key_at(run, begin), packed, end - begin);
	for (uint64_t i = begin; i < end; i++)
		packed[i - begin] = packed[i - begin] << 32 | i;
	if (run->tuning.vectors != 0 && mgpu_vector_items(sizeof(*packed)) > 0)
		segment += mgpu_vector_sort_segments(packed, packed, heads + first, last - first, (uint32_t) end,
											 &flips);
	for (; segment < last; segment++)
	{
		uint64_t	stop = segment + 1 < last ? heads[segment + 1] : end;

		mgpu_sort_codes(packed + (heads[segment] - begin), stop - heads[segment], sizeof(*packed));
	}
	mgpu_unpack_pairs(run, packed, begin, end - begin);
}

void
mgpu_order_segments(mgpu_run *run, uint64_t first, uint64_t last, uint64_t end, int worker)
{
	mgpu_segments *state = run->state;
	const uint32_t *heads = run->binding.in_segment_heads;
	uint32_t	width = run->job.key_width;
	uint64_t	begin = heads[first];
	char	   *codes = state->scratch + state->worker_bytes * (uint64_t) worker;
	const char *values = run->in[MGPU_CHANNEL_VALUES];
	mgpu_pairs_part part = {0};

	if (width <= 4)
	{
		order_packed(run, first, last, end, (uint64_t *) codes);
		return;
	}
	mgpu_encode_items(&run->keys.codec, mgpu_key_at(run, begin), codes, end - begin);
	part.packed = (uint64_t *) (codes + (end - begin) * width);
	for (uint64_t segment = first; segment < last; segment++)
	{
		part.begin = heads[segment];
		part.num_items = (uint32_t) ((segment + 1 < last ? heads[segment + 1] : end) - part.begin);
		part.codes = codes + (part.begin - begin) * width;
		part.values = values + part.begin * run->job.value_width;
		mgpu_order_pairs(run, &part);
	}
}

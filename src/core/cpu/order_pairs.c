/*
 * order_pairs.c
 *		See order_pairs.h.
 */
#include "core/cpu/order_pairs.h"

#include "core/order_codes.h"

#define BLOCK_ITEMS 512

void
mgpu_encode_pairs(const mgpu_run *run, const void *keys, void *codes, uint64_t num_items)
{
	const mgpu_codec *codec = &run->keys.codec;
	uint64_t	wide[BLOCK_ITEMS];

	if (codec->width >= 4)
	{
		mgpu_encode_items(codec, keys, codes, num_items);
		return;
	}
	for (uint64_t begin = 0; begin < num_items; begin += BLOCK_ITEMS)
	{
		uint64_t	block_items = mgpu_min(num_items - begin, BLOCK_ITEMS);

		mgpu_encode_wide(codec, (const char *) keys + begin * codec->width, wide, block_items);
		for (uint64_t i = 0; i < block_items; i++)
			((uint32_t *) codes)[begin + i] = (uint32_t) wide[i];
	}
}

#define DEFINE_NARROW(type) \
static void \
narrow_##type(const uint32_t *codes, const uint64_t *packed, uint64_t mask, type *keys, uint32_t num_items) \
{ \
	for (uint32_t i = 0; i < num_items; i++) \
		keys[i] = (type) codes[packed[i] & mask]; \
}

DEFINE_NARROW(uint8_t)
DEFINE_NARROW(uint16_t)

static void
store_keys(const mgpu_run *run, const mgpu_pairs_part *part, uint64_t mask)
{
	void	   *keys = mgpu_out_key_at(run, part->begin);

	if (run->job.key_width == 1)
		narrow_uint8_t(part->codes, part->packed, mask, keys, part->num_items);
	else if (run->job.key_width == 2)
		narrow_uint16_t(part->codes, part->packed, mask, keys, part->num_items);
	else
		mgpu_gather_packed(part->codes, run->job.key_width, part->packed, mask, keys, part->num_items);
	mgpu_decode_items(&run->codec, keys, keys, part->num_items);
}

static void
store_indices(const mgpu_run *run, const mgpu_pairs_part *part, uint64_t mask)
{
	uint32_t   *indices = run->binding.out_indices + part->begin;
	const uint64_t *packed = part->packed;
	uint64_t	begin = part->begin;
	uint32_t	num_items = part->num_items;

	if (part->indices != NULL)
		mgpu_gather_packed(part->indices, sizeof(uint32_t), packed, mask, indices, num_items);
	else
		for (uint32_t i = 0; i < num_items; i++)
			indices[i] = (uint32_t) ((packed[i] & mask) + begin);
}

static void
store_values(const mgpu_run *run, const mgpu_pairs_part *part, uint64_t mask)
{
	uint32_t	width = run->job.value_width;
	void	   *values = (char *) run->binding.out_values + part->begin * width;

	if (part->values != NULL)
		mgpu_gather_packed(part->values, width, part->packed, mask, values, part->num_items);
	else
		mgpu_gather_items(run->in[MGPU_CHANNEL_VALUES], width, run->binding.out_indices + part->begin,
						  values, part->num_items);
}

void
mgpu_order_pairs(const mgpu_run *run, const mgpu_pairs_part *part)
{
	uint64_t	mask = mgpu_order_mask(part->num_items);

	switch (mgpu_pair_code_bytes(run))
	{
		case 4:
			mgpu_order_codes_u32(part->codes, part->packed, part->num_items);
			break;
		case 8:
			mgpu_order_codes_u64(part->codes, part->packed, part->num_items);
			break;
		default:
			mgpu_order_codes_u128(part->codes, part->packed, part->num_items);
	}
	if (run->job.outputs & MGPU_OUT_KEYS)
		store_keys(run, part, mask);
	if (run->job.outputs & MGPU_OUT_INDICES)
		store_indices(run, part, mask);
	if (run->job.outputs & MGPU_OUT_VALUES)
		store_values(run, part, mask);
}

#define DEFINE_UNPACK(type) \
static void \
unpack_##type(const uint64_t *packed, type *keys, uint64_t num_items) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
		keys[i] = (type) (packed[i] >> 32); \
}

DEFINE_UNPACK(uint8_t)
DEFINE_UNPACK(uint16_t)
DEFINE_UNPACK(uint32_t)

void
mgpu_unpack_pairs(const mgpu_run *run, const uint64_t *packed, uint64_t begin, uint64_t num_items)
{
	uint32_t	value_width = run->job.value_width;
	void	   *keys = mgpu_out_key_at(run, begin);

	if (run->job.outputs & MGPU_OUT_KEYS)
	{
		if (run->job.key_width == 1)
			unpack_uint8_t(packed, keys, num_items);
		else if (run->job.key_width == 2)
			unpack_uint16_t(packed, keys, num_items);
		else
			unpack_uint32_t(packed, keys, num_items);
		mgpu_decode_items(&run->codec, keys, keys, num_items);
	}
	if (run->job.outputs & MGPU_OUT_INDICES)
		for (uint64_t i = 0; i < num_items; i++)
			run->binding.out_indices[begin + i] = (uint32_t) packed[i];
	if (run->job.outputs & MGPU_OUT_VALUES)
		mgpu_gather_packed(run->in[MGPU_CHANNEL_VALUES], value_width, packed, UINT32_MAX,
						   (char *) run->binding.out_values + begin * value_width, num_items);
}

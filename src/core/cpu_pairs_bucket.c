/*
 * cpu_pairs_bucket.c
 *		Orders one bucket of the pairs strategy: codes in, indices and keys out.
 */
#include "cpu_pairs.h"

#include <string.h>

#include "order_codes.h"

#define BLOCK_ITEMS 512

/* Encode num_items stored keys as codes of state->code_bytes. */
static void
encode_codes(const mgpu_run *run, const void *keys, void *codes, uint64_t num_items)
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
		uint64_t	block_items = num_items - begin < BLOCK_ITEMS ? num_items - begin : BLOCK_ITEMS;

		mgpu_encode_wide(codec, (const char *) keys + begin * codec->width, wide, block_items);
		for (uint64_t i = 0; i < block_items; i++)
			((uint32_t *) codes)[begin + i] = (uint32_t) wide[i];
	}
}

static void
gather_codes(const mgpu_run *run, uint64_t begin, uint64_t num_items, char *codes)
{
	const pairs_state *state = run->state;
	mgpu_u128	keys[BLOCK_ITEMS];

	for (uint64_t i = 0; i < num_items; i += BLOCK_ITEMS)
	{
		uint64_t	block_items = num_items - i < BLOCK_ITEMS ? num_items - i : BLOCK_ITEMS;

		mgpu_gather_items(run->keys.data, run->job.key_width, run->indices + begin + i, keys, block_items);
		encode_codes(run, keys, codes + i * state->code_bytes, block_items);
	}
}

/* The bucket's codes, in input order, where out_keys does not overwrite them. */
static const void *
load_codes(const mgpu_run *run, uint64_t begin, uint64_t num_items, char *scratch)
{
	const pairs_state *state = run->state;
	const char *carried = state->carry;

	if (carried != NULL)
		carried += (begin - state->group_begin) * state->code_bytes;
	if (state->is_direct)
		encode_codes(run, run->keys.data, scratch, num_items);
	else if (carried == NULL)
		gather_codes(run, begin, num_items, scratch);
	else if (state->carry == run->binding.out_keys)
		memcpy(scratch, carried, num_items * state->code_bytes);
	else
		return carried;
	return scratch;
}

static void
order_codes(const pairs_state *state, const void *codes, uint64_t *packed, uint32_t num_items)
{
	if (state->code_bytes == 4)
		mgpu_order_codes_u32(codes, packed, num_items);
	else if (state->code_bytes == 8)
		mgpu_order_codes_u64(codes, packed, num_items);
	else
		mgpu_order_codes_u128(codes, packed, num_items);
}

/* out_keys of a bucket: its codes by their order, decoded. */
#define DEFINE_STORE_KEYS(name, code_type, key_type) \
static void \
name(const code_type *codes, const uint64_t *packed, uint64_t mask, key_type *keys, uint32_t num_items) \
{ \
	for (uint32_t i = 0; i < num_items; i++) \
		keys[i] = (key_type) codes[packed[i] & mask]; \
}

DEFINE_STORE_KEYS(store_keys_1, uint32_t, uint8_t)
DEFINE_STORE_KEYS(store_keys_2, uint32_t, uint16_t)
DEFINE_STORE_KEYS(store_keys_4, uint32_t, uint32_t)
DEFINE_STORE_KEYS(store_keys_8, uint64_t, uint64_t)
DEFINE_STORE_KEYS(store_keys_16, mgpu_u128, mgpu_u128)

static void
store_keys(const mgpu_run *run, const void *codes, const uint64_t *packed,
		   uint64_t begin, uint32_t num_items)
{
	void	   *keys = (char *) run->binding.out_keys + begin * run->job.key_width;
	uint64_t	mask = mgpu_order_mask(num_items);

	if (run->job.key_width == 1)
		store_keys_1(codes, packed, mask, keys, num_items);
	else if (run->job.key_width == 2)
		store_keys_2(codes, packed, mask, keys, num_items);
	else if (run->job.key_width == 4)
		store_keys_4(codes, packed, mask, keys, num_items);
	else if (run->job.key_width == 8)
		store_keys_8(codes, packed, mask, keys, num_items);
	else
		store_keys_16(codes, packed, mask, keys, num_items);
	mgpu_decode_items(&run->codec, keys, keys, num_items);
}

/* Indices of the bucket by its order; packed is used up. */
static void
store_indices(const mgpu_run *run, uint64_t *packed, uint64_t begin, uint32_t num_items)
{
	const pairs_state *state = run->state;
	uint32_t   *indices = run->indices + begin;
	uint64_t	mask = mgpu_order_mask(num_items);

	if (!state->is_direct)
	{
		for (uint32_t i = 0; i < num_items; i++)
			packed[i] = indices[packed[i] & mask];
		mask = UINT32_MAX;
	}
	for (uint32_t i = 0; i < num_items; i++)
		indices[i] = (uint32_t) (packed[i] & mask);
}

/* All codes are one: indices, or values, are in order already. */
static void
finish_constant_bucket(const mgpu_run *run, mgpu_u128 code, uint64_t begin, uint64_t num_items)
{
	uint32_t	width = run->job.key_width;
	char	   *keys = (char *) run->binding.out_keys + begin * width;

	if ((run->job.outputs & MGPU_OUT_KEYS) == 0)
		return;
	mgpu_decode_items(&run->codec, &code, &code, 1);
	for (uint64_t i = 0; i < num_items; i++)
		memcpy(keys + i * width, &code, width);
}

void
mgpu_order_bucket_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	uint32_t	bucket = state->first_bucket + (uint32_t) task;
	uint64_t	begin = state->begin[bucket];
	uint32_t	num_items = (uint32_t) (state->begin[bucket + 1] - begin);
	char	   *scratch = (char *) state->scratch.data + state->worker_bytes * (uint64_t) worker;
	uint64_t   *packed = (uint64_t *) (scratch + state->codes_bytes);
	const void *codes;
	mgpu_u128	code;

	if (num_items == 0)
		return;
	if (!state->is_direct && mgpu_bucket_is_constant(&state->bounds, bucket, &code))
	{
		finish_constant_bucket(run, code, begin, num_items);
		return;
	}
	codes = load_codes(run, begin, num_items, scratch);
	order_codes(state, codes, packed, num_items);
	if (run->job.outputs & MGPU_OUT_KEYS)
		store_keys(run, codes, packed, begin, num_items);
	if (mgpu_pairs_carry_values(run))
		mgpu_pairs_store_values(run, packed, begin, num_items, scratch);
	else
		store_indices(run, packed, begin, num_items);
}

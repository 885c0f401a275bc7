/*
 * cpu_sort.c
 *		See cpu_sort.h.
 *
 * Encodes in place, tests for sorted input, sorts by vqsort, decodes in place.  For
 * a few items the test costs more than it saves.
 */
#include "cpu_sort.h"

#include <string.h>

#include "cpu_codec.h"
#include "float_ties.h"
#include "order_codes.h"
#include "small_sort.h"
#include "unsigned_sort.h"

#define SMALL_ITEMS 128

/* Up to this number of codes, ranking is faster than packing and sorting. */
#define RANKED_ITEMS 16

/* Counting sort of codes of one byte. */
static void
sort_bytes(uint8_t *codes, uint64_t num_items)
{
	uint64_t	counts[4][256] = {{0}};
	uint64_t	i = 0;

	/* four tables, so that equal neighbours do not wait for each other */
	for (; i + 4 <= num_items; i += 4)
		for (int k = 0; k < 4; k++)
			counts[k][codes[i + k]]++;
	for (; i < num_items; i++)
		counts[0][codes[i]]++;
	for (int code = 0; code < 256; code++)
	{
		uint64_t	count = counts[0][code] + counts[1][code] + counts[2][code] + counts[3][code];

		memset(codes, code, count);
		codes += count;
	}
}

void
mgpu_sort_codes(void *codes, uint64_t num_items, uint32_t width)
{
	mgpu_order_watch watch;

	mgpu_order_watch_init(&watch, false);
	mgpu_order_watch_codes(&watch, codes, width, num_items);
	if (watch.ascending)
		return;
	if (watch.descending)
		mgpu_reverse_items(codes, width, num_items);
	else if (width == 1)
		sort_bytes(codes, num_items);
	else
		mgpu_sort_unsigned(codes, num_items, width, NULL);
}

void
mgpu_cpu_sort_keys_now(void *keys, uint64_t num_items, uint32_t key_kind,
					   uint32_t key_width, uint32_t descending)
{
	mgpu_codec	codec;

	mgpu_codec_init(&codec, key_kind, key_width, descending);
	if (num_items <= SMALL_ITEMS && key_kind != MGPU_KEY_FLOAT &&
		mgpu_sort_flipped(keys, num_items, key_width, codec.flip))
		return;
	mgpu_encode_items(&codec, keys, keys, num_items);
	if (key_width > 1 && num_items <= SMALL_ITEMS)
		mgpu_sort_unsigned(keys, num_items, key_width, NULL);
	else
		mgpu_sort_codes(keys, num_items, key_width);
	mgpu_decode_items(&codec, keys, keys, num_items);
}

static void
argsort_ranked(uint64_t *codes, uint32_t *indices, uint32_t num_items)
{
	int64_t    *items = (int64_t *) codes;
	uint32_t	ranks[MGPU_SMALL_SPACE];

	for (uint32_t i = 0; i < num_items; i++)
		codes[i] ^= MGPU_F64_SIGN;
	mgpu_small_ranks_i64(items, num_items, ranks);
	for (uint32_t i = 0; i < num_items; i++)
		indices[ranks[i]] = i;
}

void
mgpu_cpu_argsort_now(const void *keys, uint32_t *indices, uint32_t num_items,
					 uint32_t key_kind, uint32_t key_width, uint32_t descending)
{
	mgpu_codec	codec;
	uint64_t	packed[MGPU_CPU_NOW_PAIRS];
	uint64_t	mask = mgpu_order_mask(num_items);

	mgpu_codec_init(&codec, key_kind, key_width, descending);
	if (key_width == 16)
	{
		mgpu_u128	codes[MGPU_CPU_NOW_PAIRS];

		mgpu_encode_u128(&codec, keys, codes, num_items);
		mgpu_order_codes_u128(codes, packed, num_items);
	}
	else
	{
		uint64_t	codes[MGPU_CPU_NOW_PAIRS];

		mgpu_encode_wide(&codec, keys, codes, num_items);
		if (num_items <= RANKED_ITEMS)
		{
			argsort_ranked(codes, indices, num_items);
			return;
		}
		mgpu_order_codes_u64(codes, packed, num_items);
	}
	for (uint32_t i = 0; i < num_items; i++)
		indices[i] = (uint32_t) (packed[i] & mask);
}

/* Sort floats in place, with the bits that codes lose. */
static mgpu_status
sort_floats(void *keys, uint64_t num_items, const mgpu_job *job, mgpu_error *err)
{
	mgpu_float_ties ties;
	mgpu_status status;

	mgpu_float_ties_init(&ties, job->key_width);
	status = mgpu_float_ties_scan(&ties, keys, num_items, err);
	if (status == MGPU_OK)
	{
		mgpu_cpu_sort_keys_now(keys, num_items, job->key_kind, job->key_width, job->descending);
		mgpu_float_ties_restore(&ties, keys, num_items, (int) job->descending);
	}
	mgpu_float_ties_release(&ties);
	return status;
}

/* Items begin … end - 1 of a job with indices. */
static void
sort_pairs(const mgpu_job *job, const mgpu_binding *binding, uint64_t begin, uint64_t end)
{
	uint32_t	width = job->key_width;
	const char *keys = (const char *) binding->in_keys + begin * width;
	char	   *sorted = (char *) binding->out_keys + begin * width;
	uint32_t   *indices = binding->out_indices + begin;

	mgpu_cpu_argsort_now(keys, indices, (uint32_t) (end - begin), job->key_kind, width, job->descending);
	for (uint64_t i = 0; i < end - begin; i++)
	{
		if (job->outputs & MGPU_OUT_KEYS)
			memcpy(sorted + i * width, keys + (size_t) indices[i] * width, width);
		indices[i] += (uint32_t) begin;
	}
}

/* Items begin … end - 1 of a job without indices, whose keys are in out_keys. */
static mgpu_status
sort_keys(const mgpu_job *job, const mgpu_binding *binding, uint64_t begin, uint64_t end, mgpu_error *err)
{
	char	   *keys = (char *) binding->out_keys + begin * job->key_width;

	if (job->key_kind == MGPU_KEY_FLOAT)
		return sort_floats(keys, end - begin, job, err);
	mgpu_cpu_sort_keys_now(keys, end - begin, job->key_kind, job->key_width, job->descending);
	return MGPU_OK;
}

mgpu_status
mgpu_cpu_run_now(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	bool		pairs = job->op == MGPU_OP_SORT_PAIRS;
	const uint32_t *heads = binding->in_segment_heads;
	uint64_t	begin = 0;
	mgpu_status status = MGPU_OK;

	if (!pairs && binding->in_keys != NULL && binding->in_keys != binding->out_keys)
		memcpy(binding->out_keys, binding->in_keys, job->num_items * job->key_width);
	for (uint64_t i = 1; status == MGPU_OK && begin < job->num_items; i++)
	{
		uint64_t	end = i < job->num_segments ? heads[i] : job->num_items;

		if (pairs)
			sort_pairs(job, binding, begin, end);
		else
			status = sort_keys(job, binding, begin, end, err);
		begin = end;
	}
	return status;
}

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

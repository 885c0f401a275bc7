/*
 * cpu_sort.c
 *		See cpu_sort.h: sorts that run at once, on the caller's stack.
 *
 * Small arrays dominate the number of calls, so a handful of items goes through
 * one pass in, one ranking and one pass out, with the codec's work folded into
 * both passes, and integers that fit vector registers through a network there.
 * Above that: encode in place, look whether that is in order already, vqsort,
 * decode in place.
 */
#include "cpu_sort.h"

#include <string.h>

#include "cpu_codec.h"
#include "cpu_run.h"
#include "cpu_vector.h"
#include "order_codes.h"
#include "small_sort.h"

/* From here on a vector network is faster than ranking, where there is one. */
#define NETWORK_MIN_ITEMS 12
#define NETWORK_MIN_FLOATS 28

/* Codes of at most 4 bytes as signed numbers, whose order is the keys' order. */
static void
load_signed_32(const mgpu_codec *codec, const void *keys, int32_t *items, uint32_t num_items)
{
	uint32_t	flip = (uint32_t) codec->flip ^ MGPU_F32_SIGN;

	if (codec->kind == MGPU_KEY_FLOAT)
		for (uint32_t i = 0; i < num_items; i++)
			items[i] = (int32_t) (mgpu_encode_f32(((const uint32_t *) keys)[i]) ^ flip);
	else if (codec->width == 4)
		for (uint32_t i = 0; i < num_items; i++)
			items[i] = (int32_t) (((const uint32_t *) keys)[i] ^ flip);
	else if (codec->width == 2)
		for (uint32_t i = 0; i < num_items; i++)
			items[i] = (uint16_t) (((const uint16_t *) keys)[i] ^ codec->flip);
	else
		for (uint32_t i = 0; i < num_items; i++)
			items[i] = (uint8_t) (((const uint8_t *) keys)[i] ^ codec->flip);
}

static void
load_signed_64(const mgpu_codec *codec, const void *keys, int64_t *items, uint32_t num_items)
{
	uint64_t	flip = codec->flip ^ MGPU_F64_SIGN;
	const uint64_t *bits = keys;

	if (codec->kind == MGPU_KEY_FLOAT)
		for (uint32_t i = 0; i < num_items; i++)
			items[i] = (int64_t) (mgpu_encode_f64(bits[i]) ^ flip);
	else
		for (uint32_t i = 0; i < num_items; i++)
			items[i] = (int64_t) (bits[i] ^ flip);
}

static void
sort_small_32(const mgpu_codec *codec, void *keys, uint32_t num_items)
{
	int32_t		items[MGPU_SMALL_ROOM];
	uint32_t	ranks[MGPU_SMALL_ROOM];
	uint32_t	flip = (uint32_t) codec->flip ^ MGPU_F32_SIGN;

	load_signed_32(codec, keys, items, num_items);
	mgpu_small_ranks_i32(items, num_items, ranks);
	if (codec->kind == MGPU_KEY_FLOAT)
		for (uint32_t i = 0; i < num_items; i++)
			((uint32_t *) keys)[ranks[i]] = mgpu_decode_f32((uint32_t) items[i] ^ flip);
	else if (codec->width == 4)
		for (uint32_t i = 0; i < num_items; i++)
			((uint32_t *) keys)[ranks[i]] = (uint32_t) items[i] ^ flip;
	else if (codec->width == 2)
		for (uint32_t i = 0; i < num_items; i++)
			((uint16_t *) keys)[ranks[i]] = (uint16_t) ((uint32_t) items[i] ^ codec->flip);
	else
		for (uint32_t i = 0; i < num_items; i++)
			((uint8_t *) keys)[ranks[i]] = (uint8_t) ((uint32_t) items[i] ^ codec->flip);
}

static void
sort_small_64(const mgpu_codec *codec, void *keys, uint32_t num_items)
{
	int64_t		items[MGPU_SMALL_ROOM];
	uint32_t	ranks[MGPU_SMALL_ROOM];
	uint64_t	flip = codec->flip ^ MGPU_F64_SIGN;
	uint64_t   *bits = keys;

	load_signed_64(codec, keys, items, num_items);
	mgpu_small_ranks_i64(items, num_items, ranks);
	if (codec->kind == MGPU_KEY_FLOAT)
		for (uint32_t i = 0; i < num_items; i++)
			bits[ranks[i]] = mgpu_decode_f64((uint64_t) items[i] ^ flip);
	else
		for (uint32_t i = 0; i < num_items; i++)
			bits[ranks[i]] = (uint64_t) items[i] ^ flip;
}

/* Codes of one byte: count each value, then write it out that often. */
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
		mgpu_vqsort(codes, num_items, width);
}

/* Integers of 4 and 8 bytes, which a network encodes and decodes on the way. */
static void
sort_by_network(const mgpu_codec *codec, void *keys, uint32_t num_items)
{
	static const uint32_t head = 0;
	mgpu_flips	flips = {codec->flip, codec->flip};

	mgpu_vector_sort_segments(keys, keys, &head, 1, num_items, codec->width, &flips);
}

/* Where networks are, they sort floats sooner that have been encoded apart. */
static uint32_t
rank_limit(uint32_t key_width)
{
	return mgpu_vector_sort_max(key_width) > 0 ? NETWORK_MIN_FLOATS : mgpu_small_limit(key_width);
}

void
mgpu_cpu_sort_keys_now(void *keys, uint64_t num_items, uint32_t key_kind,
					   uint32_t key_width, uint32_t descending)
{
	mgpu_codec	codec;

	mgpu_codec_init(&codec, key_kind, key_width, descending);
	if (num_items >= NETWORK_MIN_ITEMS && num_items <= mgpu_vector_sort_max(key_width) &&
		key_kind != MGPU_KEY_FLOAT)
	{
		sort_by_network(&codec, keys, (uint32_t) num_items);
		return;
	}
	if (key_width < 16 && num_items <= rank_limit(key_width))
	{
		if (key_width == 8)
			sort_small_64(&codec, keys, (uint32_t) num_items);
		else
			sort_small_32(&codec, keys, (uint32_t) num_items);
		return;
	}
	mgpu_encode_items(&codec, keys, keys, num_items);
	mgpu_sort_codes(keys, num_items, key_width);
	mgpu_decode_items(&codec, keys, keys, num_items);
}

static void
argsort_small(const mgpu_codec *codec, const void *keys, uint32_t *indices, uint32_t num_items)
{
	uint32_t	ranks[MGPU_SMALL_ROOM];

	if (codec->width == 16)
	{
		mgpu_u128	codes[MGPU_SMALL_ROOM];

		mgpu_encode_u128(codec, keys, codes, num_items);
		mgpu_small_ranks_u128(codes, num_items, ranks);
	}
	else if (codec->width == 8)
	{
		int64_t		items[MGPU_SMALL_ROOM];

		load_signed_64(codec, keys, items, num_items);
		mgpu_small_ranks_i64(items, num_items, ranks);
	}
	else
	{
		int32_t		items[MGPU_SMALL_ROOM];

		load_signed_32(codec, keys, items, num_items);
		mgpu_small_ranks_i32(items, num_items, ranks);
	}
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
	if (num_items <= mgpu_small_limit(key_width))
	{
		argsort_small(&codec, keys, indices, num_items);
		return;
	}
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
		mgpu_order_codes_u64(codes, packed, num_items);
	}
	for (uint32_t i = 0; i < num_items; i++)
		indices[i] = (uint32_t) (packed[i] & mask);
}

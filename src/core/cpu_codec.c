/*
 * cpu_codec.c
 *		See cpu_codec.h.
 *
 * Integers take one xor.  Floats are first encoded as if no zero and no NaN
 * occurred, in two operations an item; then the codes of zeros and NaN, which
 * float_masks.h finds, are corrected.  Compilers vectorize the loops at the baseline
 * instruction set.  Variants for other instruction sets were rejected: memory limits
 * the speed of encoding, and no sort became faster.
 */
#include "cpu_codec.h"

#include <string.h>

#include "float_masks.h"

/* Blocks of floats that are searched for zeros and NaN, then encoded while in cache. */
#define STRIPE_BLOCKS 32

void
mgpu_codec_init(mgpu_codec *codec, uint32_t kind, uint32_t width, uint32_t descending)
{
	codec->kind = kind;
	codec->width = width;
	codec->flip = descending ? ~UINT64_C(0) : 0;
	if (kind == MGPU_KEY_SIGNED)
		codec->flip ^= UINT64_C(1) << (width * 8 - 1);
}

void
mgpu_codec_init_identity(mgpu_codec *codec, uint32_t width)
{
	mgpu_codec_init(codec, MGPU_KEY_UNSIGNED, width, 0);
}

/* One loop a width: dst = src ^ flip. */
#define DEFINE_FLIP_ITEMS(type) \
static void \
flip_items_##type(const void *src, void *dst, uint64_t num_items, uint64_t flip) \
{ \
	const type *from = src; \
	type	   *to = dst; \
	type		mask = (type) flip; \
	for (uint64_t i = 0; i < num_items; i++) \
		to[i] = from[i] ^ mask; \
}

MGPU_FOR_WIDTHS(DEFINE_FLIP_ITEMS)

static void
flip_items(const void *src, void *dst, uint32_t width, uint64_t num_items, uint64_t flip)
{
	if (flip == 0 && src == dst)
		return;
	if (flip == 0)
		memcpy(dst, src, num_items * width);
	else
		MGPU_CALL_WIDTH(width, flip_items, src, dst, num_items, flip);
}

/*
 * Encode and decode of one float width.  The code of an ordinary item is its bits
 * with the sign flipped, and all other bits too if it is negative.
 */
#define DEFINE_FLOAT_ITEMS(bits, type, sign) \
static void \
encode_ordinary_f##bits(const type *src, type *dst, uint64_t num_items, type flip) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
		dst[i] = src[i] ^ ((0 - (src[i] >> (bits - 1))) | sign) ^ flip; \
} \
static void \
put_code_f##bits(type *dst, uint64_t mask, type code) \
{ \
	for (; mask != 0; mask &= mask - 1) \
		dst[__builtin_ctzll(mask)] = code; \
} \
/* The blocks fit the first-level cache. */ \
static void \
encode_blocks_f##bits(const type *src, type *dst, uint64_t num_blocks, type flip) \
{ \
	uint64_t	block = 0; \
	while (block < num_blocks) \
	{ \
		mgpu_float_masks masks = {0}; \
		uint64_t	special = mgpu_float_next_special(src, bits / 8, block, num_blocks, true, &masks); \
		uint64_t	end = special < num_blocks ? special + 1 : num_blocks; \
		encode_ordinary_f##bits(src + block * MGPU_FLOAT_BLOCK, dst + block * MGPU_FLOAT_BLOCK, \
								(end - block) * MGPU_FLOAT_BLOCK, flip); \
		put_code_f##bits(dst + (end - 1) * MGPU_FLOAT_BLOCK, masks.zeros, mgpu_encode_f##bits(0) ^ flip); \
		put_code_f##bits(dst + (end - 1) * MGPU_FLOAT_BLOCK, masks.nans, \
						 mgpu_encode_f##bits(MGPU_F##bits##_NAN) ^ flip); \
		block = end; \
	} \
} \
static void \
encode_items_f##bits(const type *src, type *dst, uint64_t num_items, type flip) \
{ \
	uint64_t	num_blocks = num_items / MGPU_FLOAT_BLOCK; \
	for (uint64_t block = 0; block < num_blocks; block += STRIPE_BLOCKS) \
		encode_blocks_f##bits(src + block * MGPU_FLOAT_BLOCK, dst + block * MGPU_FLOAT_BLOCK, \
							  num_blocks - block < STRIPE_BLOCKS ? num_blocks - block : STRIPE_BLOCKS, flip); \
	for (uint64_t i = num_blocks * MGPU_FLOAT_BLOCK; i < num_items; i++) \
		dst[i] = mgpu_encode_f##bits(src[i]) ^ flip; \
} \
static void \
decode_items_f##bits(const type *src, type *dst, uint64_t num_items, type flip) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
	{ \
		type		code = src[i] ^ flip; \
		dst[i] = code ^ (((code >> (bits - 1)) - 1) | sign); \
	} \
}

DEFINE_FLOAT_ITEMS(32, uint32_t, MGPU_F32_SIGN)
DEFINE_FLOAT_ITEMS(64, uint64_t, MGPU_F64_SIGN)

/* Reverse the bytes of 16-byte items: memcmp order becomes numeric order, and back. */
static void
swap_items_bytes(const uint64_t *src, uint64_t *dst, uint64_t num_items, uint64_t flip)
{
	for (uint64_t i = 0; i < num_items; i++)
	{
		uint64_t	first = src[2 * i];
		uint64_t	second = src[2 * i + 1];

		dst[2 * i] = mgpu_swap_64(second) ^ flip;
		dst[2 * i + 1] = mgpu_swap_64(first) ^ flip;
	}
}

void
mgpu_encode_items(const mgpu_codec *codec, const void *src, void *dst, uint64_t num_items)
{
	if (codec->kind == MGPU_KEY_BYTES)
		swap_items_bytes(src, dst, num_items, codec->flip);
	else if (codec->kind != MGPU_KEY_FLOAT)
		flip_items(src, dst, codec->width, num_items, codec->flip);
	else if (codec->width == 4)
		encode_items_f32(src, dst, num_items, (uint32_t) codec->flip);
	else
		encode_items_f64(src, dst, num_items, codec->flip);
}

void
mgpu_decode_items(const mgpu_codec *codec, const void *src, void *dst, uint64_t num_items)
{
	if (codec->kind == MGPU_KEY_BYTES)
		swap_items_bytes(src, dst, num_items, codec->flip);
	else if (codec->kind != MGPU_KEY_FLOAT)
		flip_items(src, dst, codec->width, num_items, codec->flip);
	else if (codec->width == 4)
		decode_items_f32(src, dst, num_items, (uint32_t) codec->flip);
	else
		decode_items_f64(src, dst, num_items, codec->flip);
}

void
mgpu_encode_wide(const mgpu_codec *codec, const void *src, uint64_t *codes, uint64_t num_items)
{
	if (codec->width == 8)
		mgpu_encode_items(codec, src, codes, num_items);
	else if (codec->width == 1)
		for (uint64_t i = 0; i < num_items; i++)
			codes[i] = (uint8_t) (((const uint8_t *) src)[i] ^ codec->flip);
	else if (codec->width == 2)
		for (uint64_t i = 0; i < num_items; i++)
			codes[i] = (uint16_t) (((const uint16_t *) src)[i] ^ codec->flip);
	else if (codec->kind == MGPU_KEY_FLOAT)
		for (uint64_t i = 0; i < num_items; i++)
			codes[i] = mgpu_encode_f32(((const uint32_t *) src)[i]) ^ (uint32_t) codec->flip;
	else
		for (uint64_t i = 0; i < num_items; i++)
			codes[i] = ((const uint32_t *) src)[i] ^ (uint32_t) codec->flip;
}

/* An identity codec of width 16 has kind MGPU_KEY_UNSIGNED: its items are codes already. */
void
mgpu_encode_u128(const mgpu_codec *codec, const void *src, mgpu_u128 *codes, uint64_t num_items)
{
	if (codec->kind == MGPU_KEY_BYTES)
		swap_items_bytes(src, (uint64_t *) codes, num_items, codec->flip);
	else
		memcpy(codes, src, num_items * sizeof(*codes));
}

void
mgpu_order_watch_init(mgpu_order_watch *watch, bool strict)
{
	watch->ascending = true;
	watch->descending = true;
	watch->strict = strict;
	watch->num_seen = 0;
}

/* Items compared before a test whether either order still holds. */
#define ORDER_BLOCK 256

#define DEFINE_WATCH(type) \
static void \
watch_##type(mgpu_order_watch *watch, const type *codes, uint64_t begin, uint64_t end) \
{ \
	while (begin < end && (watch->ascending || watch->descending)) \
	{ \
		uint64_t	stop = end - begin < ORDER_BLOCK ? end : begin + ORDER_BLOCK; \
		int			num_below = 0; \
		int			num_above = 0; \
		for (uint64_t i = begin; i < stop; i++) \
		{ \
			num_below += codes[i] < codes[(int64_t) i - 1]; \
			num_above += codes[i] > codes[(int64_t) i - 1]; \
		} \
		if (num_below > 0) \
			watch->ascending = false; \
		if (num_above > 0 || (watch->strict && num_below < (int) (stop - begin))) \
			watch->descending = false; \
		begin = stop; \
	} \
}

MGPU_FOR_WIDTHS(DEFINE_WATCH)

void
mgpu_order_watch_codes(mgpu_order_watch *watch, const void *codes, uint32_t width,
					   uint64_t num_items)
{
	uint64_t	begin = watch->num_seen == 0 ? 1 : 0;

	watch->num_seen += num_items;
	if (!watch->ascending && !watch->descending)
		return;
	MGPU_CALL_WIDTH(width, watch, watch, codes, begin, num_items);
}

#define DEFINE_REVERSE(type) \
static void \
reverse_##type(type *items, uint64_t num_items) \
{ \
	for (uint64_t i = 0, j = num_items; i + 1 < j; i++) \
	{ \
		type		item = items[i]; \
		items[i] = items[--j]; \
		items[j] = item; \
	} \
}

MGPU_FOR_WIDTHS(DEFINE_REVERSE)

void
mgpu_reverse_items(void *items, uint32_t width, uint64_t num_items)
{
	MGPU_CALL_WIDTH(width, reverse, items, num_items);
}

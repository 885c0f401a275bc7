/*
 * cpu_codec.h
 *		The maps of key_codec.h over whole slices, on the CPU.
 *
 * A code has the width of its element, so a slice is encoded in place or while it
 * is copied.  A code of width 16 is one little-endian 128-bit number, low word
 * first, as hwy::uint128_t.
 */
#ifndef MGPU_CPU_CODEC_H
#define MGPU_CPU_CODEC_H

#include "key_codec.h"

/* Aligned to 8 bytes, as 16-byte items are.  may_alias: reads memory written as words. */
typedef unsigned __int128 mgpu_u128 __attribute__((may_alias, aligned(8)));

/* Bits of a number without leading zeros. */
static inline unsigned
mgpu_bit_length(mgpu_u128 number)
{
	uint64_t	high = (uint64_t) (number >> 64);
	uint64_t	low = (uint64_t) number;

	if (high != 0)
		return 128 - (unsigned) __builtin_clzll(high);
	return low == 0 ? 0 : 64 - (unsigned) __builtin_clzll(low);
}

/* DEFINE(type) for each width of items, 1 to 16 bytes; and a call of function_type for one of them. */
#define MGPU_FOR_WIDTHS(DEFINE) \
DEFINE(uint8_t) \
DEFINE(uint16_t) \
DEFINE(uint32_t) \
DEFINE(uint64_t) \
DEFINE(mgpu_u128)

#define MGPU_CALL_WIDTH(width, function, ...) \
do { \
	if ((width) == 1) \
		function##_uint8_t(__VA_ARGS__); \
	else if ((width) == 2) \
		function##_uint16_t(__VA_ARGS__); \
	else if ((width) == 4) \
		function##_uint32_t(__VA_ARGS__); \
	else if ((width) == 8) \
		function##_uint64_t(__VA_ARGS__); \
	else \
		function##_mgpu_u128(__VA_ARGS__); \
} while (0)

/* What the maps need, computed once a run. */
typedef struct mgpu_codec
{
	uint32_t	kind;			/* mgpu_key_kind */
	uint32_t	width;			/* bytes an item */
	uint64_t	flip;			/* xor-ed onto codes: sign bit and complement */
} mgpu_codec;

void		mgpu_codec_init(mgpu_codec *codec, uint32_t kind, uint32_t width, uint32_t descending);

/* The codec of items that are codes already. */
void		mgpu_codec_init_identity(mgpu_codec *codec, uint32_t width);

/* src and dst are aligned to the width (8 for 16).  They are the same or do not overlap. */
void		mgpu_encode_items(const mgpu_codec *codec, const void *src, void *dst, uint64_t num_items);
void		mgpu_decode_items(const mgpu_codec *codec, const void *src, void *dst, uint64_t num_items);

/* Codes widened to 64 bits.  Not for width 16. */
void		mgpu_encode_wide(const mgpu_codec *codec, const void *src, uint64_t *codes, uint64_t num_items);

/* Codes of width 16. */
void		mgpu_encode_u128(const mgpu_codec *codec, const void *src, mgpu_u128 *codes, uint64_t num_items);

/*
 * The order of codes, watched while slice after slice is encoded.  Equal neighbours
 * count as descending for keys alone, but not for pairs (strict): reversing them
 * would not be stable.
 */
typedef struct mgpu_order_watch
{
	bool		ascending;		/* no item was below its predecessor */
	bool		descending;		/* none was above it, nor equal if strict */
	bool		strict;
	uint64_t	num_seen;
} mgpu_order_watch;

void		mgpu_order_watch_init(mgpu_order_watch *watch, bool strict);

/*
 * codes[-1] must be the last code of the previous slice, unless this is the first
 * one.  Returns at once if both orders are broken already.
 */
void		mgpu_order_watch_codes(mgpu_order_watch *watch, const void *codes, uint32_t width,
								   uint64_t num_items);

/* Reverse an array of items in place. */
void		mgpu_reverse_items(void *items, uint32_t width, uint64_t num_items);

#endif							/* MGPU_CPU_CODEC_H */

/*
 * cpu_codec.h
 *		key_codec.h's maps over whole slices, for the CPU.
 *
 * Codes have the width of the elements they stand for and keep their place, so
 * a slice is encoded in place or while it is copied.  A code of width 16 is one
 * little-endian 128-bit number: its low word first, as hwy::uint128_t has it.
 */
#ifndef MGPU_CPU_CODEC_H
#define MGPU_CPU_CODEC_H

#include "key_codec.h"

/* Aligned to 8 as 16-byte items are; read over memory written as words. */
typedef unsigned __int128 mgpu_u128 __attribute__((may_alias, aligned(8)));

/* Everything the maps need, worked out once a run. */
typedef struct mgpu_codec
{
	uint32_t	kind;			/* mgpu_key_kind */
	uint32_t	width;			/* bytes an item */
	uint64_t	flip;			/* xor-ed onto codes: sign bit, complement; 0
								 * means that codes are the stored bytes */
} mgpu_codec;

void		mgpu_codec_init(mgpu_codec *codec, uint32_t kind, uint32_t width, uint32_t descending);

/* The codec of data that are codes already. */
void		mgpu_codec_init_identity(mgpu_codec *codec, uint32_t width);

/* src and dst are aligned to the width (8 for 16); the same or not overlapping. */
void		mgpu_encode_items(const mgpu_codec *codec, const void *src, void *dst, uint64_t num_items);
void		mgpu_decode_items(const mgpu_codec *codec, const void *src, void *dst, uint64_t num_items);

/* Codes widened to 64 bits.  Not for width 16. */
void		mgpu_encode_wide(const mgpu_codec *codec, const void *src, uint64_t *codes, uint64_t num_items);

/* Codes of width 16. */
void		mgpu_encode_u128(const mgpu_codec *codec, const void *src, mgpu_u128 *codes, uint64_t num_items);

/*
 * The order that codes arrive in, while slice after slice is encoded.  Keys
 * alone may count equal neighbours as descending; pairs may not (stability).
 */
typedef struct mgpu_order_watch
{
	bool		ascending;		/* no item below its predecessor so far */
	bool		descending;		/* none above it; nor equal if strict */
	bool		strict;
	uint64_t	num_seen;
} mgpu_order_watch;

void		mgpu_order_watch_init(mgpu_order_watch *watch, bool strict);

/*
 * codes[-1] must be the last code of the slice before, unless none was seen.
 * Returns at once when neither order holds any more.
 */
void		mgpu_order_watch_codes(mgpu_order_watch *watch, const void *codes, uint32_t width,
								   uint64_t num_items);

/* Reverse an array of items in place. */
void		mgpu_reverse_items(void *items, uint32_t width, uint64_t num_items);

#endif							/* MGPU_CPU_CODEC_H */

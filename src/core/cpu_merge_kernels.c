/*
 * cpu_merge_kernels.c
 *		See cpu_merge_kernels.h.
 *
 * A serial merge without branches waits for its own loads and comparisons, five
 * cycles and more an item.  So four parts are merged in one loop, one item of each
 * in turn.  A part needs no check for the end of its lists: by Merge Path, the items
 * behind its end do not sort before any item that it still has to write.
 */
#include "cpu_merge_kernels.h"

#include <stddef.h>

#define LANES MGPU_MERGE_LANES

/* Whether y sorts before x.  flip is the codec's, in the width of the item. */
#define BELOW_FLIPPED(y, x) (((y) ^ flip) < ((x) ^ flip))
#define BELOW_F32(y, x) ((code_f32(y) ^ flip) < (code_f32(x) ^ flip))
#define BELOW_F64(y, x) ((code_f64(y) ^ flip) < (code_f64(x) ^ flip))
#define BELOW_BYTES(y, x) ((swap_u128(y) ^ flip) < (swap_u128(x) ^ flip))

/* mgpu_encode_f32 and mgpu_encode_f64, written so that compilers make no branches. */
#define DEFINE_CODE(bits, type) \
static inline type \
code_f##bits(type item) \
{ \
	type		magnitude = item & ~MGPU_F##bits##_SIGN; \
	type		is_nan = 0 - (type) (magnitude > MGPU_F##bits##_INF); \
	item &= 0 - (type) (magnitude != 0); \
	item = (item & ~is_nan) | (MGPU_F##bits##_NAN & is_nan); \
	return item ^ ((0 - (item >> (bits - 1))) | MGPU_F##bits##_SIGN); \
}

DEFINE_CODE(32, uint32_t)
DEFINE_CODE(64, uint64_t)

static inline mgpu_u128
swap_u128(mgpu_u128 bytes)
{
	return (mgpu_u128) mgpu_swap_64((uint64_t) bytes) << 64 | mgpu_swap_64((uint64_t) (bytes >> 64));
}

static inline mgpu_u128
wide_flip(const mgpu_codec *codec)
{
	return (mgpu_u128) codec->flip << 64 | codec->flip;
}

#define DEFINE_MERGE(name, type, BELOW) \
static uint64_t \
path_##name(const mgpu_codec *codec, const void *list_a, uint64_t num_a, const void *list_b, \
			uint64_t num_b, uint64_t diagonal) \
{ \
	type		flip = (type) wide_flip(codec); \
	const type *a = list_a; \
	const type *b = list_b; \
	uint64_t	begin = diagonal > num_b ? diagonal - num_b : 0; \
	uint64_t	length = (diagonal < num_a ? diagonal : num_a) - begin; \
	while (length > 0) \
	{ \
		uint64_t	half = length / 2; \
		uint64_t	middle = begin + half; \
		bool		is_right = !BELOW(b[diagonal - 1 - middle], a[middle]); \
		begin = is_right ? middle + 1 : begin; \
		length = is_right ? length - half - 1 : half; \
	} \
	return begin; \
} \
static void \
keys_##name(const mgpu_codec *codec, const mgpu_scalar_lanes *lanes, uint64_t lane_items) \
{ \
	type		flip = (type) wide_flip(codec); \
	const type *a[LANES]; \
	const type *b[LANES]; \
	type	   *out[LANES]; \
	for (int k = 0; k < LANES; k++) \
	{ \
		a[k] = (const type *) lanes->a + lanes->a_used[k]; \
		b[k] = (const type *) lanes->b + lanes->b_used[k]; \
		out[k] = lanes->out[k]; \
	} \
	for (uint64_t i = 0; i < lane_items; i++) \
	{ \
		_Pragma("GCC unroll 4") \
		for (int k = 0; k < LANES; k++) \
		{ \
			uint64_t	from_b = mgpu_mask_of(BELOW(*b[k], *a[k])); \
			out[k][i] = *MGPU_SELECT_POINTER(type, a[k], b[k], from_b); \
			a[k] += 1 + from_b; \
			b[k] -= from_b; \
		} \
	} \
} \
static void \
pairs_##name(const mgpu_codec *codec, const mgpu_scalar_lanes *lanes, uint64_t lane_items) \
{ \
	type		flip = (type) wide_flip(codec); \
	const type *a = lanes->a; \
	const type *b = lanes->b; \
	uint64_t	num_a = lanes->num_a; \
	uint64_t	a_used[LANES]; \
	uint64_t	b_used[LANES]; \
	type	   *out[LANES]; \
	uint32_t   *indices[LANES]; \
	for (int k = 0; k < LANES; k++) \
	{ \
		a_used[k] = lanes->a_used[k]; \
		b_used[k] = lanes->b_used[k]; \
		out[k] = lanes->out[k]; \
		indices[k] = lanes->indices[k]; \
	} \
	for (uint64_t i = 0; i < lane_items; i++) \
	{ \
		_Pragma("GCC unroll 4") \
		for (int k = 0; k < LANES; k++) \
		{ \
			uint64_t	from_b = mgpu_mask_of(BELOW(b[b_used[k]], a[a_used[k]])); \
			out[k][i] = *MGPU_SELECT_POINTER(type, a + a_used[k], b + b_used[k], from_b); \
			indices[k][i] = (uint32_t) mgpu_select_word(a_used[k], num_a + b_used[k], from_b); \
			a_used[k] += 1 + from_b; \
			b_used[k] -= from_b; \
		} \
	} \
} \
static void \
tail_##name(const mgpu_lists *lists, const mgpu_cut *cut, void *out, uint32_t *indices) \
{ \
	type		flip = (type) wide_flip(&lists->codec); \
	const type *a = lists->a; \
	const type *b = lists->b; \
	uint64_t	a_used = cut->a_begin; \
	uint64_t	b_used = cut->begin - cut->a_begin; \
	for (uint64_t i = 0; i < cut->end - cut->begin; i++) \
	{ \
		bool		from_b = b_used < lists->num_b && \
			(a_used == lists->num_a || BELOW(b[b_used], a[a_used])); \
		((type *) out)[i] = from_b ? b[b_used] : a[a_used]; \
		if (indices != NULL) \
			indices[i] = (uint32_t) (from_b ? lists->num_a + b_used : a_used); \
		b_used += from_b; \
		a_used += !from_b; \
	} \
} \
static uint64_t \
first_unsorted_##name(const mgpu_codec *codec, const void *list, uint64_t begin, uint64_t end) \
{ \
	type		flip = (type) wide_flip(codec); \
	const type *items = list; \
	for (uint64_t i = begin > 0 ? begin : 1; i < end; i++) \
		if (BELOW(items[i], items[i - 1])) \
			return i; \
	return end; \
} \
/* Galloping search: steps double until one goes too far, then halve. */ \
static uint64_t \
count_below_##name(const mgpu_codec *codec, const void *list, uint64_t num_items, const void *item) \
{ \
	type		flip = (type) wide_flip(codec); \
	const type *items = list; \
	type		limit = *(const type *) item; \
	uint64_t	count = 0; \
	uint64_t	step = 1; \
	for (; step <= num_items - count && BELOW(items[count + step - 1], limit); step *= 2) \
		count += step; \
	for (; step > 0; step /= 2) \
		if (step <= num_items - count && BELOW(items[count + step - 1], limit)) \
			count += step; \
	return count; \
} \
static uint64_t \
count_above_##name(const mgpu_codec *codec, const void *end, uint64_t num_items, const void *item) \
{ \
	type		flip = (type) wide_flip(codec); \
	const type *items = end; \
	type		limit = *(const type *) item; \
	uint64_t	count = 0; \
	uint64_t	step = 1; \
	for (; step <= num_items - count && BELOW(limit, *(items - count - step)); step *= 2) \
		count += step; \
	for (; step > 0; step /= 2) \
		if (step <= num_items - count && BELOW(limit, *(items - count - step))) \
			count += step; \
	return count; \
} \
static const mgpu_merge_functions functions_##name = { \
	path_##name, keys_##name, pairs_##name, tail_##name, first_unsorted_##name, \
	count_below_##name, count_above_##name \
};

DEFINE_MERGE(u8, uint8_t, BELOW_FLIPPED)
DEFINE_MERGE(u16, uint16_t, BELOW_FLIPPED)
DEFINE_MERGE(u32, uint32_t, BELOW_FLIPPED)
DEFINE_MERGE(u64, uint64_t, BELOW_FLIPPED)
DEFINE_MERGE(u128, mgpu_u128, BELOW_FLIPPED)
DEFINE_MERGE(f32, uint32_t, BELOW_F32)
DEFINE_MERGE(f64, uint64_t, BELOW_F64)
DEFINE_MERGE(bytes, mgpu_u128, BELOW_BYTES)

const mgpu_merge_functions *
mgpu_merge_functions_of(const mgpu_codec *codec)
{
	if (codec->kind == MGPU_KEY_BYTES)
		return &functions_bytes;
	if (codec->kind == MGPU_KEY_FLOAT)
		return codec->width == 4 ? &functions_f32 : &functions_f64;
	switch (codec->width)
	{
		case 1:
			return &functions_u8;
		case 2:
			return &functions_u16;
		case 4:
			return &functions_u32;
		case 8:
			return &functions_u64;
		default:
			return &functions_u128;
	}
}

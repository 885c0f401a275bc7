/*
 * small_sort.c
 *		See small_sort.h.
 *
 * A vector of consecutive items is compared with every item j in turn.  A comparison
 * that holds is -1 in its lane, so subtracting the results counts them.  On ties,
 * items before the vector come first (<=), items behind it do not (<), and inside
 * the vector the lane number decides.  Sorting networks were rejected: each is fast
 * only for its own size, and they are not stable.
 */
#include "small_sort.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX2_VARIANT 1
#define TARGET_AVX2 __attribute__((target("avx2")))
#endif

#define DEFINE_RANKS(name, type, vector, num_lanes, attributes) \
attributes static void \
name(type *items, uint32_t num_items, uint32_t *ranks) \
{ \
	vector		lane = {0}; \
	for (int k = 0; k < num_lanes; k++) \
	{ \
		items[num_items + k] = 0; \
		lane[k] = k; \
	} \
	for (uint32_t begin = 0; begin < num_items; begin += num_lanes) \
	{ \
		uint32_t	end = begin + num_lanes < num_items ? begin + num_lanes : num_items; \
		vector		here = *(const vector *) (items + begin); \
		vector		count = {0}; \
		uint32_t	j = 0; \
		for (; j < begin; j++) \
			count -= (vector) (items[j] <= here); \
		for (; j < end; j++) \
			count -= (vector) ((items[j] < here) | ((items[j] == here) & (lane > (type) (j - begin)))); \
		for (; j < num_items; j++) \
			count -= (vector) (items[j] < here); \
		for (int k = 0; k < num_lanes; k++) \
			ranks[begin + k] = (uint32_t) count[k]; \
	} \
}

/* Compares each pair once, which is cheaper without vectors. */
#define DEFINE_SCALAR_RANKS(name, type, storage) \
storage void \
name(type *items, uint32_t num_items, uint32_t *ranks) \
{ \
	for (uint32_t i = 0; i < num_items; i++) \
		ranks[i] = i; \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		type		here = items[i]; \
		uint32_t	num_below = 0; \
		for (uint32_t j = i + 1; j < num_items; j++) \
		{ \
			uint32_t	is_below = items[j] < here; \
			ranks[j] -= is_below; \
			num_below += is_below; \
		} \
		ranks[i] += num_below; \
	} \
}

typedef int32_t vector_4i32 __attribute__((vector_size(16), aligned(4), may_alias));

DEFINE_RANKS(ranks_i32_4, int32_t, vector_4i32, 4,)
DEFINE_SCALAR_RANKS(ranks_i64_1, int64_t, static)
DEFINE_SCALAR_RANKS(mgpu_small_ranks_u128, mgpu_u128,)

#ifdef HAVE_AVX2_VARIANT
typedef int32_t vector_8i32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int64_t vector_4i64 __attribute__((vector_size(32), aligned(8), may_alias));

DEFINE_RANKS(ranks_i32_8, int32_t, vector_8i32, 8, TARGET_AVX2)
DEFINE_RANKS(ranks_i64_4, int64_t, vector_4i64, 4, TARGET_AVX2)
#define HAVE_AVX2 __builtin_cpu_supports("avx2")
#else
#define ranks_i32_8 ranks_i32_4
#define ranks_i64_4 ranks_i64_1
#define HAVE_AVX2 false
#endif

uint32_t
mgpu_small_limit(uint32_t key_width)
{
#if !MGPU_WITH_HIGHWAY
	return MGPU_SMALL_MAX;		/* the portable sort has a high fixed cost */
#endif
	if (key_width == 16)
		return 32;
	if (key_width == 8)
		return HAVE_AVX2 ? 56 : 40;
	return HAVE_AVX2 ? 88 : 56;
}

void
mgpu_small_ranks_i32(int32_t *items, uint32_t num_items, uint32_t *ranks)
{
	if (HAVE_AVX2)
		ranks_i32_8(items, num_items, ranks);
	else
		ranks_i32_4(items, num_items, ranks);
}

void
mgpu_small_ranks_i64(int64_t *items, uint32_t num_items, uint32_t *ranks)
{
	if (HAVE_AVX2)
		ranks_i64_4(items, num_items, ranks);
	else
		ranks_i64_1(items, num_items, ranks);
}

/* Sort keys by their ranks.  The xor with sign makes keys signed. */
#define DEFINE_SORT(type, ranked_type, ranks, sign) \
static void \
sort_##type(type *keys, uint32_t num_items) \
{ \
	ranked_type items[MGPU_SMALL_SPACE]; \
	uint32_t	positions[MGPU_SMALL_SPACE]; \
	for (uint32_t i = 0; i < num_items; i++) \
		items[i] = (ranked_type) (keys[i] ^ sign); \
	ranks(items, num_items, positions); \
	for (uint32_t i = 0; i < num_items; i++) \
		keys[positions[i]] = (type) items[i] ^ sign; \
}

DEFINE_SORT(uint16_t, int32_t, mgpu_small_ranks_i32, 0)
DEFINE_SORT(uint32_t, int32_t, mgpu_small_ranks_i32, MGPU_F32_SIGN)
DEFINE_SORT(uint64_t, int64_t, mgpu_small_ranks_i64, MGPU_F64_SIGN)
DEFINE_SORT(mgpu_u128, mgpu_u128, mgpu_small_ranks_u128, 0)

void
mgpu_small_sort(void *keys, uint32_t num_items, uint32_t width)
{
	if (width == 2)
		sort_uint16_t(keys, num_items);
	else if (width == 4)
		sort_uint32_t(keys, num_items);
	else if (width == 8)
		sort_uint64_t(keys, num_items);
	else
		sort_mgpu_u128(keys, num_items);
}

/*
 * exchange.c
 *		See exchange.h.
 *
 * Plain loops that compilers turn into vector minima and maxima.  Strides below a
 * vector's length are constants, so that they become shuffles inside vectors.  Each
 * loop is compiled for several instruction sets, as baseline x86-64 has no unsigned
 * minimum of 4 bytes.  128-bit codes stay scalar, without branches.
 */
#include "core/cpu/exchange.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86_VARIANTS 1
#define TARGET_AVX2 __attribute__((target("avx2")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#endif

#define EXCHANGE(type, x, y) \
do { \
	type		low_code = (x) < (y) ? (x) : (y); \
	(y) = (x) < (y) ? (y) : (x); \
	(x) = low_code; \
} while (0)

/* Runs of a constant stride. */
#define EXCHANGE_STRIDE(type, STRIDE) \
	for (uint64_t i = 0; i < num_runs; i++) \
		for (int j = 0; j < STRIDE; j++) \
			EXCHANGE(type, codes[2 * STRIDE * i + j], codes[2 * STRIDE * i + STRIDE + j])

#define DEFINE_EXCHANGE(name, type, attributes) \
attributes static void \
items_##name(void *lows, void *highs, uint64_t num_pairs) \
{ \
	type	   *low = lows; \
	type	   *high = highs; \
	for (uint64_t i = 0; i < num_pairs; i++) \
		EXCHANGE(type, low[i], high[i]); \
} \
attributes static void \
runs_##name(void *all, uint64_t num_runs, uint64_t stride) \
{ \
	type	   *codes = all; \
	switch (stride) \
	{ \
		case 1: \
			EXCHANGE_STRIDE(type, 1); \
			break; \
		case 2: \
			EXCHANGE_STRIDE(type, 2); \
			break; \
		case 4: \
			EXCHANGE_STRIDE(type, 4); \
			break; \
		case 8: \
			EXCHANGE_STRIDE(type, 8); \
			break; \
		case 16: \
			EXCHANGE_STRIDE(type, 16); \
			break; \
		default: \
			for (uint64_t i = 0; i < num_runs; i++) \
				items_##name(codes + 2 * stride * i, codes + 2 * stride * i + stride, stride); \
	} \
}

#define DEFINE_EXCHANGES(level, attributes) \
DEFINE_EXCHANGE(u8_##level, uint8_t, attributes) \
DEFINE_EXCHANGE(u16_##level, uint16_t, attributes) \
DEFINE_EXCHANGE(u32_##level, uint32_t, attributes) \
DEFINE_EXCHANGE(u64_##level, uint64_t, attributes) \
DEFINE_EXCHANGE(u128_##level, mgpu_u128, attributes)

#define ITEMS_OF(level) {items_u8_##level, items_u16_##level, items_u32_##level, items_u64_##level, items_u128_##level}
#define RUNS_OF(level) {runs_u8_##level, runs_u16_##level, runs_u32_##level, runs_u64_##level, runs_u128_##level}

DEFINE_EXCHANGES(portable,)
#ifdef HAVE_X86_VARIANTS
DEFINE_EXCHANGES(avx2, TARGET_AVX2)
DEFINE_EXCHANGES(avx512, TARGET_AVX512)
#endif

/* Indexed by level and by the logarithm of the width. */
static void (*const items_functions[][5]) (void *lows, void *highs, uint64_t num_pairs) = {
	ITEMS_OF(portable),
#ifdef HAVE_X86_VARIANTS
	ITEMS_OF(avx2),
	ITEMS_OF(avx512),
#endif
};

static void (*const runs_functions[][5]) (void *all, uint64_t num_runs, uint64_t stride) = {
	RUNS_OF(portable),
#ifdef HAVE_X86_VARIANTS
	RUNS_OF(avx2),
	RUNS_OF(avx512),
#endif
};

mgpu_exchange_level
mgpu_exchange_best_level(void)
{
#ifdef HAVE_X86_VARIANTS
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return MGPU_EXCHANGE_AVX512;
	if (__builtin_cpu_supports("avx2"))
		return MGPU_EXCHANGE_AVX2;
#endif
	return MGPU_EXCHANGE_PORTABLE;
}

void
mgpu_exchange_items(mgpu_exchange_level level, void *low, void *high, uint64_t num_pairs, uint32_t width)
{
	items_functions[level][__builtin_ctz(width)] (low, high, num_pairs);
}

void
mgpu_exchange_runs(mgpu_exchange_level level, void *codes, uint64_t num_runs, uint64_t stride, uint32_t width)
{
	runs_functions[level][__builtin_ctz(width)] (codes, num_runs, stride);
}

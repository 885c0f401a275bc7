/*
 * order_codes.c
 *		See order_codes.h.
 *
 * Rejected: sorting 128-bit (code, position) pairs, which takes three times as
 * long, and a radix sort of pairs, whose passes grow with the width of the key.
 */
#include "order_codes.h"

#include <stddef.h>

#include "unsigned_sort.h"

/* Runs of equal prefixes up to this length are sorted by insertion. */
#define INSERTION_MAX 16

void
mgpu_order_codes_u32(const uint32_t *codes, uint64_t *packed, uint32_t num_codes)
{
	unsigned	index_bits = mgpu_order_bits(num_codes);

	for (uint32_t i = 0; i < num_codes; i++)
		packed[i] = (uint64_t) codes[i] << index_bits | i;
	mgpu_sort_unsigned(packed, num_codes, sizeof(*packed), NULL);
}

/*
 * order_run orders a run, whose positions ascend, by code.  finish_runs does so for
 * each run of equal prefixes, which are the bits above index_bits.
 */
#define DEFINE_ORDER(type) \
static void order_run_##type(const type *codes, uint64_t *packed, uint32_t num_items, unsigned index_bits); \
static void \
insert_run_##type(const type *codes, uint64_t *packed, uint32_t num_items, uint64_t mask) \
{ \
	for (uint32_t i = 1; i < num_items; i++) \
	{ \
		uint64_t	entry = packed[i]; \
		type		code = codes[entry & mask]; \
		uint32_t	j = i; \
		for (; j > 0 && codes[packed[j - 1] & mask] > code; j--) \
			packed[j] = packed[j - 1]; \
		packed[j] = entry; \
	} \
} \
static void \
finish_runs_##type(const type *codes, uint64_t *packed, uint32_t num_items, unsigned index_bits) \
{ \
	uint64_t	mask = (UINT64_C(1) << index_bits) - 1; \
	uint32_t	begin = 0; \
	for (uint32_t i = 1; i <= num_items; i++) \
	{ \
		if (i < num_items && packed[i] >> index_bits == packed[begin] >> index_bits) \
			continue; \
		if (i - begin > INSERTION_MAX) \
			order_run_##type(codes, packed + begin, i - begin, index_bits); \
		else if (i - begin > 1) \
			insert_run_##type(codes, packed + begin, i - begin, mask); \
		begin = i; \
	} \
} \
static void \
order_run_##type(const type *codes, uint64_t *packed, uint32_t num_items, unsigned index_bits) \
{ \
	uint64_t	mask = (UINT64_C(1) << index_bits) - 1; \
	type		lowest = codes[packed[0] & mask]; \
	type		highest = lowest; \
	unsigned	range_bits; \
	unsigned	shift; \
	for (uint32_t i = 1; i < num_items; i++) \
	{ \
		type		code = codes[packed[i] & mask]; \
		lowest = code < lowest ? code : lowest; \
		highest = code > highest ? code : highest; \
	} \
	if (lowest == highest) \
		return; \
	range_bits = mgpu_bit_length(highest - lowest); \
	shift = range_bits + index_bits > 64 ? range_bits + index_bits - 64 : 0; \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		uint64_t	index = packed[i] & mask; \
		packed[i] = (uint64_t) ((codes[index] - lowest) >> shift) << index_bits | index; \
	} \
	mgpu_sort_unsigned(packed, num_items, sizeof(*packed), NULL); \
	if (shift > 0) \
		finish_runs_##type(codes, packed, num_items, index_bits); \
} \

DEFINE_ORDER(uint64_t)
DEFINE_ORDER(mgpu_u128)

static void
fill_positions(uint64_t *packed, uint32_t num_codes)
{
	for (uint32_t i = 0; i < num_codes; i++)
		packed[i] = i;
}

void
mgpu_order_codes_u64(const uint64_t *codes, uint64_t *packed, uint32_t num_codes)
{
	fill_positions(packed, num_codes);
	if (num_codes > 1)
		order_run_uint64_t(codes, packed, num_codes, mgpu_order_bits(num_codes));
}

void
mgpu_order_codes_u128(const mgpu_u128 *codes, uint64_t *packed, uint32_t num_codes)
{
	fill_positions(packed, num_codes);
	if (num_codes > 1)
		order_run_mgpu_u128(codes, packed, num_codes, mgpu_order_bits(num_codes));
}

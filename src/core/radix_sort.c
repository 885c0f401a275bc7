/*
 * radix_sort.c
 *		See radix_sort.h.
 *
 * Only the bits in which keys differ are sorted by.  Many keys that
 * fit the scratch take a pass for every eight bits, lowest first, to the scratch and
 * back.  Others are cut by their highest eight bits, in place by cycles of swaps
 * (American flag sort; McIlroy, Bostic, McIlroy 1993), and each part is sorted by the
 * same rule.  A few keys are ranked.  std::sort and qsort were rejected: five to
 * ten times slower on random keys.
 */
#include "radix_sort.h"

#include <stdbool.h>
#include <string.h>

#include "small_sort.h"

#define DIGIT_BITS 8
#define NUM_DIGITS 256

/* Keys that differ in more bits, and fewer keys for each pass, are cut: a pass has a fixed cost. */
#define MAX_PASSES 8
#define PASS_ITEMS 64

/* Fewer keys are ranked. */
#define RANKED_ITEMS 64

static bool
fit_passes(uint64_t num_items, unsigned num_passes)
{
	return num_passes <= MAX_PASSES && num_items >= num_passes * PASS_ITEMS && num_items <= UINT32_MAX;
}

#define DEFINE_RADIX(type) \
static void \
pass_##type(const type *from, type *to, uint32_t num_items, unsigned shift, uint32_t *counts) \
{ \
	uint32_t	begin = 0; \
	for (int digit = 0; digit < NUM_DIGITS; digit++) \
	{ \
		uint32_t	count = counts[digit]; \
		counts[digit] = begin; \
		begin += count; \
	} \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		type		key = from[i]; \
		to[counts[(uint8_t) (key >> shift)]++] = key; \
	} \
} \
static void \
sort_by_passes_##type(type *keys, uint32_t num_items, unsigned num_passes, type *scratch) \
{ \
	uint32_t	counts[MAX_PASSES][NUM_DIGITS] = {{0}}; \
	type	   *from = keys; \
	type	   *to = scratch; \
	for (uint32_t i = 0; i < num_items; i++) \
		for (unsigned pass = 0; pass < num_passes; pass++) \
			counts[pass][(uint8_t) (keys[i] >> (pass * DIGIT_BITS))]++; \
	for (unsigned pass = 0; pass < num_passes; pass++) \
	{ \
		type	   *sorted = to; \
		pass_##type(from, to, num_items, pass * DIGIT_BITS, counts[pass]); \
		to = from; \
		from = sorted; \
	} \
	if (from != keys) \
		memcpy(keys, from, num_items * sizeof(*keys)); \
} \
/* Put keys that agree from shift + 8 bits on into the order of the digit at shift; ends[digit] is set. */ \
static void \
cut_##type(type *keys, uint64_t num_items, unsigned shift, uint64_t *end) \
{ \
	uint64_t	next[NUM_DIGITS]; \
	uint64_t	begin = 0; \
	memset(end, 0, NUM_DIGITS * sizeof(*end)); \
	for (uint64_t i = 0; i < num_items; i++) \
		end[(uint8_t) (keys[i] >> shift)]++; \
	for (int digit = 0; digit < NUM_DIGITS; digit++) \
	{ \
		next[digit] = begin; \
		begin += end[digit]; \
		end[digit] = begin; \
	} \
	for (int digit = 0; digit < NUM_DIGITS; digit++) \
		while (next[digit] < end[digit]) \
		{ \
			type		key = keys[next[digit]]; \
			uint8_t		home; \
			while ((home = (uint8_t) (key >> shift)) != digit) \
			{ \
				type		other = keys[next[home]]; \
				keys[next[home]++] = key; \
				key = other; \
			} \
			keys[next[digit]++] = key; \
		} \
} \
static void \
sort_##type(type *keys, uint64_t num_items, type *scratch, uint64_t scratch_items) \
{ \
	type		differing = 0; \
	unsigned	num_bits; \
	unsigned	num_passes; \
	uint64_t	end[NUM_DIGITS]; \
	uint64_t	begin = 0; \
	if (num_items < RANKED_ITEMS) \
	{ \
		mgpu_small_sort(keys, (uint32_t) num_items, sizeof(type)); \
		return; \
	} \
	for (uint64_t i = 0; i < num_items; i++) \
		differing |= keys[i] ^ keys[0]; \
	num_bits = mgpu_bit_length(differing); \
	num_passes = (num_bits + DIGIT_BITS - 1) / DIGIT_BITS; \
	if (num_items <= scratch_items && fit_passes(num_items, num_passes)) \
	{ \
		sort_by_passes_##type(keys, (uint32_t) num_items, num_passes, scratch); \
		return; \
	} \
	cut_##type(keys, num_items, num_bits <= DIGIT_BITS ? 0 : num_bits - DIGIT_BITS, end); \
	for (int digit = 0; digit < NUM_DIGITS && num_bits > DIGIT_BITS; digit++) \
	{ \
		if (end[digit] - begin > 1) \
			sort_##type(keys + begin, end[digit] - begin, scratch, scratch_items); \
		begin = end[digit]; \
	} \
}

DEFINE_RADIX(uint16_t)
DEFINE_RADIX(uint32_t)
DEFINE_RADIX(uint64_t)
DEFINE_RADIX(mgpu_u128)

void
mgpu_radix_sort(void *keys, uint64_t num_items, uint32_t width, void *scratch, uint64_t scratch_bytes)
{
	if (width == 2)
		sort_uint16_t(keys, num_items, scratch, scratch_bytes / width);
	else if (width == 4)
		sort_uint32_t(keys, num_items, scratch, scratch_bytes / width);
	else if (width == 8)
		sort_uint64_t(keys, num_items, scratch, scratch_bytes / width);
	else
		sort_mgpu_u128(keys, num_items, scratch, scratch_bytes / width);
}

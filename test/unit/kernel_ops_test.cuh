/*
 * kernel_ops_test.cuh
 *		What the parts of kernel_ops_test share: counts, data and references.
 *
 * References are the plainest code that gives the answer, on keys' codes as the
 * codec has them, and know nothing of tiles.
 */
#ifndef MGPU_KERNEL_OPS_TEST_CUH
#define MGPU_KERNEL_OPS_TEST_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "core/key_codec.h"
#include "merge/ops.h"

extern int	tests_passed;
extern int	tests_failed;
extern bool quick;
extern std::mt19937_64 random_bits;

/* Count one check; say what failed. */
template <typename... Arguments>
static void
expect(bool holds, const char *format, Arguments... arguments)
{
	if (holds)
	{
		tests_passed++;
		return;
	}
	tests_failed++;
	printf("FAILED  ");
	if constexpr (sizeof...(arguments) == 0)
		fputs(format, stdout);
	else
		printf(format, arguments...);
	printf("\n");
}

typedef std::vector<uint8_t> byte_array;
typedef std::pair<uint64_t, uint64_t> key_code;

/* A stored key's code: high word, low word. */
static inline key_code
code_of(const mgpu_codec &codec, const uint8_t *stored)
{
	uint64_t	flip = codec.descending ? ~UINT64_C(0) : 0;
	uint64_t	words[2] = {0, 0};

	memcpy(words, stored, codec.width);
	if (codec.width == 16)
		return key_code(mgpu_swap_64(words[0]) ^ flip, mgpu_swap_64(words[1]) ^ flip);
	if (codec.width == 8)
		return key_code(mgpu_encode_64(words[0], codec.kind) ^ flip, 0);
	return key_code(mgpu_encode_32((uint32_t) words[0], codec.kind, codec.width) ^ (uint32_t) flip, 0);
}

static inline std::vector<key_code>
codes_of(const mgpu_codec &codec, const byte_array &keys)
{
	std::vector<key_code> codes(keys.size() / codec.width);

	for (size_t i = 0; i < codes.size(); i++)
		codes[i] = code_of(codec, keys.data() + i * codec.width);
	return codes;
}

typedef enum data_pattern
{
	DATA_RANDOM = 0,
	DATA_EQUAL,
	DATA_FEW,
	DATA_INTERLEAVED,			/* a takes even numbers, b odd ones */
	DATA_A_FIRST,				/* all of a before all of b */
	DATA_B_FIRST,
	DATA_EXTREMES,				/* smallest, largest, zeros and NaNs */
	NUM_DATA_PATTERNS
} data_pattern;

/* Random bytes of a key's width that mean something in its kind. */
static inline void
put_extreme(const mgpu_codec &codec, uint8_t *stored)
{
	static const uint32_t f32[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x3F800000};
	static const uint64_t f64[] = {0, MGPU_F64_SIGN, MGPU_F64_INF, MGPU_F64_SIGN | MGPU_F64_INF, MGPU_F64_NAN,
	MGPU_F64_SIGN | MGPU_F64_NAN | 1, MGPU_F64_INF | 1, UINT64_C(0x3FF0000000000000)};
	static const uint8_t fill[] = {0x00, 0xFF, 0x80, 0x7F};
	uint64_t	choice = random_bits();

	if (codec.kind == MGPU_KEY_FLOAT && codec.width == 4)
		memcpy(stored, &f32[choice % 8], 4);
	else if (codec.kind == MGPU_KEY_FLOAT)
		memcpy(stored, &f64[choice % 8], 8);
	else
	{
		memset(stored, fill[choice % 4], codec.width);
		stored[choice / 4 % 2 ? 0 : codec.width - 1] = fill[choice / 8 % 4];
	}
}

/* num_items unsorted keys; side is 0 for a, 1 for b. */
static inline byte_array
make_keys(const mgpu_codec &codec, int pattern, int side, uint64_t num_items)
{
	byte_array	keys(num_items * codec.width);

	for (uint64_t i = 0; i < num_items; i++)
	{
		uint8_t    *stored = keys.data() + i * codec.width;
		uint64_t	words[2] = {random_bits(), random_bits()};

		switch (pattern)
		{
			case DATA_EQUAL:
				words[0] = words[1] = 0x2A;
				break;
			case DATA_FEW:
				words[0] %= 5;
				words[1] = 0;
				break;
			case DATA_INTERLEAVED:
				words[0] = 2 * i + side;
				words[1] = 0;
				break;
			case DATA_A_FIRST:
			case DATA_B_FIRST:
				words[0] = i % 50 + ((side == 0) == (pattern == DATA_B_FIRST) ? 60 : 0);
				words[1] = 0;
				break;
			default:
				break;
		}
		memcpy(stored, words, codec.width);
		if (pattern == DATA_EXTREMES)
			put_extreme(codec, stored);
	}
	return keys;
}

static inline byte_array
sort_keys(const mgpu_codec &codec, const byte_array &keys)
{
	std::vector<key_code> codes = codes_of(codec, keys);
	std::vector<uint32_t> order(codes.size());
	byte_array	sorted(keys.size());

	for (size_t i = 0; i < order.size(); i++)
		order[i] = (uint32_t) i;
	std::stable_sort(order.begin(), order.end(), [&] (uint32_t x, uint32_t y) { return codes[x] < codes[y]; });
	for (size_t i = 0; i < order.size(); i++)
		memcpy(&sorted[i * codec.width], &keys[(size_t) order[i] * codec.width], codec.width);
	return sorted;
}

static inline byte_array
random_bytes(uint64_t bytes)
{
	byte_array	items(bytes);

	for (uint8_t &byte : items)
		byte = (uint8_t) (random_bits() >> 32);
	return items;
}

/* Where each output of the merge comes from: an item of a, or a_items + one of b. */
static inline std::vector<uint32_t>
reference_merge(const mgpu_codec &codec, const byte_array &a, const byte_array &b)
{
	std::vector<key_code> a_codes = codes_of(codec, a);
	std::vector<key_code> b_codes = codes_of(codec, b);
	std::vector<uint32_t> sources;
	size_t		i = 0;
	size_t		j = 0;

	while (i < a_codes.size() || j < b_codes.size())
	{
		if (j == b_codes.size() || (i < a_codes.size() && !(b_codes[j] < a_codes[i])))
			sources.push_back((uint32_t) i++);
		else
			sources.push_back((uint32_t) (a_codes.size() + j++));
	}
	return sources;
}

/* The first item before its predecessor, or UINT64_MAX. */
static inline uint64_t
reference_unsorted(const mgpu_codec &codec, const byte_array &keys)
{
	std::vector<key_code> codes = codes_of(codec, keys);

	for (size_t i = 1; i < codes.size(); i++)
		if (codes[i] < codes[i - 1])
			return i;
	return UINT64_MAX;
}

/* Items taken by source from a, then b. */
static inline byte_array
reference_gather(const std::vector<uint32_t> &sources, const byte_array &a, const byte_array &b, uint32_t width)
{
	byte_array	items(sources.size() * width);
	size_t		a_items = a.size() / width;

	for (size_t i = 0; i < sources.size(); i++)
		memcpy(&items[i * width], sources[i] < a_items ? &a[(size_t) sources[i] * width] :
			   &b[(sources[i] - a_items) * width], width);
	return items;
}

static inline byte_array
reference_remove(const byte_array &items, const std::vector<uint32_t> &positions, uint32_t width)
{
	byte_array	kept;
	size_t		next = 0;

	for (size_t i = 0; i < items.size() / width; i++)
	{
		if (next < positions.size() && positions[next] == i)
			next++;
		else
			kept.insert(kept.end(), items.begin() + i * width, items.begin() + (i + 1) * width);
	}
	return kept;
}

static inline byte_array
reference_insert(const byte_array &items, const std::vector<uint32_t> &positions, const byte_array &inserted,
				 uint32_t width)
{
	byte_array	all;
	size_t		next = 0;
	size_t		num_items = items.size() / width;

	for (size_t i = 0; i <= num_items; i++)
	{
		for (; next < positions.size() && positions[next] == i; next++)
			all.insert(all.end(), inserted.begin() + next * width, inserted.begin() + (next + 1) * width);
		if (i < num_items)
			all.insert(all.end(), items.begin() + i * width, items.begin() + (i + 1) * width);
	}
	return all;
}

typedef enum position_pattern
{
	POSITIONS_NONE = 0,
	POSITIONS_FIRST,
	POSITIONS_LAST,
	POSITIONS_EVERY_SECOND,
	POSITIONS_RANDOM,			/* a third */
	POSITIONS_RUN,				/* a run in the middle */
	POSITIONS_ALL,
	NUM_POSITION_PATTERNS
} position_pattern;

/* Unique ascending positions below num_items. */
static inline std::vector<uint32_t>
make_positions(int pattern, uint64_t num_items)
{
	std::vector<uint32_t> positions;

	for (uint64_t i = 0; i < num_items; i++)
	{
		bool		take = false;

		switch (pattern)
		{
			case POSITIONS_FIRST:
				take = i == 0;
				break;
			case POSITIONS_LAST:
				take = i + 1 == num_items;
				break;
			case POSITIONS_EVERY_SECOND:
				take = i % 2 == 0;
				break;
			case POSITIONS_RANDOM:
				take = random_bits() % 3 == 0;
				break;
			case POSITIONS_RUN:
				take = i >= num_items / 4 && i < num_items - num_items / 4;
				break;
			case POSITIONS_ALL:
				take = true;
				break;
			default:
				break;
		}
		if (take)
			positions.push_back((uint32_t) i);
	}
	return positions;
}

/* count positions to insert at, from 0 to num_items, not descending. */
static inline std::vector<uint32_t>
make_insertions(int pattern, uint64_t num_items, uint64_t count)
{
	std::vector<uint32_t> positions(count);

	for (uint64_t i = 0; i < count; i++)
	{
		switch (pattern)
		{
			case POSITIONS_FIRST:
				positions[i] = 0;
				break;
			case POSITIONS_LAST:
				positions[i] = (uint32_t) num_items;
				break;
			case POSITIONS_RUN:
				positions[i] = (uint32_t) (num_items / 2);
				break;
			case POSITIONS_EVERY_SECOND:
				positions[i] = (uint32_t) (i * 2 < num_items ? i * 2 : num_items);
				break;
			default:
				positions[i] = (uint32_t) (random_bits() % (num_items + 1));
				break;
		}
	}
	std::sort(positions.begin(), positions.end());
	return positions;
}

/* kernel_ops_host.cu: index arithmetic, emulated; needs no GPU. */
void		test_on_host();

/* kernel_ops_host_merge.cu */
void		check_all_merges();

#endif							/* MGPU_KERNEL_OPS_TEST_CUH */

/*
 * float_ties.c
 *		See float_ties.h.
 *
 * A slice is looked at in blocks.  Most blocks hold neither a zero nor a NaN
 * and cost one vectorized test.  Other blocks are counted, also without
 * branches; only a block with a -0 or a foreign NaN, and every block after the
 * first such one, goes item by item.  What was passed before the first -0 were
 * +0 (a zero bit each), before the first foreign NaN PostgreSQL's own, so both
 * stores are filled up to the count on the day that they are made.
 */
#include "float_ties.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "key_codec.h"

#define BLOCK_ITEMS 128

/* First capacities; they double from there. */
#define FIRST_ZERO_WORDS 64
#define FIRST_NANS 256

/* What a block holds. */
typedef struct block_census
{
	uint32_t	num_zeros;
	uint32_t	num_negative_zeros;
	uint32_t	num_nans;
	uint32_t	num_foreign_nans;
} block_census;

void
mgpu_float_ties_init(mgpu_float_ties *ties, uint32_t width)
{
	memset(ties, 0, sizeof(*ties));
	ties->width = width;
}

/*
 * is_ordinary: whether no item can be a zero or a NaN, judged by the exponents
 * alone (so infinities and subnormals count as suspects); take_census: exact.
 */
static bool
is_ordinary_32(const uint32_t *items)
{
	int32_t		suspect = 0;

	for (int i = 0; i < BLOCK_ITEMS; i++)
	{
		int32_t		magnitude = (int32_t) (items[i] & ~MGPU_F32_SIGN);

		suspect |= (magnitude < 0x00800000) | (magnitude > 0x7F7FFFFF);
	}
	return suspect == 0;
}

static bool
is_ordinary_64(const uint64_t *items)
{
	int32_t		suspect = 0;

	for (int i = 0; i < BLOCK_ITEMS; i++)
	{
		int32_t		magnitude = (int32_t) (items[i] >> 32) & 0x7FFFFFFF;

		suspect |= (magnitude < 0x00100000) | (magnitude > 0x7FEFFFFF);
	}
	return suspect == 0;
}

#define DEFINE_CENSUS(bits, type, sign, inf, own_nan) \
static block_census \
take_census_##bits(const type *items, uint32_t num_items) \
{ \
	block_census census = {0}; \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		type		item = items[i]; \
		bool		is_nan = (item & ~sign) > inf; \
		census.num_zeros += (item & ~sign) == 0; \
		census.num_negative_zeros += item == sign; \
		census.num_nans += is_nan; \
		census.num_foreign_nans += is_nan & (item != own_nan); \
	} \
	return census; \
}

DEFINE_CENSUS(32, uint32_t, MGPU_F32_SIGN, MGPU_F32_INF, MGPU_F32_NAN)
DEFINE_CENSUS(64, uint64_t, MGPU_F64_SIGN, MGPU_F64_INF, MGPU_F64_NAN)

/* Make room for one more zero's bit; new bits are 0, which is +0. */
static bool
reserve_zeros(mgpu_float_ties *ties, uint64_t num_zeros)
{
	uint64_t	num_words = ties->zero_words == 0 ? FIRST_ZERO_WORDS : ties->zero_words;
	uint64_t   *signs;

	while (num_words * 64 < num_zeros)
		num_words *= 2;
	if (num_words == ties->zero_words)
		return true;
	signs = realloc(ties->zero_signs, num_words * sizeof(*signs));
	if (signs == NULL)
		return false;
	memset(signs + ties->zero_words, 0, (num_words - ties->zero_words) * sizeof(*signs));
	ties->zero_signs = signs;
	ties->zero_words = num_words;
	return true;
}

/* Make room for num_nans; fill new room with PostgreSQL's NaN. */
static bool
reserve_nans(mgpu_float_ties *ties, uint64_t num_nans)
{
	uint64_t	capacity = ties->nan_capacity == 0 ? FIRST_NANS : ties->nan_capacity;
	void	   *bits;

	while (capacity < num_nans)
		capacity *= 2;
	if (capacity == ties->nan_capacity)
		return true;
	bits = realloc(ties->nan_bits, capacity * ties->width);
	if (bits == NULL)
		return false;
	for (uint64_t i = ties->nan_capacity; i < capacity; i++)
	{
		if (ties->width == 4)
			((uint32_t *) bits)[i] = MGPU_F32_NAN;
		else
			((uint64_t *) bits)[i] = MGPU_F64_NAN;
	}
	ties->nan_bits = bits;
	ties->nan_capacity = capacity;
	return true;
}

/* Note every zero and NaN of a block in stores that are large enough. */
#define DEFINE_NOTE(bits, type, sign, inf) \
static void \
note_block_##bits(mgpu_float_ties *ties, const type *items, uint32_t num_items) \
{ \
	for (uint32_t i = 0; i < num_items; i++) \
	{ \
		type		magnitude = items[i] & ~sign; \
		if (magnitude == 0) \
		{ \
			if (ties->zero_signs != NULL && items[i] != 0) \
				ties->zero_signs[ties->num_zeros / 64] |= UINT64_C(1) << (ties->num_zeros % 64); \
			ties->num_zeros++; \
		} \
		else if (magnitude > inf) \
		{ \
			if (ties->nan_bits != NULL) \
				((type *) ties->nan_bits)[ties->num_nans] = items[i]; \
			ties->num_nans++; \
		} \
	} \
}

DEFINE_NOTE(32, uint32_t, MGPU_F32_SIGN, MGPU_F32_INF)
DEFINE_NOTE(64, uint64_t, MGPU_F64_SIGN, MGPU_F64_INF)

static mgpu_status
scan_block(mgpu_float_ties *ties, const void *items, uint32_t num_items, mgpu_error *err)
{
	block_census census = ties->width == 4 ? take_census_32(items, num_items) : take_census_64(items, num_items);
	uint64_t	num_zeros = ties->num_zeros + census.num_zeros;
	uint64_t	num_nans = ties->num_nans + census.num_nans;
	bool		note_zeros = ties->zero_signs != NULL || census.num_negative_zeros > 0;
	bool		note_nans = ties->nan_bits != NULL || census.num_foreign_nans > 0;

	if ((note_zeros && !reserve_zeros(ties, num_zeros)) || (note_nans && !reserve_nans(ties, num_nans)))
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for %llu zeros and %llu NaN",
						 (unsigned long long) num_zeros, (unsigned long long) num_nans);
	if (!note_zeros && !note_nans)
	{
		ties->num_zeros = num_zeros;
		ties->num_nans = num_nans;
	}
	else if (ties->width == 4)
		note_block_32(ties, items, num_items);
	else
		note_block_64(ties, items, num_items);
	return MGPU_OK;
}

mgpu_status
mgpu_float_ties_scan(mgpu_float_ties *ties, const void *items,
					 uint64_t num_items, mgpu_error *err)
{
	for (uint64_t begin = 0; begin < num_items; begin += BLOCK_ITEMS)
	{
		const char *block = (const char *) items + begin * ties->width;
		uint64_t	block_items = num_items - begin < BLOCK_ITEMS ? num_items - begin : BLOCK_ITEMS;
		mgpu_status status;

		if (block_items == BLOCK_ITEMS &&
			(ties->width == 4 ? is_ordinary_32((const void *) block) : is_ordinary_64((const void *) block)))
			continue;
		status = scan_block(ties, block, (uint32_t) block_items, err);
		if (status != MGPU_OK)
			return status;
	}
	return MGPU_OK;
}

static uint64_t
load_item(const mgpu_float_ties *ties, const void *sorted, uint64_t i)
{
	return ties->width == 4 ? ((const uint32_t *) sorted)[i] : ((const uint64_t *) sorted)[i];
}

/*
 * Where the run of zeros starts: behind all items of the side that comes first,
 * which are the negative ones when ascending and the positive ones, NaN among
 * them, when descending.  NaN with the sign bit are no longer there: the sorted
 * array has PostgreSQL's own.
 */
static uint64_t
find_zeros(const mgpu_float_ties *ties, const void *sorted, uint64_t num_items, int descending)
{
	uint64_t	sign = ties->width == 4 ? MGPU_F32_SIGN : MGPU_F64_SIGN;
	uint64_t	begin = 0;
	uint64_t	length = num_items;

	while (length > 0)
	{
		uint64_t	half = length / 2;
		uint64_t	item = load_item(ties, sorted, begin + half);
		bool		is_negative = item > sign;
		bool		is_positive = item != 0 && item < sign;

		if (descending ? is_positive : is_negative)
		{
			begin += half + 1;
			length -= half + 1;
		}
		else
			length = half;
	}
	return begin;
}

void
mgpu_float_ties_restore(const mgpu_float_ties *ties, void *sorted,
						uint64_t num_items, int descending)
{
	if (ties->zero_signs != NULL)
	{
		uint64_t	begin = find_zeros(ties, sorted, num_items, descending);

		for (uint64_t i = 0; i < ties->num_zeros; i++)
		{
			uint64_t	is_negative = ties->zero_signs[i / 64] >> (i % 64) & 1;

			if (ties->width == 4)
				((uint32_t *) sorted)[begin + i] = (uint32_t) is_negative << 31;
			else
				((uint64_t *) sorted)[begin + i] = is_negative << 63;
		}
	}
	if (ties->nan_bits != NULL)
	{
		uint64_t	begin = descending ? 0 : num_items - ties->num_nans;

		memcpy((char *) sorted + begin * ties->width, ties->nan_bits, ties->num_nans * ties->width);
	}
}

void
mgpu_float_ties_release(mgpu_float_ties *ties)
{
	free(ties->zero_signs);
	free(ties->nan_bits);
	mgpu_float_ties_init(ties, ties->width);
}

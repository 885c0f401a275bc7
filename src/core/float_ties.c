/*
 * float_ties.c
 *		See float_ties.h.
 *
 * A slice is scanned in blocks of 64, whose zeros and NaN come as masks
 * (float_masks.h).  Zeros and NaN are counted.  Only a -0 or a foreign NaN is written
 * to its place in a store, one by one.  All other entries of a store already hold
 * the default: +0 (a zero bit) or PostgreSQL's own NaN.  A store is allocated at the
 * first -0 or foreign NaN, with entries for all items counted so far.
 */
#include "float_ties.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "float_masks.h"
#include "key_codec.h"
#include "search.h"

/* Initial capacities, which double. */
#define FIRST_ZERO_WORDS 64
#define FIRST_NANS 256

void
mgpu_float_ties_init(mgpu_float_ties *ties, uint32_t width)
{
	memset(ties, 0, sizeof(*ties));
	ties->width = width;
}

/* Reserve bits for num_zeros zeros.  New bits are 0, which means +0. */
static bool
reserve_zeros(mgpu_float_ties *ties, uint64_t num_zeros)
{
	uint64_t	num_words = ties->zero_words == 0 ? FIRST_ZERO_WORDS : ties->zero_words;
	uint64_t   *signs;

	while (num_words * 64 < num_zeros)
		num_words *= 2;
	if (ties->zero_signs != NULL && num_words == ties->zero_words)
		return true;
	signs = realloc(ties->zero_signs, num_words * sizeof(*signs));
	if (signs == NULL)
		return false;
	memset(signs + ties->zero_words, 0, (num_words - ties->zero_words) * sizeof(*signs));
	ties->zero_signs = signs;
	ties->zero_words = num_words;
	return true;
}

/* Reserve entries for num_nans NaN.  New entries hold PostgreSQL's NaN. */
static bool
reserve_nans(mgpu_float_ties *ties, uint64_t num_nans)
{
	uint64_t	capacity = ties->nan_capacity == 0 ? FIRST_NANS : ties->nan_capacity;
	void	   *bits;

	while (capacity < num_nans)
		capacity *= 2;
	if (ties->nan_bits != NULL && capacity == ties->nan_capacity)
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

static uint32_t
count_bits(uint64_t mask)
{
	return (uint32_t) __builtin_popcountll(mask);
}

/* Number of bits of mask below the lowest one of bits, which is not 0. */
static uint32_t
rank_of_lowest(uint64_t mask, uint64_t bits)
{
	return count_bits(mask & ((bits & (0 - bits)) - 1));
}

static bool
record_zeros(mgpu_float_ties *ties, const mgpu_float_masks *masks)
{
	uint32_t	num_zeros = count_bits(masks->zeros);

	if (ties->zero_signs != NULL || masks->negative_zeros != 0)
	{
		if (!reserve_zeros(ties, ties->num_zeros + num_zeros))
			return false;
		for (uint64_t left = masks->negative_zeros; left != 0; left &= left - 1)
		{
			uint64_t	number = ties->num_zeros + rank_of_lowest(masks->zeros, left);

			ties->zero_signs[number / 64] |= UINT64_C(1) << (number % 64);
		}
	}
	ties->num_zeros += num_zeros;
	return true;
}

static bool
record_nans(mgpu_float_ties *ties, const void *items, const mgpu_float_masks *masks)
{
	uint32_t	num_nans = count_bits(masks->nans);

	if (ties->nan_bits != NULL || masks->foreign_nans != 0)
	{
		if (!reserve_nans(ties, ties->num_nans + num_nans))
			return false;
		for (uint64_t left = masks->foreign_nans; left != 0; left &= left - 1)
		{
			uint64_t	number = ties->num_nans + rank_of_lowest(masks->nans, left);

			memcpy((char *) ties->nan_bits + number * ties->width,
				   (const char *) items + (uint64_t) __builtin_ctzll(left) * ties->width, ties->width);
		}
	}
	ties->num_nans += num_nans;
	return true;
}

static mgpu_status
record_block(mgpu_float_ties *ties, const void *items, const mgpu_float_masks *masks, mgpu_error *err)
{
	if ((masks->zeros == 0 || record_zeros(ties, masks)) &&
		(masks->nans == 0 || record_nans(ties, items, masks)))
		return MGPU_OK;
	return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for %llu zeros and %llu NaN",
					 (unsigned long long) ties->num_zeros, (unsigned long long) ties->num_nans);
}

mgpu_status
mgpu_float_ties_scan(mgpu_float_ties *ties, const void *items,
					 uint64_t num_items, mgpu_error *err)
{
	const char *bytes = items;
	uint64_t	num_blocks = num_items / MGPU_FLOAT_BLOCK;
	uint64_t	block_bytes = (uint64_t) MGPU_FLOAT_BLOCK * ties->width;
	mgpu_float_masks masks;
	mgpu_status status;

	for (uint64_t block = 0;; block++)
	{
		block = mgpu_float_next_special(items, ties->width, block, num_blocks, true, &masks);
		if (block == num_blocks)
			break;
		status = record_block(ties, bytes + block * block_bytes, &masks, err);
		if (status != MGPU_OK)
			return status;
	}
	bytes += num_blocks * block_bytes;
	masks = mgpu_float_masks_of(bytes, ties->width, (uint32_t) (num_items % MGPU_FLOAT_BLOCK));
	return record_block(ties, bytes, &masks, err);
}

static uint64_t
load_item(const mgpu_float_ties *ties, const void *sorted, uint64_t i)
{
	return ties->width == 4 ? ((const uint32_t *) sorted)[i] : ((const uint64_t *) sorted)[i];
}

static bool
is_before_zeros(uint64_t item, uint64_t sign, int descending)
{
	return descending ? item != 0 && item < sign : item > sign;
}

/*
 * Start of the run of zeros: behind the items that sort before it, the negative
 * ones when ascending and the positive ones when descending.  NaN are left out of
 * the search: on the positive side, one with its sign bit set would pass for a
 * negative item.
 */
static uint64_t
find_zeros(const mgpu_float_ties *ties, const void *sorted, uint64_t num_items, int descending)
{
	uint64_t	sign = ties->width == 4 ? MGPU_F32_SIGN : MGPU_F64_SIGN;
	uint64_t	begin = descending ? ties->num_nans : 0;
	uint64_t	end = begin + num_items - ties->num_nans;

	MGPU_SEARCH(begin, end, is_before_zeros(load_item(ties, sorted, middle), sign, descending));
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

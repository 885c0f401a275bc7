/*
 * core_float_ties.c
 *		Floats sorted by code and then restored equal a stable sort, to the byte.
 */
#include "core/cpu_codec.h"
#include "core/cpu_sort.h"
#include "core/float_ties.h"
#include "unit.h"

static uint64_t
load_item(const void *items, uint32_t width, size_t i)
{
	return width == 4 ? ((const uint32_t *) items)[i] : ((const uint64_t *) items)[i];
}

static void
store_item(void *items, uint32_t width, size_t i, uint64_t item)
{
	if (width == 4)
		((uint32_t *) items)[i] = (uint32_t) item;
	else
		((uint64_t *) items)[i] = item;
}

/* Insertion sort by code, which is stable. */
static void
sort_stably(void *items, uint32_t width, size_t num_items, uint32_t descending)
{
	mgpu_codec	codec;

	mgpu_codec_init(&codec, MGPU_KEY_FLOAT, width, descending);
	for (size_t i = 1; i < num_items; i++)
	{
		uint64_t	item = load_item(items, width, i);
		uint64_t	code = 0;
		size_t		j = i;

		mgpu_encode_items(&codec, (char *) items + i * width, &code, 1);
		for (; j > 0; j--)
		{
			uint64_t	before = 0;

			mgpu_encode_items(&codec, (char *) items + (j - 1) * width, &before, 1);
			if (before <= code)
				break;
			store_item(items, width, j, load_item(items, width, j - 1));
		}
		store_item(items, width, j, item);
	}
}

/* Percentages of +0, -0, PostgreSQL's NaN and other NaNs; the rest is random. */
typedef struct mix
{
	unsigned	zeros;
	unsigned	negative_zeros;
	unsigned	nans;
	unsigned	foreign_nans;
} mix;

static uint64_t
draw(uint32_t width, const mix *shares)
{
	unsigned	choice = (unsigned) unit_random_below(100);
	uint64_t	sign = width == 4 ? MGPU_F32_SIGN : MGPU_F64_SIGN;
	uint64_t	own_nan = width == 4 ? MGPU_F32_NAN : MGPU_F64_NAN;

	if (choice < shares->zeros)
		return 0;
	choice -= shares->zeros;
	if (choice < shares->negative_zeros)
		return sign;
	choice -= shares->negative_zeros;
	if (choice < shares->nans)
		return own_nan;
	choice -= shares->nans;
	if (choice < shares->foreign_nans)
		return own_nan | (unit_random_below(2) ? sign : 0) | unit_random_below(1000);
	/* finite, sometimes infinite or subnormal */
	if (unit_random_below(20) == 0)
		return (unit_random_below(2) ? sign : 0) | (width == 4 ? MGPU_F32_INF : MGPU_F64_INF);
	if (unit_random_below(20) == 0)
		return (unit_random_below(2) ? sign : 0) | (1 + unit_random_below(100));
	return width == 4 ? (uint64_t) (uint32_t) unit_random() & 0xBFFFFFFF :
		unit_random() & UINT64_C(0xBFFFFFFFFFFFFFFF);
}

static void
check_restore(uint32_t width, size_t num_items, const mix *shares, size_t slice, uint32_t descending)
{
	char	   *items = unit_allocate(num_items * width);
	char	   *expected = unit_allocate(num_items * width);
	mgpu_float_ties ties;
	mgpu_error	err;

	for (size_t i = 0; i < num_items; i++)
		store_item(items, width, i, draw(width, shares));
	memcpy(expected, items, num_items * width);
	sort_stably(expected, width, num_items, descending);
	mgpu_float_ties_init(&ties, width);
	for (size_t i = 0; i < num_items; i += slice)
		UNIT_CHECK(mgpu_float_ties_scan(&ties, items + i * width,
										num_items - i < slice ? num_items - i : slice, &err) == MGPU_OK);
	mgpu_cpu_sort_keys_now(items, num_items, MGPU_KEY_FLOAT, width, descending);
	mgpu_float_ties_restore(&ties, items, num_items, (int) descending);
	UNIT_CONTEXT("width %u items %zu mix %u %u %u %u slice %zu descending %u", width, num_items, shares->zeros,
				 shares->negative_zeros, shares->nans, shares->foreign_nans, slice, descending);
	UNIT_CHECK(memcmp(items, expected, num_items * width) == 0);
	/* restore changes nothing where the bits are right, as after a sort that moves whole items */
	mgpu_float_ties_restore(&ties, items, num_items, (int) descending);
	UNIT_CHECK(memcmp(items, expected, num_items * width) == 0);
	if (shares->negative_zeros == 0)
		UNIT_CHECK(ties.zero_signs == NULL);
	if (shares->foreign_nans == 0)
		UNIT_CHECK(ties.nan_bits == NULL);
	mgpu_float_ties_release(&ties);
	UNIT_CHECK(ties.zero_signs == NULL && ties.nan_bits == NULL && ties.num_zeros == 0);
	free(expected);
	free(items);
}

int
main(void)
{
	static const mix mixes[] = {
		{0, 0, 0, 0}, {5, 0, 0, 0}, {100, 0, 0, 0}, {0, 100, 0, 0}, {5, 5, 0, 0}, {50, 50, 0, 0},
		{0, 0, 5, 0}, {0, 0, 100, 0}, {0, 0, 0, 100}, {0, 0, 50, 50}, {1, 1, 1, 1}, {25, 25, 25, 25},
		{40, 1, 40, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}
	};
	static const size_t sizes[] = {0, 1, 2, 5, 127, 128, 129, 300, 1500};

	for (uint32_t width = 4; width <= 8; width += 4)
		for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++)
			for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
				for (uint32_t descending = 0; descending <= 1; descending++)
				{
					check_restore(width, sizes[j], &mixes[i], sizes[j] + 1, descending);
					check_restore(width, sizes[j], &mixes[i], 1 + unit_random_below(200), descending);
				}

	/* the store grows past its first capacity, after many plain zeros */
	for (uint32_t width = 4; width <= 8; width += 4)
	{
		mix			late = {98, 1, 0, 0};
		mix			foreign = {0, 0, 60, 10};

		check_restore(width, 6000, &late, 100, 0);
		check_restore(width, 3000, &foreign, 100, 1);
	}
	return unit_report();
}

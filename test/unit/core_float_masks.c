/*
 * core_float_masks.c
 *		Masks of zeros and NaN, by every implementation that this machine supports.
 */
#include "core/float_masks.h"
#include "core/key_codec.h"
#include "unit.h"

static void
store_item(void *items, uint32_t width, uint64_t i, uint64_t item)
{
	if (width == 4)
		((uint32_t *) items)[i] = (uint32_t) item;
	else
		((uint64_t *) items)[i] = item;
}

/* Values that the masks must distinguish, and their nearest neighbours. */
static uint64_t
edge_item(uint32_t width, unsigned choice, uint64_t *is_zero, uint64_t *is_nan, uint64_t *is_foreign)
{
	uint64_t	sign = width == 4 ? MGPU_F32_SIGN : MGPU_F64_SIGN;
	uint64_t	infinity = width == 4 ? MGPU_F32_INF : MGPU_F64_INF;
	uint64_t	own_nan = width == 4 ? MGPU_F32_NAN : MGPU_F64_NAN;
	uint64_t	magnitudes[] = {0, 1, infinity - 1, infinity, infinity + 1, own_nan, own_nan - 1,
	own_nan + 1, sign - 1, infinity / 2};
	uint64_t	magnitude = magnitudes[choice / 2 % 10];
	uint64_t	item = magnitude | (choice % 2 ? sign : 0);

	*is_zero = magnitude == 0;
	*is_nan = magnitude > infinity;
	*is_foreign = *is_nan && item != own_nan;
	return item;
}

#define NUM_EDGES 20
#define NUM_BLOCKS 5

/* share: percentage of edge values; the other items are ordinary. */
static void
check_blocks(uint32_t width, unsigned share, bool vectors)
{
	uint64_t	num_items = NUM_BLOCKS * MGPU_FLOAT_BLOCK;
	char	   *items = unit_allocate(num_items * width);
	mgpu_float_masks expected[NUM_BLOCKS] = {{0}};
	uint64_t	next = 0;

	for (uint64_t i = 0; i < num_items; i++)
	{
		mgpu_float_masks *masks = &expected[i / MGPU_FLOAT_BLOCK];
		unsigned	choice = unit_random_below(100) < share ? (unsigned) unit_random_below(NUM_EDGES) : 18;
		uint64_t	is_zero,
					is_nan,
					is_foreign;
		uint64_t	item = edge_item(width, choice, &is_zero, &is_nan, &is_foreign);
		unsigned	bit = i % MGPU_FLOAT_BLOCK;

		store_item(items, width, i, item);
		masks->zeros |= is_zero << bit;
		masks->negative_zeros |= (is_zero & choice % 2) << bit;
		masks->nans |= is_nan << bit;
		masks->foreign_nans |= is_foreign << bit;
	}
	UNIT_CONTEXT("width %u share %u vectors %d", width, share, vectors);
	for (uint64_t block = 0; block < NUM_BLOCKS; block++)
	{
		mgpu_float_masks masks = mgpu_float_masks_of(items + block * MGPU_FLOAT_BLOCK * width, width, MGPU_FLOAT_BLOCK);

		UNIT_CHECK(memcmp(&masks, &expected[block], sizeof(masks)) == 0);
	}
	for (uint64_t block = 0; block < NUM_BLOCKS; block++)
	{
		mgpu_float_masks masks;

		if ((expected[block].zeros | expected[block].nans) == 0)
			continue;
		UNIT_CHECK(mgpu_float_next_special(items, width, next, NUM_BLOCKS, vectors, &masks) == block);
		UNIT_CHECK(memcmp(&masks, &expected[block], sizeof(masks)) == 0);
		next = block + 1;
	}
	{
		mgpu_float_masks untouched = {1, 2, 3, 4};
		mgpu_float_masks masks = untouched;

		UNIT_CHECK(mgpu_float_next_special(items, width, next, NUM_BLOCKS, vectors, &masks) == NUM_BLOCKS);
		UNIT_CHECK(memcmp(&masks, &untouched, sizeof(masks)) == 0);
	}
	free(items);
}

/* Every edge value alone, at every position of a block. */
static void
check_edges(uint32_t width, bool vectors)
{
	char	   *items = unit_allocate((uint64_t) MGPU_FLOAT_BLOCK * width);

	for (unsigned choice = 0; choice < NUM_EDGES; choice++)
		for (unsigned place = 0; place < MGPU_FLOAT_BLOCK; place++)
		{
			uint64_t	is_zero,
						is_nan,
						is_foreign,
						ignored;
			mgpu_float_masks masks = {0};

			for (unsigned i = 0; i < MGPU_FLOAT_BLOCK; i++)
				store_item(items, width, i, edge_item(width, 18, &ignored, &ignored, &ignored));
			store_item(items, width, place, edge_item(width, choice, &is_zero, &is_nan, &is_foreign));
			UNIT_CONTEXT("width %u edge %u place %u vectors %d", width, choice, place, vectors);
			UNIT_CHECK(mgpu_float_next_special(items, width, 0, 1, vectors, &masks) == !(is_zero | is_nan));
			UNIT_CHECK(masks.zeros == is_zero << place && masks.nans == is_nan << place);
			UNIT_CHECK(masks.negative_zeros == (is_zero & choice % 2) << place);
			UNIT_CHECK(masks.foreign_nans == is_foreign << place);
		}
	free(items);
}

int
main(void)
{
	static const unsigned shares[] = {0, 1, 3, 20, 100};

	for (int vectors = 0; vectors < 2; vectors++)
		for (uint32_t width = 4; width <= 8; width += 4)
		{
			check_edges(width, vectors);
			for (int round = 0; round < 50; round++)
				for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
					check_blocks(width, shares[i], vectors);
		}
	return unit_report();
}

/*
 * kernel_test_hurried.cu
 *		Block sort and windows in one launch, where CTAs hardly wait for each other.
 *
 * With one turn between them and one poll, CTAs give up almost always, which they never do
 * as built: what was merged by then must do no harm, and the sort must go on.  A launch
 * holds few tiles, so that what holds more of them, and takes the other path, is small.
 * The kernels here are this file's own, with their own device memory.
 */
#define MGPU_FUSED_LAG 1
#define MGPU_FUSED_FEW_ROUNDS 6
#define MGPU_FUSED_PATIENCE 1u
#define MGPU_FUSED_POLLS 1
#define MGPU_FUSED_MOST_TILES 24

#include "kernel_test_near.cuh"

#include "sort/window_sort.cuh"

typedef mgpu_tuning_u32_large hurried_tuning;

/* The last question to which these kernels said no. */
static uint32_t
last_failure(void)
{
	uint32_t	question;

	REQUIRE_CUDA(cudaMemcpyFromSymbol(&question, mgpu_window_failure, sizeof(question)));
	return question;
}

/* In how many of two sorts, of keys in near order, some question of these kernels was answered by no. */
static int
count_refusals(const near_case<uint32_t> &test)
{
	uint64_t	num_items = test.keys.size();
	int			num_refusals = 0;

	for (bool near : {false, true})
	{
		mgpu_sortedness sortedness = {};
		bool		ended = false;
		uint32_t	before = last_failure();

		sortedness.near = near;
		check_near("hurried windows", MGPU_SHAPE_U32, test, mgpu_merge_sorters[MGPU_SHAPE_U32].temp_bytes(num_items),
				   [&] (mgpu_sort_request *request)
		{
			return mgpu_window_sort_keys<hurried_tuning, uint32_t>(request, &sortedness, &ended);
		});
		num_refusals += last_failure() != before;
	}
	return num_refusals;
}

/* Sorts go on from what a launch left that gave up. */
static void
check_refusals(void)
{
	const uint64_t tile = hurried_tuning::sort_tile_items;
	int			num_refusals = 0;

	for (uint64_t num_items : {2 * tile, 5 * tile + 1, 17 * tile - 3, 24 * tile})
		for (uint64_t distance : {UINT64_C(100), tile})
			for (int pattern : {NEAR_PLACES, NEAR_TWICE})
			{
				if (!tiny || (pattern == NEAR_TWICE && distance == tile))
					num_refusals += count_refusals(near_case<uint32_t>(pattern, num_items, distance));
			}
	CHECK(num_refusals > 0, "no CTA gave up in any launch");
}

/* More tiles than a launch holds, all within a run of their places. */
static void
check_many_tiles(void)
{
	near_case<uint32_t> test(NEAR_PLACES, 24 * hurried_tuning::sort_tile_items + 1, 100);
	int			num_refusals = count_refusals(test);

	CHECK(num_refusals == 0, "%d refusals where block sort and windows are two launches", num_refusals);
}

void
test_hurried_windows(void)
{
	reserve_near(25 * hurried_tuning::sort_tile_items);
	check_refusals();
	check_many_tiles();
	release_near();
}

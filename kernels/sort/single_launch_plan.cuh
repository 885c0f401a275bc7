/*
 * sort/single_launch_plan.cuh
 *		Which CTA holds what in a single-launch sort, and what its CTAs tell each other.
 *
 *	 array		| CTA 0        | CTA 1        | CTA 2     |			a tile each
 *	 tile		| warp 0 | warp 1 | ... |							rounds of 32 items each
 *
 * Only the last lanes and rounds of the last warps can be empty.  A pass needs two counts for each
 * value of a digit: of all CTAs, and of those before a CTA.  For that CTAs form groups: each adds
 * its counts to the sums of all groups behind its own, and of one more, which thus has the total.
 * A CTA then reads two sums and the counts of those before it in its group: at most 17 words a
 * value, where 132 would be read without groups.  All of this runs on the host too.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_PLAN_CUH
#define MGPU_SORT_SINGLE_LAUNCH_PLAN_CUH

#include "device/merge_path.cuh"
#include "sort/radix_digit.cuh"

/* CTAs of a group, and most CTAs of a launch. */
#define MGPU_SINGLE_LAUNCH_GROUP_CTAS 16
#define MGPU_SINGLE_LAUNCH_MOST_CTAS 192
#define MGPU_SINGLE_LAUNCH_MOST_GROUPS (MGPU_SINGLE_LAUNCH_MOST_CTAS / MGPU_SINGLE_LAUNCH_GROUP_CTAS)

/* Lanes of a round, and rounds that a warp does without a check for the end. */
#define MGPU_SINGLE_LAUNCH_LANES 32
#define MGPU_SINGLE_LAUNCH_BATCH 4

/* Added to a sum beside each CTA's count, which stays below it: counts the CTAs. */
#define MGPU_SINGLE_LAUNCH_ONE_CTA (UINT32_C(1) << 24)

struct mgpu_single_launch_plan
{
	uint32_t	num_items;
	uint32_t	num_ctas;		/* each has an item */
	uint32_t	cta_items;		/* a tile: a multiple of the warps' loads; the last one may have fewer */
	uint32_t	warp_items;		/* whole batches of rounds */
};

/* The plan for num_items items on up to most_ctas CTAs of this number of threads. */
MGPU_HOST_DEVICE mgpu_single_launch_plan
mgpu_plan_single_launch(uint32_t num_items, uint32_t most_ctas, uint32_t threads)
{
	uint32_t	batch_rounds = threads / MGPU_SINGLE_LAUNCH_LANES * MGPU_SINGLE_LAUNCH_BATCH;
	uint32_t	rounds = ((num_items + most_ctas - 1) / most_ctas + MGPU_SINGLE_LAUNCH_LANES - 1) / MGPU_SINGLE_LAUNCH_LANES;
	mgpu_single_launch_plan plan;

	plan.num_items = num_items;
	plan.cta_items = rounds * MGPU_SINGLE_LAUNCH_LANES;
	plan.num_ctas = (num_items + plan.cta_items - 1) / plan.cta_items;
	plan.warp_items = (rounds + batch_rounds - 1) / batch_rounds * MGPU_SINGLE_LAUNCH_BATCH * MGPU_SINGLE_LAUNCH_LANES;
	return plan;
}

MGPU_HOST_DEVICE uint32_t
mgpu_single_launch_tile_items(const mgpu_single_launch_plan &plan, uint32_t cta)
{
	uint32_t	begin = cta * plan.cta_items;

	return plan.num_items - begin < plan.cta_items ? plan.num_items - begin : plan.cta_items;
}

MGPU_HOST_DEVICE uint32_t
mgpu_single_launch_groups(const mgpu_single_launch_plan &plan)
{
	return (plan.num_ctas + MGPU_SINGLE_LAUNCH_GROUP_CTAS - 1) / MGPU_SINGLE_LAUNCH_GROUP_CTAS;
}

/* Digits in which keys within `range` of the least one may differ. 0: all are equal. */
MGPU_HOST_DEVICE uint32_t
mgpu_single_launch_digits(uint64_t range)
{
	uint32_t	digits = 0;

	for (; range != 0; range >>= MGPU_RADIX_BITS)
		digits++;
	return digits;
}

#endif							/* MGPU_SORT_SINGLE_LAUNCH_PLAN_CUH */

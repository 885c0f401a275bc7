/*
 * segmented_look.cuh
 *		What a look at a sample looks at, and what it concludes.
 *
 * Merging pays while few passes have much to do; keys far from their places are
 * faster sorted by their digits.  Which it is cannot be asked of the block sort:
 * it costs half a radix sort itself.  So a few CTAs look at the keys first, each
 * at MGPU_LOOK_THREADS of them:
 *
 *	 a pass		a pair of lists that it will merge.  Of these, those items move
 *				that lie behind b's least or before a's greatest, whatever the
 *				order inside the lists is, so samples of both at even distances,
 *				unsorted, tell how many:
 *
 *				 a . . . . 5 . . 9 . | 7 . . 8 . . . . . b		three of them
 *
 *	 a tile		neighbours, of which the first in no order says that the tile must
 *				be sorted
 *
 * What was seen in a few pairs and tiles is taken for all, and costs are straight
 * lines through measured points (segmented_tuning.cuh).
 *
 * One sample of the whole array was tried first: with a sample every 100,000
 * items, keys 100,000 places off went unseen, and greatest and least of a few
 * samples say little about those of a run.  Sampling keys on the host as they
 * come was rejected: the sort that looks need not be the executor's.
 */
#ifndef MGPU_SEGMENTED_LOOK_CUH
#define MGPU_SEGMENTED_LOOK_CUH

#include "merge_path.cuh"
#include "segmented.h"
#include "segmented_tuning.cuh"

/* Counts of a look, on the device. */
struct mgpu_look
{
	uint32_t	descents;		/* of samples over the whole array */
	uint32_t	unsorted_tiles; /* of MGPU_LOOK_CTAS */
	uint32_t	moved[MGPU_MAX_PASSES]; /* samples of MGPU_LOOK_CTAS pairs */
};

/* The geometry: lists of a pass are first_run_items << pass. */
struct mgpu_look_plan
{
	uint64_t	num_items;
	uint32_t	first_run_items;
	uint32_t	num_passes;
};

/* The first lists are sort tiles. */
static inline mgpu_look_plan
mgpu_plan_look(mgpu_sort_shape shape, uint64_t num_items)
{
	mgpu_look_plan plan = {num_items, mgpu_segmented_u64_large::sort_tile_items, 0};

	if (shape == MGPU_SHAPE_U32)
		plan.first_run_items = mgpu_locality_u32_large::sort_tile_items;
	else if (shape == MGPU_SHAPE_U64_INDEX)
		plan.first_run_items = mgpu_segmented_u128::sort_tile_items;
	while ((uint64_t) plan.first_run_items << plan.num_passes < num_items)
		plan.num_passes++;
	return plan;
}

/* Pairs of lists that a pass merges: those with a second list. */
MGPU_HOST_DEVICE uint64_t
mgpu_look_pairs(const mgpu_look_plan &plan, uint32_t pass)
{
	uint64_t	run_items = (uint64_t) plan.first_run_items << pass;

	return (plan.num_items - run_items + 2 * run_items - 1) / (2 * run_items);
}

/* The item that a thread of a CTA samples: the lower half of the threads in a, from its end on. */
MGPU_HOST_DEVICE uint64_t
mgpu_look_item(const mgpu_look_plan &plan, uint32_t pass, uint32_t cta, uint32_t thread)
{
	constexpr uint32_t half = MGPU_LOOK_THREADS / 2;
	uint64_t	run_items = (uint64_t) plan.first_run_items << pass;
	uint64_t	pair = mgpu_look_pairs(plan, pass) * cta / MGPU_LOOK_CTAS;
	uint64_t	middle = (2 * pair + 1) * run_items;
	uint64_t	b_items = plan.num_items - middle < run_items ? plan.num_items - middle : run_items;

	if (thread < half)
		return middle - 1 - thread * run_items / half;
	return middle + (thread - half) * b_items / half;
}

/* The first of two neighbours that a thread of a CTA compares. */
MGPU_HOST_DEVICE uint64_t
mgpu_look_neighbour(const mgpu_look_plan &plan, uint32_t cta, uint32_t thread)
{
	return (plan.num_items - MGPU_LOOK_THREADS - 1) * cta / (MGPU_LOOK_CTAS - 1) + thread;
}

/* What follows from the counts for keys of so many bits. */
static inline mgpu_foresight
mgpu_conclude(const mgpu_look_plan &plan, const mgpu_look &look, mgpu_sort_shape shape, uint32_t key_bits)
{
	static const mgpu_locality_costs all_costs[MGPU_NUM_SHAPES] = MGPU_LOCALITY_COSTS;
	const mgpu_locality_costs &costs = all_costs[shape];
	uint32_t	most_bits = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 32 : 64;
	double		unsorted = (double) look.unsorted_tiles / MGPU_LOOK_CTAS;
	double		items = plan.num_items * 1e-6;	/* times nanoseconds are milliseconds */
	mgpu_foresight foresight = {};

	if (look.descents < MGPU_LOOK_REVERSED_DESCENTS)
	{
		for (uint32_t pass = 0; pass < plan.num_passes; pass++)
			foresight.passes += (double) look.moved[pass] / (MGPU_LOOK_CTAS * MGPU_LOOK_THREADS);
	}
	foresight.merge_ms = plan.num_passes * costs.each_pass_ms +
		items * (unsorted * costs.sort_ns + (1 - unsorted) * costs.read_ns + foresight.passes * costs.pass_ns);
	foresight.radix_ms = costs.radix_ms + items * costs.radix_ns * key_bits / most_bits;
	foresight.merge = foresight.passes == 0 || foresight.merge_ms <= foresight.radix_ms;
	return foresight;
}

#endif							/* MGPU_SEGMENTED_LOOK_CUH */

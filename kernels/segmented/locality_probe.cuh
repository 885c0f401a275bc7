/*
 * segmented/locality_probe.cuh
 *		The locality probe: does a locality sort pay for keys that are in order in parts?
 *
 * It pays if few passes have much to merge.  To tell, a few CTAs sample keys before the sort:
 *
 *	 a pass		a pair of lists that it will merge.  Items move that lie behind b's least or
 *				before a's greatest, so samples of both lists, unsorted, tell how many:
 *
 *				 a . . . . 5 . . 9 . | 7 . . 8 . . . . . b		three of them
 *
 *	 a tile		neighbours; one pair out of order means that the tile must be sorted
 *
 * Costs are straight lines (sort/costs.h).  Only that keys differ in few low bits must hold for
 * all keys: where samples promise it and it would decide, all keys are read.  Rejected: one sample
 * over the whole array, in which keys 100,000 places off went unseen.
 */
#ifndef MGPU_SEGMENTED_LOCALITY_PROBE_CUH
#define MGPU_SEGMENTED_LOCALITY_PROBE_CUH

#include "device/merge_path.cuh"
#include "segmented/segmented.h"
#include "segmented/tuning.cuh"
#include "sort/costs.h"
#include "sort/radix_tuning.cuh"

/* Counts of a probe, each CTA's in its own place. */
struct mgpu_locality_counts
{
	uint32_t	descents;		/* samples over the whole array */
	uint32_t	unsorted[MGPU_LOCALITY_PROBE_CTAS];	/* 1: neighbours of a tile are out of order */
	uint64_t	differing[MGPU_LOCALITY_PROBE_CTAS];	/* bits in which a sample differs from the first key */
	uint32_t	moved[MGPU_MAX_PASSES][MGPU_LOCALITY_PROBE_CTAS]; /* samples of a pair that move */
	uint64_t	all_differing[MGPU_READ_BITS_CTAS];	/* of all keys, if they were read */
};

/* Lists of a pass have first_run_items << pass items. */
struct mgpu_locality_plan
{
	uint64_t	num_items;
	uint32_t	first_run_items;
	uint32_t	num_passes;
};

/* The first lists are sort tiles. */
static inline mgpu_locality_plan
mgpu_plan_locality_probe(mgpu_sort_shape shape, uint64_t num_items)
{
	mgpu_locality_plan plan = {num_items, mgpu_segmented_u64_large::sort_tile_items, 0};

	if (shape == MGPU_SHAPE_U32)
		plan.first_run_items = mgpu_locality_u32_large::sort_tile_items;
	else if (shape == MGPU_SHAPE_U64_INDEX)
		plan.first_run_items = mgpu_segmented_u128::sort_tile_items;
	while ((uint64_t) plan.first_run_items << plan.num_passes < num_items)
		plan.num_passes++;
	return plan;
}

/* Pairs of lists that a pass merges, both of them not empty. */
MGPU_HOST_DEVICE uint64_t
mgpu_locality_pairs(const mgpu_locality_plan &plan, uint32_t pass)
{
	uint64_t	run_items = (uint64_t) plan.first_run_items << pass;

	return (plan.num_items - run_items + 2 * run_items - 1) / (2 * run_items);
}

/* The item that a thread of a CTA samples.  The lower half of the threads samples a, from its end on. */
MGPU_HOST_DEVICE uint64_t
mgpu_locality_item(const mgpu_locality_plan &plan, uint32_t pass, uint32_t cta, uint32_t thread)
{
	constexpr uint32_t half = MGPU_LOCALITY_PROBE_THREADS / 2;
	uint64_t	run_items = (uint64_t) plan.first_run_items << pass;
	uint64_t	pair = mgpu_locality_pairs(plan, pass) * cta / MGPU_LOCALITY_PROBE_CTAS;
	uint64_t	middle = (2 * pair + 1) * run_items;
	uint64_t	b_items = plan.num_items - middle < run_items ? plan.num_items - middle : run_items;

	if (thread < half)
		return middle - 1 - thread * run_items / half;
	return middle + (thread - half) * b_items / half;
}

/* The first of two neighbours that a thread of a CTA compares. */
MGPU_HOST_DEVICE uint64_t
mgpu_locality_neighbour(const mgpu_locality_plan &plan, uint32_t cta, uint32_t thread)
{
	return (plan.num_items - MGPU_LOCALITY_PROBE_THREADS - 1) * cta / (MGPU_LOCALITY_PROBE_CTAS - 1) + thread;
}

/* Which part of all samples was counted, if each CTA has at most `most`. */
static inline double
mgpu_locality_share(const uint32_t (&counts)[MGPU_LOCALITY_PROBE_CTAS], uint32_t most)
{
	double		sum = 0;

	for (uint32_t count : counts)
		sum += count;
	return sum / ((double) MGPU_LOCALITY_PROBE_CTAS * most);
}

/* The cheapest sort.  A locality sort of 0 passes has nothing to move. */
static inline mgpu_algorithm
mgpu_choose_cheapest(const mgpu_cost_estimate &estimate)
{
	if (estimate.passes == 0 ||
		(estimate.locality_ms <= estimate.radix_ms && estimate.locality_ms <= estimate.merge_ms))
		return MGPU_ALGORITHM_LOCALITY;
	return estimate.radix_ms < estimate.merge_ms ? MGPU_ALGORITHM_RADIX : MGPU_ALGORITHM_MERGE;
}

static inline mgpu_cost_estimate
mgpu_conclude(const mgpu_locality_plan &plan, const mgpu_locality_counts &counts, mgpu_sort_shape shape, uint32_t key_bits)
{
	static const mgpu_locality_costs all_costs[MGPU_NUM_SHAPES] = MGPU_LOCALITY_COSTS;
	const mgpu_locality_costs &costs = all_costs[shape];
	uint32_t	most_bits = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 32 : 64;
	double		unsorted = mgpu_locality_share(counts.unsorted, 1);
	double		items = plan.num_items * 1e-6;	/* times nanoseconds gives milliseconds */
	mgpu_cost_estimate estimate = {};

	if (counts.descents < MGPU_LOCALITY_PROBE_REVERSED_DESCENTS)
	{
		for (uint32_t pass = 0; pass < plan.num_passes; pass++)
			estimate.passes += mgpu_locality_share(counts.moved[pass], MGPU_LOCALITY_PROBE_THREADS);
	}
	estimate.locality_ms = plan.num_passes * costs.each_pass_ms +
		items * (unsorted * costs.sort_ns + (1 - unsorted) * costs.read_ns + estimate.passes * costs.pass_ns);
	estimate.radix_ms = costs.radix_ms + items * costs.radix_ns * key_bits / most_bits;
	estimate.merge_ms = costs.merge_ms + items * costs.merge_ns;
	estimate.key_bits = key_bits;
	estimate.choice = mgpu_choose_cheapest(estimate);
	return estimate;
}

/* Bits that a radix sort must sort, in whole digits. */
template <size_t num_ctas>
static inline uint32_t
mgpu_count_key_bits(const uint64_t (&differing)[num_ctas], uint32_t key_bits)
{
	uint64_t	bits = 0;
	uint32_t	num_bits = MGPU_RADIX_BITS;

	for (uint64_t of_cta : differing)
		bits |= of_cta;
	while (num_bits < key_bits && bits >> num_bits != 0)
		num_bits += MGPU_RADIX_BITS;
	return num_bits;
}

/* Would a radix sort of the bits in which samples differ be cheapest, if all keys are read before it? */
static inline bool
mgpu_pays_to_read(const mgpu_locality_plan &plan, const mgpu_locality_counts &counts, mgpu_sort_shape shape,
				  uint32_t key_bits)
{
	uint32_t	key_bytes = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 4 : 8;
	uint32_t	sampled_bits = mgpu_count_key_bits(counts.differing, key_bits);
	mgpu_cost_estimate estimate = mgpu_conclude(plan, counts, shape, sampled_bits);

	estimate.radix_ms += MGPU_READ_BITS_MS + plan.num_items * 1e-6 * key_bytes * MGPU_READ_BITS_BYTE_NS;
	return sampled_bits < key_bits && mgpu_choose_cheapest(estimate) == MGPU_ALGORITHM_RADIX;
}

#endif							/* MGPU_SEGMENTED_LOCALITY_PROBE_CUH */

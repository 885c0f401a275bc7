/*
 * segmented_look.cuh
 *		What a look at a sample looks at, and what it concludes, where a glance
 *		(glance.cuh) saw keys in order in parts.
 *
 * A locality sort pays while few passes have much to do; keys far from their
 * places are faster sorted by their digits, or by a merge sort, whose passes are
 * fewer and cost the same for any keys.  Which it is cannot be asked of the block
 * sort: it costs half a radix sort itself.  So a few CTAs look at the keys first,
 * each at MGPU_LOOK_THREADS of them:
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
 * lines through measured points (segmented_tuning.cuh).  One thing must hold for
 * all keys, and is taken for none: that they differ in low bits alone, as numbers
 * of a narrow range do, so that a radix sort may leave out digits.  Where samples
 * promise it and it would decide, all keys are read.
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

/* Counts of a look, a CTA's each in its own place. */
struct mgpu_look
{
	uint32_t	descents;		/* of samples over the whole array */
	uint32_t	unsorted[MGPU_LOOK_CTAS];	/* a tile's neighbours: 1 or 0 */
	uint64_t	differing[MGPU_LOOK_CTAS];	/* bits in which a sample differs from the first key */
	uint32_t	moved[MGPU_MAX_PASSES][MGPU_LOOK_CTAS]; /* samples of a pair */
	uint64_t	all_differing[MGPU_LOOK_READ_CTAS];	/* of all keys, where they were read */
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

/* Of all that CTAs counted: how many of so many. */
static inline double
mgpu_look_share(const uint32_t (&counts)[MGPU_LOOK_CTAS], uint32_t most)
{
	double		sum = 0;

	for (uint32_t count : counts)
		sum += count;
	return sum / ((double) MGPU_LOOK_CTAS * most);
}

/* The fastest; a locality sort has nothing to move where no pass has. */
static inline mgpu_algorithm
mgpu_choose_way(const mgpu_foresight &foresight)
{
	if (foresight.passes == 0 ||
		(foresight.locality_ms <= foresight.radix_ms && foresight.locality_ms <= foresight.merge_ms))
		return MGPU_ALGORITHM_LOCALITY;
	return foresight.radix_ms < foresight.merge_ms ? MGPU_ALGORITHM_RADIX : MGPU_ALGORITHM_MERGE;
}

/* What follows from the counts for keys of so many bits. */
static inline mgpu_foresight
mgpu_conclude(const mgpu_look_plan &plan, const mgpu_look &look, mgpu_sort_shape shape, uint32_t key_bits)
{
	static const mgpu_locality_costs all_costs[MGPU_NUM_SHAPES] = MGPU_LOCALITY_COSTS;
	const mgpu_locality_costs &costs = all_costs[shape];
	uint32_t	most_bits = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 32 : 64;
	double		unsorted = mgpu_look_share(look.unsorted, 1);
	double		items = plan.num_items * 1e-6;	/* times nanoseconds are milliseconds */
	mgpu_foresight foresight = {};

	if (look.descents < MGPU_LOOK_REVERSED_DESCENTS)
	{
		for (uint32_t pass = 0; pass < plan.num_passes; pass++)
			foresight.passes += mgpu_look_share(look.moved[pass], MGPU_LOOK_THREADS);
	}
	foresight.locality_ms = plan.num_passes * costs.each_pass_ms +
		items * (unsorted * costs.sort_ns + (1 - unsorted) * costs.read_ns + foresight.passes * costs.pass_ns);
	foresight.radix_ms = costs.radix_ms + items * costs.radix_ns * key_bits / most_bits;
	foresight.merge_ms = costs.merge_ms + items * costs.merge_ns;
	foresight.key_bits = key_bits;
	foresight.choice = mgpu_choose_way(foresight);
	return foresight;
}

/* Bits that a radix sort must look at, in whole digits. */
template <size_t num_ctas>
static inline uint32_t
mgpu_count_key_bits(const uint64_t (&differing)[num_ctas], uint32_t key_bits)
{
	uint64_t	bits = 0;
	uint32_t	num_bits = MGPU_LOOK_DIGIT_BITS;

	for (uint64_t of_cta : differing)
		bits |= of_cta;
	while (num_bits < key_bits && bits >> num_bits != 0)
		num_bits += MGPU_LOOK_DIGIT_BITS;
	return num_bits;
}

/* Would a radix sort of no more bits than the samples differ in be the way, all keys read before it? */
static inline bool
mgpu_pays_to_read(const mgpu_look_plan &plan, const mgpu_look &look, mgpu_sort_shape shape, uint32_t key_bits)
{
	uint32_t	key_bytes = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 4 : 8;
	uint32_t	sampled_bits = mgpu_count_key_bits(look.differing, key_bits);
	mgpu_foresight foresight = mgpu_conclude(plan, look, shape, sampled_bits);

	foresight.radix_ms += MGPU_LOOK_READ_MS + plan.num_items * 1e-6 * key_bytes * MGPU_LOOK_READ_BYTE_NS;
	return sampled_bits < key_bits && mgpu_choose_way(foresight) == MGPU_ALGORITHM_RADIX;
}

#endif							/* MGPU_SEGMENTED_LOOK_CUH */

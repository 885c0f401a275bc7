/*
 * sort/probe_plan.cuh
 *		Where a glance looks, and how it turns keys round.
 *
 * Samples are jobs of a CTA each, MGPU_PROBE_PLACES of a kind, that compare the
 * greatest of some keys with the least of others:
 *
 *	 level k		run i and run i + 2 of those that k merge passes leave (windows,
 *					sort/window_pass.cuh, are right where these are in order for all i);
 *					where there is a sort of compact tiles (sort/quantised_tiles.cuh), level 0 is
 *					that one's, and run i tells by how much its keys differ, and if by
 *					much, whether they crowd
 *	 near			512 neighbours, but for the 128 in the middle: before these, and behind;
 *					for compact tiles, whether they crowd
 *	 whole			one job more: keys at even distances, each with the next
 *
 * Beside its samples, each CTA reads its share of all keys for as long as they
 * ascend, or descend.  Keys in no order end that at once, so that a glance which
 * promises order is its own proof, and costs nothing where there is none.  A
 * kernel of its own for the proof was rejected: a launch and a wait more, 6 us.
 *
 * Vectors of 16 bytes are turned round one by one.  Where the count is no
 * multiple of theirs, a vector of the result takes keys of two neighbours:
 *
 *	 keys		0 1 2 3 | 4 5 6 7 | 8 9			10 keys, 2 over
 *	 result		9 8 7 6 | 5 4 3 2 | 1 0
 */
#ifndef MGPU_SORT_PROBE_PLAN_CUH
#define MGPU_SORT_PROBE_PLAN_CUH

#include "sort/probe.h"
#include "device/merge_path.cuh"

#define MGPU_PROBE_THREADS 512
#define MGPU_PROBE_WARPS (MGPU_PROBE_THREADS / 32)
#define MGPU_PROBE_CTAS_PER_SM 2
#define MGPU_PROBE_PLACES 16
#define MGPU_PROBE_LEVELS 8

/* Vectors of a lane on their way at a time: where keys ascend, and where they are turned round. */
#define MGPU_PROBE_VECTORS 4
#define MGPU_PROBE_TURNED_VECTORS 2

/* Of the whole job's samples: anywhere, if descents are more than 5 for 8 ascents, of which there are some. */
#define MGPU_PROBE_SCATTERED(descents, ascents) ((ascents) > 0 && 8 * (descents) > 5 * (ascents))

/*
 * Neighbours among samples that differ, but by no more than a part in so many bits, are
 * crowded.  Those of a compact tile are 47 places apart: of keys spread evenly within 100
 * places, one pair or two in 248.  Next to each other and in order but for some, 31 in
 * 496 are if gaps are random; of keys in bursts, most.
 */
#define MGPU_PROBE_RUN_CROWD_BITS 14
#define MGPU_PROBE_RUN_CROWD 12
#define MGPU_PROBE_NEAR_CROWD_BITS 13
#define MGPU_PROBE_NEAR_CROWD 96

/* What is known of an array before the glance. */
struct mgpu_probe_plan
{
	uint64_t	num_items;
	uint32_t	num_levels;
	uint64_t	run_items[MGPU_PROBE_LEVELS];	/* each with three runs or more */
	uint64_t	quantised_span;	/* runs of level 0 are compact tiles: if keys are so far apart, they must not crowd; or 0 */
};

/* Bits of `failed`: near ones; compact tiles whose codes say all; keys that these tell apart if they do not. */
#define MGPU_PROBE_FAR (1u << MGPU_PROBE_LEVELS)
#define MGPU_PROBE_LACKS_BITS (2u << MGPU_PROBE_LEVELS)
#define MGPU_PROBE_CROWDED (4u << MGPU_PROBE_LEVELS)

MGPU_HOST_DEVICE uint32_t
mgpu_probe_jobs(const mgpu_probe_plan &plan)
{
	return (plan.num_levels + 1) * MGPU_PROBE_PLACES + 1;
}

/* What all samples say together. */
struct mgpu_probe_outcome
{
	int			window_passes;	/* as in a glance */
	bool		near;
	bool		quantised;
};

/* Compact tiles will do where all runs that are longer would, and keys differ little or are spread: else they are WIDE here. */
MGPU_HOST_DEVICE mgpu_probe_outcome
mgpu_conclude_samples(const mgpu_probe_plan &plan, uint32_t failed)
{
	mgpu_probe_outcome outcome = {-1, (failed & MGPU_PROBE_FAR) == 0, false};
	uint32_t	first = plan.quantised_span > 0 ? 1 : 0;

	for (uint32_t level = plan.num_levels; level > first && (failed >> (level - 1) & 1) == 0; level--)
		outcome.window_passes = (int) (level - 1 - first);
	outcome.quantised = first > 0 && (failed & (MGPU_PROBE_LACKS_BITS | 1)) == 0;
	for (uint32_t level = first; level < plan.num_levels; level++)
		outcome.quantised = outcome.quantised && (plan.run_items[level] < plan.run_items[0] || (failed >> level & 1) == 0);
	return outcome;
}

/* What a thread looks at for a job. */
struct mgpu_probe_sample
{
	uint64_t	item;
	bool		in_first;		/* of the keys whose greatest … */
	bool		in_second;		/* … must not be above these */
};

/* For level k: from the end of run i on backwards, and from the start of run i + 2. */
MGPU_HOST_DEVICE mgpu_probe_sample
mgpu_sample_runs(const mgpu_probe_plan &plan, uint32_t level, uint32_t place, uint32_t thread)
{
	constexpr uint32_t half = MGPU_PROBE_THREADS / 2;
	uint64_t	run_items = plan.run_items[level];
	uint64_t	num_runs = (plan.num_items + run_items - 1) / run_items;
	uint64_t	run = (num_runs - 2) * place / MGPU_PROBE_PLACES;
	uint64_t	second = (run + 2) * run_items;
	uint64_t	second_items = plan.num_items - second < run_items ? plan.num_items - second : run_items;
	mgpu_probe_sample sample = {0, thread < half, thread >= half};

	sample.item = thread < half ? (run + 1) * run_items - 1 - thread * run_items / half :
		second + (thread - half) * second_items / half;
	return sample;
}

/* Neighbours, of which those in the middle are left out: fewer than MGPU_NEAR_PLACES. */
MGPU_HOST_DEVICE mgpu_probe_sample
mgpu_sample_neighbours(const mgpu_probe_plan &plan, uint32_t place, uint32_t thread)
{
	constexpr uint32_t side = MGPU_PROBE_THREADS * 3 / 8;
	mgpu_probe_sample sample = {(plan.num_items - MGPU_PROBE_THREADS) * place / (MGPU_PROBE_PLACES - 1) + thread,
		thread < side, thread >= MGPU_PROBE_THREADS - side};

	return sample;
}

/* A vector's keys. */
template <typename Key>
struct mgpu_key_vector
{
	static constexpr int items = 16 / sizeof(Key);

	Key			keys[items];
};

/*
 * A vector of the result: of these keys and the next ones, turned round, those
 * from `over` on.
 */
template <typename Key>
MGPU_HOST_DEVICE mgpu_key_vector<Key>
mgpu_turn_round(const mgpu_key_vector<Key> &vector, const mgpu_key_vector<Key> &next, uint32_t over)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	mgpu_key_vector<Key> turned;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		/* key over + items - 1 - i of both, by selections alone */
		Key			key = vector.keys[items - 1 - i];

#pragma unroll
		for (int shift = 1; shift < items; shift++)
		{
			int			from = shift + items - 1 - i;
			Key			shifted = from < items ? vector.keys[from % items] : next.keys[from % items];

			key = over == (uint32_t) shift ? shifted : key;
		}
		turned.keys[i] = key;
	}
	return turned;
}

#endif							/* MGPU_SORT_PROBE_PLAN_CUH */

/*
 * sort/probe_plan.cuh
 *		Where the sortedness probe samples, and how it reverses keys.
 *
 * Samples are jobs of one CTA each, MGPU_PROBE_PLACES of a kind, which compare the greatest of
 * some keys with the least of others:
 *
 *	 level k		runs i and i + 2 of those that k merge passes leave: a window pass
 *					(window_pass.cuh) is right if these are in order for all i.  Level 0 may
 *					be quantised tiles, and then tells how far a run's keys differ
 *	 near			512 neighbours: those before the middle 128, and those behind
 *	 whole			one more job: keys at even distances, each with the next
 *
 * Each CTA also reads its share of all keys as long as they ascend, or descend, so a probe that
 * finds order has proved it.  Vectors are reversed one by one.  If the count is no multiple of a
 * vector, a vector of the result takes keys of two neighbours:
 *
 *	 keys		0 1 2 3 | 4 5 6 7 | 8 9			10 keys, 2 over
 *	 result		9 8 7 6 | 5 4 3 2 | 1 0
 */
#ifndef MGPU_SORT_PROBE_PLAN_CUH
#define MGPU_SORT_PROBE_PLAN_CUH

#include "device/merge_path.cuh"
#include "sort/probe.h"

#define MGPU_PROBE_THREADS 512
#define MGPU_PROBE_WARPS (MGPU_PROBE_THREADS / 32)
#define MGPU_PROBE_CTAS_PER_SM 2
#define MGPU_PROBE_PLACES 16
#define MGPU_PROBE_LEVELS 8

/* Vectors that a lane loads at a time: where keys ascend, and where they are reversed. */
#define MGPU_PROBE_VECTORS 4
#define MGPU_PROBE_REVERSED_VECTORS 2

/* The whole job's samples are scattered if there are more than 5 descents for 8 ascents, and some ascents. */
#define MGPU_PROBE_SCATTERED(descents, ascents) ((ascents) > 0 && 8 * (descents) > 5 * (ascents))

/*
 * Neighbours among samples are crowded if they differ, but by at most 1 / 2^BITS of the span.
 * Samples of a quantised tile are 47 places apart: if keys spread evenly within 100 places, one or
 * two pairs of 248 are crowded.  Of direct neighbours 31 of 496 are, if gaps are random; of keys in
 * bursts, most are.
 */
#define MGPU_PROBE_RUN_CROWD_BITS 14
#define MGPU_PROBE_RUN_CROWD 12
#define MGPU_PROBE_NEAR_CROWD_BITS 13
#define MGPU_PROBE_NEAR_CROWD 96

/* What is known of an array before the probe. */
struct mgpu_probe_plan
{
	uint64_t	num_items;
	uint32_t	num_levels;
	uint64_t	run_items[MGPU_PROBE_LEVELS];	/* each has three runs or more */
	uint64_t	quantised_span;	/* keys of a quantised tile, level 0, must not crowd if they span this; 0: no such level */
};

/* Bits of `failed`: keys are not near their places; quantised codes lack bits; keys crowd. */
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
	int			window_passes;	/* as in mgpu_sortedness */
	bool		near;
	bool		quantised;
};

/* Quantised tiles will do if all levels of longer runs would, and if codes hold all bits or keys do not crowd. */
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

/* What a thread reads for a job. */
struct mgpu_probe_sample
{
	uint64_t	item;
	bool		in_first;		/* one of the keys whose greatest ... */
	bool		in_second;		/* ... must not be above these */
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

/* Neighbours except those in the middle, which are fewer than MGPU_NEAR_PLACES. */
MGPU_HOST_DEVICE mgpu_probe_sample
mgpu_sample_neighbours(const mgpu_probe_plan &plan, uint32_t place, uint32_t thread)
{
	constexpr uint32_t side = MGPU_PROBE_THREADS * 3 / 8;
	mgpu_probe_sample sample = {(plan.num_items - MGPU_PROBE_THREADS) * place / (MGPU_PROBE_PLACES - 1) + thread,
		thread < side, thread >= MGPU_PROBE_THREADS - side};

	return sample;
}

template <typename Key>
struct mgpu_key_vector
{
	static constexpr int items = 16 / sizeof(Key);

	Key			keys[items];
};

/* A vector of the result: keys of this vector and the next, from `over` on, reversed. */
template <typename Key>
MGPU_HOST_DEVICE mgpu_key_vector<Key>
mgpu_reverse_vector(const mgpu_key_vector<Key> &vector, const mgpu_key_vector<Key> &next, uint32_t over)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	mgpu_key_vector<Key> reversed;

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
		reversed.keys[i] = key;
	}
	return reversed;
}

#endif							/* MGPU_SORT_PROBE_PLAN_CUH */

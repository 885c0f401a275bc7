/*
 * sort/probe_kernels.cuh
 *		The kernel of the sortedness probe.  See probe_plan.cuh.
 */
#ifndef MGPU_SORT_PROBE_KERNELS_CUH
#define MGPU_SORT_PROBE_KERNELS_CUH

#include "device/signal.h"
#include "sort/probe_read.cuh"
#include "sort/probe_samples.cuh"

/*
 * Words of the answer: descents and ascents over the whole array; the bits in which these samples
 * differ, in two halves; all else.
 */
#define MGPU_PROBE_WHOLE 0
#define MGPU_PROBE_BITS 1
#define MGPU_PROBE_REST 3

/* Bits of the last word: one of the first two alone, or the rest; from MGPU_PROBE_RUNS on, one a level. */
#define MGPU_PROBE_SORTED 1u
#define MGPU_PROBE_REVERSED 2u
#define MGPU_PROBE_NEAR 4u
#define MGPU_PROBE_NARROW 8u
#define MGPU_PROBE_RUNS 8

/*
 * What CTAs have found on this device.  The first word holds the last question with that result,
 * and is never cleared.  The others are 0 between two probes.
 */
struct mgpu_probe_findings
{
	uint32_t	disorder;		/* neither ascending nor descending throughout */
	uint32_t	failed;			/* kinds of jobs that failed: one bit a level, MGPU_PROBE_FAR ... */
	unsigned long long sums;	/* numbers of CTAs that arrived, did not ascend, did not descend: 16 bits each */
};

static __device__ mgpu_probe_findings mgpu_found;

/* Keys at even distances over the whole array: descents, ascents, and the bits in which they differ. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_probe_whole(const Key *keys, uint64_t num_items, uint32_t question, mgpu_signals *signals)
{
	__shared__ uint32_t warps[2][MGPU_PROBE_WARPS];
	uint64_t	stride = (num_items - 1) / MGPU_PROBE_THREADS;
	Key			key = keys[threadIdx.x * stride];
	Key			next = keys[(threadIdx.x + 1) * stride];
	uint64_t	bits = next ^ keys[0];
	uint32_t	low = mgpu_all_bits_of_warp((uint32_t) bits);
	uint32_t	high = sizeof(Key) > 4 ? mgpu_all_bits_of_warp((uint32_t) (bits >> 32)) : 0;
	uint32_t	descents = (uint32_t) __syncthreads_count(next < key);
	uint32_t	ascents;

	if (threadIdx.x % 32 == 0)
	{
		warps[0][threadIdx.x / 32] = low;
		warps[1][threadIdx.x / 32] = high;
	}
	ascents = (uint32_t) __syncthreads_count(key < next);	/* and every warp's bits are there */
	if (threadIdx.x >= 32)
		return;
	low = mgpu_all_bits_of_warp(warps[0][threadIdx.x % MGPU_PROBE_WARPS]);
	high = mgpu_all_bits_of_warp(warps[1][threadIdx.x % MGPU_PROBE_WARPS]);
	if (threadIdx.x != 0)
		return;
	signals->words[MGPU_PROBE_WHOLE] = MGPU_SIGNAL(question, descents << 16 | ascents);
	signals->words[MGPU_PROBE_BITS] = MGPU_SIGNAL(question, low);
	signals->words[MGPU_PROBE_BITS + 1] = MGPU_SIGNAL(question, high);
	if (descents > 0 && ascents > 0)
		mgpu_record_finding(mgpu_found.disorder, question);
}

/*
 * The last CTA that arrives tells the host what all have found.  One thread of each calls it.  The
 * sum that it gets tells the order, so nothing more is waited for.
 */
static __device__ __forceinline__ void
mgpu_report_probe(bool ascends, bool descends, uint32_t failed, uint32_t question, mgpu_signals *signals)
{
	unsigned long long found = 1 | (unsigned long long) !ascends << 16 | (unsigned long long) !descends << 32;
	uint32_t	answer;

	if (failed != 0)
	{
		atomicOr(&mgpu_found.failed, failed);
		__threadfence();			/* visible before this CTA arrives */
	}
	found += atomicAdd(&mgpu_found.sums, found);
	if ((found & 0xFFFF) != gridDim.x)
		return;
	answer = (found >> 16 & 0xFFFF) == 0 ? MGPU_PROBE_SORTED : found >> 32 == 0 ? MGPU_PROBE_REVERSED : 0;
	if (answer == 0)
	{
		__threadfence();
		failed = *(volatile uint32_t *) &mgpu_found.failed;
		answer = (failed & MGPU_PROBE_FAR ? 0 : MGPU_PROBE_NEAR) |
			((failed & MGPU_PROBE_LACKS_BITS) && (failed & MGPU_PROBE_CROWDED) ? 0 : MGPU_PROBE_NARROW) |
			(~failed & (MGPU_PROBE_FAR - 1)) << MGPU_PROBE_RUNS;
	}
	signals->words[MGPU_PROBE_REST] = MGPU_SIGNAL(question, answer);
	mgpu_found.failed = 0;
	mgpu_found.sums = 0;
}

/*
 * Jobs, then each CTA's share of the keys, at least one vector.  If its first keys are all equal,
 * the ends of the array tell which order to check.
 */
template <bool indexed, bool even, typename Key>
static __global__ void
__launch_bounds__(MGPU_PROBE_THREADS, MGPU_PROBE_CTAS_PER_SM)
mgpu_probe_keys(mgpu_probe_arrays<Key> arrays, mgpu_probe_plan plan, uint32_t question, mgpu_signals *signals)
{
	uint64_t	num_vectors = plan.num_items / mgpu_key_vector<Key>::items;
	uint64_t	number = (uint64_t) blockIdx.x * MGPU_PROBE_THREADS + threadIdx.x;
	mgpu_key_vector<Key> probe = mgpu_load_vector(arrays.keys, min(number, num_vectors - 1));
	bool		ascending;
	bool		descending;
	bool		in_order;
	uint32_t	failed = 0;

	/*
	 * only the rounds that an ascending CTA reads first: where keys are reversed, the second rounds
	 * are other CTAs'
	 */
	if (threadIdx.x % 32 == 0)
		mgpu_prefetch_round(arrays.keys, number / 32 * 32 * MGPU_PROBE_VECTORS, 32 * MGPU_PROBE_VECTORS, num_vectors);
	for (uint32_t job = blockIdx.x; job < mgpu_probe_jobs(plan); job += gridDim.x)
	{
		if (job == 0)
			mgpu_probe_whole(arrays.keys, plan.num_items, question, signals);
		else
			failed |= mgpu_do_probe_job(arrays.keys, plan, job - 1);
		__syncthreads();			/* before the next job's samples overwrite this one's */
	}
	ascending = __syncthreads_and(mgpu_vector_in_order<true, indexed>(probe));
	descending = __syncthreads_and(mgpu_vector_in_order<false, indexed>(probe));
	in_order = ascending || descending;
	if (ascending && descending)
		ascending = !(arrays.keys[plan.num_items - 1] < arrays.keys[0]);
	if (in_order)
		in_order = ascending ?
			mgpu_read_in_order<true, indexed, even>(arrays, plan.num_items, mgpu_found.disorder, question) :
			mgpu_read_in_order<false, indexed, even>(arrays, plan.num_items, mgpu_found.disorder, question);
	if (in_order && blockIdx.x == 0 && threadIdx.x == 0)
		in_order = mgpu_read_rest(arrays, plan.num_items, ascending);
	in_order = __syncthreads_and(in_order);
	if (threadIdx.x != 0)
		return;
	if (!in_order)
		mgpu_record_finding(mgpu_found.disorder, question);
	mgpu_report_probe(in_order && ascending, in_order && !ascending, failed, question, signals);
}

#endif							/* MGPU_SORT_PROBE_KERNELS_CUH */

/*
 * sort/single_launch_barrier.cuh
 *		What the CTAs of a single-launch sort tell each other, and how they wait.
 *
 * All CTAs are on the device at once.  Most words carry a tag, so no fence is needed to write them
 * and no barrier to read them:
 *
 *	 probe			how many CTAs have arrived, and how many of them found no order
 *	 ranges[cta]	the launch, and a CTA's least and greatest key
 *	 rows[cta]		the pass, and a CTA's count of each value
 *	 sums[group]	counts of each value of several CTAs, and the number of these CTAs
 *	 num_met		CTAs whose items have left; only this one orders other memory, by a fence
 *
 * Nothing is cleared between launches: a launch's number tells old words from new ones, and sums
 * exist twice, so that each launch clears the next one's.  Rejected: a barrier for the counts, 2
 * us a pass.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_BARRIER_CUH
#define MGPU_SORT_SINGLE_LAUNCH_BARRIER_CUH

#include "sort/single_launch_plan.cuh"

/* What CTAs add to the probe's word: themselves, and those that do not ascend or descend. */
#define MGPU_SINGLE_LAUNCH_ARRIVED UINT64_C(1)
#define MGPU_SINGLE_LAUNCH_NOT_ASCENDING (UINT64_C(1) << 16)
#define MGPU_SINGLE_LAUNCH_NOT_DESCENDING (UINT64_C(1) << 32)
#define MGPU_SINGLE_LAUNCH_COUNT UINT64_C(0xFFFF)

/* Sums of a digit's values: of all groups, and last of all CTAs. */
typedef uint32_t mgpu_single_launch_sums[sizeof(uint64_t)][MGPU_SINGLE_LAUNCH_MOST_GROUPS + 1][MGPU_RADIX_DIGITS];

/* Words that are zero when a launch begins. */
struct mgpu_single_launch_turn
{
	unsigned long long probe;
	uint32_t	num_met;
	mgpu_single_launch_sums sums;
};

/* One a device.  Zero when the module is loaded. */
struct mgpu_single_launch_state
{
	uint32_t	launch;			/* number of the last one */
	uint64_t	ranges[4][MGPU_SINGLE_LAUNCH_MOST_CTAS]; /* halves of the greatest key and of the least one's complement */
	uint64_t	rows[MGPU_SINGLE_LAUNCH_MOST_CTAS][MGPU_RADIX_DIGITS];
	mgpu_single_launch_turn turns[2];
};

static __device__ __forceinline__ uint32_t
mgpu_load_strong(const uint32_t *word)
{
	uint32_t	value;

	asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word));
	return value;
}

static __device__ __forceinline__ uint64_t
mgpu_load_strong(const uint64_t *word)
{
	uint64_t	value;

	asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(word));
	return value;
}

static __device__ __forceinline__ void
mgpu_store_strong(uint64_t *word, uint64_t value)
{
	asm volatile("st.relaxed.gpu.u64 [%0], %1;" : : "l"(word), "l"(value));
}

/* A word tagged with its launch or pass. */
MGPU_HOST_DEVICE uint64_t
mgpu_single_launch_word(uint32_t tag, uint32_t value)
{
	return (uint64_t) tag << 32 | value;
}

MGPU_HOST_DEVICE bool
mgpu_single_launch_is_tagged(uint64_t word, uint32_t tag)
{
	return word >> 32 == tag;
}

/* Tags of passes.  They differ from launches, and from 0, which rows hold at first. */
MGPU_HOST_DEVICE uint32_t
mgpu_single_launch_pass_tag(uint32_t launch, uint32_t digit)
{
	return UINT32_C(1) << 31 | (launch * (uint32_t) sizeof(uint64_t) + digit);
}

/* One thread: publish the range of this CTA's keys, and then their order.  Wait for what all have found. */
static __device__ __forceinline__ uint64_t
mgpu_single_launch_tell_all(mgpu_single_launch_state *state, uint32_t launch, uint64_t found, uint64_t greatest,
							uint64_t not_least)
{
	unsigned long long *probe = &state->turns[launch % 2].probe;
	uint64_t	all;

	for (int half = 0; half < 2; half++)
	{
		mgpu_store_strong(&state->ranges[half][blockIdx.x],
						  mgpu_single_launch_word(launch, (uint32_t) (greatest >> half * 32)));
		mgpu_store_strong(&state->ranges[2 + half][blockIdx.x],
						  mgpu_single_launch_word(launch, (uint32_t) (not_least >> half * 32)));
	}
	(void) atomicAdd(probe, (unsigned long long) (MGPU_SINGLE_LAUNCH_ARRIVED | found));
	do
		all = mgpu_load_strong(reinterpret_cast<const uint64_t *>(probe));
	while ((all & MGPU_SINGLE_LAUNCH_COUNT) != gridDim.x);
	return all;
}

/* One thread a CTA: wait for the range of its keys. */
static __device__ __forceinline__ void
mgpu_single_launch_await_range(const mgpu_single_launch_state *state, uint32_t launch, uint64_t *greatest,
							   uint64_t *not_least)
{
	uint64_t	words[4];
	bool		all;

	do
	{
		all = true;
#pragma unroll
		for (int i = 0; i < 4; i++)
			words[i] = mgpu_load_strong(&state->ranges[i][threadIdx.x]);
#pragma unroll
		for (int i = 0; i < 4; i++)
			all &= mgpu_single_launch_is_tagged(words[i], launch);
	}
	while (!all);
	*greatest = words[1] << 32 | (uint32_t) words[0];
	*not_least = words[3] << 32 | (uint32_t) words[2];
}

/* All threads: a barrier of all CTAs, the times-th of the launch, with their writes before it visible behind it. */
static __device__ __forceinline__ void
mgpu_single_launch_sync(mgpu_single_launch_state *state, uint32_t launch, uint32_t times)
{
	uint32_t   *num_met = &state->turns[launch % 2].num_met;

	__syncthreads();				/* all of the CTA's writes come before the release */
	if (threadIdx.x == 0)
	{
		uint32_t	met;

		asm volatile("red.release.gpu.add.u32 [%0], 1;" : : "l"(num_met) : "memory");
		do
			asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(met) : "l"(num_met) : "memory");
		while (met < times * gridDim.x);
	}
	__syncthreads();				/* all threads see what that thread acquired */
}

#endif							/* MGPU_SORT_SINGLE_LAUNCH_BARRIER_CUH */

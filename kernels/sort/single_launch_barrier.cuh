/*
 * sort/single_launch_barrier.cuh
 *		What the CTAs of a sort on the chip tell each other, and how they wait.
 *
 * All CTAs of the launch are on the device at once, which a cooperative launch
 * promises.  Most words say what they say and that it is there, so that nobody needs a
 * fence to write them or a barrier to read them:
 *
 *	 look			how many CTAs have looked, and how many of them found no order
 *	 ranges[cta]	the launch, and a CTA's least and greatest key
 *	 rows[cta]		the pass, and how many of each value a CTA has
 *	 sums[group]	how many of each value so many CTAs have, and how many CTAs those are
 *	 num_met		how many times CTAs' items have left: here alone others wait for what
 *					lies elsewhere, and so there is a fence
 *
 * Nothing has to be cleared between two launches.  A launch's number tells old words
 * from new ones; what is added up is there twice, and each launch clears that of the
 * next one.  Launches of a device follow one another in one stream (executor/process.h).
 *
 * Rejected: a barrier for the counts as well, 2 us a pass; looks as a word a CTA that
 * all read, 4 us, since 132 CTAs then ask for the same lines; arrivals likewise, 1 us a
 * pass.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_BARRIER_CUH
#define MGPU_SORT_SINGLE_LAUNCH_BARRIER_CUH

#include "sort/single_launch_plan.cuh"

/* What CTAs add to the look's word: themselves, and how many do not ascend or descend. */
#define MGPU_SINGLE_LAUNCH_ARRIVED UINT64_C(1)
#define MGPU_SINGLE_LAUNCH_NOT_ASCENDING (UINT64_C(1) << 16)
#define MGPU_SINGLE_LAUNCH_NOT_DESCENDING (UINT64_C(1) << 32)
#define MGPU_SINGLE_LAUNCH_COUNT UINT64_C(0xFFFF)

/* Sums of so many digits, and of all groups; of the last one, all CTAs'. */
typedef uint32_t mgpu_single_launch_sums[sizeof(uint64_t)][MGPU_SINGLE_LAUNCH_MOST_GROUPS + 1][MGPU_RADIX_DIGITS];

/* What is zero when a launch begins. */
struct mgpu_single_launch_turn
{
	unsigned long long probe;
	uint32_t	num_met;
	mgpu_single_launch_sums sums;
};

/* Of a device; zero when it is loaded. */
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

/* A word that says for which launch, or pass, it holds. */
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

/* Passes have tags of their own, none of which is that of a row that nobody has written. */
MGPU_HOST_DEVICE uint32_t
mgpu_single_launch_pass_tag(uint32_t launch, uint32_t digit)
{
	return UINT32_C(1) << 31 | (launch * (uint32_t) sizeof(uint64_t) + digit);
}

/* One thread: tell the range of this CTA's keys, and then what order they are in; hear what all have found. */
static __device__ __forceinline__ uint64_t
mgpu_single_launch_tell_all(mgpu_single_launch_state *state, uint32_t launch, uint64_t found, uint64_t greatest, uint64_t not_least)
{
	unsigned long long *probe = &state->turns[launch % 2].probe;
	uint64_t	all;

	for (int half = 0; half < 2; half++)
	{
		mgpu_store_strong(&state->ranges[half][blockIdx.x], mgpu_single_launch_word(launch, (uint32_t) (greatest >> half * 32)));
		mgpu_store_strong(&state->ranges[2 + half][blockIdx.x], mgpu_single_launch_word(launch, (uint32_t) (not_least >> half * 32)));
	}
	(void) atomicAdd(probe, (unsigned long long) (MGPU_SINGLE_LAUNCH_ARRIVED | found));
	do
		all = mgpu_load_strong(reinterpret_cast<const uint64_t *>(probe));
	while ((all & MGPU_SINGLE_LAUNCH_COUNT) != gridDim.x);
	return all;
}

/* A thread a CTA: hear the range of its keys. */
static __device__ __forceinline__ void
mgpu_single_launch_await_range(const mgpu_single_launch_state *state, uint32_t launch, uint64_t *greatest, uint64_t *not_least)
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

/* All threads: what this CTA wrote is there for all, and what all wrote for this one; the so many-th time. */
static __device__ __forceinline__ void
mgpu_single_launch_sync(mgpu_single_launch_state *state, uint32_t launch, uint32_t times)
{
	uint32_t   *num_met = &state->turns[launch % 2].num_met;

	__syncthreads();				/* all of the CTA's writes are before what is released */
	if (threadIdx.x == 0)
	{
		uint32_t	met;

		asm volatile("red.release.gpu.add.u32 [%0], 1;" : : "l"(num_met) : "memory");
		do
			asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(met) : "l"(num_met) : "memory");
		while (met < times * gridDim.x);
	}
	__syncthreads();				/* what that thread acquired is there for all */
}

#endif							/* MGPU_SORT_SINGLE_LAUNCH_BARRIER_CUH */

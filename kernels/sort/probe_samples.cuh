/*
 * sort/probe_samples.cuh
 *		The jobs of the sortedness probe on the device: what samples of one kind say.
 *
 * A CTA does them before it reads on (probe_kernels.cuh).
 */
#ifndef MGPU_SORT_PROBE_SAMPLES_CUH
#define MGPU_SORT_PROBE_SAMPLES_CUH

#include "sort/probe_plan.cuh"

/* The greatest key of a CTA's threads that have one. */
template <typename Key>
static __device__ __forceinline__ Key
mgpu_greatest_of_cta(Key key, bool has_key, Key *warps)
{
	key = has_key ? key : 0;
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = max(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = key;
	__syncthreads();				/* every warp's greatest is there */
	key = warps[threadIdx.x % (MGPU_PROBE_WARPS)];
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = max(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	return key;
}

/* All bits that are set in a word of the warp's threads, for all of them. */
static __device__ __forceinline__ uint32_t
mgpu_all_bits_of_warp(uint32_t bits)
{
#if __CUDA_ARCH__ >= 800
	return __reduce_or_sync(0xFFFFFFFFu, bits);
#else
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		bits |= __shfl_xor_sync(0xFFFFFFFFu, bits, distance);
	return bits;
#endif
}

/* How many neighbours in a warp differ, but by no more than `distance`? */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_count_crowded(Key key, bool counts, Key distance)
{
	Key			next = __shfl_down_sync(0xFFFFFFFFu, key, 1);
	Key			apart = key < next ? next - key : key - next;

	return (uint32_t) __syncthreads_count(counts && threadIdx.x % 32 < 31 && apart > 0 && apart <= distance);
}

/*
 * One of the other jobs: is the greatest of some keys above the least of others? The bit of the
 * kind that failed, or 0.
 */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_do_probe_job(const Key *keys, const mgpu_probe_plan &plan, uint32_t job)
{
	__shared__ Key warps[2][MGPU_PROBE_WARPS];
	uint32_t	kind = job / MGPU_PROBE_PLACES;
	uint32_t	place = job % MGPU_PROBE_PLACES;
	mgpu_probe_sample sample = kind < plan.num_levels ? mgpu_sample_runs(plan, kind, place, threadIdx.x) :
		mgpu_sample_neighbours(plan, place, threadIdx.x);
	Key			key = keys[sample.item];
	Key			greatest = mgpu_greatest_of_cta(key, sample.in_first, warps[0]);
	int			in_order = __syncthreads_and(!(sample.in_second && key < greatest));
	uint32_t	failed = in_order ? 0 : kind < plan.num_levels ? 1u << kind : MGPU_PROBE_FAR;

	if ((kind == 0 || kind == plan.num_levels) && plan.quantised_span > 0)
	{
		bool		is_run = kind == 0;
		bool		counts = !is_run || sample.in_first;
		Key			least = (Key) ~mgpu_greatest_of_cta((Key) ~key, counts, warps[1]);
		Key			spread;

		if (!is_run)
			greatest = mgpu_greatest_of_cta(key, true, warps[0]);
		spread = greatest - least;
		if (is_run && (uint64_t) spread >= plan.quantised_span)
			failed |= MGPU_PROBE_LACKS_BITS;
		if (mgpu_count_crowded(key, counts, (Key) (spread >> (is_run ? MGPU_PROBE_RUN_CROWD_BITS : MGPU_PROBE_NEAR_CROWD_BITS))) >
			(is_run ? MGPU_PROBE_RUN_CROWD : MGPU_PROBE_NEAR_CROWD))
			failed |= MGPU_PROBE_CROWDED;
	}
	return failed;
}

#endif							/* MGPU_SORT_PROBE_SAMPLES_CUH */

/*
 * sort/radix_count.cuh
 *		Radix sort: all digits of all keys counted in one read.
 *
 * The CTAs that fit the device share the keys, count in shared memory, and add their counts up in
 * device memory.  The last one to do so finds where each digit begins.  Lanes count in copies, to
 * avoid bank conflicts:
 *
 *	 counts[digit][value][copy]		copy = lane % copies
 *
 * A launch of its own for the begins was rejected: 2 us, 1 % of a sort of 10 million keys.
 */
#ifndef MGPU_SORT_RADIX_COUNT_CUH
#define MGPU_SORT_RADIX_COUNT_CUH

#include "device/launch.cuh"
#include "sort/radix_digit.cuh"

template <typename Key>
struct mgpu_radix_counts
{
	static constexpr uint32_t words = sizeof(Key) * MGPU_RADIX_DIGITS;
	static constexpr uint32_t copies = MGPU_RADIX_COUNT_BYTES / (words * sizeof(uint32_t));
	static constexpr uint32_t vector_keys = 16 / sizeof(Key);

	uint32_t	counts[words][copies];
	uint32_t	sums[MGPU_RADIX_DIGIT_WARPS];
	bool		is_last;
};

template <typename Key>
static __device__ __forceinline__ void
mgpu_radix_count_key(mgpu_radix_counts<Key> *shared, Key key, uint32_t num_digits)
{
	uint32_t	copy = threadIdx.x % mgpu_radix_counts<Key>::copies;

#pragma unroll
	for (uint32_t digit = 0; digit < sizeof(Key); digit++)
		if (digit < num_digits)
		{
			uint32_t	value = (uint32_t) (key >> (digit * MGPU_RADIX_BITS)) % MGPU_RADIX_DIGITS;

			atomicAdd(&shared->counts[digit * MGPU_RADIX_DIGITS + value][copy], 1u);
		}
}

/* This thread's share of the keys, which are aligned to 16 bytes. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_radix_count_share(mgpu_radix_counts<Key> *shared, const Key *keys, uint32_t num_items, uint32_t num_digits)
{
	constexpr uint32_t vector_keys = mgpu_radix_counts<Key>::vector_keys;
	uint32_t	num_threads = gridDim.x * MGPU_RADIX_COUNT_THREADS;
	uint32_t	number = blockIdx.x * MGPU_RADIX_COUNT_THREADS + threadIdx.x;
	uint32_t	num_vectors = num_items / vector_keys;

	for (uint32_t first = number; first < num_vectors; first += num_threads * MGPU_RADIX_COUNT_VECTORS)
	{
		uint4		vectors[MGPU_RADIX_COUNT_VECTORS];

#pragma unroll
		for (uint32_t v = 0; v < MGPU_RADIX_COUNT_VECTORS; v++)
			if (first + v * num_threads < num_vectors)
				vectors[v] = reinterpret_cast<const uint4 *>(keys)[first + v * num_threads];
#pragma unroll
		for (uint32_t v = 0; v < MGPU_RADIX_COUNT_VECTORS; v++)
			if (first + v * num_threads < num_vectors)
			{
				Key			vector[vector_keys];

				memcpy(vector, &vectors[v], sizeof(vector));
#pragma unroll
				for (uint32_t i = 0; i < vector_keys; i++)
					mgpu_radix_count_key(shared, vector[i], num_digits);
			}
	}
	for (uint32_t item = num_vectors * vector_keys + number; item < num_items; item += num_threads)
		mgpu_radix_count_key(shared, keys[item], num_digits);
}

/* Add this CTA's counts to those of all. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_radix_add_counts(const mgpu_radix_counts<Key> *shared, mgpu_radix_state<Key> *state, uint32_t num_digits)
{
	for (uint32_t word = threadIdx.x; word < num_digits * MGPU_RADIX_DIGITS; word += MGPU_RADIX_COUNT_THREADS)
	{
		uint32_t	count = 0;

#pragma unroll
		for (uint32_t copy = 0; copy < mgpu_radix_counts<Key>::copies; copy++)
			count += shared->counts[word][copy];
		if (count != 0)
			atomicAdd(&state->begins[0][0] + word, count);
	}
}

/*
 * Count all keys, and clear num_words words that the first pass's look-back reads. num_items is at
 * most MGPU_RADIX_MAX_ITEMS, and the grid fits the device.
 */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_RADIX_COUNT_THREADS)
mgpu_radix_count(const Key *keys, uint32_t num_items, uint32_t num_digits, mgpu_radix_state<Key> *state,
				 uint32_t *words, uint32_t num_words)
{
	__shared__ mgpu_radix_counts<Key> shared;
	uint32_t	thread = threadIdx.x;

	for (uint32_t i = thread; i < sizeof(shared.counts) / sizeof(uint32_t); i += MGPU_RADIX_COUNT_THREADS)
		(&shared.counts[0][0])[i] = 0;
	__syncthreads();
	mgpu_await_previous();
	for (uint32_t i = blockIdx.x * MGPU_RADIX_COUNT_THREADS + thread; i < num_words;
		 i += gridDim.x * MGPU_RADIX_COUNT_THREADS)
		words[i] = 0;
	mgpu_radix_count_share(&shared, keys, num_items, num_digits);
	__syncthreads();
	mgpu_radix_add_counts(&shared, state, num_digits);
	__threadfence();
	__syncthreads();
	if (thread == 0)
		shared.is_last = atomicAdd(&state->num_counted, 1u) == gridDim.x - 1;
	__syncthreads();
	if (!shared.is_last)
		return;
	__threadfence();
	for (uint32_t digit = 0; digit < num_digits; digit++)
	{
		uint32_t	count = thread < MGPU_RADIX_DIGITS ? __ldcg(&state->begins[digit][thread]) : 0;
		uint32_t	begin = mgpu_radix_exclusive_sum(count, shared.sums);

		if (thread < MGPU_RADIX_DIGITS)
			state->begins[digit][thread] = begin;
		__syncthreads();
	}
}

#endif							/* MGPU_SORT_RADIX_COUNT_CUH */

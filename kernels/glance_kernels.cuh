/*
 * glance_kernels.cuh
 *		The kernel of a glance.  See glance.cuh.
 */
#ifndef MGPU_GLANCE_KERNELS_CUH
#define MGPU_GLANCE_KERNELS_CUH

#include "device_signal.h"
#include "glance.cuh"
#include "tile_copy.cuh"

/* Words: the whole job's descents and ascents, the bits that its samples differ in, by halves, and all else. */
#define MGPU_GLANCE_WHOLE 0
#define MGPU_GLANCE_BITS 1
#define MGPU_GLANCE_REST 3

/* Bits of the last word: one of the first two alone, or else the rest; from MGPU_GLANCE_RUNS on, one a level. */
#define MGPU_GLANCE_SORTED 1u
#define MGPU_GLANCE_REVERSED 2u
#define MGPU_GLANCE_NEAR 4u
#define MGPU_GLANCE_NARROW 8u
#define MGPU_GLANCE_RUNS 8

/*
 * What CTAs have found on this device.  The first is the last question whose keys
 * were found so, and is never cleared; the others are 0 between two glances.
 */
struct mgpu_glance_findings
{
	uint32_t	disorder;		/* neither ascending nor descending throughout */
	uint32_t	failed;			/* jobs that did, by kind: a bit a level, MGPU_GLANCE_FAR, MGPU_GLANCE_WIDE */
	unsigned long long sums;	/* of CTAs that arrived, did not ascend, did not descend: 16 bits each */
};

/* Bits of `failed`: near ones; compact tiles of one round. */
#define MGPU_GLANCE_FAR (1u << MGPU_GLANCE_LEVELS)
#define MGPU_GLANCE_WIDE (2u << MGPU_GLANCE_LEVELS)

static __device__ mgpu_glance_findings mgpu_found;

static __device__ __forceinline__ void
mgpu_note(uint32_t &finding, uint32_t question)
{
	*(volatile uint32_t *) &finding = question;
}

static __device__ __forceinline__ bool
mgpu_is_noted(const uint32_t &finding, uint32_t question)
{
	return *(const volatile uint32_t *) &finding == question;
}

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
	key = warps[threadIdx.x % (MGPU_GLANCE_WARPS)];
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = max(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	return key;
}

/* All bits that are set in a word of a warp's threads, in all of these. */
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

/* Keys at even distances over the whole array: descents, ascents, and the bits they differ in. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_glance_at_whole(const Key *keys, uint64_t num_items, uint32_t question, mgpu_signals *signals)
{
	__shared__ uint32_t warps[2][MGPU_GLANCE_WARPS];
	uint64_t	stride = (num_items - 1) / MGPU_GLANCE_THREADS;
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
	low = mgpu_all_bits_of_warp(warps[0][threadIdx.x % MGPU_GLANCE_WARPS]);
	high = mgpu_all_bits_of_warp(warps[1][threadIdx.x % MGPU_GLANCE_WARPS]);
	if (threadIdx.x != 0)
		return;
	signals->words[MGPU_GLANCE_WHOLE] = MGPU_SIGNAL(question, descents << 16 | ascents);
	signals->words[MGPU_GLANCE_BITS] = MGPU_SIGNAL(question, low);
	signals->words[MGPU_GLANCE_BITS + 1] = MGPU_SIGNAL(question, high);
	if (descents > 0 && ascents > 0)
		mgpu_note(mgpu_found.disorder, question);
}

/* One of the other jobs: is the greatest of some keys above the least of others?  The bit of a kind that failed, or 0. */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_do_glance_job(const Key *keys, const mgpu_glance_plan &plan, uint32_t job)
{
	__shared__ Key warps[2][MGPU_GLANCE_WARPS];
	uint32_t	kind = job / MGPU_GLANCE_PLACES;
	uint32_t	place = job % MGPU_GLANCE_PLACES;
	mgpu_glance_sample sample = kind < plan.num_levels ? mgpu_sample_runs(plan, kind, place, threadIdx.x) :
		mgpu_sample_neighbours(plan, place, threadIdx.x);
	Key			key = keys[sample.item];
	Key			greatest = mgpu_greatest_of_cta(key, sample.in_first, warps[0]);
	int			in_order = __syncthreads_and(!(sample.in_second && key < greatest));
	uint32_t	failed = in_order ? 0 : kind < plan.num_levels ? 1u << kind : MGPU_GLANCE_FAR;

	if (kind == 0 && plan.compact_span > 0)
	{
		Key			least = (Key) ~mgpu_greatest_of_cta((Key) ~key, sample.in_first, warps[1]);

		if ((uint64_t) (greatest - least) >= plan.compact_span)
			failed |= MGPU_GLANCE_WIDE;
	}
	return failed;
}

template <typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_load_vector(const Key *keys, uint64_t vector)
{
	uint4		words = reinterpret_cast<const uint4 *>(keys)[vector];

	return *reinterpret_cast<mgpu_key_vector<Key> *>(&words);
}

/* What a glance reads and writes. */
template <typename Key>
struct mgpu_glance_arrays
{
	const Key  *keys;
	Key		   *turned;			/* the other side */
	uint32_t   *turned_indices;	/* NULL without indices */
};

/* The first lane's vector, in all. */
template <typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_first_lane(const mgpu_key_vector<Key> &vector)
{
	mgpu_key_vector<Key> first;

#pragma unroll
	for (int i = 0; i < mgpu_key_vector<Key>::items; i++)
		first.keys[i] = __shfl_sync(0xFFFFFFFFu, vector.keys[i], 0);
	return first;
}

/*
 * The keys behind a lane's vector: those of the lane above, or, for the last lane,
 * what `above` holds.  Behind the last vector of all are the keys over.
 */
template <typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_next_vector(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, const mgpu_key_vector<Key> &vector,
				 const mgpu_key_vector<Key> &above, uint64_t number)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	mgpu_key_vector<Key> next;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		next.keys[i] = __shfl_down_sync(0xFFFFFFFFu, vector.keys[i], 1);
		if (threadIdx.x % 32 == 31)
			next.keys[i] = above.keys[i];
	}
	if (number + 1 == num_items / items)
	{
#pragma unroll
		for (int i = 0; i < items; i++)
			next.keys[i] = arrays.keys[min((number + 1) * items + i, num_items - 1)];
	}
	return next;
}

template <typename Key>
static __device__ __forceinline__ void
mgpu_store_turned(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, uint64_t number,
				  const mgpu_key_vector<Key> &turned)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	target = num_items / items - 1 - number;
	uint32_t	index = (uint32_t) (num_items - 1 - target * items);

	reinterpret_cast<uint4 *>(arrays.turned)[target] = *reinterpret_cast<const uint4 *>(&turned);
	if (arrays.turned_indices == nullptr)
		return;
	if constexpr (items == 4)
		reinterpret_cast<uint4 *>(arrays.turned_indices)[target] = make_uint4(index, index - 1, index - 2, index - 3);
	else
		reinterpret_cast<uint2 *>(arrays.turned_indices)[target] = make_uint2(index, index - 1);
}

/* Are a vector's keys and the next one in this order?  Equal ones ascend; with indices they must not descend. */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_vector_in_order(const mgpu_key_vector<Key> &vector, Key next, bool has_next, bool ascending, bool indexed)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	bool		descends = has_next && next < vector.keys[items - 1];
	bool		ascends = has_next && vector.keys[items - 1] < next;
	bool		equals = has_next && vector.keys[items - 1] == next;

#pragma unroll
	for (int i = 0; i + 1 < items; i++)
	{
		descends |= vector.keys[i + 1] < vector.keys[i];
		ascends |= vector.keys[i] < vector.keys[i + 1];
		equals |= vector.keys[i] == vector.keys[i + 1];
	}
	return ascending ? !descends : !ascends && !(indexed && equals);
}

/* Ask the cache for what a warp reads from this vector on. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_prefetch_share(const Key *keys, uint64_t first, uint64_t num_vectors)
{
	constexpr uint64_t warp_vectors = 32 * MGPU_GLANCE_VECTORS;
	constexpr uint32_t items = mgpu_key_vector<Key>::items;

	if (first < num_vectors)
		mgpu_prefetch_interval(keys + first * items, (uint32_t) min(warp_vectors, num_vectors - first) * items);
}

/*
 * Read a CTA's share of the vectors in one order, and turn it round if that
 * descends.  False as soon as the order ends here, or a disorder is known.
 */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_read_in_order(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, bool ascending, uint32_t question)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	num_vectors = num_items / items;
	constexpr uint64_t warp_vectors = 32 * MGPU_GLANCE_VECTORS;
	const uint64_t stride = (uint64_t) gridDim.x * MGPU_GLANCE_WARPS * warp_vectors;
	uint32_t	over = (uint32_t) (num_items % items);
	uint32_t	lane = threadIdx.x % 32;
	bool		indexed = arrays.turned_indices != nullptr;
	uint32_t	warp = threadIdx.x / 32;
	uint32_t	turn = warp;

	for (uint64_t warp_first = ((uint64_t) blockIdx.x * MGPU_GLANCE_WARPS + warp) * warp_vectors; warp_first < num_vectors;
		 warp_first += stride)
	{
		mgpu_key_vector<Key> vectors[MGPU_GLANCE_VECTORS + 1];
		bool		in_order = true;

		/* all on their way at a time, with what is behind them */
#pragma unroll
		for (int i = 0; i < MGPU_GLANCE_VECTORS; i++)
			vectors[i] = mgpu_load_vector(arrays.keys, min(warp_first + i * 32 + lane, num_vectors - 1));
		vectors[MGPU_GLANCE_VECTORS] = mgpu_load_vector(arrays.keys, min(warp_first + warp_vectors, num_vectors - 1));
		if (lane == 0)
			mgpu_prefetch_share(arrays.keys, warp_first + stride, num_vectors);
		/* one warp a CTA at a time: all of them would wait for that one word */
		if (turn++ % MGPU_GLANCE_WARPS == 0)
			in_order = !mgpu_is_noted(mgpu_found.disorder, question);
#pragma unroll
		for (int i = 0; i < MGPU_GLANCE_VECTORS; i++)
		{
			uint64_t	number = warp_first + i * 32 + lane;
			mgpu_key_vector<Key> above = mgpu_first_lane(vectors[i + 1]);
			mgpu_key_vector<Key> next = mgpu_next_vector(arrays, num_items, vectors[i], above, number);

			if (number >= num_vectors)
				continue;
			in_order &= mgpu_vector_in_order(vectors[i], next.keys[0], number + 1 < num_vectors || over > 0, ascending, indexed);
			if (!ascending)
				mgpu_store_turned(arrays, num_items, number, mgpu_turn_round(vectors[i], next, over));
		}
		if (__any_sync(0xFFFFFFFFu, !in_order))
			return false;
	}
	return true;
}

/* What the vectors leave over: the last keys, and the first ones' places when turned round. */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_read_rest(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, bool ascending)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint32_t	over = (uint32_t) (num_items % items);
	bool		in_order = true;

	for (uint32_t i = 0; i < over; i++)
	{
		uint64_t	item = num_items - over + i;
		Key			key = arrays.keys[item];

		if (i + 1 < over && (ascending ? arrays.keys[item + 1] < key : key < arrays.keys[item + 1] ||
							 (arrays.turned_indices != nullptr && key == arrays.keys[item + 1])))
			in_order = false;
		if (ascending)
			continue;
		arrays.turned[num_items - 1 - i] = arrays.keys[i];
		if (arrays.turned_indices != nullptr)
			arrays.turned_indices[num_items - 1 - i] = i;
	}
	return in_order;
}

/*
 * The last CTA to come tells the host what all have found; one thread of each.
 * Order is known by the sum that it gets, so that nothing more is waited for.
 */
static __device__ __forceinline__ void
mgpu_report_glance(bool ascends, bool descends, uint32_t failed, uint32_t question, mgpu_signals *signals)
{
	unsigned long long found = 1 | (unsigned long long) !ascends << 16 | (unsigned long long) !descends << 32;
	uint32_t	answer;

	if (failed != 0)
	{
		atomicOr(&mgpu_found.failed, failed);
		__threadfence();			/* seen before this CTA arrives */
	}
	found += atomicAdd(&mgpu_found.sums, found);
	if ((found & 0xFFFF) != gridDim.x)
		return;
	answer = (found >> 16 & 0xFFFF) == 0 ? MGPU_GLANCE_SORTED : found >> 32 == 0 ? MGPU_GLANCE_REVERSED : 0;
	if (answer == 0)
	{
		__threadfence();
		failed = *(volatile uint32_t *) &mgpu_found.failed;
		answer = (failed & MGPU_GLANCE_FAR ? 0 : MGPU_GLANCE_NEAR) | (failed & MGPU_GLANCE_WIDE ? 0 : MGPU_GLANCE_NARROW) |
			(~failed & (MGPU_GLANCE_FAR - 1)) << MGPU_GLANCE_RUNS;
	}
	signals->words[MGPU_GLANCE_REST] = MGPU_SIGNAL(question, answer);
	mgpu_found.failed = 0;
	mgpu_found.sums = 0;
}

/*
 * Jobs, and each CTA's share of the keys; every CTA has a vector at least.  Where
 * its first keys are all equal, the ends of the array say which order to look for.
 */
template <typename Key>
static __global__ void
__launch_bounds__(MGPU_GLANCE_THREADS, MGPU_GLANCE_CTAS_PER_SM)
mgpu_glance_at_keys(mgpu_glance_arrays<Key> arrays, mgpu_glance_plan plan, uint32_t question, mgpu_signals *signals)
{
	uint64_t	num_vectors = plan.num_items / mgpu_key_vector<Key>::items;
	uint64_t	number = (uint64_t) blockIdx.x * MGPU_GLANCE_THREADS + threadIdx.x;
	mgpu_key_vector<Key> probe = mgpu_load_vector(arrays.keys, number < num_vectors ? number : num_vectors - 1);
	bool		indexed = arrays.turned_indices != nullptr;
	bool		ascending;
	bool		descending;
	bool		in_order;
	uint32_t	failed = 0;

	if (threadIdx.x % 32 == 0)
		mgpu_prefetch_share(arrays.keys, number / 32 * 32 * MGPU_GLANCE_VECTORS, num_vectors);
	for (uint32_t job = blockIdx.x; job < mgpu_glance_jobs(plan); job += gridDim.x)
	{
		if (job == 0)
			mgpu_glance_at_whole(arrays.keys, plan.num_items, question, signals);
		else
			failed |= mgpu_do_glance_job(arrays.keys, plan, job - 1);
		__syncthreads();			/* before the next job's samples go where this one's are */
	}
	ascending = __syncthreads_and(mgpu_vector_in_order(probe, (Key) 0, false, true, indexed));
	descending = __syncthreads_and(mgpu_vector_in_order(probe, (Key) 0, false, false, indexed));
	in_order = ascending || descending;
	if (ascending && descending)
		ascending = !(arrays.keys[plan.num_items - 1] < arrays.keys[0]);
	if (in_order)
		in_order = mgpu_read_in_order(arrays, plan.num_items, ascending, question);
	if (in_order && blockIdx.x == 0 && threadIdx.x == 0)
		in_order = mgpu_read_rest(arrays, plan.num_items, ascending);
	in_order = __syncthreads_and(in_order);
	if (threadIdx.x != 0)
		return;
	if (!in_order)
		mgpu_note(mgpu_found.disorder, question);
	mgpu_report_glance(in_order && ascending, in_order && !ascending, failed, question, signals);
}

#endif							/* MGPU_GLANCE_KERNELS_CUH */

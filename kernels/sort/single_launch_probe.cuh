/*
 * sort/single_launch_probe.cuh
 *		How a single-launch sort loads its keys, and its probe of their order.
 *
 * Each CTA compares its keys with their neighbours, the last key of the tile before included, and
 * tells the others whether all ascend, or descend, and their range.  If all keys ascend or
 * descend, that order is used; else the range of all keys tells how many digits there are to sort.
 *
 * Rejected: leaving out digits in which all keys agree by their bits, since integers around zero
 * agree in none.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_PROBE_CUH
#define MGPU_SORT_SINGLE_LAUNCH_PROBE_CUH

#include "sort/single_launch_barrier.cuh"

/*
 * Both sides.  Between passes a 4-byte key and its index are one word, the index in the lower half,
 * for which each side has enough memory (sorter.h).
 */
template <typename Key>
struct mgpu_single_launch_arrays
{
	Key		   *keys[2];
	uint32_t   *indices[2];		/* NULL without */

	/* by selection: a parameter array that is indexed would lie in memory */
	__device__ __forceinline__ Key *
	keys_of(int side) const
	{
		return side == 0 ? keys[0] : keys[1];
	}

	__device__ __forceinline__ uint64_t *
	words_of(int side) const
	{
		return reinterpret_cast<uint64_t *>(keys_of(side));
	}

	__device__ __forceinline__ uint32_t *
	indices_of(int side) const
	{
		return side == 0 ? indices[0] : indices[1];
	}
};

/* Are key and index one word between passes? */
template <typename Key, bool indexed>
static constexpr bool mgpu_single_launch_packs = indexed && sizeof(Key) == sizeof(uint32_t);

/* The greatest key, and the complement of the least one: both are maxima. */
template <typename Key>
struct mgpu_single_launch_range
{
	Key			greatest;
	Key			not_least;
};

template <typename Key, bool indexed, class Tuning>
struct mgpu_single_launch_shared
{
	Key			tile[Tuning::tile_items];	/* in the order of the digit */
	uint32_t	indices[indexed ? Tuning::tile_items : 1];
	uint32_t	counts[Tuning::threads / 32][MGPU_RADIX_DIGITS];	/* of each warp; then its next places */
	uint32_t	offsets[MGPU_RADIX_DIGITS]; /* from a place in the tile to one in the array */
	uint32_t	sums[2][MGPU_RADIX_DIGIT_WARPS];
	mgpu_single_launch_range<Key> ranges[2][Tuning::threads / 32];	/* of each warp's keys, and of what it received */
	uint64_t	probe;
};

/* A thread's items: item i is at first + i * 32 in the tile. */
struct mgpu_single_launch_share
{
	uint32_t	begin;			/* of the tile */
	uint32_t	num_items;		/* in the tile */
	uint32_t	first;
	uint32_t	rounds;
};

template <typename Key, uint32_t items>
static __device__ __forceinline__ void
mgpu_single_launch_load(Key (&keys)[items], const Key *in, const mgpu_single_launch_share &share)
{
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i >= share.rounds)
			break;
		keys[i] = (Key) ~(Key) 0;
		if (share.first + i * 32 < share.num_items)
			keys[i] = __ldcg(in + share.begin + share.first + i * 32);
	}
}

/* Load a pass's items from where the pass before has put them. */
template <bool indexed, typename Key, uint32_t items>
static __device__ __forceinline__ void
mgpu_single_launch_load_items(Key (&keys)[items], uint32_t (&indices)[indexed ? items : 1],
							  const mgpu_single_launch_arrays<Key> &arrays,
							  const mgpu_single_launch_share &share, int side)
{
	if constexpr (mgpu_single_launch_packs<Key, indexed>)
	{
		uint64_t	words[items];

		mgpu_single_launch_load(words, arrays.words_of(side), share);
#pragma unroll
		for (uint32_t i = 0; i < items; i++)
		{
			if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i >= share.rounds)
				break;
			keys[i] = (Key) (words[i] >> 32);
			indices[i] = (uint32_t) words[i];
		}
	}
	else
	{
		mgpu_single_launch_load(keys, arrays.keys_of(side), share);
		if constexpr (indexed)
			mgpu_single_launch_load(indices, arrays.indices_of(side), share);
	}
}

/* What a thread, or all threads, found. */
template <typename Key>
struct mgpu_single_launch_findings
{
	bool		ascends;
	bool		descends;
	mgpu_single_launch_range<Key> range;
};

/*
 * Compare each item with its predecessor, which another lane holds.  `before`, in the last lane, is
 * the item before the warp's first.  With indices equal keys must not be reversed.
 */
template <bool indexed, typename Key, uint32_t items>
static __device__ __forceinline__ mgpu_single_launch_findings<Key>
mgpu_single_launch_probe_share(const Key (&keys)[items], Key before, const mgpu_single_launch_share &share)
{
	mgpu_single_launch_findings<Key> found = {true, true, {0, 0}};
	uint32_t	lane = threadIdx.x % 32;

#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		Key			previous;

		if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i >= share.rounds)
			break;
		previous = __shfl_sync(UINT32_MAX, lane == 31 ? before : keys[i], (lane + 31) % 32);
		before = keys[i];
		if (share.first + i * 32 >= share.num_items)
			continue;
		found.range.greatest = max(found.range.greatest, keys[i]);
		found.range.not_least = max(found.range.not_least, (Key) ~keys[i]);
		if (share.begin + share.first + i * 32 == 0)
			continue;
		found.ascends &= !(keys[i] < previous);
		found.descends &= indexed ? keys[i] < previous : !(previous < keys[i]);
	}
	return found;
}

template <typename Key>
static __device__ __forceinline__ Key
mgpu_single_launch_greatest_of_warp(Key key)
{
#if __CUDA_ARCH__ >= 800
	constexpr bool by_shuffles = sizeof(Key) > 4;

	if constexpr (!by_shuffles)
		key = __reduce_max_sync(UINT32_MAX, key);
#else
	constexpr bool by_shuffles = true;
#endif
	if constexpr (by_shuffles)
	{
#pragma unroll
		for (uint32_t distance = 16; distance > 0; distance /= 2)
			key = max(key, __shfl_xor_sync(UINT32_MAX, key, distance));
	}
	return key;
}

/* The range of a warp's ranges, for all its lanes. */
template <typename Key>
static __device__ __forceinline__ mgpu_single_launch_range<Key>
mgpu_single_launch_range_of_warp(const mgpu_single_launch_range<Key> &range)
{
	return {mgpu_single_launch_greatest_of_warp(range.greatest), mgpu_single_launch_greatest_of_warp(range.not_least)};
}

/* The range of the slots that warps have filled, for all lanes that call. */
template <uint32_t warps, typename Key>
static __device__ __forceinline__ mgpu_single_launch_range<Key>
mgpu_single_launch_range_of_slots(const mgpu_single_launch_range<Key> *slots)
{
	mgpu_single_launch_range<Key> range = {0, 0};

	if (threadIdx.x % 32 < warps)
		range = slots[threadIdx.x % 32];
	return mgpu_single_launch_range_of_warp(range);
}

/* The order that all CTAs have found.  Publishes this CTA's range too. */
template <bool indexed, class Tuning, typename Key, uint32_t items>
static __device__ __forceinline__ mgpu_single_launch_findings<Key>
mgpu_single_launch_probe_all(const Key (&keys)[items], Key before, const mgpu_single_launch_share &share,
							 mgpu_single_launch_shared<Key, indexed, Tuning> &shared, mgpu_single_launch_state *state,
							 uint32_t launch)
{
	constexpr uint32_t warps = Tuning::threads / 32;
	mgpu_single_launch_findings<Key> found = mgpu_single_launch_probe_share<indexed>(keys, before, share);

	found.range = mgpu_single_launch_range_of_warp(found.range);
	if (threadIdx.x % 32 == 0)
		shared.ranges[0][threadIdx.x / 32] = found.range;
	/* the launch's number, never 0 here, is used so that every thread has read it before others may change it */
	found.ascends = __syncthreads_and(found.ascends && launch != 0);
	found.descends = __syncthreads_and(found.descends);	/* every warp's range is there too */
	if (threadIdx.x < 32)
	{
		found.range = mgpu_single_launch_range_of_slots<warps>(shared.ranges[0]);
		if (threadIdx.x == 0)
			shared.probe = mgpu_single_launch_tell_all(state, launch, (found.ascends ? 0 : MGPU_SINGLE_LAUNCH_NOT_ASCENDING) |
													   (found.descends ? 0 : MGPU_SINGLE_LAUNCH_NOT_DESCENDING),
													   found.range.greatest,
													   found.range.not_least);
	}
	__syncthreads();
	found.descends = shared.probe < MGPU_SINGLE_LAUNCH_NOT_DESCENDING;
	found.ascends = (shared.probe & (MGPU_SINGLE_LAUNCH_NOT_DESCENDING - MGPU_SINGLE_LAUNCH_NOT_ASCENDING)) == 0;
	return found;
}

/* The range of all keys, if they are not in order. */
template <bool indexed, class Tuning, typename Key>
static __device__ __forceinline__ mgpu_single_launch_range<Key>
mgpu_single_launch_find_range(mgpu_single_launch_shared<Key, indexed, Tuning> &shared,
							  const mgpu_single_launch_state *state, uint32_t launch)
{
	mgpu_single_launch_range<Key> range = {0, 0};

	if (threadIdx.x < gridDim.x)
	{
		uint64_t	greatest;
		uint64_t	not_least;

		mgpu_single_launch_await_range(state, launch, &greatest, &not_least);
		range = {(Key) greatest, (Key) not_least};
	}
	range = mgpu_single_launch_range_of_warp(range);
	if (threadIdx.x % 32 == 0)
		shared.ranges[1][threadIdx.x / 32] = range;
	__syncthreads();
	return mgpu_single_launch_range_of_slots<Tuning::threads / 32>(shared.ranges[1]);
}

/* Keys in order need their indices alone.  Reversed ones are written where they belong. */
template <bool indexed, typename Key, uint32_t items>
static __device__ __forceinline__ void
mgpu_single_launch_use_order(const Key (&keys)[items], const mgpu_single_launch_arrays<Key> &arrays,
							 const mgpu_single_launch_share &share,
							 uint32_t num_items, bool ascends)
{
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		uint32_t	item = share.begin + share.first + i * 32;
		uint32_t	place = ascends ? item : num_items - 1 - item;

		if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i >= share.rounds)
			break;
		if (share.first + i * 32 >= share.num_items)
			continue;
		if (!ascends)
			arrays.keys[0][place] = keys[i];
		if (indexed)
			arrays.indices[0][place] = item;
	}
}

#endif							/* MGPU_SORT_SINGLE_LAUNCH_PROBE_CUH */

/*
 * sort/probe_read.cuh
 *		How the sortedness probe reads keys in one order, and reverses those that descend.
 *
 * A warp takes rounds of some vectors a lane and compares each key with the next one, which the
 * lane above holds.  Instructions between two loads are time in which memory waits, so rounds
 * before the last vector do not check for the array's end, and where vectors hold all keys
 * (`even`) one word of a neighbour is enough.  Where keys are reversed, two vectors a lane are
 * better than four: reads and writes alternate more often.
 *
 * Vectors are reversed one by one.  If the count is no multiple of a vector, a vector of the result
 * takes keys of two neighbours:
 *
 *	 keys		0 1 2 3 | 4 5 6 7 | 8 9			10 keys, 2 over
 *	 result		9 8 7 6 | 5 4 3 2 | 1 0
 *
 * Rejected: more CTAs than are resident, each with a stretch of its own, since later ones begin
 * with three memory latencies.
 */
#ifndef MGPU_SORT_PROBE_READ_CUH
#define MGPU_SORT_PROBE_READ_CUH

#include "device/tile_copy.cuh"

#define MGPU_PROBE_THREADS 512
#define MGPU_PROBE_WARPS (MGPU_PROBE_THREADS / 32)
#define MGPU_PROBE_CTAS_PER_SM 2

/* Vectors that a lane loads at a time: where keys ascend, and where they are reversed. */
#define MGPU_PROBE_VECTORS 4
#define MGPU_PROBE_REVERSED_VECTORS 2

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

/* Disorder, for all CTAs to see. */
static __device__ __forceinline__ void
mgpu_record_disorder(uint32_t &disorder, uint32_t question)
{
	*(volatile uint32_t *) &disorder = question;
}

static __device__ __forceinline__ bool
mgpu_is_recorded(const uint32_t &disorder, uint32_t question)
{
	return *(const volatile uint32_t *) &disorder == question;
}

/* What the probe reads and writes. */
template <typename Key>
struct mgpu_probe_arrays
{
	const Key  *keys;
	Key		   *reversed;		/* the other side */
	uint32_t   *reversed_indices;	/* NULL without indices */
};

template <typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_load_vector(const Key *keys, uint64_t vector)
{
	uint4		words = reinterpret_cast<const uint4 *>(keys)[vector];

	return *reinterpret_cast<mgpu_key_vector<Key> *>(&words);
}

/* Prefetch vectors that a warp will read. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_prefetch_round(const Key *keys, uint64_t first, uint32_t most_vectors, uint64_t num_vectors)
{
	constexpr uint32_t items = mgpu_key_vector<Key>::items;

	if (first < num_vectors)
		mgpu_prefetch_interval(keys + first * items, (uint32_t) min((uint64_t) most_vectors, num_vectors - first) * items);
}

/* Equal keys ascend; with indices they must not descend. */
template <bool ascending, bool indexed, typename Key>
static __device__ __forceinline__ bool
mgpu_keys_in_order(Key key, Key next)
{
	if constexpr (ascending)
		return !(next < key);
	else
		return indexed ? next < key : !(key < next);
}

template <bool ascending, bool indexed, typename Key>
static __device__ __forceinline__ bool
mgpu_vector_in_order(const mgpu_key_vector<Key> &vector)
{
	bool		in_order = true;

#pragma unroll
	for (int i = 0; i + 1 < mgpu_key_vector<Key>::items; i++)
		in_order &= mgpu_keys_in_order<ascending, indexed>(vector.keys[i], vector.keys[i + 1]);
	return in_order;
}

/*
 * The first num_keys keys behind a lane's vector: those of the lane above, or for the last lane
 * those of `after`, which the first lane holds.
 */
template <int num_keys, typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_vector_behind(const mgpu_key_vector<Key> &vector, const mgpu_key_vector<Key> &after)
{
	uint32_t	lane = threadIdx.x % 32;
	mgpu_key_vector<Key> behind = vector;

#pragma unroll
	for (int i = 0; i < num_keys; i++)
		behind.keys[i] = __shfl_sync(MGPU_WHOLE_WARP, lane == 0 ? after.keys[i] : vector.keys[i], (lane + 1) % 32);
	return behind;
}

/* target: where a reversed vector goes; index: of its first key. */
template <bool indexed, typename Key>
static __device__ __forceinline__ void
mgpu_store_reversed(const mgpu_probe_arrays<Key> &arrays, uint64_t target, uint32_t index,
					const mgpu_key_vector<Key> &reversed)
{
	reinterpret_cast<uint4 *>(arrays.reversed)[target] = *reinterpret_cast<const uint4 *>(&reversed);
	if constexpr (indexed && mgpu_key_vector<Key>::items == 4)
		reinterpret_cast<uint4 *>(arrays.reversed_indices)[target] = make_uint4(index, index - 1, index - 2, index - 3);
	else if constexpr (indexed)
		reinterpret_cast<uint2 *>(arrays.reversed_indices)[target] = make_uint2(index, index - 1);
}

/*
 * One round from this vector on. whole: the vector behind the round exists too.  Else lanes check
 * each vector, and behind the last one are the keys over.
 */
template <bool whole, bool ascending, bool indexed, bool even, int lane_vectors, typename Key>
static __device__ __forceinline__ bool
mgpu_read_round(const mgpu_probe_arrays<Key> &arrays, uint64_t num_items, uint64_t num_vectors, uint64_t warp_first)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	constexpr int num_behind = even || (ascending && whole) ? 1 : items;
	uint32_t	over = even ? 0 : (uint32_t) (num_items % items);
	uint64_t	first = warp_first + threadIdx.x % 32;
	mgpu_key_vector<Key> vectors[lane_vectors + 1];
	bool		in_order = true;

	/* all loads under way together, with the key behind */
#pragma unroll
	for (int i = 0; i < lane_vectors; i++)
		vectors[i] = mgpu_load_vector(arrays.keys, whole ? first + i * 32 : min(first + i * 32, num_vectors - 1));
	if constexpr (whole && num_behind == 1)
		vectors[lane_vectors].keys[0] = arrays.keys[(warp_first + lane_vectors * 32) * items];
	else
		vectors[lane_vectors] = mgpu_load_vector(arrays.keys, min(warp_first + lane_vectors * 32, num_vectors - 1));
#pragma unroll
	for (int i = 0; i < lane_vectors; i++)
	{
		uint64_t	number = first + i * 32;
		mgpu_key_vector<Key> behind = mgpu_vector_behind<num_behind>(vectors[i], vectors[i + 1]);

		if constexpr (!whole)
		{
			if (number >= num_vectors)
				continue;
			if (number + 1 == num_vectors)
			{
#pragma unroll
				for (int k = 0; k < items; k++)
					behind.keys[k] = arrays.keys[min((number + 1) * items + k, num_items - 1)];
			}
		}
		in_order &= mgpu_vector_in_order<ascending, indexed>(vectors[i]);
		if (whole || number + 1 < num_vectors || over > 0)
			in_order &= mgpu_keys_in_order<ascending, indexed>(vectors[i].keys[items - 1], behind.keys[0]);
		if constexpr (!ascending)
			mgpu_store_reversed<indexed>(arrays, num_vectors - 1 - number, (uint32_t) number * items + items - 1 + over,
										 mgpu_reverse_vector(vectors[i], behind, over));
	}
	return in_order;
}

/*
 * Read a CTA's share of the vectors in one order, and reverse it if that descends.  False as soon
 * as the order ends here, or disorder is known.
 */
template <bool ascending, bool indexed, bool even, typename Key>
static __device__ __forceinline__ bool
mgpu_read_in_order(const mgpu_probe_arrays<Key> &arrays, uint64_t num_items, const uint32_t &disorder, uint32_t question)
{
	constexpr int lane_vectors = ascending ? MGPU_PROBE_VECTORS : MGPU_PROBE_REVERSED_VECTORS;
	constexpr uint32_t round = 32 * lane_vectors;
	const uint64_t num_vectors = num_items / mgpu_key_vector<Key>::items;
	const uint64_t stride = (uint64_t) gridDim.x * MGPU_PROBE_WARPS * round;
	uint32_t	turn = threadIdx.x / 32;

	for (uint64_t first = ((uint64_t) blockIdx.x * MGPU_PROBE_WARPS + turn) * round; first < num_vectors; first += stride)
	{
		bool		in_order = true;

		if (threadIdx.x % 32 == 0)
			mgpu_prefetch_round(arrays.keys, first + stride, round, num_vectors);
		/* one warp a CTA at a time: else all would wait for that word */
		if (turn++ % MGPU_PROBE_WARPS == 0)
			in_order = !mgpu_is_recorded(disorder, question);
		if (first + round < num_vectors)
			in_order &= mgpu_read_round<true, ascending, indexed, even, lane_vectors>(arrays, num_items, num_vectors, first);
		else
			in_order &= mgpu_read_round<false, ascending, indexed, even, lane_vectors>(arrays, num_items, num_vectors, first);
		if (__any_sync(MGPU_WHOLE_WARP, !in_order))
			return false;
	}
	return true;
}

/* The keys that vectors leave over: the last keys, or the first ones of the reversed result. */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_read_rest(const mgpu_probe_arrays<Key> &arrays, uint64_t num_items, bool ascending)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint32_t	over = (uint32_t) (num_items % items);
	bool		in_order = true;

	for (uint32_t i = 0; i < over; i++)
	{
		uint64_t	item = num_items - over + i;
		Key			key = arrays.keys[item];

		if (i + 1 < over && (ascending ? arrays.keys[item + 1] < key : key < arrays.keys[item + 1] ||
							 (arrays.reversed_indices != nullptr && key == arrays.keys[item + 1])))
			in_order = false;
		if (ascending)
			continue;
		arrays.reversed[num_items - 1 - i] = arrays.keys[i];
		if (arrays.reversed_indices != nullptr)
			arrays.reversed_indices[num_items - 1 - i] = i;
	}
	return in_order;
}

#endif							/* MGPU_SORT_PROBE_READ_CUH */

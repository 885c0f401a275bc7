/*
 * segmented_kernels.cuh
 *		The kernels of the segmented sort and the locality sort.
 *
 *	 begin		counters to zero; a look at whether the array is in reverse
 *	 sort		every sort tile in shared memory (segmented_cta.cuh)
 *	 a pass:
 *	 plan		a warp a tile: its pair's active range, the tile's split, its work
 *	 merge		CTAs stay and take the work from the pass's list
 *	 and last:
 *	 collect	tiles on side 1 to side 0
 *	 unpack		keys with indices to two arrays
 *
 * The list of work is made on the device, so the host neither waits nor knows;
 * a pass in which nothing is active is two launches that end at once.  Merging in
 * the planning kernel was rejected: a tile's splits need the whole range.
 *
 * Keys are codes, or codes with the item's index in the low 32 bits, which makes
 * all keys different and every merge stable.
 */
#ifndef MGPU_SEGMENTED_KERNELS_CUH
#define MGPU_SEGMENTED_KERNELS_CUH

#include "merge_kernels.cuh"
#include "segmented.h"
#include "segmented_cta.cuh"
#include "segmented_pass.cuh"
#include "segmented_tuning.cuh"

/* At the start of the temporary memory. */
struct mgpu_segmented_header
{
	uint32_t	num_work[MGPU_MAX_PASSES];
	uint32_t	reversed;		/* the array is read from its end */
};

/* ------------------------------------------------------------------- begin */

/* One CTA of MGPU_SEGMENTED_SAMPLES threads. */
template <typename Stored>
__global__ void
__launch_bounds__(MGPU_SEGMENTED_SAMPLES)
mgpu_begin_segments(const Stored *keys, uint64_t num_items, bool look, uint32_t num_tiles, uint32_t num_passes,
					mgpu_segmented_header *header, mgpu_segmented_stats *stats)
{
	uint32_t	thread = threadIdx.x;
	uint64_t	stride = (num_items - 1) / MGPU_SEGMENTED_SAMPLES;
	bool		descends = look && keys[(thread + 1) * stride] < keys[thread * stride];
	int			descents = __syncthreads_count(descends);

	if (thread < MGPU_MAX_PASSES)
	{
		header->num_work[thread] = 0;
		stats->passes[thread].merge_tiles = 0;
		stats->passes[thread].copy_tiles = 0;
	}
	if (thread == 0)
	{
		header->reversed = descents >= MGPU_SEGMENTED_REVERSED_SAMPLES;
		stats->num_tiles = num_tiles;
		stats->num_passes = num_passes;
	}
}

/* -------------------------------------------------------------- block sort */

/* Where the keys are: as they lie, or to be widened by their index. */
template <typename Stored, typename Key>
struct mgpu_segment_source
{
	const Stored *keys;
	uint64_t	num_items;

	MGPU_MEMBER Key
	load(uint64_t item, bool reversed) const
	{
		uint64_t	from = reversed ? num_items - 1 - item : item;

		if constexpr (sizeof(Stored) == sizeof(Key))
			return keys[from];
		else
			return (Key) keys[from] << 32 | (uint32_t) from;
	}
};

/* Words of shared memory behind a sort tile: its heads, and two words a warp. */
template <class Tuning>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_sort_segments_words()
{
	return mgpu_head_words(Tuning::sort_tile_items) + 64;
}

template <class Tuning, typename Key>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_sort_segments_bytes()
{
	return sizeof(Key) * mgpu_tile_capacity<Key>(Tuning::sort_tile_items) +
		sizeof(uint32_t) * mgpu_sort_segments_words<Tuning>();
}

/* Set the bits of the heads in a tile that begins at `begin`. */
template <int threads>
static __device__ __forceinline__ void
mgpu_load_heads(uint32_t *head_words, const uint32_t *heads, uint32_t num_heads, uint32_t begin, uint32_t thread)
{
	for (uint32_t i = thread; i < num_heads; i += threads)
	{
		uint32_t	slot = heads[i] - begin;

		atomicOr(head_words + slot / 32, 1u << slot % 32);
	}
}

/* Start to load a tile and its padding; done after mgpu_wait_copies and a barrier. */
template <class Tuning, typename Key, class Source>
static __device__ __forceinline__ void
mgpu_load_sort_tile(Key *tile, const Source &source, uint64_t begin, uint32_t count, bool reversed, uint32_t thread)
{
	constexpr int threads = Tuning::sort_threads;

	if constexpr (sizeof(*source.keys) == sizeof(Key))
	{
		if (!reversed)
		{
			mgpu_load_interval<threads>(tile, source.keys + begin, count, thread);
			for (uint32_t item = count + thread; item < Tuning::sort_tile_items; item += threads)
				tile[item] = mgpu_largest_key<Key>();
			return;
		}
	}
#pragma unroll 8
	for (int i = 0; i < Tuning::items_per_thread; i++)
	{
		uint32_t	item = thread + i * threads;

		tile[item] = item < count ? source.load(begin + item, reversed) : mgpu_largest_key<Key>();
	}
}

/*
 * Sort every tile's segments from source to side 0, or to side 1 if the array is
 * read from its end in place.  What is in order in its place is not written.
 */
template <class Tuning, typename Key, class Source>
__global__ void
__launch_bounds__(Tuning::sort_threads, Tuning::resident_threads / Tuning::sort_threads)
mgpu_sort_segments(Source source, mgpu_segment_heads segments, const mgpu_segmented_header *header,
				   Key *side0, Key *side1, uint8_t *sides)
{
	constexpr int threads = Tuning::sort_threads;
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t tile_items = Tuning::sort_tile_items;
	constexpr bool in_place = sizeof(*source.keys) == sizeof(Key);
	Key		   *tile = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t   *head_words = reinterpret_cast<uint32_t *>(tile + mgpu_tile_capacity<Key>(tile_items));
	uint32_t   *warp_heads = head_words + mgpu_head_words(tile_items);
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * tile_items;
	uint32_t	count = (uint32_t) min((uint64_t) tile_items, source.num_items - begin);
	bool		segmented = segments.heads != nullptr;
	bool		reversed = !segmented && header->reversed != 0;
	uint32_t	first_head = segmented ? segments.tile_heads[blockIdx.x] : 0;
	uint32_t	num_heads = segmented ? segments.tile_heads[blockIdx.x + 1] - first_head : 0;
	uint32_t	heads = thread == 0;
	Key			keys[items];

	if (thread < Tuning::sort_tiles)
		sides[blockIdx.x * Tuning::sort_tiles + thread] = in_place && reversed;
	mgpu_load_sort_tile<Tuning>(tile, source, begin, count, reversed, thread);
	if (num_heads > 0 && num_heads < count)
	{
		for (uint32_t word = thread; word < mgpu_head_words(tile_items); word += threads)
			head_words[word] = 0;
		__syncthreads();			/* the words are clear */
		mgpu_load_heads<threads>(head_words, segments.heads + first_head, num_heads, (uint32_t) begin, thread);
	}
	mgpu_wait_copies();
	__syncthreads();				/* tile and heads are loaded */
	if (num_heads == count)
		heads = mgpu_all_items<items>();	/* a segment an item: 32 lanes would wait for each word */
	else if (num_heads > 0)
		heads |= mgpu_thread_heads<items>(head_words, thread);
	mgpu_load_forwards(keys, tile, thread * items);
	if (__syncthreads_or(mgpu_has_descent(keys, heads, tile, thread)))
	{
		if (num_heads > 0)
			mgpu_cta_sort_segments<threads>(keys, tile, heads, warp_heads, thread);
		else
		{
			mgpu_cta_sort<threads>(keys, tile, thread);
			mgpu_store_forwards(keys, tile, thread * items);
			__syncthreads();		/* the sorted tile is whole */
		}
	}
	else if (in_place && !reversed)
		return;
	mgpu_store_interval<threads>((in_place && reversed ? side1 : side0) + begin, tile, count, thread);
}

/* -------------------------------------------------------------------- plan */

/* Narrow a range by both searches; all lanes of a warp get the same. */
template <class Keys>
static __device__ __forceinline__ void
mgpu_narrow_range(const Keys &keys, mgpu_active_range &range, uint32_t lane)
{
	mgpu_narrow_search<Keys> search = {keys, range};
	uint32_t	which = lane / 16;
	uint64_t	low;
	uint64_t	high;

	search.bounds(which, low, high);
	while (__any_sync(MGPU_WHOLE_WARP, low < high))
	{
		bool		before = low < high && search.before(which, mgpu_group_probe<16>(low, high, lane % 16));
		uint32_t	votes = __ballot_sync(MGPU_WHOLE_WARP, before) >> (16 * which) & 0xFFFF;

		if (low < high)
			mgpu_group_narrow<16>(low, high, __popc(votes));
	}
	range.begin = (uint32_t) __shfl_sync(MGPU_WHOLE_WARP, low, 0);
	range.end = (uint32_t) __shfl_sync(MGPU_WHOLE_WARP, low, 16);
}

template <class Keys>
static __device__ __forceinline__ uint32_t
mgpu_find_range_split(const Keys &keys, const mgpu_active_range &range, uint32_t diagonal, uint32_t lane)
{
	uint64_t	low;
	uint64_t	high;

	mgpu_range_split_bounds(range, diagonal, low, high);
	while (low < high)
	{
		uint32_t	probe = (uint32_t) mgpu_split_probe(low, high, lane);
		uint32_t	before = __ballot_sync(MGPU_WHOLE_WARP, mgpu_range_split_test(keys, range, diagonal, probe));

		mgpu_split_narrow(low, high, __popc(before));
	}
	return (uint32_t) low;
}

/* Everything a pass must know about its tiles, one warp a tile. */
template <class Tiles, typename Key>
__global__ void
__launch_bounds__(MGPU_SEGMENTED_PLAN_THREADS)
mgpu_plan_segments(mgpu_segment_pass pass, mgpu_sided_keys<Tiles::tile_items, Key> keys, uint8_t *next_sides,
				   uint32_t *splits, mgpu_segment_work *work, uint32_t *num_work, mgpu_pass_stats *stats)
{
	constexpr uint32_t tile_items = Tiles::tile_items;
	__shared__ uint32_t cta_work;
	__shared__ uint32_t cta_first;
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	tile = blockIdx.x * (MGPU_SEGMENTED_PLAN_THREADS / 32) + threadIdx.x / 32;
	mgpu_active_range range = {0, 0, 0};
	bool		touched = false;
	bool		in_place = false;
	bool		has_work = false;
	uint32_t	place = 0;
	int			touched_tiles;

	if (threadIdx.x == 0)
		cta_work = 0;
	__syncthreads();				/* the count is clear */
	if (tile < pass.num_tiles)
	{
		range = mgpu_find_segment_range<tile_items>(pass, tile);
		if (mgpu_touches_range<tile_items>(range, tile) && !mgpu_range_in_order(keys, range))
		{
			mgpu_narrow_range(keys, range, lane);
			touched = mgpu_touches_range<tile_items>(range, tile);
			in_place = mgpu_fits_one_tile<tile_items>(range);
		}
		if (touched && !in_place)
		{
			uint32_t	split = mgpu_find_range_split(keys, range, mgpu_tile_diagonal<tile_items>(range, tile), lane);

			if (lane == 0)
				splits[tile] = split;
		}
		has_work = lane == 0 && touched && (!in_place || tile == range.begin / tile_items);
		if (lane == 0)
			next_sides[tile] = keys.sides[tile] ^ (touched && !in_place);
	}
	if (has_work)
		place = atomicAdd(&cta_work, 1);
	touched_tiles = __syncthreads_count(lane == 0 && touched);
	if (threadIdx.x == 0 && touched_tiles > 0)
	{
		cta_first = atomicAdd(num_work, cta_work);
		atomicAdd(reinterpret_cast<unsigned long long *>(&stats->merge_tiles), (unsigned long long) touched_tiles);
	}
	__syncthreads();				/* the CTA's part of the list is known */
	if (has_work)
		work[cta_first + place] = {tile, range};
}

/* ------------------------------------------------------------------- merge */

/* Start to load an interval of at most a tile, which two tiles may hold. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_load_sided(Key *shared, const mgpu_sided_keys<Tiles::tile_items, Key> &keys, uint32_t begin, uint32_t num_items,
				uint32_t thread)
{
	uint32_t	tile = begin / Tiles::tile_items;
	uint32_t	left = Tiles::tile_items - begin % Tiles::tile_items;
	uint32_t	first_items = min(num_items, left);

	if (num_items > 0)
		mgpu_load_interval<Tiles::merge_threads>(shared, keys.of_tile(tile) + begin, first_items, thread);
	if (num_items > left)
		mgpu_load_interval<Tiles::merge_threads>(shared + left, keys.of_tile(tile + 1) + begin + left,
												  num_items - left, thread);
}

/* Copy an interval whose source and destination have the same phase. */
template <int threads, typename Item>
static __device__ __forceinline__ void
mgpu_copy_interval(Item *to, const Item *from, uint32_t num_items, uint32_t thread)
{
	mgpu_interval_parts parts = mgpu_split_interval(from, num_items);
	uint4	   *to_vectors = reinterpret_cast<uint4 *>(to + parts.head_items);
	const uint4 *from_vectors = reinterpret_cast<const uint4 *>(from + parts.head_items);

	if (thread < parts.head_items)
		to[thread] = from[thread];
	if (thread < parts.tail_items)
		to[num_items - 1 - thread] = from[num_items - 1 - thread];
#pragma unroll 4
	for (uint32_t vector = thread; vector < parts.num_vectors; vector += threads)
		to_vectors[vector] = from_vectors[vector];
}

/* Write a merged range back to where its two lists were. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_store_in_place(const mgpu_segment_work &work, const Key *tile, const uint8_t *sides, Key *side0, Key *side1,
					uint32_t thread)
{
	const mgpu_active_range &range = work.range;
	uint32_t	a_items = range.middle - range.begin;
	Key		   *a_side = sides[work.tile] != 0 ? side1 : side0;
	Key		   *b_side = sides[work.tile + 1] != 0 ? side1 : side0;

	mgpu_store_interval<Tiles::merge_threads>(a_side + range.begin, tile, a_items, thread);
	mgpu_store_interval<Tiles::merge_threads>(b_side + range.middle, tile + a_items, range.end - range.middle, thread);
}

/* Write a tile's part of a range to its other side, with what lies around the range. */
template <class Tiles, typename Key>
static __device__ __forceinline__ void
mgpu_store_aside(const mgpu_segment_work &work, const mgpu_segment_inputs &inputs, const Key *tile, uint64_t num_items,
				 const uint8_t *sides, Key *side0, Key *side1, uint32_t thread)
{
	constexpr int threads = Tiles::merge_threads;
	uint32_t	count = inputs.a_items + inputs.b_items;
	uint64_t	begin = (uint64_t) work.tile * Tiles::tile_items;
	uint64_t	end = min(begin + Tiles::tile_items, num_items);
	uint64_t	out_end = (uint64_t) inputs.out_begin + count;
	bool		on_side1 = sides[work.tile] != 0;
	const Key  *from = on_side1 ? side1 : side0;
	Key		   *to = on_side1 ? side0 : side1;

	mgpu_store_interval<threads>(to + inputs.out_begin, tile, count, thread);
	if (inputs.out_begin > begin)
		mgpu_copy_interval<threads>(to + begin, from + begin, (uint32_t) (inputs.out_begin - begin), thread);
	if (out_end < end)
		mgpu_copy_interval<threads>(to + out_end, from + out_end, (uint32_t) (end - out_end), thread);
}

template <class Tiles, typename Key>
__global__ void
__launch_bounds__(Tiles::merge_threads, Tiles::resident_threads / Tiles::merge_threads)
mgpu_merge_segments(uint64_t num_items, Key *side0, Key *side1, const uint8_t *sides, const uint32_t *splits,
					const mgpu_segment_work *works, const uint32_t *num_work)
{
	constexpr int items = Tiles::items_per_thread;
	constexpr uint32_t tile_items = Tiles::tile_items;
	mgpu_sided_keys<tile_items, Key> keys = {side0, side1, sides};
	Key		   *shared = reinterpret_cast<Key *>(mgpu_shared);
	uint32_t	thread = threadIdx.x;
	uint32_t	count = *num_work;

	for (uint32_t item = blockIdx.x; item < count; item += gridDim.x)
	{
		mgpu_segment_work work = works[item];
		mgpu_segment_inputs inputs = mgpu_find_segment_inputs<tile_items>(work, splits);
		uint32_t	a_slot = mgpu_phase(side0 + inputs.a_begin);
		uint32_t	b_slot = mgpu_slot_in_phase(a_slot + inputs.a_items + items, side0 + inputs.b_begin);
		Key		   *merged_tile;
		Key			merged[items];

		mgpu_load_sided<Tiles>(shared + a_slot, keys, inputs.a_begin, inputs.a_items, thread);
		mgpu_load_sided<Tiles>(shared + b_slot, keys, inputs.b_begin, inputs.b_items, thread);
		mgpu_store_guard<items>(shared, a_slot + inputs.a_items, thread);
		mgpu_store_guard<items>(shared, b_slot + inputs.b_items, thread);
		mgpu_wait_copies();
		__syncthreads();			/* inputs and guards are in place */
		mgpu_merge_guarded(merged, shared, a_slot, inputs.a_items, b_slot, inputs.b_items, thread * items);
		__syncthreads();			/* inputs are read */
		work = works[item];			/* again, to keep fewer registers over the merge */
		inputs = mgpu_find_segment_inputs<tile_items>(work, splits);
		merged_tile = shared + mgpu_phase(side0 + inputs.out_begin);
		if (thread * items < inputs.a_items + inputs.b_items)
			mgpu_store_forwards(merged, merged_tile, thread * items);
		__syncthreads();			/* the merged tile is whole */
		if (mgpu_fits_one_tile<tile_items>(work.range))
			mgpu_store_in_place<Tiles>(work, merged_tile, sides, side0, side1, thread);
		else
			mgpu_store_aside<Tiles>(work, inputs, merged_tile, num_items, sides, side0, side1, thread);
		__syncthreads();			/* shared memory is free */
	}
}

/* --------------------------------------------------------- collect, unpack */

/* Copy the tiles on side 1 to side 0. */
template <class Tiles, typename Key>
__global__ void
__launch_bounds__(MGPU_SEGMENTED_COLLECT_THREADS)
mgpu_collect_tiles(uint64_t num_items, uint32_t num_tiles, Key *side0, const Key *side1, const uint8_t *sides,
				   mgpu_pass_stats *stats)
{
	uint32_t	first = blockIdx.x * MGPU_SEGMENTED_COLLECT_TILES;
	uint32_t	mine = first + threadIdx.x;
	bool		away = threadIdx.x < MGPU_SEGMENTED_COLLECT_TILES && mine < num_tiles && sides[mine] != 0;
	int			num_away = __syncthreads_count(away);

	if (num_away == 0)
		return;
	if (threadIdx.x == 0)
		atomicAdd(reinterpret_cast<unsigned long long *>(&stats->copy_tiles), (unsigned long long) num_away);
	for (uint32_t tile = first; tile < min(first + MGPU_SEGMENTED_COLLECT_TILES, num_tiles); tile++)
	{
		uint64_t	begin = (uint64_t) tile * Tiles::tile_items;
		uint32_t	count = (uint32_t) min((uint64_t) Tiles::tile_items, num_items - begin);

		if (sides[tile] != 0)
			mgpu_copy_interval<MGPU_SEGMENTED_COLLECT_THREADS>(side0 + begin, side1 + begin, count, threadIdx.x);
	}
}

/* (key, index) to two arrays; MGPU_MAP_ITEMS items a thread. */
template <typename Stored, typename Key>
__global__ void
__launch_bounds__(MGPU_MAP_THREADS)
mgpu_unpack_segments(const Key *packed, Stored *keys, uint32_t *indices, uint64_t num_items)
{
	uint64_t	begin = (uint64_t) blockIdx.x * (MGPU_MAP_THREADS * MGPU_MAP_ITEMS) + threadIdx.x;

#pragma unroll
	for (int i = 0; i < MGPU_MAP_ITEMS; i++)
	{
		uint64_t	item = begin + i * MGPU_MAP_THREADS;

		if (item < num_items)
		{
			Key			key = packed[item];

			keys[item] = (Stored) (key >> 32);
			indices[item] = (uint32_t) key;
		}
	}
}

#endif							/* MGPU_SEGMENTED_KERNELS_CUH */

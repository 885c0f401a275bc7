/*
 * sort/single_launch_kernels.cuh
 *		The kernel of the single-launch sort: a cooperative radix sort, all of whose keys
 *		are in registers and shared memory.
 *
 *	 probe		each CTA loads its tile and compares neighbours; all wait for the result of
 *				all.  Keys in order stay, reversed ones are written back reversed, and the
 *				others lose the least key, so that keys in a narrow range have few digits
 *	 pass		count a digit, publish the counts, rank in the tile meanwhile, move items by
 *				all CTAs' counts, wait for all, load what has arrived
 *
 * After the probe every key is in registers, so keys may be written where they were read, and the
 * first of an odd number of passes does so.  The result is always where the keys were, as the host
 * knows without waiting.  A pass takes 6 us however few its items, in memory latencies.
 *
 * Rejected: an exchange by sampled splitters, which sorts each tile twice and suffers from
 * frequent keys.  Building blocks are radix_pass.cuh's.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_KERNELS_CUH
#define MGPU_SORT_SINGLE_LAUNCH_KERNELS_CUH

#include "sort/radix_pass.cuh"
#include "sort/single_launch.h"
#include "sort/single_launch_probe.cuh"

/*
 * Turn the warps' counts into first places in the tile, and publish the tile's.
 * Returns where this thread's value begins in the tile.
 */
template <bool indexed, class Tuning, typename Key>
static __device__ __forceinline__ uint32_t
mgpu_single_launch_publish(mgpu_single_launch_shared<Key, indexed, Tuning> &shared, const mgpu_single_launch_plan &plan,
						   mgpu_single_launch_state *state,
						   uint32_t launch, uint32_t digit)
{
	constexpr uint32_t warps = Tuning::threads / 32;
	uint32_t	value = threadIdx.x;
	uint32_t	places[warps];
	uint32_t	sum = 0;
	uint32_t	begin;

	if (value < MGPU_RADIX_DIGITS)
	{
#pragma unroll
		for (uint32_t warp = 0; warp < warps; warp++)
		{
			places[warp] = sum;
			sum += shared.counts[warp][value];
		}
		mgpu_store_strong(&state->rows[blockIdx.x][value],
						  mgpu_single_launch_word(mgpu_single_launch_pass_tag(launch, digit), sum));
		for (uint32_t group = mgpu_single_launch_groups(plan); group > blockIdx.x / MGPU_SINGLE_LAUNCH_GROUP_CTAS; group--)
			atomicAdd(&state->turns[launch % 2].sums[digit][group][value], sum + MGPU_SINGLE_LAUNCH_ONE_CTA);
	}
	begin = mgpu_radix_exclusive_sum(sum, shared.sums[0]);
	if (value < MGPU_RADIX_DIGITS)
	{
#pragma unroll
		for (uint32_t warp = 0; warp < warps; warp++)
			shared.counts[warp][value] = begin + places[warp];
	}
	return begin;
}

/*
 * How many items with this thread's value do the CTAs before this one have, and (*total) all? All
 * words load together, again and again until all are there.
 */
static __device__ __forceinline__ uint32_t
mgpu_single_launch_await_counts(const mgpu_single_launch_state *state, const mgpu_single_launch_plan &plan,
								uint32_t launch, uint32_t digit,
								uint32_t *total)
{
	uint32_t	tag = mgpu_single_launch_pass_tag(launch, digit);
	uint32_t	num_rows = blockIdx.x % MGPU_SINGLE_LAUNCH_GROUP_CTAS;
	uint32_t	group = blockIdx.x / MGPU_SINGLE_LAUNCH_GROUP_CTAS;
	const auto &sums = state->turns[launch % 2].sums[digit];
	const uint64_t *rows = &state->rows[blockIdx.x - num_rows][threadIdx.x];
	uint32_t	before;
	bool		all;

	do
	{
		uint64_t	words[MGPU_SINGLE_LAUNCH_GROUP_CTAS - 1];

		*total = mgpu_load_strong(&sums[mgpu_single_launch_groups(plan)][threadIdx.x]);
		before = mgpu_load_strong(&sums[group][threadIdx.x]);
#pragma unroll
		for (uint32_t i = 0; i < MGPU_SINGLE_LAUNCH_GROUP_CTAS - 1; i++)
			words[i] = i < num_rows ? mgpu_load_strong(rows + i * MGPU_RADIX_DIGITS) : mgpu_single_launch_word(tag, 0);
		all = *total / MGPU_SINGLE_LAUNCH_ONE_CTA == plan.num_ctas &&
			before / MGPU_SINGLE_LAUNCH_ONE_CTA == group * MGPU_SINGLE_LAUNCH_GROUP_CTAS;
		*total %= MGPU_SINGLE_LAUNCH_ONE_CTA;
		before %= MGPU_SINGLE_LAUNCH_ONE_CTA;
#pragma unroll
		for (uint32_t i = 0; i < MGPU_SINGLE_LAUNCH_GROUP_CTAS - 1; i++)
		{
			all &= mgpu_single_launch_is_tagged(words[i], tag);
			before += (uint32_t) words[i];
		}
	}
	while (!all);
	return before;
}

/* Where the tile's values go. */
template <bool indexed, class Tuning, typename Key>
static __device__ __forceinline__ void
mgpu_single_launch_find_offsets(mgpu_single_launch_shared<Key, indexed, Tuning> &shared, const mgpu_single_launch_plan &plan,
								const mgpu_single_launch_state *state, uint32_t launch, uint32_t digit, uint32_t begin)
{
	uint32_t	value = threadIdx.x;
	uint32_t	total = 0;
	uint32_t	before = 0;

	if (value < MGPU_RADIX_DIGITS)
		before = mgpu_single_launch_await_counts(state, plan, launch, digit, &total);
	total = mgpu_radix_exclusive_sum(total, shared.sums[1]);
	if (value < MGPU_RADIX_DIGITS)
		shared.offsets[value] = total + before - begin;
}

/* Put items at their places in the tile, by the warp's next place of each value. */
template <bool indexed, class Tuning, typename Key, uint32_t items>
static __device__ __forceinline__ void
mgpu_single_launch_rank(const Key (&keys)[items], const uint32_t (&indices)[indexed ? items : 1],
						mgpu_single_launch_shared<Key, indexed, Tuning> &shared, const mgpu_single_launch_share &share,
						uint32_t digit)
{
	uint32_t   *counts = shared.counts[threadIdx.x / 32];

#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		uint32_t	value;
		uint32_t	place;

		if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i >= share.rounds)
			break;
		value = mgpu_radix_digit_of(keys[i], digit);
		place = mgpu_radix_take_place(counts, value, mgpu_radix_equals(value), threadIdx.x % 32);
		if (share.first + i * 32 >= share.num_items)
			continue;
		shared.tile[place] = keys[i];
		if constexpr (indexed)
			shared.indices[place] = indices[i];
	}
}

/* Store an item at its place in the array: as one word, or as key and index. */
template <bool indexed, typename Key>
static __device__ __forceinline__ void
mgpu_single_launch_store(const mgpu_single_launch_arrays<Key> &arrays, int side, uint32_t place, Key key,
						 uint32_t index, bool packed)
{
	if (packed)
	{
		arrays.words_of(side)[place] = (uint64_t) key << 32 | index;
		return;
	}
	arrays.keys_of(side)[place] = key;
	if (indexed)
		arrays.indices_of(side)[place] = index;
}

/* Move items from the tile to the array.  The last pass adds the least key again. */
template <bool indexed, class Tuning, typename Key>
static __device__ __forceinline__ void
mgpu_single_launch_move(const mgpu_single_launch_shared<Key, indexed, Tuning> &shared,
						const mgpu_single_launch_arrays<Key> &arrays,
						const mgpu_single_launch_share &share, uint32_t digit, int side, bool is_last, Key least)
{
	bool		packed = mgpu_single_launch_packs<Key, indexed> && !is_last;

#pragma unroll
	for (uint32_t i = 0; i < Tuning::items_per_thread; i++)
	{
		uint32_t	place = i * Tuning::threads + threadIdx.x;
		Key			key;

		if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i * Tuning::threads >= share.num_items)
			break;
		if (place >= share.num_items)
			continue;
		key = shared.tile[place];
		mgpu_single_launch_store<indexed>(arrays, side, shared.offsets[mgpu_radix_digit_of(key, digit)] + place,
										  (Key) (key + (is_last ? least : 0)), indexed ? shared.indices[place] : 0, packed);
	}
}

/* Of one warp, by its lanes. */
static __device__ __forceinline__ void
mgpu_single_launch_clear_counts(uint32_t *counts)
{
#pragma unroll
	for (uint32_t i = 0; i < MGPU_RADIX_DIGITS / 32; i++)
		counts[i * 32 + threadIdx.x % 32] = 0;
	__syncwarp();
}

/* A pass up to where its items have left.  Keys are less the least one; pads are largest. */
template <bool indexed, class Tuning, typename Key, uint32_t items>
static __device__ __forceinline__ void
mgpu_single_launch_pass(const Key (&keys)[items], const uint32_t (&indices)[indexed ? items : 1],
						mgpu_single_launch_shared<Key, indexed, Tuning> &shared, const mgpu_single_launch_arrays<Key> &arrays,
						const mgpu_single_launch_plan &plan, const mgpu_single_launch_share &share,
						mgpu_single_launch_state *state, uint32_t launch,
						uint32_t digit, int side, bool is_last, Key least)
{
	uint32_t   *counts = shared.counts[threadIdx.x / 32];
	uint32_t	begin;

#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		if (i % MGPU_SINGLE_LAUNCH_BATCH == 0 && i >= share.rounds)
			break;
		if (share.first + i * 32 < share.num_items)
			atomicAdd(&counts[mgpu_radix_digit_of(keys[i], digit)], 1u);
	}
	__syncthreads();
	begin = mgpu_single_launch_publish(shared, plan, state, launch, digit);
	__syncthreads();
	mgpu_single_launch_rank<indexed, Tuning>(keys, indices, shared, share, digit);
	mgpu_single_launch_clear_counts(counts);	/* for the next pass */
	mgpu_single_launch_find_offsets(shared, plan, state, launch, digit, begin);
	__syncthreads();
	mgpu_single_launch_move(shared, arrays, share, digit, side, is_last, least);
}

/*
 * Keys in no order: one pass for each digit of (greatest - least).  Each writes to the side that it
 * does not read, except the first of an odd number.
 */
template <bool indexed, class Tuning, typename Key, uint32_t items>
static __device__ __forceinline__ void
mgpu_single_launch_sort_items(Key (&keys)[items], mgpu_single_launch_shared<Key, indexed, Tuning> &shared,
							  const mgpu_single_launch_arrays<Key> &arrays, const mgpu_single_launch_plan &plan,
							  mgpu_single_launch_share share,
							  mgpu_single_launch_state *state, uint32_t launch)
{
	mgpu_single_launch_range<Key> range = mgpu_single_launch_find_range<indexed, Tuning>(shared, state, launch);
	Key			least = (Key) ~range.not_least;
	uint32_t	num_digits = mgpu_single_launch_digits((Key) (range.greatest - least));
	uint32_t	indices[indexed ? items : 1];

#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		keys[i] = share.first + i * 32 < share.num_items ? (Key) (keys[i] - least) : (Key) ~(Key) 0;
		if constexpr (indexed)
			indices[i] = share.begin + share.first + i * 32;
	}
	for (uint32_t digit = 0; digit < num_digits; digit++)
	{
		int			side = (num_digits - 1 - digit) % 2;
		bool		is_last = digit + 1 == num_digits;

		/* what follows from these is computed anew in each pass: kept, it would push out keys */
		asm volatile("" : "+r"(share.begin), "+r"(share.num_items), "+r"(share.first), "+r"(share.rounds), "+l"(state));
		if (digit > 0)
		{
			mgpu_single_launch_sync(state, launch, digit);
			mgpu_single_launch_load_items<indexed>(keys, indices, arrays, share, side ^ 1);
		}
		mgpu_single_launch_pass<indexed, Tuning>(keys, indices, shared, arrays, plan, share, state, launch, digit, side,
												 is_last, least);
	}
}

/* Clear what the next launch must find zero.  This launch does not use it. */
static __device__ __forceinline__ void
mgpu_single_launch_clear_next(mgpu_single_launch_state *state, uint32_t launch)
{
	uint32_t   *words = reinterpret_cast<uint32_t *>(&state->turns[(launch + 1) % 2]);

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < sizeof(mgpu_single_launch_turn) / sizeof(uint32_t);
		 i += gridDim.x * blockDim.x)
		words[i] = 0;
}

/* A cooperative launch of plan.num_ctas CTAs. */
template <typename Key, bool indexed, class Tuning>
__global__ void
__launch_bounds__(Tuning::threads, 1)
mgpu_sort_single_launch(mgpu_single_launch_arrays<Key> arrays, mgpu_single_launch_plan plan,
						mgpu_single_launch_state *state, uint32_t question,
						mgpu_signals *signals)
{
	constexpr uint32_t items = Tuning::items_per_thread;
	static_assert(items % MGPU_SINGLE_LAUNCH_BATCH == 0 && Tuning::threads >= MGPU_SINGLE_LAUNCH_MOST_CTAS,
				  "whole batches, a thread a CTA");
	extern __shared__ __align__(16) unsigned char memory[];
	mgpu_single_launch_shared<Key, indexed, Tuning> &shared =
		*reinterpret_cast<mgpu_single_launch_shared<Key, indexed, Tuning> *>(memory);
	uint32_t	launch = mgpu_load_strong(&state->launch) + 1;	/* a tag of 0 belongs to no launch */
	uint32_t	warp_first = threadIdx.x / 32 * plan.warp_items;
	mgpu_single_launch_share share = {blockIdx.x * plan.cta_items, mgpu_single_launch_tile_items(plan, blockIdx.x),
		warp_first + threadIdx.x % 32, plan.warp_items / 32};
	mgpu_single_launch_findings<Key> found;
	Key			keys[items];
	Key			before = 0;

	mgpu_single_launch_load(keys, arrays.keys[0], share);
	if (threadIdx.x % 32 == 31 && share.begin + warp_first > 0 && warp_first < share.num_items)
		before = __ldcg(arrays.keys[0] + share.begin + warp_first - 1);
	mgpu_single_launch_clear_counts(shared.counts[threadIdx.x / 32]);
	mgpu_single_launch_clear_next(state, launch);
	found = mgpu_single_launch_probe_all<indexed>(keys, before, share, shared, state, launch);
	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		signals->words[MGPU_SINGLE_LAUNCH_ANSWER] = MGPU_SIGNAL(question, found.ascends || found.descends);
		state->launch = launch;	/* all have read it by now */
	}
	if (found.ascends || found.descends)
		mgpu_single_launch_use_order<indexed>(keys, arrays, share, plan.num_items, found.ascends);
	else
		mgpu_single_launch_sort_items<indexed, Tuning>(keys, shared, arrays, plan, share, state, launch);
}

#endif							/* MGPU_SORT_SINGLE_LAUNCH_KERNELS_CUH */

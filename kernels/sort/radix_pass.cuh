/*
 * sort/radix_pass.cuh
 *		Radix sort: one pass, which moves items from side to side by one digit, stably.
 *
 *	 count		each warp counts the digits of its own items
 *	 publish	the tile's count of each digit is published for the tiles behind
 *	 rank		warp by warp, 32 items at a time: lanes with equal digits find each other
 *				and take neighbouring places
 *	 look back	how many of each digit do the tiles before this one have?
 *	 move out	items leave in the order of their digits
 *
 * A pass also clears what the next one looks back at.  It is bound by instructions, some 65 an
 * item, of which 25 find equal digits.  Rejected: the instruction that matches lanes, twice as
 * slow on random digits.
 *
 * Source: Adinets and Merrill, "Onesweep", 2022; Merrill and Garland, "Single-pass Parallel Prefix
 * Scan with Decoupled Look-back", 2016.
 */
#ifndef MGPU_SORT_RADIX_PASS_CUH
#define MGPU_SORT_RADIX_PASS_CUH

#include "device/launch.cuh"
#include "sort/radix_digit.cuh"

/* A tile's word for a digit: its own count, or the sum of it and all tiles before; 0: neither yet. */
#define MGPU_RADIX_TILE_COUNT UINT32_C(0x40000000)
#define MGPU_RADIX_SUM UINT32_C(0x80000000)
#define MGPU_RADIX_VALUE UINT32_C(0x3FFFFFFF)

template <typename Key>
struct mgpu_radix_step
{
	const Key  *keys_in;
	Key		   *keys_out;
	const uint32_t *indices_in; /* not read by a pass that makes indices */
	uint32_t   *indices_out;
	uint32_t	num_items;
	uint32_t	digit;
	const uint32_t *begins;		/* of each value of the digit */
	uint32_t   *num_tiles;		/* taken so far */
	uint32_t   *words;			/* [tile][value]: tiles' words */
	uint32_t   *next_words;		/* ... of the next pass */
};

template <typename Key, class Tuning>
struct mgpu_radix_shared
{
	Key			tile[Tuning::tile_items];	/* in the order of the digit; indices after keys */
	uint32_t	counts[Tuning::threads / 32][MGPU_RADIX_DIGITS];	/* of each warp; then its next places */
	uint32_t	offsets[MGPU_RADIX_DIGITS]; /* from a place in the tile to one in the array */
	uint32_t	sums[MGPU_RADIX_DIGIT_WARPS];
	uint32_t	number;
};

/* What a CTA knows of its tile. */
struct mgpu_radix_tile
{
	uint32_t	number;
	uint32_t	begin;			/* first item */
	uint32_t	num_items;
	uint32_t	first;			/* of this thread's, in the tile; its others follow 32 apart */
};

/*
 * A key's digit, by one instruction.  Computed anew at each use (volatile): digits kept in
 * registers would push out keys.
 */
template <typename Key>
static __device__ __forceinline__ uint32_t
mgpu_radix_digit_of(Key key, uint32_t digit)
{
	uint32_t	word = sizeof(Key) == 4 || digit < 4 ? (uint32_t) key : (uint32_t) ((uint64_t) key >> 32);
	uint32_t	value;

	asm volatile("prmt.b32 %0, %1, 0, %2;" : "=r"(value) : "r"(word), "r"(0x4440 | digit % 4));
	return value;
}

/*
 * Lanes of the warp with the same digit.  Written so that a bit is a predicate, never a number: two
 * instructions a bit and a ballot.
 */
static __device__ __forceinline__ uint32_t
mgpu_radix_equals(uint32_t digit)
{
	uint32_t	equals = UINT32_MAX;

#pragma unroll
	for (uint32_t bit = 0; bit < MGPU_RADIX_BITS; bit++)
		asm("{\n\t.reg .pred is_set;\n\t.reg .b32 lanes;\n\t"
			"and.b32 lanes, %1, %2;\n\tsetp.ne.u32 is_set, lanes, 0;\n\t"
			"vote.sync.ballot.b32 lanes, is_set, 0xffffffff;\n\t"
			"@!is_set not.b32 lanes, lanes;\n\tand.b32 %0, %0, lanes;\n\t}"
			: "+r"(equals) : "r"(digit), "r"(1u << bit));
	return equals;
}

template <typename Key, class Tuning>
static __device__ __forceinline__ mgpu_radix_tile
mgpu_radix_take_tile(const mgpu_radix_step<Key> &step, mgpu_radix_shared<Key, Tuning> &shared)
{
	mgpu_radix_tile tile;

	if (threadIdx.x == 0)
		shared.number = atomicAdd(step.num_tiles, 1u);
	__syncthreads();
	tile.number = shared.number;
	tile.begin = tile.number * Tuning::tile_items;
	tile.num_items = min(Tuning::tile_items, step.num_items - tile.begin);
	tile.first = threadIdx.x / 32 * (32 * Tuning::items_per_thread) + threadIdx.x % 32;
	return tile;
}

/* Behind the last key are largest ones, whose places are behind all others. */
template <uint32_t items, typename Key>
static __device__ __forceinline__ void
mgpu_radix_load(Key (&keys)[items], const Key *in, const mgpu_radix_tile &tile, bool is_whole)
{
	in += tile.begin;
	if (is_whole)
	{
#pragma unroll
		for (uint32_t i = 0; i < items; i++)
			keys[i] = in[tile.first + i * 32];
	}
	else
	{
#pragma unroll
		for (uint32_t i = 0; i < items; i++)
			keys[i] = tile.first + i * 32 < tile.num_items ? in[tile.first + i * 32] : (Key) ~(Key) 0;
	}
}

/*
 * Turn the warps' counts into first places, and publish the tile's.  Returns where this thread's
 * value begins in the tile; *count: how often it occurs.
 */
template <typename Key, class Tuning>
static __device__ __forceinline__ uint32_t
mgpu_radix_sum_counts(const mgpu_radix_step<Key> &step, mgpu_radix_shared<Key, Tuning> &shared,
					  const mgpu_radix_tile &tile, uint32_t *count)
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
		__stcg(&step.words[tile.number * MGPU_RADIX_DIGITS + value],
			   sum | (tile.number == 0 ? MGPU_RADIX_SUM : MGPU_RADIX_TILE_COUNT));
	}
	begin = mgpu_radix_exclusive_sum(sum, shared.sums);
	if (value < MGPU_RADIX_DIGITS)
	{
#pragma unroll
		for (uint32_t warp = 0; warp < warps; warp++)
			shared.counts[warp][value] = begin + places[warp];
	}
	*count = sum;
	return begin;
}

/* Places of a warp's next 32 items. counts are the warp's own, equals is the result of mgpu_radix_equals. */
static __device__ __forceinline__ uint32_t
mgpu_radix_take_place(uint32_t *counts, uint32_t digit, uint32_t equals, uint32_t lane)
{
	uint32_t	place = *(volatile uint32_t *) &counts[digit] + __popc(equals & ((1u << lane) - 1));

	__syncwarp();
	if (equals >> lane == 1)	/* the last of them */
		*(volatile uint32_t *) &counts[digit] = place + 1;
	__syncwarp();
	return place;
}

/* How many items with this thread's value do the tiles before this one hold? */
static __device__ __forceinline__ uint32_t
mgpu_radix_look_back(const uint32_t *words, uint32_t tile)
{
	uint32_t	sum = 0;
	uint32_t	word = 0;

	while (tile > 0 && (word & MGPU_RADIX_SUM) == 0)
	{
		tile--;
		do
			word = *(const volatile uint32_t *) &words[tile * MGPU_RADIX_DIGITS + threadIdx.x];
		while (word == 0);
		sum += word & MGPU_RADIX_VALUE;
	}
	return sum;
}

/* Where the tile's values go. begin, count: from mgpu_radix_sum_counts. */
template <typename Key, class Tuning>
static __device__ __forceinline__ void
mgpu_radix_find_offsets(const mgpu_radix_step<Key> &step, mgpu_radix_shared<Key, Tuning> &shared,
						const mgpu_radix_tile &tile, uint32_t begin, uint32_t count)
{
	uint32_t	value = threadIdx.x;
	uint32_t	before;

	if (value >= MGPU_RADIX_DIGITS)
		return;
	before = mgpu_radix_look_back(step.words, tile.number);
	if (tile.number != 0)
		__stcg(&step.words[tile.number * MGPU_RADIX_DIGITS + value], (before + count) | MGPU_RADIX_SUM);
	step.next_words[tile.number * MGPU_RADIX_DIGITS + value] = 0;
	shared.offsets[value] = step.begins[value] + before - begin;
}

/* Move keys from their places in the tile to those in the array. digits: those of the keys that this thread moved. */
template <uint32_t items, bool is_whole, bool keeps_digits, typename Key, class Tuning>
static __device__ __forceinline__ void
mgpu_radix_move_keys(const mgpu_radix_step<Key> &step, const mgpu_radix_shared<Key, Tuning> &shared,
					 const mgpu_radix_tile &tile, uint8_t *digits)
{
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		uint32_t	place = i * Tuning::threads + threadIdx.x;

		if (is_whole || place < tile.num_items)
		{
			Key			key = shared.tile[place];
			uint32_t	digit = mgpu_radix_digit_of(key, step.digit);

			step.keys_out[shared.offsets[digit] + place] = key;
			if (keeps_digits)
				digits[i] = (uint8_t) digit;
		}
	}
}

/* Move indices through the places that their keys had. */
template <bool makes_indices, uint32_t items, typename Key, class Tuning>
static __device__ __forceinline__ void
mgpu_radix_move_indices(const mgpu_radix_step<Key> &step, mgpu_radix_shared<Key, Tuning> &shared,
						const mgpu_radix_tile &tile, const uint16_t (&places)[items], const uint8_t (&digits)[items],
						const uint32_t (&indices)[items])
{
	uint32_t   *tile_indices = reinterpret_cast<uint32_t *>(shared.tile);

	__syncthreads();
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
		tile_indices[places[i]] = makes_indices ? tile.begin + tile.first + i * 32 : indices[i];
	__syncthreads();
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		uint32_t	place = i * Tuning::threads + threadIdx.x;

		if (place < tile.num_items)
			step.indices_out[shared.offsets[digits[i]] + place] = tile_indices[place];
	}
}

/*
 * One pass, a CTA a tile. indexed: indices go with the keys; makes_indices: an item's index is its
 * place.  All arrays of step have num_items items, the words 256 a tile.
 */
template <typename Key, bool indexed, bool makes_indices, class Tuning>
__global__ void
__launch_bounds__(Tuning::threads, Tuning::ctas)
mgpu_radix_pass(mgpu_radix_step<Key> step)
{
	constexpr uint32_t items = Tuning::items_per_thread;
	extern __shared__ __align__(16) unsigned char memory[];
	mgpu_radix_shared<Key, Tuning> &shared = *reinterpret_cast<mgpu_radix_shared<Key, Tuning> *>(memory);
	uint32_t	lane = threadIdx.x % 32;
	uint32_t   *counts = shared.counts[threadIdx.x / 32];
	mgpu_radix_tile tile;
	bool		is_whole;
	uint32_t	begin;
	uint32_t	count;
	Key			keys[items];
	uint16_t	places[items];

#pragma unroll
	for (uint32_t i = 0; i < MGPU_RADIX_DIGITS / 32; i++)
		counts[i * 32 + lane] = 0;
	mgpu_await_previous();
	tile = mgpu_radix_take_tile(step, shared);
	is_whole = tile.num_items == Tuning::tile_items;
	mgpu_radix_load(keys, step.keys_in, tile, is_whole);
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
		atomicAdd(&counts[mgpu_radix_digit_of(keys[i], step.digit)], 1u);
	__syncthreads();
	begin = mgpu_radix_sum_counts(step, shared, tile, &count);
	__syncthreads();
#pragma unroll
	for (uint32_t i = 0; i < items; i++)
	{
		uint32_t	digit = mgpu_radix_digit_of(keys[i], step.digit);
		uint32_t	place = mgpu_radix_take_place(counts, digit, mgpu_radix_equals(digit), lane);

		shared.tile[place] = keys[i];
		places[i] = (uint16_t) place;
	}
	mgpu_radix_find_offsets(step, shared, tile, begin, count);
	__syncthreads();
	if constexpr (indexed)
	{
		uint32_t	indices[items];
		uint8_t		digits[items];

		if (!makes_indices)
			mgpu_radix_load(indices, step.indices_in, tile, is_whole);
		mgpu_radix_move_keys<items, false, true>(step, shared, tile, digits);
		mgpu_radix_move_indices<makes_indices>(step, shared, tile, places, digits, indices);
	}
	else if (is_whole)
		mgpu_radix_move_keys<items, true, false>(step, shared, tile, nullptr);
	else
		mgpu_radix_move_keys<items, false, false>(step, shared, tile, nullptr);
}

#endif							/* MGPU_SORT_RADIX_PASS_CUH */

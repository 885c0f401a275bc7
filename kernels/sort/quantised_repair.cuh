/*
 * sort/quantised_repair.cuh
 *		The end of a sort of quantised keys whose codes lack low bits (quantised_tiles.cuh).
 *
 * Items go to the output in the order of their codes, and each is compared with its predecessor by
 * whole keys.  If it descends, both have equal bits in their codes; then one thread ranks all
 * items with these bits and writes them again:
 *
 *	 codes		12 13 13 13 15 16 16 ...		and places below
 *	 keys		50 54 52 53 61 65 66
 *	 descents	 0  0  1  0  0  0  0			a bit each
 *	 put again	   [52 53 54]
 *
 * Such groups are small and few: of evenly spread keys one in fifteen shares its 18 bits.  Equal
 * keys are in the order of their places.  If a group is too long, the tile is sorted again in
 * rounds.  Rejected: exchanges between lanes, two more shuffles an item for each item of a group;
 * repair in shared memory before any item is written, since groups read each other's codes.
 */
#ifndef MGPU_SORT_QUANTISED_REPAIR_CUH
#define MGPU_SORT_QUANTISED_REPAIR_CUH

#include "sort/four_way_pass.cuh"
#include "sort/quantised_form.cuh"

/* A tile whose sorted codes lack low bits. */
template <typename Key>
struct mgpu_lossy_tile
{
	const uint32_t *codes;
	const uint8_t *lows;		/* by place, if no more bits are missing; for 4-byte keys alone */
	const Key  *keys;			/* by place */
	uint32_t	count;
	uint32_t	shift;
	Key			base;

	MGPU_MEMBER uint32_t
	digit(uint32_t item) const
	{
		return codes[item] >> mgpu_quantised_tuning::place_bits;
	}

	MGPU_MEMBER Key
	key(uint32_t code) const
	{
		if constexpr (sizeof(Key) == sizeof(uint32_t))
		{
			if (shift <= mgpu_quantised_tuning::low_bits)
				return base + (code >> mgpu_quantised_tuning::place_bits << shift | lows[mgpu_quantised_place(code)]);
		}
		return keys[mgpu_quantised_place(code)];
	}
};

/*
 * Repair the group of items whose code bits are those of item `item`, which descends, if it is the
 * group's first that does.  descents: a bit an item.  False: the group is too long.
 */
template <class Source, class Sink>
MGPU_HOST_DEVICE bool
mgpu_repair_group(const mgpu_lossy_tile<typename Source::Stored> &tile, const uint32_t *descents, uint32_t item,
				  const Sink &sink, uint64_t begin)
{
	typedef typename Source::Stored Key;
	constexpr uint32_t most = mgpu_quantised_tuning::group_items;
	uint32_t	digit = tile.digit(item);
	uint32_t	first = item;
	uint32_t	end = item + 1;

	while (first > 0 && tile.digit(first - 1) == digit)
	{
		first--;
		if ((descents[first / 32] >> first % 32 & 1) != 0)
			return true;
		if (end - first > most)
			return false;
	}
	while (end < tile.count && tile.digit(end) == digit)
	{
		end++;
		if (end - first > most)
			return false;
	}
	for (uint32_t own = first; own < end; own++)
	{
		Key			key = tile.key(tile.codes[own]);
		uint32_t	rank = first;

		for (uint32_t i = first; i < end; i++)
		{
			Key			other = tile.key(tile.codes[i]);

			rank += other < key || (other == key && i < own);
		}
		sink.put(begin + rank, Source::make(key, begin + mgpu_quantised_place(tile.codes[own])));
	}
	return true;
}

#ifdef __CUDACC__

/*
 * Put the items of a tile to the sink in the order of their codes, and record which whole keys
 * descend.  A warp has neighbours, so each lane knows the key before its own.  True: some descend.
 * Ends with a barrier.
 */
template <class Source, class Sink>
static __device__ __forceinline__ bool
mgpu_put_lossy_tile(const mgpu_lossy_tile<typename Source::Stored> &tile, uint32_t *descents, const Sink &sink,
					uint64_t begin)
{
	typedef typename Source::Stored Key;
	constexpr uint32_t warp_items = mgpu_quantised_tuning::tile_items / mgpu_quantised_tuning::threads * 32;
	constexpr int batch = 8;	/* keys that a lane loads at a time */
	uint32_t	lane = threadIdx.x % 32;
	uint32_t	first = threadIdx.x / 32 * warp_items;
	uint32_t	end = min(first + warp_items, tile.count);
	Key			before = first > 0 && first < end ? tile.key(tile.codes[first - 1]) : 0;
	uint32_t	found = 0;

#pragma unroll 1
	for (; first < end; first += 32 * batch)
	{
		uint32_t	codes[batch];
		Key			keys[batch];

#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			codes[i] = tile.codes[min(first + i * 32 + lane, end - 1)];
			keys[i] = tile.key(codes[i]);
		}
#pragma unroll
		for (int i = 0; i < batch; i++)
		{
			uint32_t	item = first + i * 32 + lane;
			Key			left = __shfl_sync(0xFFFFFFFFu, keys[i], (lane + 31) % 32);	/* lane 0: for the next batch */
			uint32_t	votes = __ballot_sync(0xFFFFFFFFu, keys[i] < (lane > 0 ? left : before));

			before = left;
			found |= votes;
			if (item >= end)
				continue;
			sink.put(begin + item, Source::make(keys[i], begin + mgpu_quantised_place(codes[i])));
			if (lane == 0)
				descents[item / 32] = votes;
		}
	}
	return __syncthreads_or(found != 0);	/* all items are put, and descents are known */
}

/* Repair what descends.  False: some groups are too long, and the order is not sure.  Ends with a barrier. */
template <class Source, class Sink>
static __device__ __forceinline__ bool
mgpu_repair_tile(const mgpu_lossy_tile<typename Source::Stored> &tile, const uint32_t *descents, const Sink &sink,
				 uint64_t begin)
{
	bool		repaired = true;

#pragma unroll 1
	for (uint32_t word = threadIdx.x; word < (tile.count + 31) / 32; word += mgpu_quantised_tuning::threads)
	{
#pragma unroll 1
		for (uint32_t left = descents[word]; left != 0 && repaired; left &= left - 1)
			repaired = mgpu_repair_group<Source>(tile, descents, word * 32 + mgpu_lowest_bit(left), sink, begin);
	}
	return __syncthreads_and(repaired);
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_SORT_QUANTISED_REPAIR_CUH */

/*
 * device/array.cuh
 *		Where a sort's items come from and go to in global memory.
 *
 *	 source		what the block sort reads: load(item) makes the item
 *	 array		what passes read and write: intervals move to and from tiles, each
 *				at the slot phase of its place (tile_copy.cuh)
 *	 sink		what takes sorted tiles: an array, or the last pass's unpacked output
 *
 * Arrays are aligned to a vector, so an item's phase follows from its number.
 */
#ifndef MGPU_DEVICE_ARRAY_CUH
#define MGPU_DEVICE_ARRAY_CUH

#include <type_traits>
#include <utility>

#include "device/tile_copy.cuh"

/* Keys as they are. */
template <typename Key>
struct mgpu_plain_source
{
	const Key  *keys;

	MGPU_MEMBER Key
	load(uint64_t item) const
	{
		return keys[item];
	}
};

/* 4-byte keys, packed with their index. */
struct mgpu_packing_source
{
	const uint32_t *keys;

	static MGPU_MEMBER uint64_t
	make(uint32_t key, uint64_t item)
	{
		return (uint64_t) key << 32 | (uint32_t) item;
	}

	MGPU_MEMBER uint64_t
	load(uint64_t item) const
	{
		return make(keys[item], item);
	}
};

/* 8-byte keys, with their index beside them. */
struct mgpu_indexing_source
{
	const uint64_t *keys;

	MGPU_MEMBER mgpu_indexed_key
	load(uint64_t item) const
	{
		return {keys[item], (uint32_t) item};
	}
};

template <typename Key>
struct mgpu_key_array
{
	typedef Key Item;
	static constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Key);

	Key		   *keys;

	/* What searches for splits read. */
	MGPU_MEMBER const Key *
	search_keys() const
	{
		return keys;
	}

	MGPU_MEMBER uint32_t
	phase(uint64_t item) const
	{
		return mgpu_phase(keys + item);
	}

	template <int threads>
	__device__ __forceinline__ void
	load_interval(const mgpu_tile<Key> &tile, uint32_t slot, uint64_t begin, uint32_t num_items, uint32_t thread) const
	{
		mgpu_load_interval<threads>(tile.keys + slot, keys + begin, num_items, thread);
	}

	/* The same to a slot of another phase, item by item. */
	template <int threads>
	__device__ __forceinline__ void
	load_items(const mgpu_tile<Key> &tile, uint32_t slot, uint64_t begin, uint32_t num_items, uint32_t thread) const
	{
		mgpu_load_items<threads>(tile.keys + slot, keys + begin, num_items, thread);
	}

	/* Write out a tile whose items start at slot phase(begin). */
	template <int threads>
	__device__ __forceinline__ void
	store_tile(uint64_t begin, const mgpu_tile<Key> &tile, uint32_t num_items, uint32_t thread) const
	{
		mgpu_store_interval<threads>(keys + begin, tile.keys + phase(begin), num_items, thread);
	}
};

/*
 * The keys of packed pairs alone.  Indices ascend from run to run and among a run's equal keys, so
 * (key, run, place) is the order of the pairs, and a search for splits needs no more than the
 * 4-byte keys.
 */
struct mgpu_packed_keys
{
	const uint64_t *pairs;

	MGPU_MEMBER uint32_t
	operator[](uint64_t item) const
	{
		return (uint32_t) (pairs[item] >> 32);
	}

	MGPU_MEMBER mgpu_packed_keys
	operator+(uint64_t items) const
	{
		return {pairs + items};
	}
};

/* The type of key behind a pointer, or behind an object used like one. */
template <class Keys>
using mgpu_key_of = std::decay_t<decltype(std::declval<Keys>()[0])>;

/* 4-byte keys packed with their index. */
struct mgpu_packed_array : mgpu_key_array<uint64_t>
{
	MGPU_MEMBER mgpu_packed_keys
	search_keys() const
	{
		return {keys};
	}
};

struct mgpu_indexed_array
{
	typedef mgpu_indexed_key Item;
	static constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(uint32_t);

	uint64_t   *keys;
	uint32_t   *indices;

	MGPU_MEMBER const uint64_t *
	search_keys() const
	{
		return keys;
	}

	/* The indices' phase, which is right for keys as well. */
	MGPU_MEMBER uint32_t
	phase(uint64_t item) const
	{
		return (uint32_t) item % vector_items;
	}

	template <int threads>
	__device__ __forceinline__ void
	load_interval(const mgpu_tile<mgpu_indexed_key> &tile, uint32_t slot, uint64_t begin, uint32_t num_items,
				  uint32_t thread) const
	{
		mgpu_load_interval<threads>(tile.keys + slot, keys + begin, num_items, thread);
		mgpu_load_interval<threads>(tile.indices + slot, indices + begin, num_items, thread);
	}

	template <int threads>
	__device__ __forceinline__ void
	load_items(const mgpu_tile<mgpu_indexed_key> &tile, uint32_t slot, uint64_t begin, uint32_t num_items,
			   uint32_t thread) const
	{
		mgpu_load_items<threads>(tile.keys + slot, keys + begin, num_items, thread);
		mgpu_load_items<threads>(tile.indices + slot, indices + begin, num_items, thread);
	}

	template <int threads>
	__device__ __forceinline__ void
	store_tile(uint64_t begin, const mgpu_tile<mgpu_indexed_key> &tile, uint32_t num_items, uint32_t thread) const
	{
		mgpu_store_interval<threads>(keys + begin, tile.keys + phase(begin), num_items, thread);
		mgpu_store_interval<threads>(indices + begin, tile.indices + phase(begin), num_items, thread);
	}
};

/* Where a last pass separates packed keys and indices. */
struct mgpu_unpacking_sink
{
	typedef uint64_t Item;

	uint32_t   *keys;
	uint32_t   *indices;

	MGPU_MEMBER uint32_t
	phase(uint64_t) const
	{
		return 0;
	}

	template <int threads>
	__device__ __forceinline__ void
	store_tile(uint64_t begin, const mgpu_tile<uint64_t> &tile, uint32_t num_items, uint32_t thread) const
	{
		for (uint32_t item = thread; item < num_items; item += threads)
		{
			uint64_t	packed = tile.keys[item];

			keys[begin + item] = (uint32_t) (packed >> 32);
			indices[begin + item] = (uint32_t) packed;
		}
	}
};

#endif							/* MGPU_DEVICE_ARRAY_CUH */

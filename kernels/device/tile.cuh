/*
 * device/tile.cuh
 *		Items that are sorted, and how a tile of them lies in shared memory.
 *
 *	 item				tile
 *	 4 or 8 bytes		one array; 8 may be a 4-byte key above its index
 *	 key and index		an array of 8-byte keys and one of 4-byte indices, item i
 *						of both at slot i
 *
 * Merges search by keys alone, the first list first among equals, so a list's indices must be
 * below those of the next list.  Items are addressed by slot or by offset (slots times `unit`), so
 * that a merge advances by additions alone.  One array of 16-byte items was rejected: a third more
 * memory to move, and half the items a CTA.  All of this runs on the host too, where a test
 * emulates a CTA.
 */
#ifndef MGPU_DEVICE_TILE_CUH
#define MGPU_DEVICE_TILE_CUH

#include <stdint.h>

#define MGPU_HOST_DEVICE static __host__ __device__ __forceinline__
#define MGPU_MEMBER __host__ __device__ __forceinline__

/* All lanes, where a warp's lanes exchange values. */
#define MGPU_WHOLE_WARP UINT32_MAX

/* An 8-byte key and its index, compared in this order: no two are equal. */
struct mgpu_indexed_key
{
	uint64_t	key;
	uint32_t	index;
};

MGPU_HOST_DEVICE bool
operator<(const mgpu_indexed_key &a, const mgpu_indexed_key &b)
{
	uint32_t	a_high = (uint32_t) (a.key >> 32);
	uint32_t	b_high = (uint32_t) (b.key >> 32);
	bool		low_before = (a.key << 32 | a.index) < (b.key << 32 | b.index);

	/* without branches: the threads of a warp disagree */
	return (a_high < b_high) | ((a_high == b_high) & low_before);
}

/* The largest key, which pads a tile. */
template <typename Key>
__host__ __device__ constexpr Key
mgpu_largest_key()
{
	return (Key) ~(Key) 0;
}

template <>
__host__ __device__ constexpr mgpu_indexed_key
mgpu_largest_key<mgpu_indexed_key>()
{
	return {UINT64_MAX, UINT32_MAX};
}

/* The item at a byte offset into shared memory. */
template <typename Item>
MGPU_HOST_DEVICE Item
mgpu_item_at(const char *shared, uint32_t offset)
{
	return *reinterpret_cast<const Item *>(shared + offset);
}

template <typename Item_>
struct mgpu_tile
{
	typedef Item_ Item;
	static constexpr uint32_t unit = sizeof(Item);
	static constexpr bool is_indexed = false;

	Item	   *keys;

	static MGPU_MEMBER constexpr uint32_t
	bytes(uint32_t slots)
	{
		return slots * (uint32_t) sizeof(Item);
	}

	/* Lay out a tile in memory aligned to a vector.  The argument is its number of slots. */
	static MGPU_MEMBER mgpu_tile
	lay_out(char *memory, uint32_t)
	{
		return {reinterpret_cast<Item *>(memory)};
	}

	MGPU_MEMBER Item
	at(uint32_t offset) const
	{
		return mgpu_item_at<Item>(reinterpret_cast<const char *>(keys), offset);
	}

	MGPU_MEMBER void
	put(uint32_t slot, const Item &item) const
	{
		keys[slot] = item;
	}
};

template <>
struct mgpu_tile<mgpu_indexed_key>
{
	typedef mgpu_indexed_key Item;
	static constexpr uint32_t unit = sizeof(uint32_t);
	static constexpr bool is_indexed = true;

	uint64_t   *keys;
	uint32_t   *indices;

	static MGPU_MEMBER constexpr uint32_t
	bytes(uint32_t slots)
	{
		return (slots + 1) / 2 * 2 * (uint32_t) sizeof(uint64_t) + slots * (uint32_t) sizeof(uint32_t);
	}

	static MGPU_MEMBER mgpu_tile
	lay_out(char *memory, uint32_t slots)
	{
		uint64_t   *keys = reinterpret_cast<uint64_t *>(memory);

		return {keys, reinterpret_cast<uint32_t *>(keys + (slots + 1) / 2 * 2)};
	}

	MGPU_MEMBER Item
	at(uint32_t offset) const
	{
		return {mgpu_item_at<uint64_t>(reinterpret_cast<const char *>(keys), 2 * offset),
			mgpu_item_at<uint32_t>(reinterpret_cast<const char *>(indices), offset)};
	}

	MGPU_MEMBER void
	put(uint32_t slot, const Item &item) const
	{
		keys[slot] = item.key;
		indices[slot] = item.index;
	}
};

#endif							/* MGPU_DEVICE_TILE_CUH */

/*
 * sort/guarded_merge.cuh
 *		Merges of two lists in shared memory, and where lists lie there.
 *
 * A list keeps the phase of its place in memory, so vectors are copied whole.  Largest items
 * follow it as a guard: a merge that runs past its end finds nothing smaller there, and needs no
 * bounds checks.
 */
#ifndef MGPU_SORT_GUARDED_MERGE_CUH
#define MGPU_SORT_GUARDED_MERGE_CUH

#include "device/merge_path.cuh"
#include "device/tile_copy.cuh"

/* Slots for a CTA's items at any phase. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_tile_capacity(uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (num_items + 2 * vector_items) / vector_items * vector_items;
}

/* Slots for two lists, tile_items in all, each at any phase and with `guard` items behind it. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_guarded_capacity(uint32_t tile_items, uint32_t guard)
{
	return mgpu_tile_capacity<Item>(tile_items + 2 * (guard + 2 * MGPU_VECTOR_BYTES / sizeof(Item)));
}

/* Put the largest key `items` times behind a list. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_guard(Key *tile, uint32_t end, uint32_t thread)
{
	if (thread < items)
		tile[end + thread] = mgpu_largest_key<Key>();
}

/* Merge a thread's share of two guarded lists in shared memory. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_merge_guarded_lists(typename Tile::Item (&merged)[items], const Tile &tile, uint32_t a_slot, uint32_t a_items,
						 uint32_t b_slot, uint32_t b_items, uint32_t diagonal)
{
	uint32_t	count = a_items + b_items;
	uint32_t	a;

	diagonal = diagonal < count ? diagonal : count;
	a = mgpu_merge_path(tile.keys + a_slot, a_items, tile.keys + b_slot, b_items, diagonal);
	mgpu_serial_merge_forwards(tile, (a_slot + a) * Tile::unit, (b_slot + diagonal - a) * Tile::unit, merged);
}

/* The same for keys alone. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_guarded(Key (&keys)[items], const Key *tile, uint32_t a_slot, uint32_t a_items, uint32_t b_slot,
				   uint32_t b_items, uint32_t diagonal)
{
	mgpu_merge_guarded_lists(keys, mgpu_tile<Key> {const_cast<Key *>(tile)}, a_slot, a_items, b_slot, b_items, diagonal);
}

#endif							/* MGPU_SORT_GUARDED_MERGE_CUH */

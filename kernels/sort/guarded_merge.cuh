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

#include "device/array.cuh"
#include "device/merge_path.cuh"
#include "sort/cta_sort.cuh"

/* Slots for a CTA's items at any phase. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_tile_capacity(uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (num_items + 2 * vector_items) / vector_items * vector_items;
}

template <typename Item>
MGPU_HOST_DEVICE uint32_t
mgpu_slot_in_phase(uint32_t slot, const Item *address)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);

	return (slot + vector_items - 1) / vector_items * vector_items + mgpu_phase(address);
}

/* The first slot at or after `slot` with the phase of an array's item. */
template <class Array>
MGPU_HOST_DEVICE uint32_t
mgpu_slot_in_array_phase(uint32_t slot, const Array &array, uint64_t item)
{
	return (slot + Array::vector_items - 1) / Array::vector_items * Array::vector_items + array.phase(item);
}

/* Slots for num_inputs intervals, tile_items in all, each at any phase and with `guard` items behind it. */
template <typename Item>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_inputs_capacity(uint32_t tile_items, uint32_t num_inputs, uint32_t guard)
{
	return mgpu_tile_capacity<Item>(tile_items + num_inputs * (guard + 2 * MGPU_VECTOR_BYTES / sizeof(Item)));
}

/* Put the largest item `items` times behind an input. */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_put_guard(const Tile &tile, uint32_t end, uint32_t thread)
{
	if (thread < items)
		tile.put(end + thread, mgpu_largest_key<typename Tile::Item>());
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_guard(Key *tile, uint32_t end, uint32_t thread)
{
	mgpu_put_guard<items>(mgpu_tile<Key> {tile}, end, thread);
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

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_guarded(Key (&keys)[items], const Key *tile, uint32_t a_slot, uint32_t a_items, uint32_t b_slot,
				   uint32_t b_items, uint32_t diagonal)
{
	mgpu_merge_guarded_lists(keys, mgpu_tile<Key> {const_cast<Key *>(tile)}, a_slot, a_items, b_slot, b_items, diagonal);
}

/* Slots of a merge's tile: intervals of an array, each at any phase and with `guard` items behind it. */
template <class Array>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_merge_slots(uint32_t tile_items, uint32_t num_inputs, uint32_t guard)
{
	return tile_items + num_inputs * (guard + 2 * Array::vector_items) + 2 * Array::vector_items;
}

/*
 * Load a tile whose items are all of one run to the slot from which it is stored: nothing to merge.
 * `from` is their place in the array.  Common where keys are in order.
 */
template <int threads, class Array>
static __device__ __forceinline__ void
mgpu_load_only_run(const Array &array, uint64_t from, const mgpu_tile<typename Array::Item> &tile, uint32_t slot,
				   uint32_t num_items, uint32_t thread)
{
	if (array.phase(from) == slot)
		array.template load_interval<threads>(tile, slot, from, num_items, thread);
	else
		array.template load_items<threads>(tile, slot, from, num_items, thread);
	mgpu_wait_copies();
	__syncthreads();				/* the tile is loaded */
}

#endif							/* MGPU_SORT_GUARDED_MERGE_CUH */

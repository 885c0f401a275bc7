/*
 * kernel_host_tiles.cuh
 *		Tiles and arrays of kernels that are played on the host: shared memory that
 *		is watched, items by kind, and intervals that move between the two.
 */
#ifndef MGPU_KERNEL_HOST_TILES_CUH
#define MGPU_KERNEL_HOST_TILES_CUH

#include <cstring>
#include <vector>

#include "device/array.cuh"
#include "sort/cta_sort.cuh"

/* A CTA's shared memory: aligned to 16, poisoned, with canaries around it. */
template <typename Item>
struct shared_memory
{
	static constexpr size_t canary_items = 64;
	size_t		num_items;
	std::vector<Item> memory;
	Item	   *items;

	explicit shared_memory(size_t num_items)
		: num_items(num_items), memory(num_items + 3 * canary_items, (Item) 0x5A5A5A5A5A5A5A5A)
	{
		uintptr_t	address = reinterpret_cast<uintptr_t>(memory.data() + canary_items);

		items = reinterpret_cast<Item *>((address + 15) & ~(uintptr_t) 15);
	}

	bool
	intact() const
	{
		for (const Item *item = memory.data(); item < memory.data() + memory.size(); item++)
		{
			if ((item < items || item >= items + num_items) && *item != (Item) 0x5A5A5A5A5A5A5A5A)
				return false;
		}
		return true;
	}
};

/* ------------------------------------------------------------------- items */

template <typename Item>
static inline bool
is_same(const Item &a, const Item &b)
{
	return !(a < b) && !(b < a);
}

static inline void
set_item(uint64_t key, uint32_t, uint32_t *item)
{
	*item = (uint32_t) key;
}

static inline void
set_item(uint64_t key, uint32_t, uint64_t *item)
{
	*item = key;
}

static inline void
set_item(uint64_t key, uint32_t index, mgpu_indexed_key *item)
{
	*item = {key, index};
}

/* ------------------------------------------------------- tiles and arrays */

template <int items, typename Item>
using thread_items = Item[items];

/* A tile in shared memory that is watched, by kind of item. */
template <typename Item>
struct shared_tile
{
	shared_memory<Item> keys;
	mgpu_tile<Item> tile;

	explicit shared_tile(size_t slots) : keys(slots), tile {keys.items} {}

	bool
	intact() const
	{
		return keys.intact();
	}
};

template <>
struct shared_tile<mgpu_indexed_key>
{
	shared_memory<uint64_t> keys;
	shared_memory<uint32_t> indices;
	mgpu_tile<mgpu_indexed_key> tile;

	explicit shared_tile(size_t slots) : keys(slots), indices(slots), tile {keys.items, indices.items} {}

	bool
	intact() const
	{
		return keys.intact() && indices.intact();
	}
};

/* A sort's items in global memory, by kind. */
template <typename Item>
struct host_array
{
	std::vector<Item> keys;

	explicit host_array(size_t num_items) : keys(num_items) {}

	mgpu_key_array<Item>
	array()
	{
		return {keys.data()};
	}

	Item
	get(size_t item) const
	{
		return keys[item];
	}

	void
	set(size_t item, const Item &value)
	{
		keys[item] = value;
	}
};

template <>
struct host_array<mgpu_indexed_key>
{
	std::vector<uint64_t> keys;
	std::vector<uint32_t> indices;

	explicit host_array(size_t num_items) : keys(num_items), indices(num_items) {}

	mgpu_indexed_array
	array()
	{
		return {keys.data(), indices.data()};
	}

	mgpu_indexed_key
	get(size_t item) const
	{
		return {keys[item], indices[item]};
	}

	void
	set(size_t item, const mgpu_indexed_key &value)
	{
		keys[item] = value.key;
		indices[item] = value.index;
	}
};

/* ----------------------------------------------------------------- copies */

/* Geometry of mgpu_load_interval and mgpu_store_interval: every item once, vectors on boundaries. */
template <typename Item>
static bool
emulate_copy(Item *shared, const Item *global, uint32_t num_items)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Item);
	mgpu_interval_parts parts = mgpu_split_interval(global, num_items);
	bool		good = mgpu_phase(shared) == mgpu_phase(global) && parts.tail_items < vector_items &&
		parts.head_items < vector_items;

	for (uint32_t i = 0; i < parts.head_items; i++)
		shared[i] = global[i];
	for (uint32_t i = 0; i < parts.tail_items; i++)
		shared[num_items - 1 - i] = global[num_items - 1 - i];
	for (uint32_t vector = 0; vector < parts.num_vectors; vector++)
	{
		uint32_t	item = parts.head_items + vector * vector_items;

		good = good && mgpu_phase(shared + item) == 0 && mgpu_phase(global + item) == 0;
		memcpy(shared + item, global + item, MGPU_VECTOR_BYTES);
	}
	return good && parts.head_items + parts.num_vectors * vector_items + parts.tail_items == num_items;
}

/* load_interval of an array */
template <typename Key>
static bool
emulate_load(const mgpu_key_array<Key> &array, const mgpu_tile<Key> &tile, uint32_t slot, uint64_t begin, uint32_t num_items)
{
	return emulate_copy(tile.keys + slot, array.keys + begin, num_items);
}

static inline bool
emulate_load(const mgpu_indexed_array &array, const mgpu_tile<mgpu_indexed_key> &tile, uint32_t slot, uint64_t begin,
			 uint32_t num_items)
{
	return emulate_copy(tile.keys + slot, array.keys + begin, num_items) &&
		emulate_copy(tile.indices + slot, array.indices + begin, num_items);
}

/* load_items of an array */
template <typename Key>
static void
emulate_load_items(const mgpu_key_array<Key> &array, const mgpu_tile<Key> &tile, uint32_t slot, uint64_t begin,
				   uint32_t num_items)
{
	for (uint32_t i = 0; i < num_items; i++)
		tile.put(slot + i, array.keys[begin + i]);
}

static inline void
emulate_load_items(const mgpu_indexed_array &array, const mgpu_tile<mgpu_indexed_key> &tile, uint32_t slot, uint64_t begin,
				   uint32_t num_items)
{
	for (uint32_t i = 0; i < num_items; i++)
		tile.put(slot + i, {array.keys[begin + i], array.indices[begin + i]});
}

/* store_tile of an array */
template <typename Key>
static bool
emulate_store_tile(const mgpu_key_array<Key> &out, uint64_t begin, const mgpu_tile<Key> &tile, uint32_t num_items)
{
	return emulate_copy(out.keys + begin, tile.keys + out.phase(begin), num_items);
}

static inline bool
emulate_store_tile(const mgpu_indexed_array &out, uint64_t begin, const mgpu_tile<mgpu_indexed_key> &tile, uint32_t num_items)
{
	uint32_t	slot = out.phase(begin);

	return emulate_copy(out.keys + begin, tile.keys + slot, num_items) &&
		emulate_copy(out.indices + begin, tile.indices + slot, num_items);
}

/* The last step of merge kernels: registers to shared memory in phase, then out by store_tile. */
template <int threads, int items, class Array>
static bool
emulate_store(const thread_items<items, typename Array::Item> *registers, const mgpu_tile<typename Array::Item> &tile,
			  const Array &out, uint64_t begin, uint32_t num_items)
{
	uint32_t	slot = out.phase(begin);

	for (int thread = 0; thread < threads; thread++)
		mgpu_put_forwards(registers[thread], tile, slot + thread * items);
	return emulate_store_tile(out, begin, tile, num_items);
}

/* Tiles all of one run, by whether their places in the run and in the output are of one phase. */
struct copied_tiles
{
	uint64_t	in_phase;
	uint64_t	out_of_phase;
};

/* mgpu_load_only_run, and what a merge kernel does behind it */
template <class Array>
static bool
emulate_only_run(const Array &array, uint64_t from, shared_tile<typename Array::Item> &shared, const Array &out,
				 uint64_t begin, uint32_t num_items, copied_tiles *copied)
{
	uint32_t	slot = out.phase(begin);
	bool		in_phase = array.phase(from) == slot;
	bool		good = true;

	if (in_phase)
		good = emulate_load(array, shared.tile, slot, from, num_items);
	else
		emulate_load_items(array, shared.tile, slot, from, num_items);
	copied->in_phase += in_phase;
	copied->out_of_phase += !in_phase;
	return emulate_store_tile(out, begin, shared.tile, num_items) && good && shared.intact();
}

/* A sort's items as the kernels see them: packed pairs are searched by their keys alone. */
template <bool packed, typename Item>
static auto
array_of(host_array<Item> &items)
{
	if constexpr (packed)
		return mgpu_packed_array {{items.keys.data()}};
	else
		return items.array();
}

#endif							/* MGPU_KERNEL_HOST_TILES_CUH */

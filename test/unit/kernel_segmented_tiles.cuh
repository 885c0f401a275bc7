/*
 * kernel_segmented_tiles.cuh
 *		The segmented sort's tile on the host: a CTA's shared memory, and what the lanes
 *		of a group, the groups of a warp and the threads of a CTA do to sort pieces and
 *		whole tiles.
 *
 * Between two loops over lanes or threads, all have read or all have written.
 */
#ifndef MGPU_KERNEL_SEGMENTED_TILES_CUH
#define MGPU_KERNEL_SEGMENTED_TILES_CUH

#include "kernel_segmented_test.cuh"

#include <memory>

#include "segmented/segmented_sort.cuh"

template <int items, typename Key>
using thread_items = Key[items];

static const uint64_t poison = UINT64_C(0xBABABABABABABABA);

/* A CTA's shared memory: aligned, poisoned, with canaries around it. */
template <typename Item>
struct shared_memory
{
	static constexpr size_t canary_items = 64;
	size_t		num_items;
	std::vector<Item> memory;
	Item	   *items;

	explicit shared_memory(size_t num_items_)
		: num_items(num_items_), memory(num_items_ + 3 * canary_items, (Item) poison)
	{
		uintptr_t	address = reinterpret_cast<uintptr_t>(memory.data() + canary_items);

		items = reinterpret_cast<Item *>((address + 15) & ~(uintptr_t) 15);
	}

	bool
	intact() const
	{
		for (const Item *item = memory.data(); item < memory.data() + memory.size(); item++)
		{
			if ((item < items || item >= items + num_items) && *item != (Item) poison)
				return false;
		}
		return true;
	}
};

/* Lanes load a piece; is any item in it less than the one before? */
template <int items, typename Key>
static bool
load_piece(thread_items<items, Key> *registers, const Key *tile, uint32_t begin, uint32_t num_items, uint32_t lanes)
{
	bool		descends = false;

	for (uint32_t lane = 0; lane < lanes; lane++)
	{
		mgpu_load_share(registers[lane], tile, {begin, num_items, lane});
		descends = mgpu_share_descends(registers[lane], tile, {begin, num_items, lane}) || descends;
	}
	return descends;
}

/* Lanes merge runs of so many lanes' items to one, where a piece is not in order, and store it. */
template <int items, typename Key>
static void
merge_piece(thread_items<items, Key> *registers, Key *tile, uint32_t begin, uint32_t num_items, uint32_t lanes,
			uint32_t run_lanes, bool descends)
{
	for (; descends && run_lanes < lanes; run_lanes *= 2)
	{
		for (uint32_t lane = 0; lane < lanes; lane++)
			mgpu_store_share_facing(registers[lane], tile, {begin, num_items, lane}, run_lanes);
		for (uint32_t lane = 0; lane < lanes; lane++)
			mgpu_merge_share(registers[lane], tile, {begin, num_items, lane}, run_lanes);
	}
	for (uint32_t lane = 0; lane < lanes; lane++)
		mgpu_store_share(registers[lane], tile, {begin, num_items, lane});
}

/* Lanes that sort one piece: between two loops, all have read or all have written. */
template <int items, typename Key>
static bool
emulate_group(Key *tile, uint32_t begin, uint32_t num_items, uint32_t lanes)
{
	auto		registers = std::make_unique<thread_items<items, Key>[]>(lanes);

	if (!load_piece<items>(registers.get(), tile, begin, num_items, lanes))
		return false;
	for (uint32_t lane = 0; lane < lanes; lane++)
		mgpu_thread_sort(registers[lane]);
	merge_piece<items>(registers.get(), tile, begin, num_items, lanes, 1, true);
	return true;
}

/* mgpu_warp_sort_small; a piece too long for its network comes out unsorted */
template <int lane_items, uint32_t small, typename Key>
static bool
emulate_small(Key *tile, uint32_t begin, uint32_t num_items, uint32_t piece_class)
{
	constexpr uint32_t num_small = mgpu_small_networks<lane_items>();

	if constexpr (small < num_small)
	{
		if (piece_class == MGPU_LANE_CLASSES - 1 + num_small - small)
			return emulate_group<mgpu_small_items(small)>(tile, begin, num_items, 1);
		return emulate_small<lane_items, small + 1>(tile, begin, num_items, piece_class);
	}
	return false;
}

/* A piece of class 0: its parts by a warp each, then mgpu_cta_merge_parts. */
template <int items, typename Key>
static bool
emulate_long_piece(Key *tile, uint32_t begin, uint32_t num_items)
{
	uint32_t	lanes = (num_items + items - 1) / items;
	auto		registers = std::make_unique<thread_items<items, Key>[]>(lanes);
	bool		changed = false;
	bool		descends;

	for (uint32_t part = 0; part < mgpu_warp_parts<items>(num_items); part++)
	{
		uint32_t	piece = mgpu_warp_part<items>(begin | num_items << 16, part);

		changed = emulate_group<items>(tile, piece & 0xFFFF, piece >> 16, 32) || changed;
	}
	descends = load_piece<items>(registers.get(), tile, begin, num_items, lanes);
	merge_piece<items>(registers.get(), tile, begin, num_items, lanes, 32, descends);
	return changed || descends;
}

/* mgpu_cta_sort_pieces for one piece: true if it changed; *good: its class has lanes for it. */
template <class Tuning, typename Key>
static bool
emulate_piece(Key *tile, uint32_t begin, uint32_t num_items, bool *good)
{
	constexpr uint32_t lane_items = Tuning::lane_items;
	uint32_t	piece_class = mgpu_piece_class<lane_items>(num_items);
	uint32_t	lanes = (num_items + lane_items - 1) / lane_items;

	if (piece_class == MGPU_NO_CLASS)
	{
		*good = *good && num_items < 2;
		return false;
	}
	*good = *good && piece_class < MGPU_LANE_CLASSES + mgpu_small_networks<lane_items>();
	if (piece_class >= MGPU_LANE_CLASSES)
		return emulate_small<lane_items, 0>(tile, begin, num_items, piece_class);
	if (piece_class == 0)
	{
		*good = *good && lanes > 32 && lanes <= Tuning::sort_threads;
		return emulate_long_piece<(int) lane_items>(tile, begin, num_items);
	}
	*good = *good && lanes <= 32 / mgpu_pieces_per_warp(piece_class);
	return emulate_group<(int) lane_items>(tile, begin, num_items, 32 / mgpu_pieces_per_warp(piece_class));
}

/* mgpu_cta_sort */
template <int threads, int items, typename Key>
static void
emulate_cta_sort(Key *tile)
{
	auto		registers = std::make_unique<thread_items<items, Key>[]>(threads);

	for (uint32_t thread = 0; thread < threads; thread++)
	{
		mgpu_load_share(registers[thread], tile, {0, threads * items, thread});
		mgpu_thread_sort(registers[thread]);
	}
	for (uint32_t run_threads = 1; run_threads < threads; run_threads *= 2)
	{
		for (uint32_t thread = 0; thread < threads; thread++)
			mgpu_store_facing(registers[thread], tile, thread, run_threads);
		for (uint32_t thread = 0; thread < threads; thread++)
			mgpu_merge_facing_runs(registers[thread], tile, thread, run_threads);
	}
	for (uint32_t thread = 0; thread < threads; thread++)
		mgpu_store_forwards(registers[thread], tile, thread * items);
}

#endif							/* MGPU_KERNEL_SEGMENTED_TILES_CUH */

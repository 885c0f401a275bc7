/*
 * merge/merge_tile.cuh
 *		Geometry of a merge of two lists, and one thread's share of a tile.
 *
 * The output is cut into tiles of equal size; a split is the number of a's items before a tile.
 * Both intervals of a tile lie in shared memory forwards, each at the phase of its source and
 * followed by its successor in the list (or by `last` at the end), b's also by as many gaps as a
 * thread may run past the end:
 *
 *	 a: | phase | a_items | 1 |   b: | phase | b_items | 1 + items |
 *
 * The successor is there for the order check: a thread that takes an item loads the next one of its
 * list, and sees whether that sorts before.  So all neighbours of both lists are compared once,
 * for one more instruction.  A pass over both inputs for that was rejected: half as much again to
 * read.  All of this runs on the host too, where a test emulates a CTA.
 */
#ifndef MGPU_MERGE_MERGE_TILE_CUH
#define MGPU_MERGE_MERGE_TILE_CUH

#include "device/split_search.cuh"
#include "device/tile_copy.cuh"
#include "merge/key_order.cuh"
#include "merge/tuning.cuh"

/* The two lists, and how their merge is cut. */
template <class Order>
struct mgpu_merge_lists
{
	typedef typename Order::Stored Stored;

	const Stored *a;
	const Stored *b;
	uint64_t	a_items;
	uint64_t	b_items;
	Order		order;
	uint32_t	tile_items;

	MGPU_MEMBER uint64_t
	tiled_items() const
	{
		return a_items + b_items;
	}

	/* A Search of split_search.cuh: a's items before a tile's first diagonal. */
	MGPU_MEMBER uint64_t
	diagonal(uint64_t tile) const
	{
		uint64_t	begin = tile * tile_items;

		return begin < tiled_items() ? begin : tiled_items();
	}

	MGPU_MEMBER void
	range(uint64_t tile, uint64_t &low, uint64_t &high) const
	{
		uint64_t	begin = diagonal(tile);

		low = begin > b_items ? begin - b_items : 0;
		high = begin < a_items ? begin : a_items;
	}

	MGPU_MEMBER uint64_t
	expected(uint64_t tile) const
	{
		return mgpu_in_proportion(a_items, diagonal(tile), tiled_items());
	}

	MGPU_MEMBER bool
	before(uint64_t tile, uint64_t probe) const
	{
		return !mgpu_sorts_before(order, b[diagonal(tile) - 1 - probe], a[probe]);
	}

	MGPU_MEMBER float
	distance(uint64_t tile, uint64_t probe) const
	{
		return order.distance(a[probe], b[diagonal(tile) - 1 - probe]);
	}
};

/* A tile's intervals in the lists, and where they start in shared memory. */
struct mgpu_merge_tile
{
	uint64_t	begin;			/* in the output */
	uint64_t	a_begin;
	uint64_t	b_begin;
	uint32_t	a_items;
	uint32_t	b_items;
	uint32_t	a_slot;
	uint32_t	b_slot;
};

/*
 * From the number of a's items before the tile (splits.x) and before the next one.  False if they
 * cannot be those of sorted lists; tile is void then.
 */
template <class Order>
MGPU_HOST_DEVICE bool
mgpu_place_tile(const mgpu_merge_lists<Order> &lists, uint64_t number, uint2 splits, mgpu_merge_tile &tile)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(typename Order::Stored);
	uint64_t	begin = lists.diagonal(number);
	uint64_t	end = lists.diagonal(number + 1);

	if (splits.y < splits.x || splits.y - splits.x > end - begin)
		return false;
	tile.begin = begin;
	tile.a_begin = splits.x;
	tile.b_begin = begin - splits.x;
	tile.a_items = splits.y - splits.x;
	tile.b_items = (uint32_t) (end - begin) - tile.a_items;
	tile.a_slot = mgpu_phase(lists.a + tile.a_begin);
	tile.b_slot = (tile.a_slot + tile.a_items + 1 + vector_items - 1) / vector_items * vector_items +
		mgpu_phase(lists.b + tile.b_begin);
	return true;
}

/* Slots that a tile takes at most, a multiple of a vector. */
template <typename Stored>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_merge_capacity(uint32_t tile_items, uint32_t items_per_thread)
{
	constexpr uint32_t vector_items = MGPU_VECTOR_BYTES / sizeof(Stored);

	return (tile_items + items_per_thread + 2 + 4 * vector_items) / vector_items * vector_items;
}

/*
 * Ends of a tile's intervals, numbered 0 to 5: of each list the first item, the last one, and the
 * one behind it in the list.
 */
#define MGPU_TILE_ENDS 6

struct mgpu_tile_end
{
	bool		allows_plain;
	bool		negative;		/* an item of the tile */
	bool		positive;
};

/* An end that does not exist allows every order. */
template <class Order>
MGPU_HOST_DEVICE mgpu_tile_end
mgpu_read_tile_end(const mgpu_merge_lists<Order> &lists, const mgpu_merge_tile &tile, uint32_t number)
{
	typedef typename Order::Stored Stored;
	bool		in_a = number < 3;
	const Stored *list = in_a ? lists.a : lists.b;
	uint64_t	list_items = in_a ? lists.a_items : lists.b_items;
	uint64_t	begin = in_a ? tile.a_begin : tile.b_begin;
	uint32_t	num_items = in_a ? tile.a_items : tile.b_items;
	uint32_t	kind = in_a ? number : number - 3;
	uint64_t	item = begin + (kind == 0 ? 0 : kind == 1 ? num_items - 1 : num_items);
	mgpu_tile_end end = {true, false, false};

	if (kind == 2 ? item < list_items : num_items > 0)
	{
		Stored		bits = list[item];

		end.allows_plain = kind == 2 ? Order::may_follow_plain(bits) : Order::is_plain(bits);
		end.negative = kind != 2 && (bits & Order::sign) != 0;
		end.positive = kind != 2 && (bits & Order::sign) == 0;
	}
	return end;
}

/* How many of the first `diagonal` outputs of a tile come from a. */
template <class Order>
MGPU_HOST_DEVICE uint32_t
mgpu_tile_path(const typename Order::Stored *a, uint32_t a_items, const typename Order::Stored *b,
			   uint32_t b_items, const Order &order, uint32_t diagonal)
{
	uint32_t	low = diagonal > b_items ? diagonal - b_items : 0;
	uint32_t	high = diagonal < a_items ? diagonal : a_items;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (mgpu_sorts_before(order, b[diagonal - 1 - middle], a[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Where a thread's merge begins, in slots. */
struct mgpu_share
{
	uint32_t	a;
	uint32_t	a_end;
	uint32_t	b;
};

template <class Order>
MGPU_HOST_DEVICE mgpu_share
mgpu_find_share(const typename Order::Stored *slots, const mgpu_merge_tile &tile, const Order &order,
				  uint32_t diagonal)
{
	mgpu_share	share;
	uint32_t	num_items = tile.a_items + tile.b_items;
	uint32_t	a;

	if (diagonal > num_items)
		diagonal = num_items;
	a = mgpu_tile_path(slots + tile.a_slot, tile.a_items, slots + tile.b_slot, tile.b_items, order, diagonal);
	share.a = tile.a_slot + a;
	share.a_end = tile.a_slot + tile.a_items;
	share.b = tile.b_slot + diagonal - a;
	return share;
}

/*
 * Merge `items` outputs, emit(i, held, slot) for each. share.a moves to where a stops.  False if an
 * item sorted before its predecessor.
 *
 * Only a's end is checked.  Once b's items are out, its successor or `last` sorts before none of
 * a's, or a was not sorted.  Past both ends it emits b's gaps, which no caller stores.
 */
template <int items, class Order, class Emit>
MGPU_HOST_DEVICE bool
mgpu_merge_share(const typename Order::Stored *slots, mgpu_share &share, const Order &order, Emit emit)
{
	typedef typename Order::Held Held;
	uint32_t	origin = share.a + share.b;
	uint32_t	a = share.a;
	Held		a_held = order.hold(slots[a]);
	Held		b_held = order.hold(slots[share.b]);
	bool		in_order = true;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint32_t	b = origin + i - a;
		bool		take_a = a < share.a_end && !(Order::code(b_held) < Order::code(a_held));
		Held		taken = take_a ? a_held : b_held;
		uint32_t	slot = take_a ? a : b;
		Held		next = order.hold(slots[slot + 1]);

		emit(i, taken, slot);
		in_order &= !(Order::code(next) < Order::code(taken));
		a = take_a ? a + 1 : a;
		a_held = take_a ? next : a_held;
		b_held = take_a ? b_held : next;
	}
	share.a = a;
	return in_order;
}

#endif							/* MGPU_MERGE_MERGE_TILE_CUH */

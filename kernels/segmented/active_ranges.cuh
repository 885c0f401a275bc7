/*
 * segmented/active_ranges.cuh
 *		Geometry of a pass of the segmented sort: what it changes, and from where.
 *
 * A pass merges neighbouring lists of run_tiles tiles in pairs.  Only the segment across a pair's
 * interface can change, and of that only the items between a's first item behind b's first and b's
 * last item before a's last: the pair's active range.
 *
 *	 segments	|----|--------------------------|------|
 *	 lists		[          a          ][          b          ]
 *	 range				 [  begin ... middle ... end  ]
 *
 * A range that fits one tile is merged in place by one CTA.  Of a longer one, each tile that it
 * touches is merged into the other region; a byte a tile says on which side it lies.  The first
 * lists are sort tiles, which end where segments do if possible (borders.cuh).
 *
 * Source: active ranges and the tree are moderngpu's (S. Baxter, 2013); the rest is ours.
 */
#ifndef MGPU_SEGMENTED_ACTIVE_RANGES_CUH
#define MGPU_SEGMENTED_ACTIVE_RANGES_CUH

#include "segmented/borders.cuh"

struct mgpu_segment_pass
{
	uint64_t	num_items;
	mgpu_segment_heads segments;
	uint32_t	num_tiles;
	uint32_t	run_tiles;		/* a power of two, at least sort_tiles */
	uint32_t	sort_tiles;		/* tiles of a sort tile, a power of two */
};

/* Items of the array; empty: begin = end. */
struct mgpu_active_range
{
	uint32_t	begin;
	uint32_t	middle;			/* where the pair's second list begins */
	uint32_t	end;
};

/* Keys of which each tile lies on one of two sides. */
template <uint32_t tile_items, typename Key>
struct mgpu_sided_keys
{
	const Key  *side0;
	const Key  *side1;
	const uint8_t *sides;

	MGPU_MEMBER const Key *
	of_tile(uint32_t tile) const
	{
		return sides[tile] != 0 ? side1 : side0;
	}

	MGPU_MEMBER Key
	at(uint32_t item) const
	{
		return of_tile(item / tile_items)[item];
	}
};

/* The pair of lists that a tile belongs to, cut to the segment across its interface. */
template <uint32_t tile_items>
MGPU_HOST_DEVICE mgpu_active_range
mgpu_find_segment_range(const mgpu_segment_pass &pass, uint32_t tile)
{
	uint32_t	first_tile = tile & ~(2 * pass.run_tiles - 1);
	uint64_t	middle_tile = (uint64_t) first_tile + pass.run_tiles;
	uint64_t	begin = (uint64_t) first_tile * tile_items;
	uint64_t	middle = middle_tile * tile_items;
	uint64_t	end = middle + (uint64_t) pass.run_tiles * tile_items;
	mgpu_active_range range = {0, 0, 0};

	if (middle_tile >= pass.num_tiles)
		return range;
	if (end > pass.num_items)
		end = pass.num_items;
	if (pass.segments.heads != nullptr)
	{
		mgpu_tile_border border = mgpu_find_border(pass.segments, pass.num_items,
												   (uint32_t) (middle_tile / pass.sort_tiles));

		if (!border.open)
			return range;
		begin = begin > border.segment_begin ? begin : border.segment_begin;
		end = end < border.segment_end ? end : border.segment_end;
	}
	range.begin = (uint32_t) begin;
	range.middle = (uint32_t) middle;
	range.end = (uint32_t) end;
	return range;
}

template <uint32_t tile_items>
MGPU_HOST_DEVICE bool
mgpu_touches_range(const mgpu_active_range &range, uint32_t tile)
{
	uint64_t	begin = (uint64_t) tile * tile_items;

	return begin < range.end && begin + tile_items > range.begin;
}

/* Are the range's two lists in order as they lie? */
template <class Keys>
MGPU_HOST_DEVICE bool
mgpu_range_in_order(const Keys &keys, const mgpu_active_range &range)
{
	return !(keys.at(range.middle) < keys.at(range.middle - 1));
}

/*
 * The searches that narrow a range, one a half of a warp. 0: a's items up to the last one not
 * behind b's first. 1: b's items before a's last.
 */
template <class Keys>
struct mgpu_narrow_search
{
	Keys		keys;
	mgpu_active_range range;

	MGPU_MEMBER void
	bounds(uint32_t which, uint64_t &low, uint64_t &high) const
	{
		low = which == 0 ? range.begin : range.middle;
		high = which == 0 ? range.middle : range.end;
	}

	MGPU_MEMBER bool
	before(uint32_t which, uint64_t item) const
	{
		if (which == 0)
			return !(keys.at(range.middle) < keys.at((uint32_t) item));
		return keys.at((uint32_t) item) < keys.at(range.middle - 1);
	}
};

/* For mgpu_find_split: how many of a's items come before a diagonal. */
template <class Keys>
struct mgpu_range_search
{
	Keys		keys;
	mgpu_active_range active;

	MGPU_MEMBER void
	range(uint64_t diagonal, uint64_t &low, uint64_t &high) const
	{
		uint64_t	a_items = active.middle - active.begin;
		uint64_t	b_items = active.end - active.middle;

		low = diagonal > b_items ? diagonal - b_items : 0;
		high = diagonal < a_items ? diagonal : a_items;
	}

	MGPU_MEMBER bool
	before(uint64_t diagonal, uint64_t a) const
	{
		return !(keys.at(active.middle + (uint32_t) (diagonal - 1 - a)) < keys.at(active.begin + (uint32_t) a));
	}
};

/* Can one CTA merge the range in place? Then each list is part of one tile. */
template <uint32_t tile_items>
MGPU_HOST_DEVICE bool
mgpu_fits_one_tile(const mgpu_active_range &range)
{
	return range.end - range.begin <= tile_items;
}

/* The diagonal of the range at which a tile that touches it begins. */
template <uint32_t tile_items>
MGPU_HOST_DEVICE uint32_t
mgpu_tile_diagonal(const mgpu_active_range &range, uint32_t tile)
{
	uint64_t	begin = (uint64_t) tile * tile_items;

	return begin > range.begin ? (uint32_t) (begin - range.begin) : 0;
}

/*
 * A CTA's work: tile `tile` of a range, or a whole range that fits one tile, where `tile` has its
 * first list.  One vector in memory.
 */
struct __align__(16) mgpu_segment_work
{
	uint32_t	tile;
	mgpu_active_range range;
};

/* What a CTA merges: two intervals of the array, and where they go. */
struct mgpu_segment_inputs
{
	uint32_t	a_begin;
	uint32_t	a_items;
	uint32_t	b_begin;
	uint32_t	b_items;
	uint32_t	out_begin;
};

/* splits[t]: items of a before tile t's diagonal, for tiles of longer ranges. */
template <uint32_t tile_items>
MGPU_HOST_DEVICE mgpu_segment_inputs
mgpu_find_segment_inputs(const mgpu_segment_work &work, const uint32_t *splits)
{
	const mgpu_active_range &range = work.range;
	uint32_t	begin_diagonal = 0;
	uint32_t	end_diagonal = range.end - range.begin;
	uint32_t	begin_a = 0;
	uint32_t	end_a = range.middle - range.begin;
	mgpu_segment_inputs inputs;

	if (!mgpu_fits_one_tile<tile_items>(range))
	{
		uint64_t	tile_end = (uint64_t) (work.tile + 1) * tile_items;

		begin_diagonal = mgpu_tile_diagonal<tile_items>(range, work.tile);
		begin_a = splits[work.tile];
		if (tile_end < range.end)
		{
			end_diagonal = (uint32_t) tile_end - range.begin;
			end_a = splits[work.tile + 1];
		}
	}
	inputs.a_begin = range.begin + begin_a;
	inputs.a_items = end_a - begin_a;
	inputs.b_begin = range.middle + (begin_diagonal - begin_a);
	inputs.b_items = (end_diagonal - end_a) - (begin_diagonal - begin_a);
	inputs.out_begin = range.begin + begin_diagonal;
	return inputs;
}

#endif							/* MGPU_SEGMENTED_ACTIVE_RANGES_CUH */

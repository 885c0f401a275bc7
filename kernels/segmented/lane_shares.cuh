/*
 * segmented/lane_shares.cuh
 *		The share of a piece that a lane sorts or merges in registers.
 *
 * A piece lies where it is in the tile, so shares begin at any slot and the last one may be short.
 * All of this runs on the host too, where a test emulates a CTA.
 */
#ifndef MGPU_SEGMENTED_LANE_SHARES_CUH
#define MGPU_SEGMENTED_LANE_SHARES_CUH

#include "sort/cta_sort.cuh"

/* A lane's share of a piece: up to `items` items from item lane * items on. */
struct mgpu_lane_share
{
	uint32_t	begin;			/* of the piece, a slot of the tile */
	uint32_t	num_items;		/* of the piece; 0: the lane idles */
	uint32_t	lane;
};

template <int items>
MGPU_HOST_DEVICE uint32_t
mgpu_share_items(const mgpu_lane_share &share)
{
	uint32_t	before = share.lane * items;
	uint32_t	left = share.num_items > before ? share.num_items - before : 0;

	return left < items ? left : items;
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_load_share(Key (&keys)[items], const Key *tile, const mgpu_lane_share &share)
{
	const Key  *own = tile + share.begin + share.lane * items;
	int			count = (int) mgpu_share_items<items>(share);

#pragma unroll
	for (int i = 0; i < items; i++)
		keys[i] = i < count ? own[i] : mgpu_largest_key<Key>();
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_share(const Key (&keys)[items], Key *tile, const mgpu_lane_share &share)
{
	Key		   *own = tile + share.begin + share.lane * items;
	int			count = (int) mgpu_share_items<items>(share);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		if (i < count)
			own[i] = keys[i];
	}
}

/* Is there an item smaller than its predecessor in the piece? */
template <int items, typename Key>
MGPU_HOST_DEVICE bool
mgpu_share_descends(const Key (&keys)[items], const Key *tile, const mgpu_lane_share &share)
{
	bool		descends = false;

	if (share.lane > 0 && mgpu_share_items<items>(share) > 0)
		descends = keys[0] < tile[share.begin + share.lane * items - 1];
#pragma unroll
	for (int i = 1; i < items; i++)
		descends |= keys[i] < keys[i - 1];
	return descends;
}

/* Put a share into its run of run_lanes lanes: forwards in even runs, backwards in odd. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_store_share_facing(const Key (&keys)[items], Key *tile, const mgpu_lane_share &share, uint32_t run_lanes)
{
	uint32_t	run_begin = (share.lane & ~(run_lanes - 1)) * items;
	uint32_t	run_end = run_begin + run_lanes * items < share.num_items ? run_begin + run_lanes * items :
		share.num_items;
	bool		is_odd = (share.lane & run_lanes) != 0;
	uint32_t	item = share.lane * items;
	uint32_t	slot = share.begin + (is_odd ? run_begin + run_end - 1 - item : item);
	uint32_t	step = is_odd ? 0u - 1 : 1;
	int			count = (int) mgpu_share_items<items>(share);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		if (i < count)
			tile[slot + i * step] = keys[i];
	}
}

template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_merge_share(Key (&keys)[items], const Key *tile, const mgpu_lane_share &share, uint32_t run_lanes)
{
	uint32_t	pair_begin = (share.lane & ~(2 * run_lanes - 1)) * items;
	uint32_t	run_items = run_lanes * items;
	uint32_t	count = mgpu_share_items<items>(share);
	uint32_t	pair_items;
	uint32_t	a_items;

	if (count == 0)
		return;
	pair_items = share.num_items - pair_begin < 2 * run_items ? share.num_items - pair_begin : 2 * run_items;
	a_items = pair_items < run_items ? pair_items : run_items;
	mgpu_merge_facing(keys, tile, share.begin + pair_begin, a_items, pair_items - a_items,
					  share.lane * items - pair_begin, count);
}

#endif							/* MGPU_SEGMENTED_LANE_SHARES_CUH */

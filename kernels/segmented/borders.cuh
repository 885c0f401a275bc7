/*
 * segmented/borders.cuh
 *		Where sort tiles begin and end among the segments.
 *
 * Borders are at fixed places, a sort tile apart, and move to the end of a segment where that is
 * near.  Then no merge crosses them.
 */
#ifndef MGPU_SEGMENTED_BORDERS_CUH
#define MGPU_SEGMENTED_BORDERS_CUH

#include "segmented/pieces.cuh"

/* The heads, and where each sort tile's begin among them. */
struct mgpu_segment_heads
{
	const uint32_t *heads;		/* NULL: one segment */
	const uint32_t *tile_heads; /* heads before border t, also for t = number of sort tiles */
	uint32_t	num_segments;
	uint32_t	sort_tile_items;	/* distance of borders */
	uint32_t	overhang;		/* items that a sort tile may take from behind its border */
};

struct mgpu_tile_border
{
	uint32_t	item;			/* the first one behind */
	uint32_t	next_head;		/* number of the first head at item or behind */
	uint32_t	segment_begin;	/* of the segment with the last item before the border ... */
	uint32_t	segment_end;
	bool		open;			/* ... which continues in the next sort tile */
};

/* For mgpu_find_split: how many heads lie before a border. */
struct mgpu_head_search
{
	const uint32_t *heads;
	uint64_t	num_items;
	uint32_t	num_segments;
	uint32_t	tile_items;

	/* heads are unique: no more of them than items before the border, or behind it */
	MGPU_MEMBER void
	range(uint64_t tile, uint64_t &low, uint64_t &high) const
	{
		uint64_t	item = tile * tile_items < num_items ? tile * tile_items : num_items;

		low = num_segments > num_items - item ? num_segments - (num_items - item) : 0;
		high = num_segments < item ? num_segments : item;
	}

	MGPU_MEMBER bool
	before(uint64_t tile, uint64_t head) const
	{
		return heads[head] < tile * tile_items;
	}
};

/*
 * Border `tile`, whose first head is next_head.  A segment that began in the sort tile before and
 * ends soon behind the border stays with that tile:
 *
 *	 tiles		|--------------|--------------|
 *	 segments	  |----|---------|-------|--------------
 *	 borders	|                ^              ^ open
 */
MGPU_HOST_DEVICE mgpu_tile_border
mgpu_make_border(const mgpu_segment_heads &segments, uint64_t num_items, uint32_t tile, uint32_t next_head)
{
	uint64_t	item = (uint64_t) tile * segments.sort_tile_items;
	mgpu_tile_border border = {0, 0, 0, 0, false};

	if (tile == 0)
		return border;
	border.item = border.segment_end = (uint32_t) num_items;
	border.next_head = segments.num_segments;
	if (item >= num_items)
		return border;
	border.next_head = next_head;
	border.segment_begin = segments.heads[next_head - 1];	/* head 0 is before every border */
	if (next_head < segments.num_segments)
		border.segment_end = segments.heads[next_head];
	border.open = border.segment_end > item && (border.segment_end - item > segments.overhang ||
												border.segment_begin + segments.sort_tile_items < item);
	border.item = border.open ? (uint32_t) item : border.segment_end;
	return border;
}

/* The same once tile_heads are known. */
MGPU_HOST_DEVICE mgpu_tile_border
mgpu_find_border(const mgpu_segment_heads &segments, uint64_t num_items, uint32_t tile)
{
	return mgpu_make_border(segments, num_items, tile, segments.tile_heads[tile]);
}

/* A sort tile from border to border.  It may be empty, but has a piece all the same. */
MGPU_HOST_DEVICE mgpu_tile_pieces
mgpu_find_tile_pieces(const mgpu_segment_heads &segments, uint64_t num_items, uint32_t tile)
{
	mgpu_tile_border begin = mgpu_find_border(segments, num_items, tile);
	mgpu_tile_border end = mgpu_find_border(segments, num_items, tile + 1);
	uint32_t	first_head = begin.open ? begin.next_head : begin.next_head + 1;	/* inside */
	mgpu_tile_pieces pieces = {segments.heads + first_head, begin.item, end.item - begin.item, 1,
		begin.open || end.open};

	if (end.next_head > first_head)
		pieces.num_pieces += end.next_head - first_head;
	return pieces;
}

#endif							/* MGPU_SEGMENTED_BORDERS_CUH */

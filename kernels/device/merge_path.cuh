/*
 * device/merge_path.cuh
 *		Where a merge crosses a diagonal, and the serial merge from there on.
 *
 * Merging sorted A and B traces a path through the |A| x |B| grid, which crosses every diagonal
 * once.  A binary search finds that point, so evenly spaced diagonals cut the merge into parts of
 * equal output, whatever the data (Merge Path: Odeh, Green, Mwassi, Shmueli and Birk, 2012).  An
 * item of A goes before its equals in B, so the merge is stable.  Inputs lie in shared memory in
 * one of two layouts:
 *
 *	 facing		A forwards and B backwards in one region: a pointer that runs out of its
 *				list reads the other's largest items.  Needs no bounds, but equal keys lose their order.
 *	 guarded	A and B forwards, each followed by a largest item
 *
 * A key with its index below it has no equals, so both layouts suit it.  Bounds checks on every
 * item were rejected: twice the operations.  All of this runs on the host too, where a test
 * emulates a CTA.
 */
#ifndef MGPU_DEVICE_MERGE_PATH_CUH
#define MGPU_DEVICE_MERGE_PATH_CUH

#include "device/tile.cuh"

/* How many of the first `diagonal` outputs come from a. diagonal is at most a_items + b_items. */
template <typename Key>
MGPU_HOST_DEVICE uint32_t
mgpu_merge_path(const Key *a, uint32_t a_items, const Key *b, uint32_t b_items,
				uint32_t diagonal)
{
	uint32_t	low = diagonal > b_items ? diagonal - b_items : 0;
	uint32_t	high = diagonal < a_items ? diagonal : a_items;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (b[diagonal - 1 - middle] < a[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The same for facing lists: A's item i is at pair[i], B's item j at pair[a_items + b_items - 1 - j]. */
template <typename Key>
MGPU_HOST_DEVICE uint32_t
mgpu_merge_path_facing(const Key *pair, uint32_t a_items, uint32_t b_items, uint32_t diagonal)
{
	const Key  *b = pair + (a_items + b_items - diagonal);
	uint32_t	low = diagonal > b_items ? diagonal - b_items : 0;
	uint32_t	high = diagonal < a_items ? diagonal : a_items;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (b[middle] < pair[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Merge `items` outputs of two lists that both walk up, from two offsets on, in the tile's units
 * (tile.cuh).  Items whose equals can be told apart must have none.
 *
 * Of the two heads, the smaller is put out and the larger is held; the next item comes from the
 * list of the smaller.  So the roles are not A and B but "loaded last" and "held", and an offset
 * changes only where they swap: both heads together advance by one unit an output, so the held
 * one's offset follows from the other's and from the number of outputs, which the compiler knows.
 * `offset` is the loaded head's offset less that number.
 */
template <int items, class Tile>
MGPU_HOST_DEVICE void
mgpu_serial_merge_forwards(const Tile &tile, uint32_t a_offset, uint32_t b_offset,
						   typename Tile::Item (&merged)[items])
{
	typedef typename Tile::Item Item;
	uint32_t	origin = a_offset + b_offset;
	uint32_t	offset = a_offset;
	Item		loaded = tile.at(a_offset);
	Item		held = tile.at(b_offset);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		bool		swap = held < loaded;

		merged[i] = swap ? held : loaded;
		held = swap ? loaded : held;
		if (i + 1 < items)
		{
			offset = swap ? origin - i * Tile::unit - offset : offset;
			loaded = tile.at(offset + (i + 1) * Tile::unit);
		}
	}
}

/*
 * The same for facing lists, from two byte offsets on: A's walks up and B's down.  Only A's next
 * offset is kept, since B's follows from it.  Nothing is read behind the first `outputs`, which is
 * 1 or more.
 */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_serial_merge_facing(const char *shared, uint32_t a_offset, uint32_t b_offset, Key (&merged)[items],
						 uint32_t outputs)
{
	constexpr uint32_t key_bytes = sizeof(Key);
	uint32_t	origin = b_offset - a_offset;
	uint32_t	next_a = a_offset + key_bytes;
	Key			a_key = mgpu_item_at<Key>(shared, a_offset);
	Key			b_key = mgpu_item_at<Key>(shared, b_offset);

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		bool		take_a = !(b_key < a_key);

		merged[i] = take_a ? a_key : b_key;
		if (i + 1 < items)
		{
			uint32_t	next_b = origin + next_a - (i + 2) * key_bytes;
			Key			key = a_key;

			if (i + 1 < (int) outputs)
				key = mgpu_item_at<Key>(shared, take_a ? next_a : next_b);
			next_a = take_a ? next_a + key_bytes : next_a;
			a_key = take_a ? key : a_key;
			b_key = take_a ? b_key : key;
		}
	}
}

#endif							/* MGPU_DEVICE_MERGE_PATH_CUH */

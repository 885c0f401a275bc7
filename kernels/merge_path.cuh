/*
 * merge_path.cuh
 *		Where a merge crosses a diagonal, and the serial merge from there on.
 *
 * Merging sorted A and B traces a path through the |A| x |B| grid; the path
 * crosses every diagonal once, at a point that a binary search finds.  Evenly
 * spaced diagonals cut the merge into parts of equal output, whatever the data
 * (Merge Path: Odeh, Green, Mwassi, Shmueli and Birk, 2012).  An item of A goes
 * before its equals in B, which makes the merge stable.
 *
 * A thread reads shared memory at positions that the data choose, and writes
 * registers at positions known to the compiler.  Three layouts of the inputs:
 *
 *	 facing		A forwards and B backwards in one region, so that a pointer that
 *				runs out of its list reads the other's largest items.  Right for
 *				keys whose equals cannot be told apart, and needs no bounds.
 *	 guarded	A and B forwards, each followed by the largest key items_per_thread
 *				times.  The same restriction, and copies need not reverse.
 *	 bounded	A and B forwards with their ends checked on every item: stable for
 *				keys that carry an index.
 *
 * Advancing by pointers was rejected for byte offsets from the start of shared
 * memory: one 32-bit register each, and the offset is the address.
 *
 * Everything here runs on the host as well, where a test emulates a CTA.
 */
#ifndef MGPU_MERGE_PATH_CUH
#define MGPU_MERGE_PATH_CUH

#include <stdint.h>

#define MGPU_HOST_DEVICE static __host__ __device__ __forceinline__

/* The largest key, which pads what is missing from a tile. */
template <typename Key>
__host__ __device__ constexpr Key
mgpu_largest_key()
{
	return (Key) ~(Key) 0;
}

/* The item at a byte offset into shared memory. */
template <typename Item>
MGPU_HOST_DEVICE Item
mgpu_item_at(const char *shared, uint32_t offset)
{
	return *reinterpret_cast<const Item *>(shared + offset);
}

/*
 * How many of the first `diagonal` outputs come from a.  diagonal is at most
 * a_items + b_items.
 */
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

/*
 * The same for facing lists: A's item i at pair[i], and B's item j at
 * pair[a_items + b_items - 1 - j].
 */
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
 * Merge `items` outputs from a_offset and b_offset on, where b_offset walks up
 * (guarded, b_step = 1) or down (facing, b_step = -1).  Only A's next offset is
 * kept: after i outputs, B's follows from it and i, which the compiler knows.
 */
template <int b_step, int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_serial_merge(const char *shared, uint32_t a_offset, uint32_t b_offset, Key (&merged)[items])
{
	constexpr uint32_t key_bytes = sizeof(Key);
	uint32_t	origin = b_step > 0 ? b_offset + a_offset : b_offset - a_offset;
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
			uint32_t	next_b = b_step > 0 ? origin + (i + 2) * key_bytes - next_a :
				origin + next_a - (i + 2) * key_bytes;
			Key			key = mgpu_item_at<Key>(shared, take_a ? next_a : next_b);

			next_a = take_a ? next_a + key_bytes : next_a;
			a_key = take_a ? key : a_key;
			b_key = take_a ? b_key : key;
		}
	}
}

/* A merge's inputs in shared memory as item numbers; values lie by keys. */
struct mgpu_merge_range
{
	uint32_t	a_begin;
	uint32_t	a_end;
	uint32_t	b_begin;
	uint32_t	b_end;
};

/* Where a diagonal of two lists begins; a_slot and b_slot are item numbers. */
template <typename Key>
MGPU_HOST_DEVICE mgpu_merge_range
mgpu_find_merge_range(const Key *keys, uint32_t a_slot, uint32_t a_items, uint32_t b_slot, uint32_t b_items,
					  uint32_t diagonal)
{
	uint32_t	a = mgpu_merge_path(keys + a_slot, a_items, keys + b_slot, b_items, diagonal);
	mgpu_merge_range range;

	range.a_begin = a_slot + a;
	range.a_end = a_slot + a_items;
	range.b_begin = b_slot + (diagonal - a);
	range.b_end = b_slot + b_items;
	return range;
}

/*
 * The bounded merge: keys and their values.  Past both ends it repeats the
 * largest key, with whatever value: no caller stores those.
 */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_serial_merge_bounded(const Key *keys, const uint32_t *a_values, const uint32_t *b_values,
						  mgpu_merge_range range, Key (&merged)[items], uint32_t (&values)[items])
{
	uint32_t	a = range.a_begin;
	uint32_t	b = range.b_begin;
	Key			a_key = a < range.a_end ? keys[a] : mgpu_largest_key<Key>();
	Key			b_key = b < range.b_end ? keys[b] : mgpu_largest_key<Key>();

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		bool		a_left = a < range.a_end;
		bool		b_left = b < range.b_end;
		bool		take_a = a_left && (!b_left || !(b_key < a_key));
		const uint32_t *source = take_a ? a_values : b_values;
		uint32_t	next;
		Key			next_key;

		/*
		 * Selects, not branches: the threads of a warp disagree at every step.
		 * (nvcc 13.0 at -O3 also makes wrong code of the branching form.)
		 */
		merged[i] = take_a ? a_key : b_key;
		values[i] = a_left || b_left ? source[take_a ? a : b] : 0;
		a += take_a;
		b += !take_a && b_left;
		next = take_a ? a : b;
		next_key = next < (take_a ? range.a_end : range.b_end) ? keys[next] : mgpu_largest_key<Key>();
		a_key = take_a ? next_key : a_key;
		b_key = take_a ? b_key : next_key;
	}
}

#endif							/* MGPU_MERGE_PATH_CUH */

/*
 * merge/odd_even.cuh
 *		Batcher's odd-even mergesort network, iterative, of any length.
 *
 * For size = 2, 4 ... and stride = size/2, size/4 ... 1, items i and i + stride are put in order
 * if, with q = (i mod size) / stride, q is even (stride = size/2), or q is odd and not the group's
 * last.  Items past the end count as the largest key.
 *
 * One kernel does many strides on a window in shared memory, which is rows of 128 bytes, `unit`
 * items apart.  It is launched for
 *
 *	 all sizes up to a window		a window is a tile of neighbours
 *	 a size's first 8 strides		a window's columns are whole groups, size/256 from row to row
 *	 its later strides				pairs reach across any borders: a window has extra rows on both
 *									sides, as many as its strides add up to
 *
 * and writes to the other buffer.  A window is linear in shared memory, so one step serves every
 * unit.  Source: Batcher, "Sorting networks and their applications", 1968.  Not stable: keys alone.
 */
#ifndef MGPU_MERGE_ODD_EVEN_CUH
#define MGPU_MERGE_ODD_EVEN_CUH

#include "device/tile.cuh"
#include "merge/tuning.cuh"

constexpr uint32_t
mgpu_log2(uint32_t power)
{
	return power <= 1 ? 0 : 1 + mgpu_log2(power / 2);
}

template <typename Key>
struct mgpu_odd_even_shape
{
	static constexpr uint32_t window_items = MGPU_ODD_EVEN_BYTES / sizeof(Key);
	static constexpr uint32_t row_items = MGPU_ODD_EVEN_ROW_BYTES / sizeof(Key);
	static constexpr uint32_t rows = window_items / row_items;
	static constexpr uint32_t threads = window_items / MGPU_ODD_EVEN_ITEMS;
	static constexpr uint32_t log_window = mgpu_log2(window_items);
	static constexpr uint32_t log_row = mgpu_log2(row_items);
	static constexpr uint32_t log_rows = mgpu_log2(rows);
	static constexpr uint32_t shared_items = window_items + rows;
};

/* The place of an item of the window.  One free place a row spreads columns over the banks. */
template <typename Key>
MGPU_HOST_DEVICE uint32_t
mgpu_padded(uint32_t item)
{
	return item + item / mgpu_odd_even_shape<Key>::row_items;
}

/* Strides from the first, or from half the size, to the last one, of each size. */
struct mgpu_odd_even_launch
{
	uint32_t	log_first_size;
	uint32_t	log_last_size;
	uint32_t	log_first_stride;
	uint32_t	log_last_stride;
	uint32_t	log_unit;		/* items of the array from row to row */
	uint32_t	margin_rows;	/* that a window reads and does not write, on either side */
	uint64_t	num_ctas;
};

static inline uint64_t
mgpu_divide_shifted(uint64_t dividend, uint32_t log_divisor)
{
	return (dividend + (UINT64_C(1) << log_divisor) - 1) >> log_divisor;
}

template <typename Key>
static mgpu_odd_even_launch
mgpu_plan_odd_even_launch(uint64_t num_items, uint32_t log_first_size, uint32_t log_size, uint32_t log_first,
						  uint32_t log_last)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	log_unit = log_last > Shape::log_row ? log_last : Shape::log_row;
	bool		whole_groups = log_first + 1 == log_size;
	uint32_t	margin_rows = whole_groups ? 0 : log_first >= log_unit ? 2u << (log_first - log_unit) : 1;
	uint32_t	core_rows = Shape::rows - 2 * margin_rows;
	uint64_t	num_ctas = (mgpu_divide_shifted(num_items, log_unit) + core_rows - 1) / core_rows
		<< (log_unit - Shape::log_row);

	return {log_first_size, log_size, log_first, log_last, log_unit, margin_rows, num_ctas};
}

/* Call run(launch) for every launch of a sort. */
template <typename Key, class Run>
static void
mgpu_plan_odd_even(uint64_t num_items, Run run)
{
	typedef mgpu_odd_even_shape<Key> Shape;

	run(mgpu_plan_odd_even_launch<Key>(num_items, 1, Shape::log_window, Shape::log_window - 1, 0));
	for (uint32_t log_size = Shape::log_window + 1; UINT64_C(1) << (log_size - 1) < num_items; log_size++)
	{
		uint32_t	strides = Shape::log_rows;

		for (uint32_t left = log_size; left > 0; left -= strides)
		{
			if (left < log_size)
				strides = left <= Shape::log_row + MGPU_ODD_EVEN_MIDDLE_STRIDES ? left : MGPU_ODD_EVEN_MIDDLE_STRIDES;
			run(mgpu_plan_odd_even_launch<Key>(num_items, log_size, log_size, left - 1, left - strides));
		}
	}
}

/* The row of the array, counted in units, at which a CTA's window begins. */
template <typename Key>
MGPU_HOST_DEVICE int64_t
mgpu_odd_even_first_row(const mgpu_odd_even_launch &launch, uint64_t cta)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	core_rows = Shape::rows - 2 * launch.margin_rows;

	return (int64_t) ((cta >> (launch.log_unit - Shape::log_row)) * core_rows) - launch.margin_rows;
}

/* The array index of an item of a CTA's window.  Items before the array get 2^63 or more. */
template <typename Key>
MGPU_HOST_DEVICE uint64_t
mgpu_odd_even_index(const mgpu_odd_even_launch &launch, uint64_t cta, uint32_t item)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint64_t	row = (uint64_t) (mgpu_odd_even_first_row<Key>(launch, cta) + (int64_t) (item >> Shape::log_row));
	uint64_t	across = cta & ((UINT64_C(1) << (launch.log_unit - Shape::log_row)) - 1);	/* windows side by side */

	return (row << launch.log_unit) + (across << Shape::log_row) + (item & (Shape::row_items - 1));
}

/* Does a window write this item? */
template <typename Key>
MGPU_HOST_DEVICE bool
mgpu_odd_even_is_core(const mgpu_odd_even_launch &launch, uint32_t item)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	row = item >> Shape::log_row;

	return row >= launch.margin_rows && row < Shape::rows - launch.margin_rows;
}

/* The first stride of one of a launch's sizes. */
MGPU_HOST_DEVICE int
mgpu_odd_even_log_first(const mgpu_odd_even_launch &launch, uint32_t log_size)
{
	return (int) (log_size <= launch.log_first_stride ? log_size - 1 : launch.log_first_stride);
}

/* A thread's pairs of one size and stride, in a CTA's window. */
template <typename Key>
MGPU_HOST_DEVICE void
mgpu_exchange_window(Key *window, uint32_t thread, const mgpu_odd_even_launch &launch, uint64_t cta, uint32_t log_size,
					 uint32_t log_stride)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	/* in places of the window, where rows follow each other; the first one modulo 2^32 */
	uint32_t	shift = launch.log_unit - Shape::log_row;
	uint32_t	stride = 1u << (log_stride - shift);
	uint32_t	size_mask = (uint32_t) ((UINT64_C(1) << (log_size - shift)) - 1);
	uint32_t	origin = (uint32_t) mgpu_odd_even_first_row<Key>(launch, cta) << Shape::log_row;
	uint32_t	first_left = log_stride + 1 == log_size ? 0 : stride;

#pragma unroll
	for (uint32_t i = 0; i < MGPU_ODD_EVEN_ITEMS / 2; i++)
	{
		uint32_t	pair = thread + i * Shape::threads;
		uint32_t	left = first_left + 2 * pair - (pair & (stride - 1));
		uint32_t	right = left + stride;

		/* a right item among the first `stride` of a group has its left one in another group */
		if (right < Shape::window_items && ((origin + right) & size_mask) >= stride)
		{
			Key			left_key = window[mgpu_padded<Key>(left)];
			Key			right_key = window[mgpu_padded<Key>(right)];

			if (right_key < left_key)
			{
				window[mgpu_padded<Key>(left)] = right_key;
				window[mgpu_padded<Key>(right)] = left_key;
			}
		}
	}
}

#endif							/* MGPU_MERGE_ODD_EVEN_CUH */

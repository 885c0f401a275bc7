/*
 * merge/odd_even.cuh
 *		Batcher's odd-even mergesort network, iterative, of any length.
 *
 * For size = 2, 4 ... and stride = size/2, size/4 ... 1, items i and i + stride are put in order
 * if, with q = (i mod size) / stride, q is even (stride = size/2), or q is odd and not the group's
 * last.  Items past the end count as the largest key.  A CTA loads a window and does many strides
 * on it:
 *
 *	 tiles		all sizes up to a tile
 *	 columns	a level's first 8 strides: columns of 256 items, size/256 apart
 *	 window		later strides; a window has extra rows on both sides, as many as its
 *				strides add up to, and its output goes to the other buffer
 *
 * A window is linear in shared memory, so one step serves all kinds of launch: `unit` items lie
 * between neighbours of a column.  Source: Batcher, "Sorting networks and their applications",
 * 1968.  Not stable: keys alone.
 */
#ifndef MGPU_MERGE_ODD_EVEN_CUH
#define MGPU_MERGE_ODD_EVEN_CUH

#include "device/merge_path.cuh"
#include "merge/ops.h"
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
	static constexpr uint32_t items = 1 << MGPU_ODD_EVEN_LOG_ITEMS;
	static constexpr uint32_t threads = window_items / items;
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

/* ------------------------------------------------------------ the network */

template <typename Key>
MGPU_HOST_DEVICE void
mgpu_exchange(Key &left, Key &right)
{
	Key			low = right < left ? right : left;
	Key			high = right < left ? left : right;

	left = low;
	right = high;
}

/* The pairs of one size and stride among the items of a thread. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_exchange_own(Key (&keys)[items], int size, int stride)
{
#pragma unroll
	for (int i = 0; i < items; i++)
	{
		int			q = (i & (size - 1)) / stride;
		bool		paired = 2 * stride == size ? q % 2 == 0 : q % 2 == 1 && q != size / stride - 1;

		if (paired && i + stride < items)
			mgpu_exchange(keys[i], keys[i + stride < items ? i + stride : i]);
	}
}

/* All strides of one size, at most `items`. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_level_own(Key (&keys)[items], int log_size)
{
#pragma unroll
	for (int log_stride = MGPU_ODD_EVEN_LOG_ITEMS - 1; log_stride >= 0; log_stride--)
		if (log_stride < log_size)
			mgpu_exchange_own(keys, 1 << log_size, 1 << log_stride);
}

/* Sort a thread's items: all sizes up to their number. */
template <int items, typename Key>
MGPU_HOST_DEVICE void
mgpu_sort_own(Key (&keys)[items])
{
#pragma unroll
	for (int log_size = 1; log_size <= MGPU_ODD_EVEN_LOG_ITEMS; log_size++)
		mgpu_level_own(keys, log_size);
}

/*
 * A thread's pairs of one stride below half the size, in a window that starts at `origin` (modulo
 * 2^32) of its list.  Twice the stride divides origin.
 */
template <typename Key>
MGPU_HOST_DEVICE void
mgpu_exchange_window(Key *window, uint32_t thread, uint32_t origin, uint32_t size_mask, uint32_t log_stride)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	stride = 1u << log_stride;

#pragma unroll
	for (uint32_t i = 0; i < Shape::items / 2; i++)
	{
		uint32_t	pair = thread + i * Shape::threads;
		uint32_t	left = ((2 * (pair >> log_stride) + 1) << log_stride) + (pair & (stride - 1));
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

/* The first strides of one size in a tile.  A thread's items are a column of the group, size / items apart. */
template <typename Key>
MGPU_HOST_DEVICE void
mgpu_exchange_column(Key *tile, uint32_t thread, uint32_t log_size)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	log_unit = log_size - MGPU_ODD_EVEN_LOG_ITEMS;
	uint32_t	first = ((thread >> log_unit) << log_size) + (thread & ((1u << log_unit) - 1));
	Key			keys[Shape::items];

#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
		keys[i] = tile[mgpu_padded<Key>(first + (i << log_unit))];
	mgpu_level_own(keys, MGPU_ODD_EVEN_LOG_ITEMS);
#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
		tile[mgpu_padded<Key>(first + (i << log_unit))] = keys[i];
}

/* ---------------------------------------------------------------- launches */

enum mgpu_odd_even_kind
{
	MGPU_ODD_EVEN_TILES,
	MGPU_ODD_EVEN_COLUMNS,
	MGPU_ODD_EVEN_WINDOW
};

/* One launch.  Sizes and strides of a window count places in its shared memory. */
struct mgpu_odd_even_launch
{
	mgpu_odd_even_kind kind;
	uint32_t	log_size;		/* tiles: of the last size; columns: in items; window: linear */
	uint32_t	log_unit;
	uint32_t	log_first;		/* window: strides from the first to the last */
	uint32_t	log_last;
	uint32_t	margin_rows;	/* window: on either side */
	uint64_t	num_ctas;
};

/* Tiles, and at most five launches a level. */
#define MGPU_ODD_EVEN_MAX_LAUNCHES (1 + 32 * 5)

MGPU_HOST_DEVICE uint32_t
mgpu_size_mask(uint32_t log_size)
{
	return log_size >= 32 ? ~UINT32_C(0) : (UINT32_C(1) << log_size) - 1;
}

/*
 * Where a CTA's rows are: item (row, column) of its window is at (first_row + row) * unit +
 * first_column + column of the array.
 */
struct mgpu_odd_even_place
{
	int64_t		first_row;
	uint64_t	first_column;
};

template <typename Key>
MGPU_HOST_DEVICE mgpu_odd_even_place
mgpu_odd_even_place_of(const mgpu_odd_even_launch &launch, uint64_t cta)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	log_across = launch.log_unit - Shape::log_row;	/* windows side by side */
	uint32_t	core_rows = Shape::rows - 2 * launch.margin_rows;
	mgpu_odd_even_place place;

	place.first_row = (int64_t) ((cta >> log_across) * core_rows) - launch.margin_rows;
	place.first_column = (cta & ((UINT64_C(1) << log_across) - 1)) << Shape::log_row;
	return place;
}

/* The array index of an item of the window.  Items before the array get 2^63 or more. */
template <typename Key>
MGPU_HOST_DEVICE uint64_t
mgpu_odd_even_index(const mgpu_odd_even_launch &launch, mgpu_odd_even_place place, uint32_t item)
{
	typedef mgpu_odd_even_shape<Key> Shape;

	return ((uint64_t) (place.first_row + (int64_t) (item >> Shape::log_row)) << launch.log_unit) +
		place.first_column + (item & (Shape::row_items - 1));
}

/* The distance in the array from a thread's item of the window to its next. */
template <typename Key>
MGPU_HOST_DEVICE uint64_t
mgpu_odd_even_step(const mgpu_odd_even_launch &launch)
{
	typedef mgpu_odd_even_shape<Key> Shape;

	return (uint64_t) (Shape::threads >> Shape::log_row) << launch.log_unit;
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

static inline uint64_t
mgpu_divide_shifted(uint64_t dividend, uint32_t log_divisor)
{
	return (dividend + (UINT64_C(1) << log_divisor) - 1) >> log_divisor;
}

/* A window launch for strides 2^high ... 2^low (in items) of size 2^log_size. */
template <typename Key>
static mgpu_odd_even_launch
mgpu_plan_window(uint64_t num_items, uint32_t log_size, uint32_t high, uint32_t low)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	mgpu_odd_even_launch launch;
	uint32_t	core_rows;

	launch.kind = MGPU_ODD_EVEN_WINDOW;
	launch.log_unit = low > Shape::log_row ? low : Shape::log_row;
	launch.log_first = high - launch.log_unit + Shape::log_row;
	launch.log_last = low > Shape::log_row ? Shape::log_row : low;
	launch.log_size = log_size - launch.log_unit + Shape::log_row;
	launch.margin_rows = launch.log_first >= Shape::log_row ? 2u << (launch.log_first - Shape::log_row) : 1;
	core_rows = Shape::rows - 2 * launch.margin_rows;
	launch.num_ctas = (mgpu_divide_shifted(num_items, launch.log_unit) + core_rows - 1) / core_rows
		<< (launch.log_unit - Shape::log_row);
	return launch;
}

/* Plan one level beyond the tiles; returns the number of launches. */
template <typename Key>
static int
mgpu_plan_level(uint64_t num_items, uint32_t log_size, mgpu_odd_even_launch *launches)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	last_high = Shape::log_row + MGPU_ODD_EVEN_MIDDLE_STRIDES - 1;
	uint32_t	high = log_size - Shape::log_rows - 1;
	int			num_launches = 0;
	mgpu_odd_even_launch *columns = &launches[num_launches++];

	columns->kind = MGPU_ODD_EVEN_COLUMNS;
	columns->log_size = log_size;
	columns->log_unit = log_size - Shape::log_rows;
	columns->log_first = columns->log_last = 0;
	columns->margin_rows = 0;
	columns->num_ctas = mgpu_divide_shifted(num_items, log_size) << (columns->log_unit - Shape::log_row);
	while (high > last_high)
	{
		uint32_t	left = high - last_high;
		uint32_t	passes = (left + MGPU_ODD_EVEN_MIDDLE_STRIDES - 1) / MGPU_ODD_EVEN_MIDDLE_STRIDES;
		uint32_t	strides = (left + passes - 1) / passes;

		launches[num_launches++] = mgpu_plan_window<Key>(num_items, log_size, high, high - strides + 1);
		high -= strides;
	}
	launches[num_launches++] = mgpu_plan_window<Key>(num_items, log_size, high, 0);
	return num_launches;
}

/* Plan a sort of two items or more; returns the number of launches. */
template <typename Key>
static int
mgpu_plan_odd_even(uint64_t num_items, mgpu_odd_even_launch *launches)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	log_items = 1;
	int			num_launches = 1;

	while (UINT64_C(1) << log_items < num_items)
		log_items++;
	launches[0] = {MGPU_ODD_EVEN_TILES, Shape::log_window, Shape::log_row, 0, 0, 0,
		mgpu_divide_shifted(num_items, Shape::log_window)};
	for (uint32_t log_size = Shape::log_window + 1; log_size <= log_items; log_size++)
		num_launches += mgpu_plan_level<Key>(num_items, log_size, launches + num_launches);
	return num_launches;
}

#ifdef __CUDACC__

/* ----------------------------------------------------------------- kernels */

template <typename Key>
static __global__ void
__launch_bounds__(mgpu_odd_even_shape<Key>::threads, 1024 / mgpu_odd_even_shape<Key>::threads)
mgpu_odd_even_tiles(const Key *in, Key *out, uint64_t num_items, mgpu_odd_even_launch launch)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	__shared__ Key tile[Shape::shared_items];
	uint32_t	thread = threadIdx.x;
	uint64_t	begin = (uint64_t) blockIdx.x * Shape::window_items;
	Key			keys[Shape::items];

	/* the first sizes may sort any items of the tile together: a warp takes neighbours */
#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
	{
		uint64_t	item = begin + i * Shape::threads + thread;

		keys[i] = item < num_items ? in[item] : mgpu_largest_key<Key>();
	}
	mgpu_sort_own(keys);
#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
		tile[mgpu_padded<Key>(thread * Shape::items + i)] = keys[i];
	__syncthreads();				/* sorted groups of 16 are in place */
	for (uint32_t log_size = MGPU_ODD_EVEN_LOG_ITEMS + 1; log_size <= Shape::log_window; log_size++)
	{
		mgpu_exchange_column(tile, thread, log_size);
		__syncthreads();			/* one stage is done */
		for (int log_stride = (int) log_size - MGPU_ODD_EVEN_LOG_ITEMS - 1; log_stride >= 0; log_stride--)
		{
			mgpu_exchange_window(tile, thread, 0, mgpu_size_mask(log_size), log_stride);
			__syncthreads();		/* one stage is done */
		}
	}
	for (uint32_t item = thread; item < Shape::window_items && begin + item < num_items; item += Shape::threads)
		out[begin + item] = tile[mgpu_padded<Key>(item)];
}

template <typename Key>
static __global__ void
__launch_bounds__(mgpu_odd_even_shape<Key>::threads, 1024 / mgpu_odd_even_shape<Key>::threads)
mgpu_odd_even_columns(const Key *in, Key *out, uint64_t num_items, mgpu_odd_even_launch launch)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	__shared__ Key window[Shape::shared_items];
	uint32_t	thread = threadIdx.x;
	mgpu_odd_even_place place = mgpu_odd_even_place_of<Key>(launch, blockIdx.x);
	uint64_t	first = mgpu_odd_even_index<Key>(launch, place, thread);
	uint64_t	step = mgpu_odd_even_step<Key>(launch);
	Key			keys[Shape::items];

	/* a thread's items are one column of every sixteenth row */
#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
		keys[i] = first + i * step < num_items ? in[first + i * step] : mgpu_largest_key<Key>();
	mgpu_level_own(keys, MGPU_ODD_EVEN_LOG_ITEMS);
#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
		window[mgpu_padded<Key>(thread + i * Shape::threads)] = keys[i];
	__syncthreads();				/* the first strides are done */
	for (uint32_t log_stride = Shape::log_window - MGPU_ODD_EVEN_LOG_ITEMS - 1; log_stride >= Shape::log_row; log_stride--)
	{
		mgpu_exchange_window(window, thread, 0, mgpu_size_mask(Shape::log_window), log_stride);
		__syncthreads();			/* one stage is done */
	}
	/* not unrolled: addresses would take registers during the stages */
#pragma unroll 4
	for (uint32_t i = 0; i < Shape::items; i++)
		if (first + i * step < num_items)
			out[first + i * step] = window[mgpu_padded<Key>(thread + i * Shape::threads)];
}

template <typename Key>
static __global__ void
__launch_bounds__(mgpu_odd_even_shape<Key>::threads, 1024 / mgpu_odd_even_shape<Key>::threads)
mgpu_odd_even_window(const Key *in, Key *out, uint64_t num_items, mgpu_odd_even_launch launch)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	__shared__ Key window[Shape::shared_items];
	uint32_t	thread = threadIdx.x;
	mgpu_odd_even_place place = mgpu_odd_even_place_of<Key>(launch, blockIdx.x);
	uint64_t	first = mgpu_odd_even_index<Key>(launch, place, thread);
	uint64_t	step = mgpu_odd_even_step<Key>(launch);
	uint32_t	origin = (uint32_t) place.first_row << Shape::log_row;

#pragma unroll
	for (uint32_t i = 0; i < Shape::items; i++)
		window[mgpu_padded<Key>(thread + i * Shape::threads)] =
			first + i * step < num_items ? in[first + i * step] : mgpu_largest_key<Key>();
	__syncthreads();				/* the window is loaded */
	for (int log_stride = (int) launch.log_first; log_stride >= (int) launch.log_last; log_stride--)
	{
		mgpu_exchange_window(window, thread, origin, mgpu_size_mask(launch.log_size), log_stride);
		__syncthreads();			/* one stage is done */
	}
#pragma unroll 4
	for (uint32_t i = 0; i < Shape::items; i++)
	{
		uint32_t	item = thread + i * Shape::threads;

		if (first + i * step < num_items && mgpu_odd_even_is_core<Key>(launch, item))
			out[first + i * step] = window[mgpu_padded<Key>(item)];
	}
}

/* -------------------------------------------------------------------- host */

template <typename Key>
static cudaError_t
mgpu_odd_even_sort(mgpu_odd_even_request *request)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	mgpu_odd_even_launch launches[MGPU_ODD_EVEN_MAX_LAUNCHES];
	int			num_launches = mgpu_plan_odd_even<Key>(request->num_items, launches);
	cudaError_t status = cudaSuccess;

	for (int i = 0; i < num_launches && status == cudaSuccess; i++)
	{
		auto		kernel = launches[i].kind == MGPU_ODD_EVEN_TILES ? mgpu_odd_even_tiles<Key> :
			launches[i].kind == MGPU_ODD_EVEN_COLUMNS ? mgpu_odd_even_columns<Key> : mgpu_odd_even_window<Key>;

		kernel<<<(unsigned) launches[i].num_ctas, Shape::threads, 0, request->stream>>>
			(static_cast<const Key *>(request->keys[request->current]),
			 static_cast<Key *>(request->keys[request->current ^ 1]), request->num_items, launches[i]);
		status = cudaGetLastError();
		request->current ^= 1;
	}
	return status;
}

#endif							/* __CUDACC__ */
#endif							/* MGPU_MERGE_ODD_EVEN_CUH */

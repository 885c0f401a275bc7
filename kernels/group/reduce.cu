/*
 * group/reduce.cu
 *		Counts, and sums and extremes of integers, of the values of each group.
 *
 * A warp takes a tile of rows in the order of groups, 32 at a time.  In each 32 a segmented scan adds up each group's
 * values; what a group has in the rows before is carried into its next.  A group that lies in the tile is stored.
 * Parts of others are combined in memory by atomics.  So one group of all rows costs some atomics a tile, and groups
 * of one row each none.  A warp for each group was rejected: one large group would take a warp for all rows.
 */
#include "group/packed.cuh"

#define THREADS 128
#define TILE_ROWS 512

/* What a group has of a column's values. */
struct integer_part
{
	uint64_t	count;
	uint64_t	low;			/* of the values' low 32 bits */
	int64_t		high;			/* of the rest */
	uint64_t	least;
	uint64_t	greatest;
};

static __device__ __forceinline__ integer_part
no_part()
{
	return {0, 0, 0, ~UINT64_C(0), 0};
}

static __device__ __forceinline__ void
add_part(integer_part *to, const integer_part &from)
{
	to->count += from.count;
	to->low += from.low;
	to->high += from.high;
	to->least = min(to->least, from.least);
	to->greatest = max(to->greatest, from.greatest);
}

static __device__ __forceinline__ uint64_t
shuffle(uint64_t value, int lane)
{
	return __shfl_sync(MGPU_WHOLE_WARP, (unsigned long long) value, lane);
}

/* The part of another lane.  All lanes call it. */
template <bool counts_only>
static __device__ __forceinline__ integer_part
part_of_lane(const integer_part &part, int lane)
{
	integer_part other = no_part();

	other.count = shuffle(part.count, lane);
	if constexpr (!counts_only)
	{
		other.low = shuffle(part.low, lane);
		other.high = (int64_t) shuffle((uint64_t) part.high, lane);
		other.least = shuffle(part.least, lane);
		other.greatest = shuffle(part.greatest, lane);
	}
	return other;
}

/* The value at a position, if it is not NULL. */
template <bool counts_only>
static __device__ __forceinline__ integer_part
load_part(const mgpu_reduce_request &request, uint64_t position)
{
	uint64_t	row = request.rows.order == nullptr ? position : request.rows.order[position];
	uint64_t	code;

	if (mgpu_is_null(request.nulls, request.column, row))
		return no_part();
	if constexpr (counts_only)
		return {1, 0, 0, ~UINT64_C(0), 0};
	code = request.codes[row];
	return {1, mgpu_integer_low(code, request.kind), mgpu_integer_high(code, request.kind), code, code};
}

/* Lanes at which a group begins, of 32 positions from `first` on.  group: that of the position before, or the next. */
static __device__ __forceinline__ uint32_t
heads_of(const mgpu_grouped_rows &rows, uint64_t first, int64_t group)
{
	uint64_t	next = (uint64_t) (group + 1) + threadIdx.x % 32;
	uint64_t	start = next < rows.num_groups ? rows.starts[next] : UINT64_MAX;
	uint32_t	heads = start >= first && start < first + 32 ? 1u << (start - first) : 0;

	for (int distance = 16; distance > 0; distance /= 2)
		heads |= __shfl_xor_sync(MGPU_WHOLE_WARP, heads, distance);
	return heads;
}

/* Each lane's part becomes that of its group up to it. */
template <bool counts_only>
static __device__ __forceinline__ void
scan_parts(integer_part *part, uint32_t heads)
{
	int			lane = threadIdx.x % 32;
	uint32_t	up_to = heads & (0xFFFFFFFFu >> (31 - lane));
	int			first = up_to == 0 ? 0 : 31 - __clz((int) up_to);

	for (int distance = 1; distance < 32; distance *= 2)
	{
		integer_part other = part_of_lane<counts_only>(*part, lane >= distance ? lane - distance : lane);

		if (lane - distance >= first)
			add_part(part, other);
	}
}

template <bool counts_only>
static __device__ __forceinline__ void
store_part(uint64_t *words, const integer_part &part)
{
	words[0] = part.count;
	if constexpr (!counts_only)
	{
		words[1] = part.low;
		words[2] = (uint64_t) part.high;
		words[3] = part.least;
		words[4] = part.greatest;
	}
}

template <bool counts_only>
static __device__ __forceinline__ void
combine_part(uint64_t *words, const integer_part &part)
{
	unsigned long long *to = reinterpret_cast<unsigned long long *>(words);

	if (part.count == 0)
		return;
	atomicAdd(&to[0], (unsigned long long) part.count);
	if constexpr (!counts_only)
	{
		atomicAdd(&to[1], (unsigned long long) part.low);
		atomicAdd(&to[2], (unsigned long long) part.high);
		atomicMin(&to[3], (unsigned long long) part.least);
		atomicMax(&to[4], (unsigned long long) part.greatest);
	}
}

/* The number of groups that begin before a position. */
static __device__ __forceinline__ int64_t
groups_before(const mgpu_grouped_rows &rows, uint64_t position)
{
	return (int64_t) mgpu_first_from(rows.starts, rows.num_groups, position);
}

template <bool counts_only>
static __global__ void
__launch_bounds__(THREADS)
reduce_tiles(const __grid_constant__ mgpu_reduce_request request)
{
	const mgpu_grouped_rows &rows = request.rows;
	int			lane = threadIdx.x % 32;
	uint64_t	begin = ((uint64_t) blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * TILE_ROWS;
	uint64_t	end = min(begin + TILE_ROWS, rows.num_rows);
	integer_part carry = no_part();
	int64_t		group_before;

	if (begin >= rows.num_rows)
		return;
	group_before = groups_before(rows, begin) - 1;
	for (uint64_t first = begin; first < end; first += 32)
	{
		uint64_t	position = first + lane;
		uint32_t	heads = heads_of(rows, first, group_before);
		int64_t		group = group_before + __popc(heads & (0xFFFFFFFFu >> (31 - lane)));
		integer_part part = position < end ? load_part<counts_only>(request, position) : no_part();

		if (lane == 0 && (heads & 1) == 0)
			add_part(&part, carry);
		scan_parts<counts_only>(&part, heads);
		carry = part_of_lane<counts_only>(part, 31);
		if (position < end && (position + 1 == end || position + 1 == mgpu_group_end(rows, (uint64_t) group)))
		{
			uint64_t   *words = request.words + (uint64_t) group * request.record_words;

			if (rows.starts[group] >= begin && mgpu_group_end(rows, (uint64_t) group) <= end)
				store_part<counts_only>(words, part);
			else
				combine_part<counts_only>(words, part);
		}
		group_before = (int64_t) shuffle((uint64_t) group, 31);
	}
}

/* What parts are combined with. */
struct clear_function
{
	uint64_t   *words;
	uint32_t	record_words;
	bool		counts_only;

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		if (counts_only)
			store_part<true>(words + group * record_words, no_part());
		else
			store_part<false>(words + group * record_words, no_part());
	}
};

extern "C" cudaError_t
mgpu_group_reduce(const mgpu_reduce_request *request, cudaStream_t stream)
{
	bool		counts_only = request->reduction == MGPU_REDUCE_COUNT;
	uint32_t	num_ctas = mgpu_divide_up(request->rows.num_rows, TILE_ROWS * (THREADS / 32));
	cudaError_t status = mgpu_launch_group_map(clear_function{request->words, request->record_words, counts_only},
											   request->rows.num_groups, stream);

	if (status != cudaSuccess || num_ctas == 0)
		return status;
	if (counts_only)
		reduce_tiles<true><<<num_ctas, THREADS, 0, stream>>>(*request);
	else
		reduce_tiles<false><<<num_ctas, THREADS, 0, stream>>>(*request);
	return cudaGetLastError();
}

/* ------------------------------------------------------------------- ranks */

struct extremes_function
{
	mgpu_extremes_request request;

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		uint64_t   *words = request.words + group * request.record_words;
		bool		is_none = words[0] == 0;
		uint32_t	least = is_none ? 0 : request.order[request.starts[words[3]]];
		uint32_t	greatest = is_none ? 0 : request.order[request.starts[words[4]]];

		for (uint32_t i = 0; i < request.num_cells; i++)
		{
			words[1 + i] = is_none ? UINT64_MAX : request.codes[i][least];
			words[1 + request.num_cells + i] = is_none ? 0 : request.codes[i][greatest];
		}
	}
};

extern "C" cudaError_t
mgpu_group_fetch_extremes(const mgpu_extremes_request *request, cudaStream_t stream)
{
	return mgpu_launch_group_map(extremes_function{*request}, request->num_groups, stream);
}

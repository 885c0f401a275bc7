/*
 * group/limit.cu
 *		The first rows of each group: how many are kept, and their marks and values.
 *
 * Rows lie in order, group after group.  A thread finds how many of one group are kept: for ranks, by searching for the
 * end of the rows that equal the last wanted one.  Sums of these numbers tell where rows go.
 */
#include "group/packed.cuh"

#include <cub/device/device_scan.cuh>

/* The rows of a request as kernels see them. */
struct limited_rows
{
	mgpu_group_columns columns;
	const uint32_t *order;
	const uint32_t *starts;
	uint64_t	num_rows;
	uint32_t	order_mask;		/* a bit for each order column */
	uint32_t	rule;
	uint64_t	limit;
};

static limited_rows
rows_of(const mgpu_limit_request *request)
{
	limited_rows rows = {request->columns, request->order, request->starts, request->num_rows, 0,
		request->spec->limit_rule, request->spec->limit};

	for (uint32_t i = 0; i < request->spec->num_orders; i++)
		rows.order_mask |= 1u << request->spec->orders[i].column;
	return rows;
}

/* Whether the rows at two positions are equal in all order columns.  The code of a NULL is 0. */
static __device__ __forceinline__ bool
are_peers(const limited_rows &rows, uint64_t a, uint64_t b)
{
	uint32_t	row_a = rows.order[a];
	uint32_t	row_b = rows.order[b];

	if (((rows.columns.nulls[row_a] ^ rows.columns.nulls[row_b]) & rows.order_mask) != 0)
		return false;
	for (uint32_t mask = rows.order_mask; mask != 0; mask &= mask - 1)
	{
		const uint64_t *codes = rows.columns.codes[__ffs((int) mask) - 1];

		if (codes[row_a] != codes[row_b])
			return false;
	}
	return true;
}

/* Where the peers of a position end, at most. */
static __device__ uint64_t
peers_end(const limited_rows &rows, uint64_t position, uint64_t end)
{
	uint64_t	begin = position + 1;

	while (begin < end)
	{
		uint64_t	middle = (begin + end) / 2;

		if (are_peers(rows, position, middle))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

/* ------------------------------------------------------------------- limit */

struct kept_function
{
	limited_rows rows;
	const uint64_t *num_groups;
	uint32_t   *kept;

	__device__ __forceinline__ uint64_t
	kept_end(uint64_t start, uint64_t end) const
	{
		uint64_t	wanted = rows.limit;

		if (wanted >= end - start)
			return end;
		if (rows.rule == MGPU_LIMIT_ROWS)
			return start + wanted;
		if (rows.rule == MGPU_LIMIT_RANKS)
			return peers_end(rows, start + wanted - 1, end);
		for (; wanted > 0 && start < end; wanted--)
			start = peers_end(rows, start, end);
		return start;
	}

	__device__ __forceinline__ void
	operator()(uint64_t group) const
	{
		uint64_t	start;
		uint64_t	end;

		kept[group] = 0;
		if (group >= *num_groups)
			return;
		start = rows.starts[group];
		end = group + 1 < *num_groups ? rows.starts[group + 1] : rows.num_rows;
		kept[group] = (uint32_t) (kept_end(start, end) - start);
	}
};

static cudaError_t
sum_up(uint32_t *ends, uint64_t num_rows, void *temp, size_t *temp_bytes, cudaStream_t stream)
{
	return cub::DeviceScan::InclusiveSum(temp, *temp_bytes, (const uint32_t *) ends, ends, (int64_t) num_rows, stream);
}

extern "C" uint64_t
mgpu_group_limit_temp_bytes(uint64_t num_rows)
{
	size_t		bytes = 0;

	if (sum_up(nullptr, num_rows, nullptr, &bytes, 0) != cudaSuccess)
		(void) cudaGetLastError();	/* the call that does it fails too */
	return bytes;
}

extern "C" cudaError_t
mgpu_group_limit_rows(const mgpu_limit_request *request, void *temp, uint64_t temp_bytes, cudaStream_t stream)
{
	size_t		bytes = temp_bytes;
	cudaError_t code = mgpu_launch_group_map(kept_function{rows_of(request), request->num_groups, request->ends},
											 request->num_rows, stream);

	if (code == cudaSuccess)
		code = sum_up(request->ends, request->num_rows, temp, &bytes, stream);
	/* the low half of a number that is 0 */
	if (code == cudaSuccess)
		code = cudaMemcpyAsync(request->num_returned, request->ends + request->num_rows - 1, sizeof(uint32_t),
							   cudaMemcpyDeviceToDevice, stream);
	return code;
}

/* -------------------------------------------------------------------- rows */

static __device__ __forceinline__ void
store_value(void *values, uint32_t width, uint64_t item, uint64_t bits)
{
	switch (width)
	{
		case 1:
			((uint8_t *) values)[item] = (uint8_t) bits;
			break;
		case 2:
			((uint16_t *) values)[item] = (uint16_t) bits;
			break;
		case 4:
			((uint32_t *) values)[item] = (uint32_t) bits;
			break;
		default:
			((uint64_t *) values)[item] = bits;
	}
}

struct return_function
{
	limited_rows rows;
	const uint32_t *ends;
	mgpu_returned_rows out;
	uint32_t	num_columns;
	uint32_t	kinds[MGPU_GROUP_MAX_COLUMNS];
	uint32_t	widths[MGPU_GROUP_MAX_COLUMNS];

	__device__ __forceinline__ void
	operator()(uint64_t item) const
	{
		uint64_t	group = mgpu_first_from(ends, out.num_groups, item + 1);
		uint64_t	start = rows.starts[group];
		uint64_t	position = start + item - (group > 0 ? ends[group - 1] : 0);
		uint32_t	row = rows.order[position];
		uint32_t	nulls = rows.columns.nulls[row];
		uint32_t	marks = position == start ? MGPU_MARK_GROUP | MGPU_MARK_PEERS :
			are_peers(rows, position - 1, position) ? 0 : MGPU_MARK_PEERS;

		for (uint32_t i = 0; i < num_columns; i++)
		{
			bool		is_null = (nulls >> i & 1) != 0;

			if (out.values[i] == nullptr)
				continue;
			marks |= (uint32_t) is_null << i;
			store_value(out.values[i], widths[i], item,
						is_null ? 0 : mgpu_column_bits(rows.columns.codes[i][row], kinds[i], widths[i]));
		}
		out.marks[item] = marks;
	}
};

extern "C" cudaError_t
mgpu_group_return_rows(const mgpu_limit_request *request, const mgpu_returned_rows *rows, cudaStream_t stream)
{
	return_function function = {rows_of(request), request->ends, *rows, request->spec->num_columns, {}, {}};

	for (uint32_t i = 0; i < request->spec->num_columns; i++)
	{
		function.kinds[i] = request->spec->columns[i].kind;
		function.widths[i] = request->spec->columns[i].width;
	}
	return mgpu_launch_group_map(function, rows->num_returned, stream);
}

/* ----------------------------------------------------------------- compose */

struct compose_function
{
	const uint32_t *first;
	const uint32_t *second;
	uint32_t   *out;

	__device__ __forceinline__ void
	operator()(uint64_t i) const
	{
		out[i] = first[second[i]];
	}
};

extern "C" cudaError_t
mgpu_group_compose(const uint32_t *first, const uint32_t *second, uint64_t num_rows, uint32_t *out, cudaStream_t stream)
{
	return mgpu_launch_group_map(compose_function{first, second, out}, num_rows, stream);
}

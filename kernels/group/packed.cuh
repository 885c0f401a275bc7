/*
 * group/packed.cuh
 *		Numbers that stand for the keys and values of a row, and kernels with a thread an item.
 */
#ifndef MGPU_GROUP_PACKED_CUH
#define MGPU_GROUP_PACKED_CUH

#include "device/arithmetic.cuh"
#include "device/tuning.cuh"
#include "group/group.h"

/* The greatest of all lanes. */
static __device__ __forceinline__ uint64_t
mgpu_warp_greatest(uint64_t value)
{
	for (int distance = 16; distance > 0; distance /= 2)
		value = max(value, (uint64_t) __shfl_xor_sync(MGPU_WHOLE_WARP, (unsigned long long) value, distance));
	return value;
}

static __device__ __forceinline__ bool
mgpu_is_null(const uint32_t *nulls, uint32_t column, uint64_t row)
{
	return (nulls[row] >> column & 1) != 0;
}

/* The code of a row: of its group, or with order columns. */
static __device__ __forceinline__ uint64_t
mgpu_group_code(const mgpu_group_packing &packing, uint64_t row)
{
	uint64_t	code = 0;

	for (uint32_t i = 0; i < packing.num_keys; i++)
	{
		const mgpu_packed_column &key = packing.keys[i];

		if (key.bits == 0)
			continue;
		code |= (mgpu_is_null(packing.nulls, key.column, row) ? key.null_part : key.first_part +
				 (key.descending ? key.greatest - key.codes[row] : key.codes[row] - key.least)) << key.shift;
	}
	return code;
}

/* Where a group ends. */
static __device__ __forceinline__ uint64_t
mgpu_group_end(const mgpu_grouped_rows &rows, uint64_t group)
{
	return group + 1 < rows.num_groups ? rows.starts[group + 1] : rows.num_rows;
}

/* The first of num_items ascending numbers that is not less than this one. */
template <typename Number>
static __device__ __forceinline__ uint64_t
mgpu_first_from(const Number *numbers, uint64_t num_items, uint64_t number)
{
	uint64_t	begin = 0;
	uint64_t	end = num_items;

	while (begin < end)
	{
		uint64_t	middle = (begin + end) / 2;

		if (numbers[middle] < number)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

template <typename Function>
__global__ void
__launch_bounds__(MGPU_MAP_THREADS)
mgpu_group_map(const __grid_constant__ Function function, uint64_t num_items)
{
	uint64_t	begin = (uint64_t) blockIdx.x * (MGPU_MAP_THREADS * MGPU_MAP_ITEMS) + threadIdx.x;

	for (uint32_t i = 0; i < MGPU_MAP_ITEMS; i++)
	{
		uint64_t	item = begin + i * MGPU_MAP_THREADS;

		if (item < num_items)
			function(item);
	}
}

/* function(item) for each item. */
template <typename Function>
static cudaError_t
mgpu_launch_group_map(Function function, uint64_t num_items, cudaStream_t stream)
{
	if (num_items == 0)
		return cudaSuccess;
	mgpu_group_map<<<mgpu_divide_up(num_items, MGPU_MAP_THREADS * MGPU_MAP_ITEMS), MGPU_MAP_THREADS, 0, stream>>>
		(function, num_items);
	return cudaGetLastError();
}

#endif							/* MGPU_GROUP_PACKED_CUH */

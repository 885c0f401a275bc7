/*
 * sort/sorter.cu
 *		The tables of sorters, and which of them runs.
 *
 * Temporary sizes are functions of the count, so that a limit can be checked before any device is
 * touched.  For CUB they are a bound, which a sort checks against what CUB asks for.
 */
#include "sort/sorter.h"

#include <algorithm>

#include "device/map.h"
#include "sort/k_way_pass.cuh"
#include "sort/probe.h"
#include "sort/tuning.cuh"

static const uint64_t radix_min_items[MGPU_NUM_SHAPES] = {
	MGPU_RADIX_MIN_ITEMS_U32,
	MGPU_RADIX_MIN_ITEMS_U64,
	MGPU_RADIX_MIN_ITEMS_U32_INDEX,
	MGPU_RADIX_MIN_ITEMS_U64_INDEX
};

/* The device, which is not asked here, decides which of both tunings sorts. */
template <class Tuning, class Small>
static uint64_t
merge_temp_bytes(uint64_t num_items)
{
	return std::max(mgpu_k_way_temp_bytes<Tuning>(num_items), mgpu_k_way_temp_bytes<Small>(num_items));
}

/*
 * Look-back words, at least 2,048 keys a tile on every device, plus counters of 17 portions x 8
 * digits of 256 values and alignment.
 */
static uint64_t
radix_temp_bytes(uint64_t num_items)
{
	return num_items / 2 + (UINT64_C(256) << 10);
}

const mgpu_device_sorter mgpu_merge_sorters[MGPU_NUM_SHAPES] = {
	{merge_temp_bytes<mgpu_tuning_u32, mgpu_tuning_u32_small>, mgpu_merge_sort_u32},
	{merge_temp_bytes<mgpu_tuning_u64, mgpu_tuning_u64_small>, mgpu_merge_sort_u64},
	{merge_temp_bytes<mgpu_tuning_u64, mgpu_tuning_u64_small>, mgpu_merge_sort_u32_index},
	{merge_temp_bytes<mgpu_tuning_u64_index, mgpu_tuning_u64_index_small>, mgpu_merge_sort_u64_index}
};

const mgpu_device_sorter mgpu_radix_sorters[MGPU_NUM_SHAPES] = {
	{radix_temp_bytes, mgpu_radix_sort_u32},
	{radix_temp_bytes, mgpu_radix_sort_u64},
	{radix_temp_bytes, mgpu_radix_sort_u32_index},
	{radix_temp_bytes, mgpu_radix_sort_u64_index}
};

extern "C" mgpu_algorithm
mgpu_choose_algorithm(mgpu_sort_shape shape, uint32_t key_width, uint64_t num_items)
{
	uint64_t	radix_items = key_width < sizeof(uint32_t) ? MGPU_RADIX_MIN_ITEMS_NARROW : radix_min_items[shape];

	return num_items >= radix_items ? MGPU_ALGORITHM_RADIX : MGPU_ALGORITHM_MERGE;
}

extern "C" const mgpu_device_sorter *
mgpu_find_sorter(mgpu_algorithm algorithm, mgpu_sort_shape shape)
{
	return algorithm == MGPU_ALGORITHM_RADIX ? &mgpu_radix_sorters[shape] : &mgpu_merge_sorters[shape];
}

extern "C" cudaError_t
mgpu_plain_sort(mgpu_sort_shape shape, mgpu_sort_request *request, mgpu_algorithm *algorithm)
{
	cudaError_t status = mgpu_find_sorter(*algorithm, shape)->sort(request);

	if (status != cudaErrorMemoryAllocation || *algorithm != MGPU_ALGORITHM_RADIX)
		return status;
	(void) cudaGetLastError();
	*algorithm = MGPU_ALGORITHM_MERGE;
	return mgpu_find_sorter(*algorithm, shape)->sort(request);
}

extern "C" cudaError_t
mgpu_auto_sort(mgpu_sort_shape shape, mgpu_sort_request *request, mgpu_algorithm *algorithm)
{
	mgpu_sortedness sortedness = MGPU_KEYS_UNSORTED;
	cudaError_t status = cudaSuccess;

	if (request->num_items >= MGPU_PROBE_MIN_ITEMS)
		status = mgpu_probe_sortedness(shape, request, &sortedness);
	if (status != cudaSuccess)
		return status;
	if (sortedness == MGPU_KEYS_UNSORTED)
		return mgpu_plain_sort(shape, request, algorithm);
	*algorithm = MGPU_ALGORITHM_LOCALITY;
	if (sortedness == MGPU_KEYS_REVERSED)
		request->current ^= 1;
	else if (request->indices[0] != nullptr)
		status = mgpu_launch_iota(request->indices[request->current], request->num_items, request->stream);
	return status;
}

/*
 * sort/radix_cub.cuh
 *		Radix sort by CUB (DeviceRadixSort), for devices and counts that our own kernels do
 *		not sort.
 *
 * CUB is the best known radix sort for every device; tuning ours for devices that were never
 * measured was rejected.
 */
#ifndef MGPU_SORT_RADIX_CUB_CUH
#define MGPU_SORT_RADIX_CUB_CUH

#include <cub/device/device_radix_sort.cuh>

#include "device/map.h"
#include "sort/sorter.h"

/*
 * Why was a sort refused? CUB reports cudaErrorInvalidValue if temporary memory is too small;
 * needed_bytes is what it asks for.  Asking first was rejected: it takes 3 us, and a request's
 * memory suffices on known devices.
 */
static inline cudaError_t
mgpu_name_refusal(cudaError_t status, size_t needed_bytes, const mgpu_sort_request *request)
{
	if (status == cudaSuccess)
		status = needed_bytes > request->temp_bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
	return status;
}

template <typename Key>
static cudaError_t
mgpu_cub_sort_keys(mgpu_sort_request *request)
{
	cub::DoubleBuffer<Key> keys(static_cast<Key *>(request->keys[request->current]),
								static_cast<Key *>(request->keys[request->current ^ 1]));
	/* 64 bits: then CUB gives a thread 19 keys of 4 bytes, not 20, a sixth faster on an H200 */
	uint64_t	num_items = request->num_items;
	int			key_bits = (int) request->key_bits;
	size_t		temp_bytes = request->temp_bytes;
	cudaError_t status = cub::DeviceRadixSort::SortKeys(request->temp, temp_bytes, keys, num_items, 0, key_bits,
														request->stream);

	if (status == cudaErrorInvalidValue)
	{
		temp_bytes = 0;
		status = mgpu_name_refusal(cub::DeviceRadixSort::SortKeys(nullptr, temp_bytes, keys, num_items, 0, key_bits,
																  request->stream), temp_bytes, request);
	}
	request->current ^= keys.selector;
	return status;
}

template <typename Key>
static cudaError_t
mgpu_cub_sort_indexed(mgpu_sort_request *request)
{
	int			side = request->current;
	cub::DoubleBuffer<Key> keys(static_cast<Key *>(request->keys[side]), static_cast<Key *>(request->keys[side ^ 1]));
	cub::DoubleBuffer<uint32_t> indices(request->indices[side], request->indices[side ^ 1]);
	uint32_t	num_items = (uint32_t) request->num_items;
	int			key_bits = (int) request->key_bits;
	size_t		temp_bytes = request->temp_bytes;
	cudaError_t status = mgpu_launch_iota(request->indices[side], num_items, request->stream);

	if (status == cudaSuccess)
		status = cub::DeviceRadixSort::SortPairs(request->temp, temp_bytes, keys, indices, num_items, 0,
												 key_bits, request->stream);
	if (status == cudaErrorInvalidValue)
	{
		temp_bytes = 0;
		status = mgpu_name_refusal(cub::DeviceRadixSort::SortPairs(nullptr, temp_bytes, keys, indices, num_items, 0,
																   key_bits, request->stream), temp_bytes, request);
	}
	request->current ^= keys.selector;
	return status;
}

#endif							/* MGPU_SORT_RADIX_CUB_CUH */

/*
 * segmented/segmented.cu
 *		Sizes of the segmented sort's memory, and which kernels a request runs.
 *
 * Sizes are functions of the count, so that a limit can be checked before any device is touched.
 */
#include <algorithm>

#include "segmented/segmented_sort.cuh"

/* Bytes of a packed item in a region; without an index, of the key. */
static uint64_t
packed_bytes(mgpu_sort_shape shape)
{
	switch (shape)
	{
		case MGPU_SHAPE_U32:
			return 4;
		case MGPU_SHAPE_U64:
		case MGPU_SHAPE_U32_INDEX:
			return 8;
		default:
			return 16;
	}
}

extern "C" uint64_t
mgpu_segmented_region_bytes(mgpu_sort_shape shape, uint64_t num_items)
{
	return mgpu_padded_items(num_items) * packed_bytes(shape);
}

extern "C" uint64_t
mgpu_segmented_index_offset(mgpu_sort_shape shape, uint64_t num_items)
{
	uint64_t	key_bytes = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 4 : 8;

	return mgpu_padded_items(num_items) * key_bytes;
}

/* For sort tiles of either size. */
template <class Sizes>
static uint64_t
temp_bytes(uint64_t num_items)
{
	return std::max(mgpu_plan_segmented_layout<typename Sizes::large>(num_items).total_bytes,
					mgpu_plan_segmented_layout<typename Sizes::small>(num_items).total_bytes);
}

extern "C" uint64_t
mgpu_segmented_temp_bytes(mgpu_sort_shape shape, uint64_t num_items)
{
	switch (packed_bytes(shape))
	{
		case 4:
			return std::max(temp_bytes<mgpu_segmented_u32>(num_items), temp_bytes<mgpu_locality_u32>(num_items));
		case 8:
			return temp_bytes<mgpu_segmented_u64>(num_items);
		default:
			return temp_bytes<mgpu_segmented_u128>(num_items);
	}
}

extern "C" cudaError_t
mgpu_launch_segmented_sort(const mgpu_segmented_request *request)
{
	if (request->temp_bytes < mgpu_segmented_temp_bytes(request->shape, request->num_items))
		return cudaErrorMemoryAllocation;
	switch (request->shape)
	{
		case MGPU_SHAPE_U32:
			return mgpu_segmented_sort_u32(request);
		case MGPU_SHAPE_U64:
			return mgpu_segmented_sort_u64(request);
		case MGPU_SHAPE_U32_INDEX:
			return mgpu_segmented_sort_u32_index(request);
		default:
			return mgpu_segmented_sort_u64_index(request);
	}
}

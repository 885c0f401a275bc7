/*
 * kernel_fake_segmented.cpp
 *		Segmented and locality sorts of the played device, and its probe of keys.  See
 *		kernel_fake_device.cpp.
 *
 * Sizes are of the played device's own making; the executor must not care.  The
 * region that the result does not go to is overwritten, as a sort may.
 */
#include "kernel_fake.h"
#include "kernel_test.cuh"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "segmented/segmented.h"
#include "sort/probe.h"

static uint64_t
key_bytes(mgpu_sort_shape shape)
{
	return shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 4 : 8;
}

static bool
has_indices(mgpu_sort_shape shape)
{
	return shape == MGPU_SHAPE_U32_INDEX || shape == MGPU_SHAPE_U64_INDEX;
}

extern "C" uint64_t
mgpu_segmented_index_offset(mgpu_sort_shape shape, uint64_t num_items)
{
	return mgpu_padded_items(num_items) * key_bytes(shape);
}

extern "C" uint64_t
mgpu_segmented_region_bytes(mgpu_sort_shape shape, uint64_t num_items)
{
	return mgpu_padded_items(num_items) * (key_bytes(shape) + (has_indices(shape) ? 4 : 0));
}

extern "C" uint64_t
mgpu_segmented_temp_bytes(mgpu_sort_shape shape, uint64_t num_items)
{
	return 512 + num_items / 100 * key_bytes(shape);
}

static uint64_t
key_at(mgpu_sort_shape shape, const mgpu_sort_request *request, uint64_t item)
{
	const void *keys = request->keys[request->current];

	return key_bytes(shape) == 4 ? static_cast<const uint32_t *>(keys)[item] : static_cast<const uint64_t *>(keys)[item];
}

template <typename Key>
static void
sort_segments(const mgpu_segmented_request &request)
{
	Key		   *keys = static_cast<Key *>(request.regions[request.current]);
	uint32_t   *indices = reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(keys) +
													   mgpu_segmented_index_offset(request.shape, request.num_items));
	std::vector<Key> input(keys, keys + request.num_items);
	std::vector<uint32_t> order(request.num_items);

	std::iota(order.begin(), order.end(), 0);
	for (uint64_t segment = 0; segment == 0 || segment < request.num_segments; segment++)
	{
		uint64_t	begin = request.num_segments == 0 ? 0 : request.segment_heads[segment];
		uint64_t	end = segment + 1 < request.num_segments ? request.segment_heads[segment + 1] : request.num_items;

		std::stable_sort(order.begin() + begin, order.begin() + end,
						 [&] (uint32_t a, uint32_t b) { return input[a] < input[b]; });
	}
	for (uint64_t i = 0; i < request.num_items; i++)
	{
		keys[i] = input[order[i]];
		if (has_indices(request.shape))
			indices[i] = order[i];
	}
}

static void
sort_segmented(const mgpu_segmented_request &request)
{
	memset(request.temp, 0xEE, mgpu_segmented_temp_bytes(request.shape, request.num_items));
	memset(request.regions[request.current ^ 1], 0xEE,
		   mgpu_segmented_region_bytes(request.shape, request.num_items));
	if (key_bytes(request.shape) == 4)
		sort_segments<uint32_t>(request);
	else
		sort_segments<uint64_t>(request);
	memset(request.stats, 0, sizeof(*request.stats));
	request.stats->num_tiles = 3;
	request.stats->num_passes = 2;
	request.stats->passes[0] = {2, 1};
}

/* Waits, and overwrites the other side. */
extern "C" cudaError_t
mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness)
{
	cudaError_t code = cudaStreamSynchronize(request->stream);
	uint64_t	last = request->num_items - 1;
	int			other = request->current ^ 1;
	bool		ascends = true;
	bool		descends = true;

	for (uint64_t i = 0; i < last; i++)
	{
		ascends &= key_at(shape, request, i) <= key_at(shape, request, i + 1);
		descends &= key_at(shape, request, i) > key_at(shape, request, i + 1);
	}
	*sortedness = ascends ? MGPU_KEYS_SORTED : descends ? MGPU_KEYS_REVERSED : MGPU_KEYS_UNSORTED;
	for (uint64_t i = 0; i <= last; i++)
	{
		uint64_t	key = descends ? key_at(shape, request, last - i) : UINT64_C(0xEEEEEEEEEEEEEEEE);

		if (key_bytes(shape) == 4)
			static_cast<uint32_t *>(request->keys[other])[i] = (uint32_t) key;
		else
			static_cast<uint64_t *>(request->keys[other])[i] = key;
		if (has_indices(shape))
			request->indices[other][i] = (uint32_t) (descends ? last - i : key);
	}
	return code;
}

extern "C" cudaError_t
mgpu_launch_segmented_sort(const mgpu_segmented_request *request)
{
	mgpu_segmented_request copy = *request;

	if (request->temp_bytes < mgpu_segmented_temp_bytes(request->shape, request->num_items))
		return cudaErrorMemoryAllocation;
	return enqueue(request->stream, [copy] { sort_segmented(copy); });
}

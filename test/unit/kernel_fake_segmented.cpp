/*
 * kernel_fake_segmented.cpp
 *		Segmented and locality sorts of the played device, and its probes of keys.  See
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
#include "sort/single_launch.h"
#include "sort/window_sort.h"

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

/* The probe is right about order; about the rest it may say anything. */
extern "C" cudaError_t
mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness)
{
	cudaError_t code = cudaStreamSynchronize(request->stream);
	uint64_t	last = request->num_items - 1;
	int			other = request->current ^ 1;

	*sortedness = mgpu_sortedness();
	sortedness->sorted = sortedness->reversed = true;
	for (uint64_t i = 0; i < last; i++)
	{
		sortedness->sorted &= key_at(shape, request, i) <= key_at(shape, request, i + 1);
		sortedness->reversed &= key_at(shape, request, i) > key_at(shape, request, i + 1);
	}
	for (uint64_t i = 0; i <= last; i++)
	{
		uint64_t	key = sortedness->reversed ? key_at(shape, request, last - i) : UINT64_C(0xEEEEEEEEEEEEEEEE);

		if (key_bytes(shape) == 4)
			static_cast<uint32_t *>(request->keys[other])[i] = (uint32_t) key;
		else
			static_cast<uint64_t *>(request->keys[other])[i] = key;
		if (has_indices(shape))
			request->indices[other][i] = (uint32_t) (sortedness->reversed ? last - i : key);
	}
	sortedness->scattered = schedule() % 2;
	sortedness->near = schedule() % 2;
	sortedness->quantised = schedule() % 2;
	sortedness->window_passes = (int) (schedule() % 4) - 1;
	sortedness->key_bits = 8 + schedule() % (request->key_bits / 8) * 8;
	return code;
}

/* A merge sort, whether it ended early or not. */
static cudaError_t
sort_by_windows(mgpu_sort_shape shape, mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	if (sortedness->window_passes < 0)
		abort();
	*ended = schedule() % 2;
	return mgpu_merge_sorters[shape].sort(request);
}

extern "C" cudaError_t
mgpu_window_sort_u32(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return sort_by_windows(MGPU_SHAPE_U32, request, sortedness, ended);
}

extern "C" cudaError_t
mgpu_window_sort_u64(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return sort_by_windows(MGPU_SHAPE_U64, request, sortedness, ended);
}

extern "C" cudaError_t
mgpu_window_sort_u32_index(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return sort_by_windows(MGPU_SHAPE_U32_INDEX, request, sortedness, ended);
}

extern "C" cudaError_t
mgpu_window_sort_u64_index(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	return sort_by_windows(MGPU_SHAPE_U64_INDEX, request, sortedness, ended);
}

/* The device says anew each time whether keys fit a single launch. */
extern "C" cudaError_t
mgpu_single_launch_holds(mgpu_sort_shape shape, uint64_t num_items, bool *holds)
{
	(void) shape;
	(void) num_items;
	*holds = schedule() % 2;
	return cudaSuccess;
}

/* In place; the other side is overwritten, and the answer is there when the sort is. */
template <typename Key>
static void
sort_single_launch(const mgpu_sort_request &request, mgpu_signals *signals)
{
	Key		   *keys = static_cast<Key *>(request.keys[request.current]);
	std::vector<Key> input(keys, keys + request.num_items);
	std::vector<uint32_t> order(request.num_items);

	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&] (uint32_t a, uint32_t b) { return input[a] < input[b]; });
	memset(request.keys[request.current ^ 1], 0xEE, request.num_items * sizeof(Key));
	for (uint64_t i = 0; i < request.num_items; i++)
	{
		keys[i] = input[order[i]];
		if (request.indices[0] == nullptr)
			continue;
		request.indices[request.current][i] = order[i];
		request.indices[request.current ^ 1][i] = 0xEEEEEEEE;
	}
	signals->words[MGPU_SINGLE_LAUNCH_ANSWER] = MGPU_SIGNAL(request.pending.question, std::is_sorted(input.begin(), input.end()));
}

extern "C" cudaError_t
mgpu_single_launch_sort(mgpu_sort_shape shape, mgpu_sort_request *request, bool *started)
{
	static mgpu_signals answers[64];
	static uint32_t question = 0;
	mgpu_signals *signals = &answers[++question % 64];
	mgpu_sort_request copy;

	*started = schedule() % 3 != 0;
	if (!*started)
		return cudaSuccess;
	request->pending = {signals, question};
	copy = *request;
	return enqueue(request->stream, [=] {
		if (key_bytes(shape) == 4)
			sort_single_launch<uint32_t>(copy, signals);
		else
			sort_single_launch<uint64_t>(copy, signals);
	});
}

extern "C" cudaError_t
mgpu_launch_segmented_sort(const mgpu_segmented_request *request)
{
	mgpu_segmented_request copy = *request;

	if (request->temp_bytes < mgpu_segmented_temp_bytes(request->shape, request->num_items))
		return cudaErrorMemoryAllocation;
	return enqueue(request->stream, [copy] { sort_segmented(copy); });
}

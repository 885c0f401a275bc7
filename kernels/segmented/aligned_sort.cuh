/*
 * segmented/aligned_sort.cuh
 *		Launches of the aligned segmented sort.
 *
 * See aligned.cuh.  Memory is laid out from the number of items alone, for segments of
 * MGPU_ALIGNED_MIN_MEAN items or more on average.
 */
#ifndef MGPU_SEGMENTED_ALIGNED_SORT_CUH
#define MGPU_SEGMENTED_ALIGNED_SORT_CUH

#include "segmented/aligned_kernels.cuh"

/* Offsets of the lists in temporary memory, behind the header. */
template <class Tuning>
struct mgpu_aligned_layout
{
	uint64_t	chunks[Tuning::num_classes];
	uint64_t	tiles;
	uint64_t	total_bytes;
};

template <class Tuning>
static mgpu_aligned_layout<Tuning>
mgpu_plan_aligned_layout(uint64_t num_items)
{
	mgpu_aligned_layout<Tuning> layout = {};
	auto		place = [&] (uint64_t bytes) {
		uint64_t	offset = layout.total_bytes;

		layout.total_bytes += (bytes + 255) / 256 * 256;
		return offset;
	};

	place(sizeof(mgpu_aligned_header));
	for (uint32_t i = 0; i < Tuning::num_classes; i++)
		layout.chunks[i] = place(mgpu_most_of_class<Tuning>(num_items, i) * sizeof(mgpu_aligned_chunk));
	layout.tiles = place(MGPU_ALIGNED_MAX_PASSES * mgpu_most_aligned_tiles<Tuning>(num_items) * sizeof(mgpu_aligned_tile));
	return layout;
}

/* Does this sort run a request? Not if passes are to be counted. */
static inline bool
mgpu_sorts_aligned(const mgpu_segmented_request *request, bool large_device)
{
	uint64_t	min_mean = request->shape == MGPU_SHAPE_U32 ? MGPU_ALIGNED_MIN_MEAN_U32 :
		request->shape == MGPU_SHAPE_U32_INDEX ? MGPU_ALIGNED_MIN_MEAN_INDEX : MGPU_ALIGNED_MIN_MEAN;

	return large_device && !request->count_passes && request->shape != MGPU_SHAPE_U64_INDEX && request->num_segments > 1 &&
		request->num_segments <= request->num_items / min_mean &&
		request->num_segments >= request->num_items / MGPU_ALIGNED_MAX_MEAN;
}

template <class Tuning, typename Stored, typename Key>
static mgpu_aligned_sort<Tuning, Stored, Key>
mgpu_make_aligned_sort(const mgpu_segmented_request *request)
{
	mgpu_aligned_layout<Tuning> layout = mgpu_plan_aligned_layout<Tuning>(request->num_items);
	char	   *temp = static_cast<char *>(request->temp);
	mgpu_aligned_sort<Tuning, Stored, Key> sort = {};

	sort.lists.header = reinterpret_cast<mgpu_aligned_header *>(temp);
	for (uint32_t i = 0; i < Tuning::num_classes; i++)
		sort.lists.chunks[i] = reinterpret_cast<mgpu_aligned_chunk *>(temp + layout.chunks[i]);
	sort.lists.tiles = reinterpret_cast<mgpu_aligned_tile *>(temp + layout.tiles);
	sort.lists.most_tiles = (uint32_t) mgpu_most_aligned_tiles<Tuning>(request->num_items);
	for (int i = 0; i < 2; i++)
	{
		char	   *region = static_cast<char *>(request->regions[request->current ^ i]);

		sort.sides[i].keys = reinterpret_cast<Stored *>(region);
		sort.sides[i].indices = reinterpret_cast<uint32_t *>(region + mgpu_segmented_index_offset(request->shape, request->num_items));
	}
	return sort;
}

/* Sort keys of type Stored, alone or packed with their indices into a Key. */
template <class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_segmented_sort_aligned(const mgpu_segmented_request *request)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_inputs_capacity<Key>(Tuning::tile_items, 2, Tuning::items_per_thread);
	constexpr uint32_t begin_segments = MGPU_ALIGNED_BEGIN_THREADS * MGPU_ALIGNED_BEGIN_SEGMENTS;
	auto		kernel = mgpu_sort_aligned<Tuning, Stored, Key>;
	mgpu_aligned_sort<Tuning, Stored, Key> sort = mgpu_make_aligned_sort<Tuning, Stored, Key>(request);
	void	   *arguments[] = {&sort};
	uint32_t	num_ctas = 0;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status == cudaSuccess)
		status = mgpu_count_resident_ctas(kernel, Tuning::threads, shared_bytes,
										  mgpu_divide_up(request->num_items, MGPU_ALIGNED_CTA_ITEMS), &num_ctas);
	if (status == cudaSuccess)
		status = cudaMemsetAsync(sort.lists.header, 0, sizeof(mgpu_aligned_header), request->stream);
	if (status != cudaSuccess)
		return status;
	mgpu_begin_aligned<Tuning, sizeof(Stored) != sizeof(Key)>
		<<<mgpu_divide_up(request->num_segments, begin_segments), MGPU_ALIGNED_BEGIN_THREADS, 0, request->stream>>>
		(request->segment_heads, (uint32_t) request->num_segments, request->num_items, sort.lists, request->stats);
	status = cudaGetLastError();
	if (status != cudaSuccess)
		return status;
	return cudaLaunchCooperativeKernel(kernel, dim3(num_ctas), dim3(Tuning::threads), arguments, shared_bytes,
									   request->stream);
}

#endif							/* MGPU_SEGMENTED_ALIGNED_SORT_CUH */

/*
 * segmented/segmented_sort.cuh
 *		Launches of the segmented sort and the locality sort.
 *
 * Tiles are sorted to side 0, then lists of tiles are merged, twice as long in every pass, and at
 * last tiles on side 1 go to side 0.  For keys alone side 0 is the region of the input: items that
 * no merge moves are never copied, and tiles in order not even written.  Keys with indices are
 * packed, so they start on the other side and are unpacked at last, unless the block sort does it
 * all.
 *
 * The number of a tile's merges decides on which side it ends, so half of the merged tiles take
 * one more copy.  Starting each tile on the right side was rejected: that number depends on the
 * keys.
 */
#ifndef MGPU_SEGMENTED_SEGMENTED_SORT_CUH
#define MGPU_SEGMENTED_SEGMENTED_SORT_CUH

#include "device/launch.cuh"
#include "segmented/pass_kernel.cuh"

/* Offsets of arrays in temporary memory. */
struct mgpu_segmented_layout
{
	uint64_t	tile_heads;
	uint64_t	sides[2];
	uint64_t	splits;
	uint64_t	ranges;
	uint64_t	work;
	uint64_t	total_bytes;
};

static inline uint64_t
mgpu_place_array(mgpu_segmented_layout *layout, uint64_t bytes)
{
	uint64_t	offset = layout->total_bytes;

	layout->total_bytes += (bytes + 255) & ~UINT64_C(255);
	return offset;
}

/* The header is first.  Sides are written for whole sort tiles. */
template <class Tuning>
static mgpu_segmented_layout
mgpu_plan_segmented_layout(uint64_t num_items)
{
	uint64_t	num_sort_tiles = mgpu_divide_up(num_items, Tuning::sort_tile_items);
	uint64_t	num_tiles = num_sort_tiles * Tuning::sort_tiles;
	mgpu_segmented_layout layout = {};

	mgpu_place_array(&layout, sizeof(mgpu_segmented_header));
	layout.tile_heads = mgpu_place_array(&layout, (num_sort_tiles + 1) * sizeof(uint32_t));
	for (int i = 0; i < 2; i++)
		layout.sides[i] = mgpu_place_array(&layout, num_tiles);
	layout.splits = mgpu_place_array(&layout, num_tiles * sizeof(uint32_t));
	layout.ranges = mgpu_place_array(&layout, (num_sort_tiles + 1) / 2 * sizeof(mgpu_active_range));
	layout.work = mgpu_place_array(&layout, num_tiles * sizeof(mgpu_segment_work));
	return layout;
}

/* One sort: the request in the terms of the kernels. */
template <class Tuning_, typename Stored, typename Key>
struct mgpu_segmented_run
{
	typedef Tuning_ Tuning;

	const mgpu_segmented_request *request;
	mgpu_segment_source<Stored, Key> source;
	uint32_t	num_sort_tiles;
	mgpu_segment_passes<Stored, Key> passes;
};

template <class Tuning>
static mgpu_segment_pass
mgpu_plan_first_pass(const mgpu_segmented_request *request, const uint32_t *tile_heads)
{
	mgpu_segment_pass pass = {};

	pass.num_items = request->num_items;
	pass.num_tiles = mgpu_divide_up(request->num_items, Tuning::tile_items);
	pass.run_tiles = pass.sort_tiles = Tuning::sort_tiles;
	pass.segments.heads = request->num_segments > 1 ? request->segment_heads : nullptr;
	pass.segments.tile_heads = tile_heads;
	pass.segments.num_segments = (uint32_t) request->num_segments;
	pass.segments.sort_tile_items = Tuning::sort_tile_items;
	pass.segments.overhang = Tuning::overhang;
	return pass;
}

template <class Tuning, typename Stored, typename Key>
static mgpu_segmented_run<Tuning, Stored, Key>
mgpu_make_segmented_run(const mgpu_segmented_request *request)
{
	mgpu_segmented_layout layout = mgpu_plan_segmented_layout<Tuning>(request->num_items);
	char	   *temp = static_cast<char *>(request->temp);
	char	   *input = static_cast<char *>(request->regions[request->current]);
	int			side0 = sizeof(Stored) == sizeof(Key) ? request->current : request->current ^ 1;
	mgpu_segmented_run<Tuning, Stored, Key> run = {};
	mgpu_segment_passes<Stored, Key> &passes = run.passes;

	run.request = request;
	run.source = {reinterpret_cast<const Stored *>(input), request->num_items};
	run.num_sort_tiles = mgpu_divide_up(request->num_items, Tuning::sort_tile_items);
	passes.pass = mgpu_plan_first_pass<Tuning>(request, reinterpret_cast<const uint32_t *>(temp + layout.tile_heads));
	while ((uint64_t) passes.pass.run_tiles << passes.num_passes < passes.pass.num_tiles)
		passes.num_passes++;
	passes.header = reinterpret_cast<mgpu_segmented_header *>(temp);
	passes.stats = request->stats;
	passes.side0 = static_cast<Key *>(request->regions[side0]);
	passes.side1 = static_cast<Key *>(request->regions[side0 ^ 1]);
	passes.sides = reinterpret_cast<uint8_t *>(temp + layout.sides[0]);
	passes.next_sides = reinterpret_cast<uint8_t *>(temp + layout.sides[1]);
	passes.splits = reinterpret_cast<uint32_t *>(temp + layout.splits);
	passes.ranges = reinterpret_cast<mgpu_active_range *>(temp + layout.ranges);
	passes.work = reinterpret_cast<mgpu_segment_work *>(temp + layout.work);
	passes.keys = reinterpret_cast<Stored *>(input);
	passes.indices = reinterpret_cast<uint32_t *>(input + mgpu_segmented_index_offset(request->shape, request->num_items));
	return run;
}

/* Clear counters, and find the heads or, without segments, check the order of the keys. */
template <class Run>
static cudaError_t
mgpu_launch_begin(const Run &run)
{
	constexpr uint32_t tiles_per_cta = MGPU_SEGMENTED_HEAD_THREADS / MGPU_SEGMENTED_HEAD_PROBES;
	const mgpu_segmented_request *request = run.request;
	const mgpu_segment_pass &pass = run.passes.pass;
	mgpu_segmented_header *header = run.passes.header;
	uint32_t	num_passes = run.passes.num_passes > 0 ? run.passes.num_passes + 1 : 0;
	cudaError_t status;

	if (pass.segments.heads == nullptr)
	{
		mgpu_begin_locality<<<1, MGPU_SEGMENTED_SAMPLES, 0, request->stream>>>
			(run.source.keys, request->num_items, pass.num_tiles, num_passes, header, request->stats);
		return cudaGetLastError();
	}
	status = cudaMemsetAsync(header, 0, offsetof(mgpu_segmented_header, num_work), request->stream);
	if (status != cudaSuccess)
		return status;
	mgpu_begin_segments<<<mgpu_divide_up(run.num_sort_tiles + 1, tiles_per_cta), MGPU_SEGMENTED_HEAD_THREADS, 0,
		request->stream>>>(pass.segments, request->num_items, run.num_sort_tiles,
						   const_cast<uint32_t *>(pass.segments.tile_heads), Run::Tuning::tile_items, pass.num_tiles,
						   num_passes, header, request->stats);
	return cudaGetLastError();
}

template <bool segmented, class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_launch_sort_tiles(const mgpu_segmented_run<Tuning, Stored, Key> &run)
{
	const mgpu_segment_passes<Stored, Key> &passes = run.passes;
	mgpu_segment_sinks<Stored, Key> sinks = {passes.side0, passes.side1, passes.sides, passes.keys, passes.indices};
	cudaStream_t stream = run.request->stream;
	cudaError_t status;

	if constexpr (!segmented)
	{
		constexpr uint32_t shared_bytes = mgpu_sort_locality_bytes<Tuning, Key>();
		auto		kernel = mgpu_sort_locality<Tuning, Stored, Key>;

		status = mgpu_allow_shared(kernel, shared_bytes);
		if (status != cudaSuccess)
			return status;
		kernel<<<run.num_sort_tiles, Tuning::sort_threads, shared_bytes, stream>>>(run.source, passes.header, sinks);
	}
	else
	{
		constexpr uint32_t shared_bytes = mgpu_sort_segments_bytes<Tuning, Key>();
		auto		kernel = mgpu_sort_segments<Tuning, Stored, Key>;

		status = mgpu_allow_shared(kernel, shared_bytes);
		if (status != cudaSuccess)
			return status;
		kernel<<<run.num_sort_tiles, Tuning::sort_threads, shared_bytes, stream>>>(run.source, passes.pass.segments,
																				   passes.header, sinks);
	}
	return cudaGetLastError();
}

template <class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_launch_segment_passes(mgpu_segmented_run<Tuning, Stored, Key> &run)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_guarded_capacity<Key>(Tuning::tile_items, Tuning::items_per_thread);
	auto		kernel = mgpu_pass_segments<typename Tuning::tiles, Stored, Key>;
	void	   *arguments[] = {&run.passes};
	uint32_t	num_ctas = 0;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status == cudaSuccess)
		status = mgpu_count_resident_ctas(kernel, Tuning::merge_threads, shared_bytes, run.passes.pass.num_tiles, &num_ctas);
	if (status != cudaSuccess)
		return status;
	return cudaLaunchCooperativeKernel(kernel, dim3(num_ctas), dim3(Tuning::merge_threads), arguments, shared_bytes,
									   run.request->stream);
}

/* Sort keys of type Stored, alone or packed with their indices into a Key. */
template <class Tuning, bool segmented, typename Stored, typename Key>
static cudaError_t
mgpu_segmented_sort_tuned(const mgpu_segmented_request *request)
{
	mgpu_segmented_run<Tuning, Stored, Key> run = mgpu_make_segmented_run<Tuning, Stored, Key>(request);
	cudaError_t status = mgpu_launch_begin(run);

	if (status == cudaSuccess)
		status = mgpu_launch_sort_tiles<segmented>(run);
	if (status == cudaSuccess && run.passes.num_passes > 0)
		status = mgpu_launch_segment_passes(run);
	return status;
}

/* Does a sort take large tiles, on a device whose SMs hold them? num_segments is 1 or more. */
static inline bool
mgpu_takes_large_tiles(bool large_device, uint64_t num_items, uint64_t num_segments)
{
	uint64_t	small_mean = num_items < MGPU_SEGMENTED_LARGE_ITEMS ? MGPU_SEGMENTED_FEW_PASSES_MEAN : MGPU_SEGMENTED_SMALL_TILE_MEAN;

	return large_device && num_items / num_segments > small_mean;
}

template <class Sizes, bool segmented, typename Stored, typename Key>
static cudaError_t
mgpu_segmented_sort_sized(const mgpu_segmented_request *request)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	if (status != cudaSuccess)
		return status;
	return mgpu_takes_large_tiles(large, request->num_items, segmented ? request->num_segments : 1) ?
		mgpu_segmented_sort_tuned<typename Sizes::large, segmented, Stored, Key>(request) :
		mgpu_segmented_sort_tuned<typename Sizes::small, segmented, Stored, Key>(request);
}

/* By tiles of these sizes, and of those for one segment. */
template <class SegmentedSizes, class LocalitySizes, typename Stored, typename Key>
static cudaError_t
mgpu_segmented_sort(const mgpu_segmented_request *request)
{
	return request->num_segments > 1 ? mgpu_segmented_sort_sized<SegmentedSizes, true, Stored, Key>(request) :
		mgpu_segmented_sort_sized<LocalitySizes, false, Stored, Key>(request);
}

#endif							/* MGPU_SEGMENTED_SEGMENTED_SORT_CUH */

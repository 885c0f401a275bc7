/*
 * segmented_sort.cuh
 *		Launches of the segmented sort and the locality sort.
 *
 * Tiles are sorted to side 0, then lists of tiles are merged, twice as long in
 * every pass, and at last what lies on side 1 is brought to side 0.  For keys
 * alone side 0 is the region of the input: items that no merge moves to side 1
 * are never copied, and tiles in order are not even written.  Keys with indices
 * are packed, so they start on the other side, and an unpacking pass brings them
 * back.
 *
 * Where merges move long segments, a tile ends on the side that the number of
 * its merges gives, so half of such tiles take one more copy.  Starting each tile
 * on the right side was rejected: that number depends on the keys.
 */
#ifndef MGPU_SEGMENTED_SORT_CUH
#define MGPU_SEGMENTED_SORT_CUH

#include <utility>

#include "merge_sort.cuh"
#include "segmented_kernels.cuh"

/* Where things lie in the temporary memory, by offset. */
struct mgpu_segmented_layout
{
	uint64_t	tile_heads;
	uint64_t	sides[2];
	uint64_t	splits;
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
	layout.work = mgpu_place_array(&layout, num_tiles * sizeof(mgpu_segment_work));
	return layout;
}

/* One sort under way: the request in the terms of the kernels. */
template <class Tuning, typename Stored, typename Key>
struct mgpu_segmented_run
{
	const mgpu_segmented_request *request;
	mgpu_segment_source<Stored, Key> source;
	mgpu_segment_pass pass;
	uint32_t	num_sort_tiles;
	uint32_t	num_passes;		/* that merge */
	Key		   *side[2];
	mgpu_segmented_header *header;
	uint8_t    *sides[2];
	uint32_t   *splits;
	mgpu_segment_work *work;
};

template <class Tuning, typename Stored, typename Key>
static mgpu_segmented_run<Tuning, Stored, Key>
mgpu_make_segmented_run(const mgpu_segmented_request *request)
{
	mgpu_segmented_layout layout = mgpu_plan_segmented_layout<Tuning>(request->num_items);
	char	   *temp = static_cast<char *>(request->temp);
	int			side0 = sizeof(Stored) == sizeof(Key) ? request->current : request->current ^ 1;
	bool		segmented = request->num_segments > 1;
	mgpu_segmented_run<Tuning, Stored, Key> run = {};

	run.request = request;
	run.source = {static_cast<const Stored *>(request->regions[request->current]), request->num_items};
	run.num_sort_tiles = mgpu_divide_up(request->num_items, Tuning::sort_tile_items);
	run.pass.num_items = request->num_items;
	run.pass.num_tiles = mgpu_divide_up(request->num_items, Tuning::tile_items);
	run.pass.run_tiles = run.pass.sort_tiles = Tuning::sort_tiles;
	while ((uint64_t) run.pass.run_tiles << run.num_passes < run.pass.num_tiles)
		run.num_passes++;
	run.pass.segments.heads = segmented ? request->segment_heads : nullptr;
	run.pass.segments.tile_heads = reinterpret_cast<const uint32_t *>(temp + layout.tile_heads);
	run.pass.segments.num_segments = (uint32_t) request->num_segments;
	run.header = reinterpret_cast<mgpu_segmented_header *>(temp);
	run.splits = reinterpret_cast<uint32_t *>(temp + layout.splits);
	run.work = reinterpret_cast<mgpu_segment_work *>(temp + layout.work);
	for (int i = 0; i < 2; i++)
	{
		run.side[i] = static_cast<Key *>(request->regions[side0 ^ i]);
		run.sides[i] = reinterpret_cast<uint8_t *>(temp + layout.sides[i]);
	}
	return run;
}

/* Counters, and a look at the order of an array of one segment. */
template <class Run>
static cudaError_t
mgpu_launch_begin(const Run &run)
{
	const mgpu_segmented_request *request = run.request;
	bool		look = run.pass.segments.heads == nullptr && run.num_passes > 0;

	mgpu_begin_segments<<<1, MGPU_SEGMENTED_SAMPLES, 0, request->stream>>>
		(run.source.keys, request->num_items, look, run.pass.num_tiles, run.num_passes > 0 ? run.num_passes + 1 : 0,
		 run.header, request->stats);
	return cudaGetLastError();
}

template <class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_launch_sort_segments(const mgpu_segmented_run<Tuning, Stored, Key> &run)
{
	constexpr uint32_t shared_bytes = mgpu_sort_segments_bytes<Tuning, Key>();
	const mgpu_segment_heads &segments = run.pass.segments;
	cudaStream_t stream = run.request->stream;
	auto		kernel = mgpu_sort_segments<Tuning, Key, mgpu_segment_source<Stored, Key>>;
	cudaError_t status = mgpu_allow_shared(kernel, shared_bytes);

	if (status == cudaSuccess && segments.heads != nullptr)
	{
		mgpu_head_search search = {segments.heads, segments.num_segments, Tuning::sort_tile_items};

		status = mgpu_enqueue_splits(search, run.num_sort_tiles, const_cast<uint32_t *>(segments.tile_heads), stream);
	}
	if (status != cudaSuccess)
		return status;
	kernel<<<run.num_sort_tiles, Tuning::sort_threads, shared_bytes, stream>>>
		(run.source, segments, run.header, run.side[0], run.side[1], run.sides[0]);
	return cudaGetLastError();
}

/* As many CTAs as the device can hold at a time, or fewer if there is less to do. */
static inline cudaError_t
mgpu_count_resident_ctas(uint32_t ctas_per_sm, uint32_t most, uint32_t *count)
{
	int			device;
	int			num_sms = 0;
	cudaError_t status = cudaGetDevice(&device);

	if (status == cudaSuccess)
		status = cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
	*count = (uint32_t) num_sms * ctas_per_sm;
	if (*count > most)
		*count = most;
	return status;
}

/* The passes; sides[0] of the run then has where the tiles are. */
template <class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_launch_segment_passes(mgpu_segmented_run<Tuning, Stored, Key> *run)
{
	constexpr uint32_t shared_bytes = sizeof(Key) *
		mgpu_inputs_capacity<Key>(Tuning::tile_items, 2, Tuning::items_per_thread);
	constexpr uint32_t tiles_per_cta = MGPU_SEGMENTED_PLAN_THREADS / 32;
	cudaStream_t stream = run->request->stream;
	auto		plan = mgpu_plan_segments<typename Tuning::tiles, Key>;
	auto		merge = mgpu_merge_segments<typename Tuning::tiles, Key>;
	uint32_t	num_ctas = 0;
	cudaError_t status = mgpu_allow_shared(merge, shared_bytes);

	if (status == cudaSuccess)
		status = mgpu_count_resident_ctas(Tuning::resident_threads / Tuning::merge_threads, run->pass.num_tiles, &num_ctas);
	for (uint32_t pass = 0; status == cudaSuccess && pass < run->num_passes; pass++)
	{
		mgpu_sided_keys<Tuning::tile_items, Key> keys = {run->side[0], run->side[1], run->sides[0]};
		uint32_t   *num_work = run->header->num_work + pass;

		plan<<<mgpu_divide_up(run->pass.num_tiles, tiles_per_cta), MGPU_SEGMENTED_PLAN_THREADS, 0, stream>>>
			(run->pass, keys, run->sides[1], run->splits, run->work, num_work, run->request->stats->passes + pass);
		merge<<<num_ctas, Tuning::merge_threads, shared_bytes, stream>>>
			(run->pass.num_items, run->side[0], run->side[1], run->sides[0], run->splits, run->work, num_work);
		status = cudaGetLastError();
		std::swap(run->sides[0], run->sides[1]);
		run->pass.run_tiles *= 2;
	}
	return status;
}

template <class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_launch_collect(const mgpu_segmented_run<Tuning, Stored, Key> &run)
{
	mgpu_collect_tiles<typename Tuning::tiles><<<mgpu_divide_up(run.pass.num_tiles, MGPU_SEGMENTED_COLLECT_TILES),
		MGPU_SEGMENTED_COLLECT_THREADS, 0, run.request->stream>>>
		(run.pass.num_items, run.pass.num_tiles, run.side[0], static_cast<const Key *>(run.side[1]),
		 static_cast<const uint8_t *>(run.sides[0]), run.request->stats->passes + run.num_passes);
	return cudaGetLastError();
}

template <typename Stored, typename Key>
static cudaError_t
mgpu_launch_unpack(const mgpu_segmented_request *request, const Key *packed)
{
	char	   *out = static_cast<char *>(request->regions[request->current]);
	uint64_t	index_offset = mgpu_segmented_index_offset(request->shape, request->num_items);

	mgpu_unpack_segments<<<mgpu_divide_up(request->num_items, MGPU_MAP_THREADS * MGPU_MAP_ITEMS), MGPU_MAP_THREADS, 0,
		request->stream>>>(packed, reinterpret_cast<Stored *>(out), reinterpret_cast<uint32_t *>(out + index_offset),
						   request->num_items);
	return cudaGetLastError();
}

/* Sort keys of type Stored, alone or packed with their indices into a Key. */
template <class Tuning, typename Stored, typename Key>
static cudaError_t
mgpu_segmented_sort(const mgpu_segmented_request *request)
{
	mgpu_segmented_run<Tuning, Stored, Key> run = mgpu_make_segmented_run<Tuning, Stored, Key>(request);
	cudaError_t status = mgpu_launch_begin(run);

	if (status == cudaSuccess)
		status = mgpu_launch_sort_segments(run);
	if (status == cudaSuccess && run.num_passes > 0)
		status = mgpu_launch_segment_passes(&run);
	if (status == cudaSuccess && run.num_passes > 0)
		status = mgpu_launch_collect(run);
	if constexpr (sizeof(Stored) != sizeof(Key))
	{
		if (status == cudaSuccess)
			status = mgpu_launch_unpack<Stored>(request, static_cast<const Key *>(run.side[0]));
	}
	return status;
}

#endif							/* MGPU_SEGMENTED_SORT_CUH */

/*
 * sort/window_sort.cuh
 *		The launches of a merge sort that may end by windows (window_pass.cuh).
 *
 * Block sort and passes are the merge sort's.  If sort tiles are runs and windows may follow them
 * at once, both are one launch (window_fused.cuh).  Else a pass from which windows could end the
 * sort is followed by a try: splits with the proof, then the merge.  The host waits for the answer
 * alone; if it is no, the next pass continues from the same runs.  If keys are very near their
 * places, the block sort takes few levels (cta_sort.cuh).  If windows can follow quantised tiles
 * (quantised_tiles.cuh), these replace the block sort.
 *
 * Rejected: enqueueing all passes, which decide on the device whether to run.  The host must know
 * on which side the result is, and launches that do nothing take 4 us each.
 */
#ifndef MGPU_SORT_WINDOW_SORT_CUH
#define MGPU_SORT_WINDOW_SORT_CUH

#include <algorithm>
#include <type_traits>

#include "sort/merge_sort.cuh"
#include "sort/quantised_tiles.cuh"
#include "sort/window_fused.cuh"
#include "sort/window_sort.h"

/* From runs on array to a sink.  *ended: they were near enough, and the sink has the result. */
template <class Tuning, class Array, class Sink>
static cudaError_t
mgpu_try_windows(Array array, const mgpu_merge_plan &plan, const mgpu_sort_request *request, Sink sink, bool *ended)
{
	typedef std::remove_pointer_t<decltype(array.keys)> Key;
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t shared_bytes =
		mgpu_tile<typename Array::Item>::bytes(mgpu_merge_slots<Array>(Tuning::merge_threads * items, 2, items));
	uint32_t   *splits = static_cast<uint32_t *>(request->temp);
	mgpu_signals *signals;
	uint32_t	question;
	cudaError_t status = mgpu_new_question(&signals, &question);

	if (status == cudaSuccess)
		status = mgpu_launch(mgpu_partition_windows<Key>, mgpu_divide_up(plan.pass.num_tiles, MGPU_PARTITION_THREADS / 32),
							 MGPU_PARTITION_THREADS, 0, request->stream, array.keys, plan.pass, splits, question);
	if (status == cudaSuccess)
		status = mgpu_launch(mgpu_merge_windows<Tuning, Array, Sink>, (unsigned int) plan.pass.num_tiles,
							 Tuning::merge_threads, shared_bytes, request->stream, array, plan.pass, splits, question,
							 signals, sink);
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, MGPU_WINDOW_ANSWER, 1, question, request->stream);
	*ended = status == cudaSuccess && (uint32_t) signals->words[MGPU_WINDOW_ANSWER] != 0;
	return status;
}

/* Tunings whose passes may begin from quantised tiles: those of many items, not of 4-byte keys alone. */
template <class Tuning, class Source>
MGPU_HOST_DEVICE constexpr bool
mgpu_takes_quantised_tiles()
{
	return !Tuning::search_in_tile && (Source::has_indices || sizeof(typename Source::Stored) > sizeof(uint32_t));
}

/* Merge tiles of a quantised tile: the fewest that hold it. */
template <class Tuning>
MGPU_HOST_DEVICE constexpr uint32_t
mgpu_count_merge_tiles()
{
	uint32_t	tiles = 1;

	while (mgpu_quantised_tuning::tile_items / tiles > Tuning::merge_tile_items)
		tiles *= 2;
	return tiles;
}

template <class Tuning>
static mgpu_merge_plan
mgpu_plan_quantised_merges(uint64_t num_items)
{
	constexpr uint32_t run_tiles = mgpu_count_merge_tiles<Tuning>();

	static_assert(mgpu_quantised_tuning::tile_items % run_tiles == 0, "a quantised tile is whole merge tiles");
	return mgpu_plan_merges_of<Tuning>(num_items, mgpu_quantised_tuning::tile_items / run_tiles, run_tiles);
}

template <bool near, class Source, class Sink>
static cudaError_t
mgpu_launch_quantised_tiles(Source source, Sink sink, const mgpu_sort_request *request)
{
	constexpr uint32_t shared_bytes = mgpu_quantised_bytes<typename Source::Stored>();

	/* a plain launch: the probe's answer was waited for, so there is nothing to overlap with */
	return mgpu_launch_early(false, mgpu_sort_quantised_tiles<near, Source, Sink>,
							 mgpu_divide_up(request->num_items, mgpu_quantised_tuning::tile_items),
							 mgpu_quantised_tuning::threads, shared_bytes, request->stream, source, sink,
							 request->num_items);
}

template <class Tuning, class Source, class Array>
static cudaError_t
mgpu_launch_window_tiles(const mgpu_sort_request *request, const mgpu_sortedness *sortedness, Source source, Array array)
{
	if constexpr (mgpu_takes_quantised_tiles<Tuning, Source>())
	{
		if (sortedness->quantised)
			return sortedness->near ? mgpu_launch_quantised_tiles<true>(source, array, request) :
				mgpu_launch_quantised_tiles<false>(source, array, request);
	}
	return sortedness->near ? mgpu_launch_sort_tiles<Tuning, true>(source, array, request->num_items, request->stream) :
		mgpu_launch_sort_tiles<Tuning, false>(source, array, request->num_items, request->stream);
}

/*
 * Are block sort and window pass one launch? For 4-byte keys, if sort tiles are merge tiles; other
 * items that are near take quantised tiles.
 */
template <class Tuning, class Array>
MGPU_HOST_DEVICE constexpr bool
mgpu_fuses_windows()
{
	return sizeof(typename Array::Item) == sizeof(uint32_t) && Tuning::sort_tile_items == Tuning::merge_tile_items;
}

/*
 * Turns between the sort of a tile and the merge of its window.  In a launch of few rounds of CTAs
 * a whole round, so that the CTAs of an SM get out of step.  In one of many rounds they do so
 * anyway, and in one of a single round no other CTAs remain; then as few turns as spare most CTAs
 * the wait, while the data are still in the cache.
 */
template <class Tuning>
static cudaError_t
mgpu_choose_fused_lag(uint64_t num_tiles, uint32_t *lag)
{
	constexpr uint32_t ctas_per_sm = Tuning::resident_threads / Tuning::merge_threads;
	uint32_t	round;
	int			num_sms;
	cudaError_t status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);

	round = (uint32_t) num_sms * ctas_per_sm;
	*lag = num_tiles > round && num_tiles <= round * MGPU_FUSED_FEW_ROUNDS ? round : MGPU_FUSED_LAG;
	return status;
}

/* Sort tiles and end by windows in one launch.  *ended: that was right, and the sink has the result. */
template <class Tuning, bool near, class Source, class Array, class Sink>
static cudaError_t
mgpu_launch_fused_windows(const mgpu_sort_request *request, const mgpu_merge_plan &plan, Source source, Array array,
						  Sink sink, bool *ended)
{
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t sort_slots = mgpu_sort_slots(Tuning::sort_threads, items);
	constexpr uint32_t merge_slots = mgpu_merge_slots<Array>(Tuning::merge_threads * items, 2, items);
	mgpu_signals *signals;
	uint32_t	question;
	uint32_t	lag;
	cudaError_t status = mgpu_choose_fused_lag<Tuning>(plan.pass.num_tiles, &lag);

	if (status == cudaSuccess)
		status = mgpu_new_question(&signals, &question);
	if (status == cudaSuccess)
		status = mgpu_launch_early(false, mgpu_sort_and_merge_windows<Tuning, near, Source, Array, Sink>,
								   (unsigned int) plan.pass.num_tiles + lag, Tuning::merge_threads,
								   mgpu_tile<typename Array::Item>::bytes(std::max(sort_slots, merge_slots)),
								   request->stream, source, array, plan.pass, lag, question, signals, sink);
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, MGPU_WINDOW_ANSWER, 1, question, request->stream);
	*ended = status == cudaSuccess && (uint32_t) signals->words[MGPU_WINDOW_ANSWER] != 0;
	return status;
}

/* The first tiles, to the array.  *tried: and windows of them, to the sink; *ended tells the answer. */
template <class Tuning, class Source, class Array, class Sink>
static cudaError_t
mgpu_launch_first_tiles(const mgpu_sort_request *request, const mgpu_sortedness *sortedness, const mgpu_merge_plan &plan,
						Source source, Array array, Sink sink, bool *tried, bool *ended)
{
	*tried = false;
	*ended = false;
	if constexpr (mgpu_fuses_windows<Tuning, Array>())
	{
		*tried = sortedness->window_passes == 0 && plan.num_passes > 0 && plan.pass.num_tiles <= MGPU_FUSED_MOST_TILES;
		if (*tried)
			return sortedness->near ? mgpu_launch_fused_windows<Tuning, true>(request, plan, source, array, sink, ended) :
				mgpu_launch_fused_windows<Tuning, false>(request, plan, source, array, sink, ended);
	}
	return mgpu_launch_window_tiles<Tuning>(request, sortedness, source, array);
}

/*
 * Sort items of one form, from source. sinks: what their last pass writes, the sides' arrays or
 * what unpacks there.  The first tiles go to arrays[side], quantised ones to the side that the
 * source is not on.
 */
template <class Tuning, class Source, class Array, class Sink>
static cudaError_t
mgpu_window_sort_arrays(mgpu_sort_request *request, const mgpu_sortedness *sortedness, Source source, const Array (&arrays)[2],
						const Sink (&sinks)[2], int side, bool *ended)
{
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(request->num_items);
	bool		tried;
	cudaError_t status;

	if (mgpu_takes_quantised_tiles<Tuning, Source>() && sortedness->quantised)
	{
		plan = mgpu_plan_quantised_merges<Tuning>(request->num_items);
		side = request->current ^ 1;
	}
	status = mgpu_launch_first_tiles<Tuning>(request, sortedness, plan, source, arrays[side], sinks[side ^ 1], &tried, ended);
	if (*ended)
		side ^= 1;
	for (int pass = 0; status == cudaSuccess && !*ended && plan.num_passes > 0; pass++, side ^= 1)
	{
		if (pass >= sortedness->window_passes + tried || sortedness->quantised)
			status = mgpu_try_windows<Tuning>(arrays[side], plan, request, sinks[side ^ 1], ended);
		if (status != cudaSuccess || *ended)
			continue;
		status = plan.num_passes == 1 ? mgpu_launch_pass<Tuning>(arrays[side], &plan, request->temp, sinks[side ^ 1], request->stream) :
			mgpu_launch_pass<Tuning>(arrays[side], &plan, request->temp, arrays[side ^ 1], request->stream);
		mgpu_advance_plan(&plan);
	}
	request->current = side;
	return status;
}

template <class Tuning, typename Key>
static cudaError_t
mgpu_window_sort_keys(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	mgpu_key_array<Key> arrays[2] = {{static_cast<Key *>(request->keys[0])}, {static_cast<Key *>(request->keys[1])}};
	mgpu_plain_source<Key> source = {arrays[request->current].keys};

	return mgpu_window_sort_arrays<Tuning>(request, sortedness, source, arrays, arrays, request->current, ended);
}

template <class Tuning>
static cudaError_t
mgpu_window_sort_indexed(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	mgpu_indexed_array arrays[2] = {{static_cast<uint64_t *>(request->keys[0]), request->indices[0]},
		{static_cast<uint64_t *>(request->keys[1]), request->indices[1]}};
	mgpu_indexing_source source = {arrays[request->current].keys};

	return mgpu_window_sort_arrays<Tuning>(request, sortedness, source, arrays, arrays, request->current, ended);
}

template <class Tuning>
static cudaError_t
mgpu_window_sort_packed(mgpu_sort_request *request, const mgpu_sortedness *sortedness, bool *ended)
{
	mgpu_packed_array arrays[2] = {{{static_cast<uint64_t *>(request->keys[0])}},
		{{static_cast<uint64_t *>(request->keys[1])}}};
	mgpu_packing_source source = {static_cast<const uint32_t *>(request->keys[request->current])};
	mgpu_unpacking_sink sinks[2] = {{static_cast<uint32_t *>(request->keys[0]), request->indices[0]},
		{static_cast<uint32_t *>(request->keys[1]), request->indices[1]}};

	return mgpu_window_sort_arrays<Tuning>(request, sortedness, source, arrays, sinks, request->current ^ 1, ended);
}

#endif							/* MGPU_SORT_WINDOW_SORT_CUH */

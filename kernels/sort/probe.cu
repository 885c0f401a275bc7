/*
 * sort/probe.cu
 *		The launch of the sortedness probe, and what the host concludes.  See
 *		probe_plan.cuh.
 */
#include <algorithm>

#include "sort/merge_sort.cuh"
#include "sort/probe_kernels.cuh"
#include "sort/quantised_tiles.cuh"
#include "sort/radix_tuning.cuh"

/* The levels of a merge sort by this tuning: run lengths from which windows could end it. */
template <class Tuning>
static void
add_levels(mgpu_probe_plan *probe)
{
	mgpu_merge_plan merges = mgpu_plan_merges<Tuning>(probe->num_items);
	uint64_t	run_items = merges.pass.run_tiles * merges.pass.tile_items;

	while (probe->num_levels < MGPU_PROBE_LEVELS && 2 * run_items < probe->num_items)
	{
		probe->run_items[probe->num_levels++] = run_items;
		mgpu_advance_plan(&merges);
		run_items = merges.pass.run_tiles * merges.pass.tile_items;
	}
}

/* The level of quantised tiles.  Samples see most of the span of a tile's keys, but may miss an eighth. */
static void
add_quantised_level(mgpu_sort_shape shape, mgpu_probe_plan *probe)
{
	uint64_t	span = shape == MGPU_SHAPE_U64 ? UINT64_C(1) << 31 : UINT64_C(1) << mgpu_quantised_tuning::digit_bits;

	probe->run_items[probe->num_levels++] = mgpu_quantised_tuning::tile_items;
	probe->quantised_span = span - span / 8;
}

/* No levels if the device has no sort by windows (window_sort.h).  The tunings are that sort's. */
static cudaError_t
plan_probe(mgpu_sort_shape shape, uint64_t num_items, mgpu_probe_plan *plan)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	*plan = {num_items, 0, {}, 0};
	if (status != cudaSuccess || !large)
		return status;
	if (shape != MGPU_SHAPE_U32 && num_items >= MGPU_QUANTISED_MIN_ITEMS)
		add_quantised_level(shape, plan);
	if (shape == MGPU_SHAPE_U32)
		num_items <= MGPU_FEW_ITEMS_U32 ? add_levels<mgpu_tuning_u32_few>(plan) : add_levels<mgpu_tuning_u32_large>(plan);
	else if (shape == MGPU_SHAPE_U64_INDEX)
		num_items <= MGPU_FEW_ITEMS_U64_INDEX ? add_levels<mgpu_tuning_u64_index_few>(plan) :
			add_levels<mgpu_tuning_u64_index_large>(plan);
	else if (num_items <= MGPU_FEW_ITEMS_U64)
		add_levels<mgpu_tuning_u64_few>(plan);
	else
		num_items <= MGPU_SOME_ITEMS_U64 ? add_levels<mgpu_tuning_u64_some>(plan) : add_levels<mgpu_tuning_u64_large>(plan);
	return status;
}

static uint32_t
answer(const mgpu_signals *signals, uint32_t word)
{
	return (uint32_t) signals->words[word];
}

/* What the samples over the whole array say. */
static void
conclude_whole(const mgpu_signals *signals, uint32_t key_bits, mgpu_sortedness *sortedness)
{
	uint32_t	descents = answer(signals, MGPU_PROBE_WHOLE) >> 16;
	uint32_t	ascents = answer(signals, MGPU_PROBE_WHOLE) & 0xFFFF;
	uint64_t	differing = (uint64_t) answer(signals, MGPU_PROBE_BITS + 1) << 32 | answer(signals, MGPU_PROBE_BITS);

	*sortedness = mgpu_sortedness();
	sortedness->window_passes = -1;
	sortedness->scattered = MGPU_PROBE_SCATTERED(descents, ascents);
	sortedness->key_bits = MGPU_RADIX_BITS;
	while (sortedness->key_bits < key_bits && differing >> sortedness->key_bits != 0)
		sortedness->key_bits += MGPU_RADIX_BITS;
}

/* What all other answers say. */
static void
conclude_rest(const mgpu_signals *signals, const mgpu_probe_plan &plan, mgpu_sortedness *sortedness)
{
	uint32_t	seen = answer(signals, MGPU_PROBE_REST);
	uint32_t	failed = (~seen >> MGPU_PROBE_RUNS & (MGPU_PROBE_FAR - 1)) | (seen & MGPU_PROBE_NEAR ? 0 : MGPU_PROBE_FAR) |
		(seen & MGPU_PROBE_NARROW ? 0 : MGPU_PROBE_LACKS_BITS);
	mgpu_probe_outcome outcome = mgpu_conclude_samples(plan, failed);

	sortedness->sorted = (seen & MGPU_PROBE_SORTED) != 0;
	sortedness->reversed = (seen & MGPU_PROBE_REVERSED) != 0;
	sortedness->near = outcome.near;
	sortedness->window_passes = outcome.window_passes;
	sortedness->quantised = outcome.quantised;
}

template <bool indexed, typename Key>
static void
launch_probe(uint32_t num_ctas, cudaStream_t stream, const mgpu_probe_arrays<Key> &arrays, const mgpu_probe_plan &plan,
			 uint32_t question, mgpu_signals *signals)
{
	if (plan.num_items % mgpu_key_vector<Key>::items == 0)
		mgpu_probe_keys<indexed, true><<<num_ctas, MGPU_PROBE_THREADS, 0, stream>>>(arrays, plan, question, signals);
	else
		mgpu_probe_keys<indexed, false><<<num_ctas, MGPU_PROBE_THREADS, 0, stream>>>(arrays, plan, question, signals);
}

/* Keys in no order are recognised by the first three words, long before the rest arrives. */
template <typename Key>
static cudaError_t
probe_sortedness(const mgpu_sort_request *request, const mgpu_probe_plan &plan, mgpu_sortedness *sortedness)
{
	int			side = request->current;
	uint64_t	num_vectors = request->num_items / mgpu_key_vector<Key>::items;
	mgpu_probe_arrays<Key> arrays = {static_cast<const Key *>(request->keys[side]),
		static_cast<Key *>(request->keys[side ^ 1]), request->indices[side ^ 1]};
	mgpu_signals *signals;
	uint32_t	question;
	uint32_t	num_ctas;
	int			num_sms;
	cudaError_t status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);

	if (status == cudaSuccess)
		status = mgpu_new_question(&signals, &question);
	if (status != cudaSuccess)
		return status;
	num_ctas = mgpu_divide_up(num_vectors, MGPU_PROBE_THREADS);
	num_ctas = std::min(num_ctas, (uint32_t) num_sms * MGPU_PROBE_CTAS_PER_SM);
	if (request->indices[side] != nullptr)
		launch_probe<true>(num_ctas, request->stream, arrays, plan, question, signals);
	else
		launch_probe<false>(num_ctas, request->stream, arrays, plan, question, signals);
	status = cudaGetLastError();
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, MGPU_PROBE_WHOLE, MGPU_PROBE_REST, question, request->stream);
	if (status != cudaSuccess)
		return status;
	conclude_whole(signals, request->key_bits, sortedness);
	if (sortedness->scattered)
		return cudaSuccess;
	status = mgpu_await_answers(signals, MGPU_PROBE_REST, 1, question, request->stream);
	if (status == cudaSuccess)
		conclude_rest(signals, plan, sortedness);
	return status;
}

extern "C" cudaError_t
mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness)
{
	mgpu_probe_plan plan;
	cudaError_t status = plan_probe(shape, request->num_items, &plan);

	if (status != cudaSuccess)
		return status;
	return shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? probe_sortedness<uint32_t>(request, plan, sortedness) :
		probe_sortedness<uint64_t>(request, plan, sortedness);
}

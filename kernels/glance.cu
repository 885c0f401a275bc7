/*
 * glance.cu
 *		The launch of a glance, and what the host makes of its answers.  See
 *		glance.cuh.
 */
#include <algorithm>

#include "compact_tiles.cuh"
#include "glance_kernels.cuh"
#include "merge_sort.cuh"
#include "segmented_tuning.cuh"

/* The levels of a merge sort by this tuning: the run lengths that windows could end it from. */
template <class Tuning>
static void
add_levels(mgpu_glance_plan *glance)
{
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(glance->num_items);
	uint64_t	run_items = plan.pass.run_tiles * plan.pass.tile_items;

	while (glance->num_levels < MGPU_GLANCE_LEVELS && 2 * run_items < glance->num_items)
	{
		glance->run_items[glance->num_levels++] = run_items;
		mgpu_advance_plan(&plan);
		run_items = plan.pass.run_tiles * plan.pass.tile_items;
	}
}

/*
 * The level of compact tiles.  Samples see most of the span of a tile's keys; an
 * eighth more may not be seen.
 */
static void
add_compact_level(mgpu_sort_shape shape, mgpu_glance_plan *glance)
{
	uint64_t	span = shape == MGPU_SHAPE_U64 ? UINT64_C(1) << 31 : UINT64_C(1) << mgpu_compact_tuning::digit_bits;

	glance->run_items[glance->num_levels++] = mgpu_compact_tuning::tile_items;
	glance->compact_span = span - span / 8;
}

/* No levels where there is no sort by windows (window_sort.h); each shape's tunings as there. */
static cudaError_t
plan_glance(mgpu_sort_shape shape, uint64_t num_items, mgpu_glance_plan *plan)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	*plan = {num_items, 0, {}, 0};
	if (status != cudaSuccess || !large)
		return status;
	if (shape != MGPU_SHAPE_U32 && num_items >= MGPU_COMPACT_MIN_ITEMS)
		add_compact_level(shape, plan);
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

/* What the whole job saw. */
static void
conclude_whole(const mgpu_signals *signals, uint32_t key_bits, mgpu_glance *glance)
{
	uint32_t	descents = answer(signals, MGPU_GLANCE_WHOLE) >> 16;
	uint32_t	ascents = answer(signals, MGPU_GLANCE_WHOLE) & 0xFFFF;
	uint64_t	differing = (uint64_t) answer(signals, MGPU_GLANCE_BITS + 1) << 32 | answer(signals, MGPU_GLANCE_BITS);

	*glance = mgpu_glance();
	glance->window_passes = -1;
	glance->scattered = MGPU_GLANCE_SCATTERED(descents, ascents);
	glance->key_bits = MGPU_LOOK_DIGIT_BITS;
	while (glance->key_bits < key_bits && differing >> glance->key_bits != 0)
		glance->key_bits += MGPU_LOOK_DIGIT_BITS;
}

/* What everybody saw. */
static void
conclude_rest(const mgpu_signals *signals, const mgpu_glance_plan &plan, mgpu_glance *glance)
{
	uint32_t	seen = answer(signals, MGPU_GLANCE_REST);
	uint32_t	failed = (~seen >> MGPU_GLANCE_RUNS & (MGPU_GLANCE_FAR - 1)) | (seen & MGPU_GLANCE_NEAR ? 0 : MGPU_GLANCE_FAR) |
		(seen & MGPU_GLANCE_NARROW ? 0 : MGPU_GLANCE_WIDE);
	mgpu_glance_outcome outcome = mgpu_conclude_samples(plan, failed);

	glance->sorted = (seen & MGPU_GLANCE_SORTED) != 0;
	glance->reversed = (seen & MGPU_GLANCE_REVERSED) != 0;
	glance->near = outcome.near;
	glance->window_passes = outcome.window_passes;
	glance->compact = outcome.compact;
}

template <bool indexed, typename Key>
static void
launch_glance(uint32_t num_ctas, cudaStream_t stream, const mgpu_glance_arrays<Key> &arrays, const mgpu_glance_plan &plan,
			  uint32_t question, mgpu_signals *signals)
{
	if (plan.num_items % mgpu_key_vector<Key>::items == 0)
		mgpu_glance_at_keys<indexed, true><<<num_ctas, MGPU_GLANCE_THREADS, 0, stream>>>(arrays, plan, question, signals);
	else
		mgpu_glance_at_keys<indexed, false><<<num_ctas, MGPU_GLANCE_THREADS, 0, stream>>>(arrays, plan, question, signals);
}

/* Keys that may be anywhere are known by three words, long before the rest. */
template <typename Key>
static cudaError_t
take_glance(const mgpu_sort_request *request, const mgpu_glance_plan &plan, mgpu_glance *glance)
{
	int			side = request->current;
	uint64_t	num_vectors = request->num_items / mgpu_key_vector<Key>::items;
	mgpu_glance_arrays<Key> arrays = {static_cast<const Key *>(request->keys[side]),
		static_cast<Key *>(request->keys[side ^ 1]), request->indices[side ^ 1]};
	mgpu_signals *signals;
	uint32_t	question;
	uint32_t	num_ctas;
	int			device;
	int			num_sms = 0;
	cudaError_t status = cudaGetDevice(&device);

	if (status == cudaSuccess)
		status = cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
	if (status == cudaSuccess)
		status = mgpu_new_question(&signals, &question);
	if (status != cudaSuccess)
		return status;
	num_ctas = mgpu_divide_up(num_vectors, MGPU_GLANCE_THREADS);
	num_ctas = std::min(num_ctas, (uint32_t) num_sms * MGPU_GLANCE_CTAS_PER_SM);
	if (request->indices[side] != nullptr)
		launch_glance<true>(num_ctas, request->stream, arrays, plan, question, signals);
	else
		launch_glance<false>(num_ctas, request->stream, arrays, plan, question, signals);
	status = cudaGetLastError();
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, MGPU_GLANCE_WHOLE, MGPU_GLANCE_REST, question, request->stream);
	if (status != cudaSuccess)
		return status;
	conclude_whole(signals, request->key_bits, glance);
	if (glance->scattered)
		return cudaSuccess;
	status = mgpu_await_answers(signals, MGPU_GLANCE_REST, 1, question, request->stream);
	if (status == cudaSuccess)
		conclude_rest(signals, plan, glance);
	return status;
}

extern "C" cudaError_t
mgpu_take_glance(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_glance *glance)
{
	mgpu_glance_plan plan;
	cudaError_t status = plan_glance(shape, request->num_items, &plan);

	if (status != cudaSuccess)
		return status;
	return shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? take_glance<uint32_t>(request, plan, glance) :
		take_glance<uint64_t>(request, plan, glance);
}

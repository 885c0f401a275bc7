/*
 * glance.cu
 *		The kernel of a glance, and what the host makes of its answers.  See
 *		glance.cuh.
 */
#include "glance.cuh"

#include <algorithm>

#include "merge_sort.cuh"
#include "segmented_tuning.cuh"
#include "device_signal.h"

/* What a CTA's keys are in, as far as it read. */
typedef enum mgpu_glance_order
{
	MGPU_GLANCE_NONE = 0,
	MGPU_GLANCE_ASCENDING,
	MGPU_GLANCE_DESCENDING
} mgpu_glance_order;

/* Answers: jobs, then the bits that samples differ in, in halves, then CTAs. */
#define MGPU_GLANCE_BITS ((MGPU_GLANCE_LEVELS + 1) * MGPU_GLANCE_PLACES + 1)
#define MGPU_GLANCE_FIRST_CTA (MGPU_GLANCE_BITS + 2)
#define MGPU_GLANCE_MOST_CTAS (MGPU_SIGNAL_WORDS - MGPU_GLANCE_FIRST_CTA)

/* The last question of this device whose keys were found in no order. */
static __device__ uint32_t mgpu_glance_disorder;

/* The greatest key of a CTA's threads that have one. */
template <typename Key>
static __device__ __forceinline__ Key
mgpu_greatest_of_cta(Key key, bool has_key, Key *warps)
{
	key = has_key ? key : 0;
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = max(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = key;
	__syncthreads();				/* every warp's greatest is there */
	key = warps[threadIdx.x % (MGPU_GLANCE_THREADS / 32)];
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = max(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	return key;
}

/* Keys at even distances over the whole array: descents, ascents, and the bits they differ in. */
template <typename Key>
static __device__ __forceinline__ void
mgpu_glance_at_whole(const Key *keys, uint64_t num_items, uint32_t question, mgpu_signals *signals)
{
	__shared__ Key warps[MGPU_GLANCE_THREADS / 32];
	uint64_t	stride = (num_items - 1) / MGPU_GLANCE_THREADS;
	Key			key = keys[threadIdx.x * stride];
	Key			next = keys[(threadIdx.x + 1) * stride];
	Key			bits = next ^ keys[0];
	uint32_t	descents = (uint32_t) __syncthreads_count(next < key);
	uint32_t	ascents = (uint32_t) __syncthreads_count(key < next);

	for (uint32_t distance = 16; distance > 0; distance /= 2)
		bits |= __shfl_xor_sync(0xFFFFFFFFu, bits, distance);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = bits;
	__syncthreads();				/* every warp's bits are there */
	if (threadIdx.x != 0)
		return;
	for (uint32_t warp = 0; warp < MGPU_GLANCE_THREADS / 32; warp++)
		bits |= warps[warp];
	if (descents > 0 && ascents > 0)
		*(volatile uint32_t *) &mgpu_glance_disorder = question;
	signals->words[MGPU_GLANCE_BITS] = MGPU_SIGNAL(question, bits);
	signals->words[MGPU_GLANCE_BITS + 1] = MGPU_SIGNAL(question, (uint64_t) bits >> 32);
	signals->words[MGPU_GLANCE_BITS - 1] = MGPU_SIGNAL(question, descents << 16 | ascents);
}

/* One job: is the greatest of some keys above the least of others? */
template <typename Key>
static __device__ __forceinline__ void
mgpu_do_glance_job(const Key *keys, const mgpu_glance_plan &plan, uint32_t job, uint32_t question, mgpu_signals *signals)
{
	__shared__ Key warps[MGPU_GLANCE_THREADS / 32];
	uint32_t	kind = job / MGPU_GLANCE_PLACES;
	uint32_t	place = job % MGPU_GLANCE_PLACES;
	mgpu_glance_sample sample = kind < plan.num_levels ? mgpu_sample_runs(plan, kind, place, threadIdx.x) :
		mgpu_sample_neighbours(plan, place, threadIdx.x);
	Key			key = keys[sample.item];
	Key			greatest = mgpu_greatest_of_cta(key, sample.in_first, warps);
	int			in_order = __syncthreads_and(!(sample.in_second && key < greatest));

	if (threadIdx.x == 0)
		signals->words[job] = MGPU_SIGNAL(question, in_order);
}

template <typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_load_vector(const Key *keys, uint64_t vector)
{
	uint4		words = reinterpret_cast<const uint4 *>(keys)[vector];

	return *reinterpret_cast<mgpu_key_vector<Key> *>(&words);
}

/* What a glance reads and writes. */
template <typename Key>
struct mgpu_glance_arrays
{
	const Key  *keys;
	Key		   *turned;			/* the other side */
	uint32_t   *turned_indices;	/* NULL without indices */
};

/* The keys behind a vector: from the lane above, or, of the last lane and the last vector, from memory. */
template <typename Key>
static __device__ __forceinline__ mgpu_key_vector<Key>
mgpu_next_vector(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, const mgpu_key_vector<Key> &vector,
				 uint64_t number, uint32_t over)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	num_vectors = num_items / items;
	bool		from_memory = threadIdx.x % 32 == 31 || number + 1 == num_vectors;
	mgpu_key_vector<Key> next;

#pragma unroll
	for (int i = 0; i < items; i++)
	{
		uint64_t	item = (number + 1) * items + i;

		next.keys[i] = __shfl_down_sync(0xFFFFFFFFu, vector.keys[i], 1);
		if (from_memory)
			next.keys[i] = number < num_vectors && item < num_items && (i == 0 || i < (int) over) ? arrays.keys[item] :
				vector.keys[items - 1];
	}
	return next;
}

template <typename Key>
static __device__ __forceinline__ void
mgpu_store_turned(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, uint64_t number,
				  const mgpu_key_vector<Key> &turned)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	target = num_items / items - 1 - number;
	uint32_t	index = (uint32_t) (num_items - 1 - target * items);

	reinterpret_cast<uint4 *>(arrays.turned)[target] = *reinterpret_cast<const uint4 *>(&turned);
	if (arrays.turned_indices == nullptr)
		return;
	if constexpr (items == 4)
		reinterpret_cast<uint4 *>(arrays.turned_indices)[target] = make_uint4(index, index - 1, index - 2, index - 3);
	else
		reinterpret_cast<uint2 *>(arrays.turned_indices)[target] = make_uint2(index, index - 1);
}

/* Are a vector's keys and the next one in this order?  Equal ones ascend; with indices they must not descend. */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_vector_in_order(const mgpu_key_vector<Key> &vector, Key next, bool has_next, bool ascending, bool indexed)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	bool		descends = has_next && next < vector.keys[items - 1];
	bool		ascends = has_next && vector.keys[items - 1] < next;
	bool		equals = has_next && vector.keys[items - 1] == next;

#pragma unroll
	for (int i = 0; i + 1 < items; i++)
	{
		descends |= vector.keys[i + 1] < vector.keys[i];
		ascends |= vector.keys[i] < vector.keys[i + 1];
		equals |= vector.keys[i] == vector.keys[i + 1];
	}
	return ascending ? !descends : !ascends && !(indexed && equals);
}

/*
 * Read a CTA's share of the vectors in one order, and turn it round if that
 * descends.  False as soon as the order ends here, or a disorder is known.
 */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_read_in_order(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, bool ascending, uint32_t question)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	num_vectors = num_items / items;
	uint64_t	stride = (uint64_t) gridDim.x * MGPU_GLANCE_THREADS;
	uint32_t	over = (uint32_t) (num_items % items);
	uint32_t	lane = threadIdx.x % 32;
	bool		indexed = arrays.turned_indices != nullptr;

	for (uint64_t warp_first = (uint64_t) blockIdx.x * MGPU_GLANCE_THREADS + threadIdx.x - lane; warp_first < num_vectors;
		 warp_first += MGPU_GLANCE_VECTORS * stride)
	{
		mgpu_key_vector<Key> vectors[MGPU_GLANCE_VECTORS];
		bool		in_order = true;

#pragma unroll
		for (int i = 0; i < MGPU_GLANCE_VECTORS; i++)
		{
			uint64_t	number = warp_first + i * stride + lane;

			vectors[i] = mgpu_load_vector(arrays.keys, number < num_vectors ? number : num_vectors - 1);
		}
		if (lane == 0)
			in_order = *(volatile uint32_t *) &mgpu_glance_disorder != question;
#pragma unroll
		for (int i = 0; i < MGPU_GLANCE_VECTORS; i++)
		{
			uint64_t	number = warp_first + i * stride + lane;
			mgpu_key_vector<Key> next = mgpu_next_vector(arrays, num_items, vectors[i], number, ascending ? 0 : over);

			if (number >= num_vectors)
				continue;
			in_order &= mgpu_vector_in_order(vectors[i], next.keys[0], number + 1 < num_vectors || over > 0, ascending, indexed);
			if (!ascending)
				mgpu_store_turned(arrays, num_items, number, mgpu_turn_round(vectors[i], next, over));
		}
		if (__any_sync(0xFFFFFFFFu, !in_order))
			return false;
	}
	return true;
}

/* What the vectors leave over: the last keys, and the first ones' places when turned round. */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_read_rest(const mgpu_glance_arrays<Key> &arrays, uint64_t num_items, bool ascending)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint32_t	over = (uint32_t) (num_items % items);
	bool		in_order = true;

	for (uint32_t i = 0; i < over; i++)
	{
		uint64_t	item = num_items - over + i;
		Key			key = arrays.keys[item];

		if (i + 1 < over && (ascending ? arrays.keys[item + 1] < key : key < arrays.keys[item + 1] ||
							 (arrays.turned_indices != nullptr && key == arrays.keys[item + 1])))
			in_order = false;
		if (ascending)
			continue;
		arrays.turned[num_items - 1 - i] = arrays.keys[i];
		if (arrays.turned_indices != nullptr)
			arrays.turned_indices[num_items - 1 - i] = i;
	}
	return in_order;
}

/* Jobs, and each CTA's share of the keys; every CTA has a vector at least. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_GLANCE_THREADS, MGPU_GLANCE_CTAS_PER_SM)
mgpu_glance_at_keys(mgpu_glance_arrays<Key> arrays, mgpu_glance_plan plan, uint32_t question, mgpu_signals *signals)
{
	constexpr int items = mgpu_key_vector<Key>::items;
	uint64_t	num_vectors = plan.num_items / items;
	uint64_t	number = (uint64_t) blockIdx.x * MGPU_GLANCE_THREADS + threadIdx.x;
	mgpu_key_vector<Key> probe = mgpu_load_vector(arrays.keys, number < num_vectors ? number : num_vectors - 1);
	bool		indexed = arrays.turned_indices != nullptr;
	bool		ascending;
	bool		in_order;

	for (uint32_t job = blockIdx.x; job < mgpu_glance_jobs(plan); job += gridDim.x)
	{
		if (job + 1 == mgpu_glance_jobs(plan))
			mgpu_glance_at_whole(arrays.keys, plan.num_items, question, signals);
		else
			mgpu_do_glance_job(arrays.keys, plan, job, question, signals);
		__syncthreads();			/* before the next job's samples go where this one's are */
	}
	ascending = __syncthreads_and(mgpu_vector_in_order(probe, (Key) 0, false, true, indexed));
	in_order = ascending || __syncthreads_and(mgpu_vector_in_order(probe, (Key) 0, false, false, indexed));
	if (in_order)
		in_order = mgpu_read_in_order(arrays, plan.num_items, ascending, question);
	if (in_order && blockIdx.x == 0 && threadIdx.x == 0)
		in_order = mgpu_read_rest(arrays, plan.num_items, ascending);
	in_order = __syncthreads_and(in_order);
	if (threadIdx.x != 0)
		return;
	if (!in_order)
		*(volatile uint32_t *) &mgpu_glance_disorder = question;
	signals->words[MGPU_GLANCE_FIRST_CTA + blockIdx.x] =
		MGPU_SIGNAL(question, !in_order ? MGPU_GLANCE_NONE : ascending ? MGPU_GLANCE_ASCENDING : MGPU_GLANCE_DESCENDING);
}

/* ----------------------------------------------------------------- the host */

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

/* No levels where there is no sort by windows (window_sort.h). */
static cudaError_t
plan_glance(mgpu_sort_shape shape, uint64_t num_items, mgpu_glance_plan *plan)
{
	bool		large;
	cudaError_t status = mgpu_is_large_device(&large);

	*plan = {num_items, 0, {}};
	if (status != cudaSuccess || !large || shape == MGPU_SHAPE_U64_INDEX)
		return status;
	if (shape == MGPU_SHAPE_U32)
		num_items <= MGPU_FEW_ITEMS_U32 ? add_levels<mgpu_tuning_u32_few>(plan) : add_levels<mgpu_tuning_u32_large>(plan);
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

/* Were all places of a kind of job in order? */
static bool
all_in_order(const mgpu_signals *signals, uint32_t kind)
{
	bool		in_order = true;

	for (uint32_t place = 0; place < MGPU_GLANCE_PLACES; place++)
		in_order &= answer(signals, kind * MGPU_GLANCE_PLACES + place) != 0;
	return in_order;
}

static mgpu_glance
conclude(const mgpu_glance_plan &plan, const mgpu_signals *signals, uint32_t num_ctas, uint32_t key_bits)
{
	uint32_t	whole = answer(signals, MGPU_GLANCE_BITS - 1);
	uint64_t	differing = (uint64_t) answer(signals, MGPU_GLANCE_BITS + 1) << 32 | answer(signals, MGPU_GLANCE_BITS);
	mgpu_glance glance = {};

	glance.sorted = glance.reversed = true;
	for (uint32_t cta = 0; cta < num_ctas; cta++)
	{
		glance.sorted &= answer(signals, MGPU_GLANCE_FIRST_CTA + cta) == MGPU_GLANCE_ASCENDING;
		glance.reversed &= answer(signals, MGPU_GLANCE_FIRST_CTA + cta) == MGPU_GLANCE_DESCENDING;
	}
	glance.scattered = MGPU_GLANCE_SCATTERED(whole >> 16, whole & 0xFFFF);
	glance.near = all_in_order(signals, plan.num_levels);
	glance.window_passes = -1;
	for (uint32_t level = plan.num_levels; level > 0 && all_in_order(signals, level - 1); level--)
		glance.window_passes = (int) level - 1;
	glance.key_bits = MGPU_LOOK_DIGIT_BITS;
	while (glance.key_bits < key_bits && differing >> glance.key_bits != 0)
		glance.key_bits += MGPU_LOOK_DIGIT_BITS;
	return glance;
}

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
	num_ctas = std::min({num_ctas, (uint32_t) num_sms * MGPU_GLANCE_CTAS_PER_SM, (uint32_t) MGPU_GLANCE_MOST_CTAS});
	mgpu_glance_at_keys<<<num_ctas, MGPU_GLANCE_THREADS, 0, request->stream>>>(arrays, plan, question, signals);
	status = cudaGetLastError();
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, MGPU_GLANCE_FIRST_CTA, num_ctas, question, request->stream);
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, 0, mgpu_glance_jobs(plan) - 1, question, request->stream);
	if (status == cudaSuccess)
		status = mgpu_await_answers(signals, MGPU_GLANCE_BITS - 1, 3, question, request->stream);
	if (status == cudaSuccess)
		*glance = conclude(plan, signals, num_ctas, request->key_bits);
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

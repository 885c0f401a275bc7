/*
 * sort/probe.cu
 *		The sortedness probe: its kernel, its launch and its answer.
 *
 * Each CTA reads its share of all keys as long as they ascend, or descend (probe_read.cuh), so a
 * probe that finds order has proved it.  As soon as one finds disorder, all leave.  One CTA first
 * compares samples at even distances: sorted lists one behind the other would else be read up to
 * where the second one begins.  If the samples are in no order, the host does not wait for the
 * other CTAs.
 */
#include <algorithm>

#include "device/launch.cuh"
#include "device/signal.h"
#include "sort/probe.h"
#include "sort/probe_read.cuh"

/* What CTAs have found on this device. */
struct mgpu_probe_findings
{
	uint32_t	disorder;		/* the last question whose keys neither ascend nor descend throughout */
	unsigned long long sums;	/* CTAs that arrived, did not ascend, did not descend: 16 bits each; 0 between probes */
};

static __device__ mgpu_probe_findings mgpu_found;

/* Do keys at even distances over the whole array both ascend and descend? All threads of a CTA ask. */
template <typename Key>
static __device__ __forceinline__ bool
mgpu_samples_disagree(const Key *keys, uint64_t num_items)
{
	uint64_t	stride = (num_items - 1) / MGPU_PROBE_THREADS;
	Key			key = keys[threadIdx.x * stride];
	Key			next = keys[(threadIdx.x + 1) * stride];
	int			descends = __syncthreads_or(next < key);

	return __syncthreads_or(key < next) && descends;
}

/*
 * The last CTA that arrives tells the host what all have found.  One thread of each calls it.  The
 * sum that it gets tells the order, so nothing more is waited for.
 */
static __device__ __forceinline__ void
mgpu_report_probe(bool ascends, bool descends, uint32_t question, uint64_t *word)
{
	unsigned long long found = 1 | (unsigned long long) !ascends << 16 | (unsigned long long) !descends << 32;

	found += atomicAdd(&mgpu_found.sums, found);
	if ((found & 0xFFFF) != gridDim.x)
		return;
	*word = MGPU_SIGNAL(question, (found >> 16 & 0xFFFF) == 0 ? MGPU_KEYS_SORTED :
						found >> 32 == 0 ? MGPU_KEYS_REVERSED : MGPU_KEYS_UNSORTED);
	mgpu_found.sums = 0;
}

/*
 * Samples, then each CTA's share of the keys, at least one vector.  If its first keys are all
 * equal, the ends of the array tell which order to check.
 */
template <bool indexed, bool even, typename Key>
static __global__ void
__launch_bounds__(MGPU_PROBE_THREADS, MGPU_PROBE_CTAS_PER_SM)
mgpu_probe_keys(mgpu_probe_arrays<Key> arrays, uint64_t num_items, uint32_t question, uint64_t *word)
{
	uint64_t	num_vectors = num_items / mgpu_key_vector<Key>::items;
	uint64_t	number = (uint64_t) blockIdx.x * MGPU_PROBE_THREADS + threadIdx.x;
	mgpu_key_vector<Key> probe = mgpu_load_vector(arrays.keys, min(number, num_vectors - 1));
	bool		ascending;
	bool		descending;
	bool		in_order;

	/*
	 * only the rounds that an ascending CTA reads first: where keys are reversed, the second rounds
	 * are other CTAs'
	 */
	if (threadIdx.x % 32 == 0)
		mgpu_prefetch_round(arrays.keys, number / 32 * 32 * MGPU_PROBE_VECTORS, 32 * MGPU_PROBE_VECTORS, num_vectors);
	if (blockIdx.x == 0 && mgpu_samples_disagree(arrays.keys, num_items) && threadIdx.x == 0)
	{
		/* the last CTA will say the same */
		*word = MGPU_SIGNAL(question, MGPU_KEYS_UNSORTED);
		mgpu_record_disorder(mgpu_found.disorder, question);
	}
	ascending = __syncthreads_and(mgpu_vector_in_order<true, indexed>(probe));
	descending = __syncthreads_and(mgpu_vector_in_order<false, indexed>(probe));
	in_order = ascending || descending;
	if (ascending && descending)
		ascending = !(arrays.keys[num_items - 1] < arrays.keys[0]);
	if (in_order)
		in_order = ascending ? mgpu_read_in_order<true, indexed, even>(arrays, num_items, mgpu_found.disorder, question) :
			mgpu_read_in_order<false, indexed, even>(arrays, num_items, mgpu_found.disorder, question);
	if (in_order && blockIdx.x == 0 && threadIdx.x == 0)
		in_order = mgpu_read_rest(arrays, num_items, ascending);
	in_order = __syncthreads_and(in_order);
	if (threadIdx.x != 0)
		return;
	if (!in_order)
		mgpu_record_disorder(mgpu_found.disorder, question);
	mgpu_report_probe(in_order && ascending, in_order && !ascending, question, word);
}

template <bool indexed, typename Key>
static void
launch_probe(uint32_t num_ctas, cudaStream_t stream, const mgpu_probe_arrays<Key> &arrays, uint64_t num_items,
			 uint32_t question, uint64_t *word)
{
	if (num_items % mgpu_key_vector<Key>::items == 0)
		mgpu_probe_keys<indexed, true><<<num_ctas, MGPU_PROBE_THREADS, 0, stream>>>(arrays, num_items, question, word);
	else
		mgpu_probe_keys<indexed, false><<<num_ctas, MGPU_PROBE_THREADS, 0, stream>>>(arrays, num_items, question, word);
}

template <typename Key>
static cudaError_t
probe_sortedness(const mgpu_sort_request *request, mgpu_sortedness *sortedness)
{
	int			side = request->current;
	uint64_t	num_items = request->num_items;
	mgpu_probe_arrays<Key> arrays = {static_cast<const Key *>(request->keys[side]),
		static_cast<Key *>(request->keys[side ^ 1]), request->indices[side ^ 1]};
	uint64_t   *word;
	uint32_t	question;
	uint32_t	answer;
	uint32_t	num_ctas;
	int			num_sms;
	cudaError_t status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);

	if (status == cudaSuccess)
		status = mgpu_new_question(&word, &question);
	if (status != cudaSuccess)
		return status;
	num_ctas = mgpu_divide_up(num_items / mgpu_key_vector<Key>::items, MGPU_PROBE_THREADS);
	num_ctas = std::min(num_ctas, (uint32_t) num_sms * MGPU_PROBE_CTAS_PER_SM);
	if (request->indices[side] != nullptr)
		launch_probe<true>(num_ctas, request->stream, arrays, num_items, question, word);
	else
		launch_probe<false>(num_ctas, request->stream, arrays, num_items, question, word);
	status = cudaGetLastError();
	if (status == cudaSuccess)
		status = mgpu_await_answer(word, question, request->stream, &answer);
	if (status == cudaSuccess)
		*sortedness = (mgpu_sortedness) answer;
	return status;
}

extern "C" cudaError_t
mgpu_probe_sortedness(mgpu_sort_shape shape, const mgpu_sort_request *request, mgpu_sortedness *sortedness)
{
	return shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? probe_sortedness<uint32_t>(request, sortedness) :
		probe_sortedness<uint64_t>(request, sortedness);
}

/*
 * segmented/locality_probe.cu
 *		The locality probe's kernels and launches.  See locality_probe.cuh.
 *
 * Each CTA writes its counts to its own place in pinned host memory.  Adding them up on the device
 * and copying them back would take longer than the probe.
 */
#include "segmented/locality_probe.cuh"

/* The least key of a CTA, in every thread.  Ends with a barrier. */
template <typename Key>
static __device__ Key
mgpu_least_of_cta(Key key, Key *warps)
{
	uint32_t	lane = threadIdx.x % 32;

	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = min(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	if (lane == 0)
		warps[threadIdx.x / 32] = key;
	__syncthreads();				/* every warp's least key is there */
	key = warps[lane % (MGPU_LOCALITY_PROBE_THREADS / 32)];
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = min(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	__syncthreads();				/* they are read */
	return key;
}

/* All bits that are set in a thread's word, in the first thread of the CTA. */
template <typename Key>
static __device__ Key
mgpu_all_bits_of_cta(Key bits, Key *warps)
{
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		bits |= __shfl_xor_sync(0xFFFFFFFFu, bits, distance);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = bits;
	__syncthreads();				/* every warp's bits are there */
	for (uint32_t warp = 1; threadIdx.x == 0 && warp < blockDim.x / 32; warp++)
		bits |= warps[warp];
	return bits;
}

/* One row of CTAs a pass, and one that compares neighbours. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_LOCALITY_PROBE_THREADS)
mgpu_probe_locality(const Key *keys, mgpu_locality_plan plan, mgpu_locality_counts *counts)
{
	__shared__ Key warps[MGPU_LOCALITY_PROBE_THREADS / 32];
	uint32_t	thread = threadIdx.x;
	uint32_t	pass = blockIdx.y;

	if (pass < plan.num_passes)
	{
		bool		in_a = thread < MGPU_LOCALITY_PROBE_THREADS / 2;
		Key			key = keys[mgpu_locality_item(plan, pass, blockIdx.x, thread)];
		Key			least_b = mgpu_least_of_cta(in_a ? (Key) ~(Key) 0 : key, warps);
		Key			greatest_a = ~mgpu_least_of_cta(in_a ? (Key) ~key : (Key) ~(Key) 0, warps);
		int			moved = __syncthreads_count(in_a ? least_b < key : key < greatest_a);

		if (thread == 0)
			counts->moved[pass][blockIdx.x] = (uint32_t) moved;
	}
	else
	{
		uint64_t	item = mgpu_locality_neighbour(plan, blockIdx.x, thread);
		int			unsorted = __syncthreads_or(keys[item + 1] < keys[item]);
		uint64_t	stride = (plan.num_items - 1) / MGPU_LOCALITY_PROBE_THREADS;
		Key			sample = keys[(thread + 1) * stride];
		int			descents = __syncthreads_count(sample < keys[thread * stride]);
		Key			differing = mgpu_all_bits_of_cta((Key) ((keys[item] ^ keys[0]) | (sample ^ keys[0])), warps);

		if (thread == 0)
		{
			counts->unsorted[blockIdx.x] = unsorted != 0;
			counts->differing[blockIdx.x] = differing;
		}
		if (thread == 0 && blockIdx.x == 0)
			counts->descents = (uint32_t) descents;
	}
}

/* The bits in which a vector's keys differ from the first key of the array. */
static __device__ __forceinline__ uint32_t
mgpu_differing_bits(uint4 vector, uint32_t first)
{
	return (vector.x ^ first) | (vector.y ^ first) | (vector.z ^ first) | (vector.w ^ first);
}

static __device__ __forceinline__ uint64_t
mgpu_differing_bits(uint4 vector, uint64_t first)
{
	return (((uint64_t) vector.y << 32 | vector.x) ^ first) | (((uint64_t) vector.w << 32 | vector.z) ^ first);
}

/* The same for all keys, which are aligned to a vector. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_READ_BITS_THREADS)
mgpu_read_differing(const Key *keys, uint64_t num_items, mgpu_locality_counts *counts)
{
	constexpr uint32_t vector_items = sizeof(uint4) / sizeof(Key);
	__shared__ Key warps[MGPU_READ_BITS_THREADS / 32];
	const uint4 *vectors = reinterpret_cast<const uint4 *>(keys);
	uint64_t	num_vectors = num_items / vector_items;
	uint64_t	thread = (uint64_t) blockIdx.x * MGPU_READ_BITS_THREADS + threadIdx.x;
	Key			first = keys[0];
	Key			bits = 0;

	if (thread < num_items % vector_items)
		bits = keys[num_vectors * vector_items + thread] ^ first;
#pragma unroll 4
	for (uint64_t vector = thread; vector < num_vectors; vector += MGPU_READ_BITS_CTAS * MGPU_READ_BITS_THREADS)
		bits |= mgpu_differing_bits(vectors[vector], first);
	bits = mgpu_all_bits_of_cta(bits, warps);
	if (threadIdx.x == 0)
		counts->all_differing[blockIdx.x] = bits;
}

/* Where this process's probes leave their counts. */
static cudaError_t
get_counts(mgpu_locality_counts **counts)
{
	static mgpu_locality_counts *pinned = nullptr;
	cudaError_t status = cudaSuccess;

	if (pinned == nullptr)
		status = cudaHostAlloc(reinterpret_cast<void **>(&pinned), sizeof(*pinned),
							   cudaHostAllocPortable | cudaHostAllocMapped);
	if (status != cudaSuccess)
		pinned = nullptr;
	*counts = pinned;
	return status;
}

static bool
has_short_keys(const mgpu_segmented_request *request)
{
	return request->shape == MGPU_SHAPE_U32 || request->shape == MGPU_SHAPE_U32_INDEX;
}

static cudaError_t
probe_samples(const mgpu_segmented_request *request, const mgpu_locality_plan &plan, mgpu_locality_counts *counts)
{
	dim3		ctas(MGPU_LOCALITY_PROBE_CTAS, plan.num_passes + 1);
	const void *keys = request->regions[request->current];
	cudaError_t status;

	if (has_short_keys(request))
		mgpu_probe_locality<<<ctas, MGPU_LOCALITY_PROBE_THREADS, 0, request->stream>>>
			(static_cast<const uint32_t *>(keys), plan, counts);
	else
		mgpu_probe_locality<<<ctas, MGPU_LOCALITY_PROBE_THREADS, 0, request->stream>>>
			(static_cast<const uint64_t *>(keys), plan, counts);
	status = cudaGetLastError();
	return status == cudaSuccess ? cudaStreamSynchronize(request->stream) : status;
}

/* Read all keys, and wait: the bits in which they differ, by CTA. */
static cudaError_t
read_all_keys(const void *keys, uint64_t num_items, bool short_keys, cudaStream_t stream, mgpu_locality_counts *counts)
{
	cudaError_t status;

	if (short_keys)
		mgpu_read_differing<<<MGPU_READ_BITS_CTAS, MGPU_READ_BITS_THREADS, 0, stream>>>
			(static_cast<const uint32_t *>(keys), num_items, counts);
	else
		mgpu_read_differing<<<MGPU_READ_BITS_CTAS, MGPU_READ_BITS_THREADS, 0, stream>>>
			(static_cast<const uint64_t *>(keys), num_items, counts);
	status = cudaGetLastError();
	return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

extern "C" cudaError_t
mgpu_read_key_bits(mgpu_sort_shape shape, const mgpu_sort_request *request, uint32_t *key_bits)
{
	bool		short_keys = shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX;
	mgpu_locality_counts  *counts;
	cudaError_t status = get_counts(&counts);

	if (status == cudaSuccess)
		status = read_all_keys(request->keys[request->current], request->num_items, short_keys, request->stream, counts);
	if (status == cudaSuccess)
		*key_bits = mgpu_count_key_bits(counts->all_differing, request->key_bits);
	return status;
}

extern "C" cudaError_t
mgpu_estimate_costs(const mgpu_segmented_request *request, uint32_t key_bits, mgpu_cost_estimate *estimate)
{
	mgpu_locality_plan plan = mgpu_plan_locality_probe(request->shape, request->num_items);
	mgpu_locality_counts  *counts;
	cudaError_t status;

	if (request->num_items <= MGPU_LOCALITY_PROBE_THREADS)
	{
		*estimate = mgpu_cost_estimate();
		estimate->key_bits = key_bits;
		estimate->choice = MGPU_ALGORITHM_LOCALITY;
		return cudaSuccess;
	}
	status = get_counts(&counts);
	if (status == cudaSuccess)
		status = probe_samples(request, plan, counts);
	if (status == cudaSuccess && mgpu_pays_to_read(plan, *counts, request->shape, key_bits))
	{
		status = read_all_keys(request->regions[request->current], request->num_items, has_short_keys(request),
							   request->stream, counts);
		if (status == cudaSuccess)
			key_bits = mgpu_count_key_bits(counts->all_differing, key_bits);
	}
	if (status == cudaSuccess)
		*estimate = mgpu_conclude(plan, *counts, request->shape, key_bits);
	return status;
}

/*
 * segmented_look.cu
 *		Would a locality sort merge more than a radix sort moves?  See
 *		segmented_look.cuh.
 */
#include "segmented_look.cuh"

#include "map.h"

/* Least of all keys of a CTA, in every thread; ends with a barrier before others' values go. */
template <typename Key>
static __device__ Key
mgpu_least_of_cta(Key key, Key *warps)
{
	uint32_t	lane = threadIdx.x % 32;

	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = min(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	if (lane == 0)
		warps[threadIdx.x / 32] = key;
	__syncthreads();				/* every warp's least is there */
	key = warps[lane % (MGPU_LOOK_THREADS / 32)];
	for (uint32_t distance = 16; distance > 0; distance /= 2)
		key = min(key, __shfl_xor_sync(0xFFFFFFFFu, key, distance));
	__syncthreads();				/* they are read */
	return key;
}

/* A row of CTAs a pass, and one more that looks at tiles. */
template <typename Key>
__global__ void
__launch_bounds__(MGPU_LOOK_THREADS)
mgpu_look_at_order(const Key *keys, mgpu_look_plan plan, mgpu_look *look)
{
	__shared__ Key warps[MGPU_LOOK_THREADS / 32];
	uint32_t	thread = threadIdx.x;
	uint32_t	pass = blockIdx.y;

	if (pass < plan.num_passes)
	{
		bool		in_a = thread < MGPU_LOOK_THREADS / 2;
		Key			key = keys[mgpu_look_item(plan, pass, blockIdx.x, thread)];
		Key			least_b = mgpu_least_of_cta(in_a ? (Key) ~(Key) 0 : key, warps);
		Key			greatest_a = ~mgpu_least_of_cta(in_a ? (Key) ~key : (Key) ~(Key) 0, warps);
		int			moved = __syncthreads_count(in_a ? least_b < key : key < greatest_a);

		if (thread == 0)
			atomicAdd(&look->moved[pass], (uint32_t) moved);
	}
	else
	{
		uint64_t	item = mgpu_look_neighbour(plan, blockIdx.x, thread);
		int			unsorted = __syncthreads_or(keys[item + 1] < keys[item]);
		uint64_t	stride = (plan.num_items - 1) / MGPU_LOOK_THREADS;
		int			descents = __syncthreads_count(keys[(thread + 1) * stride] < keys[thread * stride]);

		if (thread == 0 && unsorted)
			atomicAdd(&look->unsorted_tiles, 1u);
		if (thread == 0 && blockIdx.x == 0)
			look->descents = (uint32_t) descents;
	}
}

extern "C" cudaError_t
mgpu_foresee(const mgpu_segmented_request *request, uint32_t key_bits, mgpu_foresight *foresight)
{
	mgpu_look_plan plan = mgpu_plan_look(request->shape, request->num_items);
	dim3		ctas(MGPU_LOOK_CTAS, plan.num_passes + 1);
	mgpu_look  *d_look = static_cast<mgpu_look *>(request->temp);
	const void *keys = request->regions[request->current];
	mgpu_look	look = {};
	cudaError_t status = cudaSuccess;

	if (request->num_items > MGPU_LOOK_THREADS)
	{
		status = cudaMemsetAsync(d_look, 0, sizeof(look), request->stream);
		if (status != cudaSuccess)
			return status;
		if (request->shape == MGPU_SHAPE_U32 || request->shape == MGPU_SHAPE_U32_INDEX)
			mgpu_look_at_order<<<ctas, MGPU_LOOK_THREADS, 0, request->stream>>>
				(static_cast<const uint32_t *>(keys), plan, d_look);
		else
			mgpu_look_at_order<<<ctas, MGPU_LOOK_THREADS, 0, request->stream>>>
				(static_cast<const uint64_t *>(keys), plan, d_look);
		status = cudaGetLastError();
		if (status == cudaSuccess)
			status = cudaMemcpyAsync(&look, d_look, sizeof(look), cudaMemcpyDeviceToHost, request->stream);
		if (status == cudaSuccess)
			status = cudaStreamSynchronize(request->stream);
	}
	*foresight = mgpu_conclude(plan, look, request->shape, key_bits);
	return status;
}

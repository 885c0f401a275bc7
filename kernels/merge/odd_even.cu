/*
 * merge/odd_even.cu
 *		The kernel of the odd-even network, and its launches.  See odd_even.cuh.
 */
#include "merge/odd_even.cuh"
#include "merge/ops.h"

template <typename Key>
static __global__ void
__launch_bounds__(mgpu_odd_even_shape<Key>::threads, 1024 / mgpu_odd_even_shape<Key>::threads)
exchange_windows(const Key *in, Key *out, uint64_t num_items, mgpu_odd_even_launch launch)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	__shared__ Key window[Shape::shared_items];

#pragma unroll
	for (uint32_t i = 0; i < MGPU_ODD_EVEN_ITEMS; i++)
	{
		uint32_t	item = threadIdx.x + i * Shape::threads;
		uint64_t	index = mgpu_odd_even_index<Key>(launch, blockIdx.x, item);

		window[mgpu_padded<Key>(item)] = index < num_items ? in[index] : mgpu_largest_key<Key>();
	}
	__syncthreads();				/* the window is loaded */
	for (uint32_t size = launch.log_first_size; size <= launch.log_last_size; size++)
		for (int stride = mgpu_odd_even_log_first(launch, size); stride >= (int) launch.log_last_stride; stride--)
		{
			mgpu_exchange_window(window, threadIdx.x, launch, blockIdx.x, size, (uint32_t) stride);
			__syncthreads();		/* one stride is done */
		}
#pragma unroll 4
	for (uint32_t i = 0; i < MGPU_ODD_EVEN_ITEMS; i++)
	{
		uint32_t	item = threadIdx.x + i * Shape::threads;
		uint64_t	index = mgpu_odd_even_index<Key>(launch, blockIdx.x, item);

		if (mgpu_odd_even_is_core<Key>(launch, item) && index < num_items)
			out[index] = window[mgpu_padded<Key>(item)];
	}
}

template <typename Key>
static cudaError_t
sort(mgpu_odd_even_request *request)
{
	cudaError_t status = cudaSuccess;

	mgpu_plan_odd_even<Key>(request->num_items, [&] (const mgpu_odd_even_launch &launch)
	{
		if (status != cudaSuccess)
			return;
		exchange_windows<<<(unsigned) launch.num_ctas, mgpu_odd_even_shape<Key>::threads, 0, request->stream>>>
			(static_cast<const Key *>(request->keys[request->current]),
			 static_cast<Key *>(request->keys[request->current ^ 1]), request->num_items, launch);
		status = cudaGetLastError();
		request->current ^= 1;
	});
	return status;
}

extern "C" cudaError_t
mgpu_launch_odd_even_sort(mgpu_odd_even_request *request)
{
	if (request->num_items < 2)
		return cudaSuccess;
	return request->key_width == 4 ? sort<uint32_t>(request) : sort<uint64_t>(request);
}

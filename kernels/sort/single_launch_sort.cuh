/*
 * sort/single_launch_sort.cuh
 *		The launch of a single-launch sort.  See single_launch_kernels.cuh.
 */
#ifndef MGPU_SORT_SINGLE_LAUNCH_SORT_CUH
#define MGPU_SORT_SINGLE_LAUNCH_SORT_CUH

#include "device/launch.cuh"
#include "sort/single_launch_kernels.cuh"

/*
 * CTAs of a kernel that the current device holds at a time.  Asking takes some microseconds, so
 * each thread remembers.
 */
template <typename Key, bool indexed, class Tuning>
static cudaError_t
mgpu_single_launch_count_ctas(uint32_t *num_ctas)
{
	constexpr uint32_t shared_bytes = (uint32_t) sizeof(mgpu_single_launch_shared<Key, indexed, Tuning>);
	static thread_local int known_device = -1;
	static thread_local uint32_t known_ctas = 0;
	int			device;
	cudaError_t status = cudaGetDevice(&device);

	if (status == cudaSuccess && device != known_device)
	{
		status = mgpu_allow_shared(mgpu_sort_single_launch<Key, indexed, Tuning>, shared_bytes);
		if (status == cudaSuccess)
			status = mgpu_count_resident_ctas(mgpu_sort_single_launch<Key, indexed, Tuning>, Tuning::threads, shared_bytes,
											  MGPU_SINGLE_LAUNCH_MOST_CTAS, &known_ctas);
		known_device = status == cudaSuccess ? device : -1;
	}
	*num_ctas = known_ctas;
	return status;
}

/* Sort by one tuning, if its tiles hold all items. */
template <typename Key, bool indexed, class Tuning>
static cudaError_t
mgpu_single_launch_sort_by(mgpu_sort_request *request, mgpu_single_launch_state *state)
{
	constexpr uint32_t shared_bytes = (uint32_t) sizeof(mgpu_single_launch_shared<Key, indexed, Tuning>);
	int			side = request->current;
	mgpu_single_launch_arrays<Key> arrays = {{static_cast<Key *>(request->keys[side]), static_cast<Key *>(request->keys[side ^ 1])},
		{request->indices[side], request->indices[side ^ 1]}};
	mgpu_signals *signals;
	uint32_t	question;
	uint32_t	num_ctas;
	mgpu_single_launch_plan plan;
	cudaError_t status = mgpu_single_launch_count_ctas<Key, indexed, Tuning>(&num_ctas);

	if (status != cudaSuccess)
		return status;
	if (request->num_items > (uint64_t) num_ctas * Tuning::tile_items)
		return cudaErrorCooperativeLaunchTooLarge;
	status = mgpu_new_question(&signals, &question);
	if (status != cudaSuccess)
		return status;
	plan = mgpu_plan_single_launch((uint32_t) request->num_items, num_ctas, Tuning::threads);
	status = mgpu_launch_together(mgpu_sort_single_launch<Key, indexed, Tuning>, plan.num_ctas, Tuning::threads, shared_bytes,
								  request->stream, arrays, plan, state, question, signals);
	if (status == cudaSuccess)
		request->pending = {signals, question};
	return status;
}

#endif							/* MGPU_SORT_SINGLE_LAUNCH_SORT_CUH */

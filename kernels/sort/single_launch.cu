/*
 * sort/single_launch.cu
 *		Which sorts run in a single launch, and the words that their CTAs share.
 *
 * The number of items an SM holds is data (radix_tuning.cuh); the device tells its number of SMs.
 * The runtime refuses a cooperative launch whose CTAs cannot be on the device all at once, or for
 * which there is no memory, and the caller then sorts in another way.  So nothing waits for a CTA
 * that may never come.
 */
#include <algorithm>

#include "device/launch.cuh"
#include "sort/single_launch.h"
#include "sort/single_launch_barrier.cuh"

static __device__ mgpu_single_launch_state launch_state;

static const uint64_t sm_items[MGPU_NUM_SHAPES] = MGPU_SINGLE_LAUNCH_SM_ITEMS;
static cudaError_t (*const sorts[MGPU_NUM_SHAPES]) (mgpu_sort_request *, mgpu_single_launch_state *) =
	{mgpu_single_launch_sort_u32, mgpu_single_launch_sort_u64, mgpu_single_launch_sort_u32_index,
	mgpu_single_launch_sort_u64_index};

/* What is known of a device. */
struct launch_device
{
	int			device = -1;
	uint32_t	num_ctas = 0;	/* of a launch, one an SM; 0: no cooperative launches */
	mgpu_single_launch_state *state = nullptr;
};

static cudaError_t
ask_device(launch_device *known)
{
	bool		large;
	int			cooperates;
	int			num_sms;
	void	   *state = nullptr;
	int			device;
	cudaError_t status = cudaGetDevice(&device);

	if (status != cudaSuccess || known->device == device)
		return status;
	status = mgpu_is_large_device(&large);
	if (status == cudaSuccess)
		status = mgpu_ask_device(cudaDevAttrCooperativeLaunch, &cooperates);
	if (status == cudaSuccess)
		status = mgpu_ask_device(cudaDevAttrMultiProcessorCount, &num_sms);
	if (status == cudaSuccess)
		status = cudaGetSymbolAddress(&state, launch_state);
	if (status == cudaSuccess)
	{
		known->device = device;
		known->num_ctas = !large || cooperates == 0 ? 0 :
			std::min((uint32_t) num_sms, (uint32_t) MGPU_SINGLE_LAUNCH_MOST_CTAS);
		known->state = static_cast<mgpu_single_launch_state *>(state);
	}
	return status;
}

/* The state of the current device, or NULL if it does not sort num_items items in a single launch. */
static cudaError_t
find_state(mgpu_sort_shape shape, uint64_t num_items, mgpu_single_launch_state **state)
{
	static thread_local launch_device known;
	cudaError_t status;

	*state = nullptr;
	if (num_items < MGPU_SINGLE_LAUNCH_MIN_ITEMS)
		return cudaSuccess;
	status = ask_device(&known);
	if (status == cudaSuccess && num_items <= known.num_ctas * sm_items[shape])
		*state = known.state;
	return status;
}

extern "C" cudaError_t
mgpu_single_launch_holds(mgpu_sort_shape shape, uint64_t num_items, bool *holds)
{
	mgpu_single_launch_state *state;
	cudaError_t status = find_state(shape, num_items, &state);

	*holds = state != nullptr;
	return status;
}

extern "C" cudaError_t
mgpu_single_launch_sort(mgpu_sort_shape shape, mgpu_sort_request *request, bool *started)
{
	mgpu_single_launch_state *state;
	cudaError_t status = find_state(shape, request->num_items, &state);

	*started = false;
	if (status == cudaSuccess && state == nullptr)
		return status;
	if (status == cudaSuccess)
		status = sorts[shape](request, state);
	if (status == cudaErrorCooperativeLaunchTooLarge || status == cudaErrorNotSupported ||
		status == cudaErrorMemoryAllocation)
	{
		(void) cudaGetLastError();	/* other sorts need less */
		return cudaSuccess;
	}
	*started = status == cudaSuccess;
	return status;
}

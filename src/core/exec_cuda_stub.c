/*
 * exec_cuda_stub.c
 *		mgpu_cuda_executor of a build without CUDA.
 *
 * The table exists in every build, so callers need no conditional code: they ask
 * for devices, get the reason why there is none, and use the CPU.  open never
 * returns a run, so no function that takes one is ever called.
 */
#include "executor.h"

static mgpu_status
stub_num_devices(int *count, mgpu_error *err)
{
	*count = 0;
	return mgpu_fail(err, MGPU_NO_DEVICE, "this build has no CUDA");
}

static bool
stub_is_warm(void)
{
	return false;
}

static mgpu_status
stub_open(const mgpu_job *job, const mgpu_binding *binding,
		  const mgpu_exec_options *options, mgpu_run **run, mgpu_error *err)
{
	*run = NULL;
	return mgpu_fail(err, MGPU_NO_DEVICE, "this build has no CUDA");
}

const mgpu_executor mgpu_cuda_executor = {
	.name = "gpu",
	.num_devices = stub_num_devices,
	.is_warm = stub_is_warm,
	.open = stub_open,
};

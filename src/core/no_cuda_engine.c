/*
 * no_cuda_engine.c
 *		mgpu_cuda_engine of a build without CUDA.
 *
 * The table exists in every build, so callers need no conditional code: they ask
 * for devices, get the reason why there is none, and use the CPU.  No device is ever
 * started and no run opened, so functions that take one are never called.
 */
#include "engine.h"

static bool
no_cuda_is_present(void)
{
	return false;
}

static mgpu_status
no_cuda_num_devices(int *count, mgpu_error *err)
{
	*count = 0;
	return mgpu_fail(err, MGPU_NO_DEVICE, "this build has no CUDA");
}

static mgpu_status
no_cuda_start(int *device, mgpu_error *err)
{
	return mgpu_fail(err, MGPU_NO_DEVICE, "this build has no CUDA");
}

static bool
no_cuda_is_started(void)
{
	return false;
}

static mgpu_status
no_cuda_check(mgpu_error *err)
{
	return MGPU_OK;
}

static mgpu_status
no_cuda_open(int device, const mgpu_job *job, const mgpu_group_source *group, const mgpu_exec_options *options,
		  mgpu_engine_run **run, mgpu_error *err)
{
	*run = NULL;
	return mgpu_fail(err, MGPU_NO_DEVICE, "this build has no CUDA");
}

const mgpu_engine mgpu_cuda_engine = {
	.is_present = no_cuda_is_present,
	.num_devices = no_cuda_num_devices,
	.start = no_cuda_start,
	.is_started = no_cuda_is_started,
	.check = no_cuda_check,
	.open = no_cuda_open,
};

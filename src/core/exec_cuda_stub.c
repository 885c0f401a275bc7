/*
 * exec_cuda_stub.c
 *		mgpu_cuda_executor of a build without CUDA.
 *
 * The table exists in every build, so callers need no conditional code: they ask
 * for devices, get the reason why there is none, and use the CPU.  open never
 * returns a run; the functions that take one accept its NULL.
 */
#include "executor.h"

static mgpu_status
no_cuda(mgpu_error *err)
{
	return mgpu_fail(err, MGPU_NO_DEVICE, "this build has no CUDA");
}

static mgpu_status
stub_num_devices(int *count, mgpu_error *err)
{
	*count = 0;
	return no_cuda(err);
}

static mgpu_status
stub_describe(int ordinal, mgpu_device *device, mgpu_error *err)
{
	(void) ordinal;
	(void) device;
	return no_cuda(err);
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
	(void) job;
	(void) binding;
	(void) options;
	*run = NULL;
	return no_cuda(err);
}

static mgpu_status
stub_input_slot(mgpu_run *run, mgpu_channel channel, void **slot,
				uint64_t *slot_bytes, mgpu_error *err)
{
	(void) run;
	(void) channel;
	*slot = NULL;
	*slot_bytes = 0;
	return no_cuda(err);
}

static mgpu_status
stub_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	(void) run;
	(void) channel;
	(void) bytes;
	return no_cuda(err);
}

static mgpu_status
stub_submit(mgpu_run *run, mgpu_error *err)
{
	(void) run;
	return no_cuda(err);
}

static void
stub_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	(void) run;
	*stats = (mgpu_run_stats) {0};
}

static void
stub_run_nothing(mgpu_run *run)
{
	(void) run;
}

const mgpu_executor mgpu_cuda_executor = {
	.name = "gpu",
	.num_devices = stub_num_devices,
	.describe = stub_describe,
	.is_warm = stub_is_warm,
	.open = stub_open,
	.input_slot = stub_input_slot,
	.input_commit = stub_input_commit,
	.submit = stub_submit,
	.poll = stub_submit,
	.stats = stub_stats,
	.cancel = stub_run_nothing,
	.release = stub_run_nothing,
};

/*
 * service/host_load.c
 *		What the service's control says of waiting runs and of each device's work.
 */
#include "core/service/host_state.h"

void
mgpu_host_count_waiting(mgpu_host *host, const host_run *run, int change)
{
	mgpu_service_control *control = host->service.control;

	atomic_fetch_add(&control->num_queued, (uint32_t) change);
	atomic_fetch_add(&control->queued_us, change * run->predicted_us);
}

void
mgpu_host_count_open(host_run *run, int change)
{
	atomic_fetch_add(&run->host->service.control->num_open, (uint32_t) change);
	run->host->devices[run->device].open_us += change * run->predicted_us;
}

void
mgpu_host_begin_load(host_run *run)
{
	run->is_load = true;
	atomic_fetch_add(&run->host->service.control->devices[run->device].load_us, run->predicted_us);
}

void
mgpu_host_end_load(host_run *run)
{
	if (run->is_load)
		atomic_fetch_sub(&run->host->service.control->devices[run->device].load_us, run->predicted_us);
	run->is_load = false;
}

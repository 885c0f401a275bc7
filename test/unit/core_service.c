/*
 * core_service.c
 *		The service with many clients: full arenas, scarce device memory, clients that die.
 *
 * core_service_faults.c has hosts that die, and clients that break the protocol.
 */
#include "unit_backend.h"

static const service_options scenarios[] = {
	{.name = "one device",.num_devices = 1,.num_backends = 12,.num_extents = 64,.num_jobs = 40},
	{.name = "two devices",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 40},
	{.name = "one client",.num_devices = 1,.num_backends = 1,.num_extents = 64,.num_jobs = 40},
	{.name = "4 extents",.num_devices = 1,.num_backends = 12,.num_extents = 4,.num_jobs = 15},
	{.name = "6 extents",.num_devices = 2,.num_backends = 12,.num_extents = 6,.num_jobs = 15},
	{.name = "8 extents",.num_devices = 1,.num_backends = 12,.num_extents = 8,.num_jobs = 15},
	{.name = "12 extents",.num_devices = 2,.num_backends = 12,.num_extents = 12,.num_jobs = 15},
	{.name = "device memory",.num_devices = 1,.num_backends = 12,.num_extents = 64,.num_jobs = 25,.device_bytes = 400000},
	{.name = "memory of two devices",.num_devices = 2,.num_backends = 12,.num_extents = 24,.num_jobs = 25,.device_bytes = 400000},
	{.name = "deaths",.num_devices = 2,.num_backends = 12,.num_extents = 64,.num_jobs = 80,.deaths = 2},
	{.name = "deaths, 6 extents",.num_devices = 1,.num_backends = 12,.num_extents = 6,.num_jobs = 40,.deaths = 2},
	{.name = "deaths, device memory",.num_devices = 1,.num_backends = 12,.num_extents = 16,.num_jobs = 40,.deaths = 2,.device_bytes = 400000}
};

int
main(void)
{
	for (int i = 0; i < SERVICE_NUM_JOBS; i++)
		unit_job_make(&service_jobs[i], 60000);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		service_run(&scenarios[i], backend_run_all);
	for (int i = 0; i < SERVICE_NUM_JOBS; i++)
		unit_job_free(&service_jobs[i]);
	return unit_report();
}

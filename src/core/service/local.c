/*
 * service/local.c
 *		mgpu_cuda_executor: a service whose host and only client are this thread.
 *
 * For servers that do not preload the library, and for tests.  Everything is made with
 * the first run and kept: a context takes a quarter of a second.  A PostgreSQL backend
 * is one thread, so it does the host's work whenever it waits.
 */
#include "core/service/client.h"
#include "core/service/host.h"

#include <stdlib.h>

/* Runs at a time; one after the other is usual. */
#define LOCAL_SLOTS 4
#define LOCAL_EXTENTS 32

static mgpu_service service;
static mgpu_port ports[LOCAL_SLOTS];

/* NULL: no run yet, or the devices are lost. */
static mgpu_host *host;

static void
step(mgpu_port *port)
{
	mgpu_error	error;
	mgpu_status status;

	if (host == NULL)
		return;
	status = mgpu_host_step(host, &error);
	if (status == MGPU_OK || status == MGPU_PENDING)
		return;
	mgpu_host_stop(host, &error);
	host = NULL;
}

static bool
make_memory(void)
{
	uint64_t	bytes = mgpu_service_bytes(LOCAL_SLOTS, LOCAL_EXTENTS);
	void	   *memory;

	if (service.control != NULL)
		return true;
	memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	if (memory == NULL)
		return false;
	mgpu_service_format(memory, LOCAL_SLOTS, LOCAL_EXTENTS);
	service = mgpu_service_attach(memory);
	for (uint32_t slot = 0; slot < LOCAL_SLOTS; slot++)
		ports[slot] = (mgpu_port) {.service = service,.slot = slot,.step = step};
	return true;
}

/* The host, with this device in use. */
static mgpu_status
start_host(int *device, mgpu_error *err)
{
	mgpu_host_options options = {.engine = mgpu_engine_here()};
	mgpu_status status = mgpu_engine_here()->check(err);

	if (status == MGPU_OK)
		status = mgpu_engine_here()->start(device, err);
	if (status != MGPU_OK)
		return status;
	if (!make_memory())
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory");
	options.service = service;
	if (host == NULL)
	{
		host = mgpu_host_create(&options);
		if (host == NULL)
			return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory");
		mgpu_host_start(host);
	}
	return mgpu_host_use_device(host, *device, err);
}

static mgpu_port *
free_port(void)
{
	for (int i = 0; i < LOCAL_SLOTS; i++)
	{
		if (atomic_load(&service.slots[i].state) == MGPU_SLOT_FREE)
			return &ports[i];
	}
	return NULL;
}

/* Unlike other clients, this one has to end what the devices still do. */
static void
await_free(mgpu_port *port)
{
	while (host != NULL && atomic_load(&service.slots[port->slot].state) != MGPU_SLOT_FREE)
		step(port);
}

static mgpu_status
local_open(const mgpu_job *job, const mgpu_binding *binding, const mgpu_exec_options *options, mgpu_run **run,
		   mgpu_error *err)
{
	mgpu_exec_options with_device = *options;
	mgpu_port  *port;
	mgpu_status status;

	*run = NULL;
	if ((status = mgpu_job_validate(job, err)) != MGPU_OK ||
		(status = start_host(&with_device.device, err)) != MGPU_OK)
		return status;
	port = free_port();
	if (port == NULL)
		return mgpu_fail(err, MGPU_BUSY, "the GPU already runs %d jobs of this session", LOCAL_SLOTS);
	status = mgpu_client_open(port, job, binding, &with_device, run, err);
	if (status != MGPU_OK)
		await_free(port);
	return status;
}

static void
local_release(mgpu_run *run)
{
	mgpu_port  *port;

	if (run == NULL)
		return;
	port = mgpu_client_port(run);
	mgpu_client_release(run);
	await_free(port);
}

static mgpu_status
local_num_devices(int *count, mgpu_error *err)
{
	return mgpu_engine_here()->num_devices(count, err);
}

static mgpu_status
local_describe(int device, mgpu_device *facts, mgpu_error *err)
{
	return mgpu_engine_here()->describe(device, facts, err);
}

static bool
local_is_warm(void)
{
	return mgpu_engine_here()->is_started();
}

const mgpu_executor mgpu_cuda_executor = {
	.name = "gpu",
	.num_devices = local_num_devices,
	.describe = local_describe,
	.is_warm = local_is_warm,
	.open = local_open,
	.input_slot = mgpu_client_input_slot,
	.input_commit = mgpu_client_input_commit,
	.submit = mgpu_client_submit,
	.poll = mgpu_client_poll,
	.stats = mgpu_client_stats,
	.cancel = mgpu_client_cancel,
	.release = local_release,
	.group_result = mgpu_client_group_result,
	.bind_groups = mgpu_client_bind_groups,
	.group_piece = mgpu_client_group_piece,
	.piece_taken = mgpu_client_piece_taken,
};

/*
 * service/session.c
 *		service_executor: how a session has its jobs run by the service.
 *
 * A session's slots follow from the number of its PGPROC, so no slot has to be searched or given
 * back, and the worker finds the latch of who waits.  A session that ends within a run leaves the slot when
 * run/drive releases the run, on ERROR and FATAL alike; the worker ends what is under way.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"

#include "compat.h"
#include "core/service/client.h"
#include "service/service.h"

#define SLEEP_MS 50

static mgpu_port ports[SERVICE_SESSION_SLOTS];

static void
wake_host(mgpu_port *to)
{
	uint32		worker = pg_atomic_read_u32(&service_in_shared_memory->worker);

	if (worker != SERVICE_NO_WORKER)
		service_wake(worker);
}

static void
sleep_for_host(mgpu_port *from)
{
	static uint32 queue_event;
	static uint32 run_event;
	bool		queued = atomic_load_explicit(&from->service.slots[from->slot].phase,
											  memory_order_relaxed) == MGPU_PHASE_QUEUED;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLEEP_MS,
					 queued ? mgpu_wait_event(&queue_event, "MgpuQueue") : mgpu_wait_event(&run_event, "MgpuRun"));
	ResetLatch(MyLatch);
}

/* The slot whose last run ended longest ago. */
static mgpu_port *
next_port(void)
{
	static int	turn;
	mgpu_port  *port;

	turn = (turn + 1) % SERVICE_SESSION_SLOTS;
	port = &ports[turn];
	port->service = service_memory;
	port->slot = mgpu_proc_number() * SERVICE_SESSION_SLOTS + turn;
	port->wake_host = wake_host;
	port->sleep = sleep_for_host;
	return port;
}

static mgpu_status
session_open(const mgpu_job *job, const mgpu_binding *binding, const mgpu_exec_options *options, mgpu_run **run,
			 mgpu_error *err)
{
	service_state state = service_look();
	mgpu_port  *port;

	*run = NULL;
	if (state != SERVICE_UP)
		return mgpu_fail(err, state == SERVICE_NO_GPU ? MGPU_NO_DEVICE : MGPU_DEVICE_FAILED, "%s",
						 service_reason(state));
	port = next_port();
	service_memory.slots[port->slot].owner = MyProcPid;
	return mgpu_client_open(port, job, binding, options, run, err);
}

/* Devices are numbered as CUDA does.  The count includes those that could not be started. */
static mgpu_status
session_num_devices(int *count, mgpu_error *err)
{
	service_state state = service_look();

	*count = 0;
	if (state != SERVICE_UP)
		return mgpu_fail(err, MGPU_NO_DEVICE, "%s", service_reason(state));
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		if (atomic_load(&service_memory.control->devices[device].started))
			*count = device + 1;
	}
	return MGPU_OK;
}

static mgpu_status
session_describe(int device, mgpu_device *facts, mgpu_error *err)
{
	const mgpu_service_device *state = &service_memory.control->devices[device];

	if (!atomic_load(&state->started))
		return mgpu_fail(err, MGPU_NO_DEVICE, "the GPU service does not use device %d", device);
	*facts = state->facts;
	facts->memory_free_bytes = atomic_load(&state->free_bytes);
	return MGPU_OK;
}

static bool
session_is_warm(void)
{
	return service_look() == SERVICE_UP;
}

const mgpu_executor service_executor = {
	.name = "gpu",
	.num_devices = session_num_devices,
	.describe = session_describe,
	.is_warm = session_is_warm,
	.open = session_open,
	.input_slot = mgpu_client_input_slot,
	.input_commit = mgpu_client_input_commit,
	.submit = mgpu_client_submit,
	.poll = mgpu_client_poll,
	.stats = mgpu_client_stats,
	.cancel = mgpu_client_cancel,
	.release = mgpu_client_release,
	.kept_ask = mgpu_client_ask,
	.group_result = mgpu_client_group_result,
	.bind_groups = mgpu_client_bind_groups,
	.group_piece = mgpu_client_group_piece,
	.piece_taken = mgpu_client_piece_taken,
};

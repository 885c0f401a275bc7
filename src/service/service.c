/*
 * service/service.c
 *		The service's settings, shared memory and state.
 *
 * All of it is set up while libraries are preloaded, in the postmaster, which never touches CUDA.
 * The arena is main shared memory, so no /dev/shm is needed and huge_pages covers it.
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "compat.h"
#include "service/counts.h"
#include "service/service.h"
#include "settings.h"

/* How long a session whose mgpu.executor is gpu waits for a service that starts. */
#define AWAIT_MS 5000

service_shared *service_in_shared_memory;
mgpu_service service_memory;

static shmem_startup_hook_type next_startup_hook;
#if PG_VERSION_NUM >= 150000
static shmem_request_hook_type next_request_hook;
#endif

static uint32
num_slots(void)
{
	return mgpu_num_backends() * SERVICE_SESSION_SLOTS;
}

static uint32
num_extents(void)
{
	return (uint32) ((uint64) mgpu_setting_service_memory * 1024 * 1024 / MGPU_EXTENT_STRIDE);
}

/* What core/service has begins at a page, behind service_shared. */
static Size
shared_bytes(void)
{
	return sizeof(service_shared) + 4096 + mgpu_service_bytes(num_slots(), num_extents());
}

static bool
wants_service(void)
{
	return mgpu_setting_service && mgpu_engine_here()->is_present();
}

static void
request_memory(void)
{
#if PG_VERSION_NUM >= 150000
	if (next_request_hook)
		next_request_hook();
#endif
	counts_request_memory();
	if (wants_service())
		RequestAddinShmemSpace(shared_bytes());
}

static void
set_up_service(void)
{
	bool		found;
	void	   *memory = ShmemInitStruct("mgpu_pg service", shared_bytes(), &found);
	char	   *core = (char *) TYPEALIGN(4096, (char *) memory + sizeof(service_shared));

	service_in_shared_memory = memory;
	if (!found)
	{
		memset(service_in_shared_memory, 0, sizeof(service_shared));
		pg_atomic_init_u32(&service_in_shared_memory->worker, SERVICE_NO_WORKER);
		pg_atomic_init_u32(&service_in_shared_memory->no_gpu, 0);
		pg_atomic_init_u32(&service_in_shared_memory->num_failures, 0);
		mgpu_service_format(core, num_slots(), num_extents());
	}
	service_memory = mgpu_service_attach(core);
}

static void
start_memory(void)
{
	if (next_startup_hook)
		next_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	counts_set_up();
	if (wants_service())
		set_up_service();
	LWLockRelease(AddinShmemInitLock);
}

static void
register_worker(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_PostmasterStart;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "mgpu_pg", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "mgpu_service_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "mgpu_pg service", sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, "mgpu_pg service", sizeof(worker.bgw_type));
	RegisterBackgroundWorker(&worker);
}

void
service_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	next_startup_hook = shmem_startup_hook;
	shmem_startup_hook = start_memory;
#if PG_VERSION_NUM >= 150000
	next_request_hook = shmem_request_hook;
	shmem_request_hook = request_memory;
#else
	request_memory();
#endif
	if (wants_service())
		register_worker();
}

/* --------------------------------------------------------------------- state */

service_state
service_look(void)
{
	if (service_in_shared_memory == NULL)
		return SERVICE_NONE;
	if (atomic_load_explicit(&service_memory.control->up, memory_order_acquire) != 0)
		return SERVICE_UP;
	return pg_atomic_read_u32(&service_in_shared_memory->no_gpu) != 0 ? SERVICE_NO_GPU : SERVICE_STARTING;
}

service_state
service_await(void)
{
	static uint32 wait_event;
	service_state state = service_look();

	for (int waited_ms = 0; state == SERVICE_STARTING && waited_ms < AWAIT_MS; waited_ms += 10)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 10,
						 mgpu_wait_event(&wait_event, "MgpuServiceStart"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		state = service_look();
	}
	return state;
}

/* A machine without a GPU gains nothing by the other ways out. */
static const char *
why_none(void)
{
	if (!mgpu_engine_here()->is_present())
		return "there is no GPU service, for the server finds no GPU";
	if (!counts_are_kept())
		return "there is no GPU service, for the server was started without mgpu_pg in shared_preload_libraries";
	if (!mgpu_setting_service)
		return "there is no GPU service, for mgpu.service is off";
	return "there is no GPU service, for the server found no GPU when it started";
}

const char *
service_reason(service_state state)
{
	if (state == SERVICE_NONE)
		return why_none();
	return state == SERVICE_NO_GPU ? service_in_shared_memory->why_not : "the GPU service is starting";
}

double
service_mean_job_ms(void)
{
	const mgpu_service_control *control = service_memory.control;
	uint32		num_runs = atomic_load(&control->num_queued) + atomic_load(&control->num_open);
	uint64		all_us = atomic_load(&control->queued_us);

	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
		all_us += atomic_load(&control->devices[device].load_us);
	return all_us / 1000.0 / Max(num_runs, 1);
}

uint64
service_num_shared_pages(void)
{
	return service_in_shared_memory ? atomic_load(&service_memory.control->num_shared_pages) : 0;
}

void
service_wake(uint32 proc_number)
{
	SetLatch(&ProcGlobal->allProcs[proc_number].procLatch);
}

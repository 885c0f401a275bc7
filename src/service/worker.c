/*
 * service/worker.c
 *		The background worker that drives the GPUs: the host of core/service as a process.
 *
 * It ends with exit code 1 when its devices are lost, which the postmaster answers by starting it
 * again a second later; the cluster goes on.  If it cannot start, it waits longer each time before
 * it ends, up to a minute.  Without any GPU it ends for good.
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "core/cpu_threads.h"
#include "core/service/host.h"
#include "service/service.h"
#include "service/worker.h"
#include "settings.h"

/* How long it looks for more to do before it sleeps, without and with a job of a session at hand. */
#define SPIN_MS 0.05
#define BUSY_SPIN_MS 0.5

/* Sleeps are no longer than this, so that the devices' free memory is up to date. */
#define SLEEP_MS 5000

static mgpu_host *host;

static void
wake_client(void *context, uint32_t slot)
{
	service_wake(slot / SERVICE_SESSION_SLOTS);
}

/* Before shared memory goes: clients must not wait for this process. */
static void
end_service(int code, Datum argument)
{
	mgpu_error	reason;

	(void) mgpu_fail(&reason, MGPU_DEVICE_FAILED, "the GPU service was stopped");
	if (host != NULL)
		mgpu_host_stop(host, &reason);
	host = NULL;
	pg_atomic_write_u32(&service_in_shared_memory->worker, SERVICE_NO_WORKER);
}

/* Wait, so that starts that fail again and again are rare, and end. */
static void
end_after_pause(const mgpu_error *error)
{
	uint32		num_failures = pg_atomic_fetch_add_u32(&service_in_shared_memory->num_failures, 1);
	long		pause_ms = num_failures < 6 ? 1000L << num_failures : 60000L;

	ereport(LOG,
			(errmsg("the GPU service could not start"),
			 errdetail_internal("%s", error->message),
			 errhint("It tries again in %ld s.", pause_ms / 1000 + 1)));
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, pause_ms, PG_WAIT_EXTENSION);
	proc_exit(1);
}

static void
end_without_gpu(const mgpu_error *error)
{
	strlcpy(service_in_shared_memory->why_not, error->message, sizeof(service_in_shared_memory->why_not));
	pg_write_barrier();
	pg_atomic_write_u32(&service_in_shared_memory->no_gpu, 1);
	ereport(LOG,
			(errmsg("the GPU service found no GPU"),
			 errdetail_internal("%s", error->message)));
	proc_exit(0);
}

/* Use every device that can be used.  The driver's threads must not take the process's signals. */
static mgpu_status
use_devices(int num_devices, int *num_used, mgpu_error *error)
{
	sigset_t	all;
	sigset_t	old;
	mgpu_status failure = MGPU_OK;

	*num_used = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (int device = 0; device < num_devices && device < MGPU_MAX_DEVICES; device++)
	{
		mgpu_status status = mgpu_host_use_device(host, device, error);

		if (status == MGPU_OK)
			(*num_used)++;
		else
			failure = status;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return *num_used > 0 ? MGPU_OK : failure;
}

/* Devices have code for pages of one size. */
static uint64
num_shared_pages(void)
{
	if (BLCKSZ != MGPU_PAGE_BYTES)
		return 0;
	if (mgpu_setting_service_buffers < 0)
		return NBuffers;
	return Min((uint64) mgpu_setting_service_buffers * 1024 * 1024 / BLCKSZ, (uint64) NBuffers);
}

static void
start_host(void)
{
	mgpu_host_options options = {
		.engine = mgpu_engine_here(),.service = service_memory,.queues = true,.wake_client = wake_client,
		.shared_pages = BufferBlocks,.num_shared_pages = num_shared_pages(),
		.kept_bytes = mgpu_setting_gpu_cache < 0 ? -1 : (int64) mgpu_setting_gpu_cache * 1024 * 1024
	};
	instr_time	begin,
				end;
	mgpu_error	error;
	int			num_devices;
	int			num_used;

	INSTR_TIME_SET_CURRENT(begin);
	if (options.engine->num_devices(&num_devices, &error) != MGPU_OK)
		end_without_gpu(&error);
	host = mgpu_host_create(&options);
	if (host == NULL)
	{
		(void) mgpu_fail(&error, MGPU_HOST_MEMORY, "out of memory");
		end_after_pause(&error);
	}
	if (use_devices(num_devices, &num_used, &error) != MGPU_OK)
		end_after_pause(&error);
	pg_atomic_write_u32(&service_in_shared_memory->num_failures, 0);
	mgpu_host_start(host);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, begin);
	ereport(LOG,
			(errmsg("the GPU service is up"),
			 errdetail("%d of %d devices were started in %.0f ms.", num_used, num_devices, INSTR_TIME_GET_MILLISEC(end))));
}

static void
sleep_until_called(void)
{
	static uint32 wait_event;
	bool		busy = mgpu_host_is_busy(host);

	if (!mgpu_host_sleep_begin(host))
		return;
	if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, busy ? 1 : SLEEP_MS,
				  mgpu_wait_event(&wait_event, "MgpuServiceMain")) & WL_TIMEOUT)
		mgpu_host_refresh(host);
	ResetLatch(MyLatch);
	mgpu_host_sleep_end(host);
}

/* About a microsecond, in which sessions on the other thread of this core work undisturbed. */
static void
spin(void)
{
	for (int i = 0; i < 16; i++)
		mgpu_pause();
}

static MGPU_NORETURN void
serve(void)
{
	double		last_ms = mgpu_now_ms();

	for (;;)
	{
		mgpu_error	error;
		mgpu_status status = mgpu_host_step(host, &error);

		CHECK_FOR_INTERRUPTS();
		if (status == MGPU_OK)
			last_ms = mgpu_now_ms();
		else if (status != MGPU_PENDING)
		{
			mgpu_host_stop(host, &error);
			host = NULL;
			ereport(LOG,
					(errmsg("the GPU failed, the GPU service starts again"),
					 errdetail_internal("%s", error.message)));
			proc_exit(1);
		}
		else if (mgpu_now_ms() - last_ms > (mgpu_host_has_runs(host) ? BUSY_SPIN_MS : SPIN_MS))
		{
			sleep_until_called();
			last_ms = mgpu_now_ms();
		}
		else
			spin();
	}
}

void
mgpu_service_main(Datum argument)
{
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	service_in_shared_memory->worker_pid = MyProcPid;
	service_in_shared_memory->started_at = GetCurrentTimestamp();
	pg_atomic_write_u32(&service_in_shared_memory->worker, mgpu_proc_number());
	before_shmem_exit(end_service, (Datum) 0);
	start_host();
	serve();
}

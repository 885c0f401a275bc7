/*
 * service/host_turns.c
 *		Whose turn it is: extents and device memory, kernels, downloads.
 */
#include "core/service/host_state.h"

#include "core/cpu_threads.h"

static int
least_loaded(const mgpu_host *host)
{
	int			best = -1;
	uint64_t	least = UINT64_MAX;

	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		uint64_t	load = host->devices[device].open_us;

		if (host->devices[device].started && load < least)
		{
			best = device;
			least = load;
		}
	}
	return best;
}

/* Whether some run has extents that it will give back. */
static bool
has_extents_out(const mgpu_host *host)
{
	for (int i = 0; i < host->num_active; i++)
	{
		if (host->active[i]->num_extents > 0)
			return true;
	}
	return false;
}

/* Whether a run that found no memory may hope for what others have. */
static bool
may_wait(const mgpu_host *host, const host_run *run, mgpu_status status)
{
	/* with a limit or this injected fault it is not the others who have the memory */
	return host->options.queues && status == MGPU_DEVICE_MEMORY && run->options.device_memory_limit == 0 &&
		run->options.inject_fault != MGPU_FAULT_DEVICE_MEMORY && atomic_load(&host->service.control->num_open) > 0;
}

/* Open one waiting run.  False: it has to wait on, and so have all behind it. */
static bool
admit(mgpu_host *host, host_run *run)
{
	int			device = run->options.device >= 0 ? run->options.device : least_loaded(host);
	int			share = 0;
	mgpu_error	error;
	mgpu_status status;

	if (run->refused_at == host->num_ended)
		return false;
	if (device < 0 || device >= MGPU_MAX_DEVICES || !host->devices[device].started)
		status = mgpu_fail(&error, MGPU_NO_DEVICE, "device %d is not in use", device);
	else if ((share = mgpu_host_share(host, &run->job)) == 0)
	{
		if (host->options.queues && has_extents_out(host))
			return false;
		status = mgpu_fail(&error, MGPU_DEVICE_MEMORY, "no memory can be pinned for transfers");
	}
	else
	{
		run->queue_ms = mgpu_now_ms() - run->begin_ms;
		status = mgpu_host_open(run, device, share, &error);
	}
	if (may_wait(host, run, status))
	{
		run->refused_at = host->num_ended;
		return false;
	}
	if (run->device >= 0)
	{
		mgpu_host_count_waiting(host, run, -1);
		mgpu_host_count_open(run, 1);
	}
	if (status != MGPU_OK)
		mgpu_host_fail(run, &error);
	return true;
}

/* First come, first served. */
bool
mgpu_host_admit(mgpu_host *host)
{
	bool		found = false;

	for (int i = 0; i < host->num_active; i++)
	{
		host_run   *run = host->active[i];

		if (run->phase != MGPU_PHASE_QUEUED || run->ended || run->closing)
			continue;
		if (!admit(host, run))
			break;
		found = true;
	}
	return found;
}

/* Give an idle device the run that was submitted first. */
bool
mgpu_host_launch_next(mgpu_host *host, int device)
{
	host_run   *next = NULL;

	if (host->devices[device].running != NULL)
		return false;
	for (int i = 0; i < host->num_active; i++)
	{
		host_run   *run = host->active[i];

		if (run->device == device && mgpu_host_is_ready(run) && (next == NULL || run->ready_number < next->ready_number))
			next = run;
	}
	if (next != NULL)
		mgpu_host_launch(next);
	return next != NULL;
}

/* One slice of each run in turn, as long as there is room. */
bool
mgpu_host_give_downloads(mgpu_host *host)
{
	bool		found = false;
	bool		again;

	do
	{
		again = false;
		for (int i = 0; i < host->num_active; i++)
			again |= mgpu_host_download(host->active[(host->turn + i) % host->num_active]);
		found |= again;
	}
	while (again);
	host->turn = host->num_active > 0 ? (host->turn + 1) % host->num_active : 0;
	return found;
}

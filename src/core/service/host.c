/*
 * service/host.c
 *		The host of a service: moves all runs on, a little of each at a time.
 *
 * A step looks at the slots that rang, then at what has landed, then gives waiting runs
 * what they wait for: extents and device memory, the kernels' turn, downloads.
 *
 * One thread for all devices: a slice of a megabyte takes 18 us on a link, and the host
 * some 4 us to send it.  A thread a device was rejected, as runs and extents would need
 * locks.
 */
#include "core/service/host_run.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu_threads.h"
#include "core/planner.h"

static uint32_t
num_slots(const mgpu_host *host)
{
	return host->service.control->num_slots;
}

static uint32_t
num_words(const mgpu_host *host)
{
	return (num_slots(host) + 63) / 64;
}

/* -------------------------------------------------------------- runs come, go */

static void
count_waiting(mgpu_host *host, const host_run *run, int change)
{
	mgpu_service_control *control = host->service.control;

	atomic_fetch_add(&control->num_queued, (uint32_t) change);
	atomic_fetch_add(&control->queued_us, change * run->predicted_us);
}

static void
count_open(mgpu_host *host, const host_run *run, int change)
{
	mgpu_service_control *control = host->service.control;

	atomic_fetch_add(&control->num_open, (uint32_t) change);
	atomic_fetch_add(&control->devices[run->device].load_us, change * run->predicted_us);
}

static host_run *
add_run(mgpu_host *host, uint32_t slot_number)
{
	host_run   *run = calloc(1, sizeof(host_run));

	if (run == NULL)
		return NULL;			/* the slot rings again */
	run->host = host;
	run->slot_number = slot_number;
	run->slot = &host->service.slots[slot_number];
	run->device = -1;
	run->refused_at = UINT64_MAX;
	host->runs[slot_number] = run;
	host->active[host->num_active++] = run;
	return run;
}

/* A client has opened its slot. */
static void
adopt(mgpu_host *host, uint32_t slot_number)
{
	host_run   *run = add_run(host, slot_number);
	mgpu_error	error;

	if (run == NULL)
		return;
	run->job = run->slot->job;
	run->options = run->slot->options;
	run->begin_ms = mgpu_now_ms();
	if (run->slot->generation != host->generation)
	{
		run->ended = true;		/* of an older host, which its client will see */
		mgpu_host_set_phase(run, MGPU_PHASE_NONE);
		mgpu_host_keep_extents(run);
		return;
	}
	mgpu_host_set_phase(run, MGPU_PHASE_QUEUED);
	if (mgpu_job_validate(&run->job, &error) != MGPU_OK)
	{
		mgpu_host_fail(run, &error);
		return;
	}
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		run->input_left[i] = mgpu_input_bytes(&run->job, i);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		run->output_left += mgpu_output_bytes(&run->job, i);
	run->predicted_us = (uint64_t) (mgpu_predict_gpu_ms(&run->job) * 1000);
	count_waiting(host, run, 1);
}

/* Nothing is under way any more: free what the run has, and the slot. */
static void
remove_run(mgpu_host *host, int place)
{
	host_run   *run = host->active[place];

	if (run->run != NULL)
		host->engine->release(run->run);
	if (run->device >= 0)
	{
		host->devices[run->device].num_runs--;
		count_open(host, run, -1);
	}
	else if (run->phase == MGPU_PHASE_QUEUED && run->predicted_us > 0)
		count_waiting(host, run, -1);
	mgpu_host_free_extents(run);
	mgpu_host_set_phase(run, MGPU_PHASE_NONE);
	atomic_store_explicit(&run->slot->device, -1, memory_order_relaxed);
	host->num_ended++;
	host->runs[run->slot_number] = NULL;
	memmove(&host->active[place], &host->active[place + 1], (host->num_active - place - 1) * sizeof(host_run *));
	host->num_active--;
	atomic_store_explicit(&run->slot->state, MGPU_SLOT_FREE, memory_order_release);
	free(run);
}

/* ------------------------------------------------------------- parts of a step */

static bool
look_at_slot(mgpu_host *host, uint32_t slot_number)
{
	mgpu_slot  *slot = &host->service.slots[slot_number];
	uint32_t	state = atomic_load_explicit(&slot->state, memory_order_acquire);
	host_run   *run = host->runs[slot_number];

	if (run == NULL && state != MGPU_SLOT_FREE)
	{
		adopt(host, slot_number);
		run = host->runs[slot_number];
	}
	if (run == NULL)
		return state == MGPU_SLOT_FREE;
	if (state == MGPU_SLOT_CLOSING)
		run->closing = true;
	return run->closing || mgpu_host_take_messages(run);
}

/* Slots that rang, and those whose messages had to wait. */
static bool
look_at_slots(mgpu_host *host)
{
	bool		found = false;

	for (uint32_t word = 0; word < num_words(host); word++)
	{
		uint64_t	bits;

		if (atomic_load_explicit(&host->service.doorbells[word], memory_order_relaxed) != 0)
		{
			host->attention[word] |= atomic_exchange(&host->service.doorbells[word], 0);
			found = true;
		}
		for (bits = host->attention[word]; bits != 0; bits &= bits - 1)
		{
			uint32_t	bit = (uint32_t) __builtin_ctzll(bits);

			if (look_at_slot(host, word * 64 + bit))
				host->attention[word] &= ~(UINT64_C(1) << bit);
		}
	}
	return found;
}

static void
land(host_copy *copy, mgpu_direction direction, mgpu_service_device *counts)
{
	atomic_fetch_add_explicit(direction == MGPU_UPLOAD ? &counts->upload_bytes : &counts->download_bytes, copy->bytes,
							  memory_order_relaxed);
	if (direction == MGPU_UPLOAD)
		mgpu_host_uploaded(copy->run, copy->extent);
	else
		mgpu_host_downloaded(copy->run, copy->extent, copy->channel, copy->bytes);
}

static mgpu_status
look_at_copies(mgpu_host *host, int device, mgpu_direction direction, bool *found, mgpu_error *err)
{
	host_copies *copies = &host->devices[device].copies[direction];
	uint64_t	landed;
	mgpu_status status;

	if (copies->num_asked == copies->num_landed)
		return MGPU_OK;
	status = host->engine->landed(device, direction, &landed, err);
	if (status != MGPU_OK)
		return status;
	while (copies->num_landed < landed)
	{
		land(&copies->copies[copies->num_landed++ % MGPU_MAX_COPIES], direction,
			 &host->service.control->devices[device]);
		*found = true;
	}
	return MGPU_OK;
}

static mgpu_status
look_at_device(mgpu_host *host, int device, bool *found, mgpu_error *err)
{
	host_run   *running = host->devices[device].running;
	mgpu_status status = look_at_copies(host, device, MGPU_UPLOAD, found, err);

	if (status == MGPU_OK && running != NULL && mgpu_host_poll(running))
		*found = true;
	if (status == MGPU_OK)
		status = look_at_copies(host, device, MGPU_DOWNLOAD, found, err);
	return status == MGPU_OK ? host->engine->check(err) : status;
}

static int
least_loaded(const mgpu_host *host)
{
	int			best = -1;
	uint64_t	least = UINT64_MAX;

	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		uint64_t	load = atomic_load_explicit(&host->service.control->devices[device].load_us, memory_order_relaxed);

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
		status = mgpu_fail(&error, MGPU_HOST_MEMORY, "no pinned memory is left");
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
		count_waiting(host, run, -1);
		count_open(host, run, 1);
	}
	if (status != MGPU_OK)
		mgpu_host_fail(run, &error);
	return true;
}

/* First come, first served. */
static bool
admit_waiting(mgpu_host *host)
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
static bool
launch_next(mgpu_host *host, int device)
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
static bool
download(mgpu_host *host)
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

/* Runs whose client has left, and for which no device works any more. */
static bool
remove_closed(mgpu_host *host)
{
	bool		found = false;

	for (int i = host->num_active - 1; i >= 0; i--)
	{
		const host_run *run = host->active[i];

		if (!run->closing || run->num_copies > 0 || (run->device >= 0 && host->devices[run->device].running == run))
			continue;
		remove_run(host, i);
		found = true;
	}
	return found;
}

mgpu_status
mgpu_host_step(mgpu_host *host, mgpu_error *err)
{
	bool		found = look_at_slots(host);

	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		if (host->devices[device].started)
		{
			mgpu_status status = look_at_device(host, device, &found, err);

			if (status != MGPU_OK)
				return status;
		}
	}
	found |= remove_closed(host);
	found |= admit_waiting(host);
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
		found |= host->devices[device].started && launch_next(host, device);
	found |= download(host);
	return found ? MGPU_OK : MGPU_PENDING;
}

/* ------------------------------------------------------------------ sleeping */

bool
mgpu_host_has_runs(const mgpu_host *host)
{
	return host->num_active > 0;
}

bool
mgpu_host_is_busy(const mgpu_host *host)
{
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		const host_device *state = &host->devices[device];

		if (state->running != NULL || state->copies[MGPU_UPLOAD].num_asked != state->copies[MGPU_UPLOAD].num_landed ||
			state->copies[MGPU_DOWNLOAD].num_asked != state->copies[MGPU_DOWNLOAD].num_landed)
			return true;
	}
	return false;
}

bool
mgpu_host_sleep_begin(mgpu_host *host)
{
	atomic_store(&host->service.control->host_sleeps, 1);
	for (uint32_t word = 0; word < num_words(host); word++)
	{
		if (atomic_load(&host->service.doorbells[word]) != 0)
		{
			mgpu_host_sleep_end(host);
			return false;
		}
	}
	return true;
}

void
mgpu_host_sleep_end(mgpu_host *host)
{
	atomic_store(&host->service.control->host_sleeps, 0);
}

/* --------------------------------------------------------------- start, stop */

/* Others may have used the device before: an earlier host of this process. */
static mgpu_status
begin_to_count(mgpu_host *host, int device, mgpu_direction direction, mgpu_error *err)
{
	host_copies *copies = &host->devices[device].copies[direction];
	mgpu_status status = host->engine->landed(device, direction, &copies->num_landed, err);

	copies->num_asked = copies->num_landed;
	return status;
}

mgpu_status
mgpu_host_use_device(mgpu_host *host, int device, mgpu_error *err)
{
	mgpu_service_control *control = host->service.control;
	mgpu_status status;

	if (device < 0 || device >= MGPU_MAX_DEVICES)
		return mgpu_fail(err, MGPU_NO_DEVICE, "device %d is beyond the %d that can be used", device, MGPU_MAX_DEVICES);
	if (host->devices[device].started)
		return MGPU_OK;
	status = host->engine->start(&device, err);
	if (status == MGPU_OK)
		status = host->engine->describe(device, &control->devices[device].facts, err);
	if (status == MGPU_OK)
		status = begin_to_count(host, device, MGPU_UPLOAD, err);
	if (status == MGPU_OK)
		status = begin_to_count(host, device, MGPU_DOWNLOAD, err);
	if (status != MGPU_OK)
		return status;
	host->devices[device].started = true;
	atomic_store(&control->devices[device].free_bytes, control->devices[device].facts.memory_free_bytes);
	atomic_store(&control->devices[device].started, true);
	return MGPU_OK;
}

static void
free_host(mgpu_host *host)
{
	for (int i = 0; i < host->num_active; i++)
		free(host->active[i]);
	mgpu_host_memory_free(host);
	free(host->runs);
	free(host->active);
	free(host->attention);
	free(host);
}

static mgpu_host *
allocate_host(const mgpu_host_options *options)
{
	mgpu_host  *host = calloc(1, sizeof(mgpu_host));

	if (host == NULL)
		return NULL;
	host->options = *options;
	host->engine = options->engine;
	host->service = options->service;
	host->runs = calloc(num_slots(host), sizeof(host_run *));
	host->active = calloc(num_slots(host), sizeof(host_run *));
	host->attention = calloc(num_words(host), sizeof(uint64_t));
	if (mgpu_host_memory_init(host) && host->runs != NULL && host->active != NULL && host->attention != NULL)
		return host;
	free_host(host);
	return NULL;
}

mgpu_host *
mgpu_host_create(const mgpu_host_options *options)
{
	mgpu_service_control *control = options->service.control;
	mgpu_host  *host = allocate_host(options);

	if (host == NULL)
		return NULL;
	atomic_store(&control->num_queued, 0);
	atomic_store(&control->num_open, 0);
	atomic_store(&control->queued_us, 0);
	atomic_store(&control->used_extents, 0);
	atomic_store(&control->host_sleeps, 0);
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		atomic_store(&control->devices[device].started, false);
		atomic_store(&control->devices[device].load_us, 0);
	}
	host->generation = atomic_fetch_add(&control->generation, 1) + 1;
	for (uint32_t slot = 0; slot < num_slots(host); slot++)
		(void) look_at_slot(host, slot);
	(void) remove_closed(host);
	return host;
}

void
mgpu_host_start(mgpu_host *host)
{
	atomic_store(&host->service.control->up, 1);
}

/* Only lost devices let go of runs at any time. */
static void
release_lost(mgpu_host *host)
{
	mgpu_error	error;

	if (host->engine->check(&error) == MGPU_OK)
		return;
	for (int i = 0; i < host->num_active; i++)
	{
		if (host->active[i]->run != NULL)
			host->engine->release(host->active[i]->run);
	}
}

void
mgpu_host_refresh(mgpu_host *host)
{
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		mgpu_device facts;

		if (host->devices[device].started && host->engine->describe(device, &facts, NULL) == MGPU_OK)
			atomic_store(&host->service.control->devices[device].free_bytes, facts.memory_free_bytes);
	}
}

void
mgpu_host_stop(mgpu_host *host, const mgpu_error *reason)
{
	mgpu_service_control *control = host->service.control;

	control->last_failure = *reason;
	for (int i = 0; i < host->num_active; i++)
	{
		if (!host->active[i]->closing)
			mgpu_host_fail(host->active[i], reason);
	}
	atomic_store(&control->up, 0);
	release_lost(host);
	free_host(host);
}

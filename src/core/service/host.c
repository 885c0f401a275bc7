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
#include "core/service/host_state.h"

#include <stdlib.h>

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

mgpu_status
mgpu_host_step(mgpu_host *host, mgpu_error *err)
{
	bool		found = mgpu_host_look_at_slots(host);

	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		if (host->devices[device].started)
		{
			mgpu_status status = look_at_device(host, device, &found, err);

			if (status != MGPU_OK)
				return status;
		}
	}
	found |= mgpu_host_remove_closed(host);
	found |= mgpu_host_admit(host);
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
		found |= host->devices[device].started && mgpu_host_launch_next(host, device);
	found |= mgpu_host_give_downloads(host);
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
	for (uint32_t word = 0; word < mgpu_host_num_words(host); word++)
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
	{
		mgpu_host_release_kept(host->active[i]);
		free(host->active[i]);	/* NOLINT: there is the array, or none is active */
	}
	mgpu_host_memory_free(host);
	free(host->page_pieces);
	mgpu_kept_free(host->kept);
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
	host->runs = calloc(mgpu_host_num_slots(host), sizeof(host_run *));
	host->active = calloc(mgpu_host_num_slots(host), sizeof(host_run *));
	host->attention = calloc(mgpu_host_num_words(host), sizeof(uint64_t));
	if (mgpu_host_memory_init(host) && mgpu_host_pages_init(host) && host->runs != NULL && host->active != NULL && host->attention != NULL)
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
	atomic_store(&control->kept_bytes, 0);
	for (int i = 0; i < MGPU_KEPT_RELATIONS; i++)
		atomic_store(&control->kept_relations[i].num_frames, 0);
	atomic_store(&control->host_sleeps, 0);
	for (int device = 0; device < MGPU_MAX_DEVICES; device++)
	{
		atomic_store(&control->devices[device].started, false);
		atomic_store(&control->devices[device].load_us, 0);
	}
	host->generation = atomic_fetch_add(&control->generation, 1) + 1;
	for (uint32_t slot = 0; slot < mgpu_host_num_slots(host); slot++)
		(void) mgpu_host_look_at_slot(host, slot);
	(void) mgpu_host_remove_closed(host);
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

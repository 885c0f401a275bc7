/*
 * service/host.h
 *		The host of a service: drives the devices for all clients, in one thread.
 *
 * The caller calls step as long as it returns MGPU_OK, and then sleeps between
 * sleep_begin and sleep_end.  Nothing here waits, but for what engine.h excepts.
 *
 * Who comes first gets extents and device memory first, so nobody starves.  A run has
 * at most MGPU_SLOT_EXTENTS extents, and fewer as they become scarce, so a large run
 * moves a few slices at a time while others move theirs.  Kernels of a device run one
 * job after another, in the order in which their input was complete.
 */
#ifndef MGPU_SERVICE_HOST_H
#define MGPU_SERVICE_HOST_H

#include "core/service/slot.h"

typedef struct mgpu_host mgpu_host;

typedef struct mgpu_host_options
{
	const mgpu_engine *engine;
	mgpu_service service;

	/*
	 * Runs that find no extent or device memory wait until others have ended.  Else
	 * they fail at once: where the only client is the host's own thread.
	 */
	bool		queues;

	/* Memory whose pages devices may read where they are.  Page-aligned or not; NULL: none. */
	const char *shared_pages;
	uint64_t	num_shared_pages;

	/* Device memory for pages that stay there: bytes, or -1 for half of what is free.  0: none stay. */
	int64_t		kept_bytes;

	/* Wake the client of a slot, which sleeps. */
	void		(*wake_client) (void *context, uint32_t slot);
	void	   *context;
} mgpu_host_options;

/* Take over what the last host left.  NULL: no memory. */
mgpu_host  *mgpu_host_create(const mgpu_host_options *options);

/* Start a device, unless it was.  Runs that ask for no device get the one with the least predicted work. */
mgpu_status mgpu_host_use_device(mgpu_host *host, int device, mgpu_error *err);

/* Take jobs from now on. */
void		mgpu_host_start(mgpu_host *host);

/*
 * Do what can be done now.  MGPU_PENDING: nothing.  Any failure: the devices are lost,
 * and so is the host.
 */
mgpu_status mgpu_host_step(mgpu_host *host, mgpu_error *err);

/* Whether clients have runs open, and will soon call. */
bool		mgpu_host_has_runs(const mgpu_host *host);

/* Whether devices work on something, so that a step will soon find something to do. */
bool		mgpu_host_is_busy(const mgpu_host *host);

/* Before sleeping: false if a client has just called, and the host must not sleep. */
bool		mgpu_host_sleep_begin(mgpu_host *host);
void		mgpu_host_sleep_end(mgpu_host *host);

/* Look how much device memory is free, for those who look on. */
void		mgpu_host_refresh(mgpu_host *host);

/*
 * Take no more jobs, and fail those under way for this reason.  Frees only the host:
 * what devices still do ends with the process.
 */
void		mgpu_host_stop(mgpu_host *host, const mgpu_error *reason);

#endif							/* MGPU_SERVICE_HOST_H */

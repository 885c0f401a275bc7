/*
 * service/host_state.h
 *		Internals of the host: its runs, and what it knows of devices and extents.
 *
 * host.c takes the steps.  host_slots.c has runs come and go, host_turns.c says whose
 * turn it is, host_run.c does the work of one, host_load.c counts it, host_memory.c gives out extents,
 * host_pages.c pins shared buffers, host_kept.c knows which pages stay on a device.
 */
#ifndef MGPU_SERVICE_HOST_STATE_H
#define MGPU_SERVICE_HOST_STATE_H

#include "core/service/host.h"

/* Where an extent of a run is. */
typedef enum extent_place
{
	EXTENT_AT_CLIENT = 0,
	EXTENT_AT_HOST,				/* free for a download */
	EXTENT_AT_DEVICE			/* a copy is under way */
} extent_place;

/* The phases of the slot, and how a run ends. */
typedef struct host_run
{
	mgpu_host  *host;
	uint32_t	slot_number;
	mgpu_slot  *slot;
	mgpu_job	job;			/* a copy: the client may write to the slot's */
	mgpu_exec_options options;
	mgpu_group_spec group;		/* GROUP; a copy, too */
	mgpu_slot_phase phase;
	bool		ended;			/* the client has DONE or FAILED, or is of an older host */
	bool		closing;		/* the client has left */
	int			device;			/* -1: none yet */
	mgpu_engine_run *run;		/* NULL: none yet */
	uint64_t	predicted_us;
	bool		is_load;		/* predicted_us is in the device's load */
	double		begin_ms;
	double		queue_ms;		/* until it was opened */
	uint64_t	refused_at;		/* host->num_ended when memory was refused; UINT64_MAX: it was not */
	uint64_t	ready_number;	/* in which order runs were submitted */
	uint32_t	received;		/* messages */
	mgpu_kept_holder kept;
	int			num_copies;		/* under way */
	int			num_extents;
	uint32_t	extents[MGPU_SLOT_EXTENTS];
	extent_place places[MGPU_SLOT_EXTENTS];
	uint64_t	input_left[MGPU_NUM_INPUTS];	/* bytes */
	uint64_t	output_bytes[MGPU_NUM_OUTPUTS]; /* GROUP: once its kernels have ended */
	uint64_t	output_asked[MGPU_NUM_OUTPUTS]; /* bytes */
	uint64_t	output_left;	/* of all outputs, until they have landed */
} host_run;

/* A copy under way. */
typedef struct host_copy
{
	host_run   *run;
	int			extent;			/* of the run's */
	uint32_t	channel;		/* an output */
	uint32_t	bytes;
} host_copy;

/* Copies of one device and direction, in order; numbers count from the start. */
typedef struct host_copies
{
	uint64_t	num_asked;
	uint64_t	num_landed;
	host_copy	copies[MGPU_MAX_COPIES];
} host_copies;

typedef struct host_device
{
	bool		started;
	host_copies copies[2];		/* by mgpu_direction */
	host_run   *running;		/* whose kernels run */
	int			num_runs;
	uint64_t	open_us;		/* predicted work of these */
} host_device;

struct mgpu_host
{
	mgpu_host_options options;
	const mgpu_engine *engine;
	mgpu_service service;
	uint32_t	generation;
	host_device devices[MGPU_MAX_DEVICES];
	host_run  **runs;			/* by slot; NULL: none */
	host_run  **active;			/* those, first come first */
	int			num_active;
	int			turn;			/* whose downloads are first */
	uint64_t   *attention;		/* slots to look at, as doorbells */
	uint32_t	first_slot;		/* where to begin */
	uint64_t	num_submitted;
	uint64_t	num_ended;		/* runs that gave memory back */
	uint8_t    *extent_used;
	uint8_t    *piece_pinned;	/* 0: not yet, 1: pinned, 2: refused */
	bool	   *page_pieces;	/* of shared pages: pinned */
	uint64_t	end_of_pages;	/* an address */
	bool		kept_is_decided;	/* whether pages stay on a device, and on which */
	mgpu_kept_pages *kept;		/* NULL: none do */
	int			kept_device;
	char	   *kept_memory;
	uint64_t	num_kept;		/* pages that it has room for */
	uint32_t	num_kept_drops;	/* of the control's, that were seen to */
	uint32_t	num_used;
};

static inline uint32_t
mgpu_host_num_slots(const mgpu_host *host)
{
	return host->service.control->num_slots;
}

/* Words of doorbells. */
static inline uint32_t
mgpu_host_num_words(const mgpu_host *host)
{
	return (mgpu_host_num_slots(host) + 63) / 64;
}

/* -------------------------------------------------------------- host_load.c */

/* Count a run among those that wait; change: 1 or -1. */
void		mgpu_host_count_waiting(mgpu_host *host, const host_run *run, int change);

/* Count a run among those that have a device; change: 1 or -1. */
void		mgpu_host_count_open(host_run *run, int change);

/*
 * A run is the device's load from submit until its kernels end: that is what others wait for.  While
 * its client reads or copies, it keeps nobody waiting.
 */
void		mgpu_host_begin_load(host_run *run);
void		mgpu_host_end_load(host_run *run);

/* ------------------------------------------------------------- host_slots.c */

/* Look at one slot; false if it must be looked at again. */
bool		mgpu_host_look_at_slot(mgpu_host *host, uint32_t slot_number);

/* Look at the slots that rang, and those whose messages had to wait.  Whether any rang. */
bool		mgpu_host_look_at_slots(mgpu_host *host);

/* Remove runs whose client has left, and for which no device works any more.  Whether there were any. */
bool		mgpu_host_remove_closed(mgpu_host *host);

/* ------------------------------------------------------------- host_turns.c */

/* Open waiting runs, first come first; give an idle device its next run; ask for slices of output.  Whether any was. */
bool		mgpu_host_admit(mgpu_host *host);
bool		mgpu_host_launch_next(mgpu_host *host, int device);
bool		mgpu_host_give_downloads(mgpu_host *host);

/* ------------------------------------------------------------ host_memory.c */

bool		mgpu_host_memory_init(mgpu_host *host);
void		mgpu_host_memory_free(mgpu_host *host);

/* Extents that a run may have now, by how many are free, and pinned now if they were not; 0: too few. */
int			mgpu_host_share(mgpu_host *host, const mgpu_job *job);

/* Give a run that many, which the share allows. */
void		mgpu_host_take_extents(host_run *run, int wanted);

/* Take them back. */
void		mgpu_host_free_extents(host_run *run);

/* What an earlier host gave to a slot. */
void		mgpu_host_keep_extents(host_run *run);

/* -------------------------------------------------------------- host_pages.c */

bool		mgpu_host_pages_init(mgpu_host *host);

/* Pin the shared pages that a batch names.  False: a page is not there, or cannot be pinned. */
bool		mgpu_host_pin_pages(mgpu_host *host, const mgpu_page_ref *refs, uint32_t num_refs);

/* --------------------------------------------------------------- host_kept.c */

/* A job of pages comes to a device: from now on some stay on this one, if settings and memory allow it and none do yet. */
void		mgpu_host_kept_start(mgpu_host *host, int device);
bool		mgpu_host_keeps(const mgpu_host *host, int device);

/* Answer a question about kept pages.  false: it is none. */
bool		mgpu_host_answer(host_run *run, mgpu_kept_question *question);

/* Line pointers of pages that are read on the device; of others, whether they may be stored there.  false: some are not there. */
bool		mgpu_host_settle_kept(host_run *run, mgpu_page_ref *refs, uint32_t num_refs);

/* The run's kernels have ended well; no device works for the run any more. */
void		mgpu_host_publish_kept(host_run *run);
void		mgpu_host_release_kept(host_run *run);

/* --------------------------------------------------------------- host_run.c */

/* End a run that failed. */
void		mgpu_host_fail(host_run *run, const mgpu_error *error);

void		mgpu_host_set_phase(host_run *run, mgpu_slot_phase phase);

/* Start the run on a device and give the client extents. */
mgpu_status mgpu_host_open(host_run *run, int device, int num_extents, mgpu_error *err);

/* Take the client's messages, as far as there is room for copies. Whether all were taken. */
bool		mgpu_host_take_messages(host_run *run);

/* A copy of the run has landed. */
void		mgpu_host_uploaded(host_run *run, int extent);
void		mgpu_host_downloaded(host_run *run, int extent, uint32_t channel, uint32_t bytes);

/* Ask for one more slice of output; false if there is nothing to ask for, no extent or no room. */
bool		mgpu_host_download(host_run *run);

bool		mgpu_host_is_ready(const host_run *run);

/* Start its kernels; look whether they have ended (false: not yet). */
void		mgpu_host_launch(host_run *run);
bool		mgpu_host_poll(host_run *run);

#endif							/* MGPU_SERVICE_HOST_STATE_H */

/*
 * service/client.c
 *		A client of a service: runs jobs through a slot (slot.h).
 *
 *	 OPENING ── FILLING ── SENDING ── AWAITING ── DONE
 *
 * FILLING hands extents to the caller.  SENDING copies what the binding holds whole to
 * extents.  AWAITING copies outputs from extents.  The last two copy by several threads
 * (copier.h).  A run that fails goes to FAILED, which allows release, and stats if a
 * merge's input was not sorted.
 *
 * A client spins for a moment before it sleeps: the host answers in a few microseconds
 * if it is awake, and waking a process takes some 50.
 */
#include "core/service/client.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/cpu_threads.h"
#include "core/service/copier.h"

#define SPIN_MS 0.03

/*
 * How long open waits for the host's answer, and how long a poll works, before the caller looks at its
 * interrupts.  Tests end polls in the midst of copies.
 */
#define OPEN_MS 50
#define POLL_MS MGPU_SIZE(10, 0)

/* Runs that copy less do so in the caller's thread alone. */
#define THREADS_MIN_BYTES ((uint64_t) MGPU_SIZE(8 * 1024 * 1024, 16 * 1024))

typedef enum run_state
{
	RUN_OPENING = 0,
	RUN_FILLING,
	RUN_SENDING,
	RUN_AWAITING,
	RUN_DONE,
	RUN_FAILED
} run_state;

typedef struct run_input
{
	uint32_t	width;			/* 0: the job has no such input */
	uint64_t	total_bytes;
	uint64_t	sent_bytes;		/* or being copied to extents that will be sent */
	const char *whole;			/* in the binding; NULL: it comes through input_slot */
	int			held_extent;	/* the caller fills it; -1: none */
} run_input;

typedef struct run_output
{
	char	   *target;
	uint64_t	total_bytes;
	uint64_t	received_bytes; /* in extents; all are copied when no task is left */
} run_output;

struct mgpu_run
{
	mgpu_port  *port;
	mgpu_slot  *slot;
	uint32_t	generation;
	int			num_threads;	/* the limit, the caller included */
	int			num_threads_used;
	run_state	state;
	bool		cancelled;
	bool		host_is_done;
	mgpu_status failure;		/* in FAILED */
	uint32_t	received;		/* messages */
	run_input	inputs[MGPU_NUM_INPUTS];
	run_output	outputs[MGPU_NUM_OUTPUTS];
	uint32_t	free_extents[MGPU_SLOT_EXTENTS];
	int			num_free;
	mgpu_copier *copier;		/* from submit on */
};

/* ------------------------------------------------------------------- waiting */

static bool
is_host_there(const mgpu_run *run)
{
	const mgpu_service_control *control = run->port->service.control;

	return atomic_load(&control->up) != 0 && atomic_load(&control->generation) == run->generation;
}

static bool
has_news(const mgpu_run *run)
{
	return atomic_load(&run->slot->to_client.sent) != run->received || !is_host_there(run);
}

/* Let the host work, if it is here, or wait for it for a while. */
static void
await_news(mgpu_run *run)
{
	mgpu_port  *port = run->port;
	double		end_ms;

	if (port->step != NULL)
	{
		port->step(port);
		return;
	}
	end_ms = mgpu_now_ms() + SPIN_MS;
	while (!has_news(run))
	{
		if (mgpu_now_ms() < end_ms)
			continue;
		atomic_store(&run->slot->client_sleeps, 1);
		if (!has_news(run))
			port->sleep(port);
		atomic_store(&run->slot->client_sleeps, 0);
		return;
	}
}

static void
ring(mgpu_port *port)
{
	if (mgpu_ring_doorbell(&port->service, port->slot))
		port->wake_host(port);
}

static void
tell_host(mgpu_run *run, mgpu_message_kind kind, uint32_t channel, uint32_t extent, uint64_t bytes)
{
	mgpu_message message = {.kind = kind,.channel = channel,.extent = extent,.bytes = (uint32_t) bytes};

	mgpu_send(&run->slot->to_host, message);
	ring(run->port);
}

/* ------------------------------------------------------------------ messages */

static mgpu_status
fail_run(mgpu_run *run, mgpu_error *err, mgpu_status status, const char *message)
{
	run->state = RUN_FAILED;
	run->failure = status;
	return mgpu_fail(err, status, "%s", message);
}

static void
take_output(mgpu_run *run, const mgpu_message *message)
{
	run_output *output = &run->outputs[message->channel];

	mgpu_copier_add(run->copier, output->target + output->received_bytes,
					mgpu_extent(&run->port->service, message->extent), message->bytes, message->extent);
	output->received_bytes += message->bytes;
}

/* Take all messages there are. */
static mgpu_status
take_messages(mgpu_run *run, mgpu_error *err)
{
	mgpu_message message;

	while (mgpu_receive(&run->slot->to_client, &run->received, &message))
	{
		switch (message.kind)
		{
			case MGPU_MESSAGE_OPENED:
				run->state = RUN_FILLING;
				break;
			case MGPU_MESSAGE_EXTENT:
				run->free_extents[run->num_free++] = message.extent;
				break;
			case MGPU_MESSAGE_OUTPUT:
				take_output(run, &message);
				break;
			case MGPU_MESSAGE_DONE:
				run->host_is_done = true;
				break;
			default:
				return fail_run(run, err, run->slot->error.status, run->slot->error.message);
		}
	}
	if (run->host_is_done || is_host_there(run))
		return MGPU_OK;
	return fail_run(run, err, MGPU_DEVICE_FAILED, "the process that drives the GPU has ended");
}

/* What every call on a run checks first. */
static mgpu_status
enter(mgpu_run *run, run_state from, run_state to, const char *call, mgpu_error *err)
{
	if (run->cancelled)
		return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
	if (run->state < from || run->state > to)
		return mgpu_fail(err, MGPU_BAD_JOB, "%s does not go with the run's state %d", call, (int) run->state);
	return take_messages(run, err);
}

/* ---------------------------------------------------------------------- open */

static mgpu_status
check_binding(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	bool		has_positions = job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT;

	if (job->num_segments > 0 && binding->in_segment_heads == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no segment heads");
	if (has_positions && job->num_b_items > 0 && binding->in_positions == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no positions");
	if (mgpu_output_bytes(job, MGPU_OUTPUT_KEYS) > 0 && binding->out_keys == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no buffer for keys");
	if (mgpu_output_bytes(job, MGPU_OUTPUT_INDICES) > 0 && binding->out_indices == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no buffer for indices");
	if (mgpu_output_bytes(job, MGPU_OUTPUT_VALUES) > 0 && binding->out_values == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no buffer for values");
	return MGPU_OK;
}

static void
init_channels(mgpu_run *run, const mgpu_job *job, const mgpu_binding *binding)
{
	const void *wholes[MGPU_NUM_INPUTS] = {
		[MGPU_CHANNEL_KEYS] = binding->in_keys,
		[MGPU_CHANNEL_VALUES] = binding->in_values,
		[MGPU_CHANNEL_B_KEYS] = binding->in_b_keys,
		[MGPU_CHANNEL_B_VALUES] = binding->in_b_values,
		[MGPU_INPUT_POSITIONS] = binding->in_positions,
		[MGPU_INPUT_SEGMENT_HEADS] = binding->in_segment_heads
	};
	void	   *targets[MGPU_NUM_OUTPUTS] = {binding->out_keys, binding->out_indices, binding->out_values};

	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
	{
		run->inputs[i].width = mgpu_input_width(job, i);
		run->inputs[i].total_bytes = mgpu_input_bytes(job, i);
		run->inputs[i].whole = wholes[i];
		run->inputs[i].held_extent = -1;
	}
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
	{
		run->outputs[i].target = targets[i];
		run->outputs[i].total_bytes = mgpu_output_bytes(job, i);
	}
}

/* The slot's last run may still have copies under way.  The host does not tell when it is free. */
static mgpu_status
await_free_slot(mgpu_port *port, mgpu_error *err)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000};
	mgpu_slot  *slot = &port->service.slots[port->slot];
	double		end_ms = mgpu_now_ms() + OPEN_MS;

	for (;;)
	{
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == MGPU_SLOT_FREE)
			return MGPU_OK;
		if (atomic_load(&port->service.control->up) == 0)
			return mgpu_fail(err, MGPU_DEVICE_FAILED, "the process that drives the GPU has ended");
		if (mgpu_now_ms() >= end_ms)
			return mgpu_fail(err, MGPU_UNSUPPORTED, "the GPU still ends the last run of this session");
		if (port->step != NULL)
			port->step(port);
		else
			(void) nanosleep(&pause, NULL);
	}
}

static void
open_slot(mgpu_run *run, const mgpu_job *job, const mgpu_exec_options *options)
{
	mgpu_slot  *slot = run->slot;

	run->generation = atomic_load(&run->port->service.control->generation);
	slot->generation = run->generation;
	slot->job = *job;
	slot->options = *options;
	atomic_store_explicit(&slot->to_host.sent, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->to_client.sent, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->state, MGPU_SLOT_OPEN, memory_order_release);
	ring(run->port);
}

mgpu_status
mgpu_client_open(mgpu_port *port, const mgpu_job *job, const mgpu_binding *binding,
				 const mgpu_exec_options *options, mgpu_run **run_out, mgpu_error *err)
{
	double		end_ms = mgpu_now_ms() + OPEN_MS;
	mgpu_run   *run;
	mgpu_status status;

	*run_out = NULL;
	if ((status = mgpu_job_validate(job, err)) != MGPU_OK ||
		(status = check_binding(job, binding, err)) != MGPU_OK ||
		(status = await_free_slot(port, err)) != MGPU_OK)
		return status;
	run = calloc(1, sizeof(mgpu_run));
	if (run == NULL)
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of host memory");
	run->port = port;
	run->slot = &port->service.slots[port->slot];
	run->num_threads = options->num_threads;
	run->num_threads_used = 1;
	init_channels(run, job, binding);
	open_slot(run, job, options);
	while ((status = take_messages(run, err)) == MGPU_OK && run->state == RUN_OPENING && mgpu_now_ms() < end_ms)
		await_news(run);
	if (status == MGPU_OK)
		*run_out = run;
	else
		mgpu_client_release(run);
	return status;
}

/* --------------------------------------------------------------------- input */

/* Is anything still to come through this channel's slots? */
static mgpu_status
check_channel(const mgpu_run *run, mgpu_channel channel, mgpu_error *err)
{
	const run_input *input = &run->inputs[channel];

	if (input->width == 0 || input->whole != NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "channel %d takes no slots", (int) channel);
	if (input->sent_bytes == input->total_bytes)
		return mgpu_fail(err, MGPU_BAD_JOB, "channel %d has all its items", (int) channel);
	return MGPU_OK;
}

mgpu_status
mgpu_client_input_slot(mgpu_run *run, mgpu_channel channel, void **slot, uint64_t *slot_bytes, mgpu_error *err)
{
	run_input  *input = &run->inputs[channel];
	mgpu_status status = enter(run, RUN_OPENING, RUN_FILLING, "input_slot", err);

	if (status == MGPU_OK)
		status = check_channel(run, channel, err);
	if (status == MGPU_OK && input->held_extent < 0 && run->num_free == 0)
	{
		await_news(run);
		status = take_messages(run, err);
	}
	if (status != MGPU_OK)
		return status;
	if (input->held_extent < 0)
	{
		if (run->num_free == 0)
			return MGPU_PENDING;
		input->held_extent = (int) run->free_extents[--run->num_free];
	}
	*slot = mgpu_extent(&run->port->service, (uint32_t) input->held_extent);
	*slot_bytes = input->total_bytes - input->sent_bytes;
	if (*slot_bytes > MGPU_EXTENT_BYTES)
		*slot_bytes = MGPU_EXTENT_BYTES;
	return MGPU_OK;
}

mgpu_status
mgpu_client_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	run_input  *input = &run->inputs[channel];
	mgpu_status status = enter(run, RUN_FILLING, RUN_FILLING, "input_commit", err);

	if (status == MGPU_OK)
		status = check_channel(run, channel, err);
	if (status != MGPU_OK)
		return status;
	if (input->held_extent < 0 || bytes > MGPU_EXTENT_BYTES || bytes > input->total_bytes - input->sent_bytes ||
		bytes % input->width != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "%llu bytes do not go with the slot of channel %d",
						 (unsigned long long) bytes, (int) channel);
	if (bytes == 0)
		run->free_extents[run->num_free++] = (uint32_t) input->held_extent;
	else
	{
		tell_host(run, MGPU_MESSAGE_INPUT, channel, (uint32_t) input->held_extent, bytes);
		if (run->port->step != NULL)
			run->port->step(run->port);
	}
	input->held_extent = -1;
	input->sent_bytes += bytes;
	return MGPU_OK;
}

mgpu_status
mgpu_client_submit(mgpu_run *run, mgpu_error *err)
{
	uint64_t	copied_bytes = 0;
	mgpu_status status = enter(run, RUN_OPENING, RUN_FILLING, "submit", err);

	if (status != MGPU_OK)
		return status;
	if (run->copier != NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the run was submitted before");
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
	{
		const run_input *input = &run->inputs[i];

		if (input->whole == NULL && input->sent_bytes != input->total_bytes)
			return mgpu_fail(err, MGPU_BAD_JOB, "channel %d has %llu of %llu bytes", i,
							 (unsigned long long) input->sent_bytes, (unsigned long long) input->total_bytes);
		copied_bytes += input->total_bytes - input->sent_bytes;
	}
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		copied_bytes += run->outputs[i].total_bytes;
	run->copier = mgpu_copier_start(copied_bytes < THREADS_MIN_BYTES ? 1 : run->num_threads);
	if (run->copier == NULL)
		return fail_run(run, err, MGPU_HOST_MEMORY, "out of host memory");
	run->num_threads_used = mgpu_copier_num_threads(run->copier);
	if (run->state == RUN_FILLING)
		run->state = RUN_SENDING;
	return MGPU_OK;
}

/* ------------------------------------------------------------- after submit */

/* A task's tag: an extent and what it is sent as. */
static uint64_t
make_tag(uint32_t extent, int input, uint64_t bytes)
{
	return bytes << 32 | (uint64_t) input << 24 | extent;
}

/* Copy the next slice of a whole input to a free extent; false if there is none, of either. */
static bool
fill_extent(mgpu_run *run)
{
	for (int i = 0; i < MGPU_NUM_INPUTS && run->num_free > 0; i++)
	{
		run_input  *input = &run->inputs[i];
		uint64_t	bytes = input->total_bytes - input->sent_bytes;
		uint32_t	extent;

		if (bytes == 0)
			continue;
		if (bytes > MGPU_EXTENT_BYTES)
			bytes = MGPU_EXTENT_BYTES;
		extent = run->free_extents[--run->num_free];
		mgpu_copier_add(run->copier, mgpu_extent(&run->port->service, extent), input->whole + input->sent_bytes, bytes,
						make_tag(extent, i, bytes));
		input->sent_bytes += bytes;
		return true;
	}
	return false;
}

static bool
is_all_sent(const mgpu_run *run)
{
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
	{
		if (run->inputs[i].sent_bytes < run->inputs[i].total_bytes)
			return false;
	}
	return mgpu_copier_num_tasks(run->copier) == 0;
}

/* Hand extents over whose copies have ended. */
static void
hand_over(mgpu_run *run)
{
	uint64_t	tag;

	while (mgpu_copier_finished(run->copier, &tag))
	{
		if (run->state == RUN_SENDING)
			tell_host(run, MGPU_MESSAGE_INPUT, (uint32_t) (tag >> 24 & 0xFF), (uint32_t) (tag & 0xFFFFFF), tag >> 32);
		else if (!run->host_is_done)
			tell_host(run, MGPU_MESSAGE_EMPTY, 0, (uint32_t) tag, 0);
	}
}

/* Do what can be done now. */
static void
work(mgpu_run *run)
{
	hand_over(run);
	if (run->state == RUN_SENDING)
	{
		while (fill_extent(run))
			;
		if (is_all_sent(run))
		{
			tell_host(run, MGPU_MESSAGE_SUBMIT, 0, 0, 0);
			run->num_free = 0;
			run->state = RUN_AWAITING;
		}
	}
	if (run->host_is_done && mgpu_copier_num_tasks(run->copier) == 0)
		run->state = RUN_DONE;
}

/* After work: copy, or wait for what others do. */
static void
copy_or_wait(mgpu_run *run)
{
	if (run->port->step != NULL)
		run->port->step(run->port);
	if (mgpu_copier_help(run->copier))
		return;
	if (mgpu_copier_num_tasks(run->copier) == MGPU_COPIER_TASKS || run->host_is_done)
		mgpu_copier_wait(run->copier);
	else if (mgpu_copier_num_tasks(run->copier) == 0)
		await_news(run);
}

mgpu_status
mgpu_client_poll(mgpu_run *run, mgpu_error *err)
{
	double		end_ms = mgpu_now_ms() + POLL_MS;
	mgpu_status status = enter(run, RUN_OPENING, RUN_FAILED, "poll", err);

	if (status != MGPU_OK)
		return status;
	if (run->copier == NULL || run->state == RUN_FAILED)
		return mgpu_fail(err, MGPU_BAD_JOB, "poll does not go with the run's state %d", (int) run->state);
	while (run->state != RUN_DONE)
	{
		if (run->state == RUN_FILLING)
			run->state = RUN_SENDING;	/* it was still waiting for extents when it was submitted */
		if (run->state == RUN_OPENING)
			await_news(run);
		else
		{
			work(run);
			if (run->state != RUN_DONE)
				copy_or_wait(run);
		}
		if (run->state != RUN_DONE && mgpu_now_ms() >= end_ms)
			return MGPU_PENDING;
		status = take_messages(run, err);
		if (status != MGPU_OK)
			return status;
	}
	return MGPU_OK;
}

/* ---------------------------------------------------------- stats, the end */

void
mgpu_client_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	*stats = run->slot->stats;
	stats->num_threads = run->num_threads_used;
}

void
mgpu_client_cancel(mgpu_run *run)
{
	run->cancelled = true;
}

mgpu_port *
mgpu_client_port(const mgpu_run *run)
{
	return run->port;
}

void
mgpu_client_leave(mgpu_port *port)
{
	mgpu_slot  *slot = &port->service.slots[port->slot];

	if (atomic_load(&slot->state) != MGPU_SLOT_OPEN)
		return;
	atomic_store_explicit(&slot->state, MGPU_SLOT_CLOSING, memory_order_release);
	ring(port);
}

void
mgpu_client_release(mgpu_run *run)
{
	if (run == NULL)
		return;
	mgpu_copier_stop(run->copier);
	mgpu_client_leave(run->port);
	free(run);
}

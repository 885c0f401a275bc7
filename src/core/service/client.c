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
#include "core/service/client_run.h"

#include <stdlib.h>
#include <time.h>

#include "core/cpu_threads.h"

#define SPIN_MS 0.03

/* How long open waits for the host's answer before the caller looks at its interrupts. */
#define OPEN_MS 50

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
void
mgpu_client_await(mgpu_run *run)
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
		mgpu_pause();
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

void
mgpu_client_tell(mgpu_run *run, mgpu_message_kind kind, uint32_t channel, uint32_t extent, uint64_t bytes)
{
	mgpu_message message = {.kind = kind,.channel = channel,.extent = extent,.bytes = (uint32_t) bytes};

	mgpu_send(&run->slot->to_host, message);
	ring(run->port);
}

/* ------------------------------------------------------------------ messages */

mgpu_status
mgpu_client_fail(mgpu_run *run, mgpu_error *err, mgpu_status status, const char *message)
{
	run->state = RUN_FAILED;
	return mgpu_fail(err, status, "%s", message);
}

static void
take_output(mgpu_run *run, const mgpu_message *message)
{
	run_output *output = &run->outputs[message->channel];

	if (run->in_pieces)
	{
		run->piece = *message;
		return;
	}
	mgpu_copier_add(run->copier, output->target + output->received_bytes,
					mgpu_extent(&run->port->service, message->extent), message->bytes, message->extent);
	output->received_bytes += message->bytes;
}

/* Take all messages there are. */
mgpu_status
mgpu_client_take_messages(mgpu_run *run, mgpu_error *err)
{
	mgpu_message message;

	while (!mgpu_client_awaits_caller(run) && mgpu_receive(&run->slot->to_client, &run->received, &message))
	{
		switch (message.kind)
		{
			case MGPU_MESSAGE_OPENED:
				run->state = RUN_FILLING;
				break;
			case MGPU_MESSAGE_EXTENT:
				run->free_extents[run->num_free++] = message.extent;
				break;
			case MGPU_MESSAGE_ANSWER:
				run->is_answered = true;
				break;
			case MGPU_MESSAGE_SIZES:
				run->knows_sizes = true;
				break;
			case MGPU_MESSAGE_OUTPUT:
				take_output(run, &message);
				break;
			case MGPU_MESSAGE_DONE:
				run->host_is_done = true;
				break;
			default:
				return mgpu_client_fail(run, err, run->slot->error.status, run->slot->error.message);
		}
	}
	if (run->host_is_done || is_host_there(run))
		return MGPU_OK;
	return mgpu_client_fail(run, err, MGPU_DEVICE_FAILED, "the process that drives the GPU has ended");
}

/* What every call on a run checks first. */
mgpu_status
mgpu_client_enter(mgpu_run *run, run_state from, run_state to, const char *call, mgpu_error *err)
{
	if (run->cancelled)
		return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
	if (run->state < from || run->state > to)
		return mgpu_fail(err, MGPU_BAD_JOB, "%s does not go with the run's state %d", call, (int) run->state);
	return mgpu_client_take_messages(run, err);
}

/* ---------------------------------------------------------------------- open */

static mgpu_status
check_binding(const mgpu_job *job, const mgpu_binding *binding, mgpu_error *err)
{
	bool		has_positions = job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT;

	if (job->op == MGPU_OP_GROUP && binding->group == NULL)
		return mgpu_fail(err, MGPU_BAD_JOB, "the binding has no group spec");
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
	void	   *targets[] = {binding->out_keys, binding->out_indices, binding->out_values};

	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
	{
		run->inputs[i].width = mgpu_input_width(job, i);
		run->inputs[i].total_bytes = mgpu_input_bytes(job, i);
		run->inputs[i].whole = wholes[i];
		run->inputs[i].held_extent = -1;
	}
	if (job->op == MGPU_OP_GROUP)
		run->inputs[MGPU_CHANNEL_VALUES].total_bytes = binding->group->build_bytes;
	for (int i = 0; i <= MGPU_OUTPUT_VALUES; i++)
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
	double		begin_ms = mgpu_now_ms();

	for (;;)
	{
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == MGPU_SLOT_FREE)
			return MGPU_OK;
		if (atomic_load(&port->service.control->up) == 0)
			return mgpu_fail(err, MGPU_DEVICE_FAILED, "the process that drives the GPU has ended");
		if (mgpu_now_ms() >= begin_ms + OPEN_MS)
			return mgpu_fail(err, MGPU_BUSY, "the GPU still ends the last run of this session");
		if (port->step != NULL)
			port->step(port);
		else if (mgpu_now_ms() >= begin_ms + SPIN_MS)
			(void) nanosleep(&pause, NULL);
	}
}

static void
open_slot(mgpu_run *run, const mgpu_job *job, const mgpu_group_spec *group, const mgpu_exec_options *options)
{
	mgpu_slot  *slot = run->slot;

	run->generation = atomic_load(&run->port->service.control->generation);
	slot->generation = run->generation;
	slot->job = *job;
	slot->options = *options;
	if (run->is_group)
		slot->group = *group;
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
	run->is_group = job->op == MGPU_OP_GROUP;
	open_slot(run, job, binding->group, options);
	while ((status = mgpu_client_take_messages(run, err)) == MGPU_OK && run->state == RUN_OPENING && mgpu_now_ms() < end_ms)
		mgpu_client_await(run);
	if (status == MGPU_OK)
		*run_out = run;
	else
		mgpu_client_release(run);
	return status;
}

/* -------------------------------------------------------------------- groups */

bool
mgpu_client_group_result(const mgpu_run *run, mgpu_group_result *result)
{
	if (run->knows_sizes)
		*result = run->slot->group_result;
	return run->knows_sizes;
}

/* Sizes come from the client's own spec and the result. */
void
mgpu_client_bind_groups(mgpu_run *run, char *const *outputs)
{
	run->in_pieces = outputs == NULL;
	for (uint32_t i = 0; i < MGPU_GROUP_OUTPUTS && outputs != NULL; i++)
		run->outputs[MGPU_OUTPUT_GROUPS + i].target = outputs[i];
	run->is_bound = true;
}

bool
mgpu_client_group_piece(const mgpu_run *run, mgpu_group_piece *piece)
{
	*piece = (mgpu_group_piece) {
		.output = run->piece.channel - MGPU_OUTPUT_GROUPS,
		.data = mgpu_extent(&run->port->service, run->piece.extent),
		.num_bytes = run->piece.bytes
	};
	return run->piece.bytes > 0;
}

void
mgpu_client_piece_taken(mgpu_run *run)
{
	if (!run->host_is_done)
		mgpu_client_tell(run, MGPU_MESSAGE_EMPTY, 0, run->piece.extent, 0);
	run->piece.bytes = 0;
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

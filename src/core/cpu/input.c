/*
 * input.c
 *		See input.h.
 *
 * Into a ring, the caller reads one slot a task, and a task reads its keys from its slot.  Keys alone
 * need no other copy and stay in cache, and other threads work on them meanwhile.  A caller that
 * finds the ring full does a task itself, so neither side waits for the other.
 *
 * Reading straight into the result was rejected: a reader may use the bytes before its slot
 * (executor.h), where a task of earlier keys would be at work, and the result is not in cache when
 * the reader writes it.
 */
#include "core/cpu/input.h"

#include <inttypes.h>
#include <string.h>

/* Bytes before a slot, for a reader's header and for overrun of the slot before; they keep the alignment. */
#define LEAD_BYTES 64

/* ---- the ring */

/* Slots beyond one for each thread.  A caller without threads needs only one. */
#define SPARE_SLOTS 2

bool
mgpu_stream_uses_ring(const mgpu_run *run)
{
	return run->strategy->begin_stream != NULL && run->job.op == MGPU_OP_SORT;
}

static uint64_t
num_slots(const mgpu_run *run)
{
	return run->num_threads == 1 ? 1 : mgpu_min((uint64_t) run->num_threads + SPARE_SLOTS, MGPU_MAX_RING_SLOTS);
}

static uint64_t
slot_stride(uint64_t task_bytes)
{
	return LEAD_BYTES + (task_bytes + 63) / 64 * 64;
}

char *
mgpu_stream_key(const mgpu_run *run, uint64_t i)
{
	uint64_t	task_items = run->stream.task_items;
	uint64_t	width = run->job.key_width;
	uint64_t	slot = i / task_items % run->stream.num_slots;

	return run->stream.ring + slot * slot_stride(task_items * width) + LEAD_BYTES + i % task_items * width;
}

static void
stream_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;

	run->stream.function(run, task, worker);
	atomic_fetch_add(&run->stream.times_emptied[task % run->stream.num_slots], 1);
}

bool
mgpu_stream_begin(mgpu_run *run, mgpu_task_function function, uint64_t task_items)
{
	uint64_t	stride = slot_stride(task_items * run->job.key_width);

	run->stream.function = function;
	run->stream.task_items = task_items;
	run->stream.num_slots = num_slots(run);
	if (mgpu_stream_uses_ring(run) && (run->stream.ring = mgpu_allocate(run, run->stream.num_slots * stride)) == NULL)
		return false;
	run->phase_open = true;
	mgpu_pool_begin_held(run->pool, stream_task, run, mgpu_num_tasks(run->job.num_items, task_items));
	return true;
}

/* Where the caller writes the next keys: at their place, or up to 3 bytes behind it, aligned. */
static char *
aligned_place(const mgpu_run *run)
{
	uintptr_t	place = (uintptr_t) mgpu_stream_key(run, run->bytes_in[MGPU_CHANNEL_KEYS] / run->job.key_width);

	return (char *) ((place + 3) & ~(uintptr_t) 3);
}

/* The buffer for the next keys.  Works on tasks until a slot is free.  MGPU_CANCELLED if none will be. */
static mgpu_status
stream_slot(mgpu_run *run, void **slot, uint64_t *slot_items, mgpu_error *err)
{
	uint64_t	begin = run->bytes_in[MGPU_CHANNEL_KEYS] / run->job.key_width;
	uint64_t	task = begin / run->stream.task_items;
	uint64_t	task_end = (task + 1) * run->stream.task_items;

	/* wait until the slot's earlier tasks have emptied it */
	while (atomic_load(&run->stream.times_emptied[task % run->stream.num_slots]) < task / run->stream.num_slots)
	{
		if (atomic_load(&run->cancelled))
			return mgpu_fail(err, MGPU_CANCELLED, "the run was cancelled");
		mgpu_pool_help(run->pool, (double) run->tuning.poll_ms);
	}
	*slot = aligned_place(run);
	*slot_items = mgpu_min(task_end, run->job.num_items) - begin;
	return MGPU_OK;
}

/* Move the bytes just written to a slot to their place, before they count as input. */
static void
stream_settle(mgpu_run *run, uint64_t bytes)
{
	char	   *place = mgpu_stream_key(run, run->bytes_in[MGPU_CHANNEL_KEYS] / run->job.key_width);
	const char *slot = aligned_place(run);

	if (slot != place)
		memmove(place, slot, bytes);
}

/* The first num_items items are in: release the tasks that have all of theirs. */
static void
stream_arrived(mgpu_run *run, uint64_t num_items)
{
	uint64_t	task_items = run->stream.task_items;
	uint64_t	num_tasks = num_items < run->job.num_items ? num_items / task_items :
		mgpu_num_tasks(num_items, task_items);

	if (num_tasks == run->stream.num_released)
		return;
	run->stream.num_released = num_tasks;
	mgpu_pool_release(run->pool, num_tasks);
}

/* ---- channels */

static uint64_t
channel_width(const mgpu_run *run, mgpu_channel channel)
{
	return channel == MGPU_CHANNEL_KEYS || channel == MGPU_CHANNEL_B_KEYS ?
		run->job.key_width : run->job.value_width;
}

/* 0 if the job has no such input. */
static uint64_t
channel_items(const mgpu_run *run, mgpu_channel channel)
{
	const mgpu_job *job = &run->job;
	bool		has_values = (job->outputs & MGPU_OUT_VALUES) != 0;

	switch (channel)
	{
		case MGPU_CHANNEL_KEYS:
			return job->key_width > 0 ? job->num_items : 0;
		case MGPU_CHANNEL_VALUES:
			return has_values ? job->num_items : 0;
		case MGPU_CHANNEL_B_KEYS:
			return mgpu_job_is_merge(job) ? job->num_b_items : 0;
		case MGPU_CHANNEL_B_VALUES:
			return has_values && (mgpu_job_is_merge(job) || job->op == MGPU_OP_INSERT) ? job->num_b_items : 0;
		default:
			return 0;
	}
}

static uint64_t
channel_bytes(const mgpu_run *run, mgpu_channel channel)
{
	return channel_items(run, channel) * channel_width(run, channel);
}

static const void *
bound_input(const mgpu_run *run, mgpu_channel channel)
{
	switch (channel)
	{
		case MGPU_CHANNEL_KEYS:
			return run->binding.in_keys;
		case MGPU_CHANNEL_VALUES:
			return run->binding.in_values;
		case MGPU_CHANNEL_B_KEYS:
			return run->binding.in_b_keys;
		default:
			return run->binding.in_b_values;
	}
}

static bool
is_streamed(const mgpu_run *run, mgpu_channel channel)
{
	return channel_bytes(run, channel) > 0 && bound_input(run, channel) == NULL;
}

/* Whether keys are encoded on their way out of the slot. */
static bool
is_encoded(const mgpu_run *run, mgpu_channel channel)
{
	return channel == MGPU_CHANNEL_KEYS && !mgpu_job_is_merge(&run->job);
}

/* Whether tasks read the keys from the ring that they arrive in. */
static bool
is_ringed(const mgpu_run *run, mgpu_channel channel)
{
	return channel == MGPU_CHANNEL_KEYS && mgpu_stream_uses_ring(run);
}

static bool
is_consumed(const mgpu_run *run, mgpu_channel channel)
{
	return channel == MGPU_CHANNEL_VALUES && run->strategy->consume != NULL;
}

/* Whether codes go to the result, which has space for them if keys are alone. */
static bool
are_codes_in_result(const mgpu_run *run)
{
	return run->strategy->codes_in_result && (run->job.op == MGPU_OP_SORT || run->job.op == MGPU_OP_ODD_EVEN_SORT);
}

/* Bytes allocated for a streamed channel, beside its slot. */
static uint64_t
held_bytes(const mgpu_run *run, mgpu_channel channel)
{
	if (is_consumed(run, channel) || (is_encoded(run, channel) && are_codes_in_result(run)))
		return 0;
	return channel_bytes(run, channel);
}

bool
mgpu_input_allocate(mgpu_run *run)
{
	for (mgpu_channel channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		uint64_t	bytes = held_bytes(run, channel);
		char	  **held = is_encoded(run, channel) ? &run->codes : &run->held[channel];

		if (!is_streamed(run, channel) || is_ringed(run, channel))
			continue;
		if ((run->slot[channel] = mgpu_allocate(run, LEAD_BYTES + run->tuning.slot_bytes)) == NULL ||
			(bytes > 0 && (*held = mgpu_allocate(run, bytes)) == NULL))
			return false;
	}
	return true;
}

static bool
is_complete(const mgpu_run *run, mgpu_channel channel)
{
	return run->bytes_in[channel] == channel_bytes(run, channel);
}

/* Destination of streamed codes. */
static char *
stream_codes(const mgpu_run *run)
{
	return run->codes != NULL ? run->codes : run->binding.out_keys;
}

/* Set run->keys to the streamed keys, for tasks and phases. */
static void
set_streamed_keys(mgpu_run *run)
{
	run->keys.codec = run->codec;
	if (is_ringed(run, MGPU_CHANNEL_KEYS))
		return;
	run->keys.data = stream_codes(run);
	mgpu_codec_init_identity(&run->keys.codec, run->job.key_width);
}

/* Called before the first key, for strategies that take keys while they arrive. */
static bool
begin_stream(mgpu_run *run)
{
	if (!mgpu_start_threads(run))
		return false;
	set_streamed_keys(run);
	return run->strategy->begin_stream(run);
}

mgpu_status
mgpu_input_slot(mgpu_run *run, mgpu_channel channel,
				void **slot, uint64_t *slot_bytes, mgpu_error *err)
{
	uint64_t	width;
	uint64_t	missing;
	uint64_t	limit = 0;

	if (run->submitted || !is_streamed(run, channel) || is_complete(run, channel))
		return mgpu_fail(err, MGPU_BAD_JOB, "input channel %d takes no more input", (int) channel);
	width = channel_width(run, channel);
	if (channel == MGPU_CHANNEL_KEYS && run->strategy->begin_stream != NULL && run->stream.task_items == 0 &&
		!begin_stream(run))
		return mgpu_run_status(run, err);
	if (is_ringed(run, channel))
	{
		mgpu_status status = stream_slot(run, slot, &limit, err);

		if (status == MGPU_OK)
			run->slot_bytes[channel] = *slot_bytes = limit * width;
		return status;
	}
	missing = channel_bytes(run, channel) - run->bytes_in[channel];
	limit = run->tuning.slot_bytes / width * width;
	*slot = run->slot[channel] + LEAD_BYTES;
	*slot_bytes = mgpu_min(missing, limit);
	run->slot_bytes[channel] = *slot_bytes;
	return MGPU_OK;
}

static void
take_keys(mgpu_run *run, const void *slot, uint64_t num_items)
{
	char	   *codes = stream_codes(run) + run->bytes_in[MGPU_CHANNEL_KEYS];

	mgpu_encode_items(&run->codec, slot, codes, num_items);
	mgpu_order_watch_codes(&run->order, codes, run->job.key_width, num_items);
}

mgpu_status
mgpu_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	uint64_t	width = channel_width(run, channel);
	const char *slot;

	if (!is_streamed(run, channel) || bytes > run->slot_bytes[channel] || bytes % width != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "commit of %" PRIu64 " bytes into a slot of %" PRIu64,
						 bytes, run->slot_bytes[channel]);
	if (bytes == 0)
		return MGPU_OK;
	slot = run->slot[channel] + LEAD_BYTES;
	if (is_ringed(run, channel))
		stream_settle(run, bytes);
	else if (is_encoded(run, channel))
		take_keys(run, slot, bytes / width);
	else if (is_consumed(run, channel))
		run->strategy->consume(run, slot, run->bytes_in[channel] / width, bytes / width);
	else
		memcpy(run->held[channel] + run->bytes_in[channel], slot, bytes);
	run->bytes_in[channel] += bytes;
	run->slot_bytes[channel] = 0;
	if (channel == MGPU_CHANNEL_KEYS && run->stream.task_items > 0)
		stream_arrived(run, run->bytes_in[channel] / width);
	return MGPU_OK;
}

mgpu_status
mgpu_input_bind(mgpu_run *run, mgpu_error *err)
{
	for (mgpu_channel channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		bool		streamed = is_streamed(run, channel);

		if (streamed && !is_complete(run, channel))
			return mgpu_fail(err, MGPU_BAD_JOB, "input channel %d is not complete", (int) channel);
		run->in[channel] = streamed ? run->held[channel] : bound_input(run, channel);
	}
	if (run->stream.task_items > 0)
		return MGPU_OK;			/* tasks have the keys already */
	if (is_encoded(run, MGPU_CHANNEL_KEYS) && is_streamed(run, MGPU_CHANNEL_KEYS))
		set_streamed_keys(run);
	else
		run->keys = (mgpu_source) {run->in[MGPU_CHANNEL_KEYS], run->codec};
	return MGPU_OK;
}

/*
 * stream.c
 *		See stream.h.
 *
 * The caller reads into a ring of slots, one a task, and a task reads its keys from
 * its slot.  Keys alone need no other copy and stay in cache, and other threads work
 * on them meanwhile.  A caller that finds the ring full does a task itself, so
 * neither side waits for the other.
 *
 * Reading straight into the result was rejected: a reader may use the bytes before
 * its slot (executor.h), where a task of earlier keys would be at work, and the
 * result is not in cache when the reader writes it.
 */
#include "core/cpu/stream.h"

#include <string.h>

/* Slots beyond one for each thread.  A caller without threads needs only one. */
#define SPARE_SLOTS 2

/*
 * Bytes before a slot, for a reader's header and for overrun of the slot before;
 * they keep the alignment.
 */
#define LEAD_BYTES 64

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

mgpu_status
mgpu_stream_slot(mgpu_run *run, void **slot, uint64_t *slot_items, mgpu_error *err)
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

void
mgpu_stream_settle(mgpu_run *run, uint64_t bytes)
{
	char	   *place = mgpu_stream_key(run, run->bytes_in[MGPU_CHANNEL_KEYS] / run->job.key_width);
	const char *slot = aligned_place(run);

	if (slot != place)
		memmove(place, slot, bytes);
}

void
mgpu_stream_arrived(mgpu_run *run, uint64_t num_items)
{
	uint64_t	task_items = run->stream.task_items;
	uint64_t	num_tasks = num_items < run->job.num_items ? num_items / task_items :
		mgpu_num_tasks(num_items, task_items);

	if (num_tasks == run->stream.num_released)
		return;
	run->stream.num_released = num_tasks;
	mgpu_pool_release(run->pool, num_tasks);
}

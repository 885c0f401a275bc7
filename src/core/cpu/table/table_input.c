/*
 * table_input.c
 *		The input of mgpu_cpu_table_executor: batches of pages, or of rows.
 *
 * A batch is one task of the pool or, with many threads, some; they are released when it is committed.  Slots are handed out in turn,
 * and a caller that finds the next one not free does a task itself.
 */
#include "core/cpu/table/table_read.h"

#include <string.h>

/* A task reads at least as many rows as such pages have. */
#define ROWS_OF_PAGE 64

/* More tasks than there are pages: how many there will be is not known. */
#define MOST_TASKS (UINT64_MAX / 4)

static mgpu_table_read *
read_at(const mgpu_run *run, uint64_t number)
{
	return &run->reads[number % run->ring_reads];
}

static void
read_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_read *read = read_at(run, task);

	if (mgpu_table_goes_on(run))
		mgpu_table_do_read(run, &run->workers[worker], read);
	atomic_fetch_sub(&read->slot->num_left, 1);
	atomic_fetch_add(&run->num_done, 1);
}

mgpu_status
mgpu_table_input_slot(mgpu_run *run, mgpu_channel channel, void **memory, uint64_t *slot_bytes, mgpu_error *err)
{
	double		end_ms = mgpu_now_ms() + (double) mgpu_cpu_tunables.poll_ms;
	mgpu_table_slot *slot = &run->slots[run->num_committed % run->num_slots];
	mgpu_status status = mgpu_table_status(run, err);

	if (channel != MGPU_CHANNEL_KEYS || run->submitted)
		return mgpu_fail(err, MGPU_BAD_JOB, "a run takes its input by its first channel, until it is submitted");
	while (status == MGPU_OK && atomic_load(&slot->num_left) > 0)
	{
		double		now_ms = mgpu_now_ms();

		if (now_ms >= end_ms)
			return MGPU_PENDING;
		mgpu_pool_help(run->pool, end_ms - now_ms);
		status = mgpu_table_status(run, err);
	}
	if (status != MGPU_OK)
		return status;
	run->slot_is_out = true;
	*memory = slot->memory;
	*slot_bytes = run->slot_bytes;
	return MGPU_OK;
}

/* Cut what is in a slot into tasks. */
static bool
add_reads(mgpu_run *run, mgpu_table_slot *slot)
{
	uint64_t	least = mgpu_cpu_tunables.table_task_pages * (run->spec.takes_rows ? ROWS_OF_PAGE : 1);
	uint64_t	num_reads = mgpu_table_least(run->most_reads, slot->num_refs / least);

	num_reads = num_reads > 0 ? num_reads : 1;
	atomic_store(&slot->num_left, (uint32_t) num_reads);
	for (uint64_t i = 0; i < num_reads; i++)
	{
		mgpu_table_read *read = read_at(run, run->num_reads);

		read->number = run->num_reads++;
		read->slot = slot;
		read->begin = (uint32_t) (slot->num_refs * i / num_reads);
		read->end = (uint32_t) (slot->num_refs * (i + 1) / num_reads);
		if ((read->batch = mgpu_table_add_batch(run)) == NULL)
			return false;
	}
	return true;
}

static bool
are_pages(uint64_t bytes)
{
	return bytes % sizeof(mgpu_page_ref) == 0 && bytes <= MGPU_BATCH_PAGES * sizeof(mgpu_page_ref);
}

/* Whether a batch has places for all values; where these are, is looked at as they are read. */
static bool
are_rows(const mgpu_run *run, const mgpu_table_slot *slot, uint64_t bytes)
{
	const mgpu_row_batch *rows = (const mgpu_row_batch *) slot->memory;

	return bytes == 0 || (bytes >= sizeof(*rows) && bytes <= run->slot_bytes && rows->num_inputs == run->spec.num_inputs &&
						  (bytes - sizeof(*rows)) / sizeof(uint32_t) >= (uint64_t) rows->num_inputs * rows->num_rows);
}

mgpu_status
mgpu_table_input_commit(mgpu_run *run, mgpu_channel channel, uint64_t bytes, mgpu_error *err)
{
	mgpu_table_slot *slot = &run->slots[run->num_committed % run->num_slots];

	if (!run->slot_is_out || !(run->spec.takes_rows ? are_rows(run, slot, bytes) : are_pages(bytes)))
		return mgpu_fail(err, MGPU_BAD_JOB, "a batch of %llu bytes", (unsigned long long) bytes);
	run->slot_is_out = false;
	if (bytes == 0)
		return MGPU_OK;
	slot->num_refs = run->spec.takes_rows ? ((const mgpu_row_batch *) slot->memory)->num_rows : (uint32_t) (bytes / sizeof(mgpu_page_ref));
	slot->num_bytes = bytes;
	run->num_committed++;
	if (run->num_reads == 0)
		mgpu_pool_begin_held(run->pool, read_task, run, MOST_TASKS);
	if (!add_reads(run, slot))
		return mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a batch");
	mgpu_pool_release(run->pool, run->num_reads);
	return MGPU_OK;
}

void
mgpu_table_set_builds(mgpu_run *run, const mgpu_group_spec *spec, const char *builds)
{
	run->spec = *spec;
	run->builds = builds;
	if (run->stage != MGPU_TABLE_ADDING)
		return;
	run->stage = MGPU_TABLE_READING;
	run->num_reads = 0;
	atomic_store(&run->num_done, 0);
	mgpu_table_begin_turns(run);
	mgpu_table_free_marks(run);
	if (!mgpu_table_make_marks(run))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
}

/*
 * service/host_slots.c
 *		Runs come and go with the slots of their clients.
 */
#include "core/service/host_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu_threads.h"
#include "core/planner.h"

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

/* What devices do: no job whose rows become several, that compares by a locale, or that names texts. */
static mgpu_status
validate(const host_run *run, mgpu_error *error)
{
	mgpu_status status = mgpu_job_validate(&run->job, error);

	if (status != MGPU_OK || run->job.op != MGPU_OP_GROUP)
		return status;
	status = mgpu_group_validate(&run->group, error);
	return status == MGPU_OK && mgpu_group_needs_threads(&run->group) ? mgpu_fail(error, MGPU_UNSUPPORTED, "a job for CPU threads") : status;
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
	if (run->job.op == MGPU_OP_GROUP)
		run->group = run->slot->group;
	if (validate(run, &error) != MGPU_OK)
	{
		mgpu_host_fail(run, &error);
		return;
	}
	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		run->input_left[i] = mgpu_input_bytes(&run->job, i);
	if (run->job.op == MGPU_OP_GROUP)
		run->input_left[MGPU_CHANNEL_VALUES] = run->group.build_bytes;
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
	{
		run->output_bytes[i] = mgpu_output_bytes(&run->job, i);
		run->output_left += run->output_bytes[i];
	}
	run->predicted_us = (uint64_t) (mgpu_predict_gpu_load_ms(&run->job) * 1000);
	mgpu_host_count_waiting(host, run, 1);
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
		mgpu_host_end_load(run);
		mgpu_host_count_open(run, -1);
	}
	else if (run->phase == MGPU_PHASE_QUEUED && run->predicted_us > 0)
		mgpu_host_count_waiting(host, run, -1);
	mgpu_host_free_extents(run);
	mgpu_host_release_kept(run);
	mgpu_host_set_phase(run, MGPU_PHASE_NONE);
	atomic_store_explicit(&run->slot->device, -1, memory_order_relaxed);
	host->num_ended++;
	host->runs[run->slot_number] = NULL;
	memmove(&host->active[place], &host->active[place + 1], (host->num_active - place - 1) * sizeof(host_run *));
	host->num_active--;
	atomic_store_explicit(&run->slot->state, MGPU_SLOT_FREE, memory_order_release);
	free(run);
}

bool
mgpu_host_look_at_slot(mgpu_host *host, uint32_t slot_number)
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

/* Record the slots that rang.  Whether any did. */
static bool
take_doorbells(mgpu_host *host)
{
	bool		found = false;

	for (uint32_t word = 0; word < mgpu_host_num_words(host); word++)
	{
		if (atomic_load_explicit(&host->service.doorbells[word], memory_order_relaxed) == 0)
			continue;
		host->attention[word] |= atomic_exchange(&host->service.doorbells[word], 0);
		found = true;
	}
	return found;
}

/* Look at those of 64 slots; *waiting: the first one whose messages have to wait, if it is UINT32_MAX. */
static void
look_at_word(mgpu_host *host, uint32_t word, uint64_t mask, uint32_t *waiting)
{
	for (uint64_t bits = host->attention[word] & mask; bits != 0; bits &= bits - 1)
	{
		uint32_t	bit = (uint32_t) __builtin_ctzll(bits);

		if (mgpu_host_look_at_slot(host, word * 64 + bit))
			host->attention[word] &= ~(UINT64_C(1) << bit);
		else if (*waiting == UINT32_MAX)
			*waiting = word * 64 + bit;
	}
}

/*
 * Slots that rang, and those whose messages had to wait.  The first of the latter is looked at first the next time: else
 * the slots in front of it would take all the room for uploads again.
 */
bool
mgpu_host_look_at_slots(mgpu_host *host)
{
	bool		found = take_doorbells(host);
	uint32_t	num_words = mgpu_host_num_words(host);
	uint32_t	first = host->first_slot / 64;
	uint64_t	behind = UINT64_MAX << host->first_slot % 64;
	uint32_t	waiting = UINT32_MAX;

	look_at_word(host, first, behind, &waiting);
	for (uint32_t i = 1; i < num_words; i++)
		look_at_word(host, (first + i) % num_words, UINT64_MAX, &waiting);
	look_at_word(host, first, ~behind, &waiting);
	if (waiting != UINT32_MAX)
		host->first_slot = waiting;
	return found;
}

/* Runs whose client has left, and for which no device works any more. */
bool
mgpu_host_remove_closed(mgpu_host *host)
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

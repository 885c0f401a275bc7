/*
 * long_segments.c
 *		Long segments, sorted one at a time with all threads (segments.h).  Each
 *		gets a run of its own, on the threads of the segmented run.
 */
#include "core/cpu/segments.h"

#include <stdlib.h>

void
mgpu_release_long(mgpu_segments *state)
{
	if (state->run == NULL)
		return;
	if (state->run->state != NULL)
		state->run->strategy->release(state->run);
	free(state->run);
	state->run = NULL;
}

/* Open a run for the next long segment, on this run's threads. */
static bool
open_long(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_segments *state = run->state;
	uint32_t	segment = ((const uint32_t *) state->long_segments.data)[state->next_long++];
	uint64_t	begin = run->binding.in_segment_heads[segment];
	mgpu_job	job = run->job;
	mgpu_binding binding = {.in_keys = (const char *) run->keys.data + begin * job.key_width};

	job.num_items = mgpu_segment_end(run, segment) - begin;
	job.num_segments = 0;
	if (job.outputs & MGPU_OUT_KEYS)
		binding.out_keys = (char *) run->binding.out_keys + begin * job.key_width;
	if (job.outputs & MGPU_OUT_INDICES)
		binding.out_indices = run->binding.out_indices + begin;
	if (job.outputs & MGPU_OUT_VALUES)
	{
		binding.in_values = (const char *) run->in[MGPU_CHANNEL_VALUES] + begin * job.value_width;
		binding.out_values = (char *) run->binding.out_values + begin * job.value_width;
	}
	state->long_begin = begin;
	state->run = calloc(1, sizeof(*state->run));
	if (state->run == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for a run");
		return false;
	}
	mgpu_run_plan(state->run, &job, &binding, &run->options, run->num_threads);
	state->run->pool = run->pool;
	state->run->keys = (mgpu_source) {binding.in_keys, run->keys.codec};
	state->run->in[MGPU_CHANNEL_VALUES] = binding.in_values;
	return true;
}

/* A long segment's own run counts indices from its head: add the head. */
static void
shift_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_segments *state = run->state;
	uint32_t   *indices = run->binding.out_indices + state->long_begin;
	uint64_t	num_items = state->run->job.num_items;
	uint64_t	end = num_items - task * run->pass_items < run->pass_items ? num_items : (task + 1) * run->pass_items;

	for (uint64_t i = task * run->pass_items; i < end; i++)
		indices[i] += (uint32_t) state->long_begin;
}

bool
mgpu_advance_long(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_segments *state = run->state;

	for (;;)
	{
		if (state->run == NULL)
		{
			if (state->next_long == atomic_load(&state->num_long) || !open_long(run, status, err))
				return false;
		}
		if (!state->is_shifting && state->run->strategy->advance(state->run, status, err))
		{
			run->phase_open = true;		/* both runs share the pool */
			return true;
		}
		if (*status != MGPU_OK)
			return false;
		if (!state->is_shifting && (run->job.outputs & MGPU_OUT_INDICES))
		{
			state->is_shifting = true;
			run->pass_items = mgpu_pass_items(run, sizeof(uint32_t));
			mgpu_begin_phase(run, shift_task, mgpu_num_tasks(state->run->job.num_items, run->pass_items));
			return true;
		}
		state->is_shifting = false;
		mgpu_release_long(state);
	}
}

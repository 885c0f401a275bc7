/*
 * long_segments.c
 *		Long segments, sorted one at a time with all threads (segments.c).  Each
 *		gets a run of its own, on the threads of the segmented run.
 */
#include "core/cpu/segments_state.h"

/* Open a run for the next long segment, on this run's threads. */
static bool
open_long(mgpu_run *run)
{
	mgpu_segments *state = run->state;
	uint32_t	segment = state->long_segments[state->next_long++];
	uint64_t	begin = run->binding.in_segment_heads[segment];
	mgpu_job	job = run->job;
	mgpu_binding binding = {.in_keys = mgpu_key_at(run, begin)};

	job.num_items = mgpu_segment_end(run, segment) - begin;
	job.num_segments = 0;
	if (job.outputs & MGPU_OUT_KEYS)
		binding.out_keys = mgpu_out_key_at(run, begin);
	if (job.outputs & MGPU_OUT_INDICES)
		binding.out_indices = run->binding.out_indices + begin;
	if (job.outputs & MGPU_OUT_VALUES)
	{
		binding.in_values = (const char *) run->in[MGPU_CHANNEL_VALUES] + begin * job.value_width;
		binding.out_values = (char *) run->binding.out_values + begin * job.value_width;
	}
	state->long_begin = begin;
	run->part = mgpu_run_create(&job, &binding, &run->options, mgpu_array_strategy(&job, run->num_threads),
								run->num_threads);
	if (run->part == NULL)
	{
		mgpu_fail(&run->error, MGPU_HOST_MEMORY, "out of memory for a run");
		return false;
	}
	run->part->pool = run->pool;
	run->part->keys = (mgpu_source) {binding.in_keys, run->keys.codec};
	run->part->in[MGPU_CHANNEL_VALUES] = binding.in_values;
	return true;
}

/* A long segment's own run counts indices from its head: add the head. */
static void
shift_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_segments *state = run->state;
	uint32_t   *indices = run->binding.out_indices + state->long_begin;
	uint64_t	end = mgpu_min((task + 1) * run->pass_items, run->part->job.num_items);

	for (uint64_t i = task * run->pass_items; i < end; i++)
		indices[i] += (uint32_t) state->long_begin;
}

bool
mgpu_advance_long(mgpu_run *run)
{
	mgpu_segments *state = run->state;

	for (;;)
	{
		if (run->part == NULL && (state->next_long == atomic_load(&state->num_long) || !open_long(run)))
			return false;
		if (!state->is_shifting)
		{
			if (mgpu_run_next_phase(run->part))
			{
				run->phase_open = true; /* both runs share the pool */
				return true;
			}
			run->error = run->part->error;
			if (run->error.status != MGPU_OK)
				return false;
			if (run->job.outputs & MGPU_OUT_INDICES)
			{
				state->is_shifting = true;
				run->pass_items = mgpu_pass_items(run, sizeof(uint32_t));
				mgpu_begin_phase(run, shift_task, mgpu_num_tasks(run->part->job.num_items, run->pass_items));
				return true;
			}
		}
		state->is_shifting = false;
		mgpu_run_free(run->part);
		run->part = NULL;
	}
}

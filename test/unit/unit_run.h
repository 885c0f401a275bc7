/*
 * unit_run.h
 *		Runs one job on the CPU executor, from open to release, with bound or streamed
 *		input.
 */
#ifndef MGPU_UNIT_RUN_H
#define MGPU_UNIT_RUN_H

#include "core/cpu_tuning.h"
#include "core/executor.h"
#include "unit_keys.h"

/* Bytes of input that a job takes through a channel. */
static inline uint64_t
unit_channel_bytes(const mgpu_job *job, mgpu_channel channel)
{
	uint64_t	num_b_items = mgpu_job_is_merge(job) || job->op == MGPU_OP_INSERT ? job->num_b_items : 0;
	uint64_t	value_width = job->outputs & MGPU_OUT_VALUES ? job->value_width : 0;

	switch (channel)
	{
		case MGPU_CHANNEL_KEYS:
			return job->num_items * job->key_width;
		case MGPU_CHANNEL_VALUES:
			return job->num_items * value_width;
		case MGPU_CHANNEL_B_KEYS:
			return num_b_items * job->key_width;
		default:
			return num_b_items * value_width;
	}
}

/* Feed a channel in commits of random sizes.  A header overwrites the 4 bytes before each slot meanwhile. */
static inline mgpu_status
unit_feed(mgpu_run *run, mgpu_channel channel, const char *data, uint64_t total, uint32_t width, mgpu_error *err)
{
	uint64_t	done = 0;

	while (done < total)
	{
		void	   *slot;
		uint64_t	slot_bytes;
		uint64_t	bytes;
		uint32_t	before,
					header = 0xDEADBEEF;
		mgpu_status status = mgpu_cpu_executor.input_slot(run, channel, &slot, &slot_bytes, err);

		if (status != MGPU_OK)
			return status;
		UNIT_CHECK(slot_bytes >= width && slot_bytes % width == 0 && slot_bytes <= total - done);
		UNIT_CHECK((uintptr_t) slot % 4 == 0);
		memcpy(&before, (char *) slot - 4, 4);
		memcpy((char *) slot - 4, &header, 4);
		bytes = (1 + unit_random_below(slot_bytes / width)) * width;
		memcpy(slot, data + done, bytes);
		memcpy((char *) slot - 4, &before, 4);
		status = mgpu_cpu_executor.input_commit(run, channel, bytes, err);
		if (status != MGPU_OK)
			return status;
		done += bytes;
	}
	return MGPU_OK;
}

static inline mgpu_status
unit_feed_and_poll(mgpu_run *run, const mgpu_job *job, const void *const *streams, mgpu_error *err)
{
	mgpu_status status = MGPU_OK;

	for (mgpu_channel channel = 0; channel < MGPU_NUM_CHANNELS && status == MGPU_OK; channel++)
		if (streams[channel] != NULL)
			status = unit_feed(run, channel, streams[channel], unit_channel_bytes(job, channel),
							   channel == MGPU_CHANNEL_KEYS || channel == MGPU_CHANNEL_B_KEYS ?
							   job->key_width : job->value_width, err);
	if (status == MGPU_OK)
		status = mgpu_cpu_executor.submit(run, err);
	if (status == MGPU_OK)
		do
			status = mgpu_cpu_executor.poll(run, err);
		while (status == MGPU_PENDING);
	/* a second poll after the end returns the same status */
	if (status == MGPU_OK)
		UNIT_CHECK(mgpu_cpu_executor.poll(run, err) == MGPU_OK);
	return status;
}

/*
 * Run a job.  all binds every input; channels whose bit is set in streamed are fed
 * through slots instead.  stats are filled if the run was opened.
 */
static inline mgpu_status
unit_run_job(const mgpu_job *job, const mgpu_binding *all, unsigned streamed, int num_threads,
			 mgpu_run_stats *stats, mgpu_error *err)
{
	mgpu_binding binding = *all;
	const void **bound[MGPU_NUM_CHANNELS] = {
		&binding.in_keys, &binding.in_values, &binding.in_b_keys, &binding.in_b_values
	};
	const void *streams[MGPU_NUM_CHANNELS] = {NULL};
	mgpu_exec_options options = {.device = -1,.num_threads = num_threads};
	mgpu_run   *run;
	mgpu_status status;

	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
		if (streamed >> channel & 1)
		{
			streams[channel] = *bound[channel];
			*bound[channel] = NULL;
		}
	status = mgpu_cpu_executor.open(job, &binding, &options, &run, err);
	if (status != MGPU_OK)
		return status;
	status = unit_feed_and_poll(run, job, streams, err);
	mgpu_cpu_executor.stats(run, stats);
	mgpu_cpu_executor.release(run);
	return status;
}

#endif							/* MGPU_UNIT_RUN_H */

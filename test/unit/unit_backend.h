/*
 * unit_backend.h
 *		What a backend of unit_service.h does: random jobs, one after the other.
 */
#ifndef MGPU_UNIT_BACKEND_H
#define MGPU_UNIT_BACKEND_H

#include "unit_service.h"

/* One job of one backend. */
typedef struct backend_job
{
	const unit_job *test;
	mgpu_binding binding;
	unsigned	streamed;		/* channels, as bits */
	mgpu_exec_options options;
	char	   *outputs[MGPU_NUM_OUTPUTS];
	mgpu_run   *run;
	mgpu_run_stats stats;
	char	   *held;			/* the slot that the backend fills; NULL: none */
	uint64_t	held_bytes;
	mgpu_error	error;
} backend_job;

/* Instead of a status: the backend dies now. */
#define BACKEND_DIES MGPU_CANCELLED

static inline bool
backend_dies(service_backend *backend)
{
	service_dawdle();
	return backend->calls_left >= 0 && backend->calls_left-- == 0;
}

/* A slot is its client's until it leaves, whatever becomes of the host. */
static inline void
backend_check_held(const backend_job *job)
{
	bool		same = true;

	if (job->held == NULL)
		return;
	memset(job->held, 0x5A, job->held_bytes);
	usleep((unsigned) unit_random_below(2000));
	for (uint64_t i = 0; i < job->held_bytes; i++)
		same &= job->held[i] == 0x5A;
	SERVICE_CHECK(same);
}

/*
 * Leave in the middle of it.  A backend that has lost its memory only leaves the slot.
 * Threads of its copier would have died with it, so it has none.
 */
static inline void
backend_die(service_backend *backend, backend_job *job)
{
	backend->num_deaths++;
	if (unit_random_below(2) == 0)
		backend_check_held(job);
	if (unit_random_below(2) == 0)
	{
		mgpu_client_cancel(job->run);
		SERVICE_CHECK(mgpu_client_poll(job->run, &job->error) == MGPU_CANCELLED);
	}
	if (job->options.num_threads == 1 && unit_random_below(2) == 0)
	{
		mgpu_client_leave(&backend->port);
		service_dawdle();
	}
	mgpu_client_release(job->run);
}

static inline mgpu_status
backend_await_slot(service_backend *backend, backend_job *job, mgpu_channel channel, uint64_t *slot_bytes)
{
	mgpu_status status;
	void	   *slot;

	do
	{
		status = mgpu_client_input_slot(job->run, channel, &slot, slot_bytes, &job->error);
		if ((status == MGPU_OK || status == MGPU_PENDING) && backend_dies(backend))
			return BACKEND_DIES;
	}
	while (status == MGPU_PENDING);
	if (status == MGPU_OK)
	{
		job->held = slot;
		job->held_bytes = *slot_bytes;
	}
	return status;
}

/* Commits of random sizes, and now and then of nothing. */
static inline mgpu_status
backend_feed(service_backend *backend, backend_job *job, mgpu_channel channel, const char *data)
{
	uint32_t	width = mgpu_input_width(&job->test->job, (int) channel);
	uint64_t	total = mgpu_input_bytes(&job->test->job, (int) channel);
	uint64_t	done = 0;

	while (done < total)
	{
		uint64_t	bytes;
		mgpu_status status = backend_await_slot(backend, job, channel, &bytes);

		if (status != MGPU_OK)
			return status;
		SERVICE_CHECK(bytes >= width && bytes % width == 0 && bytes <= total - done);
		if (unit_random_below(4) == 0)
			bytes = unit_random_below(bytes / width + 1) * width;
		memcpy(job->held, data + done, bytes);
		if (backend_dies(backend))
			return BACKEND_DIES;
		status = mgpu_client_input_commit(job->run, channel, bytes, &job->error);
		if (status != MGPU_OK)
			return status;
		job->held = NULL;
		done += bytes;
	}
	return MGPU_OK;
}

static inline mgpu_status
backend_feed_all(service_backend *backend, backend_job *job)
{
	const mgpu_binding *whole = &job->test->binding;
	const void *data[MGPU_NUM_CHANNELS] = {whole->in_keys, whole->in_values, whole->in_b_keys, whole->in_b_values};
	mgpu_status status = MGPU_OK;

	for (int channel = 0; channel < MGPU_NUM_CHANNELS && status == MGPU_OK; channel++)
	{
		if (job->streamed & 1u << channel)
			status = backend_feed(backend, job, (mgpu_channel) channel, data[channel]);
	}
	return status;
}

static inline mgpu_status
backend_finish(service_backend *backend, backend_job *job)
{
	mgpu_status status = mgpu_client_submit(job->run, &job->error);

	if (status != MGPU_OK)
		return status;
	do
	{
		if (backend_dies(backend))
			return BACKEND_DIES;
		status = mgpu_client_poll(job->run, &job->error);
	}
	while (status == MGPU_PENDING);
	if (status == MGPU_OK || status == MGPU_NOT_SORTED)
		mgpu_client_stats(job->run, &job->stats);
	return status;
}

static inline mgpu_status
backend_attempt(service_backend *backend, backend_job *job)
{
	mgpu_status status = mgpu_client_open(&backend->port, &job->test->job, &job->binding, &job->options, &job->run,
										  &job->error);

	job->held = NULL;
	if (status != MGPU_OK)
	{
		SERVICE_CHECK(job->run == NULL);
		return status;
	}
	status = backend_dies(backend) ? BACKEND_DIES : backend_feed_all(backend, job);
	if (status == MGPU_OK)
		status = backend_finish(backend, job);
	if (status == BACKEND_DIES)
	{
		backend_die(backend, job);
		return status;
	}
	if (status == MGPU_DEVICE_FAILED)
		backend_check_held(job);
	mgpu_client_release(job->run);
	return status;
}

/* Some inputs come through slots, and are not bound. */
static inline void
backend_prepare(backend_job *job, const unit_job *test)
{
	const void **inputs[MGPU_NUM_CHANNELS] = {
		&job->binding.in_keys, &job->binding.in_values, &job->binding.in_b_keys, &job->binding.in_b_values
	};

	memset(job, 0, sizeof(*job));
	job->test = test;
	job->binding = test->binding;
	job->streamed = unit_random_below(2) == 0 ? 0 : (unsigned) unit_random_below(1u << MGPU_NUM_CHANNELS);
	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		if (job->streamed & 1u << channel)
			*inputs[channel] = NULL;
	}
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
	{
		if (test->outputs[i] != NULL)
			job->outputs[i] = unit_allocate(mgpu_output_bytes(&test->job, (mgpu_output) i));
	}
	job->binding.out_keys = job->outputs[MGPU_OUTPUT_KEYS];
	job->binding.out_indices = (uint32_t *) job->outputs[MGPU_OUTPUT_INDICES];
	job->binding.out_values = job->outputs[MGPU_OUTPUT_VALUES];
	job->options = (mgpu_exec_options) {.device = -1,.num_threads = 1 + (int) unit_random_below(3)};
}

static inline void
backend_discard(backend_job *job)
{
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		free(job->outputs[i]);
}

static inline void
backend_compare(service_backend *backend, const backend_job *job, mgpu_status status)
{
	const unit_job *test = job->test;

	backend->num_answers++;
	if (status != test->status && status != MGPU_OK)
		fprintf(stderr, "status %d: %s\n", (int) status, job->error.message);
	SERVICE_CHECK(status == test->status);
	if (status == MGPU_NOT_SORTED)
		SERVICE_CHECK(job->stats.unsorted_input == test->stats.unsorted_input &&
					  job->stats.unsorted_position == test->stats.unsorted_position);
	if (status != MGPU_OK || test->status != MGPU_OK)
		return;
	SERVICE_CHECK(job->stats.algorithm == test->stats.algorithm);
	SERVICE_CHECK(job->stats.num_threads >= 1 && job->stats.num_threads <= job->options.num_threads);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
	{
		if (test->outputs[i] != NULL)
			SERVICE_CHECK(memcmp(job->outputs[i], test->outputs[i],
								 mgpu_output_bytes(&test->job, (mgpu_output) i)) == 0);
	}
}

/* Bytes of inputs and outputs, which is what played devices count. */
static inline uint64_t
backend_device_bytes(const mgpu_job *job)
{
	uint64_t	bytes = 0;

	for (int i = 0; i < MGPU_NUM_INPUTS; i++)
		bytes += mgpu_input_bytes(job, i);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		bytes += mgpu_output_bytes(job, (mgpu_output) i);
	return bytes;
}

/* Whether to try again: the slot's last run still ends, or a host has just ended. */
static inline bool
backend_retries(const service_backend *backend, const backend_job *job, mgpu_status status)
{
	const service_options *options = &backend->model->options;

	if (status == MGPU_DEVICE_FAILED)
		return options->sticky > 0 || options->host_deaths > 0;
	return status == MGPU_BUSY && job->run == NULL;
}

/* Run one job until it has an answer, or the backend dies of it. */
static inline void
backend_run(service_backend *backend, const unit_job *test)
{
	const service_options *options = &backend->model->options;
	backend_job job;
	mgpu_status status;

	backend_prepare(&job, test);
	backend->calls_left = options->deaths > 0 && unit_random_below((uint64_t) options->deaths) == 0 ?
		(int) unit_random_below(1 + unit_random_below(60)) : -1;
	if (options->sticky > 0 && unit_random_below((uint64_t) options->sticky) == 0)
		job.options.inject_fault = MGPU_FAULT_DEVICE_STICKY;
	while (backend_retries(backend, &job, status = backend_attempt(backend, &job)))
	{
		if (status == MGPU_DEVICE_FAILED)
			job.options.inject_fault = MGPU_FAULT_NONE;
		backend->num_retries++;
		usleep(200);
	}
	if (status == BACKEND_DIES)
		;
	else if (options->num_pins < 0)
		SERVICE_CHECK(status == MGPU_DEVICE_MEMORY);
	else if (options->device_bytes > 0 && backend_device_bytes(&test->job) > options->device_bytes)
		SERVICE_CHECK(status == MGPU_DEVICE_MEMORY);
	else
		backend_compare(backend, &job, status);
	backend_discard(&job);
}

static inline void
backend_run_all(service_backend *backend)
{
	for (int i = 0; i < backend->model->options.num_jobs; i++)
		backend_run(backend, &service_jobs[unit_random_below(SERVICE_NUM_JOBS)]);
}

#endif							/* MGPU_UNIT_BACKEND_H */

/*
 * core_service_local.c
 *		mgpu_cuda_executor, whose host and clients are one thread, with played devices.
 */
#include "played/played_engine.h"
#include "unit_jobs.h"

static const mgpu_executor *const executor = &mgpu_cuda_executor;

#define NUM_JOBS 250
static unit_job jobs[NUM_JOBS];

/* A run that is moved on a little at a time, so that several go side by side. */
typedef struct local_run
{
	const unit_job *test;
	mgpu_binding binding;
	mgpu_exec_options options;
	unsigned	streamed;		/* channels, as bits, until all their input is in */
	uint64_t	fed[MGPU_NUM_CHANNELS];
	bool		submitted;
	char	   *outputs[MGPU_NUM_OUTPUTS];
	mgpu_run   *run;
	mgpu_error	error;
} local_run;

static const void *
channel_data(const mgpu_binding *binding, int channel)
{
	const void *data[MGPU_NUM_CHANNELS] = {binding->in_keys, binding->in_values, binding->in_b_keys, binding->in_b_values};

	return data[channel];
}

static void
prepare(local_run *run, const unit_job *test)
{
	memset(run, 0, sizeof(*run));
	run->test = test;
	run->binding = test->binding;
	run->options = (mgpu_exec_options) {.device = -1,.num_threads = 1 + (int) unit_random_below(3)};
	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		if (mgpu_input_bytes(&test->job, channel) > 0 && unit_random_below(2) == 0)
			run->streamed |= 1u << channel;
	}
	run->binding.in_keys = run->streamed & 1 ? NULL : test->binding.in_keys;
	run->binding.in_values = run->streamed & 2 ? NULL : test->binding.in_values;
	run->binding.in_b_keys = run->streamed & 4 ? NULL : test->binding.in_b_keys;
	run->binding.in_b_values = run->streamed & 8 ? NULL : test->binding.in_b_values;
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
	{
		if (test->outputs[i] != NULL)
			run->outputs[i] = unit_allocate(mgpu_output_bytes(&test->job, (mgpu_output) i));
	}
	run->binding.out_keys = run->outputs[MGPU_OUTPUT_KEYS];
	run->binding.out_indices = (uint32_t *) run->outputs[MGPU_OUTPUT_INDICES];
	run->binding.out_values = run->outputs[MGPU_OUTPUT_VALUES];
}

static mgpu_status
open_run(local_run *run)
{
	mgpu_status status = executor->open(&run->test->job, &run->binding, &run->options, &run->run, &run->error);

	UNIT_CHECK((status == MGPU_OK) == (run->run != NULL));
	return status;
}

static void
discard(local_run *run)
{
	executor->release(run->run);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		free(run->outputs[i]);
}

static mgpu_status
feed(local_run *run, int channel)
{
	uint64_t	total = mgpu_input_bytes(&run->test->job, channel);
	uint32_t	width = mgpu_input_width(&run->test->job, channel);
	const char *data = channel_data(&run->test->binding, channel);
	uint64_t	bytes;
	void	   *slot;
	mgpu_status status = executor->input_slot(run->run, (mgpu_channel) channel, &slot, &bytes, &run->error);

	if (status != MGPU_OK)
		return status;
	UNIT_CHECK(bytes >= width && bytes % width == 0 && bytes <= total - run->fed[channel]);
	if (unit_random_below(3) == 0)
		bytes = unit_random_below(bytes / width + 1) * width;
	memcpy(slot, data + run->fed[channel], bytes);
	status = executor->input_commit(run->run, (mgpu_channel) channel, bytes, &run->error);
	run->fed[channel] += bytes;
	if (run->fed[channel] == total)
		run->streamed &= ~(1u << channel);
	return status == MGPU_OK ? MGPU_PENDING : status;
}

/* One call. */
static mgpu_status
move_on(local_run *run)
{
	mgpu_status status;

	if (run->streamed != 0)
		return feed(run, __builtin_ctz(run->streamed));
	if (run->submitted)
		return executor->poll(run->run, &run->error);
	run->submitted = true;
	status = executor->submit(run->run, &run->error);
	return status == MGPU_OK ? MGPU_PENDING : status;
}

static mgpu_status
finish(local_run *run)
{
	mgpu_status status;

	do
		status = move_on(run);
	while (status == MGPU_PENDING);
	return status;
}

static void
compare(const local_run *run, mgpu_status status)
{
	const unit_job *test = run->test;
	mgpu_run_stats stats;

	UNIT_CHECK(status == test->status);
	if (status != test->status)
		return;
	executor->stats(run->run, &stats);
	UNIT_CHECK(status == MGPU_OK || (stats.unsorted_input == test->stats.unsorted_input &&
									 stats.unsorted_position == test->stats.unsorted_position));
	for (int i = 0; i < MGPU_NUM_OUTPUTS && status == MGPU_OK; i++)
	{
		if (test->outputs[i] != NULL)
			UNIT_CHECK(memcmp(run->outputs[i], test->outputs[i], mgpu_output_bytes(&test->job, (mgpu_output) i)) == 0);
	}
}

static const unit_job *
any_job(void)
{
	return &jobs[unit_random_below(NUM_JOBS)];
}

static mgpu_status
open_with(local_run *run, mgpu_fault fault, int device, uint64_t limit)
{
	prepare(run, &jobs[0]);
	run->options.inject_fault = (int) fault;
	run->options.device = device;
	run->options.device_memory_limit = limit;
	return open_run(run);
}

/* The executor works, and nothing is left of other runs. */
static void
check_health(void)
{
	local_run	run;

	prepare(&run, any_job());
	UNIT_CHECK(open_run(&run) == MGPU_OK);
	compare(&run, finish(&run));
	discard(&run);
	for (int device = 0; device < 2; device++)
		UNIT_CHECK(mgpu_played_used_bytes(device) == 0);
}

static void
test_devices(void)
{
	mgpu_device facts;
	mgpu_error	error;
	int			count;

	UNIT_CONTEXT("devices");
	UNIT_CHECK(strcmp(executor->name, "gpu") == 0 && mgpu_engine_is_built());
	UNIT_CHECK(!executor->is_warm());
	UNIT_CHECK(executor->num_devices(&count, &error) == MGPU_OK && count == 2);
	UNIT_CHECK(executor->describe(1, &facts, &error) == MGPU_OK && facts.ordinal == 1);
	UNIT_CHECK(executor->describe(2, &facts, &error) == MGPU_NO_DEVICE);
	check_health();
	UNIT_CHECK(executor->is_warm());
	executor->release(NULL);
}

static void
test_answers(void)
{
	for (int i = 0; i < NUM_JOBS; i++)
	{
		local_run	run;

		UNIT_CONTEXT("job %d", i);
		prepare(&run, &jobs[i]);
		run.options.device = (int) unit_random_below(3) - 1;
		UNIT_CHECK(open_run(&run) == MGPU_OK);
		compare(&run, finish(&run));
		discard(&run);
	}
	check_health();
}

static void
test_cancel(void)
{
	for (int i = 0; i < 1000; i++)
	{
		uint64_t	calls = unit_random_below(1 + unit_random_below(100));
		mgpu_status status = MGPU_PENDING;
		local_run	run;

		UNIT_CONTEXT("cancel %d after %llu calls", i, (unsigned long long) calls);
		prepare(&run, any_job());
		UNIT_CHECK(open_run(&run) == MGPU_OK);
		while (calls-- > 0 && status == MGPU_PENDING)
			status = move_on(&run);
		if (status == MGPU_PENDING && i % 2 == 0)
		{
			executor->cancel(run.run);
			UNIT_CHECK(move_on(&run) == MGPU_CANCELLED);
		}
		discard(&run);
	}
	check_health();
}

/* As many runs as there are slots, and one more. */
static void
test_side_by_side(void)
{
	local_run	runs[5];

	for (int i = 0; i < 50; i++)
	{
		mgpu_status ends[4] = {MGPU_PENDING, MGPU_PENDING, MGPU_PENDING, MGPU_PENDING};

		UNIT_CONTEXT("side by side %d", i);
		for (int j = 0; j < 5; j++)
		{
			prepare(&runs[j], any_job());
			UNIT_CHECK(open_run(&runs[j]) == (j < 4 ? MGPU_OK : MGPU_BUSY));
		}
		while (ends[0] == MGPU_PENDING || ends[1] == MGPU_PENDING || ends[2] == MGPU_PENDING || ends[3] == MGPU_PENDING)
		{
			uint64_t	j = unit_random_below(4);

			if (ends[j] == MGPU_PENDING)
				ends[j] = move_on(&runs[j]);
		}
		for (int j = 0; j < 5; j++)
		{
			if (j < 4)
				compare(&runs[j], ends[j]);
			discard(&runs[j]);
		}
	}
	check_health();
}

static void
test_refusals(void)
{
	unit_job	bad = jobs[0];
	local_run	run;

	UNIT_CONTEXT("refusals");
	UNIT_CHECK(open_with(&run, MGPU_FAULT_HOST_MEMORY, -1, 0) == MGPU_HOST_MEMORY);
	discard(&run);
	UNIT_CHECK(open_with(&run, MGPU_FAULT_DEVICE_MEMORY, -1, 0) == MGPU_DEVICE_MEMORY);
	discard(&run);
	UNIT_CHECK(open_with(&run, MGPU_FAULT_NONE, -1, 10) == MGPU_DEVICE_MEMORY);
	discard(&run);
	UNIT_CHECK(open_with(&run, MGPU_FAULT_NONE, 2, 0) == MGPU_NO_DEVICE);
	discard(&run);
	bad.job.op = 99;
	prepare(&run, &jobs[0]);
	run.test = &bad;
	UNIT_CHECK(open_run(&run) == MGPU_BAD_JOB);
	discard(&run);
	check_health();
}

/* All runs fail, and so does each further one until there are new devices. */
static void
test_lost_devices(void)
{
	local_run	runs[3];

	UNIT_CONTEXT("lost devices");
	UNIT_CHECK(open_with(&runs[0], MGPU_FAULT_DEVICE_STICKY, 0, 0) == MGPU_OK);
	UNIT_CHECK(open_with(&runs[1], MGPU_FAULT_NONE, 1, 0) == MGPU_OK);
	UNIT_CHECK(finish(&runs[0]) == MGPU_DEVICE_FAILED);
	UNIT_CHECK(finish(&runs[1]) == MGPU_DEVICE_FAILED);
	UNIT_CHECK(open_with(&runs[2], MGPU_FAULT_NONE, -1, 0) == MGPU_DEVICE_FAILED);
	UNIT_CHECK(!executor->is_warm());
	for (int i = 0; i < 3; i++)
		discard(&runs[i]);
	mgpu_played_reset();
	check_health();
}

int
main(void)
{
	setenv("MGPU_PLAYED_DEVICES", "2", 1);
	do
	{
		unit_job_free(&jobs[0]);
		unit_job_make(&jobs[0], 5000);	/* of more than the limit of test_refusals */
	}
	while (jobs[0].job.num_items < 1000 || jobs[0].status != MGPU_OK);
	for (int i = 1; i < NUM_JOBS; i++)
		unit_job_make(&jobs[i], 60000);
	test_devices();
	test_answers();
	test_cancel();
	test_side_by_side();
	test_refusals();
	test_lost_devices();
	test_lost_devices();
	test_answers();
	for (int i = 0; i < NUM_JOBS; i++)
		unit_job_free(&jobs[i]);
	return unit_report();
}

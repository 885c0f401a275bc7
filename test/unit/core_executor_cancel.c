/*
 * core_executor_cancel.c
 *		mgpu_cpu_executor: runs that end early, and calls that it refuses.
 *
 * Runs are cancelled or released at each stage.
 */
#include "unit_sort.h"

static const mgpu_executor *const executor = &mgpu_cpu_executor;

/* A run, and everything that open was given. */
typedef struct test_run
{
	mgpu_run   *run;
	mgpu_job	job;
	mgpu_binding binding;
	mgpu_exec_options options;
	unit_sort_data data;
	mgpu_error	err;
} test_run;

/* Make the arguments of open.  Streamed input is not bound. */
static void
make_run(const unit_sort_case *test, test_run *run)
{
	memset(run, 0, sizeof(*run));
	unit_sort_make(test, &run->data);
	run->job = unit_sort_job(test);
	run->binding = unit_sort_bind(test, &run->data);
	run->options.device = -1;
	run->options.num_threads = test->num_threads;
	if (test->streamed)
		run->binding.in_keys = run->binding.in_values = NULL;
}

static mgpu_status
open_run(test_run *run)
{
	return executor->open(&run->job, &run->binding, &run->options, &run->run, &run->err);
}

static mgpu_status
feed_run(const unit_sort_case *test, test_run *run)
{
	mgpu_status status = MGPU_OK;

	if (test->streamed)
		status = unit_feed(run->run, MGPU_CHANNEL_KEYS, run->data.keys, test->num_items * test->type->width,
						   test->type->width, &run->err);
	if (test->streamed && status == MGPU_OK && test->outputs & MGPU_OUT_VALUES)
		status = unit_feed(run->run, MGPU_CHANNEL_VALUES, run->data.values, test->num_items * test->value_width,
						   test->value_width, &run->err);
	return status;
}

/* ---- runs that are stopped */

static void
start_case(const unit_sort_case *test, test_run *run)
{
	unit_sort_describe(test);
	make_run(test, run);
	UNIT_CHECK(open_run(run) == MGPU_OK);
}

static void
end_case(test_run *run)
{
	executor->release(run->run);
	unit_sort_free(&run->data);
}

/* Stop a run at a stage.  No memory (found by ASan) and no thread may be left. */
static void
cancel_case(const unit_sort_case *test, int stage)
{
	test_run	run;

	start_case(test, &run);
	if (stage >= 1)
		UNIT_CHECK(feed_run(test, &run) == MGPU_OK);
	if (stage >= 2)
		UNIT_CHECK(executor->submit(run.run, &run.err) == MGPU_OK);
	for (int i = 3; i <= stage && executor->poll(run.run, &run.err) == MGPU_PENDING; i++)
		;
	if (stage % 2 == 0)
		executor->cancel(run.run);
	if (stage == 2)
	{
		UNIT_CHECK(executor->poll(run.run, &run.err) == MGPU_CANCELLED);
		UNIT_CHECK(run.err.status == MGPU_CANCELLED);
	}
	end_case(&run);
}

/* Cancel a run that streams keys.  A call that would wait for a free slot returns MGPU_CANCELLED. */
static void
cancel_stream_case(const unit_sort_case *test, uint64_t num_fed)
{
	mgpu_status status = MGPU_OK;
	test_run	run;

	start_case(test, &run);
	for (uint64_t i = 0; status == MGPU_OK; i++)
	{
		void	   *slot;
		uint64_t	slot_bytes;

		if (i == num_fed)
			executor->cancel(run.run);
		status = executor->input_slot(run.run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &run.err);
		if (status != MGPU_OK)
			break;
		memset(slot, 0x55, slot_bytes);
		status = executor->input_commit(run.run, MGPU_CHANNEL_KEYS, slot_bytes, &run.err);
	}
	/* BAD_JOB: all keys fitted into the free slots, so that no call had to wait */
	UNIT_CHECK(status == MGPU_CANCELLED || status == MGPU_BAD_JOB);
	executor->cancel(run.run);
	if (status == MGPU_BAD_JOB)
		UNIT_CHECK(executor->submit(run.run, &run.err) == MGPU_OK &&
				   executor->poll(run.run, &run.err) == MGPU_CANCELLED);
	end_case(&run);
}

static void
test_cancel(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	/* polls so short that each works on about one task */
	mgpu_cpu_tunables.poll_ms = 1;
	for (int i = 0; i < 400; i++)
	{
		unit_sort_case test = unit_sort_random(20000);

		cancel_case(&test, i % 12);
		test.op = MGPU_OP_SORT;
		test.outputs = MGPU_OUT_KEYS;
		test.streamed = true;
		test.algorithm = i % 2 ? MGPU_ALGORITHM_LOCALITY : MGPU_ALGORITHM_MERGE;
		cancel_stream_case(&test, unit_random_below(30));
	}
	mgpu_cpu_tunables = before;
}

/* ---- calls that are refused */

static bool
open_refuses(test_run *run, mgpu_status status)
{
	return open_run(run) == status && run->run == NULL;
}

static void
test_refused_jobs(const unit_sort_case *test)
{
	test_run	run;
	mgpu_binding whole;

	make_run(test, &run);
	whole = run.binding;
	run.job.op = 99;
	UNIT_CHECK(open_refuses(&run, MGPU_BAD_JOB));
	run.job = unit_sort_job(test);
	run.binding.out_keys = NULL;
	UNIT_CHECK(open_refuses(&run, MGPU_BAD_JOB));
	run.binding = whole;
	run.binding.out_indices = NULL;
	UNIT_CHECK(open_refuses(&run, MGPU_BAD_JOB));
	run.binding = whole;
	run.binding.out_values = NULL;
	UNIT_CHECK(open_refuses(&run, MGPU_BAD_JOB));
	run.binding = whole;
	run.options.inject_fault = MGPU_FAULT_HOST_MEMORY;
	UNIT_CHECK(open_refuses(&run, MGPU_HOST_MEMORY));
	/* a fault that the CPU executor ignores */
	run.options.inject_fault = MGPU_FAULT_DEVICE_MEMORY;
	UNIT_CHECK(open_run(&run) == MGPU_OK);
	end_case(&run);
}

/* Before its input is complete, a run accepts only commits of whole items. */
static void
test_refused_early(const unit_sort_case *test)
{
	uint32_t	width = test->type->width;
	test_run	run;
	void	   *slot;
	uint64_t	slot_bytes;

	make_run(test, &run);
	UNIT_CHECK(open_run(&run) == MGPU_OK);
	UNIT_CHECK(executor->poll(run.run, &run.err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->submit(run.run, &run.err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->input_slot(run.run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &run.err) == MGPU_OK);
	UNIT_CHECK(executor->input_commit(run.run, MGPU_CHANNEL_KEYS, slot_bytes + width, &run.err) == MGPU_BAD_JOB);
	if (width > 1)
		UNIT_CHECK(executor->input_commit(run.run, MGPU_CHANNEL_KEYS, 1, &run.err) == MGPU_BAD_JOB);
	end_case(&run);
}

static void
test_refused_late(const unit_sort_case *test)
{
	test_run	run;
	void	   *slot;
	uint64_t	slot_bytes;

	make_run(test, &run);
	UNIT_CHECK(open_run(&run) == MGPU_OK);
	UNIT_CHECK(feed_run(test, &run) == MGPU_OK);
	UNIT_CHECK(executor->input_slot(run.run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &run.err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->input_slot(run.run, MGPU_CHANNEL_B_KEYS, &slot, &slot_bytes, &run.err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->input_commit(run.run, MGPU_CHANNEL_B_VALUES, 0, &run.err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->submit(run.run, &run.err) == MGPU_OK);
	UNIT_CHECK(executor->submit(run.run, &run.err) == MGPU_BAD_JOB);
	end_case(&run);
}

static void
test_refusals(void)
{
	unit_sort_case test = unit_sort_random(1000);

	test.op = MGPU_OP_SORT_PAIRS;
	test.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES;
	test.streamed = true;
	UNIT_CONTEXT("%s", "refusals");
	test_refused_jobs(&test);
	test_refused_early(&test);
	test_refused_late(&test);
	executor->release(NULL);
}

int
main(void)
{
	unit_sort_shrink_tunables();
	test_refusals();
	test_cancel();
	return unit_report();
}

/*
 * kernel_test_op_runs.cu
 *		How operations run through the CUDA executor: copies by several threads,
 *		several runs at a time, runs that end early, limits, faults and misuse.
 */
#include "kernel_test_op_jobs.cuh"

#include <dirent.h>

/* ------------------------------------------------------------------ copies */

/* Threads of this process. */
static int
num_tasks(void)
{
	DIR		   *directory = opendir("/proc/self/task");
	int			count = 0;

	if (directory == nullptr)
		return 0;
	while (const struct dirent *entry = readdir(directory))
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

/* A thread that was joined is listed for a moment more. */
static void
check_tasks(int expected)
{
	for (int i = 0; i < 1000 && num_tasks() != expected; i++)
		usleep(1000);
	CHECK(num_tasks() == expected, "%d threads before, %d now", expected, num_tasks());
}

static void
check_copies(const mgpu_job &job, int num_threads, int expected_threads)
{
	uint64_t	bytes = result_items(job) * ((job.outputs & MGPU_OUT_KEYS ? job.key_width : 0) + job.value_width +
											 (job.outputs & MGPU_OUT_INDICES ? 4 : 0));
	op_data		data = check_op(job, whole, "copies", num_threads);

	CHECK(data.stats.num_threads == expected_threads, "%d threads of %d", data.stats.num_threads, num_threads);
	if (!quick)
		printf("download of %.1f MB, %d threads: %.2f ms, %.1f GB/s, slowest poll %.1f ms\n", bytes * 1e-6,
			   data.stats.num_threads, data.stats.download_ms, bytes * 1e-6 / data.stats.download_ms,
			   data.slowest_poll_ms);
}

/* Threads help with whole inputs and outputs that are large, and end with the run. */
static void
test_copies(void)
{
	const key_type int4 = {MGPU_KEY_SIGNED, 4};
	uint64_t	size = quick ? 2500003 : 10000019;
	int			tasks_before = num_tasks();

	/* 8 MB in and out, and two bytes less */
	check_copies(bulk_job(MGPU_OP_REMOVE, 1, 4 << 20, 0), 4, 4);
	check_copies(bulk_job(MGPU_OP_REMOVE, 1, (4 << 20) - 1, 0), 4, 1);
	for (int num_threads = 1; num_threads <= 8; num_threads *= 2)
	{
		check_copies(merge_job(int4, MGPU_OUT_KEYS, 0, size / 2, size / 2, 0), num_threads, std::min(num_threads, 5));
		check_copies(bulk_job(MGPU_OP_INSERT, 16, size / 10, size), num_threads, std::min(num_threads, 5));
	}
	/* outputs one after the other, of lengths that end amid pieces */
	check_copies(merge_job({MGPU_KEY_UNSIGNED, 2}, MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 1, size / 3,
						   size / 2, 1), 4, 4);
	check_network(int4, size, 0, large_slices, 4);
	check_tasks(tasks_before);
}

/* -------------------------------------------------------- several at a time */

#define MOST_RUNS 4				/* of one process at a time */

/* A slot of every channel, as for a caller that fills them in turn. */
static void
hold_slots(mgpu_run *run)
{
	for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
	{
		void	   *slot;
		uint64_t	slot_bytes;
		mgpu_error	err = {};

		CHECK(gpu->input_slot(run, (mgpu_channel) channel, &slot, &slot_bytes, &err) == MGPU_OK, "%s", err.message);
		CHECK(slot_bytes > 0 && slot_bytes % 4 == 0, "a slot of %llu bytes", (unsigned long long) slot_bytes);
	}
}

static void
check_too_many(const mgpu_job &job, const mgpu_binding &binding)
{
	mgpu_run   *run;
	mgpu_error	err = {};

	CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_BUSY && run == nullptr, "%s",
		  err.message);
}

/* Each has slots of its own, whatever the others hold.  They end in another order than they began. */
static void
test_most_runs(void)
{
	mgpu_job	job = merge_job({MGPU_KEY_SIGNED, 4}, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, 800000, 700001, 0);
	mgpu_job	beside = bulk_job(MGPU_OP_REMOVE, 8, 3000000, 5);
	std::vector<op_data> datas;
	mgpu_binding bindings[MOST_RUNS];
	mgpu_run   *runs[MOST_RUNS];
	mgpu_error	err = {};

	for (int i = 0; i < MOST_RUNS; i++)
		datas.emplace_back(job);
	for (int i = 0; i < MOST_RUNS; i++)
	{
		bindings[i] = datas[i].bind(job, large_slices);
		CHECK(gpu->open(&job, &bindings[i], &default_options, &runs[i], &err) == MGPU_OK, "%s", err.message);
		hold_slots(runs[i]);
	}
	check_too_many(job, bindings[0]);
	gpu->release(runs[0]);
	check_op(beside, whole, "beside three others", 4);
	/* an open that failed takes no place */
	CHECK(run_op(job, large_slices, {-1, 1, 1, 0, MGPU_FAULT_NONE}, datas[0], &err) == MGPU_DEVICE_MEMORY, "%s", err.message);
	CHECK(gpu->open(&job, &bindings[0], &default_options, &runs[0], &err) == MGPU_OK, "%s", err.message);
	check_too_many(job, bindings[0]);
	for (int i = 0; i < MOST_RUNS; i++)
	{
		CHECK(feed_all(runs[i], large_slices, datas[i], bindings[i], &err) == MGPU_OK, "%s", err.message);
		CHECK(gpu->submit(runs[i], &err) == MGPU_OK, "%s", err.message);
	}
	for (int i = MOST_RUNS - 1; i >= 0; i--)
	{
		CHECK(poll_to_end(runs[i], &err) == MGPU_OK, "%s", err.message);
		gpu->release(runs[i]);
		check_op_results(job, datas[i], "four runs at a time");
	}
	check_op(beside, whole, "alone again", 4);
	CHECK(used_bytes_now(0) == 0, "four runs left device memory behind");
}

/* ----------------------------------------------------- cancel, limits, faults */

/* Cancel, or release alone, after so many polls. */
static void
end_after(const mgpu_job &job, int num_polls, bool cancel)
{
	op_data		data(job);
	mgpu_binding binding = data.bind(job, large_slices);
	mgpu_exec_options options = with_threads(4);
	mgpu_error	err = {};
	mgpu_run   *run;
	mgpu_status status = gpu->open(&job, &binding, &options, &run, &err);

	CHECK(status == MGPU_OK, "open: %s", err.message);
	if (status != MGPU_OK)
		return;
	if (num_polls >= 0)
		CHECK(feed_all(run, large_slices, data, binding, &err) == MGPU_OK, "feed: %s", err.message);
	if (num_polls >= 1)
		CHECK(gpu->submit(run, &err) == MGPU_OK, "submit: %s", err.message);
	status = MGPU_PENDING;
	for (int i = 1; i < num_polls && status == MGPU_PENDING; i++)
		status = gpu->poll(run, &err);
	CHECK(status == MGPU_PENDING || status == MGPU_OK, "poll: %s", err.message);
	if (cancel)
	{
		gpu->cancel(run);
		CHECK(gpu->poll(run, &err) == MGPU_CANCELLED, "after %d polls", num_polls);
	}
	gpu->release(run);
	CHECK(canary_intact(data.out_keys) && canary_intact(data.out_values), "after %d polls", num_polls);
}

static void
test_early_ends(void)
{
	const mgpu_job jobs[] = {
		merge_job({MGPU_KEY_FLOAT, 8}, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, 1000000, 900001, 0),
		bulk_job(MGPU_OP_INSERT, 8, 2000000, 1000),
		bulk_job(MGPU_OP_REMOVE, 8, 2000000, 1000),
		network_job({MGPU_KEY_SIGNED, 8}, quick ? 1100000 : 4000000, 1)
	};
	int			tasks_before = num_tasks();

	for (int round = 0; round < (quick ? 1 : 2); round++)
	{
		for (const mgpu_job &job : jobs)
		{
			for (int num_polls = -1; num_polls <= 6; num_polls++)
				end_after(job, num_polls, num_polls % 2 == round);
		}
	}
	CHECK(used_bytes_now(0) == 0, "ended runs left device memory behind");
	check_tasks(tasks_before);
	check_op(jobs[0], slices, "after ended runs", 4);
}

static void
test_limits(void)
{
	const mgpu_job jobs[] = {
		merge_job({MGPU_KEY_SIGNED, 4}, MGPU_OUT_KEYS, 0, 5001, 4000, 0),
		merge_job({MGPU_KEY_BYTES, 16}, MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 2, 5001, 4000, 1),
		bulk_job(MGPU_OP_REMOVE, 4, 20000, 3000),
		bulk_job(MGPU_OP_INSERT, 4, 20000, 3000),
		network_job({MGPU_KEY_UNSIGNED, 2}, 20000, 0)
	};
	mgpu_error	err = {};

	for (const mgpu_job &job : jobs)
	{
		mgpu_exec_options options = default_options;
		op_data		data(job);

		options.device_memory_limit = needed_bytes(job, data.bind(job, whole)) - 1;
		CHECK(run_op(job, whole, options, data, &err) == MGPU_DEVICE_MEMORY, "operation %u: %s", job.op, err.message);
		options.device_memory_limit++;
		CHECK(run_op(job, whole, options, data, &err) == MGPU_OK, "operation %u: %s", job.op, err.message);
		if (job.op != MGPU_OP_ODD_EVEN_SORT)
			check_op_results(job, data, "at the limit");
		options.inject_fault = MGPU_FAULT_HOST_MEMORY;
		CHECK(run_op(job, whole, options, data, &err) == MGPU_HOST_MEMORY, "operation %u: %s", job.op, err.message);
		options.inject_fault = MGPU_FAULT_DEVICE_MEMORY;
		CHECK(run_op(job, whole, options, data, &err) == MGPU_DEVICE_MEMORY, "operation %u: %s", job.op, err.message);
	}
}

static void
test_op_misuse(void)
{
	mgpu_job	job = bulk_job(MGPU_OP_REMOVE, 4, 1000, 10);
	op_data		data(job);
	mgpu_binding binding = data.bind(job, slices);
	mgpu_error	err = {};
	mgpu_run   *run = nullptr;
	void	   *slot;
	uint64_t	slot_bytes;

	binding.in_positions = nullptr;
	CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_BAD_JOB && run == nullptr, "no positions");
	job.num_b_items = 0;
	CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_OK, "%s", err.message);
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_BAD_JOB, "keys of a remove");
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_B_VALUES, &slot, &slot_bytes, &err) == MGPU_BAD_JOB, "b of a remove");
	gpu->release(run);
	job = merge_job({MGPU_KEY_SIGNED, 4}, MGPU_OUT_KEYS, 0, 0, 10, 0);
	CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_BAD_JOB && run == nullptr, "no output");
	binding.out_keys = data.out_values.data();
	CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_OK, "%s", err.message);
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_BAD_JOB, "a has no items");
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_B_KEYS, &slot, &slot_bytes, &err) == MGPU_OK && slot_bytes == 40,
		  "a slot of %llu bytes", (unsigned long long) slot_bytes);
	CHECK(gpu->submit(run, &err) == MGPU_BAD_JOB, "submitted without b");
	gpu->release(run);
}

void
test_op_runs(void)
{
	test_copies();
	test_most_runs();
	test_early_ends();
	test_limits();
	test_op_misuse();
}

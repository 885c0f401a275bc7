/*
 * kernel_test_executor.cu
 *		The CUDA executor through its table of functions: sorts, misuse, cancel,
 *		limits and faults.
 */
#include "kernel_test_sort_jobs.cuh"

#include <string>

#include "sort/tuning.cuh"

static const uint32_t output_sets[] = {
	MGPU_OUT_KEYS, MGPU_OUT_INDICES, MGPU_OUT_VALUES, MGPU_OUT_KEYS | MGPU_OUT_VALUES,
	MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES
};

static void
test_all_types(void)
{
	static const uint32_t value_widths[] = {1, 2, 4, 8, 16};
	static const uint64_t sizes[] = {0, 1, 2, 777, 50021};
	static const run_plan whole = {0, false, false};
	static const run_plan slices = {4099, true, true};
	static const run_plan mixed = {1001, true, false};
	unsigned	turn = 0;

	for (const key_type &type : key_types)
	{
		for (uint32_t outputs : output_sets)
		{
			for (uint64_t size : sizes)
			{
				for (uint32_t descending = 0; descending < 2; descending++)
				{
					for (uint32_t algorithm = MGPU_ALGORITHM_AUTO; algorithm <= MGPU_ALGORITHM_LOCALITY; algorithm++)
					{
						mgpu_job	job = make_job(type.kind, type.width, outputs, value_widths[turn % 5], size);

						if (quick && turn++ % 9 != 0)
							continue;
						if (own_only && (algorithm == MGPU_ALGORITHM_AUTO || algorithm == MGPU_ALGORITHM_RADIX))
							continue;
						turn += !quick;
						job.descending = descending;
						job.algorithm = algorithm;
						check_job(job, turn % 3 == 0 ? whole : turn % 3 == 1 ? slices : mixed, "all types");
					}
				}
			}
		}
	}
}

/* Passes count every tile at most once. */
static void
check_passes(const mgpu_run_stats &stats)
{
	for (int pass = 0; pass < stats.num_passes; pass++)
		CHECK(stats.passes[pass].merge_tiles + stats.passes[pass].copy_tiles <= stats.num_tiles,
			  "pass %d: %llu and %llu of %llu tiles", pass, (unsigned long long) stats.passes[pass].merge_tiles,
			  (unsigned long long) stats.passes[pass].copy_tiles, (unsigned long long) stats.num_tiles);
}

/* From a segment an item to one for all, at every mean length between. */
static void
test_segments(void)
{
	static const uint64_t lengths[] = {1, 2, 7, 40, 300, 5000, 60000, UINT64_MAX};
	static const uint64_t sizes[] = {1, 2, 3000, 70001, 500009};
	unsigned	turn = 0;

	for (const key_type &type : key_types)
	{
		for (uint64_t size : sizes)
		{
			for (uint64_t length : lengths)
			{
				mgpu_job	job = make_job(type.kind, type.width, output_sets[turn % 5], 4 << turn % 3, size);
				mgpu_error	err = {};

				if (quick && turn++ % 5 != 0)
					continue;
				turn += !quick;
				job.num_segments = size / length > 0 ? size / length : 1;
				job.descending = turn % 2;
				job.algorithm = turn % 3 == 0 ? MGPU_ALGORITHM_MERGE : turn % 3 == 1 ? MGPU_ALGORITHM_AUTO :
					MGPU_ALGORITHM_LOCALITY;

				run_data	data(job);
				mgpu_status status = run_job(job, {turn % 2 == 0 ? UINT64_C(0) : UINT64_C(3001), true, true}, data, &err);

				CHECK(status == MGPU_OK, "segments: status %d, %s", status, err.message);
				if (status == MGPU_OK)
				{
					check_results(job, data, "segments");
					check_passes(data.stats);
				}
			}
		}
	}
}

/* More than a slot and more than a chunk, in and out. */
static void
test_sizes(void)
{
	static const run_plan plans[] = {{0, false, false}, {300000, true, true}, {UINT64_C(1) << 40, false, true}};
	uint64_t	size = quick ? 300007 : 3000017;

	for (const run_plan &plan : plans)
	{
		check_job(make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, size), plan, "int4");
		check_job(make_job(MGPU_KEY_FLOAT, 8, MGPU_OUT_KEYS, 0, size), plan, "float8");
		check_job(make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, size), plan, "int4 pairs");
		check_job(make_job(MGPU_KEY_BYTES, 16, MGPU_OUT_KEYS, 0, size / 2), plan, "uuid");
		check_job(make_job(MGPU_KEY_SIGNED, 8, MGPU_OUT_INDICES | MGPU_OUT_VALUES, 16, size / 2), plan, "int8 argsort");
	}
}

/* Locality sorts of keys in no order, of a size at which `auto` would probe them. */
static void
test_locality(void)
{
	const uint64_t size = MGPU_PROBE_MIN_ITEMS + 17;
	mgpu_job	jobs[] = {
		make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, size),
		make_job(MGPU_KEY_UNSIGNED, 1, MGPU_OUT_KEYS, 0, size),
		make_job(MGPU_KEY_FLOAT, 8, MGPU_OUT_KEYS, 0, size),
		make_job(MGPU_KEY_SIGNED, 2, MGPU_OUT_KEYS | MGPU_OUT_INDICES, 0, size),
		make_job(MGPU_KEY_SIGNED, 8, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, size),
		make_job(MGPU_KEY_BYTES, 16, MGPU_OUT_KEYS | MGPU_OUT_INDICES, 0, size)
	};

	for (mgpu_job &job : jobs)
	{
		run_data	data(job);
		mgpu_error	err = {};
		mgpu_status status;

		job.algorithm = MGPU_ALGORITHM_LOCALITY;
		status = run_job(job, {0, false, false}, data, &err);
		CHECK(status == MGPU_OK, "locality: status %d, %s", status, err.message);
		if (status != MGPU_OK)
			continue;
		check_results(job, data, "locality");
		check_passes(data.stats);
		CHECK(data.stats.algorithm == MGPU_ALGORITHM_LOCALITY, "locality: algorithm %d", data.stats.algorithm);
		CHECK(data.stats.num_passes > 0, "locality: no pass counted");
	}
}

/* Keys in order, reversed, and in order but for the last one, of a size at which `auto` probes them. */
static void
test_keys_in_order(void)
{
	const uint64_t size = MGPU_PROBE_MIN_ITEMS + 17;
	const mgpu_job jobs[] = {
		make_job(MGPU_KEY_UNSIGNED, 4, MGPU_OUT_KEYS, 0, size),
		make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS | MGPU_OUT_INDICES, 0, size),
		make_job(MGPU_KEY_SIGNED, 8, MGPU_OUT_KEYS, 0, size),
		make_job(MGPU_KEY_UNSIGNED, 8, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, size)
	};

	for (mgpu_job job : jobs)
	{
		for (int order = 0; order < 6; order++)
		{
			run_data	data(job);
			mgpu_error	err = {};
			mgpu_status status;

			job.descending = order % 2;
			for (uint64_t i = 0; i < size; i++)
			{
				uint64_t	key = order / 2 == 0 ? i * 3 : (size - i) * 3;

				if (order / 2 == 2)
					key = i == size - 1 ? size : i * 3;
				memcpy(&data.keys[i * job.key_width], &key, job.key_width);
			}
			status = run_job(job, {0, false, false}, data, &err);
			CHECK(status == MGPU_OK, "keys in order: status %d, %s", status, err.message);
			if (status != MGPU_OK)
				continue;
			check_results(job, data, "keys in order");
			CHECK((data.stats.algorithm == MGPU_ALGORITHM_LOCALITY) == (order / 2 < 2), "keys in order %d: algorithm %d",
				  order, data.stats.algorithm);
		}
	}
}

/* A caller's mistakes are answered, not executed. */
static void
test_misuse(void)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 1000);
	run_data	data(job);
	mgpu_binding binding = data.bind(job, {1000, false, false});
	mgpu_binding unbound = {};
	mgpu_exec_options no_such_device = default_options;
	mgpu_error	err = {};
	mgpu_run   *run = nullptr;
	void	   *slot;
	uint64_t	slot_bytes;

	CHECK(gpu->open(&job, &unbound, &default_options, &run, &err) == MGPU_BAD_JOB && run == nullptr, "no output bound");
	no_such_device.device = 1000;
	CHECK(gpu->open(&job, &binding, &no_such_device, &run, &err) == MGPU_NO_DEVICE && run == nullptr, "device 1000");
	job.key_width = 3;
	CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_BAD_JOB && run == nullptr, "width 3");
	job.key_width = 4;
	REQUIRE_CUDA(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_OK ? cudaSuccess : cudaErrorUnknown);
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_VALUES, &slot, &slot_bytes, &err) == MGPU_BAD_JOB, "no values here");
	CHECK(gpu->input_commit(run, MGPU_CHANNEL_KEYS, 4, &err) == MGPU_BAD_JOB, "commit without a slot");
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_OK && slot_bytes == 4000,
		  "a slot of %llu bytes", (unsigned long long) slot_bytes);
	CHECK(gpu->input_commit(run, MGPU_CHANNEL_KEYS, 6, &err) == MGPU_BAD_JOB, "one and a half items");
	CHECK(gpu->input_commit(run, MGPU_CHANNEL_KEYS, 4004, &err) == MGPU_BAD_JOB, "one item too many");
	CHECK(gpu->submit(run, &err) == MGPU_BAD_JOB, "submitted without input");
	CHECK(gpu->poll(run, &err) == MGPU_BAD_JOB, "polled before submit");
	gpu->release(run);
	gpu->release(nullptr);
	check_job(job, {1000, false, false}, "after misuse");
}

/* stage 0: after open, 1: after a slot, 2: after input, 3: after submit, 4: after a poll */
static void
cancel_at(int stage, uint64_t num_items)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 8, MGPU_OUT_KEYS | MGPU_OUT_INDICES, 0, num_items);
	run_plan	plan = {UINT64_C(1) << 40, false, false};
	run_data	data(job);
	mgpu_binding binding = data.bind(job, plan);
	mgpu_error	err = {};
	mgpu_run   *run;
	void	   *slot;
	uint64_t	slot_bytes;
	mgpu_status status = gpu->open(&job, &binding, &default_options, &run, &err);

	CHECK(status == MGPU_OK, "open: %s", err.message);
	if (status != MGPU_OK)
		return;
	if (stage == 1)
		CHECK(gpu->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_OK, "slot: %s", err.message);
	if (stage >= 2)
		CHECK(feed(run, MGPU_CHANNEL_KEYS, data.keys, 8, plan, &err) == MGPU_OK, "feed: %s", err.message);
	if (stage >= 3)
		CHECK(gpu->submit(run, &err) == MGPU_OK, "submit: %s", err.message);
	if (stage >= 4)
		status = gpu->poll(run, &err);
	gpu->cancel(run);
	CHECK(gpu->poll(run, &err) == MGPU_CANCELLED, "stage %d", stage);
	CHECK(gpu->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_CANCELLED, "stage %d", stage);
	gpu->release(run);
}

static void
test_cancel(void)
{
	for (int stage = 0; stage <= 4; stage++)
	{
		cancel_at(stage, 1000);
		cancel_at(stage, quick ? 100000 : 2000000);
		check_job(make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 5000), {0, false, false}, "after cancel");
	}
	CHECK(used_bytes_now(0) == 0, "cancelled runs left device memory behind");
}

static void
test_memory_limit(void)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 8, 100000);
	mgpu_exec_options options = default_options;
	run_data	data(job);
	mgpu_binding binding = data.bind(job, {0, false, false});
	uint64_t	needed = needed_bytes(job, binding);
	mgpu_error	err = {};
	mgpu_run   *run;

	/* what the pool keeps of a larger run does not count against a smaller one's limit */
	check_job(make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 2000000), {0, false, false}, "fills the pool");
	options.device_memory_limit = needed - 1;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_DEVICE_MEMORY && run == nullptr, "%s", err.message);
	CHECK(std::string(err.message).find(std::to_string(needed)) != std::string::npos &&
		  std::string(err.message).find(std::to_string(needed - 1)) != std::string::npos, "%s", err.message);
	options.device_memory_limit = needed;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_OK, "%s", err.message);
	CHECK(gpu->submit(run, &err) == MGPU_OK && poll_to_end(run, &err) == MGPU_OK, "%s", err.message);
	gpu->release(run);
	check_results(job, data, "at the limit");
	if (clean)
		return;
	/* more than any device has: 44 bytes for each of 2^32 keys */
	job = make_job(MGPU_KEY_BYTES, 16, MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 16, MGPU_MAX_ITEMS);
	options.device_memory_limit = 0;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_BAD_JOB && run == nullptr, "%s", err.message);
	binding.out_keys = binding.out_values = data.out_keys.data();
	binding.out_indices = reinterpret_cast<uint32_t *>(data.out_indices.data());
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_DEVICE_MEMORY && run == nullptr, "%s", err.message);
	check_job(make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 5000), {0, false, false}, "after a refusal");
}

static void
test_faults_at_open(void)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 1000);
	mgpu_exec_options options = default_options;
	run_data	data(job);
	mgpu_binding binding = data.bind(job, {0, false, false});
	mgpu_error	err = {};
	mgpu_run   *run;

	options.inject_fault = MGPU_FAULT_HOST_MEMORY;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_HOST_MEMORY && run == nullptr, "%s", err.message);
	options.inject_fault = MGPU_FAULT_DEVICE_MEMORY;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_DEVICE_MEMORY && run == nullptr, "%s", err.message);
	check_job(job, {0, false, false}, "after injected faults");
}

/* Many runs one after another, and several at a time. */
static void
test_many_runs(void)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 3000);
	run_plan	plan = {1000, false, false};
	run_data	first(job);
	run_data	second(job);
	mgpu_binding bindings[2] = {first.bind(job, plan), second.bind(job, plan)};
	mgpu_run   *runs[2];
	mgpu_error	err = {};

	for (int i = 0; i < (quick ? 20 : 500); i++)
	{
		mgpu_job	varied = job;

		varied.num_items = random_bits() % 20000;
		check_job(varied, plan, "many runs");
	}
	CHECK(used_bytes_now(0) == 0, "runs left device memory behind");
	for (int i = 0; i < 2; i++)
		CHECK(gpu->open(&job, &bindings[i], &default_options, &runs[i], &err) == MGPU_OK, "%s", err.message);
	CHECK(feed(runs[0], MGPU_CHANNEL_KEYS, first.keys, 4, plan, &err) == MGPU_OK, "%s", err.message);
	CHECK(feed(runs[1], MGPU_CHANNEL_KEYS, second.keys, 4, plan, &err) == MGPU_OK, "%s", err.message);
	for (int i = 1; i >= 0; i--)
		CHECK(gpu->submit(runs[i], &err) == MGPU_OK && poll_to_end(runs[i], &err) == MGPU_OK, "%s", err.message);
	for (int i = 0; i < 2; i++)
		gpu->release(runs[i]);
	check_results(job, first, "two runs at a time");
	check_results(job, second, "two runs at a time");
	CHECK(used_bytes_now(0) == 0, "two runs left device memory behind");
}

static void
test_device_facts(void)
{
	mgpu_error	err = {};
	mgpu_device facts = {};
	int			count = 0;

	CHECK(gpu->num_devices(&count, &err) == MGPU_OK && count >= 1, "%s", err.message);
	CHECK(gpu->describe(0, &facts, &err) == MGPU_OK, "%s", err.message);
	CHECK(gpu->is_warm(), "not warm after describe");
	CHECK(facts.name[0] != '\0' && facts.compute_major >= 7 && facts.memory_total_bytes > 0 &&
		  facts.memory_free_bytes <= facts.memory_total_bytes, "%s", facts.name);
	CHECK(gpu->describe(count, &facts, &err) == MGPU_NO_DEVICE, "device %d", count);
	printf("device 0: %s, compute capability %d.%d, %llu MB, link \"%s\"\n", facts.name, facts.compute_major,
		   facts.compute_minor, (unsigned long long) (facts.memory_total_bytes >> 20), facts.link);
}

void
test_executor(void)
{
	test_device_facts();
	test_all_types();
	test_segments();
	test_sizes();
	if (!quick)
	{
		test_locality();
		test_keys_in_order();
	}
	test_misuse();
	test_cancel();
	test_memory_limit();
	test_faults_at_open();
	test_many_runs();
}

void
test_sticky_failure(void)
{
	mgpu_job	job = make_job(MGPU_KEY_SIGNED, 4, MGPU_OUT_KEYS, 0, 1000);
	mgpu_exec_options options = default_options;
	run_data	data(job);
	mgpu_binding binding = data.bind(job, {0, false, false});
	mgpu_device facts;
	mgpu_error	err = {};
	mgpu_run   *run;
	mgpu_run   *bystander;
	int			count;

	CHECK(gpu->open(&job, &binding, &options, &bystander, &err) == MGPU_OK, "%s", err.message);
	options.inject_fault = MGPU_FAULT_DEVICE_STICKY;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_OK, "%s", err.message);
	CHECK(gpu->submit(run, &err) == MGPU_OK, "%s", err.message);
	CHECK(poll_to_end(run, &err) == MGPU_DEVICE_FAILED, "%s", err.message);
	printf("injected: %s\n", err.message);
	gpu->release(run);
	CHECK(gpu->submit(bystander, &err) == MGPU_DEVICE_FAILED, "%s", err.message);
	gpu->release(bystander);
	options.inject_fault = MGPU_FAULT_NONE;
	CHECK(gpu->open(&job, &binding, &options, &run, &err) == MGPU_DEVICE_FAILED && run == nullptr, "%s", err.message);
	printf("later: %s\n", err.message);
	CHECK(gpu->num_devices(&count, &err) == MGPU_DEVICE_FAILED && count == 0, "%s", err.message);
	CHECK(gpu->describe(0, &facts, &err) == MGPU_DEVICE_FAILED, "%s", err.message);
	CHECK(!gpu->is_warm(), "warm with a lost context");
}

/*
 * core_executor.c
 *		mgpu_cpu_executor against qsort: every key type, output, algorithm and
 *		distribution, around the sizes where strategies change.
 *
 * The tunables are shrunk so that a few thousand items take the ways of many
 * millions: several chunks, buckets, runs and tasks.
 */
#include "core/cpu_chunks.h"
#include "core/executor.h"
#include "unit_keys.h"

static const mgpu_executor *const executor = &mgpu_cpu_executor;

/* One call, what goes with it, and how the input is handed over. */
typedef struct test_case
{
	const unit_type *type;
	unit_shape	shape;
	uint32_t	op;
	uint32_t	outputs;
	uint32_t	value_width;
	uint32_t	descending;
	uint32_t	algorithm;
	uint64_t	num_items;
	int			num_threads;
	bool		streamed;
} test_case;

/* Memory of exactly the bytes a binding promises, so that ASan sees overruns. */
typedef struct test_data
{
	char	   *keys;
	char	   *values;
	char	   *out_keys;
	char	   *out_values;
	uint32_t   *out_indices;
	unit_code  *order;
} test_data;

static mgpu_job
job_of(const test_case *test)
{
	mgpu_job	job = {0};

	job.op = test->op;
	job.key_kind = test->type->kind;
	job.key_width = test->type->width;
	job.value_width = test->outputs & MGPU_OUT_VALUES ? test->value_width : 0;
	job.outputs = test->outputs;
	job.descending = test->descending;
	job.algorithm = test->algorithm;
	job.num_items = test->num_items;
	return job;
}

static mgpu_exec_options
options_of(const test_case *test)
{
	mgpu_exec_options options = {0};

	options.device = -1;
	options.num_threads = test->num_threads;
	return options;
}

static void
make_data(const test_case *test, test_data *data)
{
	uint64_t	num_items = test->num_items;

	data->keys = unit_allocate(num_items * test->type->width);
	data->values = unit_allocate(num_items * test->value_width);
	data->out_keys = unit_allocate(num_items * test->type->width);
	data->out_values = unit_allocate(num_items * test->value_width);
	data->out_indices = unit_allocate(num_items * sizeof(uint32_t));
	data->order = unit_allocate((num_items + 1) * sizeof(unit_code));
	unit_fill(test->type, test->shape, data->keys, num_items);
	for (uint64_t i = 0; i < num_items * test->value_width; i++)
		data->values[i] = (char) unit_random();
}

static void
free_data(test_data *data)
{
	free(data->keys);
	free(data->values);
	free(data->out_keys);
	free(data->out_values);
	free(data->out_indices);
	free(data->order);
}

static mgpu_binding
bind(const test_case *test, const test_data *data)
{
	mgpu_binding binding = {0};

	if (!test->streamed)
	{
		binding.in_keys = data->keys;
		binding.in_values = data->values;
	}
	if (test->outputs & MGPU_OUT_KEYS)
		binding.out_keys = data->out_keys;
	if (test->outputs & MGPU_OUT_INDICES)
		binding.out_indices = data->out_indices;
	if (test->outputs & MGPU_OUT_VALUES)
		binding.out_values = data->out_values;
	return binding;
}

/* Feed a channel in commits of odd lengths, with a header before each slot. */
static mgpu_status
feed(mgpu_run *run, mgpu_channel channel, const char *data, uint64_t total, uint32_t width, mgpu_error *err)
{
	uint64_t	done = 0;

	while (done < total)
	{
		void	   *slot;
		uint64_t	slot_bytes;
		uint64_t	bytes;
		uint32_t	before,
					header = 0xDEADBEEF;
		mgpu_status status = executor->input_slot(run, channel, &slot, &slot_bytes, err);

		if (status != MGPU_OK)
			return status;
		UNIT_CHECK(slot_bytes >= width && slot_bytes % width == 0 && slot_bytes <= total - done);
		UNIT_CHECK((uintptr_t) slot % 4 == 0);
		memcpy(&before, (char *) slot - 4, 4);
		memcpy((char *) slot - 4, &header, 4);
		bytes = (1 + unit_random_below(slot_bytes / width)) * width;
		memcpy(slot, data + done, bytes);
		memcpy((char *) slot - 4, &before, 4);
		status = executor->input_commit(run, channel, bytes, err);
		if (status != MGPU_OK)
			return status;
		done += bytes;
	}
	return MGPU_OK;
}

static mgpu_status
feed_all(mgpu_run *run, const test_case *test, const test_data *data, mgpu_error *err)
{
	mgpu_status status;

	if (!test->streamed)
		return MGPU_OK;
	status = feed(run, MGPU_CHANNEL_KEYS, data->keys, test->num_items * test->type->width,
				  test->type->width, err);
	if (status == MGPU_OK && (test->outputs & MGPU_OUT_VALUES))
		status = feed(run, MGPU_CHANNEL_VALUES, data->values, test->num_items * test->value_width,
					  test->value_width, err);
	return status;
}

static void
check_result(const test_case *test, test_data *data)
{
	uint32_t	width = test->type->width;
	bool		keys_match = true;
	bool		indices_match = true;
	bool		values_match = true;

	unit_order(test->type, data->keys, test->num_items, test->descending, data->order);
	for (uint64_t i = 0; i < test->num_items; i++)
	{
		uint32_t	index = data->order[i].index;
		char		key[16];

		unit_canonical_key(test->type, data->keys, index, key);
		keys_match &= memcmp(data->out_keys + i * width, key, width) == 0;
		indices_match &= data->out_indices[i] == index;
		values_match &= memcmp(data->out_values + i * test->value_width,
							   data->values + (uint64_t) index * test->value_width, test->value_width) == 0;
	}
	UNIT_CHECK(keys_match || (test->outputs & MGPU_OUT_KEYS) == 0);
	UNIT_CHECK(indices_match || (test->outputs & MGPU_OUT_INDICES) == 0);
	UNIT_CHECK(values_match || (test->outputs & MGPU_OUT_VALUES) == 0);
}

typedef enum room
{
	ROOM_ENOUGH,
	ROOM_LACKING,
	ROOM_UNKNOWN				/* depends on how many records change places */
} room;

/*
 * Whether the requested algorithm has room for what it takes beside input and
 * result: two sides for a radix sort; for merges one copy of the records (pairs)
 * and, of units of up to 16 tiles that a late pass changes, a second one; and
 * indices of values that are narrower.
 */
static room
room_of(const test_case *test)
{
	uint64_t	most = mgpu_cpu_tunables.scratch_bytes;
	uint64_t	width = test->type->width;
	bool		is_pairs = test->op == MGPU_OP_SORT_PAIRS;
	uint64_t	record_bytes = !is_pairs ? width : width <= 4 ? 8 : width == 8 ? 16 : 24;
	bool		has_values = (test->outputs & MGPU_OUT_VALUES) != 0;
	bool		own_indices = is_pairs && (test->outputs & MGPU_OUT_INDICES) == 0 &&
		(!has_values || test->value_width < 4);
	uint64_t	index_bytes = own_indices ? test->num_items * 4 : 0;

	if (test->algorithm == MGPU_ALGORITHM_RADIX && (is_pairs || !test->streamed))
		return index_bytes + test->num_items * (is_pairs ? 2 * width + 4 : width) +
			mgpu_chunks_bytes(test->num_items, mgpu_cpu_tunables.pair_chunk_items, 256) > most ?
			ROOM_LACKING : ROOM_ENOUGH;
	if (test->algorithm == MGPU_ALGORITHM_AUTO || test->algorithm == MGPU_ALGORITHM_RADIX ||
		(!is_pairs && test->streamed))
		return ROOM_ENOUGH;
	if (is_pairs && test->num_items * record_bytes + index_bytes > most)
		return ROOM_LACKING;
	/* buffers are padded to whole cache lines */
	return ((is_pairs ? 2 : 1) * test->num_items + 16 * mgpu_cpu_tunables.tile_items) * record_bytes + index_bytes + 256 <= most ?
		ROOM_ENOUGH : ROOM_UNKNOWN;
}

/* Where room lacks, another algorithm takes the requested one's place. */
static void
check_algorithm(const test_case *test, mgpu_algorithm algorithm)
{
	room		available = room_of(test);

	if (test->algorithm == MGPU_ALGORITHM_AUTO || available == ROOM_LACKING)
		UNIT_CHECK(algorithm == MGPU_ALGORITHM_QUICK ||
				   (algorithm == MGPU_ALGORITHM_RADIX && test->op == MGPU_OP_SORT));
	else if (available == ROOM_ENOUGH)
		UNIT_CHECK(algorithm == (mgpu_algorithm) test->algorithm);
	else
		UNIT_CHECK(algorithm == (mgpu_algorithm) test->algorithm || algorithm == MGPU_ALGORITHM_QUICK ||
				   (algorithm == MGPU_ALGORITHM_RADIX && test->op == MGPU_OP_SORT));
}

static void
check_stats(const mgpu_run *run, const test_case *test)
{
	mgpu_run_stats stats;

	executor->stats(run, &stats);
	UNIT_CHECK(stats.num_threads >= 1 && stats.num_threads <= test->num_threads);
	UNIT_CHECK(stats.upload_ms == 0 && stats.download_ms == 0 && stats.kernel_ms >= 0);
	check_algorithm(test, stats.algorithm);
}

static void
describe_case(const test_case *test)
{
	UNIT_CONTEXT("%s %s op %u outputs %u values %u descending %u algorithm %u items %llu threads %d %s",
				 test->type->name, unit_shape_names[test->shape], test->op, test->outputs, test->value_width,
				 test->descending, test->algorithm, (unsigned long long) test->num_items, test->num_threads,
				 test->streamed ? "streamed" : "whole");
}

static void
run_case(const test_case *test)
{
	mgpu_job	job = job_of(test);
	mgpu_exec_options options = options_of(test);
	mgpu_error	err = {MGPU_OK, ""};
	mgpu_run   *run;
	mgpu_status status;
	mgpu_binding binding;
	test_data	data;

	describe_case(test);
	make_data(test, &data);
	binding = bind(test, &data);
	status = executor->open(&job, &binding, &options, &run, &err);
	UNIT_CHECK(status == MGPU_OK);
	if (status == MGPU_OK)
	{
		UNIT_CHECK(feed_all(run, test, &data, &err) == MGPU_OK);
		UNIT_CHECK(executor->submit(run, &err) == MGPU_OK);
		while ((status = executor->poll(run, &err)) == MGPU_PENDING)
			;
		UNIT_CHECK(status == MGPU_OK);
		UNIT_CHECK(executor->poll(run, &err) == MGPU_OK);
		check_stats(run, test);
		executor->release(run);
		check_result(test, &data);
	}
	free_data(&data);
}

/* Small enough for 3,000 items to fill chunks, buckets, runs and tasks. */
static void
shrink_tunables(void)
{
	mgpu_cpu_tunables.slot_bytes = 1024;
	mgpu_cpu_tunables.step_bytes = 4096;
	mgpu_cpu_tunables.threads_min_bytes = 512;
	mgpu_cpu_tunables.direct_bytes = 6000;
	mgpu_cpu_tunables.count_min_items = 600;
	mgpu_cpu_tunables.chunk_bytes = 1024;
	mgpu_cpu_tunables.bucket_bytes = 1200;
	mgpu_cpu_tunables.pair_direct_items = 500;
	mgpu_cpu_tunables.pair_chunk_items = 400;
	mgpu_cpu_tunables.pair_bucket_items = 150;
	mgpu_cpu_tunables.samples_per_bucket = 16;
	mgpu_cpu_tunables.tile_items = 16;
	mgpu_cpu_tunables.tile_chunk_bytes = 512;
}

static test_case
random_case(uint64_t num_items)
{
	static const uint32_t value_widths[] = {1, 2, 4, 8, 16};
	test_case	test;

	test.type = &unit_types[unit_random_below(UNIT_NUM_TYPES)];
	test.shape = (unit_shape) unit_random_below(UNIT_NUM_SHAPES);
	test.op = unit_random_below(3) == 0 ? MGPU_OP_SORT : MGPU_OP_SORT_PAIRS;
	test.outputs = test.op == MGPU_OP_SORT ? MGPU_OUT_KEYS : 1 + (uint32_t) unit_random_below(7);
	test.value_width = value_widths[unit_random_below(5)];
	test.descending = (uint32_t) unit_random_below(2);
	test.algorithm = (uint32_t) unit_random_below(4);
	test.num_items = num_items;
	test.num_threads = 1 << unit_random_below(3);
	test.streamed = unit_random_below(2) == 0;
	return test;
}

/* Each type with each shape, algorithm and operation; the rest at random. */
static void
test_products(void)
{
	static const uint64_t sizes[] = {3, 499, 700, 1500, 3000};

	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (int shape = 0; shape < UNIT_NUM_SHAPES; shape++)
			for (uint32_t algorithm = MGPU_ALGORITHM_AUTO; algorithm <= MGPU_ALGORITHM_LOCALITY; algorithm++)
				for (uint32_t op = MGPU_OP_SORT; op <= MGPU_OP_SORT_PAIRS; op++)
					for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
					{
						test_case	test = random_case(sizes[i]);

						test.type = &unit_types[type];
						test.shape = shape;
						test.algorithm = algorithm;
						test.op = op;
						test.outputs = op == MGPU_OP_SORT ? MGPU_OUT_KEYS : 1 + (uint32_t) unit_random_below(7);
						run_case(&test);
					}
}

/* Every size from 0 up, and those around the thresholds. */
static void
test_sizes(void)
{
	for (uint64_t num_items = 0; num_items <= 300; num_items++)
		for (int i = 0; i < 4; i++)
		{
			test_case	test = random_case(num_items);

			run_case(&test);
		}
	for (int i = 0; i < 3000; i++)
	{
		static const uint64_t thresholds[] = {128, 256, 400, 500, 512, 600, 750, 800, 1024, 1500, 2048, 3000};
		test_case	test = random_case(thresholds[unit_random_below(12)] + unit_random_below(5) - 2);

		run_case(&test);
	}
}

/* No room for what the scatter saves; few planned buckets; tiny polls. */
static void
test_little_scratch(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	mgpu_cpu_tunables.scratch_bytes = 1;
	mgpu_cpu_tunables.pair_max_buckets = 3;
	mgpu_cpu_tunables.max_buckets = 2;
	mgpu_cpu_tunables.poll_ms = 1;
	for (int i = 0; i < 500; i++)
	{
		test_case	test = random_case(600 + unit_random_below(2000));

		test.algorithm = MGPU_ALGORITHM_AUTO;
		run_case(&test);
	}
	/* more buckets than a byte holds */
	mgpu_cpu_tunables.pair_max_buckets = 512;
	mgpu_cpu_tunables.pair_bucket_items = 10;
	mgpu_cpu_tunables.samples_per_bucket = 4;
	for (int i = 0; i < 100; i++)
	{
		test_case	test = random_case(4000);

		test.algorithm = MGPU_ALGORITHM_AUTO;
		test.op = MGPU_OP_SORT_PAIRS;
		run_case(&test);
	}
	mgpu_cpu_tunables = before;
}

/* Pairs whose requested algorithm finds out, before it begins or halfway, that it has no room. */
static void
test_no_room_for_records(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	for (int i = 0; i < 600; i++)
	{
		test_case	test = random_case(600 + unit_random_below(3000));

		mgpu_cpu_tunables.scratch_bytes = 1 + unit_random_below(100000);
		test.op = i % 4 ? MGPU_OP_SORT_PAIRS : MGPU_OP_SORT;
		if (test.op == MGPU_OP_SORT)
			test.outputs = MGPU_OUT_KEYS;
		test.algorithm = (mgpu_algorithm) (MGPU_ALGORITHM_MERGE + unit_random_below(3));
		run_case(&test);
	}
	mgpu_cpu_tunables = before;
}

/* Values that move with their codes: all at once, in groups of buckets, single large ones. */
static void
test_carried_values(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	for (int i = 0; i < 2000; i++)
	{
		test_case	test = random_case(500 + unit_random_below(4000));

		mgpu_cpu_tunables.scratch_bytes = i % 4 == 0 ? before.scratch_bytes : unit_random_below(50000);
		mgpu_cpu_tunables.pair_max_buckets = i % 8 == 1 ? 512 : before.pair_max_buckets;
		test.op = MGPU_OP_SORT_PAIRS;
		test.algorithm = MGPU_ALGORITHM_AUTO;
		test.outputs = i % 2 ? MGPU_OUT_VALUES : MGPU_OUT_VALUES | MGPU_OUT_KEYS;
		test.value_width = i % 3 ? 1 + (uint32_t) unit_random_below(2) : test.value_width;
		run_case(&test);
	}
	mgpu_cpu_tunables = before;
}

/* The shipped tunables, at the sizes where they change course. */
static void
test_shipped_tunables(void)
{
	static const uint64_t sizes[] = {65537, 100000, 1048575, 1048577, 3000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int j = 0; j < (sizes[i] > 1000000 ? 4 : 20); j++)
		{
			test_case	test = random_case(sizes[i]);

			test.algorithm = j % 2 ? test.algorithm : MGPU_ALGORITHM_AUTO;
			run_case(&test);
		}
}

/* Stop a run at each stage; nothing may be left (ASan), no thread alive. */
static void
cancel_case(const test_case *test, int stage)
{
	mgpu_job	job = job_of(test);
	mgpu_exec_options options = options_of(test);
	mgpu_error	err;
	mgpu_run   *run;
	mgpu_binding binding;
	test_data	data;

	describe_case(test);
	make_data(test, &data);
	binding = bind(test, &data);
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_OK);
	if (stage >= 1)
		UNIT_CHECK(feed_all(run, test, &data, &err) == MGPU_OK);
	if (stage >= 2)
		UNIT_CHECK(executor->submit(run, &err) == MGPU_OK);
	for (int i = 3; i <= stage && executor->poll(run, &err) == MGPU_PENDING; i++)
		;
	if (stage % 2 == 0)
	{
		executor->cancel(run);
		if (stage == 2)
		{
			UNIT_CHECK(executor->poll(run, &err) == MGPU_CANCELLED);
			UNIT_CHECK(err.status == MGPU_CANCELLED);
		}
	}
	executor->release(run);
	free_data(&data);
}

/* Keys that tasks take as they come: a cancelled run says so at last, where it would wait for room. */
static void
cancel_stream_case(const test_case *test, uint64_t num_fed)
{
	mgpu_job	job = job_of(test);
	mgpu_exec_options options = options_of(test);
	mgpu_status status = MGPU_OK;
	mgpu_error	err;
	mgpu_run   *run;
	mgpu_binding binding;
	test_data	data;

	describe_case(test);
	make_data(test, &data);
	binding = bind(test, &data);
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_OK);
	for (uint64_t i = 0; status == MGPU_OK; i++)
	{
		void	   *slot;
		uint64_t	slot_bytes;

		if (i == num_fed)
			executor->cancel(run);
		status = executor->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err);
		if (status != MGPU_OK)
			break;
		memset(slot, 0x55, slot_bytes);
		status = executor->input_commit(run, MGPU_CHANNEL_KEYS, slot_bytes, &err);
	}
	/* all keys may have fitted the slots that there were */
	UNIT_CHECK(status == MGPU_CANCELLED || status == MGPU_BAD_JOB);
	executor->cancel(run);
	if (status == MGPU_BAD_JOB)
		UNIT_CHECK(executor->submit(run, &err) == MGPU_OK && executor->poll(run, &err) == MGPU_CANCELLED);
	executor->release(run);
	free_data(&data);
}

static void
test_cancel(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	/* polls that work on hardly one task */
	mgpu_cpu_tunables.poll_ms = 1;
	for (int i = 0; i < 400; i++)
	{
		test_case	test = random_case(20000);

		cancel_case(&test, i % 12);
		test.op = MGPU_OP_SORT;
		test.outputs = MGPU_OUT_KEYS;
		test.streamed = true;
		test.algorithm = i % 2 ? MGPU_ALGORITHM_LOCALITY : MGPU_ALGORITHM_MERGE;
		cancel_stream_case(&test, unit_random_below(30));
	}
	mgpu_cpu_tunables = before;
}

static void
test_refusals(void)
{
	test_case	test = random_case(1000);
	mgpu_job	job;
	mgpu_exec_options options;
	mgpu_binding binding;
	mgpu_error	err;
	mgpu_run   *run = NULL;
	test_data	data;
	void	   *slot;
	uint64_t	slot_bytes;

	test.op = MGPU_OP_SORT_PAIRS;
	test.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES;
	test.streamed = true;
	UNIT_CONTEXT("%s", "refusals");
	make_data(&test, &data);
	job = job_of(&test);
	options = options_of(&test);

	job.op = 99;
	binding = bind(&test, &data);
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_BAD_JOB && run == NULL);
	job = job_of(&test);
	binding.out_keys = NULL;
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_BAD_JOB && run == NULL);
	binding = bind(&test, &data);
	binding.out_indices = NULL;
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_BAD_JOB && run == NULL);
	binding = bind(&test, &data);
	binding.out_values = NULL;
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_BAD_JOB && run == NULL);
	binding = bind(&test, &data);
	options.inject_fault = MGPU_FAULT_HOST_MEMORY;
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_HOST_MEMORY && run == NULL);
	options.inject_fault = MGPU_FAULT_DEVICE_MEMORY;	/* not this executor's */

	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_OK);
	UNIT_CHECK(executor->poll(run, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->submit(run, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_OK);
	UNIT_CHECK(executor->input_commit(run, MGPU_CHANNEL_KEYS, slot_bytes + test.type->width, &err) == MGPU_BAD_JOB);
	if (test.type->width > 1)
		UNIT_CHECK(executor->input_commit(run, MGPU_CHANNEL_KEYS, 1, &err) == MGPU_BAD_JOB);
	executor->release(run);

	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_OK);
	UNIT_CHECK(feed_all(run, &test, &data, &err) == MGPU_OK);
	UNIT_CHECK(executor->input_slot(run, MGPU_CHANNEL_KEYS, &slot, &slot_bytes, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->input_slot(run, MGPU_CHANNEL_B_KEYS, &slot, &slot_bytes, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->input_commit(run, MGPU_CHANNEL_B_VALUES, 0, &err) == MGPU_BAD_JOB);
	UNIT_CHECK(executor->submit(run, &err) == MGPU_OK);
	UNIT_CHECK(executor->submit(run, &err) == MGPU_BAD_JOB);
	executor->release(run);
	executor->release(NULL);
	executor->trim();
	free_data(&data);
}

static void
test_facts(void)
{
	test_case	test = random_case(1000000);
	mgpu_job	job;
	mgpu_exec_options options;
	mgpu_device device;
	mgpu_error	err;
	int			count = 5;

	test.type = &unit_types[5];
	test.op = MGPU_OP_SORT_PAIRS;
	test.outputs = MGPU_OUT_VALUES;
	test.value_width = 8;
	job = job_of(&test);
	options = options_of(&test);
	UNIT_CONTEXT("%s", "facts");
	UNIT_CHECK(strcmp(executor->name, "cpu") == 0);
	UNIT_CHECK(executor->num_devices(&count, &err) == MGPU_OK && count == 0);
	UNIT_CHECK(executor->describe(0, &device, &err) == MGPU_NO_DEVICE);
	UNIT_CHECK(executor->is_warm());
	for (uint32_t algorithm = MGPU_ALGORITHM_AUTO; algorithm <= MGPU_ALGORITHM_LOCALITY; algorithm++)
	{
		job.algorithm = algorithm;
		/* at least the copies of keys and values, and the indices */
		UNIT_CHECK(executor->workspace_bytes(&job, &options) >= job.num_items * (4 + 8 + 4));
		UNIT_CHECK(executor->workspace_bytes(&job, &options) < job.num_items * 64 + (UINT64_C(64) << 20));
	}
}

int
main(void)
{
	mgpu_cpu_tuning shipped = mgpu_cpu_tunables;

	test_facts();
	shrink_tunables();
	test_refusals();
	test_sizes();
	test_products();
	test_little_scratch();
	test_no_room_for_records();
	test_carried_values();
	test_cancel();
	mgpu_cpu_tunables = shipped;
	test_shipped_tunables();
	return unit_report();
}

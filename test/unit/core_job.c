/*
 * core_job.c
 *		mgpu_job_validate with one broken rule at a time, mgpu_fail, and the executor
 *		table of builds without CUDA.
 */
#include "core/executor.h"
#include "unit.h"

static mgpu_job
sort_job(void)
{
	mgpu_job	job = {0};

	job.op = MGPU_OP_SORT;
	job.key_kind = MGPU_KEY_SIGNED;
	job.key_width = 4;
	job.outputs = MGPU_OUT_KEYS;
	job.num_items = 10;
	return job;
}

static mgpu_job
pairs_job(void)
{
	mgpu_job	job = sort_job();

	job.op = MGPU_OP_SORT_PAIRS;
	job.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES;
	job.value_width = 8;
	return job;
}

static mgpu_job
move_job(uint32_t op)
{
	mgpu_job	job = {0};

	job.op = op;
	job.outputs = MGPU_OUT_VALUES;
	job.value_width = 4;
	job.num_items = 10;
	job.num_b_items = 3;
	return job;
}

static bool
is_valid(const mgpu_job *job)
{
	mgpu_error	err = {MGPU_OK, ""};
	mgpu_status status = mgpu_job_validate(job, &err);

	if (status == MGPU_OK)
		return true;
	UNIT_CHECK(status == MGPU_BAD_JOB);
	UNIT_CHECK(err.status == MGPU_BAD_JOB);
	UNIT_CHECK(err.message[0] != '\0');
	UNIT_CHECK(mgpu_job_validate(job, NULL) == MGPU_BAD_JOB);
	return false;
}

static void
test_key_widths(void)
{
	static const char *const allowed[] = {"", "1248", "248", "48", "G"};
	static const char widths[] = " 12 4   8       G";

	for (uint32_t kind = 0; kind <= 5; kind++)
		for (uint32_t width = 0; width <= 17; width++)
		{
			mgpu_job	job = sort_job();
			bool		expected = kind >= 1 && kind <= 4 && width >= 1 && width <= 16 &&
				widths[width] != ' ' && strchr(allowed[kind], widths[width]) != NULL;

			UNIT_CONTEXT("kind %u width %u", kind, width);
			job.key_kind = kind;
			job.key_width = width;
			UNIT_CHECK(is_valid(&job) == expected);
		}
	UNIT_CONTEXT("%s", "");
}

#define CHECK_BROKEN(make, change) \
	do { \
		mgpu_job	job = make; \
		UNIT_CHECK(is_valid(&job)); \
		change; \
		UNIT_CHECK(!is_valid(&job)); \
	} while (0)

static void
test_fields(void)
{
	CHECK_BROKEN(sort_job(), job.op = 0);
	CHECK_BROKEN(sort_job(), job.op = MGPU_OP_ODD_EVEN_SORT + 1);
	CHECK_BROKEN(sort_job(), job.descending = 2);
	CHECK_BROKEN(sort_job(), job.algorithm = MGPU_ALGORITHM_QUICK);
	CHECK_BROKEN(sort_job(), job.algorithm = 99);
	CHECK_BROKEN(sort_job(), job.num_items = MGPU_MAX_ITEMS + 1);
	CHECK_BROKEN(sort_job(), job.num_items = UINT64_MAX);
	CHECK_BROKEN(sort_job(), job.num_b_items = 1);
	CHECK_BROKEN(sort_job(), job.num_segments = 11);
	for (uint32_t algorithm = MGPU_ALGORITHM_AUTO; algorithm <= MGPU_ALGORITHM_LOCALITY; algorithm++)
	{
		mgpu_job	job = sort_job();

		job.algorithm = algorithm;
		job.descending = 1;
		job.num_items = MGPU_MAX_ITEMS;
		job.num_segments = 7;
		UNIT_CHECK(is_valid(&job));
		job.num_items = 0;
		job.num_segments = 0;
		UNIT_CHECK(is_valid(&job));
	}
}

static void
test_outputs(void)
{
	CHECK_BROKEN(sort_job(), job.outputs = 0);
	CHECK_BROKEN(sort_job(), job.outputs = MGPU_OUT_INDICES);
	CHECK_BROKEN(sort_job(), job.outputs |= MGPU_OUT_INDICES);
	CHECK_BROKEN(sort_job(), job.value_width = 4);
	CHECK_BROKEN(pairs_job(), job.outputs = 0);
	CHECK_BROKEN(pairs_job(), job.outputs |= 0x8);
	CHECK_BROKEN(pairs_job(), job.outputs = MGPU_OUT_KEYS);	/* value_width is still set */
	CHECK_BROKEN(pairs_job(), job.value_width = 0);
	for (uint32_t width = 1; width <= 17; width++)
	{
		mgpu_job	job = pairs_job();

		job.value_width = width;
		UNIT_CHECK(is_valid(&job) == (width == 1 || width == 2 || width == 4 || width == 8 || width == 16));
	}
	for (uint32_t outputs = 1; outputs <= 7; outputs++)
	{
		mgpu_job	job = pairs_job();

		job.outputs = outputs;
		job.value_width = outputs & MGPU_OUT_VALUES ? 2 : 0;
		UNIT_CHECK(is_valid(&job));
	}
}

static void
test_two_inputs(void)
{
	mgpu_job	merge = sort_job();
	mgpu_job	merge_pairs = pairs_job();

	merge.op = MGPU_OP_MERGE;
	merge.num_b_items = MGPU_MAX_ITEMS - 10;
	UNIT_CHECK(is_valid(&merge));
	CHECK_BROKEN(merge, job.num_b_items++);
	CHECK_BROKEN(merge, job.num_b_items = UINT64_MAX);
	CHECK_BROKEN(merge, job.outputs = MGPU_OUT_INDICES);
	CHECK_BROKEN(merge, job.num_segments = 1);
	merge_pairs.op = MGPU_OP_MERGE_PAIRS;
	merge_pairs.num_b_items = 5;
	UNIT_CHECK(is_valid(&merge_pairs));
	CHECK_BROKEN(move_job(MGPU_OP_REMOVE), job.num_b_items = 11);
	CHECK_BROKEN(move_job(MGPU_OP_REMOVE), job.outputs = MGPU_OUT_KEYS);
	CHECK_BROKEN(move_job(MGPU_OP_INSERT), job.num_b_items = MGPU_MAX_ITEMS - 9);
	CHECK_BROKEN(move_job(MGPU_OP_INSERT), job.key_kind = MGPU_KEY_SIGNED);
	CHECK_BROKEN(move_job(MGPU_OP_INSERT), job.key_width = 4);
	CHECK_BROKEN(move_job(MGPU_OP_INSERT), job.descending = 1);
	CHECK_BROKEN(move_job(MGPU_OP_INSERT), job.num_segments = 1);
	CHECK_BROKEN(move_job(MGPU_OP_INSERT), job.value_width = 3);
}

static void
test_fail(void)
{
	mgpu_error	err;
	char		long_text[2 * MGPU_ERROR_MESSAGE_BYTES];

	UNIT_CHECK(mgpu_fail(NULL, MGPU_CANCELLED, "%d", 1) == MGPU_CANCELLED);
	UNIT_CHECK(mgpu_fail(&err, MGPU_NO_DEVICE, "device %d", 3) == MGPU_NO_DEVICE);
	UNIT_CHECK(err.status == MGPU_NO_DEVICE && strcmp(err.message, "device 3") == 0);
	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	mgpu_fail(&err, MGPU_BAD_JOB, "%s", long_text);
	UNIT_CHECK(strlen(err.message) == MGPU_ERROR_MESSAGE_BYTES - 1);
}

static void
test_no_cuda(void)
{
	const mgpu_executor *executor = &mgpu_cuda_executor;
	mgpu_job	job = sort_job();
	mgpu_binding binding = {0};
	mgpu_exec_options options = {0};
	mgpu_run   *run = (mgpu_run *) &job;
	mgpu_error	err;
	int			count = 1;

	UNIT_CHECK(strcmp(executor->name, "gpu") == 0);
	UNIT_CHECK(executor->num_devices(&count, &err) == MGPU_NO_DEVICE && count == 0);
	UNIT_CHECK(strcmp(err.message, "this build has no CUDA") == 0);
	UNIT_CHECK(!executor->is_warm());
	UNIT_CHECK(executor->open(&job, &binding, &options, &run, &err) == MGPU_NO_DEVICE && run == NULL);
}

int
main(void)
{
	test_key_widths();
	test_fields();
	test_outputs();
	test_two_inputs();
	test_fail();
	test_no_cuda();
	return unit_report();
}

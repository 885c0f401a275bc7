/*
 * core_planner.c
 *		The planner's rules, one at a time, and the directions of its predictions.
 */
#include <math.h>

#include "core/planner.c"		/* one of its predictions is static */
#include "unit.h"

static mgpu_job
sort_job(uint64_t num_items)
{
	mgpu_job	job = {0};

	job.op = MGPU_OP_SORT;
	job.key_kind = MGPU_KEY_SIGNED;
	job.key_width = 4;
	job.outputs = MGPU_OUT_KEYS;
	job.num_items = num_items;
	return job;
}

static mgpu_plan_input
usable_gpu(void)
{
	mgpu_plan_input input = {0};

	input.requested = MGPU_EXECUTOR_AUTO;
	input.gpu_min_items = -1;
	input.num_threads = 1;
	input.cpu_sort_ns = measured_cpu_sort_ns;
	input.gpu_built = true;
	input.gpu_warm = true;
	return input;
}

static mgpu_plan
plan_of(const mgpu_job *job, const mgpu_plan_input *input)
{
	mgpu_plan	plan;

	memset(&plan, 0xFF, sizeof(plan));
	mgpu_plan_job(job, input, &plan);
	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_CPU || plan.executor == MGPU_EXECUTOR_GPU);
	UNIT_CHECK((plan.reason == NULL) == (plan.executor == MGPU_EXECUTOR_GPU));
	UNIT_CHECK(predict_cpu_ms(job, input->num_threads, input->cpu_sort_ns) >= 0 && mgpu_predict_gpu_ms(job) > 0 &&
			   plan.forgone_ms >= 0);
	return plan;
}

static bool
is_cpu_because(const mgpu_plan *plan, const char *reason)
{
	return plan->executor == MGPU_EXECUTOR_CPU && plan->reason != NULL && strcmp(plan->reason, reason) == 0;
}

static void
test_requests(void)
{
	mgpu_job	large = sort_job(50000000);
	mgpu_job	tiny = sort_job(10);
	mgpu_plan_input input = usable_gpu();
	mgpu_plan	plan;

	input.requested = MGPU_EXECUTOR_CPU;
	plan = plan_of(&large, &input);
	UNIT_CHECK(is_cpu_because(&plan, "mgpu.executor is cpu") && plan.forgone_ms == 0);
	input.requested = MGPU_EXECUTOR_GPU;
	input.gpu_built = false;
	input.gpu_failed = true;
	input.gpu_min_items = 1000;
	plan = plan_of(&tiny, &input);
	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
}

static void
test_obstacles(void)
{
	mgpu_job	large = sort_job(50000000);
	mgpu_plan_input input = usable_gpu();
	mgpu_plan	plan = plan_of(&large, &input);

	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
	input.gpu_built = false;
	plan = plan_of(&large, &input);
	UNIT_CHECK(is_cpu_because(&plan, "this build has no CUDA") && plan.forgone_ms == 0);
	input.gpu_built = true;
	input.gpu_failed = true;
	plan = plan_of(&large, &input);
	UNIT_CHECK(is_cpu_because(&plan, "an earlier device failure") && plan.forgone_ms == 0);
}

static void
test_min_items(void)
{
	mgpu_plan_input input = usable_gpu();

	input.gpu_warm = false;
	input.gpu_min_items = 1000;
	for (uint64_t num_items = 998; num_items <= 1002; num_items++)
	{
		mgpu_job	job = sort_job(num_items);
		mgpu_plan	plan = plan_of(&job, &input);

		if (num_items >= 1000)
			UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
		else
			UNIT_CHECK(is_cpu_because(&plan, "few items") && plan.forgone_ms == 0);
	}
	input.gpu_min_items = 0;
	{
		mgpu_job	job = sort_job(0);

		UNIT_CHECK(plan_of(&job, &input).executor == MGPU_EXECUTOR_GPU);
	}
}

static void
test_model(void)
{
	mgpu_plan_input input = usable_gpu();
	bool		chosen_before = false;

	/* the planner changes from the CPU to the GPU at one size, and that size is plausible */
	for (uint64_t num_items = 0; num_items <= 134217727; num_items = num_items * 5 / 4 + 1)
	{
		mgpu_job	job = sort_job(num_items);
		mgpu_plan	plan = plan_of(&job, &input);
		bool		chosen = plan.executor == MGPU_EXECUTOR_GPU;

		UNIT_CONTEXT("model, items %llu", (unsigned long long) num_items);
		UNIT_CHECK(chosen || !chosen_before);
		UNIT_CHECK(chosen || is_cpu_because(&plan, "the CPU is predicted faster"));
		UNIT_CHECK(chosen || plan.forgone_ms == 0);
		if (num_items < 2000)
			UNIT_CHECK(!chosen);
		if (num_items > 1000000)
			UNIT_CHECK(chosen);
		chosen_before = chosen;
	}
	UNIT_CONTEXT("%s", "");
}

static void
test_start_up(void)
{
	mgpu_job	job = sort_job(1000000);
	mgpu_job	huge = sort_job(134000000);
	mgpu_plan_input input = usable_gpu();
	double		forgone_ms = 0;
	double		gain_ms = 0;
	int			calls = 0;
	mgpu_plan	plan;

	input.gpu_warm = false;
	plan = plan_of(&huge, &input);
	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
	while (calls < 100000)
	{
		input.forgone_ms = forgone_ms;
		plan = plan_of(&job, &input);
		if (plan.executor == MGPU_EXECUTOR_GPU)
			break;
		UNIT_CHECK(is_cpu_because(&plan, "device start-up not yet paid back"));
		gain_ms = predict_cpu_ms(&job, input.num_threads, input.cpu_sort_ns) - mgpu_predict_gpu_ms(&job);
		UNIT_CHECK(plan.forgone_ms == gain_ms && gain_ms > 0);
		forgone_ms += plan.forgone_ms;
		calls++;
	}
	/*
	 * Ski rental: the CPU is used until the time forgone has reached the start-up time
	 * of the device, and no longer.
	 */
	UNIT_CHECK(calls > 1 && calls < 100000);
	UNIT_CHECK(forgone_ms < 250.0 && forgone_ms + gain_ms >= 250.0);
}

/* A busy GPU has the jobs that gain more than the others take. */
static void
test_busy(void)
{
	mgpu_job	job = sort_job(10000000);
	mgpu_plan_input input = usable_gpu();
	double		gain_ms = predict_cpu_ms(&job, 1, measured_cpu_sort_ns) - mgpu_predict_gpu_ms(&job);
	mgpu_plan	plan;

	input.gpu_others_ms = gain_ms * 0.9;
	plan = plan_of(&job, &input);
	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
	/* jobs like this one do not send each other to the CPU, however many there are */
	input.gpu_others_ms = mgpu_predict_gpu_load_ms(&job);
	plan = plan_of(&job, &input);
	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
	input.gpu_others_ms = gain_ms * 1.1;
	plan = plan_of(&job, &input);
	UNIT_CHECK(is_cpu_because(&plan, "the GPU is busy"));
	input.gpu_min_items = 100;
	plan = plan_of(&job, &input);
	UNIT_CHECK(plan.executor == MGPU_EXECUTOR_GPU);
}

static void
test_directions(void)
{
	static const uint32_t widths[] = {4, 8};

	for (uint32_t algorithm = MGPU_ALGORITHM_AUTO; algorithm <= MGPU_ALGORITHM_LOCALITY; algorithm++)
		for (int i = 0; i < 2; i++)
		{
			mgpu_job	job = sort_job(10000000);
			mgpu_job	pairs;

			job.algorithm = algorithm;
			job.key_width = widths[i];
			UNIT_CHECK(predict_cpu_ms(&job, 4, measured_cpu_sort_ns) < predict_cpu_ms(&job, 1, measured_cpu_sort_ns));
			pairs = job;
			pairs.op = MGPU_OP_SORT_PAIRS;
			pairs.outputs = MGPU_OUT_INDICES;
			/* merge sorts of 8-byte pairs fall back to a faster algorithm */
			if (widths[i] == 4 || algorithm == MGPU_ALGORITHM_AUTO || algorithm == MGPU_ALGORITHM_RADIX)
				UNIT_CHECK(predict_cpu_ms(&pairs, 1, measured_cpu_sort_ns) > predict_cpu_ms(&job, 1, measured_cpu_sort_ns));
			pairs.outputs |= MGPU_OUT_VALUES;
			pairs.value_width = 8;
			UNIT_CHECK(mgpu_predict_gpu_ms(&pairs) > mgpu_predict_gpu_ms(&job));
		}
	/* threads do not help with few items */
	{
		mgpu_job	job = sort_job(1000);

		UNIT_CHECK(predict_cpu_ms(&job, 4, measured_cpu_sort_ns) == predict_cpu_ms(&job, 1, measured_cpu_sort_ns));
	}
}

/* Small jobs that only move bytes stay on the CPU: the transfers would take longer. */
static void
test_moves(void)
{
	mgpu_plan_input input = usable_gpu();
	mgpu_job	job = {0};

	for (job.op = MGPU_OP_REMOVE; job.op <= MGPU_OP_INSERT; job.op++)
	{
		job.value_width = 16;
		job.outputs = MGPU_OUT_VALUES;
		job.num_items = 10000;
		job.num_b_items = 10;
		UNIT_CHECK(plan_of(&job, &input).executor == MGPU_EXECUTOR_CPU);
	}
}

static mgpu_job
job_of(mgpu_op op, uint64_t num_items)
{
	mgpu_job	job = sort_job(num_items);

	job.op = op;
	if (op == MGPU_OP_SORT_PAIRS || op == MGPU_OP_MERGE_PAIRS)
		job.outputs = MGPU_OUT_INDICES;
	if (op == MGPU_OP_MERGE || op == MGPU_OP_MERGE_PAIRS)
	{
		job.num_items = num_items - num_items / 2;
		job.num_b_items = num_items / 2;
	}
	if (op == MGPU_OP_REMOVE || op == MGPU_OP_INSERT)
	{
		job.key_kind = 0;
		job.key_width = 0;
		job.value_width = 4;
		job.outputs = MGPU_OUT_VALUES;
		job.num_b_items = num_items / 10;
	}
	return job;
}

/* For any number of processors there is one size from which on all sorts use a warm device. */
static void
test_threads(void)
{
	static const int threads[] = {1, 2, 4, 8, 16, 64};
	mgpu_plan_input input = usable_gpu();

	for (mgpu_op op = MGPU_OP_SORT; op <= MGPU_OP_SORT_PAIRS; op++)
		for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		{
			bool		chosen_before = false;

			input.num_threads = threads[i];
			for (uint64_t num_items = 100; num_items <= 134217727; num_items = num_items * 5 / 4 + 1)
			{
				mgpu_job	job = job_of(op, num_items);
				bool		chosen = plan_of(&job, &input).executor == MGPU_EXECUTOR_GPU;

				UNIT_CONTEXT("op %d threads %d items %llu", (int) op, threads[i], (unsigned long long) num_items);
				UNIT_CHECK(chosen || !chosen_before);
				if (num_items < 2000)
					UNIT_CHECK(!chosen);
				if (num_items > 1000000)
					UNIT_CHECK(chosen);
				chosen_before = chosen;
			}
		}
	UNIT_CONTEXT("%s", "");
}

/* In the model more threads never take longer, and memory bandwidth limits their gain. */
static void
test_scaling(void)
{
	for (mgpu_op op = MGPU_OP_SORT; op <= MGPU_OP_ODD_EVEN_SORT; op++)
		for (uint64_t num_items = 1000; num_items <= 100000000; num_items *= 10)
		{
			mgpu_job	job = job_of(op, num_items);
			double		one_ms = predict_cpu_ms(&job, 1, measured_cpu_sort_ns);
			double		bytes = (double) num_items * 4;

			UNIT_CONTEXT("op %d items %llu", (int) op, (unsigned long long) num_items);
			UNIT_CHECK(predict_cpu_ms(&job, 1, 0) == one_ms);
			UNIT_CHECK(fabs(predict_cpu_ms(&job, 1, 2 * measured_cpu_sort_ns) - 2 * one_ms) <= 1e-9 * one_ms);
			for (int num_threads = 2; num_threads <= 64; num_threads *= 2)
			{
				double		ms = predict_cpu_ms(&job, num_threads, measured_cpu_sort_ns);

				UNIT_CHECK(ms <= one_ms && ms >= one_ms / num_threads);
				/* 100 bytes a nanosecond in and out is more than any host's bandwidth */
				UNIT_CHECK(ms >= 2 * bytes / 100e6);
			}
			/* a second thread speeds up large jobs, bulk changes included */
			if (num_items >= 10000000)
				UNIT_CHECK(predict_cpu_ms(&job, 2, measured_cpu_sort_ns) < 0.9 * one_ms);
			if (num_items <= 100000)
				UNIT_CHECK(predict_cpu_ms(&job, 2, measured_cpu_sort_ns) == one_ms);
		}
	UNIT_CONTEXT("%s", "");
}

/* Few items are sorted at once. */
static void
test_few(void)
{
	static uint32_t heads[16];
	mgpu_job	keys = {.op = MGPU_OP_SORT,.key_kind = MGPU_KEY_SIGNED,.key_width = 4,.outputs = MGPU_OUT_KEYS,.num_items = 16 * 1024};
	mgpu_job	pairs = {.op = MGPU_OP_SORT_PAIRS,.key_kind = MGPU_KEY_SIGNED,.key_width = 4,.outputs = MGPU_OUT_INDICES,.num_items = MGPU_CPU_NOW_PAIRS};

	UNIT_CHECK(mgpu_plan_sorts_now(&keys, NULL));
	keys.num_items++;
	UNIT_CHECK(!mgpu_plan_sorts_now(&keys, NULL));
	keys.num_items = 100;
	keys.num_segments = 64;
	UNIT_CHECK(mgpu_plan_sorts_now(&keys, heads));
	keys.num_segments++;
	UNIT_CHECK(!mgpu_plan_sorts_now(&keys, heads));
	keys.num_segments = 0;
	UNIT_CHECK(mgpu_plan_sorts_now(&keys, NULL));
	keys.algorithm = MGPU_ALGORITHM_MERGE;
	UNIT_CHECK(!mgpu_plan_sorts_now(&keys, NULL));
	keys.algorithm = MGPU_ALGORITHM_AUTO;
	keys.op = MGPU_OP_ODD_EVEN_SORT;
	UNIT_CHECK(!mgpu_plan_sorts_now(&keys, NULL));

	UNIT_CHECK(mgpu_plan_sorts_now(&pairs, NULL));
	pairs.num_items++;
	UNIT_CHECK(!mgpu_plan_sorts_now(&pairs, NULL));
	/* the longest segment decides: here the first, the second, the last */
	pairs.num_segments = 3;
	heads[1] = MGPU_CPU_NOW_PAIRS;
	heads[2] = MGPU_CPU_NOW_PAIRS + 1;
	pairs.num_items = MGPU_CPU_NOW_PAIRS + 2;
	UNIT_CHECK(mgpu_plan_sorts_now(&pairs, heads));
	heads[1]++;
	heads[2]++;
	UNIT_CHECK(!mgpu_plan_sorts_now(&pairs, heads));
	heads[1] = 2;
	UNIT_CHECK(mgpu_plan_sorts_now(&pairs, heads));
	heads[2] = 2;
	pairs.num_items += 2;
	UNIT_CHECK(!mgpu_plan_sorts_now(&pairs, heads));
	pairs.num_items = 3;
	UNIT_CHECK(mgpu_plan_sorts_now(&pairs, heads));
	pairs.outputs |= MGPU_OUT_VALUES;
	UNIT_CHECK(!mgpu_plan_sorts_now(&pairs, heads));
}

int
main(void)
{
	test_few();
	test_requests();
	test_obstacles();
	test_min_items();
	test_model();
	test_start_up();
	test_busy();
	test_directions();
	test_moves();
	test_threads();
	test_scaling();
	return unit_report();
}

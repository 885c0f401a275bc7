/*
 * planner.c
 *		See planner.h.
 *
 * Both predictions are straight lines in the number of items, with a slight
 * curve for the CPU's comparison sort; what both executors pay alike, reading
 * the input, is in neither.  Finer models were rejected: between the sizes where
 * one or the other clearly wins, a wrong choice costs a fraction of a
 * millisecond.
 */
#include "planner.h"

#include <stddef.h>

#include "cpu_tuning.h"

/* Costs by width of a key: 1, 2, 4, 8, 16 bytes. */
#define NUM_WIDTHS 5

/*
 * CPU: nanoseconds an item, one thread, 10 million random items, on a server
 * core that sorts 10 million int4 in 50 ms by vqsort.
 */
static const double cpu_sort_ns[NUM_WIDTHS] = {1.5, 1.2, 5.5, 12.5, 38.0};
static const double cpu_radix_ns[NUM_WIDTHS] = {4.0, 6.0, 9.0, 20.0, 60.0};
static const double cpu_merge_ns[NUM_WIDTHS] = {12.0, 14.0, 18.0, 24.0, 60.0};
static const double cpu_pairs_ns[NUM_WIDTHS] = {14.0, 16.0, 18.0, 25.0, 33.0};
static const double cpu_radix_pairs_ns[NUM_WIDTHS] = {6.0, 9.0, 14.0, 32.0, 90.0};
static const double cpu_merge_pairs_ns[NUM_WIDTHS] = {24.0, 26.0, 30.0, 48.0, 80.0};

/* One pass over both inputs or over the values. */
static const double cpu_pass_ns = 2.0;

/* A value gathered by index. */
static const double cpu_gather_ns = 4.0;

/* Share of a second thread's time that is of use, and so on. */
static const double cpu_thread_gain = 0.8;

/* GPU: nanoseconds an item in kernels, warm, one H200-class device. */
static const double gpu_sort_ns[NUM_WIDTHS] = {0.01, 0.015, 0.028, 0.064, 0.2};
static const double gpu_merge_sort_ns[NUM_WIDTHS] = {0.04, 0.04, 0.052, 0.1, 0.25};
static const double gpu_pairs_ns[NUM_WIDTHS] = {0.02, 0.025, 0.04, 0.13, 0.3};
static const double gpu_pass_ns = 0.01;

/* Launches and waiting for them, whatever the size. */
static const double gpu_fixed_ms = 0.06;

/* Bytes a millisecond to the device (pinned) and from it (into fresh pages). */
static const double gpu_upload_bytes = 55e6;
static const double gpu_download_bytes = 16e6;

/* First use in a process: driver, context, kernels. */
static const double gpu_startup_ms = 250.0;

static int
width_class(uint32_t key_width)
{
	int			class = 0;

	while (class < NUM_WIDTHS - 1 && (UINT32_C(1) << class) < key_width)
		class++;
	return class;
}

static bool
is_sort(const mgpu_job *job)
{
	return job->op == MGPU_OP_SORT || job->op == MGPU_OP_SORT_PAIRS || job->op == MGPU_OP_ODD_EVEN_SORT;
}

static double
num_all_items(const mgpu_job *job)
{
	return (double) job->num_items + (is_sort(job) ? 0.0 : (double) job->num_b_items);
}

static const double *
cpu_costs(const mgpu_job *job)
{
	bool		pairs = job->op == MGPU_OP_SORT_PAIRS;

	if (job->op == MGPU_OP_ODD_EVEN_SORT || job->algorithm == MGPU_ALGORITHM_MERGE ||
		job->algorithm == MGPU_ALGORITHM_LOCALITY)
		return pairs ? cpu_merge_pairs_ns : cpu_merge_ns;
	if (job->algorithm == MGPU_ALGORITHM_RADIX)
		return pairs ? cpu_radix_pairs_ns : cpu_radix_ns;
	return pairs ? cpu_pairs_ns : cpu_sort_ns;
}

/* vqsort's share of log(items): half its cost at 10 million. */
static double
size_factor(double num_items)
{
	uint64_t	limit = 1;
	double		log2_items = 0;

	for (; (double) limit < num_items; limit *= 2)
		log2_items++;
	return 0.5 + 0.5 * log2_items / 23.0;
}

static double
predict_cpu_ms(const mgpu_job *job, int num_threads)
{
	double		num_items = num_all_items(job);
	double		item_ns = cpu_pass_ns;
	double		speedup = 1.0;

	if (is_sort(job))
		item_ns = cpu_costs(job)[width_class(job->key_width)] * size_factor(num_items);
	if (job->outputs & MGPU_OUT_VALUES)
		item_ns += cpu_gather_ns;
	if (num_threads > 1 && num_items * job->key_width >= (double) mgpu_cpu_tunables.threads_min_bytes)
		speedup += cpu_thread_gain * (num_threads - 1);
	return num_items * item_ns * 1e-6 / speedup;
}

static double
predict_gpu_ms(const mgpu_job *job)
{
	int			class = width_class(job->key_width);
	double		num_items = num_all_items(job);
	double		item_ns = gpu_pass_ns;
	double		bytes_in = job->key_width;
	double		bytes_out = 0;

	if (job->op == MGPU_OP_SORT_PAIRS)
		item_ns = gpu_pairs_ns[class];
	else if (is_sort(job))
		item_ns = job->algorithm == MGPU_ALGORITHM_RADIX || job->algorithm == MGPU_ALGORITHM_AUTO ?
			gpu_sort_ns[class] : gpu_merge_sort_ns[class];
	if (job->outputs & MGPU_OUT_KEYS)
		bytes_out += job->key_width;
	if (job->outputs & MGPU_OUT_INDICES)
		bytes_out += sizeof(uint32_t);
	if (job->outputs & MGPU_OUT_VALUES)
	{
		bytes_in += job->value_width;
		bytes_out += job->value_width;
	}
	return gpu_fixed_ms + num_items * (item_ns * 1e-6 + bytes_in / gpu_upload_bytes +
									   bytes_out / gpu_download_bytes);
}

/* Why an automatic choice stays with the CPU, or NULL. */
static const char *
reason_against_gpu(const mgpu_job *job, const mgpu_plan_input *input, const mgpu_plan *plan)
{
	if (!input->gpu_built)
		return "this build has no CUDA";
	if (input->gpu_failed)
		return "an earlier device failure";
	if (input->gpu_min_items >= 0)
		return num_all_items(job) < (double) input->gpu_min_items ? "few items" : NULL;
	if (plan->cpu_ms <= plan->gpu_ms)
		return "the CPU is predicted faster";
	if (!input->gpu_warm && input->forgone_ms + (plan->cpu_ms - plan->gpu_ms) < gpu_startup_ms)
		return "device start-up not yet paid back";
	return NULL;
}

void
mgpu_plan_job(const mgpu_job *job, const mgpu_plan_input *input, mgpu_plan *plan)
{
	plan->cpu_ms = predict_cpu_ms(job, input->num_threads);
	plan->gpu_ms = predict_gpu_ms(job);
	plan->forgone_ms = 0;
	plan->reason = NULL;
	if (input->requested == MGPU_EXECUTOR_CPU)
		plan->reason = "mgpu.executor is cpu";
	else if (input->requested == MGPU_EXECUTOR_AUTO)
		plan->reason = reason_against_gpu(job, input, plan);
	plan->executor = plan->reason == NULL ? MGPU_EXECUTOR_GPU : MGPU_EXECUTOR_CPU;

	/* what a device that could be used would have gained is remembered */
	if (input->requested == MGPU_EXECUTOR_AUTO && plan->executor == MGPU_EXECUTOR_CPU &&
		input->gpu_built && !input->gpu_failed && input->gpu_min_items < 0 && plan->cpu_ms > plan->gpu_ms)
		plan->forgone_ms = plan->cpu_ms - plan->gpu_ms;
}

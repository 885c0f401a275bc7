/*
 * planner.c
 *		See planner.h.
 *
 * Both predictions are linear in the number of items, with a slight curve for the
 * CPU's comparison sort and a floor that memory sets to many threads.  Reading the
 * input costs both executors the same and is in neither.  Finer models were
 * rejected: near the size where both are equally fast, a wrong choice costs a
 * fraction of a millisecond.
 */
#include "planner.h"

#include <stddef.h>

#include "cpu_sort.h"
#include "cpu_tuning.h"

/* Up to so many bytes of keys are sorted at once, in so many segments: a run sorts many short ones together, four times as fast. */
#define NOW_KEYS_BYTES (64 * 1024)
#define NOW_SEGMENTS 64

/* Up to so many keys are sorted with their indices at once, if no segment is longer than MGPU_CPU_NOW_PAIRS. */
#define NOW_PAIRS (16 * 1024)

/* One thread sorts or merges so many bytes in a fraction of a millisecond. */
#define SHORT_BYTES MGPU_SIZE(65536, 64)

/*
 * What mgpu_unsigned_sort_ns(4) says where the CPU's costs below hold.  Another machine's costs are
 * scaled by what it says there.
 */
static const double measured_cpu_sort_ns = 3.1;

/* Costs by width of a key: 1, 2, 4, 8, 16 bytes. */
#define NUM_WIDTHS 5

/*
 * CPU: nanoseconds an item, one thread, 10 million random items, on a server core
 * that sorts 10 million int4 by vqsort in 50 ms.  Measured with one and two threads
 * on a core that takes 33 ms, and scaled.
 */
static const double cpu_sort_ns[NUM_WIDTHS] = {0.6, 1.0, 5.3, 13.0, 45.0};
static const double cpu_merge_sort_ns[NUM_WIDTHS] = {24.0, 31.0, 16.0, 35.0, 67.0};
static const double cpu_pairs_ns[NUM_WIDTHS] = {16.0, 16.0, 17.0, 26.0, 33.0};
/* keys of 8 bytes and more are sorted as without a requested algorithm */
static const double cpu_merge_sort_pairs_ns[NUM_WIDTHS] = {24.0, 26.0, 30.0, 26.0, 33.0};

/* For an item of a merge's output; 4 and 8 bytes merge in vector registers. */
static const double cpu_merge_ns[NUM_WIDTHS] = {1.3, 1.9, 0.6, 1.0, 3.5};
static const double cpu_merge_pairs_ns[NUM_WIDTHS] = {2.7, 3.7, 3.7, 3.9, 5.8};

/* For a value that bulk insert or remove moves, by the width of a value. */
static const double cpu_move_ns[NUM_WIDTHS] = {0.25, 0.35, 0.4, 0.9, 1.6};

/* For a row that is read from a page and grouped: on the CPU, on a GPU and its link, and there alone. */
static const double cpu_group_ns = 15.0;
static const double gpu_group_ns = 2.0;
static const double gpu_group_load_ns = 1.1;

/* For a value gathered by index. */
static const double cpu_gather_ns = 7.0;

/* What each further thread gains, as a share of the first one's work, and its start-up. */
static const double cpu_thread_gain = 0.8;
static const double cpu_thread_start_ms = 0.03;

/* Memory traffic of all threads together, in bytes a millisecond. */
static const double cpu_memory_bytes = 40e6;

/* GPU: nanoseconds an item in kernels, warm, one H200-class device. */
static const double gpu_sort_ns[NUM_WIDTHS] = {0.01, 0.015, 0.028, 0.064, 0.2};
static const double gpu_merge_sort_ns[NUM_WIDTHS] = {0.04, 0.04, 0.052, 0.1, 0.25};
static const double gpu_pairs_ns[NUM_WIDTHS] = {0.02, 0.025, 0.04, 0.13, 0.3};
static const double gpu_pass_ns = 0.01;

/* Launches and waits, at any size; and of a job that groups rows. */
static const double gpu_fixed_ms = 0.06;
static const double gpu_group_fixed_ms = 1.0;

/* Bytes a millisecond to the device (pinned) and from it (into fresh pages). */
static const double gpu_upload_bytes = 55e6;
static const double gpu_download_bytes = 16e6;

/* Bytes a millisecond either way, and what launches take, where the jobs of others overlap with a job's own waits. */
static const double gpu_link_bytes = 55e6;
static const double gpu_launch_ms = 0.03;

/* First use in a process: driver, context, kernels. */
static const double gpu_startup_ms = 250.0;

static uint64_t
longest_segment(const mgpu_job *job, const uint32_t *heads)
{
	uint64_t	longest = job->num_segments > 0 ? job->num_items - heads[job->num_segments - 1] : job->num_items;

	for (uint64_t i = 1; i < job->num_segments; i++)
		if (heads[i] - heads[i - 1] > longest)
			longest = heads[i] - heads[i - 1];
	return longest;
}

bool
mgpu_plan_sorts_now(const mgpu_job *job, const uint32_t *segment_heads)
{
	if (job->algorithm != MGPU_ALGORITHM_AUTO)
		return false;
	if (job->op == MGPU_OP_SORT)
		return job->num_items * job->key_width <= NOW_KEYS_BYTES && job->num_segments <= NOW_SEGMENTS;
	return job->op == MGPU_OP_SORT_PAIRS && (job->outputs & MGPU_OUT_VALUES) == 0 &&
		job->num_items <= NOW_PAIRS && longest_segment(job, segment_heads) <= MGPU_CPU_NOW_PAIRS;
}

bool
mgpu_plan_is_short(const mgpu_job *job, int num_threads)
{
	return num_threads == 1 && mgpu_job_moved_bytes(job) <= SHORT_BYTES;
}

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

	if (job->op == MGPU_OP_MERGE)
		return cpu_merge_ns;
	if (job->op == MGPU_OP_MERGE_PAIRS)
		return cpu_merge_pairs_ns;
	if (job->op == MGPU_OP_ODD_EVEN_SORT || job->algorithm == MGPU_ALGORITHM_MERGE ||
		job->algorithm == MGPU_ALGORITHM_LOCALITY)
		return pairs ? cpu_merge_sort_pairs_ns : cpu_merge_sort_ns;
	return pairs ? cpu_pairs_ns : cpu_sort_ns;
}

/* vqsort's cost grows with log2(items): that part is half of it at 10 million. */
static double
size_factor(double num_items)
{
	uint64_t	limit = 1;
	double		log2_items = 0;

	for (; (double) limit < num_items; limit *= 2)
		log2_items++;
	return 0.5 + 0.5 * log2_items / 23.0;
}

/* Nanoseconds an item on one thread. */
static double
cpu_item_ns(const mgpu_job *job)
{
	double		item_ns;

	if (job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT)
		return cpu_move_ns[width_class(job->value_width)];
	if (job->op == MGPU_OP_GROUP)
		return cpu_group_ns;
	item_ns = cpu_costs(job)[width_class(job->key_width)];
	if (is_sort(job))
		item_ns *= size_factor(num_all_items(job));
	if (job->op == MGPU_OP_SORT_PAIRS && (job->outputs & MGPU_OUT_VALUES))
		item_ns += cpu_gather_ns;
	return item_ns;
}

/* Memory traffic of an item in bytes, reads and writes of all passes. */
static double
cpu_item_bytes(const mgpu_job *job)
{
	double		key_bytes = job->key_width;

	if (mgpu_job_is_pairs(job))
		key_bytes += sizeof(uint32_t);
	/* a sort moves its keys about three times */
	if (is_sort(job))
		key_bytes *= 3;
	return 2 * (key_bytes + job->value_width);
}

static double
predict_cpu_ms(const mgpu_job *job, int num_threads, double cpu_sort_ns)
{
	double		num_items = num_all_items(job);
	double		one_ms = num_items * cpu_item_ns(job) * 1e-6;
	double		floor_ms = num_items * cpu_item_bytes(job) / cpu_memory_bytes;
	double		all_ms;

	if (cpu_sort_ns > 0)
		one_ms *= cpu_sort_ns / measured_cpu_sort_ns;
	if (num_threads <= 1 || mgpu_job_moved_bytes(job) < mgpu_cpu_tunables.threads_min_bytes)
		return one_ms;
	all_ms = one_ms / (1.0 + cpu_thread_gain * (num_threads - 1));
	if (all_ms < floor_ms)
		all_ms = floor_ms;
	all_ms += cpu_thread_start_ms * (num_threads - 1);
	return all_ms < one_ms ? all_ms : one_ms;
}

static double
gpu_item_ns(const mgpu_job *job)
{
	int			class = width_class(job->key_width);

	if (job->op == MGPU_OP_GROUP)
		return gpu_group_ns;
	if (job->op == MGPU_OP_SORT_PAIRS)
		return gpu_pairs_ns[class];
	if (!is_sort(job))
		return gpu_pass_ns;
	return job->algorithm == MGPU_ALGORITHM_RADIX || job->algorithm == MGPU_ALGORITHM_AUTO ?
		gpu_sort_ns[class] : gpu_merge_sort_ns[class];
}

/* Bytes of an item that go to the device, and back. */
static double
bytes_in(const mgpu_job *job)
{
	return job->key_width + (job->outputs & MGPU_OUT_VALUES ? job->value_width : 0);
}

static double
bytes_out(const mgpu_job *job)
{
	return (job->outputs & MGPU_OUT_KEYS ? job->key_width : 0) +
		(job->outputs & MGPU_OUT_INDICES ? sizeof(uint32_t) : 0) +
		(job->outputs & MGPU_OUT_VALUES ? job->value_width : 0);
}

double
mgpu_predict_gpu_ms(const mgpu_job *job)
{
	double		fixed_ms = job->op == MGPU_OP_GROUP ? gpu_group_fixed_ms : gpu_fixed_ms;

	return fixed_ms + num_all_items(job) * (gpu_item_ns(job) * 1e-6 + bytes_in(job) / gpu_upload_bytes +
												bytes_out(job) / gpu_download_bytes);
}

double
mgpu_predict_gpu_load_ms(const mgpu_job *job)
{
	double		most = (job->op == MGPU_OP_GROUP ? gpu_group_load_ns : gpu_item_ns(job)) * 1e-6;

	if (most < bytes_in(job) / gpu_link_bytes)
		most = bytes_in(job) / gpu_link_bytes;
	if (most < bytes_out(job) / gpu_link_bytes)
		most = bytes_out(job) / gpu_link_bytes;
	return gpu_launch_ms + num_all_items(job) * most;
}

const char *
mgpu_gpu_ruled_out(mgpu_executor_choice requested, bool gpu_built, bool gpu_failed)
{
	if (requested == MGPU_EXECUTOR_CPU)
		return "mgpu.executor is cpu";
	if (!gpu_built)
		return "this build has no CUDA";
	if (gpu_failed)
		return "an earlier device failure";
	return NULL;
}

/* Why an automatic choice is the CPU; NULL if it is the GPU. */
static const char *
reason_against_gpu(const mgpu_job *job, const mgpu_plan_input *input, double gain_ms)
{
	const char *ruled_out = mgpu_gpu_ruled_out(input->requested, input->gpu_built, input->gpu_failed);

	if (ruled_out != NULL)
		return ruled_out;
	if (input->gpu_min_items >= 0)
		return num_all_items(job) < (double) input->gpu_min_items ? "few items" : NULL;
	if (gain_ms <= 0)
		return "the CPU is predicted faster";
	/*
	 * Jobs that gain most have a busy GPU.  How long this one would wait does not count: those who wait are as many as
	 * would share the cores, and more of them would wait for the service's own core.
	 */
	if (gain_ms <= input->gpu_others_ms)
		return "the GPU is busy";
	if (!input->gpu_warm && input->forgone_ms + gain_ms < gpu_startup_ms)
		return "device start-up not yet paid back";
	return NULL;
}

void
mgpu_plan_job(const mgpu_job *job, const mgpu_plan_input *input, mgpu_plan *plan)
{
	double		gain_ms = predict_cpu_ms(job, input->num_threads, input->cpu_sort_ns) - mgpu_predict_gpu_ms(job);

	plan->forgone_ms = 0;
	plan->reason = NULL;
	if (input->requested != MGPU_EXECUTOR_GPU)
		plan->reason = reason_against_gpu(job, input, gain_ms);
	plan->executor = plan->reason == NULL ? MGPU_EXECUTOR_GPU : MGPU_EXECUTOR_CPU;

	/* record what a usable device would have gained */
	if (input->requested == MGPU_EXECUTOR_AUTO && plan->executor == MGPU_EXECUTOR_CPU &&
		input->gpu_built && !input->gpu_failed && input->gpu_min_items < 0 && gain_ms > 0)
		plan->forgone_ms = gain_ms;
}

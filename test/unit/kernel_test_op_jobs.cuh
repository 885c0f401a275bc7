/*
 * kernel_test_op_jobs.cuh
 *		What tests of operations through the CUDA executor share: jobs, their data, how
 *		they are run, and what should come of them.
 *
 * Merges keep stored bytes, so nothing is canonical here but the network's keys.
 */
#ifndef MGPU_KERNEL_TEST_OP_JOBS_CUH
#define MGPU_KERNEL_TEST_OP_JOBS_CUH

#include "kernel_test_jobs.cuh"

static const run_plan whole = {0, false, false};
static const run_plan slices = {777, true, true};
static const run_plan large_slices = {UINT64_C(1) << 40, false, true};
static const run_plan mixed = {5000, true, false};	/* values are bound whole */
static const run_plan *const all_plans[] = {&whole, &slices, &large_slices, &mixed};

/* ------------------------------------------------------------------- jobs */

static inline bool
is_merge(const mgpu_job &job)
{
	return job.op == MGPU_OP_MERGE || job.op == MGPU_OP_MERGE_PAIRS;
}

static inline uint64_t
result_items(const mgpu_job &job)
{
	return job.op == MGPU_OP_REMOVE ? job.num_items - job.num_b_items : job.num_items + job.num_b_items;
}

static inline mgpu_job
merge_job(key_type type, uint32_t outputs, uint32_t value_width, uint64_t a_items, uint64_t b_items,
		  uint32_t descending)
{
	mgpu_job	job = {};

	job.op = outputs == MGPU_OUT_KEYS && (a_items + b_items) % 2 == 0 ? MGPU_OP_MERGE : MGPU_OP_MERGE_PAIRS;
	job.key_kind = type.kind;
	job.key_width = type.width;
	job.outputs = outputs;
	job.value_width = outputs & MGPU_OUT_VALUES ? value_width : 0;
	job.descending = descending;
	job.num_items = a_items;
	job.num_b_items = b_items;
	return job;
}

static inline mgpu_job
bulk_job(mgpu_op op, uint32_t width, uint64_t num_items, uint64_t num_positions)
{
	mgpu_job	job = {};

	job.op = op;
	job.outputs = MGPU_OUT_VALUES;
	job.value_width = width;
	job.num_items = num_items;
	job.num_b_items = num_positions;
	return job;
}

static inline mgpu_job
network_job(key_type type, uint64_t num_items, uint32_t descending)
{
	mgpu_job	job = merge_job(type, MGPU_OUT_KEYS, 0, num_items, 0, descending);

	job.op = MGPU_OP_ODD_EVEN_SORT;
	return job;
}

/* -------------------------------------------------------------------- data */

static inline byte_vector
random_bytes(uint64_t bytes)
{
	byte_vector random(bytes);

	for (uint64_t begin = 0; begin < bytes; begin += sizeof(uint64_t))
	{
		uint64_t	word = random_bits();

		memcpy(&random[begin], &word, std::min(bytes - begin, (uint64_t) sizeof(word)));
	}
	return random;
}

static inline byte_vector
awkward_keys(const mgpu_job &job, uint64_t num_items)
{
	byte_vector keys(num_items * job.key_width);

	for (uint64_t i = 0; i < num_items; i++)
	{
		uint64_t	words[2] = {awkward_word(job), awkward_word(job)};

		memcpy(&keys[i * job.key_width], words, job.key_width);
	}
	return keys;
}

/* Does key x sort before key y? */
static inline bool
sorts_before(const mgpu_job &job, const unsigned char *x, const unsigned char *y)
{
	int			result = compare_stored(job, x, y);

	return (job.descending ? -result : result) < 0;
}

static inline byte_vector
gathered(const std::vector<uint32_t> &order, const byte_vector &items, uint32_t width)
{
	byte_vector out(order.size() * width);

	for (uint64_t i = 0; i < order.size(); i++)
		memcpy(&out[i * width], &items[(uint64_t) order[i] * width], width);
	return out;
}

static inline byte_vector
sorted_keys(const mgpu_job &job, const byte_vector &keys)
{
	std::vector<uint32_t> order(keys.size() / job.key_width);

	for (uint64_t i = 0; i < order.size(); i++)
		order[i] = (uint32_t) i;
	std::stable_sort(order.begin(), order.end(), [&] (uint32_t x, uint32_t y)
					 {
						 return sorts_before(job, &keys[(uint64_t) x * job.key_width], &keys[(uint64_t) y * job.key_width]);
					 });
	return gathered(order, keys, job.key_width);
}

/* Ascending; unique and below num_items for a remove. */
static inline std::vector<uint32_t>
random_positions(const mgpu_job &job)
{
	std::vector<uint32_t> positions;

	if (job.op == MGPU_OP_REMOVE)
	{
		for (uint64_t i = 0, left = job.num_b_items; i < job.num_items; i++)
		{
			if (random_bits() % (job.num_items - i) < left)
			{
				positions.push_back((uint32_t) i);
				left--;
			}
		}
		return positions;
	}
	for (uint64_t i = 0; job.op == MGPU_OP_INSERT && i < job.num_b_items; i++)
		positions.push_back((uint32_t) (random_bits() % (job.num_items + 1)));
	/* many at one position and at either end */
	for (uint64_t i = 0; i < positions.size() / 4; i++)
		positions[i] = (uint32_t) (i % 3 == 0 ? 0 : i % 3 == 1 ? job.num_items : job.num_items / 2);
	std::sort(positions.begin(), positions.end());
	return positions;
}

struct op_data
{
	byte_vector inputs[MGPU_NUM_CHANNELS];
	uint32_t	widths[MGPU_NUM_CHANNELS];
	std::vector<uint32_t> positions;
	byte_vector out_keys;
	byte_vector out_indices;
	byte_vector out_values;
	mgpu_run_stats stats;
	double		slowest_poll_ms;

	explicit op_data(const mgpu_job &job) : positions(random_positions(job)), stats(), slowest_poll_ms(0)
	{
		uint64_t	items = result_items(job);
		bool		has_b_values = job.op == MGPU_OP_INSERT || job.op == MGPU_OP_MERGE_PAIRS;

		widths[MGPU_CHANNEL_KEYS] = job.key_width;
		widths[MGPU_CHANNEL_VALUES] = job.value_width;
		widths[MGPU_CHANNEL_B_KEYS] = is_merge(job) ? job.key_width : 0;
		widths[MGPU_CHANNEL_B_VALUES] = has_b_values ? job.value_width : 0;
		inputs[MGPU_CHANNEL_KEYS] = awkward_keys(job, job.num_items);
		if (is_merge(job))
		{
			inputs[MGPU_CHANNEL_KEYS] = sorted_keys(job, inputs[MGPU_CHANNEL_KEYS]);
			inputs[MGPU_CHANNEL_B_KEYS] = sorted_keys(job, awkward_keys(job, job.num_b_items));
		}
		inputs[MGPU_CHANNEL_VALUES] = random_bytes(job.num_items * job.value_width);
		inputs[MGPU_CHANNEL_B_VALUES] = random_bytes(has_b_values ? job.num_b_items * job.value_width : 0);
		poison(job, items);
	}

	void
	poison(const mgpu_job &job, uint64_t items)
	{
		out_keys = poisoned(job.outputs & MGPU_OUT_KEYS ? items * job.key_width : 0);
		out_indices = poisoned(job.outputs & MGPU_OUT_INDICES ? items * 4 : 0);
		out_values = poisoned(items * job.value_width);
	}

	mgpu_binding
	bind(const mgpu_job &job, const run_plan &plan)
	{
		mgpu_binding binding = {};
		bool		values_whole = plan.slice_items == 0 || !plan.stream_values;

		if (plan.slice_items == 0)
		{
			binding.in_keys = inputs[MGPU_CHANNEL_KEYS].data();
			binding.in_b_keys = inputs[MGPU_CHANNEL_B_KEYS].data();
		}
		binding.in_values = values_whole ? inputs[MGPU_CHANNEL_VALUES].data() : nullptr;
		binding.in_b_values = values_whole ? inputs[MGPU_CHANNEL_B_VALUES].data() : nullptr;
		binding.in_positions = positions.data();
		bind_outputs(job, out_keys, out_indices, out_values, &binding);
		return binding;
	}
};

/* -------------------------------------------------------------------- runs */

static inline double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static inline mgpu_exec_options
with_threads(int num_threads)
{
	mgpu_exec_options options = default_options;

	options.num_threads = num_threads;
	return options;
}

/* Feed every channel that the binding leaves to slots. */
static inline mgpu_status
feed_all(mgpu_run *run, const run_plan &plan, const op_data &data, const mgpu_binding &binding, mgpu_error *err)
{
	const void *bound[MGPU_NUM_CHANNELS] = {binding.in_keys, binding.in_values, binding.in_b_keys, binding.in_b_values};
	mgpu_status status = MGPU_OK;

	for (int channel = 0; channel < MGPU_NUM_CHANNELS && status == MGPU_OK; channel++)
	{
		if (bound[channel] == nullptr)
			status = feed(run, (mgpu_channel) channel, data.inputs[channel], data.widths[channel], plan, err);
	}
	return status;
}

static inline mgpu_status
poll_timed(mgpu_run *run, op_data &data, mgpu_error *err)
{
	mgpu_status status;

	do
	{
		double		begin_ms = now_ms();

		status = gpu->poll(run, err);
		data.slowest_poll_ms = std::max(data.slowest_poll_ms, now_ms() - begin_ms);
	}
	while (status == MGPU_PENDING);
	return status;
}

static inline mgpu_status
run_op(const mgpu_job &job, const run_plan &plan, const mgpu_exec_options &options, op_data &data, mgpu_error *err)
{
	mgpu_binding binding = data.bind(job, plan);
	mgpu_run   *run;
	mgpu_status status = gpu->open(&job, &binding, &options, &run, err);

	if (status != MGPU_OK)
		return status;
	status = feed_all(run, plan, data, binding, err);
	if (status == MGPU_OK)
		status = gpu->submit(run, err);
	if (status == MGPU_OK)
		status = poll_timed(run, data, err);
	if (status == MGPU_OK || status == MGPU_NOT_SORTED)
		gpu->stats(run, &data.stats);
	gpu->release(run);
	return status;
}

/* ------------------------------------------------------------- references */

/* Sources of the result: items of a, then of b, by number. */
static inline std::vector<uint32_t>
expected_order(const mgpu_job &job, const op_data &data)
{
	const byte_vector &a = data.inputs[MGPU_CHANNEL_KEYS];
	const byte_vector &b = data.inputs[MGPU_CHANNEL_B_KEYS];
	std::vector<uint32_t> order;
	uint64_t	taken_b = 0;

	for (uint64_t i = 0; i < job.num_items; i++)
	{
		bool		removed = false;

		if (is_merge(job))
			while (taken_b < job.num_b_items && sorts_before(job, &b[taken_b * job.key_width], &a[i * job.key_width]))
				order.push_back((uint32_t) (job.num_items + taken_b++));
		else if (job.op == MGPU_OP_INSERT)
			while (taken_b < job.num_b_items && data.positions[taken_b] == i)
				order.push_back((uint32_t) (job.num_items + taken_b++));
		else if (taken_b < job.num_b_items && data.positions[taken_b] == i)
		{
			removed = true;
			taken_b++;
		}
		if (!removed)
			order.push_back((uint32_t) i);
	}
	while (taken_b < job.num_b_items)
		order.push_back((uint32_t) (job.num_items + taken_b++));
	return order;
}

static inline byte_vector
joined(const byte_vector &a, const byte_vector &b)
{
	byte_vector both = a;

	both.insert(both.end(), b.begin(), b.end());
	return both;
}

/* How many items of an output differ from what they should be. */
static inline uint64_t
count_wrong(const byte_vector &output, const byte_vector &expected, uint32_t width)
{
	uint64_t	wrong = 0;

	if (output.size() != expected.size() + CANARY_BYTES)
		return UINT64_MAX;
	for (uint64_t i = 0; width != 0 && i < expected.size(); i += width)
		wrong += memcmp(&output[i], &expected[i], width) != 0;
	return wrong;
}

static inline void
check_op_results(const mgpu_job &job, const op_data &data, const char *what)
{
	std::vector<uint32_t> order = expected_order(job, data);
	byte_vector keys;
	byte_vector indices;
	uint64_t	wrong_keys;
	uint64_t	wrong_indices;
	uint64_t	wrong_values;

	if (job.outputs & MGPU_OUT_KEYS)
		keys = gathered(order, joined(data.inputs[MGPU_CHANNEL_KEYS], data.inputs[MGPU_CHANNEL_B_KEYS]), job.key_width);
	if ((job.outputs & MGPU_OUT_INDICES) && !order.empty())
	{
		indices.resize(order.size() * 4);
		memcpy(indices.data(), order.data(), indices.size());
	}
	wrong_keys = count_wrong(data.out_keys, keys, job.key_width);
	wrong_indices = count_wrong(data.out_indices, indices, 4);
	wrong_values = count_wrong(data.out_values, gathered(order, joined(data.inputs[MGPU_CHANNEL_VALUES],
															 data.inputs[MGPU_CHANNEL_B_VALUES]), job.value_width), job.value_width);
	CHECK(wrong_keys == 0 && wrong_indices == 0 && wrong_values == 0, "%s: operation %u, kind %u, width %u, values "
		  "of %u, outputs %u, descending %u, %llu and %llu items: %llu keys, %llu indices, %llu values are wrong", what,
		  job.op, job.key_kind, job.key_width, job.value_width, job.outputs, job.descending,
		  (unsigned long long) job.num_items, (unsigned long long) job.num_b_items, (unsigned long long) wrong_keys,
		  (unsigned long long) wrong_indices, (unsigned long long) wrong_values);
	CHECK(canary_intact(data.out_keys) && canary_intact(data.out_indices) && canary_intact(data.out_values),
		  "%s: memory behind an output was written", what);
}

/* Run a job that must succeed; its results. */
static inline op_data
check_op(const mgpu_job &job, const run_plan &plan, const char *what, int num_threads = 1)
{
	op_data		data(job);
	mgpu_error	err = {};
	mgpu_status status = run_op(job, plan, with_threads(num_threads), data, &err);

	CHECK(status == MGPU_OK, "%s: operation %u, %llu and %llu items: status %d, %s", what, job.op,
		  (unsigned long long) job.num_items, (unsigned long long) job.num_b_items, status, err.message);
	if (status != MGPU_OK)
		return data;
	CHECK(data.stats.algorithm == MGPU_ALGORITHM_MERGE && data.stats.num_passes == 0 && data.stats.upload_ms >= 0 &&
		  (data.stats.kernel_ms > 0 || job.num_items + job.num_b_items == 0), "%s: stats", what);
	if (job.op != MGPU_OP_ODD_EVEN_SORT)
		check_op_results(job, data, what);
	return data;
}

/* Keys that the type calls equal may come back in any order, canonical for floats. */
static inline void
check_network(key_type type, uint64_t num_items, uint32_t descending, const run_plan &plan, int num_threads)
{
	mgpu_job	job = network_job(type, num_items, descending);
	op_data		data = check_op(job, plan, "network", num_threads);
	byte_vector sorted = sorted_keys(job, data.inputs[MGPU_CHANNEL_KEYS]);
	uint64_t	wrong = 0;

	for (uint64_t i = 0; i < num_items; i++)
		wrong += compare_stored(job, &sorted[i * type.width], &data.out_keys[i * type.width]) != 0;
	CHECK(wrong == 0 && canary_intact(data.out_keys), "network: kind %u, width %u, descending %u, %llu items: %llu "
		  "are wrong", type.kind, type.width, descending, (unsigned long long) num_items, (unsigned long long) wrong);
}

#endif							/* MGPU_KERNEL_TEST_OP_JOBS_CUH */

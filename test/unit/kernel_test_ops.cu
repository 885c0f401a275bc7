/*
 * kernel_test_ops.cu
 *		Merges, bulk remove and insert and the odd-even network through the CUDA
 *		executor, and downloads by several threads.
 *
 * Merges keep stored bytes, so nothing is canonical here but the network's keys.
 */
#include "kernel_test_jobs.cuh"

#include <dirent.h>
#include <string>

static const run_plan whole = {0, false, false};
static const run_plan slices = {777, true, true};
static const run_plan large_slices = {UINT64_C(1) << 40, false, true};
static const run_plan mixed = {5000, true, false};	/* values are bound whole */

/* ------------------------------------------------------------------- jobs */

static bool
is_merge(const mgpu_job &job)
{
	return job.op == MGPU_OP_MERGE || job.op == MGPU_OP_MERGE_PAIRS;
}

static uint64_t
result_items(const mgpu_job &job)
{
	return job.op == MGPU_OP_REMOVE ? job.num_items - job.num_b_items : job.num_items + job.num_b_items;
}

static mgpu_job
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

static mgpu_job
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

static mgpu_job
network_job(key_type type, uint64_t num_items, uint32_t descending)
{
	mgpu_job	job = merge_job(type, MGPU_OUT_KEYS, 0, num_items, 0, descending);

	job.op = MGPU_OP_ODD_EVEN_SORT;
	return job;
}

/* -------------------------------------------------------------------- data */

static byte_vector
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

static byte_vector
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
static bool
sorts_before(const mgpu_job &job, const unsigned char *x, const unsigned char *y)
{
	int			result = compare_stored(job, x, y);

	return (job.descending ? -result : result) < 0;
}

static byte_vector
gathered(const std::vector<uint32_t> &order, const byte_vector &items, uint32_t width)
{
	byte_vector out(order.size() * width);

	for (uint64_t i = 0; i < order.size(); i++)
		memcpy(&out[i * width], &items[(uint64_t) order[i] * width], width);
	return out;
}

static byte_vector
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
static std::vector<uint32_t>
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
		if (job.outputs & MGPU_OUT_KEYS)
			binding.out_keys = out_keys.data();
		if (job.outputs & MGPU_OUT_INDICES)
			binding.out_indices = reinterpret_cast<uint32_t *>(out_indices.data());
		if (job.outputs & MGPU_OUT_VALUES)
			binding.out_values = out_values.data();
		return binding;
	}
};

/* -------------------------------------------------------------------- runs */

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static mgpu_exec_options
with_threads(int num_threads)
{
	mgpu_exec_options options = default_options;

	options.num_threads = num_threads;
	return options;
}

/* Feed every channel that the binding leaves to slots. */
static mgpu_status
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

static mgpu_status
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

static mgpu_status
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
static std::vector<uint32_t>
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

static byte_vector
joined(const byte_vector &a, const byte_vector &b)
{
	byte_vector both = a;

	both.insert(both.end(), b.begin(), b.end());
	return both;
}

/* How many items of an output differ from what they should be. */
static uint64_t
count_wrong(const byte_vector &output, const byte_vector &expected, uint32_t width)
{
	uint64_t	wrong = 0;

	if (output.size() != expected.size() + CANARY_BYTES)
		return UINT64_MAX;
	for (uint64_t i = 0; width != 0 && i < expected.size(); i += width)
		wrong += memcmp(&output[i], &expected[i], width) != 0;
	return wrong;
}

static void
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
static op_data
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

/* -------------------------------------------------------- every operation */

static const run_plan *const all_plans[] = {&whole, &slices, &large_slices, &mixed};

static const uint64_t merge_lengths[][2] = {
	{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 7000}, {7000, 0}, {3001, 2000}, {1, 9000}, {9000, 2}, {20011, 30030}
};

static void
test_merges(void)
{
	static const struct
	{
		uint32_t	outputs;
		uint32_t	value_width;
	}			sets[] = {
		{MGPU_OUT_KEYS, 0}, {MGPU_OUT_INDICES, 0}, {MGPU_OUT_VALUES, 1}, {MGPU_OUT_VALUES, 16},
		{MGPU_OUT_KEYS | MGPU_OUT_INDICES, 0}, {MGPU_OUT_KEYS | MGPU_OUT_VALUES, 2},
		{MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4}, {MGPU_OUT_KEYS | MGPU_OUT_VALUES, 8},
		{MGPU_OUT_INDICES | MGPU_OUT_VALUES, 1}, {MGPU_OUT_INDICES | MGPU_OUT_VALUES, 4},
		{MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 2},
		{MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 8},
		{MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 16}
	};
	int			turn = 0;

	for (const key_type &type : key_types)
	{
		for (const auto &set : sets)
		{
			for (const uint64_t *length : merge_lengths)
			{
				turn++;
				if (quick && turn % 11 != 0)
					continue;
				check_op(merge_job(type, set.outputs, set.value_width, length[0], length[1], turn % 2),
						 *all_plans[turn / 2 % 4], "merge");
			}
		}
	}
}

static void
test_bulk(void)
{
	static const uint64_t lengths[][2] = {
		{0, 0}, {1, 0}, {1, 1}, {2, 1}, {7000, 0}, {7000, 1}, {7000, 7000}, {8192, 4096}, {9001, 8999}, {50021, 1234}
	};
	int			turn = 0;

	for (uint32_t width = 1; width <= 16; width *= 2)
	{
		for (const uint64_t *length : lengths)
		{
			turn++;
			check_op(bulk_job(MGPU_OP_REMOVE, width, length[0], length[1]), *all_plans[turn % 4], "remove");
			check_op(bulk_job(MGPU_OP_INSERT, width, length[0], length[1]), *all_plans[turn % 4], "insert");
			/* more insertions than items, and into nothing */
			check_op(bulk_job(MGPU_OP_INSERT, width, length[1], length[0]), *all_plans[turn % 4], "insert many");
			check_op(bulk_job(MGPU_OP_INSERT, width, 0, length[0]), *all_plans[turn % 4], "insert into nothing");
		}
	}
}

/* Keys that the type calls equal may come back in any order, canonical for floats. */
static void
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

static void
test_network(void)
{
	static const uint64_t lengths[] = {0, 1, 2, 3, 1000, 5000, 8192, 8193, 70001};
	int			turn = 0;
	mgpu_error	err = {};

	for (const key_type &type : key_types)
	{
		for (uint64_t num_items : lengths)
		{
			turn++;
			if (type.width == 16)
			{
				mgpu_job	job = network_job(type, num_items, 0);
				op_data		data(job);

				CHECK(gpu->workspace_bytes(&job, &default_options) == 0 &&
					  run_op(job, whole, default_options, data, &err) == MGPU_UNSUPPORTED, "a network of 16 bytes");
			}
			else
				check_network(type, num_items, turn % 2, *all_plans[turn / 2 % 4], 1);
		}
	}
}

/* --------------------------------------------------------- unsorted inputs */

/* One key more than fits in front: the largest, put at `position` - 1. */
static void
unsort(const mgpu_job &job, byte_vector &keys, uint64_t position)
{
	static const unsigned char zeros[16] = {};
	static const unsigned char ones[16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
	/* 0 before all ones, but for a signed key: all ones is -1 */
	bool		zeros_first = sorts_before(job, zeros, ones);

	memcpy(&keys[(position - 1) * job.key_width], zeros_first ? ones : zeros, job.key_width);
	memcpy(&keys[position * job.key_width], zeros_first ? zeros : ones, job.key_width);
}

static void
check_unsorted(mgpu_job job, const run_plan &plan, uint64_t a_position, uint64_t b_position)
{
	op_data		data(job);
	mgpu_error	err = {};
	int			input = a_position == 0;
	uint64_t	position = a_position == 0 ? b_position : a_position;
	mgpu_status status;

	/* all keys equal but the two of each list that are in the wrong order */
	std::fill(data.inputs[MGPU_CHANNEL_KEYS].begin(), data.inputs[MGPU_CHANNEL_KEYS].end(), 0);
	std::fill(data.inputs[MGPU_CHANNEL_B_KEYS].begin(), data.inputs[MGPU_CHANNEL_B_KEYS].end(), 0);
	if (a_position != 0)
		unsort(job, data.inputs[MGPU_CHANNEL_KEYS], a_position);
	if (b_position != 0)
		unsort(job, data.inputs[MGPU_CHANNEL_B_KEYS], b_position);
	/* which of the two items is the first out of order depends on the neighbours */
	for (uint64_t i = 1; i < position; i++)
	{
		const unsigned char *keys = data.inputs[input == 0 ? MGPU_CHANNEL_KEYS : MGPU_CHANNEL_B_KEYS].data();

		if (sorts_before(job, &keys[i * job.key_width], &keys[(i - 1) * job.key_width]))
			position = i;
	}
	status = run_op(job, plan, with_threads(4), data, &err);
	CHECK(status == MGPU_NOT_SORTED && data.stats.unsorted_input == input && data.stats.unsorted_position == position,
		  "kind %u, width %u, outputs %u, descending %u, items %llu and %llu out of order: status %d, item %llu of %d",
		  job.key_kind, job.key_width, job.outputs, job.descending, (unsigned long long) a_position,
		  (unsigned long long) b_position, status, (unsigned long long) data.stats.unsorted_position,
		  data.stats.unsorted_input);
	CHECK(canary_intact(data.out_keys) && canary_intact(data.out_indices) && canary_intact(data.out_values),
		  "unsorted: memory behind an output was written");
}

static void
test_unsorted(void)
{
	static const uint32_t sets[] = {MGPU_OUT_KEYS, MGPU_OUT_INDICES, MGPU_OUT_VALUES, MGPU_OUT_KEYS | MGPU_OUT_VALUES,
		MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES};
	static const uint64_t lengths[][2] = {{2, 0}, {0, 2}, {2, 2}, {40000, 9}, {9, 40000}, {30000, 30001}};
	int			turn = 0;

	for (const key_type &type : key_types)
	{
		for (const uint64_t *length : lengths)
		{
			const run_plan &plan = *all_plans[++turn % 4];
			mgpu_job	job = merge_job(type, sets[turn % 5], 4, length[0], length[1], turn % 2);

			if (length[0] > 1)
			{
				check_unsorted(job, plan, 1, 0);
				check_unsorted(job, plan, length[0] - 1, 0);
				check_unsorted(job, plan, 1 + random_bits() % (length[0] - 1), 0);
			}
			if (length[1] > 1)
			{
				check_unsorted(job, plan, 0, 1);
				check_unsorted(job, plan, 0, length[1] - 1);
				check_unsorted(job, plan, 0, 1 + random_bits() % (length[1] - 1));
			}
			if (length[0] > 1 && length[1] > 1)
				check_unsorted(job, plan, length[0] - 1, 1);
		}
	}
	check_op(merge_job({MGPU_KEY_SIGNED, 4}, MGPU_OUT_KEYS, 0, 3000, 3000, 0), whole, "after unsorted inputs");
}

/* Floats: NaN is largest, whatever its bits; zeros of either sign are equal. */
static void
test_float_order(void)
{
	mgpu_job	job = merge_job({MGPU_KEY_FLOAT, 4}, MGPU_OUT_KEYS, 0, 4, 2, 0);
	op_data		data(job);
	const uint32_t a[] = {0x80000000, 0x00000000, 0x7FC00001, 0xFFC00002};
	const uint32_t b[] = {0x80000000, 0x7FC00000};
	const uint32_t merged[] = {0x80000000, 0x00000000, 0x80000000, 0x7FC00001, 0xFFC00002, 0x7FC00000};
	mgpu_error	err = {};

	memcpy(data.inputs[MGPU_CHANNEL_KEYS].data(), a, sizeof(a));
	memcpy(data.inputs[MGPU_CHANNEL_B_KEYS].data(), b, sizeof(b));
	CHECK(run_op(job, whole, default_options, data, &err) == MGPU_OK &&
		  memcmp(data.out_keys.data(), merged, sizeof(merged)) == 0, "equal floats: %s", err.message);
}

/* --------------------------------------------------------------- downloads */

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
check_download(const mgpu_job &job, int num_threads, int expected_threads)
{
	uint64_t	bytes = result_items(job) * ((job.outputs & MGPU_OUT_KEYS ? job.key_width : 0) + job.value_width +
											 (job.outputs & MGPU_OUT_INDICES ? 4 : 0));
	op_data		data = check_op(job, whole, "download", num_threads);

	CHECK(data.stats.num_threads == expected_threads, "%d threads of %d", data.stats.num_threads, num_threads);
	if (!quick)
		printf("download of %.1f MB, %d threads: %.2f ms, %.1f GB/s, slowest poll %.1f ms\n", bytes * 1e-6,
			   data.stats.num_threads, data.stats.download_ms, bytes * 1e-6 / data.stats.download_ms,
			   data.slowest_poll_ms);
}

static void
test_downloads(void)
{
	const key_type int4 = {MGPU_KEY_SIGNED, 4};
	uint64_t	size = quick ? 2500003 : 10000019;
	int			tasks_before = num_tasks();

	/* 8 MB and one byte less */
	check_download(bulk_job(MGPU_OP_REMOVE, 1, (8 << 20) + 3, 3), 4, 4);
	check_download(bulk_job(MGPU_OP_REMOVE, 1, (8 << 20) + 3, 4), 4, 1);
	for (int num_threads = 1; num_threads <= 8; num_threads *= 2)
	{
		check_download(merge_job(int4, MGPU_OUT_KEYS, 0, size / 2, size / 2, 0), num_threads, std::min(num_threads, 5));
		check_download(bulk_job(MGPU_OP_INSERT, 16, size / 10, size), num_threads, std::min(num_threads, 5));
	}
	/* outputs one after the other, of lengths that end amid pieces */
	check_download(merge_job({MGPU_KEY_UNSIGNED, 2}, MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES, 1, size / 3,
							 size / 2, 1), 4, 4);
	check_network(int4, size, 0, large_slices, 4);
	check_tasks(tasks_before);
}

/* Others hold slots of the ring: fewer for a download, or none. */
static void
test_scarce_slots(void)
{
	mgpu_job	job = merge_job({MGPU_KEY_SIGNED, 4}, MGPU_OUT_KEYS | MGPU_OUT_VALUES, 4, 1000, 1000, 0);
	op_data		data(job);
	mgpu_binding binding = data.bind(job, slices);
	mgpu_error	err = {};
	mgpu_run   *runs[2];

	for (mgpu_run *&run : runs)
	{
		CHECK(gpu->open(&job, &binding, &default_options, &run, &err) == MGPU_OK, "%s", err.message);
		for (int channel = 0; channel < MGPU_NUM_CHANNELS; channel++)
		{
			void	   *slot;
			uint64_t	slot_bytes;

			CHECK(gpu->input_slot(run, (mgpu_channel) channel, &slot, &slot_bytes, &err) == MGPU_OK, "%s", err.message);
		}
		check_op(bulk_job(MGPU_OP_REMOVE, 8, 3000000, 5), whole, "few slots or none", 4);
	}
	for (mgpu_run *run : runs)
		gpu->release(run);
	check_op(bulk_job(MGPU_OP_REMOVE, 8, 3000000, 5), whole, "slots again", 4);
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
	uint64_t	free_before = 0;
	int			tasks_before = num_tasks();

	for (int round = 0; round < (quick ? 1 : 2); round++)
	{
		for (const mgpu_job &job : jobs)
		{
			for (int num_polls = -1; num_polls <= 6; num_polls++)
				end_after(job, num_polls, num_polls % 2 == round);
		}
		if (round == 0)
			free_before = free_bytes_now();
	}
	CHECK(free_bytes_now() == free_before, "ended runs left device memory behind");
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

		options.device_memory_limit = gpu->workspace_bytes(&job, &options) - 1;
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
test_ops(void)
{
	test_merges();
	test_bulk();
	test_network();
	test_unsorted();
	test_float_order();
	test_downloads();
	test_scarce_slots();
	test_early_ends();
	test_limits();
	test_op_misuse();
}

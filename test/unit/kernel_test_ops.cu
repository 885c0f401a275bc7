/*
 * kernel_test_ops.cu
 *		Merges, bulk remove and insert and the odd-even network through the CUDA
 *		executor: every operation, key and output, and inputs that are not in order.
 */
#include "kernel_test_op_jobs.cuh"

/* -------------------------------------------------------- every operation */

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

				CHECK(run_op(job, whole, default_options, data, &err) == MGPU_UNSUPPORTED, "a network of 16 bytes");
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

void
test_ops(void)
{
	test_merges();
	test_bulk();
	test_network();
	test_unsorted();
	test_float_order();
}

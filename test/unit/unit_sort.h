/*
 * unit_sort.h
 *		One sort by the CPU executor, compared with qsort.
 *
 * A case describes the data, the job and the kind of input.  The tunables are shrunk so
 * that a few thousand items use the code paths of many millions: several chunks,
 * buckets, runs and tasks.
 */
#ifndef MGPU_UNIT_SORT_H
#define MGPU_UNIT_SORT_H

#include "unit_run.h"

/* A job, its data, and whether its input is streamed. */
typedef struct unit_sort_case
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
	mgpu_radix_choice radix;
} unit_sort_case;

/* Memory of exactly the bytes that the executor may use, so that ASan finds overruns. */
typedef struct unit_sort_data
{
	char	   *keys;
	char	   *values;
	char	   *out_keys;
	char	   *out_values;
	uint32_t   *out_indices;
	unit_code  *order;
} unit_sort_data;

static inline mgpu_job
unit_sort_job(const unit_sort_case *test)
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

static inline void
unit_sort_make(const unit_sort_case *test, unit_sort_data *data)
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

static inline void
unit_sort_free(unit_sort_data *data)
{
	free(data->keys);
	free(data->values);
	free(data->out_keys);
	free(data->out_values);
	free(data->out_indices);
	free(data->order);
}

/* Bind all input.  unit_run_job unbinds what is to be streamed. */
static inline mgpu_binding
unit_sort_bind(const unit_sort_case *test, const unit_sort_data *data)
{
	mgpu_binding binding = {0};

	binding.in_keys = data->keys;
	if (test->outputs & MGPU_OUT_KEYS)
		binding.out_keys = data->out_keys;
	if (test->outputs & MGPU_OUT_INDICES)
		binding.out_indices = data->out_indices;
	if (test->outputs & MGPU_OUT_VALUES)
	{
		binding.in_values = data->values;
		binding.out_values = data->out_values;
	}
	return binding;
}

static inline void
unit_sort_check(const unit_sort_case *test, unit_sort_data *data)
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

/*
 * The executor need not use the requested algorithm.  It treats RADIX like AUTO, and
 * also MERGE and LOCALITY for pairs whose key and index together exceed 8 bytes.
 */
static inline void
unit_sort_check_algorithm(const unit_sort_case *test, mgpu_algorithm algorithm)
{
	bool		is_merge = test->algorithm == MGPU_ALGORITHM_MERGE || test->algorithm == MGPU_ALGORITHM_LOCALITY;

	if (is_merge && (test->op == MGPU_OP_SORT || test->type->width <= 4))
		UNIT_CHECK(algorithm == (mgpu_algorithm) test->algorithm);
	else
		UNIT_CHECK(algorithm == MGPU_ALGORITHM_QUICK ||
				   (algorithm == MGPU_ALGORITHM_RADIX && test->op == MGPU_OP_SORT && test->type->width <= 2));
}

static inline void
unit_sort_check_stats(const unit_sort_case *test, const mgpu_run_stats *stats)
{
	UNIT_CHECK(stats->num_threads >= 1 && stats->num_threads <= test->num_threads);
	UNIT_CHECK(stats->upload_ms == 0 && stats->download_ms == 0 && stats->kernel_ms >= 0);
	unit_sort_check_algorithm(test, stats->algorithm);
}

static inline void
unit_sort_describe(const unit_sort_case *test)
{
	UNIT_CONTEXT("%s %s op %u outputs %u values %u descending %u algorithm %u items %llu threads %d %s",
				 test->type->name, unit_shape_names[test->shape], test->op, test->outputs, test->value_width,
				 test->descending, test->algorithm, (unsigned long long) test->num_items, test->num_threads,
				 test->streamed ? "streamed" : "whole");
}

/* The streamed channels of a case, as bits for unit_run_job. */
static inline unsigned
unit_sort_streamed(const unit_sort_case *test)
{
	if (!test->streamed)
		return 0;
	return 1 << MGPU_CHANNEL_KEYS | (test->outputs & MGPU_OUT_VALUES ? 1 << MGPU_CHANNEL_VALUES : 0);
}

static inline void
unit_sort_run(const unit_sort_case *test)
{
	mgpu_job	job = unit_sort_job(test);
	mgpu_run_stats stats = {0};
	mgpu_error	err = {MGPU_OK, ""};
	mgpu_binding binding;
	mgpu_status status;
	unit_sort_data data;

	mgpu_cpu_tunables.radix = test->radix;
	unit_sort_describe(test);
	unit_sort_make(test, &data);
	binding = unit_sort_bind(test, &data);
	status = unit_run_job(&job, &binding, unit_sort_streamed(test), test->num_threads, &stats, &err);
	UNIT_CHECK(status == MGPU_OK);
	if (status == MGPU_OK)
	{
		unit_sort_check_stats(test, &stats);
		unit_sort_check(test, &data);
	}
	unit_sort_free(&data);
}

/* Limits so small that 3,000 items make several chunks, buckets, runs and tasks. */
static inline void
unit_sort_shrink_tunables(void)
{
	mgpu_cpu_tunables.slot_bytes = 1024;
	mgpu_cpu_tunables.step_bytes = 4096;
	mgpu_cpu_tunables.threads_min_bytes = 512;
	mgpu_cpu_tunables.direct_bytes = 6000;
	mgpu_cpu_tunables.radix_bytes = 2000;
	mgpu_cpu_tunables.count_min_items = 600;
	mgpu_cpu_tunables.chunk_bytes = 1024;
	mgpu_cpu_tunables.bucket_bytes = 1200;
	mgpu_cpu_tunables.pair_direct_items = 500;
	mgpu_cpu_tunables.pair_chunk_items = 400;
	mgpu_cpu_tunables.pair_bucket_items = 150;
	mgpu_cpu_tunables.samples_per_bucket = 16;
	mgpu_cpu_tunables.tile_items = 16;
}

static inline unit_sort_case
unit_sort_random(uint64_t num_items)
{
	static const uint32_t value_widths[] = {1, 2, 4, 8, 16};
	unit_sort_case test;

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
	test.radix = (mgpu_radix_choice) unit_random_below(3);
	return test;
}

#endif							/* MGPU_UNIT_SORT_H */

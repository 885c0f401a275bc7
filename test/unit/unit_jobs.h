/*
 * unit_jobs.h
 *		Random jobs of all operations, with their data and the CPU executor's answers.
 */
#ifndef MGPU_UNIT_JOBS_H
#define MGPU_UNIT_JOBS_H

#include "core/service/slot.h"
#include "unit_run.h"

/* Memory is of exactly the bytes that count, so that ASan finds overruns. */
typedef struct unit_job
{
	mgpu_job	job;
	mgpu_binding binding;		/* inputs, all whole */
	mgpu_status status;
	mgpu_run_stats stats;
	char	   *outputs[MGPU_NUM_OUTPUTS];	/* NULL: not of this job */
} unit_job;

/* Mostly few items: many jobs find more than large ones. */
static inline uint64_t
unit_job_items(uint64_t most)
{
	uint64_t	limits[] = {1, 20, 1000, 5000, most / 4, most};

	return unit_random_below(limits[unit_random_below(6)] + 1);
}

static inline void *
unit_job_values(uint64_t bytes)
{
	char	   *values = unit_allocate(bytes);

	for (uint64_t i = 0; i < bytes; i++)
		values[i] = (char) unit_random();
	return values;
}

static inline void *
unit_job_keys(const unit_type *type, uint64_t num_items)
{
	void	   *keys = unit_allocate(num_items * type->width);

	unit_fill(type, (unit_shape) unit_random_below(UNIT_NUM_SHAPES), keys, num_items);
	return keys;
}

/* Sorted as a merge wants them. */
static inline void *
unit_job_sorted_keys(const unit_type *type, uint32_t descending, uint64_t num_items)
{
	mgpu_job	job = {
		.op = MGPU_OP_SORT,.key_kind = type->kind,.key_width = type->width,.outputs = MGPU_OUT_KEYS,
		.descending = descending,.num_items = num_items
	};
	void	   *keys = unit_job_keys(type, num_items);
	mgpu_binding binding = {.in_keys = keys,.out_keys = unit_allocate(num_items * type->width)};
	mgpu_run_stats stats;
	mgpu_error	error;

	UNIT_CHECK(unit_run_job(&job, &binding, 0, 1, &stats, &error) == MGPU_OK);
	free(keys);
	return binding.out_keys;
}

/* Ascending numbers below limit, strictly if they are unique. */
static inline uint32_t *
unit_job_numbers(uint64_t count, uint64_t limit, bool unique, bool from_0)
{
	uint32_t   *numbers = unit_allocate(count * sizeof(uint32_t));
	uint64_t	left = limit - (unique ? count : 1);
	uint64_t	number = 0;

	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	step = i == 0 && from_0 ? 0 : unit_random_below(left * 2 / (count - i) + 1);

		if (step > left)
			step = left;
		left -= step;
		number += step;
		numbers[i] = (uint32_t) number;
		number += unique;
	}
	return numbers;
}

static inline void
unit_job_set_keys(unit_job *test, const unit_type *type)
{
	mgpu_job   *job = &test->job;

	job->key_kind = type->kind;
	job->key_width = type->width;
	job->descending = (uint32_t) unit_random_below(2);
	job->algorithm = (uint32_t) unit_random_below(4);
	job->outputs = mgpu_job_is_pairs(job) ? 1 + (uint32_t) unit_random_below(7) : MGPU_OUT_KEYS;
	if (!mgpu_job_is_merge(job))
	{
		test->binding.in_keys = unit_job_keys(type, job->num_items);
		return;
	}
	/* one in eight is not sorted */
	test->binding.in_keys = unit_random_below(8) == 0 ? unit_job_keys(type, job->num_items) :
		unit_job_sorted_keys(type, job->descending, job->num_items);
	test->binding.in_b_keys = unit_job_sorted_keys(type, job->descending, job->num_b_items);
}

static inline void
unit_job_set_values(unit_job *test)
{
	mgpu_job   *job = &test->job;

	if ((job->outputs & MGPU_OUT_VALUES) == 0)
		return;
	job->value_width = 1u << unit_random_below(5);
	test->binding.in_values = unit_job_values(job->num_items * job->value_width);
	if (mgpu_job_is_merge(job) || job->op == MGPU_OP_INSERT)
		test->binding.in_b_values = unit_job_values(job->num_b_items * job->value_width);
}

static inline void
unit_job_set_answer(unit_job *test)
{
	mgpu_binding binding = test->binding;
	mgpu_error	error;

	for (int i = 0; i <= MGPU_OUTPUT_VALUES; i++)
	{
		if (test->job.outputs & 1u << i)
			test->outputs[i] = unit_allocate(mgpu_output_bytes(&test->job, (mgpu_output) i));
	}
	binding.out_keys = test->outputs[MGPU_OUTPUT_KEYS];
	binding.out_indices = (uint32_t *) test->outputs[MGPU_OUTPUT_INDICES];
	binding.out_values = test->outputs[MGPU_OUTPUT_VALUES];
	test->status = unit_run_job(&test->job, &binding, 0, 1, &test->stats, &error);
	UNIT_CHECK(test->status == MGPU_OK || test->status == MGPU_NOT_SORTED);
}

/* Where a bulk remove or insert takes place. */
static inline void
unit_job_set_positions(unit_job *test)
{
	mgpu_job   *job = &test->job;
	bool		inserts = job->op == MGPU_OP_INSERT;

	job->outputs = MGPU_OUT_VALUES;
	test->binding.in_positions = unit_job_numbers(job->num_b_items, job->num_items + inserts, !inserts, false);
}

static inline void
unit_job_set_segments(unit_job *test)
{
	mgpu_job   *job = &test->job;

	job->num_segments = 1 + unit_random_below(job->num_items);
	test->binding.in_segment_heads = unit_job_numbers(job->num_segments, job->num_items, true, true);
}

static inline void
unit_job_make(unit_job *test, uint64_t most)
{
	mgpu_job   *job = &test->job;

	memset(test, 0, sizeof(*test));
	job->op = MGPU_OP_SORT + (uint32_t) unit_random_below(MGPU_OP_ODD_EVEN_SORT);
	job->num_items = unit_job_items(most);
	if (mgpu_job_is_merge(job) || job->op == MGPU_OP_INSERT)
		job->num_b_items = unit_job_items(most);
	else if (job->op == MGPU_OP_REMOVE)
		job->num_b_items = unit_random_below(job->num_items + 1);
	if (job->op == MGPU_OP_REMOVE || job->op == MGPU_OP_INSERT)
		unit_job_set_positions(test);
	else
		unit_job_set_keys(test, &unit_types[unit_random_below(UNIT_NUM_TYPES)]);
	if ((job->op == MGPU_OP_SORT || job->op == MGPU_OP_SORT_PAIRS) && job->num_items > 0 && unit_random_below(2) == 0)
		unit_job_set_segments(test);
	unit_job_set_values(test);
	unit_job_set_answer(test);
}

static inline void
unit_job_free(unit_job *test)
{
	free((void *) test->binding.in_keys);
	free((void *) test->binding.in_values);
	free((void *) test->binding.in_b_keys);
	free((void *) test->binding.in_b_values);
	free((void *) test->binding.in_positions);
	free((void *) test->binding.in_segment_heads);
	for (int i = 0; i < MGPU_NUM_OUTPUTS; i++)
		free(test->outputs[i]);
}

#endif							/* MGPU_UNIT_JOBS_H */

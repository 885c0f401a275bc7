/*
 * kernel_test_sort_jobs.cuh
 *		What tests of sorts through the CUDA executor share: jobs, their data, how they
 *		are run, and what should come of them.
 */
#ifndef MGPU_KERNEL_TEST_SORT_JOBS_CUH
#define MGPU_KERNEL_TEST_SORT_JOBS_CUH

#include "kernel_test_jobs.cuh"

#include "sort/tuning.cuh"

/* What a key comes back as: zeros are +0 and NaNs PostgreSQL's. */
static inline void
canonical_key(const mgpu_job &job, const unsigned char *key, unsigned char *canonical)
{
	memcpy(canonical, key, job.key_width);
	if (job.key_kind != MGPU_KEY_FLOAT)
		return;
	if (job.key_width == 4 && stored<float>(key) == 0)
		memset(canonical, 0, 4);
	if (job.key_width == 8 && stored<double>(key) == 0)
		memset(canonical, 0, 8);
	if (job.key_width == 4 && std::isnan(stored<float>(key)))
	{
		uint32_t	nan = UINT32_C(0x7FC00000);

		memcpy(canonical, &nan, 4);
	}
	if (job.key_width == 8 && std::isnan(stored<double>(key)))
	{
		uint64_t	nan = UINT64_C(0x7FF8000000000000);

		memcpy(canonical, &nan, 8);
	}
}

/* ----------------------------------------------------------------- inputs */

static inline byte_vector
make_keys(const mgpu_job &job)
{
	byte_vector keys(job.num_items * job.key_width);

	for (uint64_t i = 0; i < job.num_items; i++)
	{
		/* low words in front: 16-byte keys often differ in one of their words alone */
		uint64_t	words[2] = {awkward_word(job), awkward_word(job)};

		memcpy(&keys[i * job.key_width], words, job.key_width);
	}
	return keys;
}

/* job.num_segments heads of a job that has any: the first is 0, the rest at random. */
static inline std::vector<uint32_t>
make_heads(const mgpu_job &job)
{
	std::vector<uint32_t> heads;
	uint64_t	wanted = job.num_segments;

	for (uint64_t i = 0; i < job.num_items && wanted > 0; i++)
	{
		if (i != 0 && random_bits() % (job.num_items - i) >= wanted)
			continue;
		heads.push_back((uint32_t) i);
		wanted--;
	}
	return heads;
}

static inline byte_vector
make_values(const mgpu_job &job)
{
	byte_vector values(job.num_items * job.value_width);

	for (unsigned char &byte : values)
		byte = (unsigned char) random_bits();
	return values;
}

/* -------------------------------------------------------------------- runs */

struct run_data
{
	byte_vector keys;
	byte_vector values;
	std::vector<uint32_t> heads;
	byte_vector out_keys;
	byte_vector out_indices;
	byte_vector out_values;
	mgpu_run_stats stats;

	explicit run_data(const mgpu_job &job)
		: keys(make_keys(job)), values(make_values(job)), heads(make_heads(job)), out_keys(poisoned(job.num_items * job.key_width)),
		out_indices(poisoned(job.num_items * 4)), out_values(poisoned(job.num_items * job.value_width)), stats()
	{
	}

	mgpu_binding
	bind(const mgpu_job &job, const run_plan &plan)
	{
		mgpu_binding binding = {};

		binding.in_keys = plan.slice_items == 0 ? keys.data() : nullptr;
		if (job.value_width != 0 && (plan.slice_items == 0 || !plan.stream_values))
			binding.in_values = values.data();
		if (job.num_segments > 0)
			binding.in_segment_heads = heads.data();
		bind_outputs(job, out_keys, out_indices, out_values, &binding);
		return binding;
	}
};

/* Open, feed, submit, poll, stats, release. */
static inline mgpu_status
run_job(const mgpu_job &job, const run_plan &plan, run_data &data, mgpu_error *err)
{
	mgpu_binding binding = data.bind(job, plan);
	mgpu_run   *run;
	mgpu_status status = gpu->open(&job, &binding, &default_options, &run, err);

	if (status != MGPU_OK)
		return status;
	if (binding.in_keys == nullptr)
		status = feed(run, MGPU_CHANNEL_KEYS, data.keys, job.key_width, plan, err);
	if (status == MGPU_OK && job.value_width != 0 && binding.in_values == nullptr)
		status = feed(run, MGPU_CHANNEL_VALUES, data.values, job.value_width, plan, err);
	if (status == MGPU_OK)
		status = gpu->submit(run, err);
	if (status == MGPU_OK)
		status = poll_to_end(run, err);
	if (status == MGPU_OK)
		gpu->stats(run, &data.stats);
	gpu->release(run);
	return status;
}

static inline void
check_results(const mgpu_job &job, const run_data &data, const char *what)
{
	std::vector<uint32_t> order(job.num_items);
	uint64_t	wrong_keys = 0;
	uint64_t	wrong_values = 0;
	uint64_t	wrong_indices = 0;

	for (uint64_t i = 0; i < job.num_items; i++)
		order[i] = (uint32_t) i;
	for (uint64_t segment = 0; segment == 0 || segment < data.heads.size(); segment++)
	{
		uint64_t	begin = data.heads.empty() ? 0 : data.heads[segment];
		uint64_t	end = segment + 1 < data.heads.size() ? data.heads[segment + 1] : job.num_items;

		std::stable_sort(order.begin() + begin, order.begin() + end, [&] (uint32_t a, uint32_t b)
						 {
							 int			result = compare_stored(job, &data.keys[(uint64_t) a * job.key_width],
																&data.keys[(uint64_t) b * job.key_width]);

							 return (job.descending ? -result : result) < 0;
						 });
	}
	for (uint64_t i = 0; i < job.num_items; i++)
	{
		uint64_t	source = order[i];
		unsigned char key[16];

		canonical_key(job, &data.keys[source * job.key_width], key);
		if (job.outputs & MGPU_OUT_KEYS)
			wrong_keys += memcmp(&data.out_keys[i * job.key_width], key, job.key_width) != 0;
		if (job.outputs & MGPU_OUT_INDICES)
			wrong_indices += stored<uint32_t>(&data.out_indices[i * 4]) != source;
		if (job.outputs & MGPU_OUT_VALUES)
			wrong_values += memcmp(&data.out_values[i * job.value_width], &data.values[source * job.value_width],
								   job.value_width) != 0;
	}
	CHECK(wrong_keys == 0 && wrong_indices == 0 && wrong_values == 0, "%s: kind %u, width %u, value width %u, "
		  "outputs %u, descending %u, algorithm %u, %llu items: %llu keys, %llu indices, %llu values are wrong", what,
		  job.key_kind, job.key_width, job.value_width, job.outputs, job.descending, job.algorithm,
		  (unsigned long long) job.num_items, (unsigned long long) wrong_keys, (unsigned long long) wrong_indices,
		  (unsigned long long) wrong_values);
	CHECK(canary_intact(data.out_keys) && canary_intact(data.out_indices) && canary_intact(data.out_values),
		  "%s: memory behind an output was written", what);
}

static inline mgpu_job
make_job(uint32_t kind, uint32_t width, uint32_t outputs, uint32_t value_width, uint64_t num_items)
{
	mgpu_job	job = {};

	job.op = outputs == MGPU_OUT_KEYS ? MGPU_OP_SORT : MGPU_OP_SORT_PAIRS;
	job.key_kind = kind;
	job.key_width = width;
	job.outputs = outputs;
	job.value_width = outputs & MGPU_OUT_VALUES ? value_width : 0;
	job.num_items = num_items;
	return job;
}

static inline void
check_job(const mgpu_job &job, const run_plan &plan, const char *what)
{
	run_data	data(job);
	mgpu_error	err = {};
	mgpu_status status = run_job(job, plan, data, &err);

	CHECK(status == MGPU_OK, "%s: status %d, %s", what, status, err.message);
	if (status != MGPU_OK)
		return;
	check_results(job, data, what);
	CHECK(job.algorithm == MGPU_ALGORITHM_LOCALITY ? data.stats.algorithm == MGPU_ALGORITHM_LOCALITY :
		  data.stats.algorithm == MGPU_ALGORITHM_MERGE || data.stats.algorithm == MGPU_ALGORITHM_RADIX ||
		  (data.stats.algorithm == MGPU_ALGORITHM_LOCALITY && job.algorithm == MGPU_ALGORITHM_AUTO &&
		   job.num_items >= MGPU_PROBE_MIN_ITEMS),
		  "%s: algorithm %d", what, data.stats.algorithm);
	CHECK(job.num_items == 0 || (data.stats.kernel_ms > 0 && data.stats.upload_ms > 0 && data.stats.download_ms > 0),
		  "%s: %g, %g, %g ms", what, data.stats.upload_ms, data.stats.kernel_ms, data.stats.download_ms);
}

#endif							/* MGPU_KERNEL_TEST_SORT_JOBS_CUH */

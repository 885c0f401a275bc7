/*
 * job.c
 *		Validation of jobs, from any source.
 *
 * Later layers rely on these rules and check none of them again: item counts fit
 * 32-bit indices, byte counts fit size_t, and each combination of kind, width and
 * outputs has an implementation.  Rules are plain functions, tried in order, so that
 * the first broken one names itself.  A table of allowed combinations was rejected:
 * it cannot say which field is bad.
 */
#include "job.h"

#include <inttypes.h>
#include <stddef.h>

#define ALL_OUTPUTS (MGPU_OUT_KEYS | MGPU_OUT_INDICES | MGPU_OUT_VALUES)

static bool
is_key_width_allowed(uint32_t kind, uint32_t width)
{
	switch (kind)
	{
		case MGPU_KEY_UNSIGNED:
			return width == 1 || width == 2 || width == 4 || width == 8;
		case MGPU_KEY_SIGNED:
			return width == 2 || width == 4 || width == 8;
		case MGPU_KEY_FLOAT:
			return width == 4 || width == 8;
		default:
			return width == 16;
	}
}

static bool
is_value_width_allowed(uint32_t width)
{
	return width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
}

/* Whether items move by keys.  Otherwise they move by positions, and the job has no keys. */
static bool
has_keys(const mgpu_job *job)
{
	return job->op != MGPU_OP_REMOVE && job->op != MGPU_OP_INSERT;
}

static mgpu_status
validate_keys(const mgpu_job *job, mgpu_error *err)
{
	if (!has_keys(job))
	{
		if (job->key_kind != 0 || job->key_width != 0 || job->descending != 0)
			return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " has no keys", job->op);
		return MGPU_OK;
	}
	if (job->key_kind < MGPU_KEY_UNSIGNED || job->key_kind > MGPU_KEY_BYTES)
		return mgpu_fail(err, MGPU_BAD_JOB, "unknown key kind %" PRIu32, job->key_kind);
	if (!is_key_width_allowed(job->key_kind, job->key_width))
		return mgpu_fail(err, MGPU_BAD_JOB, "key width %" PRIu32 " does not go with key kind %" PRIu32,
						 job->key_width, job->key_kind);
	if (job->descending > 1)
		return mgpu_fail(err, MGPU_BAD_JOB, "descending is %" PRIu32 ", neither 0 nor 1", job->descending);
	return MGPU_OK;
}

static mgpu_status
validate_outputs(const mgpu_job *job, mgpu_error *err)
{
	bool		pairs = mgpu_job_is_pairs(job);

	if (job->outputs == 0 || (job->outputs & ~(uint32_t) ALL_OUTPUTS) != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "unknown outputs 0x%" PRIx32, job->outputs);
	if (!has_keys(job) && job->outputs != MGPU_OUT_VALUES)
		return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " has values as its one output", job->op);
	if (has_keys(job) && !pairs && job->outputs != MGPU_OUT_KEYS)
		return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " has keys as its one output", job->op);
	if ((job->outputs & MGPU_OUT_VALUES) == 0)
	{
		if (job->value_width != 0)
			return mgpu_fail(err, MGPU_BAD_JOB, "value width %" PRIu32 " without values as an output",
							 job->value_width);
	}
	else if (!is_value_width_allowed(job->value_width))
		return mgpu_fail(err, MGPU_BAD_JOB, "value width %" PRIu32 " is not allowed", job->value_width);
	return MGPU_OK;
}

static mgpu_status
validate_b_items(const mgpu_job *job, mgpu_error *err)
{
	switch (job->op)
	{
		case MGPU_OP_MERGE:
		case MGPU_OP_MERGE_PAIRS:
		case MGPU_OP_INSERT:
			if (job->num_b_items > MGPU_MAX_ITEMS - job->num_items)
				return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " and %" PRIu64 " items are more than %" PRIu64,
								 job->num_items, job->num_b_items, MGPU_MAX_ITEMS);
			return MGPU_OK;
		case MGPU_OP_REMOVE:
			if (job->num_b_items > job->num_items)
				return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " positions among %" PRIu64 " items",
								 job->num_b_items, job->num_items);
			return MGPU_OK;
		default:
			if (job->num_b_items != 0)
				return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " has no second input", job->op);
			return MGPU_OK;
	}
}

static mgpu_status
validate_segments(const mgpu_job *job, mgpu_error *err)
{
	if (job->num_segments == 0)
		return MGPU_OK;
	if (job->op != MGPU_OP_SORT && job->op != MGPU_OP_SORT_PAIRS)
		return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " has no segments", job->op);
	if (job->num_segments > job->num_items)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " segments of %" PRIu64 " items",
						 job->num_segments, job->num_items);
	return MGPU_OK;
}

static mgpu_status
validate_size(const mgpu_job *job, mgpu_error *err)
{
	uint64_t	widest = job->key_width > job->value_width ? job->key_width : job->value_width;
	uint64_t	num_items;
	mgpu_status status;

	if (job->num_items > MGPU_MAX_ITEMS)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " items are more than %" PRIu64,
						 job->num_items, MGPU_MAX_ITEMS);
	if ((status = validate_b_items(job, err)) != MGPU_OK)
		return status;
	/* 2^32 items of 16 bytes fit 64 bits, but not every address space */
	num_items = job->num_items + job->num_b_items;
	if (num_items * widest > (uint64_t) PTRDIFF_MAX)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " items of %" PRIu64 " bytes exceed the address space",
						 num_items, widest);
	return validate_segments(job, err);
}

/* All else is in its spec. */
static mgpu_status
validate_group(const mgpu_job *job, mgpu_error *err)
{
	if (job->key_kind != 0 || job->key_width != 0 || job->value_width != 0 || job->outputs != 0 ||
		job->descending != 0 || job->algorithm != 0 || job->num_segments != 0 || job->num_b_items != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " has nothing but items", job->op);
	if (job->num_items > MGPU_MAX_ITEMS)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " items are more than %" PRIu64, job->num_items, MGPU_MAX_ITEMS);
	return MGPU_OK;
}

mgpu_status
mgpu_job_validate(const mgpu_job *job, mgpu_error *err)
{
	mgpu_status status;

	if (job->op < MGPU_OP_SORT || job->op > MGPU_OP_GROUP)
		return mgpu_fail(err, MGPU_BAD_JOB, "unknown operation %" PRIu32, job->op);
	if (job->op == MGPU_OP_GROUP)
		return validate_group(job, err);
	if ((status = validate_keys(job, err)) != MGPU_OK)
		return status;
	if ((status = validate_outputs(job, err)) != MGPU_OK)
		return status;
	if (job->algorithm > MGPU_ALGORITHM_LOCALITY)
		return mgpu_fail(err, MGPU_BAD_JOB, "algorithm %" PRIu32 " cannot be requested", job->algorithm);
	return validate_size(job, err);
}

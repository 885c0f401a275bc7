/*
 * job.c
 *		Validation of jobs, whoever made them.
 *
 * Every later layer relies on these rules and checks none of them again: item
 * counts that fit 32-bit indices, byte counts that fit size_t, and combinations
 * of kind, width and outputs that have an implementation.  Rules are plain
 * functions, tried in order, so that the first broken one names itself.  A
 * table of allowed combinations was rejected: it cannot say which field is bad.
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

static mgpu_status
validate_keys(const mgpu_job *job, mgpu_error *err)
{
	if (job->key_kind < MGPU_KEY_UNSIGNED || job->key_kind > MGPU_KEY_BYTES)
		return mgpu_fail(err, MGPU_BAD_JOB, "unknown key kind %" PRIu32, job->key_kind);
	if (!is_key_width_allowed(job->key_kind, job->key_width))
		return mgpu_fail(err, MGPU_BAD_JOB, "key width %" PRIu32 " does not go with key kind %" PRIu32,
						 job->key_width, job->key_kind);
	return MGPU_OK;
}

static mgpu_status
validate_outputs(const mgpu_job *job, mgpu_error *err)
{
	if (job->outputs == 0 || (job->outputs & ~(uint32_t) ALL_OUTPUTS) != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "unknown outputs 0x%" PRIx32, job->outputs);
	if (job->op == MGPU_OP_SORT && job->outputs != MGPU_OUT_KEYS)
		return mgpu_fail(err, MGPU_BAD_JOB, "a sort of keys alone has keys as its one output");
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
validate_size(const mgpu_job *job, mgpu_error *err)
{
	uint64_t	widest = job->key_width > job->value_width ? job->key_width : job->value_width;

	if (job->num_items > MGPU_MAX_ITEMS)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " items are more than %" PRIu64,
						 job->num_items, MGPU_MAX_ITEMS);
	/* 2^32 items of 16 bytes fit 64 bits, but not every size_t */
	if (job->num_items * widest > (uint64_t) PTRDIFF_MAX)
		return mgpu_fail(err, MGPU_BAD_JOB, "%" PRIu64 " items of %" PRIu64 " bytes exceed the address space",
						 job->num_items, widest);
	return MGPU_OK;
}

mgpu_status
mgpu_job_validate(const mgpu_job *job, mgpu_error *err)
{
	mgpu_status status;

	if (job->op != MGPU_OP_SORT && job->op != MGPU_OP_SORT_PAIRS)
		return mgpu_fail(err, MGPU_BAD_JOB, "unknown operation %" PRIu32, job->op);
	if ((status = validate_keys(job, err)) != MGPU_OK)
		return status;
	if ((status = validate_outputs(job, err)) != MGPU_OK)
		return status;
	if (job->descending > 1)
		return mgpu_fail(err, MGPU_BAD_JOB, "descending is %" PRIu32 ", neither 0 nor 1", job->descending);
	if (job->algorithm > MGPU_ALGORITHM_LOCALITY)
		return mgpu_fail(err, MGPU_BAD_JOB, "algorithm %" PRIu32 " cannot be requested", job->algorithm);
	if (job->reserved != 0)
		return mgpu_fail(err, MGPU_BAD_JOB, "reserved field is %" PRIu32 ", not 0", job->reserved);
	return validate_size(job, err);
}

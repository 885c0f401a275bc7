/*
 * pgerror.c
 *		Turns a status of the core into an ereport().  No other file does.
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "pgerror.h"

static int
status_sqlstate(mgpu_status status)
{
	switch (status)
	{
		case MGPU_HOST_MEMORY:
		case MGPU_DEVICE_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		case MGPU_NO_DEVICE:
			return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
		case MGPU_DEVICE_FAILED:
			return ERRCODE_SYSTEM_ERROR;
		case MGPU_CANCELLED:
			return ERRCODE_QUERY_CANCELED;
		default:
			return ERRCODE_INTERNAL_ERROR;
	}
}

static const char *
status_headline(mgpu_status status)
{
	switch (status)
	{
		case MGPU_HOST_MEMORY:
			return "out of memory";
		case MGPU_DEVICE_MEMORY:
			return "out of GPU memory";
		case MGPU_NO_DEVICE:
			return "no GPU can be used";
		case MGPU_DEVICE_FAILED:
			return "GPU failed";
		case MGPU_CANCELLED:
			return "sort was cancelled";
		default:
			return "sort could not run";
	}
}

/* The core's messages are clauses, but DETAIL must be a sentence. */
static const char *
as_sentence(const char *clause)
{
	char	   *sentence = psprintf("%s.", clause);

	sentence[0] = pg_toupper((unsigned char) sentence[0]);
	return sentence;
}

void
mgpu_raise(const mgpu_error *error)
{
	ereport(ERROR,
			(errcode(status_sqlstate(error->status)),
			 errmsg("%s", status_headline(error->status)),
			 errdetail("%s", as_sentence(error->message)),
			 error->status == MGPU_DEVICE_MEMORY || error->status == MGPU_DEVICE_FAILED
			 ? errhint("Set mgpu.gpu_failure to \"warn\" or mgpu.executor to \"cpu\" to go on with the CPU.") : 0));
	pg_unreachable();
}

void
mgpu_raise_no_gpu(const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("mgpu.executor is \"gpu\", but no GPU can be used"),
			 errdetail("%s", as_sentence(reason)),
			 errhint("Set mgpu.executor to \"auto\" or \"cpu\".")));
	pg_unreachable();
}

void
mgpu_warn_gpu_failure(const mgpu_error *error)
{
	ereport(WARNING,
			(errcode(status_sqlstate(error->status)),
			 errmsg("%s; the CPU does the work instead", status_headline(error->status)),
			 errdetail("%s", as_sentence(error->message)),
			 errhint("mgpu.gpu_failure decides whether this is a warning, an error or silent.")));
}

void
mgpu_raise_not_one_dimensional(int ndim)
{
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("array must be one-dimensional"),
			 errdetail("The array has %d dimensions.", ndim)));
	pg_unreachable();
}

void
mgpu_raise_anyarray(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("could not determine the element type of an argument of type anyarray"),
			 errdetail("A column of type anyarray, such as pg_stats.most_common_vals, can have another element type in each row."),
			 errhint("Cast the argument to text and then to an array type, as in most_common_vals::text::int[].")));
	pg_unreachable();
}

void
mgpu_raise_length_mismatch(const char *a_name, int64 a_items,
						   const char *b_name, int64 b_items)
{
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("arrays must have the same length"),
			 errdetail("%s has %lld elements and %s has %lld.",
					   a_name, (long long) a_items, b_name, (long long) b_items)));
	pg_unreachable();
}

void
mgpu_raise_too_large(int64 num_items)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("array size exceeds the maximum allowed (%d)", (int) MaxArraySize),
			 errdetail("The result would have %lld elements.", (long long) num_items)));
	pg_unreachable();
}

void
mgpu_raise_row_too_large(Size row_bytes)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("row size exceeds the maximum allowed (%zu bytes)", (size_t) MaxAllocSize),
			 errdetail("The two arrays of the result would take %zu bytes.", (size_t) row_bytes),
			 errhint("Two calls, one for the keys and one for the values, return one array each.")));
	pg_unreachable();
}

void
mgpu_raise_not_sorted(int input, int64 subscript)
{
	static const char *const names[] = {"the first array", "the second array", "one of the arrays"};

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("array is not sorted"),
			 errdetail("The element at position %lld of %s belongs before the one at position %lld.",
					   (long long) subscript, names[input], (long long) subscript - 1),
			 errhint("Sort the array first, with the same order arguments.")));
	pg_unreachable();
}

void
mgpu_raise_position(int64 position, int64 first, int64 last)
{
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("position %lld is out of range", (long long) position),
			 last < first
			 ? errdetail("The array is empty.")
			 : errdetail("Positions go from %lld to %lld.", (long long) first, (long long) last)));
	pg_unreachable();
}

void
mgpu_raise_null_element(const char *what, int64 subscript)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not contain nulls", what),
			 errdetail("The element at position %lld is null.", (long long) subscript)));
	pg_unreachable();
}

void
mgpu_raise_heads_order(int64 subscript, int64 previous)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("segment heads must be ascending and unique"),
			 errdetail("Head %lld follows head %lld.", (long long) subscript, (long long) previous)));
	pg_unreachable();
}

/*
 * source_slice.c
 *		Some elements of an array as the input of a job.
 */
#include "postgres.h"

#include "source_slice.h"

/* A run_read_fn. */
static void
read_slice(void *context, Size offset, Size bytes, void *dest)
{
	const source_slice *slice = context;

	array_source_read(slice->source, slice->begin + offset, bytes, dest);
}

const void *
source_slice_bind(source_slice *slice, int width, run_reader *reader)
{
	const char *bound = array_source_bound(slice->source, width);

	if (bound)
		return bound + slice->begin;
	reader->read = read_slice;
	reader->context = slice;
	return NULL;
}

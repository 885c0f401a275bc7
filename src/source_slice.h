/*
 * source_slice.h
 *		Some elements of an array as the input of a job.
 */
#ifndef MGPU_SOURCE_SLICE_H
#define MGPU_SOURCE_SLICE_H

#include "run.h"

typedef struct source_slice
{
	array_source *source;
	Size		begin;			/* bytes of elements in front of it */
} source_slice;

/*
 * For a job's binding: where the slice is in memory, or NULL, and reader is set to
 * read it.  slice must live as long as the request.
 */
extern const void *source_slice_bind(source_slice *slice, int width, run_reader *reader);

#endif							/* MGPU_SOURCE_SLICE_H */

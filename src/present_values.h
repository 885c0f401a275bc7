/*
 * present_values.h
 *		The values of an array whose keys, in another one, are not NULL.
 */
#ifndef MGPU_PRESENT_VALUES_H
#define MGPU_PRESENT_VALUES_H

#include "array_source.h"

/*
 * Reads values in their order: those with a key go where they are asked for, those
 * without to null_dest.  Values are of one width, none NULL, and may be streamed.
 */
typedef struct present_values
{
	array_source *vals;
	const bits8 *key_bitmap;	/* which keys are there */
	int			width;
	char	   *null_dest;
	char	   *block;			/* of values, with their source's four bytes in front; palloc'd */
	int64		begin;			/* of the block */
	int64		end;
	int64		next;			/* that has not been read yet */
	char	   *null_next;
} present_values;

extern void present_values_open(present_values *reader, array_source *vals, const bits8 *key_bitmap,
								int width, void *null_dest);

/* A run_read_fn, whose context is the reader. */
extern void present_values_read(void *context, Size offset, Size bytes, void *dest);

/* After the last one with a key has been read: those without that are left. */
extern void present_values_close(present_values *reader);

#endif							/* MGPU_PRESENT_VALUES_H */

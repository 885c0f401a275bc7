/*
 * source.h
 *		Reads an array argument, whole or in slices as it lies in its table.
 */
#ifndef MGPU_ARRAY_SOURCE_H
#define MGPU_ARRAY_SOURCE_H

#include "access/detoast.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "compat.h"

/*
 * An array argument.  Either array points to all of it in memory, or it is
 * still in its TOAST table (array is NULL) and is read through
 * array_source_read.  null_bitmap is in memory in both cases, NULL when the
 * array has none.  Memory belongs to the context that was current at open.
 */
typedef struct array_source
{
	Datum		datum;			/* the argument as it came */
	ArrayType  *array;
	Oid			element_type;
	int			ndim;
	int			dims[MAXDIM];
	int			lower_bounds[MAXDIM];
	int64		num_items;		/* NULL elements included */
	int64		num_nulls;
	bits8	   *null_bitmap;
	Size		data_offset;	/* of the first element, from the array's start */
	Size		data_bytes;

	/* streamed arrays alone */
	struct varatt_external toast_pointer;
	Relation	toast_relation;
} array_source;

/* Read the array's geometry; large stored arrays are left where they are. */
extern void array_source_open(array_source *source, Datum datum);

/* Bring all of the array into memory; a no-op if it is there. */
extern void array_source_load(array_source *source);

/*
 * Copy bytes of element data, starting at offset from the first element's
 * start, to dest.  The 4 bytes before dest must be readable and writable; they
 * keep their value.
 */
extern void array_source_read(array_source *source, Size offset, Size bytes, void *dest);

extern void array_source_close(array_source *source);

/* ereport(ERROR) for an array of two dimensions or more. */
extern void check_one_dimensional(const array_source *source);

/* ereport(ERROR) if the element data are fewer bytes than this. */
extern void array_source_require(const array_source *source, Size bytes);

/*
 * The element data as an executor wants them bound: in memory and aligned for
 * elements of width bytes.  NULL: they must be fed in slices.
 */
extern const void *array_source_bound(const array_source *source, int width);

static inline bool
array_source_is_streamed(const array_source *source)
{
	return source->array == NULL;
}

static inline char *
array_source_data(const array_source *source)
{
	return (char *) source->array + source->data_offset;
}

#endif							/* MGPU_ARRAY_SOURCE_H */

/*
 * source.h
 *		Reads an array argument, whole or in slices from its TOAST table.
 */
#ifndef MGPU_ARRAY_SOURCE_H
#define MGPU_ARRAY_SOURCE_H

#include "access/detoast.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "compat.h"

/*
 * An array argument.  Either array points to all of it in memory, or array is NULL and
 * array_source_read reads it from its TOAST table.  null_bitmap is in memory in both cases, or
 * NULL if the array has none.  Memory belongs to the context that was current at open.
 */
typedef struct array_source
{
	Datum		datum;			/* the SQL argument */
	ArrayType  *array;
	Oid			element_type;
	int			ndim;
	int			dims[MAXDIM];
	int			lower_bounds[MAXDIM];
	int64		num_items;		/* NULL elements included */
	int64		num_nulls;
	uint8	   *null_bitmap;
	Size		data_offset;	/* of the first element, from the array's start */
	Size		data_bytes;

	/* only for streamed arrays */
	struct varatt_external toast_pointer;
	Relation	toast_relation;
} array_source;

/*
 * Read the array's dimensions, type and bitmap.  The elements of large stored arrays stay in the
 * TOAST table.
 */
extern void array_source_open(array_source *source, Datum datum);

/* The same, and ereport(ERROR) for an array of two dimensions or more. */
extern void array_source_open_vector(array_source *source, Datum datum);

/* Bring the whole array into memory, if it is not there yet. */
extern void array_source_load(array_source *source);

/*
 * Copy bytes of element data to dest.  offset counts from the start of the first element.  The 4
 * bytes before dest must be readable and writable; they keep their value.
 */
extern void array_source_read(array_source *source, Size offset, Size bytes, void *dest);

extern void array_source_close(array_source *source);

/* ereport(ERROR) if there are fewer bytes of element data than this. */
extern void array_source_require(const array_source *source, Size bytes);

/*
 * The element data, if an executor can read them in place: in memory and aligned for elements of
 * width bytes, a power of two.  NULL: they must be fed in slices.
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

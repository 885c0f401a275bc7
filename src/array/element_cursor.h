/*
 * element_cursor.h
 *		Moves forward through an array in memory, by one element or by many.
 */
#ifndef MGPU_ARRAY_ELEMENT_CURSOR_H
#define MGPU_ARRAY_ELEMENT_CURSOR_H

#include "array/element_type.h"
#include "array/source.h"

/* offset belongs to the element at position, or to the next present one if that element is NULL. */
typedef struct element_cursor
{
	const array_source *source;
	const element_type *type;
	int64		position;		/* 0-based */
	Size		offset;			/* from the first element's start */
} element_cursor;

/* Start at the first element.  source must be loaded. */
extern void element_cursor_start(element_cursor *cursor, const array_source *source,
								 const element_type *type);

/* Move to position, which is at most the array's length and not before the current position. */
extern void element_cursor_seek(element_cursor *cursor, int64 position);

/* The element at position.  It must not be NULL or past the end. */
extern Datum element_cursor_datum(const element_cursor *cursor);

#endif							/* MGPU_ARRAY_ELEMENT_CURSOR_H */

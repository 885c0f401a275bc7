/*
 * element_cursor.h
 *		Walks an array in memory forwards, from element to element or by leaps.
 */
#ifndef MGPU_ARRAY_ELEMENT_CURSOR_H
#define MGPU_ARRAY_ELEMENT_CURSOR_H

#include "array/element_type.h"
#include "array/source.h"

/* offset is that of the element at position, or of the next if it is NULL. */
typedef struct element_cursor
{
	const array_source *source;
	const element_type *type;
	int64		position;		/* 0-based */
	Size		offset;			/* from the first element's start */
} element_cursor;

/* source must be loaded. */
extern void element_cursor_start(element_cursor *cursor, const array_source *source,
								 const element_type *type);

/* Move on to position, at most the array's length; never backwards. */
extern void element_cursor_seek(element_cursor *cursor, int64 position);

/* The element here as a Datum; it must not be NULL or past the end. */
extern Datum element_cursor_datum(const element_cursor *cursor);

#endif							/* MGPU_ARRAY_ELEMENT_CURSOR_H */

/*
 * reduced_rows.h
 *		The rows that a reduction adds, for the loops over them.
 */
#ifndef MGPU_EXEC_REDUCED_ROWS_H
#define MGPU_EXEC_REDUCED_ROWS_H

#include "exec/reduced.h"

/* Rows that count: those with a value in the filter's column and in their own. */
typedef struct counted_rows
{
	const column *filter;		/* NULL: no NULLs there */
	const column *values;		/* NULL: no NULLs there */
} counted_rows;

static inline const column *
column_with_nulls(const chunk *rows, int number)
{
	return number >= 0 && rows->columns[number].nulls ? &rows->columns[number] : NULL;
}

static inline counted_rows
counted_rows_of(const reduced_values *values, const chunk *rows)
{
	return (counted_rows) {column_with_nulls(rows, values->filter), column_with_nulls(rows, values->column)};
}

static inline bool
counts(const counted_rows *counted, uint64 row)
{
	return !(counted->filter && column_is_null(counted->filter, row)) &&
		!(counted->values && column_is_null(counted->values, row));
}

/* A state may lie in two lines of the cache.  Always inlined: gcc drops calls of what only prefetches. */
static pg_attribute_always_inline void
fetch_ahead(const reduced_state *state)
{
	__builtin_prefetch(state, 1);
	__builtin_prefetch((const char *) (state + 1) - 1, 1);
}

#endif							/* MGPU_EXEC_REDUCED_ROWS_H */

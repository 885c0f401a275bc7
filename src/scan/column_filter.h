/*
 * column_filter.h
 *		Conditions on one column: a comparison with a constant, IS NULL, IS NOT NULL, a boolean.
 */
#ifndef MGPU_COLUMN_FILTER_H
#define MGPU_COLUMN_FILTER_H

#include "nodes/execnodes.h"

typedef struct column_filter
{
	AttrNumber	attribute;		/* of the relation */
	int			list;			/* set and used by whoever reads the relation */
	uint32		kind;			/* mgpu_key_kind of the column, or 0: only NULLs are looked for */
	uint32		width;
	uint32		outcomes;		/* kept outcomes of the comparison: MGPU_IS_LESS … */
	bool		keeps_null;
	bool		keeps_value;	/* if kind is 0 */
	Expr	   *expr;			/* what the column is compared with, or NULL */
	ExprState  *constant;		/* the same, once it was initialized */
	int16		constant_width; /* another than the column's for integers */
	bool		is_known;		/* the next two have been computed */
	bool		is_null;
	Datum		value;			/* of the column's type; integers: an int8 */
} column_filter;

/* Fill a filter from a condition of a scan.  False: the condition is not one of these. */
extern bool column_filter_fill(column_filter *filter, Expr *condition);

/* Before it is used, in the context that it lives in. */
extern void column_filter_init(column_filter *filter);

/* Compute the constant again when it is next needed. */
static inline void
column_filter_forget(column_filter *filter)
{
	filter->is_known = false;
}

/*
 * values[i] points to the value of row i, NULL for NULL.  Keep those of the num_rows row numbers in kept whose
 * values meet the condition, and return how many that are.
 */
extern uint32 column_filter_apply(column_filter *filter, const char *const *values, uint16 *kept, uint32 num_rows,
								  ExprContext *context);

#endif							/* MGPU_COLUMN_FILTER_H */

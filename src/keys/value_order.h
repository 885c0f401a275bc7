/*
 * value_order.h
 *		Orders values by their type's btree comparison, and by its abbreviated keys.
 */
#ifndef MGPU_VALUE_ORDER_H
#define MGPU_VALUE_ORDER_H

#include "utils/sortsupport.h"

#include "array/element_type.h"

typedef struct value_order
{
	SortSupportData support;
	int			(*compare) (Datum a, Datum b, SortSupport support); /* whole values, ascending */
	bool		has_codes;		/* abbreviated keys are unsigned 64-bit numbers */
} value_order;

/* Prepare in the current memory context.  wants_codes: the caller will make codes if the type has any. */
extern void value_order_prepare(value_order *order, const element_type *type, Oid collation, bool wants_codes);

/*
 * Make unsigned codes.  Different codes order as their values do; equal codes decide nothing.
 * False: the type has no codes, or finds that they do not pay for these values.
 */
extern bool value_order_codes(value_order *order, const Datum *values, int64 num_items, uint64 *codes);

static inline int
value_order_compare(value_order *order, Datum a, Datum b)
{
	return order->compare(a, b, &order->support);
}

#endif							/* MGPU_VALUE_ORDER_H */

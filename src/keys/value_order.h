/*
 * value_order.h
 *		The order of a type's values by its btree comparison, and by the numbers
 *		that it abbreviates them to.
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

/* In the current memory context.  wants_codes: codes will be made if there are any. */
extern void value_order_prepare(value_order *order, const element_type *type, Oid collation, bool wants_codes);

/*
 * codes[i] orders, unsigned, as values[i] does: different codes decide, equal ones do
 * not.  False: the type has none, or finds that they do not pay for these values.
 */
extern bool value_order_codes(value_order *order, const Datum *values, int64 num_items, uint64 *codes);

static inline int
value_order_compare(value_order *order, Datum a, Datum b)
{
	return order->compare(a, b, &order->support);
}

#endif							/* MGPU_VALUE_ORDER_H */

/*
 * forms.h
 *		Orders keys that are strings or values, for order.c.
 */
#ifndef MGPU_ORDER_FORMS_H
#define MGPU_ORDER_FORMS_H

#include "keys/sort_keys.h"
#include "order/sort_spec.h"

extern void order_strings(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks);
extern void order_values(const sort_spec *spec, const segment_list *segments, const sort_keys *keys, uint32 *ranks);

#endif							/* MGPU_ORDER_FORMS_H */

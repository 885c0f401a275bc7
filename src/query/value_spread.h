/*
 * value_spread.h
 *		How many values an expression may have.
 */
#ifndef MGPU_QUERY_VALUE_SPREAD_H
#define MGPU_QUERY_VALUE_SPREAD_H

#include "nodes/pathnodes.h"

/* Most different values of an expression, without NULL, by what it does to a column, of which statistics know the ends; HUGE_VAL: not known. */
extern double value_spread_count(PlannerInfo *root, Node *expr);

#endif							/* MGPU_QUERY_VALUE_SPREAD_H */

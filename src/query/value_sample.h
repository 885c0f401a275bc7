/*
 * value_sample.h
 *		How many values a part of a document may have.
 */
#ifndef MGPU_QUERY_VALUE_SAMPLE_H
#define MGPU_QUERY_VALUE_SAMPLE_H

#include "nodes/pathnodes.h"

/* Of an expression that is made of one text of a jsonb column, in so many rows; HUGE_VAL: it is another, or nobody knows. */
extern double value_sample_count(PlannerInfo *root, Node *expr, double num_rows);

#endif							/* MGPU_QUERY_VALUE_SAMPLE_H */

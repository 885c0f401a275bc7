/*
 * reduced_squares.h
 *		Standard deviations and variances of integers and numeric.
 */
#ifndef MGPU_EXEC_REDUCED_SQUARES_H
#define MGPU_EXEC_REDUCED_SQUARES_H

#include "exec/reduced.h"

/* As reduced_add_rows, reduced_add_each, reduced_take_back of one row, and reduced_result. */
extern void reduced_squares_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end,
									 reduced_state *to);
extern void reduced_squares_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to);
extern bool reduced_squares_take_back(const reduced_values *values, const column *col, uint64 row, reduced_state *state);
extern Datum reduced_squares_result(reduction what, const reduced_state *state, bool *is_null);

#endif							/* MGPU_EXEC_REDUCED_SQUARES_H */

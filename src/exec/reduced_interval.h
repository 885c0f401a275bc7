/*
 * reduced_interval.h
 *		Sums and averages of interval.
 */
#ifndef MGPU_EXEC_REDUCED_INTERVAL_H
#define MGPU_EXEC_REDUCED_INTERVAL_H

#include "exec/reduced.h"

/* As reduced_add_rows and reduced_add_each (reduced.h). */
extern void reduced_interval_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin,
									  uint64 end, reduced_state *to);
extern void reduced_interval_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to);

/* What an aggregate returns for a state with values, in the current context. */
extern Datum reduced_interval_result(reduction what, const reduced_state *state);

#endif							/* MGPU_EXEC_REDUCED_INTERVAL_H */

/*
 * reduced_numeric.h
 *		Sums, averages, minima and maxima of numeric.
 */
#ifndef MGPU_EXEC_REDUCED_NUMERIC_H
#define MGPU_EXEC_REDUCED_NUMERIC_H

#include "exec/reduced.h"

/* As reduced_add_rows and reduced_add_each (reduced.h), for the kinds of numeric. */
extern void reduced_numeric_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin,
									 uint64 end, reduced_state *to);
extern void reduced_numeric_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to);

/* As reduced_take_back, of a sum and one value. */
extern bool reduced_numeric_take_back(const void *stored, reduced_state *state);

/* What an aggregate of those kinds returns for a state with values, in the current context. */
extern Datum reduced_numeric_result(reduction what, const reduced_state *state);

/* States of sums, and extremes, that were computed as integers, of a scale.  shown: the largest display scale, or the extreme's. */
extern void reduced_numeric_take_sum(const reduced_values *values, int128 sum, int scale, int shown, reduced_state *state);
extern int128 reduced_numeric_extreme(int64 number, int scale, int shown);

/* So too of quotients, whose two numbers were added (core/program.h). */
extern void reduced_numeric_take_quotients(const reduced_values *values, int128 quotients, int128 rests, int shown, reduced_state *state);

/* And the extremes of quotients, which are copied. */
extern void reduced_numeric_take_extremes(const reduced_values *values, Datum least, Datum greatest, reduced_state *state);

/*
 * Call a function of PostgreSQL's aggregates of numeric with a state, or NULL, and a value.  Returns the new state.  Such functions ask their caller for
 * nothing but the memory of their states.
 */
extern void *reduced_call(PGFunction function, MemoryContext context, void *state, Datum value);

/* An integer as numeric. */
extern Datum reduced_integer_to_numeric(int128 value);

#endif							/* MGPU_EXEC_REDUCED_NUMERIC_H */

/*
 * reduced.h
 *		What counts, sums, averages, minima and maxima need to know of a group's values.
 */
#ifndef MGPU_EXEC_REDUCED_H
#define MGPU_EXEC_REDUCED_H

#include "batch/pick.h"
#include "query/reductions.h"

typedef struct reduced_integers
{
	int64		min;
	int64		max;
	int128		sum;
} reduced_integers;

typedef struct reduced_reals
{
	float8		min;
	float8		max;
	float8		sum;
	float8		squares;		/* of differences from the mean; NaN once a value is infinite */
	float4		narrow_sum;		/* of float4, in that precision */
} reduced_reals;

/* In units of 10^-16; see reduced_numeric.c. */
typedef struct reduced_numeric_sum
{
	int128		sum;			/* of plain numbers */
	void	   *odd;			/* the state of PostgreSQL's sum of the others; NULL: there are none */
	int32		scale;			/* the largest display scale of plain numbers */
} reduced_numeric_sum;

typedef struct odd_extremes odd_extremes;

/* With their display scales. */
typedef struct reduced_numeric_extremes
{
	int128		min;
	int128		max;
	odd_extremes *odd;			/* in place of both, once a value has been odd */
} reduced_numeric_extremes;

/* Of each part. */
typedef struct reduced_interval
{
	int128		time;			/* microseconds */
	int64		days;
	int64		months;
	int			infinities;		/* a bit for each that was met */
} reduced_interval;

/* Of integers, and of numerics in units of 10^-scale. */
typedef struct reduced_squares
{
	union
	{
		int128		sum;
		void	   *state;		/* of PostgreSQL's functions, in place of all others */
	};
	int128		squares;		/* in units of 10^(-2 scale) */
	int16		scale;
	int16		shown;			/* the largest display scale */
	bool		is_state;
} reduced_squares;

typedef struct reduced_state
{
	int64		count;			/* negative: of rows of no group; it is forgotten, and raises no error */
	union
	{
		reduced_integers integers;
		reduced_reals reals;
		reduced_numeric_sum numeric_sum;
		reduced_numeric_extremes numeric_extremes;
		reduced_interval interval;
		reduced_squares squares;
	};
} reduced_state;

/* Which values: those of a column in rows where the filter's column has a value.  Columns may be -1: all rows. */
typedef struct reduced_values
{
	reduced_kind kind;
	int			column;
	int			filter;
	bool		sums;			/* a sum of floats is wanted: an overflow is an error then */
	MemoryContext context;		/* of what states of numerics point to */
} reduced_values;

struct device_query;

/* What aggregates of the same values share. */
typedef struct reduced_column
{
	reduced_values values;
	reduced_state *states;		/* of groups that are folded (group_fold.c); NULL: none are */
	uint32		num_states;
	const struct device_query *answer;	/* of a GPU, which has computed all groups; NULL: it has not */
	int			output;			/* of the answer */
	uint64		turn;			/* of the group that has the state below */
	reduced_state state;
} reduced_column;

/* A state is zero at first.  Values are added in the order of the rows, as PostgreSQL's functions add them. */

/* Add the rows of positions [begin, end) to one state. */
extern void reduced_add_rows(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin,
							 uint64 end, reduced_state *to);

/* Add each row to the state of its group: groups[i] for row i. */
extern void reduced_add_each(const reduced_values *values, const chunk *rows, const uint32 *groups, reduced_state *to);

/* Take rows back that were added (reduced_back.c), if the reduction does that.  false: the state is of no use any more, since nothing is left of it, or for its values. */
extern bool reduced_take_back(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end, reduced_state *state);

/*
 * What an aggregate returns for a state, in the current context (reduced_result.c).  width: of the column whose values were added.
 */
extern Datum reduced_result(reduction what, const reduced_state *state, uint32 width, bool *is_null);

/* The same as a number, but for the last digits.  false: it is none, or NULL. */
extern bool reduced_estimate(reduction what, const reduced_state *state, double *number);

/*
 * Add num_states states, state i to that of its group: groups[i], or to the only one if groups is NULL.
 * States of numerics may point to memory of their process: they are not combined.
 */
extern void reduced_combine(const reduced_values *values, const reduced_state *states, uint64 num_states,
							const uint32 *groups, reduced_state *to);

/* Have the state of a group as a GPU has computed it. */
extern void reduced_take(reduced_column *reduced, uint32 group);

#endif							/* MGPU_EXEC_REDUCED_H */

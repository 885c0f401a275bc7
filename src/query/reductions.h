/*
 * reductions.h
 *		The aggregates that need a count, a sum, extremes or squares of a group's values alone.
 */
#ifndef MGPU_QUERY_REDUCTIONS_H
#define MGPU_QUERY_REDUCTIONS_H

/* How much is known.  A later kind includes what the one before it in the same column knows, but for those behind REDUCED_SPREAD. */
typedef enum reduced_kind
{
	REDUCED_COUNT,
	REDUCED_INTEGER,			/* columns of 1, 2, 4 or 8 bytes; signed, but for those of 1 byte */
	REDUCED_REAL,				/* float4, float8 */
	REDUCED_SPREAD,				/* those, and their squares */
	REDUCED_NUMERIC_SUM,		/* numeric */
	REDUCED_NUMERIC_EXTREMES,
	REDUCED_INTERVAL,
	REDUCED_SQUARES				/* of integers or numeric */
} reduced_kind;

typedef enum reduction
{
	REDUCE_COUNT,
	REDUCE_SUM,					/* as int8 */
	REDUCE_NUMERIC_SUM,
	REDUCE_AVG,
	REDUCE_MIN,
	REDUCE_MAX,
	REDUCE_BOOL_MIN,
	REDUCE_BOOL_MAX,
	REDUCE_FLOAT4_SUM,
	REDUCE_FLOAT4_MIN,
	REDUCE_FLOAT4_MAX,
	REDUCE_FLOAT8_SUM,
	REDUCE_FLOAT8_MIN,
	REDUCE_FLOAT8_MAX,
	REDUCE_FLOAT_AVG,			/* this and the next ones are finished by PostgreSQL's functions */
	REDUCE_STDDEV_SAMP,
	REDUCE_STDDEV_POP,
	REDUCE_VAR_SAMP,
	REDUCE_VAR_POP,
	REDUCE_SUM_OF_NUMERIC,
	REDUCE_AVG_OF_NUMERIC,
	REDUCE_MIN_OF_NUMERIC,
	REDUCE_MAX_OF_NUMERIC,
	REDUCE_SUM_OF_INTERVAL,
	REDUCE_AVG_OF_INTERVAL,
	REDUCE_STDDEV_SAMP_OF_NUMBERS,
	REDUCE_STDDEV_POP_OF_NUMBERS,
	REDUCE_VAR_SAMP_OF_NUMBERS,
	REDUCE_VAR_POP_OF_NUMBERS
} reduction;

typedef struct known_reduction
{
	Oid			aggregate;
	reduction	reduction;
	reduced_kind kind;
} known_reduction;

/* Which need no order of the rows, as sums of floats do: where floats are equal and not the same, no job is done. */
static inline bool
reduction_is_float_extreme(reduction reduction)
{
	return reduction == REDUCE_FLOAT4_MIN || reduction == REDUCE_FLOAT4_MAX || reduction == REDUCE_FLOAT8_MIN || reduction == REDUCE_FLOAT8_MAX;
}

/* Whether values can be taken back from what is known of others: argument is their expression, or NULL. */
extern bool reduction_takes_back(reduction what, const Node *argument);

/* NULL: it needs more. */
extern const known_reduction *known_reduction_of(Oid aggregate);

#endif							/* MGPU_QUERY_REDUCTIONS_H */

/*
 * agg_fraction.h
 *		The fraction (or array of fractions) that a percentile aggregate is asked for.
 *
 * It is an argument of every row, and must be the same in all rows of a group.
 * Where the query has a constant it is kept once; else by group, and groups in a
 * row that have the same one share it.
 */
#ifndef MGPU_AGG_FRACTION_H
#define MGPU_AGG_FRACTION_H

#include "fmgr.h"

/* data: nothing (NULL), a float8, or a float8[] with its length. */
typedef struct agg_fraction
{
	Oid			type_id;		/* FLOAT8OID or FLOAT8ARRAYOID */
	bool		is_null;
	uint32		bytes;
	double		data[FLEXIBLE_ARRAY_MEMBER];
} agg_fraction;

/* Zeros are an empty table. */
typedef struct agg_fractions
{
	MemoryContext context;
	agg_fraction **by_group;
	uint32		capacity;
	agg_fraction *latest;
} agg_fractions;

/* A copy of an argument in context. */
extern agg_fraction *agg_fraction_make(MemoryContext context, Oid type_id, Datum value, bool is_null);

/* The same from bytes that were sent; raises where they are no fraction of the type. */
extern agg_fraction *agg_fraction_receive(MemoryContext context, Oid type_id, bool is_null,
										  const char *data, uint32 bytes);

/* The fraction of a new group, or the group's check against what it has. */
extern void agg_fractions_set(agg_fractions *fractions, uint32 group, agg_fraction *fraction);
extern void agg_fractions_check(const agg_fractions *fractions, uint32 group, const agg_fraction *fraction);

#endif							/* MGPU_AGG_FRACTION_H */

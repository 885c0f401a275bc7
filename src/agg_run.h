/*
 * agg_run.h
 *		One group's rows as bytes, on the way from a parallel worker to the leader.
 *
 * A run is columns one after another, as they lie in the batch:
 *
 *	 header | keys | values | which values are NULL, a byte each | fraction
 *
 * Cells of fixed width are sent as such, elements of variable width as they lie
 * in an array.  values are those of rows with a key, then those of rows without.
 */
#ifndef MGPU_AGG_RUN_H
#define MGPU_AGG_RUN_H

#include "compat.h"

#define AGG_RUN_DESCENDING 0x1
#define AGG_RUN_NULLS_FIRST 0x2
#define AGG_RUN_VALUE_NULLS 0x4
#define AGG_RUN_FRACTION 0x8
#define AGG_RUN_FRACTION_NULL 0x10

typedef struct agg_run_header
{
	int16		leader;			/* number of the aggregate that sends the rows, or -1: here */
	uint16		flags;
	uint32		num_items;		/* rows with a key */
	uint32		num_nulls;		/* rows without */
	uint32		key_bytes;
	uint32		value_bytes;	/* of rows with and without a key, those that are not NULL */
	uint32		fraction_bytes;
} agg_run_header;

/* The bytes that say which values are NULL. */
static inline Size
agg_run_flag_bytes(const agg_run_header *header)
{
	return header->flags & AGG_RUN_VALUE_NULLS ? (Size) header->num_items + header->num_nulls : 0;
}

/* All of the run. */
static inline Size
agg_run_bytes(const agg_run_header *header)
{
	return sizeof(agg_run_header) + header->key_bytes + (Size) header->value_bytes + agg_run_flag_bytes(header) +
		header->fraction_bytes;
}

/* For tests: one run in sixteen becomes otherwise than it was (agg_send.c). */
extern void agg_run_damage(bytea *run, Size header_bytes);

#endif							/* MGPU_AGG_RUN_H */

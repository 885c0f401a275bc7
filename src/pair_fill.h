/*
 * pair_fill.h
 *		Fills the result of a sort of pairs from the front, some positions at a time.
 */
#ifndef MGPU_PAIR_FILL_H
#define MGPU_PAIR_FILL_H

#include "array_gather.h"
#include "pair_result.h"

typedef struct pair_filler
{
	const array_source *keys;
	null_map	map;			/* of keys, if some are NULL */
	array_filler vals;
	array_filler out_keys;
	bool		want_keys;
} pair_filler;

/* Sources are loaded; the result's arrays have no room but for themselves. */
extern void pair_filler_start(pair_filler *filler, pair_result *result, const array_source *keys,
							  const element_type *key_type, const array_source *vals, const element_type *val_type);

/* done: all pairs have been added, or it is an error. */
extern void pair_filler_end(pair_filler *filler, bool done);

/* What it has taken. */
extern Size pair_filler_bytes(const pair_filler *filler);

/* Pairs at some positions are the next of the result. */
extern void pair_filler_add(pair_filler *filler, const uint32 *positions, int64 num_positions);

/* The same of all whose keys are NULL, in their order. */
extern void pair_filler_add_nulls(pair_filler *filler);

/* The position of the key that so many are in front of, NULL ones not counted.  Allowed in threads. */
static inline uint32
pair_filler_position(const pair_filler *filler, uint32 number)
{
	return filler->keys->num_nulls > 0 ? (uint32) null_map_select(&filler->map, number) : number;
}

#endif							/* MGPU_PAIR_FILL_H */

/*
 * row_place.h
 *		Where a node stands in rows that can be read forward and backward, as in a tuplesort.
 */
#ifndef MGPU_SORTED_ROW_PLACE_H
#define MGPU_SORTED_ROW_PLACE_H

typedef struct row_place
{
	uint64		count;			/* rows up to the one that was returned last */
	bool		at_end;			/* none is left behind it, and that has been said */
} row_place;

/* Go one row forward or back.  False: there is none.  Else the row is number count - 1. */
static inline bool
row_place_step(row_place *place, uint64 num_rows, bool forward)
{
	if (forward)
	{
		place->at_end = place->count >= num_rows;
		place->count += !place->at_end;
		return !place->at_end;
	}
	if (!place->at_end && place->count > 0)
		place->count--;
	place->at_end = false;
	return place->count > 0;
}

#endif							/* MGPU_SORTED_ROW_PLACE_H */

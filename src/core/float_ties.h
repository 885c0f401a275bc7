/*
 * float_ties.h
 *		Records what float codes lose, so that sorts are stable to the byte.
 *
 * The codes of key_codec.h make -0 and +0 one key, and every NaN one key.  In the
 * sorted array each such group is one run, and a stable sort keeps a run in input
 * order.  So the groups' own bits are recorded in input order and written over the
 * two runs at the end.  Nothing is stored until the first -0 (then one bit a zero)
 * or the first NaN that is not PostgreSQL's own (then the bits of every NaN).
 * Rejected: sorting (key, index) pairs, twice the work on every float array for the
 * rare one with -0.
 *
 * Use: init, scan every slice of input in order, sort, restore, release.
 */
#ifndef MGPU_FLOAT_TIES_H
#define MGPU_FLOAT_TIES_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Fields are private.  zero_signs has one bit for each zero, in input order. */
typedef struct mgpu_float_ties
{
	uint32_t	width;			/* 4 or 8 bytes a float */
	uint64_t	num_zeros;
	uint64_t	num_nans;
	uint64_t   *zero_signs;		/* bitmap; NULL while every zero was +0 */
	uint64_t	zero_words;		/* capacity */
	void	   *nan_bits;		/* NULL while every NaN was PostgreSQL's */
	uint64_t	nan_capacity;
} mgpu_float_ties;

void		mgpu_float_ties_init(mgpu_float_ties *ties, uint32_t width);

/*
 * Scan the next num_items stored floats, aligned to their width.  After
 * MGPU_HOST_MEMORY, only release is allowed.
 */
mgpu_status mgpu_float_ties_scan(mgpu_float_ties *ties, const void *items,
								 uint64_t num_items, mgpu_error *err);

/*
 * Write the recorded bits over the runs of zeros and NaN in the sorted array of
 * everything scanned, whatever bits the runs have there.  Returns at once if nothing
 * was recorded.
 */
void		mgpu_float_ties_restore(const mgpu_float_ties *ties, void *sorted,
									uint64_t num_items, int descending);

/* Whether restore has anything to write. */
static inline int
mgpu_float_ties_recorded(const mgpu_float_ties *ties)
{
	return ties->zero_signs != NULL || ties->nan_bits != NULL;
}

void		mgpu_float_ties_release(mgpu_float_ties *ties);

#endif							/* MGPU_FLOAT_TIES_H */

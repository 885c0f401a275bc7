/*
 * service/counts.h
 *		What all sessions have run, by executor and reason: the view mgpu_stat.
 *
 * A session counts for itself and adds that to shared memory when a transaction ends.  There are
 * counts only where the library is in shared_preload_libraries.
 */
#ifndef MGPU_SERVICE_COUNTS_H
#define MGPU_SERVICE_COUNTS_H

#define COUNTS_REASON_BYTES 96

typedef struct counts_row
{
	char		executor[8];
	char		reason[COUNTS_REASON_BYTES];	/* why not the GPU; "" if it was, or cut off */
	int64		num_calls;
	int64		num_items;
	int64		num_bytes;
	double		queue_ms;
	double		kernel_ms;
} counts_row;

/* While libraries are preloaded: before and after there is shared memory. */
extern void counts_request_memory(void);
extern void counts_set_up(void);

/* Whether there are counts. */
extern bool counts_are_kept(void);

/* Add a row of one or more calls to those of this session. */
extern void counts_add(const counts_row *calls);

/* From now on counts are shared at the end of transactions.  Call this before, to add what is not yet added. */
extern void counts_before_sharing(void (*function) (void));

/* All rows, in memory of the caller; and forget them, in all sessions but for what they still have. */
extern counts_row *counts_read(int *num_rows);
extern void counts_reset(void);

#endif							/* MGPU_SERVICE_COUNTS_H */

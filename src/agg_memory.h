/*
 * agg_memory.h
 *		Memory for what grows with an aggregate's input.
 */
#ifndef MGPU_AGG_MEMORY_H
#define MGPU_AGG_MEMORY_H

#include "compat.h"

/* As MemoryContextAllocHuge; 0 bytes are allowed. */
extern void *agg_alloc(MemoryContext context, Size bytes);

/* Where blocks that grow come from: the next one, whose pages a thread makes present. */
typedef struct agg_ahead agg_ahead;

/*
 * The next of several blocks: as agg_alloc, of *bytes or more, and *bytes says how
 * many; next_bytes is about what the one after it will be asked for, 0: nothing is
 * known of it.  *ahead is NULL
 * before the first; what it points to belongs to the context and goes with it.
 */
extern void *agg_alloc_next(agg_ahead **ahead, MemoryContext context, Size *bytes, Size next_bytes);

/* No more blocks for now: end the thread, give back what it worked on.  NULL is allowed. */
extern void agg_ahead_stop(agg_ahead *ahead);

#endif							/* MGPU_AGG_MEMORY_H */

/*
 * agg_memory.h
 *		Memory for what grows with an aggregate's input.
 */
#ifndef MGPU_AGG_MEMORY_H
#define MGPU_AGG_MEMORY_H

#include "compat.h"

/* As MemoryContextAllocHuge; 0 bytes are allowed. */
extern void *agg_alloc(MemoryContext context, Size bytes);

#endif							/* MGPU_AGG_MEMORY_H */

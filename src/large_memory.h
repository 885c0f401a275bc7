/*
 * large_memory.h
 *		Large allocations, in huge pages where the system gives them.
 */
#ifndef MGPU_LARGE_MEMORY_H
#define MGPU_LARGE_MEMORY_H

/* Memory of any size in a context. */
extern void *large_alloc(MemoryContext context, Size bytes);

/* Asks for huge pages if the memory is large. */
extern void large_memory_advise(void *start, Size bytes);

#endif							/* MGPU_LARGE_MEMORY_H */

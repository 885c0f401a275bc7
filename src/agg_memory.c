/*
 * agg_memory.c
 *		Memory for what grows with an aggregate's input.
 *
 * Rows are moved to their groups, and groups picked for results, in no order
 * that a processor could guess.  With pages of 4 kB each such access also misses
 * the table of pages; large allocations ask for huge ones.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "utils/memutils.h"

#include "agg_memory.h"

/* From this size on huge pages save more than the advice costs. */
#define HUGE_PAGE_MIN_BYTES (4 * 1024 * 1024)

#define PAGE_BYTES 4096

void *
agg_alloc(MemoryContext context, Size bytes)
{
	void	   *start = MemoryContextAllocHuge(context, Max(bytes, 1));

#ifdef MADV_HUGEPAGE
	if (bytes >= HUGE_PAGE_MIN_BYTES)
	{
		uintptr_t	first = TYPEALIGN(PAGE_BYTES, (uintptr_t) start);
		uintptr_t	last = TYPEALIGN_DOWN(PAGE_BYTES, (uintptr_t) start + bytes);

		/* advice alone: where it is refused the memory works as before */
		(void) madvise((void *) first, last - first, MADV_HUGEPAGE);
	}
#endif
	return start;
}

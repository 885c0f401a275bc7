/*
 * large_memory.c
 *		Large allocations, in huge pages where the system gives them.
 *
 * Page faults on a fresh 40 MB allocation cost more than sorting it does on a GPU.
 * With pages of 4 kB most accesses in random order also miss the TLB.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "utils/memutils.h"

#include "large_memory.h"

/* Below this size the madvise call costs more than huge pages save. */
#define HUGE_PAGE_MIN_BYTES (4 * 1024 * 1024)

#define PAGE_BYTES 4096

void
large_memory_advise(void *start, Size bytes)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	first = TYPEALIGN(PAGE_BYTES, (uintptr_t) start);
	uintptr_t	last = TYPEALIGN_DOWN(PAGE_BYTES, (uintptr_t) start + bytes);

	/* if the kernel refuses the advice, the memory works all the same */
	if (bytes >= HUGE_PAGE_MIN_BYTES)
		(void) madvise((void *) first, last - first, MADV_HUGEPAGE);
#endif
}

void *
large_alloc(MemoryContext context, Size bytes)
{
	void	   *start = MemoryContextAllocHuge(context, Max(bytes, 1));

	large_memory_advise(start, bytes);
	return start;
}

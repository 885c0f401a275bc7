/*
 * agg_memory.c
 *		Memory for what grows with an aggregate's input.
 *
 * Rows are moved to their groups, and groups picked for results, in no order
 * that a processor could guess.  With pages of 4 kB each such access also misses
 * the table of pages; large allocations ask for huge ones.
 *
 * While rows come in, one processor is busy, and clearing the pages that they go
 * to is a tenth of what it does.  So a block is allocated when the one before it
 * begins to fill, and a thread makes its pages present meanwhile (core/prefault.h).
 * Rejected: doing so with the block that is filling, as the server's process would
 * always be the first at its first huge page, a quarter of a block; and larger
 * blocks instead, of which more would be left over at the end.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "access/parallel.h"
#include "utils/memutils.h"

#include "core/prefault.h"

#include "agg_memory.h"
#include "threads.h"

/* From this size on huge pages save more than the advice costs. */
#define HUGE_PAGE_MIN_BYTES (4 * 1024 * 1024)

/* From this size on a thread saves more than it costs to make. */
#define AHEAD_MIN_BYTES (2 * 1024 * 1024)

#define PAGE_BYTES 4096

struct agg_ahead
{
	MemoryContextCallback callback;
	mgpu_prefault *prefault;	/* of block, or NULL */
	void	   *block;			/* NULL: none */
	Size		bytes;
};

/* NULL only where flags allow it. */
static void *
allocate(MemoryContext context, Size bytes, int flags)
{
	void	   *start = MemoryContextAllocExtended(context, Max(bytes, 1), flags | MCXT_ALLOC_HUGE);

#ifdef MADV_HUGEPAGE
	if (start && bytes >= HUGE_PAGE_MIN_BYTES)
	{
		uintptr_t	first = TYPEALIGN(PAGE_BYTES, (uintptr_t) start);
		uintptr_t	last = TYPEALIGN_DOWN(PAGE_BYTES, (uintptr_t) start + bytes);

		/* advice alone: where it is refused the memory works as before */
		(void) madvise((void *) first, last - first, MADV_HUGEPAGE);
	}
#endif
	return start;
}

void *
agg_alloc(MemoryContext context, Size bytes)
{
	return allocate(context, bytes, 0);
}

static void
end_thread(void *arg)
{
	agg_ahead  *ahead = arg;

	mgpu_prefault_stop(ahead->prefault);
	ahead->prefault = NULL;
}

void
agg_ahead_stop(agg_ahead *ahead)
{
	if (ahead == NULL)
		return;
	end_thread(ahead);
	if (ahead->block)
		pfree(ahead->block);
	ahead->block = NULL;
}

/* The thread ends before the context's memory goes, whatever makes it go. */
static agg_ahead *
create_ahead(MemoryContext context)
{
	agg_ahead  *ahead = MemoryContextAllocZero(context, sizeof(agg_ahead));

	ahead->callback.func = end_thread;
	ahead->callback.arg = ahead;
	MemoryContextRegisterResetCallback(context, &ahead->callback);
	return ahead;
}

/* Other workers have the other processors. */
static bool
has_spare_processor(void)
{
	return !IsParallelWorker() && threads_allowed() > 1;
}

/* Nobody has asked for this block yet: if there is no memory for it, nothing is wrong. */
static void
prepare(agg_ahead *ahead, MemoryContext context, Size bytes)
{
	ahead->block = allocate(context, bytes, MCXT_ALLOC_NO_OOM);
	ahead->bytes = bytes;
	if (ahead->block)
		ahead->prefault = mgpu_prefault_start(ahead->block, bytes);
}

void *
agg_alloc_next(agg_ahead **ahead, MemoryContext context, Size *bytes, Size next_bytes)
{
	void	   *block;

	if (*ahead && (*ahead)->block && (*ahead)->bytes >= *bytes)
	{
		end_thread(*ahead);
		block = (*ahead)->block;
		*bytes = (*ahead)->bytes;
		(*ahead)->block = NULL;
	}
	else
	{
		agg_ahead_stop(*ahead);
		block = agg_alloc(context, *bytes);
	}
	if (next_bytes < AHEAD_MIN_BYTES || !has_spare_processor())
		return block;
	if (*ahead == NULL)
		*ahead = create_ahead(context);
	prepare(*ahead, context, next_bytes);
	return block;
}

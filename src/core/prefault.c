/*
 * prefault.c
 *		See prefault.h.
 *
 * madvise(MADV_POPULATE_WRITE) (Linux 5.14) makes pages present and writable
 * without changing them, so others may write to the buffer meanwhile.  Writing zeros
 * was rejected: it would destroy what others write.  On older kernels nothing is
 * done, and page faults happen on the first write to a page.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "prefault.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "cpu_threads.h"
#include "sizes.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE_BYTES ((uintptr_t) 4096)

/* One step: a few huge pages, so that stop never waits for long. */
#define STEP_BYTES MGPU_SIZE((uintptr_t) 4 << 20, (uintptr_t) 16 << 10)

/* The caller never works, so the pool's other thread does all steps. */
struct mgpu_prefault
{
	mgpu_pool  *pool;
	uintptr_t	begin;
	uintptr_t	end;
};

static void
prefault_step(void *context, uint64_t step, int worker)
{
	const mgpu_prefault *prefault = context;
	uintptr_t	begin = prefault->begin + step * STEP_BYTES;
	uintptr_t	left = prefault->end - begin;

	(void) madvise((void *) begin, left < STEP_BYTES ? left : STEP_BYTES, MADV_POPULATE_WRITE);
}

mgpu_prefault *
mgpu_prefault_start(void *buffer, size_t bytes)
{
	mgpu_prefault *prefault = malloc(sizeof(*prefault));

	if (prefault == NULL)
		return NULL;
	prefault->begin = ((uintptr_t) buffer + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	prefault->end = ((uintptr_t) buffer + bytes) & ~(PAGE_BYTES - 1);
	prefault->pool = prefault->begin < prefault->end ? mgpu_pool_start(2) : NULL;
	if (prefault->pool == NULL || mgpu_pool_size(prefault->pool) < 2)
	{
		mgpu_prefault_stop(prefault);
		return NULL;
	}
	mgpu_pool_begin(prefault->pool, prefault_step, prefault,
					(prefault->end - prefault->begin + STEP_BYTES - 1) / STEP_BYTES);
	return prefault;
}

void
mgpu_prefault_stop(mgpu_prefault *prefault)
{
	if (prefault == NULL)
		return;
	mgpu_pool_stop(prefault->pool);
	free(prefault);
}

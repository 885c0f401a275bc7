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

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE_BYTES ((uintptr_t) 4096)

/* One step: a few huge pages, so that stop never waits for long. */
#define STEP_BYTES ((uintptr_t) 8 << 20)

struct mgpu_prefault
{
	pthread_t	thread;
	atomic_bool stop;
	uintptr_t	next;
	uintptr_t	end;
};

static void *
prefault_main(void *arg)
{
	mgpu_prefault *prefault = arg;

	while (prefault->next < prefault->end && !atomic_load(&prefault->stop))
	{
		uintptr_t	left = prefault->end - prefault->next;
		size_t		step = left < STEP_BYTES ? left : STEP_BYTES;

		if (madvise((void *) prefault->next, step, MADV_POPULATE_WRITE) != 0)
			break;
		prefault->next += step;
	}
	return NULL;
}

/* The thread blocks all signals: they are for the process's main thread. */
static int
start_thread(mgpu_prefault *prefault)
{
	sigset_t	all,
				old;
	int			failed;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
		return -1;
	failed = pthread_create(&prefault->thread, NULL, prefault_main, prefault);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return failed;
}

mgpu_prefault *
mgpu_prefault_start(void *buffer, size_t bytes)
{
	mgpu_prefault *prefault = malloc(sizeof(*prefault));

	if (prefault == NULL)
		return NULL;
	prefault->next = ((uintptr_t) buffer + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	prefault->end = ((uintptr_t) buffer + bytes) & ~(PAGE_BYTES - 1);
	atomic_init(&prefault->stop, false);
	if (prefault->next >= prefault->end || start_thread(prefault) != 0)
	{
		free(prefault);
		return NULL;
	}
	return prefault;
}

void
mgpu_prefault_stop(mgpu_prefault *prefault)
{
	if (prefault == NULL)
		return;
	atomic_store(&prefault->stop, true);
	pthread_join(prefault->thread, NULL);
	free(prefault);
}

/*
 * prefault.c
 *		Touches a large fresh buffer's pages from a thread of its own.
 *
 * madvise(MADV_POPULATE_WRITE) (Linux 5.14) makes pages present and writable
 * without changing them, so it may race with writers of the same buffer, which
 * a thread that writes zeros may not.  Where the kernel lacks it, nothing is
 * done: faults then happen where they always did.
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

/* The process's signals are for its main thread alone. */
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

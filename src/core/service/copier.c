/*
 * service/copier.c
 *		Copies slices between extents and a run's own memory, by several threads.
 *
 * Rejected: pinning the run's memory, which costs 20 ms for 512 MB of touched pages;
 * threads kept between runs, since making one takes some 20 us while kernels run.
 */
#include "core/service/copier.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* One core already copies as fast as the link of an old machine; beyond four helpers memory is the limit. */
#define MAX_HELPERS 4

/* Short, so that the caller is back in time for the host's messages. */
#define PIECE_BYTES ((uint64_t) MGPU_SIZE(256 * 1024, 1024))

typedef struct copy_task
{
	char	   *target;
	const char *source;
	uint64_t	bytes;
	uint64_t	claimed_bytes;	/* a thread copies or has copied them */
	uint64_t	copied_bytes;
	uint64_t	tag;
} copy_task;

/* The numbers count tasks since the start.  num_finished is the caller's; the rest changes under the mutex. */
struct mgpu_copier
{
	pthread_mutex_t mutex;
	pthread_cond_t task_added;
	pthread_cond_t task_copied;
	bool		stopping;
	int			num_helpers;
	pthread_t	helpers[MAX_HELPERS];
	copy_task	tasks[MGPU_COPIER_TASKS];
	uint64_t	num_finished;
	uint64_t	num_added;
};

static copy_task *
task_of(mgpu_copier *copier, uint64_t number)
{
	return &copier->tasks[number % MGPU_COPIER_TASKS];
}

/* Copy a piece of the oldest task that has one left; the mutex is held around it. */
static bool
copy_piece(mgpu_copier *copier)
{
	for (uint64_t number = copier->num_finished; number < copier->num_added; number++)
	{
		copy_task  *task = task_of(copier, number);
		uint64_t	begin = task->claimed_bytes;
		uint64_t	bytes = task->bytes - begin;

		if (bytes == 0)
			continue;
		if (bytes > PIECE_BYTES)
			bytes = PIECE_BYTES;
		task->claimed_bytes += bytes;
		pthread_mutex_unlock(&copier->mutex);
		memcpy(task->target + begin, task->source + begin, bytes);
		pthread_mutex_lock(&copier->mutex);
		task->copied_bytes += bytes;
		if (task->copied_bytes == task->bytes)
			pthread_cond_signal(&copier->task_copied);
		return true;
	}
	return false;
}

static void *
helper_main(void *argument)
{
	mgpu_copier *copier = argument;

	pthread_mutex_lock(&copier->mutex);
	while (!copier->stopping)
	{
		if (!copy_piece(copier))
			pthread_cond_wait(&copier->task_added, &copier->mutex);
	}
	pthread_mutex_unlock(&copier->mutex);
	return NULL;
}

/* Signals of the process are for its main thread. */
static void
start_helpers(mgpu_copier *copier, int num_helpers)
{
	sigset_t	all;
	sigset_t	old;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
		return;
	while (copier->num_helpers < num_helpers &&
		   pthread_create(&copier->helpers[copier->num_helpers], NULL, helper_main, copier) == 0)
		copier->num_helpers++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

mgpu_copier *
mgpu_copier_start(int num_threads)
{
	mgpu_copier *copier = calloc(1, sizeof(mgpu_copier));

	if (copier == NULL)
		return NULL;
	/* with default attributes these three only initialize memory */
	(void) pthread_mutex_init(&copier->mutex, NULL);
	(void) pthread_cond_init(&copier->task_added, NULL);
	(void) pthread_cond_init(&copier->task_copied, NULL);
	start_helpers(copier, num_threads - 1 < MAX_HELPERS ? num_threads - 1 : MAX_HELPERS);
	return copier;
}

int
mgpu_copier_num_threads(const mgpu_copier *copier)
{
	return 1 + copier->num_helpers;
}

void
mgpu_copier_add(mgpu_copier *copier, void *target, const void *source, uint64_t bytes, uint64_t tag)
{
	copy_task	task = {.target = target,.source = source,.bytes = bytes,.tag = tag};

	pthread_mutex_lock(&copier->mutex);
	*task_of(copier, copier->num_added++) = task;
	if (copier->num_helpers > 0)
		pthread_cond_broadcast(&copier->task_added);
	pthread_mutex_unlock(&copier->mutex);
}

int
mgpu_copier_num_tasks(const mgpu_copier *copier)
{
	return (int) (copier->num_added - copier->num_finished);
}

bool
mgpu_copier_help(mgpu_copier *copier)
{
	bool		copied;

	pthread_mutex_lock(&copier->mutex);
	copied = copy_piece(copier);
	pthread_mutex_unlock(&copier->mutex);
	return copied;
}

bool
mgpu_copier_finished(mgpu_copier *copier, uint64_t *tag)
{
	bool		complete = false;

	pthread_mutex_lock(&copier->mutex);
	if (copier->num_finished < copier->num_added)
	{
		const copy_task *oldest = task_of(copier, copier->num_finished);

		complete = oldest->copied_bytes == oldest->bytes;
		*tag = oldest->tag;
		copier->num_finished += complete;
	}
	pthread_mutex_unlock(&copier->mutex);
	return complete;
}

void
mgpu_copier_wait(mgpu_copier *copier)
{
	const copy_task *oldest;

	pthread_mutex_lock(&copier->mutex);
	oldest = task_of(copier, copier->num_finished);
	while (copier->num_finished < copier->num_added && oldest->copied_bytes < oldest->bytes)
		pthread_cond_wait(&copier->task_copied, &copier->mutex);
	pthread_mutex_unlock(&copier->mutex);
}

void
mgpu_copier_stop(mgpu_copier *copier)
{
	if (copier == NULL)
		return;
	pthread_mutex_lock(&copier->mutex);
	copier->stopping = true;
	pthread_cond_broadcast(&copier->task_added);
	pthread_mutex_unlock(&copier->mutex);
	while (copier->num_helpers > 0)
		(void) pthread_join(copier->helpers[--copier->num_helpers], NULL);
	pthread_cond_destroy(&copier->task_copied);
	pthread_cond_destroy(&copier->task_added);
	pthread_mutex_destroy(&copier->mutex);
	free(copier);
}

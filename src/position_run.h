/*
 * position_run.h
 *		Runs of elements that are put in order by themselves, each by one thread.
 */
#ifndef MGPU_POSITION_RUN_H
#define MGPU_POSITION_RUN_H

#include <stdatomic.h>

#include "element_codes.h"
#include "thread_work.h"

/* What may be taken beside the input and the result. */
#define POSITION_CALL_BYTES (50 * 1024 * 1024)

/* Elements of a run, so that their codes are in a cache; some are of more. */
#define POSITION_PLANNED_RUN_ITEMS (64 * 1024)

/* Elements that a thread has room to sort, however many threads there are. */
#define POSITION_LEAST_RUN_ITEMS (4 * 1024)

typedef enum position_run_kind
{
	POSITION_RUN_MIXED,			/* elements of some range of codes */
	POSITION_RUN_ALIKE,			/* strings whose codes so far are equal */
	POSITION_RUN_SAME			/* in order */
} position_run_kind;

/* Elements whose references are neighbours, in the input's order. */
typedef struct position_run
{
	uint32		first;			/* of refs */
	uint32		num_items;
	uint32		offset;			/* bytes that all strings are known to begin with */
	position_run_kind kind;
} position_run;

/* A sort, in rounds: what a round's runs leave alike are the runs of the next. */
typedef struct position_sort
{
	element_codes codes;
	bool		descending;
	uint32	   *refs;			/* the result: references until a run is done, then positions */
	uint32	   *kept;			/* in the first round: positions of the first num_kept references */
	int64		num_kept;
	int64		run_items;		/* that one thread sorts at most */
	thread_work work;
	_Atomic bool failed;		/* some element has no code */

	position_run *runs;
	int64		num_runs;
	position_run *next_runs;	/* room: position_next_runs of all runs, and what else is put there */
	_Atomic uint32 num_next_runs;

	/* while runs are sorted: worker_bytes for each thread */
	char	   *scratch;
	Size		worker_bytes;
} position_sort;

/* Scratch of a thread for runs of so many elements. */
extern Size position_run_bytes(const element_codes *codes, int64 num_items);

/* Runs that one of so many elements leaves to the next round at most, not counting those of long strings, */
#define POSITION_NEXT_RUNS(num_items) ((num_items) / (MGPU_SHORT_RUN_ITEMS + 1))

/* which are no more than these together. */
extern int64 position_long_runs(const element_codes *codes);

/* A task, context the sort: puts run number task in order, if it is not too long. */
extern void position_run_task(void *context, uint64 task, int worker);

/* Bytes that a look at an element's code makes, about; 0: few. */
static inline Size
position_made_bytes(const element_codes *codes)
{
	return codes->room_bytes > 0 && !codes->in_windows ? codes->data_bytes / codes->num_items : 0;
}

/* Anything in the order of whole strings, by comparison: not in threads. */
extern void position_run_compare(position_sort *sort, const position_run *run);

/*
 * position_sort.c: references to strings become positions in order, within each run, in which
 * they ascend.  share: how many of them a thread may sort, so that all threads' scratch is
 * within so many bytes.  thread_work_stop(sort->work) is the caller's to call.
 */
extern void position_sort_share(position_sort *sort, Size scratch_bytes);
extern void position_sort_refs(position_sort *sort, const position_run *runs, int num_runs);

/* position_cut.c: runs of the next round from all elements, or from one run; not in threads. */
extern void position_cut_all(position_sort *sort);
extern void position_cut_run(position_sort *sort, const position_run *run);

/* A phase, by threads where it is worth that. */
static inline void
position_sort_tasks(position_sort *sort, mgpu_task_function function, void *context, uint64 num_tasks)
{
	thread_work_run(&sort->work, function, context, num_tasks, 8);
}

static inline void
position_sort_next(position_sort *sort, position_run run)
{
	sort->next_runs[atomic_fetch_add(&sort->num_next_runs, 1)] = run;
}

#endif							/* MGPU_POSITION_RUN_H */

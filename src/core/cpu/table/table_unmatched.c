/*
 * table_unmatched.c
 *		Rows of a build that no row of the table matches: a right or full join returns them too, with NULL for what the table has.
 *
 * Each row that is matched is marked by a byte of its own, so threads need not wait for each other.  When all pages have been read, the
 * other rows run through the program as if they had come from a page whose attributes are all NULL.  To read the smaller side once
 * more, and to look its rows up in a build of the larger one, was rejected: that is the build which is too large.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>

/* Rows of a build that a task looks at: few, for a thread has room for all of them. */
#define TASK_ROWS (UINT32_C(8) * MGPU_VECTOR_ROWS)

static uint32_t
num_rows_of(const mgpu_run *run)
{
	return run->spec.builds[run->spec.matches[0].build].num_rows;
}

bool
mgpu_table_make_matched(mgpu_run *run)
{
	if (!mgpu_group_adds_unmatched(&run->spec))
		return true;
	run->matched = calloc((size_t) num_rows_of(run) + 1, sizeof(*run->matched));
	return run->matched != NULL;
}

void
mgpu_table_note_match(mgpu_run *run, int64_t row)
{
	if ((uint64_t) row < num_rows_of(run))
		atomic_store_explicit(&run->matched[row], 1, memory_order_relaxed);
}

uint64_t
mgpu_table_unmatched_tasks(const mgpu_run *run)
{
	return ((uint64_t) num_rows_of(run) + TASK_ROWS - 1) / TASK_ROWS;
}

bool
mgpu_table_plan_unmatched(mgpu_run *run)
{
	uint64_t	num_tasks = mgpu_table_unmatched_tasks(run);
	bool		has_all = true;

	run->unmatched = calloc(num_tasks + 1, sizeof(*run->unmatched));
	for (uint64_t i = 0; run->unmatched != NULL && i < num_tasks; i++)
		has_all &= (run->unmatched[i] = mgpu_table_add_batch(run)) != NULL;
	return run->unmatched != NULL && has_all;
}

/* The next rows that are not matched, at most a vector of them; their number. */
static uint32_t
find_unmatched(const mgpu_run *run, uint64_t *next, uint64_t end, uint32_t *rows)
{
	uint32_t	num_rows = 0;

	for (; *next < end && num_rows < MGPU_VECTOR_ROWS; ++*next)
	{
		rows[num_rows] = (uint32_t) *next;
		num_rows += atomic_load_explicit(&run->matched[*next], memory_order_relaxed) == 0;
	}
	return num_rows;
}

void
mgpu_table_add_unmatched(void *context, uint64_t task, int worker_number)
{
	mgpu_run   *run = context;
	mgpu_table_worker *worker = &run->workers[worker_number];
	uint64_t	next = task * TASK_ROWS;
	uint64_t	end = mgpu_table_least(next + TASK_ROWS, num_rows_of(run));
	uint32_t	rows[MGPU_VECTOR_ROWS];
	uint32_t	num_found;
	bool		goes_on;

	if (!mgpu_table_goes_on(run))
		return;
	goes_on = mgpu_table_begin_batch(run, worker, run->unmatched[task], end - next);
	while (goes_on && mgpu_table_goes_on(run) && (num_found = find_unmatched(run, &next, end, rows)) > 0)
		goes_on = mgpu_table_take_unmatched(run, worker, rows, num_found);
	mgpu_table_end_batch(run, worker, goes_on);
}

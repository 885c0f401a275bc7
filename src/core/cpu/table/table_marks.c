/*
 * table_marks.c
 *		Rows of a build that come themselves, with NULL for what the table has: those that no row of the table matches, as of a right or full
 *		join, or those that one does.  So a build may be the side whose rows are wanted, and the larger table streams.
 *
 * Each row that is matched is marked by a byte of its own, so threads need not wait for each other.  When all pages of a round have been read,
 * the wanted rows run through the program as if they had come from a page whose attributes are all NULL: in the build's order, as a hash join
 * returns them that has them as its outer side.  To read the smaller side once more, and to look its rows up in a build of the larger one, was
 * rejected: that is the build which is too large.  So was a row that comes with its first match: floats would be added in any order.
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
mgpu_table_make_marks(mgpu_run *run)
{
	if (run->spec.num_matches == 0 || run->spec.matches[0].adds == MGPU_ADDS_NOTHING)
		return true;
	run->marked = calloc((size_t) num_rows_of(run) + 1, sizeof(*run->marked));
	return run->marked != NULL;
}

void
mgpu_table_free_marks(mgpu_run *run)
{
	free((void *) run->marked);
	free(run->of_marks);
	run->marked = NULL;
	run->of_marks = NULL;
}

uint64_t
mgpu_table_marks_tasks(const mgpu_run *run)
{
	return ((uint64_t) num_rows_of(run) + TASK_ROWS - 1) / TASK_ROWS;
}

bool
mgpu_table_plan_marks(mgpu_run *run)
{
	uint64_t	num_tasks = mgpu_table_marks_tasks(run);
	bool		has_all = true;

	mgpu_table_begin_turns(run);
	run->of_marks = calloc(num_tasks + 1, sizeof(*run->of_marks));
	for (uint64_t i = 0; run->of_marks != NULL && i < num_tasks; i++)
		has_all &= (run->of_marks[i] = mgpu_table_add_batch(run)) != NULL;
	return run->of_marks != NULL && has_all;
}

/* The next rows that are wanted, at most a vector of them; their number. */
static uint32_t
find_wanted(const mgpu_run *run, uint64_t *next, uint64_t end, uint32_t *rows)
{
	uint8_t		wanted = run->spec.matches[0].adds == MGPU_ADDS_MATCHED;
	uint32_t	num_rows = 0;

	for (; *next < end && num_rows < MGPU_VECTOR_ROWS; ++*next)
	{
		rows[num_rows] = (uint32_t) *next;
		num_rows += atomic_load_explicit(&run->marked[*next], memory_order_relaxed) == wanted;
	}
	return num_rows;
}

void
mgpu_table_add_marked(void *context, uint64_t task, int worker_number)
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
	worker->task = task;
	goes_on = mgpu_table_begin_batch(run, worker, run->of_marks[task], end - next);
	while (goes_on && mgpu_table_goes_on(run) && (num_found = find_wanted(run, &next, end, rows)) > 0)
		goes_on = mgpu_table_take_marked(run, worker, rows, num_found);
	mgpu_table_end_batch(run, worker, goes_on);
}

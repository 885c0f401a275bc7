/*
 * table_turns.c
 *		Floats that several threads add to groups in the order of the table, as PostgreSQL does in one process.
 *
 * Each thread finds the groups of a task's rows among its own, and adds up all but floats there.  Groups of all threads have the floats: a
 * task gives its new groups numbers among these when its turn has come, and adds a column at a time in that column's turn.  So the next task
 * adds to the first column while this one is at the second, and only one column's additions lie between reading and the answer.
 *
 * Once there are too many groups for a cache, later tasks keep their rows (table_batches.c).  To keep all of them was the way before: with
 * little memory they go to a file and back, and four columns of 100 groups took twice as long.
 */
#include "core/cpu/table/table_read.h"

#include <sched.h>
#include <stdlib.h>

/* Of the run's turns, beside one for each column. */
#define TURN_OF_GROUPS MGPU_GROUP_MAX_COLUMNS

void
mgpu_table_begin_turns(mgpu_run *run)
{
	for (uint32_t i = 0; i <= TURN_OF_GROUPS; i++)
		atomic_store(&run->turns[i], 0);
}

static bool
is_turn(const mgpu_run *run, uint32_t turn, uint64_t task)
{
	return atomic_load_explicit(&run->turns[turn], memory_order_acquire) == task;
}

static void
end_turn(mgpu_run *run, uint32_t turn, uint64_t task)
{
	atomic_store_explicit(&run->turns[turn], task + 1, memory_order_release);
}

/* Until a column has the floats of all tasks before.  false: there will be no answer. */
static bool
await_column(const mgpu_run *run, uint32_t column, uint64_t task)
{
	while (!is_turn(run, column, task))
	{
		if (!mgpu_table_goes_on(run))
			return false;
		/* tasks are taken in order, so that somebody adds already */
		(void) sched_yield();
	}
	return true;
}

/* Until all tasks before have their groups.  false: rows are kept now, or there will be no answer. */
static bool
await_groups(const mgpu_run *run, uint64_t task)
{
	while (!is_turn(run, TURN_OF_GROUPS, task))
	{
		if (atomic_load(&run->keeps) || !mgpu_table_goes_on(run))
			return false;
		(void) sched_yield();
	}
	return !atomic_load(&run->keeps);
}

/* ---- groups */

/* The groups of rows among the worker's own. */
static bool
find_groups(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_rows *rows)
{
	bool		found = true;

	if (run->spec.num_keys == 0)
		return mgpu_table_make_empty(&worker->groups);
	for (uint64_t begin = 0; found && begin < rows->num_rows; begin += MGPU_VECTOR_ROWS)
	{
		mgpu_table_rows slice = mgpu_table_slice(rows, run->spec.num_columns, begin,
												 mgpu_table_least(MGPU_VECTOR_ROWS, rows->num_rows - begin));

		mgpu_table_hash(&run->keys, &slice, worker->hashes);
		found = mgpu_table_find(&worker->groups, &slice, worker->hashes, worker->of_rows + begin);
	}
	return found;
}

/* Have room for the numbers of all the worker's groups. */
static bool
make_room(mgpu_table_worker *worker)
{
	uint32_t   *shared;

	if (worker->groups.num_groups <= worker->shared_capacity)
		return true;
	shared = realloc(worker->shared, worker->groups.capacity * sizeof(uint32_t));
	if (shared == NULL)
		return false;
	worker->shared = shared;
	worker->shared_capacity = worker->groups.capacity;
	return true;
}

/* In the turn of groups: numbers of the worker's new ones.  Before the records of all move, tasks before end adding to them.  false: out of memory. */
static bool
share_groups(mgpu_run *run, mgpu_table_worker *worker)
{
	const uint64_t *records[MGPU_MERGED_GROUPS];
	uint64_t	num_new = worker->groups.num_groups - worker->num_shared;
	bool		grows = run->floats.num_groups + num_new > run->floats.capacity;

	for (uint32_t i = 0; grows && i < run->spec.num_columns; i++)
		if ((run->ordered >> i & 1) != 0 && !await_column(run, i, worker->task))
			return true;
	while (worker->num_shared < worker->groups.num_groups)
	{
		uint32_t	count = (uint32_t) mgpu_table_least(MGPU_MERGED_GROUPS, worker->groups.num_groups - worker->num_shared);

		for (uint32_t i = 0; i < count; i++)
			records[i] = mgpu_table_record(&worker->groups, worker->num_shared + i);
		if (!make_room(worker) || !mgpu_table_find_records(&run->floats, records, count, worker->shared + worker->num_shared))
			return false;
		worker->num_shared += count;
	}
	mgpu_table_count(run, &run->float_bytes, mgpu_table_groups_bytes(&run->floats));
	if (!mgpu_table_folds(run, &run->floats))
		atomic_store(&run->keeps, true);
	return true;
}

/* ---- rows */

/* Add these columns of all rows. */
static void
add_columns(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_groups *to, uint32_t columns)
{
	mgpu_table_rows rows = mgpu_table_rows_of(run, worker);
	bool		is_own = to == &worker->groups;	/* which have the counts */

	for (uint64_t begin = 0; begin < rows.num_rows; begin += MGPU_VECTOR_ROWS)
	{
		mgpu_table_rows slice = mgpu_table_slice(&rows, run->spec.num_columns, begin,
												 mgpu_table_least(MGPU_VECTOR_ROWS, rows.num_rows - begin));
		const uint32_t *numbers = run->spec.num_keys == 0 ? NULL : worker->of_rows + begin;

		if (is_own)
			mgpu_table_count_rows(to, &slice, numbers);
		if (!mgpu_table_reduce(to, &run->record, &slice, numbers, columns))
			mgpu_table_fail(run, MGPU_TABLE_OVERFLOW);
	}
}

/* Add floats, each column in its turn. */
static void
add_floats(mgpu_run *run, mgpu_table_worker *worker, bool is_last)
{
	for (uint64_t row = 0; run->spec.num_keys > 0 && row < worker->num_rows; row++)
		worker->of_rows[row] = worker->shared[worker->of_rows[row]];
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
	{
		if ((run->ordered >> i & 1) == 0)
			continue;
		if (!await_column(run, i, worker->task))
			return;
		add_columns(run, worker, &run->floats, UINT32_C(1) << i);
		if (is_last)
			end_turn(run, i, worker->task);
	}
}

bool
mgpu_table_add_in_turn(mgpu_run *run, mgpu_table_worker *worker, bool is_last)
{
	mgpu_table_rows rows = mgpu_table_rows_of(run, worker);

	if (atomic_load(&run->keeps))
		return false;
	if (!find_groups(run, worker, &rows))
	{
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		return true;
	}
	if (!await_groups(run, worker->task))
		return false;
	if (!share_groups(run, worker))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	if (!mgpu_table_goes_on(run))
		return true;
	if (is_last)
		end_turn(run, TURN_OF_GROUPS, worker->task);
	add_columns(run, worker, &worker->groups, ~run->ordered);
	add_floats(run, worker, is_last);
	return true;
}

/*
 * table_cut.c
 *		Rows that a limit leaves out for sure are dropped while pages are read.
 *
 * Of each group that a thread has met, it knows the least `limit` codes of the first order column (different ones, for dense ranks).
 * A row behind all of them is beyond the limit.  What is left is sorted as if nothing had been dropped.  A bound that threads share
 * was rejected: it saves little, since each thread's own is soon as good.
 */
#include "core/cpu/table/table.h"

#include <string.h>

/* Larger limits drop few rows, and take long to keep. */
#define MOST_CODES 1024
#define MOST_CODES_OF_GROUPS 64

/* Of more groups, each has few rows. */
#define MOST_GROUPS (1 << 16)

void
mgpu_table_plan_cut(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;
	uint64_t	most = spec->num_keys > 0 ? MOST_CODES_OF_GROUPS : MOST_CODES;

	if (spec->limit_rule != MGPU_LIMIT_NONE && spec->limit <= most)
		run->cut = spec->limit;
}

/* A row's code in the first order column, so that a row of a larger one comes later. */
static uint64_t
code_of(const mgpu_group_spec *spec, const mgpu_table_worker *worker, uint64_t row)
{
	const mgpu_group_order *by = &spec->orders[0];
	uint64_t	code;

	if (spec->num_orders == 0)
		return 1;
	if ((worker->nulls[row] >> by->column & 1) != 0)
		return by->nulls_first ? 0 : UINT64_MAX;
	code = worker->codes[by->column][row];
	return by->descending ? ~code : code;
}

/* Whether rows of one code are equal in all order columns: those read later come later.  NULLs share a code with a value. */
static bool
tells_all(const mgpu_group_spec *spec, uint64_t code)
{
	return spec->limit_rule == MGPU_LIMIT_ROWS && spec->num_orders <= 1 && code != 0 && code != UINT64_MAX;
}

/* Whether a row may be within the limit; its code counts from now on.  words: how many codes there are, and these in order. */
static bool
may_return(const mgpu_run *run, uint64_t *words, uint64_t code)
{
	uint64_t	count = words[0];
	uint64_t   *codes = words + 1;
	uint64_t	place = count;

	if (count == run->cut && (code > codes[count - 1] || (code == codes[count - 1] && tells_all(&run->spec, code))))
		return false;
	while (place > 0 && codes[place - 1] > code)
		place--;
	if (run->spec.limit_rule == MGPU_LIMIT_DENSE_RANKS && place > 0 && codes[place - 1] == code)
		return true;
	if (place == run->cut)
		return true;
	memmove(codes + place + 1, codes + place, (count - place - (count == run->cut)) * sizeof(uint64_t));
	codes[place] = code;
	words[0] += count < run->cut;
	return true;
}

static void
move_row(const mgpu_run *run, mgpu_table_worker *worker, uint64_t to, uint64_t from)
{
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
	{
		if ((run->stored >> i & 1) != 0)
			worker->codes[i][to] = worker->codes[i][from];
	}
	worker->nulls[to] = worker->nulls[from];
}

/* The groups of the vector's rows; false: out of memory. */
static bool
find_groups(const mgpu_run *run, mgpu_table_worker *worker, uint64_t begin)
{
	mgpu_table_rows rows = {.some_nulls = worker->some_nulls,.nulls = worker->nulls};

	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		rows.codes[i] = worker->codes[i];
	rows = mgpu_table_slice(&rows, run->spec.num_columns, begin, worker->num_rows - begin);
	if (run->spec.num_keys == 0)
	{
		memset(worker->numbers, 0, sizeof(worker->numbers));
		return mgpu_table_make_empty(&worker->groups);
	}
	mgpu_table_hash(&run->keys, &rows, worker->hashes);
	return mgpu_table_find(&worker->groups, &rows, worker->hashes, worker->numbers);
}

void
mgpu_table_cut(mgpu_run *run, mgpu_table_worker *worker, uint64_t begin)
{
	uint64_t	num_left = begin;

	if (worker->groups.num_groups > MOST_GROUPS)
		return;
	if (!find_groups(run, worker, begin))
	{
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		return;
	}
	for (uint64_t row = begin; row < worker->num_rows; row++)
	{
		uint64_t   *record = mgpu_table_record(&worker->groups, worker->numbers[row - begin]);

		if (may_return(run, record + 2 + run->spec.num_keys, code_of(&run->spec, worker, row)))
			move_row(run, worker, num_left++, row);
	}
	worker->num_rows = num_left;
}

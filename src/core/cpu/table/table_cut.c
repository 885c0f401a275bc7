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
#define MOST_CODES (1 << 17)
#define MOST_CODES_OF_GROUPS 64
#define MOST_DENSE_CODES 1024

/* Of more groups, each has few rows. */
#define MOST_GROUPS (1 << 16)

void
mgpu_table_plan_cut(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;
	uint64_t	most = spec->num_keys > 0 ? MOST_CODES_OF_GROUPS :
		spec->limit_rule == MGPU_LIMIT_DENSE_RANKS ? MOST_DENSE_CODES : MOST_CODES;

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

/* Of different codes, in order: whether a row may be within the limit. */
static bool
may_return_dense(const mgpu_run *run, uint64_t *words, uint64_t code)
{
	uint64_t	count = words[0];
	uint64_t   *codes = words + 1;
	uint64_t	place = count;

	while (place > 0 && codes[place - 1] > code)
		place--;
	if ((place > 0 && codes[place - 1] == code) || place == run->cut)
		return place > 0 && codes[place - 1] == code;
	memmove(codes + place + 1, codes + place, (count - place - (count == run->cut)) * sizeof(uint64_t));
	codes[place] = code;
	words[0] += count < run->cut;
	return true;
}

/* Put a code in place of the greatest, or behind all others, of a heap whose greatest is the first. */
static void
put_first(uint64_t *codes, uint64_t count, uint64_t code)
{
	uint64_t	place = 0;

	for (uint64_t below = 1; below < count; below = 2 * place + 1)
	{
		below += below + 1 < count && codes[below + 1] > codes[below];
		if (codes[below] <= code)
			break;
		codes[place] = codes[below];
		place = below;
	}
	codes[place] = code;
}

static void
put_last(uint64_t *codes, uint64_t place, uint64_t code)
{
	for (; place > 0 && codes[(place - 1) / 2] < code; place = (place - 1) / 2)
		codes[place] = codes[(place - 1) / 2];
	codes[place] = code;
}

/* Whether a row may be within the limit; its code counts from now on.  words: how many codes there are, and these. */
static bool
may_return(const mgpu_run *run, uint64_t *words, uint64_t code)
{
	uint64_t   *codes = words + 1;

	if (run->spec.limit_rule == MGPU_LIMIT_DENSE_RANKS)
		return may_return_dense(run, words, code);
	if (words[0] < run->cut)
		put_last(codes, words[0]++, code);
	else if (code > codes[0] || (code == codes[0] && tells_all(&run->spec, code)))
		return false;
	else
		put_first(codes, words[0], code);
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

/*
 * table_cut.c
 *		Rows that a limit leaves out for sure are dropped while pages are read.
 *
 * Of each group that a thread has met, it knows the least `limit` codes of the first order column (different ones, for dense ranks).
 * A row behind all of them is beyond the limit.  Where later rows come before earlier ones, as the newest of each host do, these were kept: so what is kept is
 * looked at again whenever it has doubled, and goes to the file where it does not fit.  What is left is sorted as if nothing had been dropped.  A bound that threads share
 * was rejected: it saves little, since each thread's own is soon as good.
 */
#include "core/cpu/table/table.h"

#include <string.h>

#include "core/sizes.h"

/* Larger limits drop few rows, and take long to keep. */
#define MOST_CODES (1 << 17)
#define MOST_CODES_OF_GROUPS 64
#define MOST_DENSE_CODES 1024

uint64_t
mgpu_cpu_table_cut(const mgpu_group_spec *spec)
{
	uint64_t	most = spec->num_keys > 0 ? MOST_CODES_OF_GROUPS :
		spec->limit_rule == MGPU_LIMIT_DENSE_RANKS ? MOST_DENSE_CODES : MOST_CODES;

	return spec->limit_rule != MGPU_LIMIT_NONE && spec->limit <= most ? spec->limit : 0;
}

bool
mgpu_table_still_cuts(const mgpu_run *run, const mgpu_table_worker *worker)
{
	return run->cut > 0 && !run->order.has_parts && worker->groups.num_groups <= MGPU_TABLE_CUT_GROUPS;
}

/* A row's code in the first order column, so that a row of a larger one comes later. */
static uint64_t
code_of(const mgpu_group_spec *spec, const mgpu_table_rows *rows, uint64_t row)
{
	const mgpu_group_order *by = &spec->orders[0];
	uint64_t	code;

	if (spec->num_orders == 0)
		return 1;
	if ((rows->nulls[row] >> by->column & 1) != 0)
		return by->nulls_first ? 0 : UINT64_MAX;
	code = rows->codes[by->column][row];
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
	if (place > 0 && codes[place - 1] == code)
		return true;
	if (place == run->cut)
		return false;
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
move_row(const mgpu_run *run, mgpu_table_rows *rows, uint64_t to, uint64_t from)
{
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
	{
		if ((run->stored >> i & 1) != 0)
			((uint64_t *) rows->codes[i])[to] = rows->codes[i][from];
	}
	((uint32_t *) rows->nulls)[to] = rows->nulls[from];
}

/* The groups of a vector's rows; false: out of memory. */
static bool
find_groups(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_rows *rows)
{
	if (run->spec.num_keys == 0)
	{
		memset(worker->numbers, 0, sizeof(worker->numbers));
		return mgpu_table_make_empty(&worker->groups);
	}
	mgpu_table_hash(&run->keys, rows, worker->hashes);
	return mgpu_table_find(&worker->groups, rows, worker->hashes, worker->numbers);
}

/* How many codes of a row's group are known, and these. */
static uint64_t *
words_of(const mgpu_run *run, const mgpu_table_worker *worker, uint64_t row)
{
	return mgpu_table_record(&worker->groups, worker->numbers[row]) + 2 + run->spec.num_keys;
}

void
mgpu_table_cut(mgpu_run *run, mgpu_table_worker *worker, uint64_t begin)
{
	mgpu_table_rows rows = {.some_nulls = worker->some_nulls,.nulls = worker->nulls};
	uint64_t	num_left = 0;

	if (!mgpu_table_still_cuts(run, worker))
		return;
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		rows.codes[i] = worker->codes[i];
	rows = mgpu_table_slice(&rows, run->spec.num_columns, begin, worker->num_rows - begin);
	if (!find_groups(run, worker, &rows))
	{
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
		return;
	}
	for (uint64_t row = 0; row < rows.num_rows; row++)
	{
		if (may_return(run, words_of(run, worker, row), code_of(&run->spec, &rows, row)))
			move_row(run, &rows, num_left++, row);
	}
	worker->num_rows = begin + num_left;
}

/* ---- once more */

/* Whether a row may still be within the limit, now that more codes are known. */
static bool
may_still_return(const mgpu_run *run, const uint64_t *words, uint64_t code)
{
	const uint64_t *codes = words + 1;

	/* the greatest is the first of a heap, and the last of dense codes */
	return words[0] < run->cut || code <= codes[run->spec.limit_rule == MGPU_LIMIT_DENSE_RANKS ? run->cut - 1 : 0];
}

/* Leave rows of a batch that may be within the limit.  false: out of memory. */
static bool
cut_batch(const mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch)
{
	uint32_t	num_left = 0;

	for (uint32_t begin = 0; begin < batch->rows.num_rows; begin += MGPU_VECTOR_ROWS)
	{
		mgpu_table_rows rows = mgpu_table_slice(&batch->rows, run->spec.num_columns, begin,
												mgpu_table_least(MGPU_VECTOR_ROWS, batch->rows.num_rows - begin));

		if (!find_groups(run, worker, &rows))
			return false;
		for (uint32_t row = 0; row < rows.num_rows; row++)
		{
			if (may_still_return(run, words_of(run, worker, row), code_of(&run->spec, &rows, row)))
				move_row(run, &batch->rows, num_left++, begin + row);
		}
	}
	batch->rows.num_rows = batch->parts[1] = num_left;
	return true;
}

/* Copy the rows of a batch to another arena. */
static bool
move_batch(const mgpu_run *run, mgpu_arena *arena, mgpu_table_batch *batch)
{
	uint64_t	num_rows = batch->rows.num_rows;
	uint64_t	num_columns = (uint64_t) __builtin_popcount(run->stored);
	uint64_t   *to = num_rows == 0 ? NULL : mgpu_arena_allocate(arena, num_rows * (num_columns * sizeof(uint64_t) + sizeof(uint32_t)));

	if (num_rows > 0 && to == NULL)
		return false;
	for (uint32_t i = 0; num_rows > 0 && i < run->spec.num_columns; i++)
	{
		if ((run->stored >> i & 1) == 0)
			continue;
		batch->rows.codes[i] = memcpy(to, batch->rows.codes[i], num_rows * sizeof(uint64_t));
		to += num_rows;
	}
	if (num_rows > 0)
		batch->rows.nulls = memcpy(to, batch->rows.nulls, num_rows * sizeof(uint32_t));
	return true;
}

bool
mgpu_table_cut_again(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch)
{
	mgpu_arena	arena = {0};
	bool		done = true;

	batch->before = worker->last_kept;
	worker->last_kept = batch;
	worker->num_left += batch->rows.num_rows;
	if (worker->num_left < MGPU_TABLE_CUT_ROWS || worker->num_left < 2 * worker->left_before)
		return true;
	worker->num_left = 0;
	for (batch = worker->last_kept; done && batch != NULL; batch = batch->before)
	{
		done = cut_batch(run, worker, batch) && move_batch(run, &arena, batch);
		worker->num_left += batch->rows.num_rows;
	}
	if (!done)
	{
		mgpu_arena_free(&arena);
		return false;
	}
	mgpu_arena_free(&worker->kept_arena);
	worker->kept_arena = arena;
	worker->left_before = worker->num_left;
	return true;
}

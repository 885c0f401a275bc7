/*
 * table_batches.c
 *		The rows of some pages that are kept: folded into groups, or put into a batch, part after part, in memory or in the file.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>
#include <string.h>

/* Have room for the codes of all rows, or of a vector's. */
static bool
make_room(mgpu_run *run, mgpu_table_worker *worker, uint64_t most_rows)
{
	uint64_t	capacity = MGPU_VECTOR_ROWS + (worker->folds ? 0 : most_rows);
	bool		is_whole = true;

	if (capacity <= worker->capacity)
		return true;
	capacity = UINT64_C(1) << mgpu_bit_length(capacity - 1);	/* seldom once more */
	for (uint32_t i = 0; i < run->spec.num_columns; i++)
	{
		if ((run->stored >> i & 1) != 0)
			is_whole &= (worker->codes[i] = mgpu_arena_allocate(&worker->arena, capacity * sizeof(uint64_t))) != NULL;
	}
	worker->nulls = mgpu_arena_allocate(&worker->arena, capacity * sizeof(uint32_t));
	worker->parts = mgpu_arena_allocate(&worker->arena, capacity * sizeof(uint16_t));
	is_whole &= !run->in_turn || (worker->of_rows = mgpu_arena_allocate(&worker->arena, capacity * sizeof(uint32_t))) != NULL;
	worker->capacity = is_whole && worker->nulls != NULL && worker->parts != NULL ? capacity : 0;
	return worker->capacity > 0;
}

static bool
fold_vector(mgpu_run *run, mgpu_table_worker *worker)
{
	mgpu_table_rows rows = mgpu_table_rows_of(run, worker);
	const uint32_t *numbers = run->spec.num_keys == 0 ? NULL : worker->numbers;
	bool		found;

	worker->num_rows = 0;
	worker->some_nulls = 0;
	if (numbers == NULL)
		found = mgpu_table_make_empty(&worker->groups);
	else
	{
		mgpu_table_hash(&run->keys, &rows, worker->hashes);
		found = mgpu_table_find(&worker->groups, &rows, worker->hashes, worker->numbers);
	}
	if (!found)
		return false;
	mgpu_table_count_rows(&worker->groups, &rows, numbers);
	if (!mgpu_table_reduce(&worker->groups, &run->record, &rows, numbers, UINT32_MAX))
		mgpu_table_fail(run, MGPU_TABLE_OVERFLOW);
	return true;
}

/* The part of each row, by the highest bits of its hash or its place in order, and how many rows parts have. */
static void
find_parts(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_rows *rows, uint32_t *sizes)
{
	if (run->way == MGPU_TABLE_ORDER)
	{
		mgpu_table_find_order_parts(run, worker, rows, sizes);
		return;
	}
	for (uint64_t begin = 0; begin < rows->num_rows; begin += MGPU_VECTOR_ROWS)
	{
		mgpu_table_rows slice = mgpu_table_slice(rows, run->spec.num_columns, begin,
												 mgpu_table_least(MGPU_VECTOR_ROWS, rows->num_rows - begin));

		mgpu_table_hash(&run->part_keys, &slice, worker->hashes);
		for (uint32_t i = 0; i < slice.num_rows; i++)
		{
			uint16_t	part = (uint16_t) (worker->hashes[i] >> MGPU_TABLE_PART_SHIFT);

			worker->parts[begin + i] = part;
			sizes[part]++;
		}
	}
}

/* Where each row goes: behind the rows before it of its part.  Rows of one part stay where they are. */
static void
place_rows(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_rows *rows, mgpu_table_batch *batch, uint32_t *places)
{
	uint32_t	next[MGPU_TABLE_PARTS] = {0};
	uint32_t	begin = 0;

	find_parts(run, worker, rows, next);
	for (uint32_t part = 0; part < MGPU_TABLE_PARTS; part++)
	{
		uint32_t	size = next[part];

		batch->parts[part] = next[part] = begin;
		begin += size;
	}
	batch->parts[MGPU_TABLE_PARTS] = begin;
	for (uint32_t i = 0; i < rows->num_rows; i++)
		places[i] = next[worker->parts[i]]++;
}

/* Copy the nulls of rows, part after part if there are places. */
static void
copy_nulls(const mgpu_table_worker *worker, const uint32_t *places, uint32_t *to)
{
	if (places == NULL)
		memcpy(to, worker->nulls, worker->num_rows * sizeof(uint32_t));
	for (uint64_t i = 0; places != NULL && i < worker->num_rows; i++)
		to[places[i]] = worker->nulls[i];
}

/* Copy rows to the memory of the batch: columns, then nulls; each part after part if there are places. */
static void
copy_rows(const mgpu_run *run, const mgpu_table_worker *worker, mgpu_table_batch *batch, const uint32_t *places, uint64_t *to)
{
	uint64_t	num_rows = worker->num_rows;

	for (uint32_t column = 0; column < run->spec.num_columns; column++)
	{
		const uint64_t *from = worker->codes[column];

		if ((run->stored >> column & 1) == 0)
			continue;
		if (places == NULL)
			memcpy(to, from, num_rows * sizeof(uint64_t));
		for (uint64_t i = 0; places != NULL && i < num_rows; i++)
			to[places[i]] = from[i];
		batch->rows.codes[column] = to;
		to += num_rows;
	}
	batch->rows.nulls = (uint32_t *) to;
	copy_nulls(worker, places, (uint32_t *) to);
}

/* Copy rows as they lie in the file: part after part, each with its columns, then nulls. */
static void
copy_for_file(const mgpu_run *run, const mgpu_table_worker *worker, const mgpu_table_batch *batch, const uint32_t *places, uint64_t *to)
{
	uint32_t	num_columns = (uint32_t) __builtin_popcount(run->stored);
	uint64_t   *of_parts[MGPU_TABLE_PARTS] = {to};

	for (uint32_t part = 0; part < run->num_parts; part++)
		of_parts[part] = to + (uint64_t) batch->parts[part] * num_columns - batch->parts[part];
	for (uint32_t column = 0; column < run->spec.num_columns; column++)
	{
		const uint64_t *from = worker->codes[column];

		if ((run->stored >> column & 1) == 0)
			continue;
		if (places == NULL)
			memcpy(of_parts[0], from, worker->num_rows * sizeof(uint64_t));
		for (uint64_t i = 0; places != NULL && i < worker->num_rows; i++)
			of_parts[worker->parts[i]][places[i]] = from[i];
		for (uint32_t part = 0; part < run->num_parts; part++)
			of_parts[part] += batch->parts[part + 1] - batch->parts[part];
	}
	copy_nulls(worker, places, (uint32_t *) (to + worker->num_rows * num_columns));
}

static uint64_t
worker_bytes(const mgpu_table_worker *worker)
{
	return worker->arena.bytes + worker->kept_arena.bytes + mgpu_table_groups_bytes(&worker->groups) + worker->shared_capacity * sizeof(uint32_t);
}

/* Keep rows in memory, or in the file. */
static bool
keep_rows(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch, const uint32_t *places)
{
	uint64_t	row_bytes = (uint64_t) __builtin_popcount(run->stored) * sizeof(uint64_t) + sizeof(uint32_t);
	uint64_t	bytes = worker->num_rows * row_bytes;
	uint64_t	growth = worker_bytes(worker) - worker->bytes + mgpu_arena_growth(&worker->kept_arena, bytes);
	bool		spills = mgpu_table_spills(run, growth);
	void	   *memory = spills ? mgpu_table_block(worker, bytes) : mgpu_arena_allocate(&worker->kept_arena, bytes);

	if (memory == NULL)
		return false;
	batch->rows.num_rows = (uint32_t) worker->num_rows;
	batch->rows.some_nulls = worker->some_nulls;
	if (!spills)
		copy_rows(run, worker, batch, places, memory);
	else
	{
		copy_for_file(run, worker, batch, places, memory);
		mgpu_table_spill_batch(run, batch, memory);
	}
	return true;
}

static bool
keep_batch(mgpu_run *run, mgpu_table_worker *worker)
{
	mgpu_table_batch *batch = worker->batch;
	mgpu_table_rows rows = mgpu_table_rows_of(run, worker);
	bool		has_parts = run->num_parts > 1;
	uint32_t   *places = NULL;
	bool		kept = true;

	if (worker->num_rows == 0)
		return true;
	if (has_parts)
	{
		places = malloc(worker->num_rows * sizeof(uint32_t));
		kept = places != NULL;
		if (kept)
			place_rows(run, worker, &rows, batch, places);
	}
	else
		batch->parts[1] = (uint32_t) worker->num_rows;
	kept = kept && keep_rows(run, worker, batch, places);
	free(places);
	return kept && (batch->in_file || !mgpu_table_still_cuts(run, worker) || mgpu_table_cut_again(run, worker, batch));
}

bool
mgpu_table_begin_batch(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch, uint64_t most_rows)
{
	worker->batch = batch;
	worker->num_rows = 0;
	worker->some_nulls = 0;
	return make_room(run, worker, most_rows);
}

/* Keep the batch, which is full, and have another behind it. */
static bool
keep_and_go_on(mgpu_run *run, mgpu_table_worker *worker)
{
	mgpu_table_batch *more = mgpu_arena_allocate(&worker->arena, sizeof(*more));

	if (more == NULL || !keep_batch(run, worker))
		return false;
	mgpu_table_count(run, &worker->bytes, worker_bytes(worker));
	*more = (mgpu_table_batch) {0};
	worker->batch = worker->batch->more = more;
	return true;
}

/* Have room for more rows of the task. */
static bool
go_on_in_next(mgpu_run *run, mgpu_table_worker *worker)
{
	bool		goes_on = (run->in_turn && mgpu_table_add_in_turn(run, worker, false)) || keep_and_go_on(run, worker);

	worker->num_rows = 0;
	worker->some_nulls = 0;
	return goes_on;
}

bool
mgpu_table_take_vector(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_kept)
{
	uint64_t	begin;

	if (worker->num_rows + num_kept > worker->capacity && !go_on_in_next(run, worker))
		return false;
	begin = worker->num_rows;
	worker->num_kept += num_kept;
	mgpu_table_compute(run, worker, num_kept);
	if (worker->folds && num_kept > 0)
		return fold_vector(run, worker);
	if (!worker->folds)
		mgpu_table_cut(run, worker, begin);
	return true;
}

void
mgpu_table_end_batch(mgpu_run *run, mgpu_table_worker *worker, bool goes_on)
{
	if (goes_on && !worker->folds)
		goes_on = (run->in_turn && mgpu_table_add_in_turn(run, worker, true)) || keep_batch(run, worker);
	else if (!mgpu_table_folds(run, &worker->groups))
		worker->folds = false;
	mgpu_table_count(run, &worker->bytes, worker_bytes(worker));
	if (run->names != NULL && run->most_bytes > 0 && atomic_load(&run->bytes) + mgpu_names_memory(run->names) > run->most_bytes)
		mgpu_table_fail(run, MGPU_TABLE_TEXTS);
	if (!goes_on)
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
}

/* Rows that have been kept are in the file. */
void
mgpu_table_forget_kept(mgpu_run *run)
{
	for (int i = 0; i < run->num_workers; i++)
	{
		mgpu_table_worker *worker = &run->workers[i];

		mgpu_arena_free(&worker->kept_arena);
		mgpu_table_count(run, &worker->bytes, worker_bytes(worker));
	}
}

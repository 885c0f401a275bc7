/*
 * table_read.c
 *		Batches of pages: finds where rows have their inputs, a vector of rows at a time, and hands these on.
 *
 * Pages are pinned, so they are read where they are: what may change meanwhile are bits of rows' headers that nobody looks at here.
 * Each offset is checked all the same, as group_decode.h has it.  The next page is prefetched while a page is read: rows lie from its
 * end to its begin, which the processor does not foresee.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64

void
mgpu_table_plan_inputs(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;

	for (uint32_t i = 0; i < spec->num_inputs; i++)
	{
		if (spec->inputs[i].offset >= 0)
			run->fixed_inputs[run->num_fixed_inputs++] = (uint8_t) i;
		else
			run->walked_inputs[run->num_walked_inputs++] = (uint8_t) i;
	}
}

/* ---- rows of a page */

/* Where a thread is in the pages of a task. */
typedef struct page_reader
{
	const mgpu_table_read *read;
	uint32_t	ref;			/* of a page */
	uint32_t	item;			/* of it */
	uint32_t	num_rows;		/* found so far, of a vector */
	const char *next_page;		/* to prefetch, or NULL */
} page_reader;

static inline void
put_input(mgpu_table_worker *worker, uint32_t input, uint32_t row, const char *value)
{
	worker->found[input][row] = value;
}

/* Any row: as mgpu_find_inputs. */
static bool
find_by_walk(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_stored_row *stored, uint32_t row)
{
	const mgpu_group_spec *spec = &run->spec;
	const char *inputs[MGPU_GROUP_MAX_INPUTS];

	if (!mgpu_walk_row(spec, stored, 0, 0, inputs))
		return false;
	for (uint32_t i = 0; i < spec->num_inputs; i++)
		put_input(worker, i, row, inputs[i]);
	return true;
}

/* A row without NULLs that has all attributes. */
static inline bool
find_plain(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_stored_row *stored, uint32_t row)
{
	const mgpu_group_spec *spec = &run->spec;
	const char *inputs[MGPU_GROUP_MAX_INPUTS];

	if (spec->fixed_end > stored->data_bytes)
		return false;
	for (uint32_t i = 0; i < run->num_fixed_inputs; i++)
	{
		uint32_t	input = run->fixed_inputs[i];

		put_input(worker, input, row, stored->data + spec->inputs[input].offset);
	}
	if (spec->num_fixed == spec->num_attributes)
		return true;
	if (!mgpu_walk_row(spec, stored, spec->num_fixed, spec->fixed_end, inputs))
		return false;
	for (uint32_t i = 0; i < run->num_walked_inputs; i++)
		put_input(worker, run->walked_inputs[i], row, inputs[run->walked_inputs[i]]);
	return true;
}

static inline void
prefetch_line(const char *page, uint32_t line)
{
	if (page != NULL && line < MGPU_PAGE_BYTES / LINE_BYTES)
		__builtin_prefetch(page + line * LINE_BYTES);
}

/* Rows of the page from the reader's item on, up to a whole vector.  Whether the page is done. */
static bool
read_page(mgpu_run *run, mgpu_table_worker *worker, page_reader *reader, const char *page, uint32_t num_items)
{
	uint32_t	item = reader->item;
	uint32_t	row = reader->num_rows;
	mgpu_stored_row stored = {0};
	bool		is_damaged = false;

	for (; item < num_items && row < MGPU_VECTOR_ROWS; item++)
	{
		mgpu_row_state state = mgpu_find_row(page, item, &stored);
		bool		is_whole = state == MGPU_ROW_READ;

		prefetch_line(reader->next_page, 2 * item);
		prefetch_line(reader->next_page, 2 * item + 1);
		if (state == MGPU_ROW_NONE)
			continue;
		is_whole = is_whole && (stored.not_null != NULL || stored.num_stored < run->spec.num_attributes ?
								find_by_walk(run, worker, &stored, row) : find_plain(run, worker, &stored, row));
		is_damaged |= !is_whole;
		row += is_whole;
	}
	if (is_damaged)
		mgpu_table_fail(run, MGPU_TABLE_DAMAGED);
	reader->item = item;
	reader->num_rows = row;
	return item == num_items;
}

static const char *
page_at(const mgpu_run *run, const mgpu_table_slot *slot, uint32_t number)
{
	const mgpu_page_ref *refs = (const mgpu_page_ref *) slot->memory;

	if (number >= slot->num_refs)
		return NULL;
	return mgpu_page_of_ref(refs[number], slot->memory, slot->num_refs, &run->pages);
}

/* The rows of the next vector; their number. */
static uint32_t
find_rows(mgpu_run *run, mgpu_table_worker *worker, page_reader *reader)
{
	const mgpu_table_slot *slot = reader->read->slot;
	const mgpu_page_ref *refs = (const mgpu_page_ref *) slot->memory;

	reader->num_rows = 0;
	while (reader->ref < reader->read->end && reader->num_rows < MGPU_VECTOR_ROWS)
	{
		const char *page = page_at(run, slot, reader->ref);
		bool		is_done = true;

		reader->next_page = page_at(run, slot, reader->ref + 1);
		if (page == NULL)
			mgpu_table_fail(run, MGPU_TABLE_DAMAGED);
		else
			is_done = read_page(run, worker, reader, page, refs[reader->ref].num_items);
		if (is_done)
		{
			reader->ref++;
			reader->item = 0;
		}
	}
	return reader->num_rows;
}

/* ---- rows of a task */

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
	worker->capacity = is_whole && worker->nulls != NULL && worker->parts != NULL ? capacity : 0;
	return worker->capacity > 0;
}

static mgpu_table_rows
rows_of_worker(const mgpu_run *run, const mgpu_table_worker *worker)
{
	mgpu_table_rows rows = {.num_rows = (uint32_t) worker->num_rows,.some_nulls = worker->some_nulls,.nulls = worker->nulls};

	for (uint32_t i = 0; i < run->spec.num_columns; i++)
		rows.codes[i] = worker->codes[i];
	return rows;
}

static bool
fold_vector(mgpu_run *run, mgpu_table_worker *worker)
{
	mgpu_table_rows rows = rows_of_worker(run, worker);
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
	if (found && !mgpu_table_reduce(&worker->groups, &run->record, &rows, numbers))
		mgpu_table_fail(run, MGPU_TABLE_OVERFLOW);
	return found;
}

/* The part of each row, by the highest bits of its hash, and how many rows parts have. */
static void
find_parts(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_rows *rows, uint32_t *sizes)
{
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

/* Copy rows to the batch, whose memory is to: columns, then nulls; part after part if there are places. */
static void
copy_rows(const mgpu_run *run, const mgpu_table_worker *worker, mgpu_table_batch *batch, const uint32_t *places, uint64_t *to)
{
	uint64_t	num_rows = worker->num_rows;
	uint32_t   *nulls;

	batch->rows.num_rows = (uint32_t) num_rows;
	batch->rows.some_nulls = worker->some_nulls;
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
	batch->rows.nulls = nulls = (uint32_t *) to;
	if (places == NULL)
		memcpy(nulls, worker->nulls, num_rows * sizeof(uint32_t));
	for (uint64_t i = 0; places != NULL && i < num_rows; i++)
		nulls[places[i]] = worker->nulls[i];
}

static uint64_t
worker_bytes(const mgpu_table_worker *worker)
{
	return worker->arena.bytes + mgpu_table_groups_bytes(&worker->groups);
}

/* Keep rows in memory, or in the file. */
static bool
keep_rows(mgpu_run *run, mgpu_table_worker *worker, mgpu_table_batch *batch, const uint32_t *places)
{
	uint64_t	row_bytes = (uint64_t) __builtin_popcount(run->stored) * sizeof(uint64_t) + sizeof(uint32_t);
	uint64_t	bytes = worker->num_rows * row_bytes;
	uint64_t	growth = worker_bytes(worker) - worker->bytes + mgpu_arena_growth(&worker->arena, bytes);
	bool		spills = mgpu_table_spills(run, growth);
	void	   *memory = spills ? mgpu_table_block(worker, bytes) : mgpu_arena_allocate(&worker->arena, bytes);
	if (memory == NULL)
		return false;
	copy_rows(run, worker, batch, places, memory);
	if (spills)
		mgpu_table_spill_batch(run, batch, memory);
	return true;
}

static bool
keep_batch(mgpu_run *run, mgpu_table_worker *worker)
{
	mgpu_table_batch *batch = worker->batch;
	mgpu_table_rows rows = rows_of_worker(run, worker);
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
	return kept;
}

/* Rows that pages may have. */
static uint64_t
most_rows_of(const mgpu_table_read *read)
{
	const mgpu_page_ref *refs = (const mgpu_page_ref *) read->slot->memory;
	uint64_t	num_rows = 0;

	for (uint32_t i = read->begin; i < read->end; i++)
		num_rows += mgpu_table_least(refs[i].num_items, MGPU_PAGE_MAX_ITEMS);
	return num_rows;
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
go_on_in_next(mgpu_run *run, mgpu_table_worker *worker)
{
	mgpu_table_batch *more = mgpu_arena_allocate(&worker->arena, sizeof(*more));

	if (more == NULL || !keep_batch(run, worker))
		return false;
	mgpu_table_count(run, &worker->bytes, worker_bytes(worker));
	*more = (mgpu_table_batch) {0};
	worker->batch = worker->batch->more = more;
	worker->num_rows = 0;
	worker->some_nulls = 0;
	return true;
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
	if (!worker->folds && run->cut > 0)
		mgpu_table_cut(run, worker, begin);
	return true;
}

void
mgpu_table_end_batch(mgpu_run *run, mgpu_table_worker *worker, bool goes_on)
{
	if (goes_on && !worker->folds)
		goes_on = keep_batch(run, worker);
	else if (worker->groups.num_groups > mgpu_cpu_tunables.table_fold_groups)
		worker->folds = false;
	mgpu_table_count(run, &worker->bytes, worker_bytes(worker));
	if (!goes_on)
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
}

void
mgpu_table_read_pages(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_read *read)
{
	page_reader reader = {.read = read,.ref = read->begin};
	uint8_t		source = ((const mgpu_page_ref *) read->slot->memory)->source;
	bool		goes_on = mgpu_table_begin_batch(run, worker, read->batch, most_rows_of(read));
	uint32_t	num_found;

	while (goes_on && mgpu_table_goes_on(run) && (num_found = find_rows(run, worker, &reader)) > 0)
	{
		uint64_t	before = worker->num_kept;

		goes_on = mgpu_table_take_rows(run, worker, num_found);
		worker->read_of_source[source] += num_found;
		worker->kept_of_source[source] += worker->num_kept - before;
	}
	mgpu_table_end_batch(run, worker, goes_on);
}

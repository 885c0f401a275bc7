/*
 * table_read.c
 *		Pages: finds where rows have their inputs, a vector of rows at a time, and hands these on.
 *
 * Pages are pinned, so they are read where they are: what may change meanwhile are bits of rows' headers that nobody looks at here.
 * Each offset is checked all the same, as group_decode.h has it.  The whole next page is prefetched while a page is read: rows lie from its
 * end to its begin, which the processor does not foresee.  It is asked for from its begin on: row by row took up to twice as long.
 */
#include "core/cpu/table/table_read.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64
#define PAGE_LINES (MGPU_PAGE_BYTES / LINE_BYTES)

void
mgpu_table_plan_inputs(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;

	for (uint32_t i = 0; i < spec->num_inputs; i++)
	{
		if (i + 1 == spec->tid_input)
			continue;
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
		if (i + 1 != spec->tid_input)
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
prefetch_lines(const char *page, uint32_t line, uint32_t num_lines)
{
	for (uint32_t end = line + num_lines; page != NULL && line < end && line < PAGE_LINES; line++)
		__builtin_prefetch(page + line * LINE_BYTES);
}

static inline void
put_tid(const mgpu_run *run, mgpu_table_worker *worker, uint32_t row, uint64_t tid)
{
	if (run->spec.tid_input == 0)
		return;
	worker->tids[row] = tid;
	put_input(worker, run->spec.tid_input - 1, row, (const char *) &worker->tids[row]);
}

/* Rows of the page from the reader's item on, up to a whole vector.  Whether the page is done. */
static bool
read_page(mgpu_run *run, mgpu_table_worker *worker, page_reader *reader, const char *page, mgpu_page_ref ref)
{
	uint32_t	num_items = ref.num_items;
	uint32_t	item = reader->item;
	uint32_t	row = reader->num_rows;
	mgpu_stored_row stored = {0};
	uint32_t	lines = num_items == 0 ? 0 : (PAGE_LINES - 1) / num_items + 1;	/* of the next page, an item */
	bool		is_damaged = false;

	for (; item < num_items && row < MGPU_VECTOR_ROWS; item++)
	{
		mgpu_row_state state = mgpu_find_row(page, item, &stored);
		bool		is_whole = state == MGPU_ROW_READ;

		prefetch_lines(reader->next_page, item * lines, lines);
		if (state == MGPU_ROW_NONE)
			continue;
		is_whole = is_whole && (stored.not_null != NULL || stored.num_stored < run->spec.num_attributes ?
								find_by_walk(run, worker, &stored, row) : find_plain(run, worker, &stored, row));
		is_damaged |= !is_whole;
		if (is_whole)
			put_tid(run, worker, row, mgpu_tid_of(ref, item));
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
			is_done = read_page(run, worker, reader, page, refs[reader->ref]);
		if (is_done)
		{
			reader->ref++;
			reader->item = 0;
		}
	}
	return reader->num_rows;
}

/* ---- rows that are no page's */

/* The values of an input in the next rows of a vector. */
static bool
find_values(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_read *read, uint32_t input, uint32_t num_rows)
{
	const char *memory = read->slot->memory;
	const mgpu_row_batch *batch = (const mgpu_row_batch *) memory;
	const uint32_t *places = (const uint32_t *) (batch + 1) + (uint64_t) input * batch->num_rows + worker->next_row;
	uint64_t	length = run->spec.inputs[input].length > 0 ? (uint64_t) run->spec.inputs[input].length : 1;
	bool		are_there = true;

	for (uint32_t i = 0; i < num_rows; i++)
	{
		are_there &= places[i] + length <= read->slot->num_bytes;
		worker->found[input][i] = places[i] == 0 ? NULL : memory + places[i];
	}
	return are_there;
}

/* The next vector of rows; their number. */
static uint32_t
take_next_rows(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_read *read)
{
	uint32_t	num_rows = (uint32_t) mgpu_table_least(read->end - worker->next_row, MGPU_VECTOR_ROWS);

	for (uint32_t i = 0; i < run->spec.num_inputs; i++)
	{
		if (find_values(run, worker, read, i, num_rows))
			continue;
		mgpu_table_fail(run, MGPU_TABLE_DAMAGED);
		return 0;
	}
	worker->next_row += num_rows;
	return num_rows;
}

/* ---- a task */

/* Rows that pages may have. */
static uint64_t
most_rows_of(const mgpu_run *run, const mgpu_table_read *read)
{
	const mgpu_page_ref *refs = (const mgpu_page_ref *) read->slot->memory;
	uint64_t	num_rows = 0;

	if (run->spec.takes_rows)
		return read->end - read->begin;
	for (uint32_t i = read->begin; i < read->end; i++)
		num_rows += mgpu_table_least(refs[i].num_items, MGPU_PAGE_MAX_ITEMS);
	return num_rows;
}

void
mgpu_table_do_read(mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_read *read)
{
	page_reader reader = {.read = read,.ref = read->begin};
	uint8_t		source = run->spec.takes_rows ? 0 : ((const mgpu_page_ref *) read->slot->memory)->source;
	bool		goes_on = mgpu_table_begin_batch(run, worker, read->batch, most_rows_of(run, read));
	uint32_t	num_found;

	worker->task = read->number;
	worker->next_row = read->begin;
	while (goes_on && mgpu_table_goes_on(run) &&
		   (num_found = run->spec.takes_rows ? take_next_rows(run, worker, read) : find_rows(run, worker, &reader)) > 0)
	{
		uint64_t	before = worker->num_kept;

		goes_on = mgpu_table_take_rows(run, worker, num_found);
		worker->read_of_source[source] += num_found;
		worker->kept_of_source[source] += worker->num_kept - before;
	}
	mgpu_table_end_batch(run, worker, goes_on);
}

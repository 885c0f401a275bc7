/*
 * index_runs.c
 *		Sorted runs of index rows in temporary files, and all rows of a build in order.
 *
 * What does not fit in maintenance_work_mem is written as runs, a file each.  A heap of the runs' next rows merges them all
 * at once: a run has as many rows as fit in memory, so there are few.
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "storage/buffile.h"

#include "compat.h"
#include "index/index_compare.h"
#include "index/index_order.h"
#include "index/index_runs.h"

#define ITEMS_AHEAD 16

typedef struct index_run
{
	BufFile    *file;
	uint64		num_left;		/* rows behind this one */
	mgpu_u128	number;			/* the run's next row, as in index_cursor */
	uint64		code;
	char	   *entry;
	Size		space;
} index_run;

typedef struct index_runs
{
	int			num_runs;
	int			most_runs;
	index_run  *runs;
} index_runs;

/* ---- writing */

static index_run *
add_run(index_rows *rows)
{
	index_runs *runs = rows->runs;

	if (runs == NULL)
	{
		runs = rows->runs = MemoryContextAllocZero(rows->context, sizeof(index_runs));
		runs->most_runs = 16;
		runs->runs = MemoryContextAlloc(rows->context, runs->most_runs * sizeof(index_run));
	}
	if (runs->num_runs == runs->most_runs)
	{
		runs->most_runs *= 2;
		runs->runs = repalloc(runs->runs, runs->most_runs * sizeof(index_run));
	}
	return memset(&runs->runs[runs->num_runs++], 0, sizeof(index_run));
}

static void
write_entries(const index_rows *rows, BufFile *file)
{
	for (uint64 i = 0; i < rows->num_items; i++)
	{
		mgpu_u128	item = index_strings(rows)[i];
		index_entry *entry = index_entry_of(rows, item);
		uint64		code = (uint64) (item >> 64);

		if (i + ITEMS_AHEAD < rows->num_items)
			index_fetch_ahead(index_entry_of(rows, index_strings(rows)[i + ITEMS_AHEAD]));
		BufFileWrite(file, &code, sizeof(code));
		BufFileWrite(file, entry, index_entry_bytes(entry));
	}
}

void
index_rows_spill(index_rows *rows)
{
	MemoryContext caller = MemoryContextSwitchTo(rows->context);
	index_run  *run = add_run(rows);

	index_rows_sort(rows);
	run->file = BufFileCreateTemp(false);
	run->num_left = rows->num_items;
	if (rows->keys->are_numbers)
		BufFileWrite(run->file, rows->items, rows->num_items * rows->item_bytes);
	else
		write_entries(rows, run->file);
	if (BufFileSeek(run->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind a temporary file")));
	index_rows_reset(rows);
	MemoryContextSwitchTo(caller);
}

void
index_rows_end(index_rows *rows)
{
	for (int i = 0; rows->runs && i < rows->runs->num_runs; i++)
		BufFileClose(rows->runs->runs[i].file);
	rows->runs = NULL;
	index_rows_reset(rows);
}

/* ---- merging */

static void
read_bytes(index_run *run, void *to, Size bytes)
{
	if (BufFileRead(run->file, to, bytes) != bytes)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

static void
reserve(char **space, Size *bytes, Size needed)
{
	if (needed <= *bytes)
		return;
	*bytes = Max(needed, 1024);
	*space = *space ? repalloc_huge(*space, *bytes) : palloc(*bytes);
}

/* Read a run's next row.  False: it has none. */
static bool
read_row(const index_rows *rows, index_run *run)
{
	mgpu_u128	item;
	struct
	{
		index_entry entry;
		IndexTupleData tuple;
	}			head;			/* tell how long the entry is */
	Size		bytes;

	if (run->num_left == 0)
		return false;
	run->num_left--;
	if (rows->keys->are_numbers)
	{
		read_bytes(run, &item, rows->item_bytes);
		run->number = index_number_of(rows, &item);
		return true;
	}
	read_bytes(run, &run->code, sizeof(run->code));
	read_bytes(run, &head, sizeof(head));
	bytes = index_entry_bytes(&head.entry);
	reserve(&run->entry, &run->space, bytes);
	memcpy(run->entry, &head, sizeof(head));
	read_bytes(run, run->entry + sizeof(head), bytes - sizeof(head));
	return true;
}

/* The first row is at the heap's top, which is its largest. */
static int
compare_runs(Datum a, Datum b, void *arg)
{
	const index_cursor *cursor = arg;
	const index_run *runs = cursor->rows->runs->runs;
	const index_run *run_a = &runs[DatumGetInt32(a)];
	const index_run *run_b = &runs[DatumGetInt32(b)];

	if (cursor->rows->keys->are_numbers)
		return run_a->number < run_b->number ? 1 : -1;
	if (cursor->rows->keys->is_collated)
		return -index_compare(cursor->rows->keys, index_entry_tuple((const index_entry *) run_a->entry),
							  index_entry_tuple((const index_entry *) run_b->entry));
	if (run_a->code != run_b->code)
		return run_a->code < run_b->code ? 1 : -1;
	return -index_compare_rest((const index_entry *) run_a->entry, (const index_entry *) run_b->entry, 0);
}

static void
start_merge(index_cursor *cursor)
{
	index_runs *runs = cursor->rows->runs;

	cursor->heap = binaryheap_allocate(runs->num_runs, compare_runs, cursor);
	for (int i = 0; i < runs->num_runs; i++)
		if (read_row(cursor->rows, &runs->runs[i]))
			binaryheap_add_unordered(cursor->heap, Int32GetDatum(i));
	binaryheap_build(cursor->heap);
}

/* Exchange what the cursor had two rows ago for the run's entry. */
static void
take_entry(index_cursor *cursor, index_run *run)
{
	char	   *spare = cursor->entries[1];
	Size		spare_space = cursor->spaces[1];

	cursor->entries[1] = cursor->entries[0];
	cursor->spaces[1] = cursor->spaces[0];
	cursor->entries[0] = run->entry;
	cursor->spaces[0] = run->space;
	run->entry = spare;
	run->space = spare_space;
}

static bool
fetch_merged(index_cursor *cursor)
{
	const index_keys *keys = cursor->rows->keys;
	index_run  *run;

	if (binaryheap_empty(cursor->heap))
		return false;
	run = &cursor->rows->runs->runs[DatumGetInt32(binaryheap_first(cursor->heap))];
	cursor->number = run->number;
	cursor->code = run->code;
	if (!keys->are_numbers)
	{
		take_entry(cursor, run);
		cursor->entry = (const index_entry *) cursor->entries[0];
	}
	if (read_row(cursor->rows, run))
		binaryheap_replace_first(cursor->heap, binaryheap_first(cursor->heap));
	else
		(void) binaryheap_remove_first(cursor->heap);
	return true;
}

/* ---- rows */

static bool
fetch_from_memory(index_cursor *cursor)
{
	const index_rows *rows = cursor->rows;
	const mgpu_u128 *item = &index_strings(rows)[cursor->next];

	if (cursor->next == rows->num_items)
		return false;
	if (rows->keys->are_numbers)
	{
		cursor->number = index_number_at(rows, cursor->next++);
		return true;
	}
	cursor->next++;
	if (cursor->next + ITEMS_AHEAD < rows->num_items)
		index_fetch_ahead(index_entry_of(rows, item[ITEMS_AHEAD]));
	cursor->is_single = cursor->next == rows->num_items || !index_may_be_equal(rows, cursor->next);
	cursor->code = (uint64) (item[0] >> 64);
	cursor->entry = index_entry_of(rows, item[0]);
	return true;
}

void
index_cursor_start(index_cursor *cursor, index_rows *rows)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->rows = rows;
	if (rows->runs)
	{
		if (rows->num_items > 0)
			index_rows_spill(rows);
		start_merge(cursor);
	}
	else
	{
		index_rows_sort(rows);
		index_rows_compare(rows);
	}
}

/* Make the tuple of a number, or give the last one's the new place. */
static inline void
make_tuple(index_cursor *cursor)
{
	cursor->is_dead = ((uint64) cursor->number & 1) != 0;
	if (!cursor->is_equal)
		cursor->tuple = index_keys_tuple(cursor->rows->keys, cursor->number >> 48, (char *) cursor->made);
	index_place_set(&cursor->tuple->t_tid, (uint64) cursor->number);
}

bool
index_cursor_next(index_cursor *cursor)
{
	mgpu_u128	last_number = cursor->number;
	uint64		last_code = cursor->code;
	const index_entry *last_entry = cursor->entry;

	if (!(cursor->heap ? fetch_merged(cursor) : fetch_from_memory(cursor)))
		return false;
	if (cursor->rows->keys->are_numbers)
	{
		cursor->is_equal = cursor->has_row && last_number >> 48 == cursor->number >> 48;
		make_tuple(cursor);
	}
	else
	{
		cursor->is_equal = cursor->has_row && last_code == cursor->code && index_same_rest(last_entry, cursor->entry);
		cursor->is_dead = cursor->entry->is_dead;
		cursor->tuple = index_entry_tuple(cursor->entry);
	}
	cursor->has_row = true;
	return true;
}

void
index_cursor_skip(index_cursor *cursor, uint64 next)
{
	const index_rows *rows = cursor->rows;
	mgpu_u128	item;

	cursor->next = next;
	cursor->has_row = true;
	if (rows->keys->are_numbers)
	{
		cursor->number = index_number_at(rows, next - 1);
		return;
	}
	item = index_strings(rows)[next - 1];
	cursor->code = (uint64) (item >> 64);
	cursor->entry = index_entry_of(rows, item);
}

bool
index_cursor_has_null(const index_cursor *cursor)
{
	if (cursor->rows->keys->are_numbers)
		return index_keys_has_null(cursor->rows->keys, cursor->number >> 48);
	return cursor->entry->has_null;
}

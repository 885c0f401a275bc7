/*
 * spill.c
 *		Partitions of rows to group, in temporary files.
 *
 * A hash of the key chooses the partition, and each level of splitting uses another
 * seed.
 * Sorting runs on disk and merging them was rejected: a merge compares all keys once
 * more, whereas a partition is only read back.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/pick.h"
#include "batch/piece.h"
#include "batch/spill.h"

/* Fewest and most partitions of one split. */
#define FEWEST_PARTITIONS 4
#define MOST_PARTITIONS 256

/* Partitions are planned this many times smaller than the limit, because hashes are uneven. */
#define HEADROOM 1.5

/* Most rows in one piece of a file, and about as many bytes of values of variable width: a piece is one palloc. */
#define STEP_ROWS (16 * 1024)
#define STEP_BYTES (16 * CHUNK_STEP_BYTES)

static void
open_partitions(spill *to, int level, Size num_bytes, Size limit_bytes)
{
	double		wanted = (double) num_bytes / limit_bytes * HEADROOM + 1;
	double		most = Min((double) limit_bytes / SPILL_BUFFER_PART / BLCKSZ, MOST_PARTITIONS);

	to->num_open = Max(Min(wanted, most), FEWEST_PARTITIONS);
	to->open = palloc0(to->num_open * sizeof(partition *));
	to->open_level = level;
}

/* Choose the partition of a row, and record whether the partition still has one group. */
static uint32
choose_partition(spill *to, uint64 hash)
{
	uint32		number = hash % to->num_open;
	partition  *part = to->open[number];

	if (part == NULL)
	{
		part = to->open[number] = palloc0(sizeof(partition));
		part->file = BufFileCreateTemp(false);
		part->level = to->open_level;
		part->one_group = true;
		part->first_hash = hash;
		to->num_partitions++;
	}
	part->one_group &= hash == part->first_hash;
	return number;
}

static void
write_step(spill *to, const chunk *rows, uint64 first, uint64 num_rows, uint32 *numbers, uint64 *hashes)
{
	row_groups	parts;

	to->hash(to->keys, rows, first, num_rows, to->open_level, hashes);
	for (uint64 i = 0; i < num_rows; i++)
		numbers[i] = choose_partition(to, hashes[i]);
	parts = row_groups_make(CurrentMemoryContext, numbers, num_rows, to->num_open);
	for (int i = 0; i < to->num_open; i++)
	{
		chunk_slice slice = {rows, rows->num_columns, first, parts.numbers + parts.starts[i], row_groups_size(&parts, i)};

		if (slice.num_rows == 0)
			continue;
		to->num_bytes += piece_write(to->open[i]->file, &slice);
		to->open[i]->num_rows += slice.num_rows;
	}
	pfree(parts.numbers);
	pfree(parts.starts);
}

/* How many of the rows, on average, are within both. */
static uint64
rows_of_piece(const chunk *rows)
{
	return Max(Min(STEP_ROWS, rows->num_rows * STEP_BYTES / Max(rows->arena.taken_bytes, 1)), 1);
}

void
spill_rows(spill *to, chunk *rows, int level, Size num_bytes, Size limit_bytes)
{
	MemoryContext caller = MemoryContextSwitchTo(to->context);
	uint32	   *numbers = palloc(STEP_ROWS * sizeof(uint32));
	uint64	   *hashes = palloc(STEP_ROWS * sizeof(uint64));
	uint64		step = rows_of_piece(rows);

	if (to->num_open == 0)
		open_partitions(to, level, num_bytes, limit_bytes);
	for (uint64 first = 0; first < rows->num_rows; first += step)
	{
		CHECK_FOR_INTERRUPTS();
		write_step(to, rows, first, Min(step, rows->num_rows - first), numbers, hashes);
	}
	pfree(numbers);
	pfree(hashes);
	chunk_free(rows);
	MemoryContextSwitchTo(caller);
}

void
spill_finish(spill *to)
{
	MemoryContext caller = MemoryContextSwitchTo(to->context);

	for (int i = 0; i < to->num_open; i++)
	{
		partition  *part = to->open[i];

		if (part == NULL)
			continue;
		piece_seek(part->file, 0);
		to->waiting = lappend(to->waiting, part);
	}
	if (to->open)
		pfree(to->open);
	to->open = NULL;
	to->num_open = 0;
	MemoryContextSwitchTo(caller);
}

partition *
spill_next(spill *from)
{
	partition  *part;

	if (from->waiting == NIL)
		return NULL;
	/*
	 * Take the newest partition first: a partition that was split again is finished
	 * early, and few files wait.
	 */
	part = llast(from->waiting);
	from->waiting = list_delete_last(from->waiting);
	return part;
}

void
spill_read(partition *from, chunk *rows)
{
	uint64		before = rows->num_rows;

	(void) piece_read(from->file, rows);
	from->num_rows -= rows->num_rows - before;
}

void
spill_close(spill *to)
{
	ListCell   *cell;

	for (int i = 0; i < to->num_open; i++)
		if (to->open[i])
			BufFileClose(to->open[i]->file);
	foreach(cell, to->waiting)
		BufFileClose(((partition *) lfirst(cell))->file);
	MemoryContextReset(to->context);
	to->waiting = NIL;
	to->open = NULL;
	to->num_open = 0;
	to->num_partitions = 0;
	to->num_bytes = 0;
}

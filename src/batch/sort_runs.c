/*
 * sort_runs.c
 *		Rows of an MgpuSort node that do not fit in memory: sorted runs in temporary files.
 *
 * A merge has one piece of each run in memory.  If there are more runs than there is memory for, those of a level are merged
 * into one run of the next level, so that a row is written as often as there are levels, one or two in practice.  A
 * level's runs are in one file, which is closed once they have been merged.  The rows of a higher level came before those
 * of a lower one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/run_merge.h"
#include "batch/sort_runs.h"

/* A piece takes this part of the memory.  Smaller pieces would be read with much of the next one, which is thrown away. */
#define PIECE_PART 128
#define FEWEST_PIECE_BYTES (BLCKSZ / 2)

/* Enough even if each level has two runs. */
#define MOST_LEVELS 32

typedef struct run_level
{
	BufFile    *file;			/* NULL: there are no runs */
	List	   *runs;			/* each a sorted_run */
	int64		num_bytes;		/* of the file */
	Size		piece_bytes;	/* of a piece of each run */
} run_level;

struct sort_runs
{
	MemoryContext context;
	const chunk *like;
	const row_compare *order;
	Size		row_bytes;		/* of a row in a piece */
	Size		piece_bytes;	/* wanted */
	Size		widest_bytes;	/* of the pieces so far: that of a wide row takes more */
	Size		limit;			/* of pieces that are read together */
	run_level	levels[MOST_LEVELS];
	run_merge  *merge;			/* of all runs, once they are read */

	/* for EXPLAIN */
	int64		num_runs;
	int64		disk_bytes;
	int64		most_disk_bytes;
	Size		most_bytes;
};

static Size
wanted_piece_bytes(void)
{
	return Max(get_hash_memory_limit() / PIECE_PART, FEWEST_PIECE_BYTES);
}

/*
 * Memory for pieces that are read together.  The rest is for a file that is read and one that is written, a piece that is
 * written, one as bytes, and a quarter for what is lost to rounding when memory is taken.
 */
static Size
limit_of_pieces(void)
{
	Size		limit = get_hash_memory_limit();
	Size		others = limit / 4 + 2 * BLCKSZ + 2 * wanted_piece_bytes();

	return Max(limit, others) - others;
}

int
sort_runs_at_once(void)
{
	return Max(limit_of_pieces() / wanted_piece_bytes(), 2);
}

sort_runs *
sort_runs_create(MemoryContext context, const row_compare *order, const chunk *like)
{
	MemoryContext own = AllocSetContextCreate(context, "mgpu_pg runs of sorted rows", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(own);
	sort_runs  *runs = palloc0(sizeof(sort_runs));

	runs->context = own;
	runs->like = like;
	runs->order = order;
	runs->row_bytes = run_merge_row_bytes(like);
	runs->piece_bytes = runs->widest_bytes = wanted_piece_bytes();
	runs->limit = limit_of_pieces();
	MemoryContextSwitchTo(caller);
	return runs;
}

/* ---- writing */

static sorted_run *
start_run(sort_runs *runs, run_level *level)
{
	sorted_run *run = palloc0(sizeof(sorted_run));

	if (level->file == NULL)
		level->file = BufFileCreateTemp(false);
	run->file = level->file;
	run->offset = level->num_bytes;
	level->runs = lappend(level->runs, run);
	return run;
}

static void
write_piece(sort_runs *runs, run_level *level, const chunk_slice *slice, Size piece_bytes)
{
	sorted_run *run = llast(level->runs);
	Size		bytes = piece_write(run->file, slice);

	CHECK_FOR_INTERRUPTS();
	run->num_rows += slice->num_rows;
	level->num_bytes += bytes;
	level->piece_bytes += piece_bytes > run->piece_bytes ? piece_bytes - run->piece_bytes : 0;
	run->piece_bytes = Max(run->piece_bytes, piece_bytes);
	runs->widest_bytes = Max(runs->widest_bytes, piece_bytes);
	runs->disk_bytes += bytes;
	runs->most_disk_bytes = Max(runs->most_disk_bytes, runs->disk_bytes);
}

/* How many rows make a piece, and the memory that it takes. */
static uint32
rows_of_piece(const sort_runs *runs, const chunk *rows, const uint32 *numbers, uint64 num_rows, Size *bytes)
{
	uint32		count = 0;

	if (rows->arena.taken_bytes == 0)
	{
		count = Min(num_rows, runs->piece_bytes / runs->row_bytes + 1);
		*bytes = count * runs->row_bytes;
		return count;
	}
	for (*bytes = 0; count < num_rows && *bytes < runs->piece_bytes; count++)
		*bytes += runs->row_bytes + rows_variable_bytes(rows, numbers[count]);
	return count;
}

void
sort_runs_add(sort_runs *runs, const chunk *rows, const uint32 *numbers)
{
	MemoryContext caller = MemoryContextSwitchTo(runs->context);
	run_level  *level = &runs->levels[0];
	uint64		written = 0;

	start_run(runs, level);
	while (written < rows->num_rows)
	{
		chunk_slice slice = {rows, rows->num_columns, 0, numbers + written, 0};
		Size		bytes;

		slice.num_rows = rows_of_piece(runs, rows, slice.numbers, rows->num_rows - written, &bytes);
		write_piece(runs, level, &slice, bytes);
		written += slice.num_rows;
	}
	runs->num_runs++;
	MemoryContextSwitchTo(caller);
}

/* ---- merging */

/* Write the rows that have been merged so far. */
static void
write_merged(sort_runs *runs, run_level *level, chunk *merged)
{
	chunk_slice slice = {merged, merged->num_columns, 0, NULL, merged->num_rows};

	write_piece(runs, level, &slice, merged->num_rows * runs->row_bytes + merged->arena.taken_bytes);
	runs->most_bytes = Max(runs->most_bytes, sort_runs_bytes(runs));
	chunk_reset(merged);
}

/* Merge all runs of a level into one of the next. */
static void
merge_level(sort_runs *runs, int number)
{
	run_level  *from = &runs->levels[number];
	run_level  *to = &runs->levels[number + 1];
	run_merge  *merge = run_merge_start(runs->context, runs->order, runs->like, from->runs);
	chunk	   *merged = chunk_like(runs->context, runs->like);
	const chunk *rows;
	uint64		row;

	start_run(runs, to);
	while ((rows = run_merge_next(merge, &row)) != NULL)
	{
		chunk_append_row(merged, rows, row);
		if (merged->num_rows * runs->row_bytes + merged->arena.taken_bytes >= runs->piece_bytes)
			write_merged(runs, to, merged);
	}
	if (merged->num_rows > 0)
		write_merged(runs, to, merged);
	run_merge_end(merge);
	chunk_free(merged);
	pfree(merged);
	BufFileClose(from->file);
	runs->disk_bytes -= from->num_bytes;
	list_free_deep(from->runs);
	*from = (run_level) {0};
}

/* Whether a level has no memory for another run. */
static bool
is_full(const sort_runs *runs, int number)
{
	const run_level *level = &runs->levels[number];

	return list_length(level->runs) > 1 && number < MOST_LEVELS - 1 && level->piece_bytes + runs->widest_bytes > runs->limit;
}

/* Have room for another run in a level. */
static void
make_room(sort_runs *runs, int number)
{
	int			level = number;

	while (is_full(runs, level))
		level++;
	while (level-- > number)
		merge_level(runs, level);
}

void
sort_runs_make_room(sort_runs *runs, chunk *rows)
{
	MemoryContext caller = MemoryContextSwitchTo(runs->context);

	if (is_full(runs, 0))
	{
		chunk_free(rows);
		make_room(runs, 0);
	}
	MemoryContextSwitchTo(caller);
}

/* All runs in their order.  *piece_bytes: of a piece of each. */
static List *
list_runs(const sort_runs *runs, Size *piece_bytes)
{
	List	   *list = NIL;

	*piece_bytes = 0;
	for (int i = MOST_LEVELS - 1; i >= 0; i--)
	{
		list = list_concat(list, runs->levels[i].runs);
		*piece_bytes += runs->levels[i].piece_bytes;
	}
	return list;
}

/* ---- reading */

void
sort_runs_start(sort_runs *runs)
{
	MemoryContext caller = MemoryContextSwitchTo(runs->context);
	Size		piece_bytes;
	List	   *list = list_runs(runs, &piece_bytes);

	if (runs->merge)
		run_merge_end(runs->merge);
	/* as long as there are too many, the lowest level becomes one run of the next */
	for (int level = 0; piece_bytes > runs->limit && list_length(list) > Max(list_length(runs->levels[level].runs), 2); level++)
	{
		if (runs->levels[level].runs == NIL)
			continue;
		make_room(runs, level + 1);
		merge_level(runs, level);
		list = list_runs(runs, &piece_bytes);
	}
	runs->merge = run_merge_start(runs->context, runs->order, runs->like, list);
	runs->most_bytes = Max(runs->most_bytes, sort_runs_bytes(runs));
	list_free(list);
	MemoryContextSwitchTo(caller);
}

const chunk *
sort_runs_next(sort_runs *runs, uint64 *row)
{
	return run_merge_next(runs->merge, row);
}

void
sort_runs_free(sort_runs *runs)
{
	for (int i = 0; i < MOST_LEVELS; i++)
		if (runs->levels[i].file)
			BufFileClose(runs->levels[i].file);
	MemoryContextDelete(runs->context);
}

int64
sort_runs_count(const sort_runs *runs)
{
	return runs->num_runs;
}

int64
sort_runs_disk_bytes(const sort_runs *runs)
{
	return runs->most_disk_bytes;
}

Size
sort_runs_bytes(const sort_runs *runs)
{
	return Max(runs->most_bytes, MemoryContextMemAllocated(runs->context, true));
}

/*
 * run_merge.c
 *		Merges sorted runs of rows.
 *
 * A tree of losers: each inner node has the run that lost there, so that the next row takes one comparison for each level, on
 * the way from its run's leaf to the root.  Most are comparisons of two numbers, the rows' codes (batch/row_compare.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "batch/run_merge.h"

/* A run that is read. */
typedef struct run_reader
{
	BufFile    *file;
	int64		next_piece;		/* its offset */
	uint64		rows_left;		/* in pieces to come */
	chunk	   *rows;			/* the present piece; empty: no row is left */
	uint64	   *codes;			/* of its rows */
	uint64		row;			/* the next one */
} run_reader;

/* A run in the tree. */
typedef struct player
{
	uint64		code;			/* of its next row */
	uint32		number;
} player;

struct run_merge
{
	MemoryContext context;		/* has all of it */
	MemoryContext scratch;		/* of comparisons */
	const row_compare *order;
	uint32		num_readers;
	run_reader *readers;
	player	   *losers;			/* at the inner nodes, from 1 on; the children of node n are 2 n and 2 n + 1 */
	player		winner;			/* of all: whose row was returned last, or is the first */
	bool		is_first;
};

Size
run_merge_row_bytes(const chunk *like)
{
	return rows_bytes_of_one(like) + sizeof(uint64);
}

/* ---- reading */

static void
read_piece(run_merge *merge, run_reader *reader)
{
	chunk	   *rows = reader->rows;

	CHECK_FOR_INTERRUPTS();
	/* not chunk_reset: pieces of few rows with wide values may be followed by some of many rows */
	chunk_free(rows);
	if (reader->codes)
		pfree(reader->codes);
	reader->codes = NULL;
	reader->row = 0;
	if (reader->rows_left == 0)
		return;
	piece_seek(reader->file, reader->next_piece);
	reader->next_piece += piece_read(reader->file, rows);
	reader->rows_left -= rows->num_rows;
	reader->codes = palloc_extended(rows->num_rows * sizeof(uint64), MCXT_ALLOC_HUGE);
	row_compare_codes(merge->order, rows, reader->codes);
}

static player
player_of(const run_merge *merge, uint32 number)
{
	const run_reader *reader = &merge->readers[number];

	return (player) {reader->codes ? reader->codes[reader->row] : ROW_CODE_LAST, number};
}

static void
advance(run_merge *merge)
{
	run_reader *reader = &merge->readers[merge->winner.number];

	if (++reader->row == reader->rows->num_rows)
	{
		MemoryContext caller = MemoryContextSwitchTo(merge->context);

		read_piece(merge, reader);
		MemoryContextSwitchTo(caller);
	}
	merge->winner = player_of(merge, merge->winner.number);
}

/* ---- comparing */

/* Whether a comes before b; their codes are the same. */
static bool
wins_tie(const run_merge *merge, const player *a, const player *b)
{
	const run_reader *of_a = &merge->readers[a->number];
	const run_reader *of_b = &merge->readers[b->number];
	int			order;

	if (of_a->codes == NULL || of_b->codes == NULL)
		return of_a->codes != NULL;
	order = row_compare_ties(merge->order, a->code, of_a->rows, of_a->row, of_b->rows, of_b->row);
	return order != 0 ? order < 0 : a->number < b->number;
}

static inline bool
wins(const run_merge *merge, const player *a, const player *b)
{
	return likely(a->code != b->code) ? a->code < b->code : wins_tie(merge, a, b);
}

/* Fill the tree from a node on down, and return who wins there. */
static player
play_below(run_merge *merge, uint32 node)
{
	player		a;
	player		b;
	bool		a_wins;

	if (node >= merge->num_readers)
		return player_of(merge, node - merge->num_readers);
	a = play_below(merge, 2 * node);
	b = play_below(merge, 2 * node + 1);
	a_wins = wins(merge, &a, &b);
	merge->losers[node] = a_wins ? b : a;
	return a_wins ? a : b;
}

/* Let the last winner's next row play. */
static void
play_again(run_merge *merge)
{
	player		winner = merge->winner;

	for (uint32 node = (winner.number + merge->num_readers) / 2; node > 0; node /= 2)
	{
		player		other = merge->losers[node];

		if (!wins(merge, &other, &winner))
			continue;
		merge->losers[node] = winner;
		winner = other;
	}
	merge->winner = winner;
}

/* ---- the whole */

run_merge *
run_merge_start(MemoryContext context, const row_compare *order, const chunk *like, const List *runs)
{
	/* small blocks, since memory counts here: what is larger than a block's eighth has its own */
	MemoryContext own = AllocSetContextCreate(context, "mgpu_pg merge of sorted rows", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(own);
	run_merge  *merge = palloc0(sizeof(run_merge));
	ListCell   *cell;

	merge->context = own;
	merge->scratch = AllocSetContextCreate(own, "mgpu_pg comparisons of rows", ALLOCSET_SMALL_SIZES);
	merge->order = order;
	merge->readers = palloc0(list_length(runs) * sizeof(run_reader));
	merge->losers = palloc(list_length(runs) * sizeof(player));
	merge->is_first = true;
	foreach(cell, runs)
	{
		const sorted_run *run = lfirst(cell);
		run_reader *reader = &merge->readers[merge->num_readers++];

		*reader = (run_reader) {.file = run->file, .next_piece = run->offset, .rows_left = run->num_rows, .rows = chunk_like(own, like)};
		read_piece(merge, reader);
	}
	MemoryContextSwitchTo(merge->scratch);
	merge->winner = play_below(merge, 1);
	MemoryContextSwitchTo(caller);
	return merge;
}

const chunk *
run_merge_next(run_merge *merge, uint64 *row)
{
	MemoryContext caller = MemoryContextSwitchTo(merge->scratch);
	const run_reader *reader;

	/* the row that was returned last had to stay until now */
	if (!merge->is_first)
	{
		advance(merge);
		play_again(merge);
		MemoryContextReset(merge->scratch);
	}
	merge->is_first = false;
	MemoryContextSwitchTo(caller);
	reader = &merge->readers[merge->winner.number];
	*row = reader->row;
	return reader->codes ? reader->rows : NULL;
}

void
run_merge_end(run_merge *merge)
{
	MemoryContextDelete(merge->context);
}

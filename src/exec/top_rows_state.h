/*
 * top_rows_state.h
 *		Internals of top_rows, for top_rows.c and top_cut.c.
 */
#ifndef MGPU_EXEC_TOP_ROWS_STATE_H
#define MGPU_EXEC_TOP_ROWS_STATE_H

#include "batch/key_table.h"
#include "exec/top_rows.h"

typedef struct candidate
{
	uint64		code;
	uint32		row;			/* of the chunk; of equal rows, the first to come has the smallest */
} candidate;

typedef struct top_partition
{
	candidate  *list;
	uint32		count;
	uint32		capacity;
	uint32		bar;			/* the candidate that is the bar, plus one; 0: none */
} top_partition;

struct top_rows
{
	const top_limit *limit;
	const chunk *like;
	group_keys	keys;			/* of the next */
	chunk	   *key_columns;	/* those of the rows that were read last, whose cells it shares */
	MemoryContext scratch;		/* of comparisons */
	MemoryContext context;		/* of all below, reset at the start */
	key_table  *table;			/* finds partitions by their key columns */
	chunk	   *kept;
	uint64		num_dropped;	/* of its rows */
	uint32		num_partitions;
	uint32		capacity;		/* of the next two */
	top_partition *partitions;
	uint64	   *bars;			/* codes */
	uint64		num_codes;		/* capacity of the next two */
	uint64	   *codes;
	uint32	   *found;			/* numbers of the candidates among the rows that were read last */
	uint64		num_found;
	const uint32 *numbers;		/* these rows' partitions; NULL: there is one */
	uint32		next_partition; /* to return */
	uint32		next_candidate;
	int64		number;			/* of the row returned last */
};

/* Whether two candidates of a partition are equal. */
extern bool top_are_peers(const top_rows *top, const candidate *a, const candidate *b);

/* Drop the candidates of a partition that are not wanted so far; sorted: and put the others in order. */
extern void top_cut(top_rows *top, uint32 number, bool sorted);

/* Put the wanted candidates of all partitions in order, and drop the others. */
extern void top_cut_all(top_rows *top);

/* Copy the candidates to a new chunk, in the order in which they came or in that of the lists. */
extern void top_renew(top_rows *top);
extern void top_arrange(top_rows *top);

#endif							/* MGPU_EXEC_TOP_ROWS_STATE_H */

/*
 * row_order.h
 *		The rows of a node and their groups, as aggregates see them: some of the rows, in some order.
 */
#ifndef MGPU_BATCH_ROW_ORDER_H
#define MGPU_BATCH_ROW_ORDER_H

#include "batch/group_keys.h"
#include "run/record.h"

/* A column by which the rows of a group are ordered. */
typedef struct row_key
{
	int			column;
	bool		descending;
	bool		nulls_first;
	Oid			collation;
} row_key;

typedef struct row_order
{
	int			num_keys;
	row_key    *keys;
} row_order;

/* Rows of all groups, and what has been derived from them.  All of it is allocated in context. */
typedef struct group_input
{
	MemoryContext context;
	const char *function;		/* the node's name, for mgpu_last_run() */
	const chunk *rows;
	row_groups	groups;
	const uint32 *numbers;		/* of the groups that are asked for among these; NULL: they are the same */
	const uint64 *counts;		/* of each row, how many it stands for; NULL: one */
	List	   *derived;		/* row_order.c */
	run_record	record;			/* out: the last sort, which is reported */
	uint64		turn;			/* groups returned so far: states of one do not outlive it */
} group_input;

/*
 * The rows of each group that have a value in column filter, or all if filter is -1, in the order of
 * keys.  Equal rows stay in arrival order.  Aggregates that ask for the same get the same.
 */
extern const row_groups *group_rows_in_order(group_input *input, int filter, const row_order *order);

#endif							/* MGPU_BATCH_ROW_ORDER_H */

/*
 * group_keys.h
 *		Which of the rows that a node has collected are one group.
 */
#ifndef MGPU_GROUP_KEYS_H
#define MGPU_GROUP_KEYS_H

#include "agg_batch.h"
#include "group_rows.h"

/* Groups are numbered in the order of their keys; rows whose key is NULL are one. */
typedef struct group_ranks
{
	MemoryContext context;		/* holds the arrays below */
	uint32		num_groups;
	uint32	   *positions;		/* rows, each group's together, in arrival order */
	uint32	   *starts;			/* of groups among positions; num_groups + 1 of them */
	char	   *keys;			/* of groups, a cell each */
	int64		null_group;		/* whose key is NULL, or -1 */
} group_ranks;

/* Whether groups can be found by a sort of this type's keys. */
extern bool group_key_is_sortable(const element_type *type);

/*
 * Find the groups of at least one row by one sort of all keys, and give their
 * cells back.  function: SQL name for mgpu_last_run.
 */
extern void group_rank(group_rows *rows, const char *function, MemoryContext context, group_ranks *ranks);

/*
 * Make a new batch one that has a column's values, by group (group_fill.c).  last:
 * the column is not needed any more, and its cells are given back.
 */
extern void group_fill_batch(agg_batch *batch, group_rows *rows, int column, const group_ranks *ranks, bool last);

/* A hash of a row's key that is the same for keys of one group; seed: any number. */
extern uint64 group_key_hash(const element_type *type, const char *cell, bool is_null, uint64 seed);

/* Whether two rows are of one group. */
extern bool group_keys_are_equal(const element_type *type, const char *a, bool a_is_null,
								 const char *b, bool b_is_null);

#endif							/* MGPU_GROUP_KEYS_H */

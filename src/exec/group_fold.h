/*
 * group_fold.h
 *		Groups rows as they come, for aggregates that need no row twice.
 */
#ifndef MGPU_EXEC_GROUP_FOLD_H
#define MGPU_EXEC_GROUP_FOLD_H

#include "nodes/pg_list.h"

#include "batch/group_keys.h"
#include "batch/row_order.h"

typedef struct group_fold group_fold;

/*
 * Make one in context, which is the current one, for rows with the columns of like, of which they may have more.  All aggregates
 * are of GROUP_WAY_REDUCE.  If combines, rows are groups of workers, and the last columns of like hold their states.
 */
extern group_fold *group_fold_create(MemoryContext context, const group_keys *keys, List *aggregates, const chunk *like,
									 bool combines);

/* Forget all groups. */
extern void group_fold_start(group_fold *fold);

/*
 * Add rows to their groups.  Once the groups take limit_bytes, rows of new ones are appended to others instead.
 * The first rows always find memory.
 */
extern void group_fold_rows(group_fold *fold, const chunk *rows, Size limit_bytes, chunk *others);

/* Whether the last rows have reached the limit. */
extern bool group_fold_is_full(const group_fold *fold);

/* Memory of all groups. */
extern Size group_fold_bytes(const group_fold *fold);

/* Once all rows have been added, be it none: show the groups to who asks for results.  Each has one row. */
extern void group_fold_finish(group_fold *fold, group_input *input);

/* Number of different states that aggregates have, and the type of columns of states. */
extern int	group_fold_num_states(List *aggregates);
extern const column_type group_state_type;

/*
 * Show the groups, their first rows and then the states of their aggregates, as a chunk with num_columns columns of
 * rows.  It is valid until rows are added or forgotten.
 */
extern const chunk *group_fold_states(const group_fold *fold, int num_columns);

#endif							/* MGPU_EXEC_GROUP_FOLD_H */

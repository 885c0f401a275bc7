/*
 * key_sort.h
 *		Groups of rows with equal keys, by a sort.
 */
#ifndef MGPU_BATCH_KEY_SORT_H
#define MGPU_BATCH_KEY_SORT_H

#include "batch/group_keys.h"
#include "run/record.h"

/*
 * Find the groups of at least one row.  The rows of a group are in arrival order.  Arrays are
 * allocated in context.  *form, for EXPLAIN, is a static string.  *record gets the sort, which is
 * reported; without keys there is none.
 */
extern row_groups group_keys_rank(const group_keys *keys, const chunk *rows, MemoryContext context,
								  const char **form, run_record *record);

#endif							/* MGPU_BATCH_KEY_SORT_H */

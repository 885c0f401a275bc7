/*
 * group.h
 *		MgpuGroup: a plan node that groups rows and runs the extension's aggregates;
 *		MgpuRows: one below a Gather that packs rows for it.
 *
 * What their CustomScans look like:
 *
 * MgpuGroup
 *	 custom_plans		one: its rows are the grouping key, then what the aggregates
 *						take, each a column of fixed width; or packs of such rows
 *	 custom_scan_tlist	what a row of the node is made from: the grouping
 *						expression, then Aggrefs
 *	 custom_private		two lists: an integer for each Aggref, the number of the
 *						child's column, from 0, that it takes; and where the child's
 *						rows are packs, the types of their columns
 * MgpuRows
 *	 custom_plans		one, whose rows are the columns of those to pack
 *	 custom_scan_tlist	one expression, which stands for a pack (paths.c): a bytea of
 *						rows (columns/wire.h)
 */
#ifndef MGPU_GROUP_H
#define MGPU_GROUP_H

#include "nodes/extensible.h"

#include "agg/call.h"

extern const CustomScanMethods group_scan_methods;
extern const CustomScanMethods rows_scan_methods;

/* Offers the nodes to the planner (paths.c).  Once, when the library is loaded. */
extern void group_path_init(void);

/* ---- aggregates (aggregate.c) */

/* Which of the extension's aggregates this is, by its functions; false if it is none of them. */
extern bool group_aggregate_kind(const Aggref *aggref, agg_kind *kind);

/* ereport(ERROR) unless the user may run the aggregate, and its owner its functions. */
extern void group_aggregate_check_permissions(const Aggref *aggref);

/* ---- rows (rows_node.c) */

/*
 * About what a full pack takes: a quarter of the queue between two processes, so
 * that one is filled while another is read, mostly in the queue itself, and few
 * enough rows for a leader to read that has the workers' packs to receive too.
 */
#define PACK_BYTES (16 * 1024)

/* Rows of a full pack, where one takes row_bytes: at most PACK_BYTES. */
static inline uint32
rows_of_pack(Size row_bytes)
{
	return Max(PACK_BYTES / row_bytes, 1);
}

/* A chunk for rows of these types, the first of them the grouping key, or for those of a plan node. */
extern chunk *rows_create(MemoryContext context, List *types);
extern chunk *rows_create_for(MemoryContext context, const PlanState *source);

/* Append a tuple whose first columns are those of the rows. */
extern void rows_put_slot(chunk *rows, TupleTableSlot *slot);

/* Bytes of a row with what says which values are NULL. */
extern Size rows_bytes_of_one(const chunk *rows);

/* ---- which rows are a group (rank.c) */

/* Groups are numbered in the order of their keys; rows whose key is NULL are one. */
typedef struct group_ranks
{
	row_groups	rows;
	char	   *keys;			/* of groups, a cell each */
	int64		null_group;		/* whose key is NULL, or -1 */
} group_ranks;

/* Whether groups can be found by a sort of this type's keys. */
extern bool group_key_is_sortable(const element_type *type);

/*
 * Find the groups of at least one row, whose keys are the first column, by one
 * sort.  Arrays are in context.  function: SQL name for mgpu_last_run.
 */
extern group_ranks group_rank(const chunk *rows, const char *function, MemoryContext context);

#endif							/* MGPU_GROUP_H */

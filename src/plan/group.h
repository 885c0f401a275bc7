/*
 * group.h
 *		MgpuGroup, a plan node that groups rows and runs the extension's aggregates, and
 *		MgpuRows, a node below a Gather that packs rows for it.
 *
 * Contents of their CustomScans:
 *
 * MgpuGroup
 *	 custom_plans		one child; its rows are the grouping key, then the aggregates'
 *						arguments, each a column of fixed width; or packs of such rows
 *	 custom_scan_tlist	the scan tuple: the grouping expression, then Aggrefs
 *	 custom_private		two lists: for each Aggref the number of its argument's column in
 *						the child's rows, from 0; and, if the child returns packs, the
 *						types of the columns in a pack
 * MgpuRows
 *	 custom_plans		one child, whose rows are packed
 *	 custom_scan_tlist	one expression, which stands for a pack (paths.c): a bytea of
 *						rows (columns/wire.h)
 */
#ifndef MGPU_GROUP_H
#define MGPU_GROUP_H

#include "nodes/extensible.h"

#include "agg/call.h"

extern const CustomScanMethods group_scan_methods;
extern const CustomScanMethods rows_scan_methods;

/* The state of either node, of so many bytes, of which the first are a CustomScanState. */
extern Node *custom_state(Size bytes, const CustomExecMethods *methods);

/* Register both nodes with the planner (paths.c).  Called once, when the library is loaded. */
extern void group_path_init(void);

/* ---- aggregates (aggregate.c) */

/* Find an aggregate's kind by its functions; false if it is not the extension's, or has no node. */
extern bool group_aggregate_kind(const Aggref *aggref, agg_kind *kind);

/* ereport(ERROR) unless the user may run the aggregate and its owner may run its functions. */
extern void group_aggregate_check_permissions(const Aggref *aggref);

/* ---- rows (rows_node.c) */

/*
 * Approximate size of a full pack: a quarter of the queue between two processes.  Then
 * a pack can be written while another is read, mostly within the queue.  It also limits
 * the rows that a leader reads itself before it receives workers' packs again.
 */
#define PACK_BYTES (16 * 1024)

/* Number of rows in a full pack if a row takes row_bytes: PACK_BYTES at most, but at least one row. */
static inline uint32
rows_of_pack(Size row_bytes)
{
	return Max(PACK_BYTES / row_bytes, 1);
}

/*
 * Create a chunk for rows of these types, or for the rows of a plan node.  The first
 * column is the grouping key.
 */
extern chunk *rows_create(MemoryContext context, List *types);
extern chunk *rows_create_for(MemoryContext context, const PlanState *source);

/* Append a tuple.  Its first columns are those of rows. */
extern void rows_put_slot(chunk *rows, TupleTableSlot *slot);

/* Bytes of a row, including one byte per column that says whether it is NULL. */
extern Size rows_bytes_of_one(const chunk *rows);

/*
 * Most memory that a row takes, from its arrival to its group's result: its own bytes, and what is
 * beside them.  That is a larger copy of the row while columns grow, with one old column, or, once
 * all rows are there, two copies of the key or of a value, a number, and a code with its number.
 */
static inline Size
most_bytes_of_row(Size own_bytes, Size widest)
{
	widest = Max(widest, sizeof(uint32));
	return own_bytes + Max(own_bytes + widest, 2 * widest + sizeof(uint32) + sizeof(uint64));
}

/* ---- which rows are a group (rank.c) */

/* Groups are numbered in the order of their keys.  Rows whose key is NULL form one group. */
typedef struct group_ranks
{
	row_groups	rows;
	char	   *keys;			/* one cell per group */
	int64		null_group;		/* the group whose key is NULL, or -1 */
} group_ranks;

/* Whether a sort of this type's keys finds the groups. */
extern bool group_key_is_sortable(const element_type *type);

/*
 * Find the groups of at least one row by one sort of the first column.  Arrays are
 * allocated in context.  function: SQL name for mgpu_last_run.
 */
extern group_ranks group_rank(const chunk *rows, const char *function, MemoryContext context);

#endif							/* MGPU_GROUP_H */

/*
 * rows_node.h
 *		MgpuRows, a node below a Gather that packs rows for MgpuGroup.
 *
 * Contents of its CustomScan:
 *
 *	 custom_plans		one child, whose rows are packed
 *	 custom_scan_tlist	one expression, which stands for a pack (group/plans.c): a bytea of
 *						rows (columns/wire.h)
 *	 custom_private		a query, of which it has the columns that are kept as they come
 */
#ifndef MGPU_PLAN_ROWS_NODE_H
#define MGPU_PLAN_ROWS_NODE_H

#include "nodes/extensible.h"

extern const CustomScanMethods rows_scan_methods;

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
	return Max(PACK_BYTES / Max(row_bytes, 1), 1);
}

#endif							/* MGPU_PLAN_ROWS_NODE_H */

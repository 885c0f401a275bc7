/*
 * group_node.h
 *		MgpuGroup: a plan node that groups rows and runs the extension's aggregates.
 *
 * What its CustomScan looks like:
 *
 *	 custom_plans		one: its rows are the grouping key, then what the aggregates
 *						take, each a column of fixed width; or packs of such rows
 *	 custom_scan_tlist	what a row of the node is made from: the grouping
 *						expression, then Aggrefs
 *	 custom_private		two lists: an integer for each Aggref, the number of the
 *						child's column, from 0, that it takes; and where the child's
 *						rows are packs (group_pack.h), the types of their columns
 */
#ifndef MGPU_GROUP_NODE_H
#define MGPU_GROUP_NODE_H

#include "nodes/extensible.h"

#include "agg_call.h"

extern const CustomScanMethods group_scan_methods;

/*
 * Which of the extension's aggregates this is, by its functions; false if it is
 * none of them (group_aggregate.c).
 */
extern bool group_aggregate_kind(const Aggref *aggref, agg_kind *kind);

/* ereport(ERROR) unless the user may run the aggregate, and its owner its functions. */
extern void group_aggregate_check_permissions(const Aggref *aggref);

#endif							/* MGPU_GROUP_NODE_H */

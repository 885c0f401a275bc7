/*
 * group_node.h
 *		MgpuGroup, a plan node that groups rows and runs aggregates.
 *
 * Contents of its CustomScan:
 *
 *	 custom_plans		one child; its rows are the columns, or packs of such rows
 *	 custom_scan_tlist	the scan tuple: grouping expressions, others of a group's first row, Aggrefs; with GROUP_PARTIAL
 *						a pack before these, and they are NULL
 *	 custom_private		six lists:
 *						for each entry of the scan tuple the numbers of its columns, from 0: one,
 *						or for an Aggref that of its filter, then those of its arguments; -1 for
 *						no filter and for an argument that is a constant;
 *						the keys' equality operators;
 *						the keys' collations;
 *						if the child returns packs, the types of the columns in a pack, else NIL;
 *						the node's method, a group_method;
 *						the numbers of columns that are kept as they come
 */
#ifndef MGPU_GROUP_GROUP_NODE_H
#define MGPU_GROUP_GROUP_NODE_H

#include "nodes/extensible.h"

/* How the node groups rows.  With the last two, groups of workers and their states are in packs (group_partial.c). */
typedef enum group_method
{
	GROUP_SORT,
	GROUP_FOLD,
	GROUP_COMBINE,
	GROUP_PARTIAL
} group_method;

extern const CustomScanMethods group_scan_methods;

/* Register MgpuGroup and MgpuRows with the planner (paths.c).  Called once, when the library is loaded. */
extern void group_path_init(void);

#endif							/* MGPU_GROUP_GROUP_NODE_H */

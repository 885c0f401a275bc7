/*
 * group_node.h
 *		MgpuGroup, a plan node that groups rows and runs aggregates.
 *
 * Contents of its CustomScan:
 *
 *	 custom_plans		one child; its rows are the columns, or packs of such rows
 *	 custom_scan_tlist	the scan tuple: grouping expressions, others of a group's first row, Aggrefs; with GROUP_PARTIAL
 *						a pack before these, and they are NULL
 *	 custom_private		a query
 */
#ifndef MGPU_GROUP_GROUP_NODE_H
#define MGPU_GROUP_GROUP_NODE_H

#include "nodes/extensible.h"

extern const CustomScanMethods group_scan_methods;

/* Register MgpuGroup and MgpuRows with the planner (paths.c).  Called once, when the library is loaded. */
extern void group_path_init(void);

#endif							/* MGPU_GROUP_GROUP_NODE_H */

/*
 * group_send.h
 *		MgpuRows: a plan node that packs rows for an MgpuGroup node (group_node.c).
 *
 * What its CustomScan looks like:
 *
 *	 custom_plans		one, whose rows are the columns of those to pack
 *	 custom_scan_tlist	one expression, which stands for a pack (group_path.c)
 */
#ifndef MGPU_GROUP_SEND_H
#define MGPU_GROUP_SEND_H

#include "nodes/extensible.h"

extern const CustomScanMethods group_send_scan_methods;

#endif							/* MGPU_GROUP_SEND_H */

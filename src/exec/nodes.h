/*
 * nodes.h
 *		The plan nodes.
 */
#ifndef MGPU_EXEC_NODES_H
#define MGPU_EXEC_NODES_H

#include "nodes/extensible.h"

extern const CustomScanMethods group_scan_methods;
extern const CustomScanMethods rows_scan_methods;
extern const CustomScanMethods top_scan_methods;
extern const CustomScanMethods sort_scan_methods;
extern const CustomScanMethods window_scan_methods;

/* Let plans have the nodes.  Called once, when the library is loaded. */
extern void nodes_init(void);

#endif							/* MGPU_EXEC_NODES_H */

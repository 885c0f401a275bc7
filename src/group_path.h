/*
 * group_path.h
 *		Offers MgpuGroup nodes (group_node.c) to the planner.
 */
#ifndef MGPU_GROUP_PATH_H
#define MGPU_GROUP_PATH_H

/* Once, when the library is loaded. */
extern void group_path_init(void);

#endif							/* MGPU_GROUP_PATH_H */

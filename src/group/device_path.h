/*
 * device_path.h
 *		Whether a GPU is expected to read and group the rows of a task.
 */
#ifndef MGPU_GROUP_DEVICE_PATH_H
#define MGPU_GROUP_DEVICE_PATH_H

#include "group/task.h"

/*
 * rows: the task's columns of one table.  num_groups groups are expected.  What is found out when the query runs
 * (group_device.c) may still be that the CPU does it.
 */
extern bool device_path_is_likely(const group_task *task, const Path *rows, double num_groups);

#endif							/* MGPU_GROUP_DEVICE_PATH_H */

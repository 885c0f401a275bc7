/*
 * settings.h
 *		The extension's settings (mgpu.*).
 *
 * mgpu_pg.c defines and describes them.  Other files only read them.
 */
#ifndef MGPU_SETTINGS_H
#define MGPU_SETTINGS_H

typedef enum mgpu_gpu_failure
{
	MGPU_GPU_FAILURE_WARN,
	MGPU_GPU_FAILURE_SILENT,
	MGPU_GPU_FAILURE_ERROR
} mgpu_gpu_failure;

typedef enum mgpu_enable
{
	MGPU_ENABLE_OFF,
	MGPU_ENABLE_ON,				/* where it is cheapest */
	MGPU_ENABLE_FORCE			/* wherever it can be */
} mgpu_enable;

extern int	mgpu_setting_executor;	/* mgpu_executor_choice */
extern int	mgpu_setting_algorithm; /* mgpu_algorithm */
extern int	mgpu_setting_gpu_min_items; /* -1: the planner decides */
extern int	mgpu_setting_device;	/* ordinal, -1: any */
extern int	mgpu_setting_gpu_memory_limit;	/* MB, 0: none */
extern int	mgpu_setting_gpu_failure;	/* mgpu_gpu_failure */
extern int	mgpu_setting_cpu_threads;	/* 0: automatic */
extern int	mgpu_setting_max_cpu_threads;	/* the administrator's, 0: none; threads_allowed() is the smaller */
extern bool mgpu_setting_service;	/* one process drives the GPUs for all sessions */
extern int	mgpu_setting_service_memory;	/* MB */
extern int	mgpu_setting_service_buffers;	/* MB of shared_buffers that GPUs may read, -1: all */
extern int	mgpu_setting_gpu_cache; /* MB of device memory for pages that stay there, -1: half of what is free */
extern bool mgpu_setting_enable_gpu_cache;	/* keep pages there, and read them there */
extern int	mgpu_setting_enable_group;	/* mgpu_enable: offer MgpuGroup nodes to the planner */
extern int	mgpu_setting_enable_top;	/* mgpu_enable: offer MgpuTop nodes */
extern int	mgpu_setting_enable_sort;	/* mgpu_enable: offer MgpuSort nodes */
extern int	mgpu_setting_enable_scan;	/* mgpu_enable: offer MgpuScan nodes */
extern bool mgpu_setting_enable_not_in; /* plan NOT IN of subqueries as joins */
extern bool mgpu_setting_enable_correlated; /* plan aggregates of correlated subqueries as groups */
extern bool mgpu_setting_enable_hashed_loops; /* plan hash joins in place of nested loops that read all of a side */
extern bool mgpu_setting_enable_threads;	/* have threads read tables */
extern int	mgpu_setting_enable_index_build;	/* mgpu_enable: build btree indexes */
extern bool mgpu_setting_enable_columns;	/* read tables a page at a time */
extern bool mgpu_setting_report_declined;	/* tell why a statement gets no such node */
extern int	mgpu_setting_inject_fault;	/* mgpu_fault, for tests */

#endif							/* MGPU_SETTINGS_H */

/*
 * join_path.h
 *		Joins in paths of rows that a table job may do: hash joins whose outer side ends in scans.
 */
#ifndef MGPU_QUERY_JOIN_PATH_H
#define MGPU_QUERY_JOIN_PATH_H

#include "nodes/pathnodes.h"

/* Below projections. */
extern const Path *path_below_projections(const Path *path);

/*
 * The path whose rows stream through the joins of a path, and these (HashPath), the last one first.  NULL: a join is not a job's, may find
 * several rows, or is expected to be too large.
 */
extern const Path *join_path_stream(PlannerInfo *root, const Path *rows, List **joins);

/* Columns of the rows, then clauses and conditions of each join: their variables of inner sides are builds'. */
extern List *join_path_exprs(List *columns, const List *joins);

/* The joins (scan/heap_reader.h) whose expressions these are. */
extern List *join_path_joins(const List *exprs, const List *joins);

/* Bytes that all builds of a job may take: threads share them, as workers share PostgreSQL's parallel hash. */
extern double join_path_memory(void);

/* Most bytes that a build of so many rows takes, as they are read and then as a build; width: of a row. */
#define BUILD_ROW_BYTES(width) ((width) + 8 * sizeof(uint64))

#endif							/* MGPU_QUERY_JOIN_PATH_H */

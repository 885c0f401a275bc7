/*
 * window_reach.h
 *		Which rows the functions of an MgpuWindow look at, for one row.
 */
#ifndef MGPU_WINDOW_REACH_H
#define MGPU_WINDOW_REACH_H

#include "query/query.h"

/* Which rows are at hand together. */
typedef enum window_keeps
{
	WINDOW_KEEPS_ROWS,			/* those that it looks back to, and ahead */
	WINDOW_KEEPS_PEERS,			/* and those that are equal in partition and order */
	WINDOW_KEEPS_PARTITION,		/* and those of its partition */
	WINDOW_KEEPS_ALL			/* all: they are one partition, whose end is asked for, or another row is far away */
} window_keeps;

typedef struct window_reach
{
	window_keeps keeps;
	int			back;			/* rows in front of it, at least the one before */
	int			ahead;			/* rows behind it */
} window_reach;

/* as_columns: rows are counted by their marks (exec/window_cells.h), which are read ahead. */
extern window_reach window_reach_of(const query *query, bool as_columns);

#endif							/* MGPU_WINDOW_REACH_H */

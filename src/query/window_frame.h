/*
 * window_frame.h
 *		Which frames of windows MgpuWindow has.
 */
#ifndef MGPU_QUERY_WINDOW_FRAME_H
#define MGPU_QUERY_WINDOW_FRAME_H

#include "nodes/parsenodes.h"

#include "query/query.h"

/* Where a frame ends. */
extern window_frame window_frame_end(const WindowClause *window);

/* The rows before the row, and behind it, as a query has them.  false: it is no frame of the node's. */
extern bool window_frame_find(const WindowClause *window, int *preceding, int *following);

/* The distance in the order's key with which a frame begins, or NULL. */
extern Node *window_frame_range(const WindowClause *window);

#endif							/* MGPU_QUERY_WINDOW_FRAME_H */

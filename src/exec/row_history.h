/*
 * row_history.h
 *		The rows that a node has returned, for a cursor that goes back.
 */
#ifndef MGPU_EXEC_ROW_HISTORY_H
#define MGPU_EXEC_ROW_HISTORY_H

#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

/* All 0: nothing is kept. */
typedef struct row_history
{
	Tuplestorestate *store;		/* NULL: the node is read forward only */
	TupleTableSlot *kept;		/* a row of it */
	bool		at_end;			/* the node has no more rows */
} row_history;

typedef TupleTableSlot *(*row_history_fn) (CustomScanState *css);

/* Keep rows if the flags of ExecInitNode say that they may be asked for backward.  In the current context. */
extern void row_history_start(row_history *history, CustomScanState *css, int eflags);

/* The next row in the direction of the scan: by next, unless it is kept. */
extern TupleTableSlot *row_history_next(row_history *history, CustomScanState *css, row_history_fn next);

/* The node starts again.  True: its rows are the same, and come from the history first, so that it goes on where it is. */
extern bool row_history_rescan(row_history *history, bool are_same);
extern void row_history_end(row_history *history);

#endif							/* MGPU_EXEC_ROW_HISTORY_H */

/*
 * row_history.c
 *		The rows that a node has returned, for a cursor that goes back.
 *
 * PostgreSQL's Sort can go back, so a cursor without SCROLL does so over it, and statements rely on that.  Nodes here
 * are read forward only.  For a cursor, a tuplestore keeps what they have returned, as PostgreSQL's Material does.  Going
 * back in the sorted rows themselves was rejected: those in files, and those of a GPU, each took code of their own.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "exec/row_history.h"

void
row_history_start(row_history *history, CustomScanState *css, int eflags)
{
	*history = (row_history) {0};
	if ((eflags & EXEC_FLAG_BACKWARD) == 0)
		return;
	history->store = tuplestore_begin_heap(true, false, work_mem);
	history->kept = MakeSingleTupleTableSlot(css->ss.ps.ps_ResultTupleDesc, &TTSOpsMinimalTuple);
}

/* A row that was returned before.  False: there is none, in this direction. */
static bool
find_kept(row_history *history, bool forward)
{
	bool		behind_last = tuplestore_ateof(history->store);

	if (forward)
		return !behind_last && tuplestore_gettupleslot(history->store, true, false, history->kept);
	/* the last row is the one that was returned last, unless its end has been said since */
	if (behind_last && !history->at_end && !tuplestore_advance(history->store, false))
		return false;
	return tuplestore_gettupleslot(history->store, false, false, history->kept);
}

TupleTableSlot *
row_history_next(row_history *history, CustomScanState *css, row_history_fn next)
{
	bool		forward = ScanDirectionIsForward(css->ss.ps.state->es_direction);
	TupleTableSlot *slot;

	if (history->store == NULL)
		return next(css);
	/* who reads the node was told that its slots are virtual */
	if (find_kept(history, forward))
		return ExecCopySlot(css->ss.ps.ps_ResultTupleSlot, history->kept);
	if (!forward || history->at_end)
		return NULL;
	slot = next(css);
	history->at_end = TupIsNull(slot);
	if (!history->at_end)
		tuplestore_puttupleslot(history->store, slot);
	return slot;
}

bool
row_history_rescan(row_history *history, bool are_same)
{
	if (history->store == NULL)
		return false;
	if (are_same)
		tuplestore_rescan(history->store);
	else
	{
		tuplestore_clear(history->store);
		history->at_end = false;
	}
	return are_same;
}

void
row_history_end(row_history *history)
{
	if (history->store == NULL)
		return;
	ExecDropSingleTupleTableSlot(history->kept);
	tuplestore_end(history->store);
	history->store = NULL;
}

/*
 * sort_spilled.c
 *		Rows of an MgpuSort node that do not fit in memory: PostgreSQL's own tuplesort has them.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "plan/rows.h"
#include "sorted/sort.h"
#include "sorted/top.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS 1024

static void
start_tuplesort(sort_state *state)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;
	TupleDesc	descriptor = state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	int			num_keys = state->order.num_keys;
	AttrNumber *attributes = palloc(num_keys * sizeof(AttrNumber));
	Oid		   *operators = palloc(num_keys * sizeof(Oid));
	Oid		   *collations = palloc(num_keys * sizeof(Oid));
	bool	   *nulls_first = palloc(num_keys * sizeof(bool));

	for (int i = 0; i < num_keys; i++)
	{
		attributes[i] = state->order.keys[i].column + 1;
		operators[i] = list_nth_oid(list_nth(scan->custom_private, TOP_OPERATORS), i);
		collations[i] = state->order.keys[i].collation;
		nulls_first[i] = state->order.keys[i].nulls_first;
	}
	/* the last argument is a boolean in 14, and TUPLESORT_RANDOMACCESS is 1 later */
	state->tuplesort = tuplesort_begin_heap(descriptor, num_keys, attributes, operators, collations, nulls_first, work_mem,
											NULL, state->goes_back ? 1 : 0);
	if (state->spilled == NULL)
		state->spilled = MakeSingleTupleTableSlot(descriptor, &TTSOpsMinimalTuple);
}

void
sort_spilled_add(sort_state *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	if (state->tuplesort == NULL)
		start_tuplesort(state);
	for (uint64 row = 0; row < state->rows->num_rows; row++)
	{
		ExecClearTuple(slot);
		rows_fill_values(state->rows, row, slot->tts_values, slot->tts_isnull);
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(state->tuplesort, slot);
		if (row % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	ExecClearTuple(slot);
	chunk_reset(state->rows);
}

void
sort_spilled_finish(sort_state *state)
{
	sort_spilled_add(state);
	chunk_free(state->rows);
	tuplesort_performsort(state->tuplesort);
}

bool
sort_spilled_next(sort_state *state, bool forward)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (!tuplesort_gettupleslot(state->tuplesort, forward, false, state->spilled, NULL))
		return false;
	slot_getallattrs(state->spilled);
	for (int i = 0; i < state->rows->num_columns; i++)
	{
		slot->tts_values[i] = state->spilled->tts_values[i];
		slot->tts_isnull[i] = state->spilled->tts_isnull[i];
	}
	ExecStoreVirtualTuple(slot);
	return true;
}

void
sort_spilled_forget(sort_state *state)
{
	ExecClearTuple(state->spilled);
	tuplesort_end(state->tuplesort);
	state->tuplesort = NULL;
}

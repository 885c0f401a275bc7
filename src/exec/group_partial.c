/*
 * group_partial.c
 *		MgpuGroup in workers: folds their rows, and returns the groups with their states.
 *
 * The leader combines the states of equal groups.  So few rows cross the queue, and workers do most of the work.
 * A worker whose groups take too much memory returns them and begins anew: a group may come several times.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "batch/wire.h"
#include "exec/group_state.h"

/* Rows that are folded at a time. */
#define STEP_ROWS 1024

chunk *
group_partial_rows(MemoryContext context, const chunk *like, List *aggregates)
{
	int			num_states = group_fold_num_states(aggregates);
	const column_type **types = palloc((like->num_columns + num_states) * sizeof(column_type *));
	chunk	   *rows;

	for (int i = 0; i < like->num_columns; i++)
		types[i] = like->columns[i].type;
	for (int i = 0; i < num_states; i++)
		types[like->num_columns + i] = &group_state_type;
	rows = chunk_create(context, like->num_columns + num_states, types, like->most_rows);
	pfree(types);
	return rows;
}

/* Fold rows until there are no more, or no memory for more groups. */
static void
fold_rows(group_state *state)
{
	group_fold_start(state->fold);
	while (!state->collected && !group_fold_is_full(state->fold))
	{
		CHECK_FOR_INTERRUPTS();
		chunk_reset(state->rows);
		while (!state->collected && state->rows->num_rows < STEP_ROWS &&
			   state->rows->arena.taken_bytes < CHUNK_STEP_BYTES)
			state->collected = !row_source_read(state->source, state->rows);
		group_fold_rows(state->fold, state->rows, get_hash_memory_limit(), NULL);
		state->most_bytes = Max(state->most_bytes, group_fold_bytes(state->fold));
	}
	state->shown = group_fold_states(state->fold, state->rows->num_columns);
	state->num_groups += state->shown->num_rows;
	state->next_group = 0;
}

static bytea *
pack(const chunk *groups, uint64 first, uint32 num_rows)
{
	chunk_slice slice = {groups, groups->num_columns, first, NULL, num_rows};
	StringInfoData message;

	message_start(&message);
	message_append_rows(&message, &slice);
	return message_end(&message);
}

TupleTableSlot *
group_partial_next(group_state *state)
{
	ExprContext *context = state->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	MemoryContext caller;
	uint32		num_rows;

	while (state->shown == NULL || state->next_group >= state->shown->num_rows)
	{
		if (state->collected)
			return NULL;
		fold_rows(state);
	}
	num_rows = Min(rows_of_pack(rows_bytes_of_one(state->shown)), state->shown->num_rows - state->next_group);
	num_rows = rows_of_step(state->shown, state->next_group, num_rows);
	caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	ExecClearTuple(slot);
	/* the other entries have names, for EXPLAIN, and no values here */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_isnull[0] = false;
	slot->tts_values[0] = PointerGetDatum(pack(state->shown, state->next_group, num_rows));
	MemoryContextSwitchTo(caller);
	state->next_group += num_rows;
	return ExecStoreVirtualTuple(slot);
}

/*
 * group_partial.c
 *		MgpuGroup in workers: folds their rows, and returns the groups with their states.
 *
 * The leader combines the states of equal groups.  So few rows cross the queue, and workers do most of the work.
 * A worker whose groups take too much memory returns them and begins anew: a group may come several times.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "batch/wire.h"
#include "exec/group_state.h"

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
	node_state *node = &state->node;

	group_fold_start(state->fold);
	while (!node->ended && !group_fold_is_full(state->fold))
	{
		CHECK_FOR_INTERRUPTS();
		chunk_reset(node->rows);
		(void) node_read_step(node);
		group_fold_rows(state->fold, node->rows, get_hash_memory_limit(), NULL);
	}
	state->shown = group_fold_states(state->fold, node->rows->num_columns);
	state->next_shown = 0;
}

TupleTableSlot *
group_partial_next(group_state *state)
{
	while (state->shown == NULL || state->next_shown >= state->shown->num_rows)
	{
		if (state->node.ended)
			return NULL;
		fold_rows(state);
	}
	return node_return_pack(&state->node, state->shown, &state->next_shown, rows_of_pack(rows_bytes_of_one(state->shown)));
}

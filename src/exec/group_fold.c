/*
 * group_fold.c
 *		Groups rows as they come, for aggregates that need no row twice.
 *
 * Of each group its first row is kept, by a table that finds the groups of rows (key_table.c), and the states of the
 * aggregates, which are columns too.  Rows come some thousand at a time: all groups are found, then each aggregate adds all
 * rows.  So each loop is short.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "exec/group_fold.h"

struct group_fold
{
	MemoryContext context;		/* of all below, reset at the start */
	const group_keys *keys;
	List	   *aggregates;
	const chunk *like;
	bool		combines;
	key_table  *table;			/* has the first row of each group */
	bool		full;
};

group_fold *
group_fold_create(MemoryContext context, const group_keys *keys, List *aggregates, const chunk *like, bool combines)
{
	group_fold *fold = MemoryContextAllocZero(context, sizeof(group_fold));

	fold->context = AllocSetContextCreate(context, "mgpu_pg folded groups", ALLOCSET_DEFAULT_SIZES);
	fold->keys = keys;
	fold->aggregates = aggregates;
	fold->like = like;
	fold->combines = combines;
	return fold;
}

void
group_fold_start(group_fold *fold)
{
	ListCell   *cell;

	MemoryContextReset(fold->context);
	fold->table = key_table_create(fold->context, fold->keys, fold->like);
	fold->full = false;
	foreach(cell, fold->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		aggregate->fold_start(aggregate);
	}
}

/* ---- adding rows */

static void
put_others(const uint32 *numbers, uint32 num_groups, const chunk *rows, chunk *others)
{
	for (uint64 row = 0; row < rows->num_rows; row++)
		if (numbers[row] == num_groups)
			chunk_append_row(others, rows, row);
}

void
group_fold_rows(group_fold *fold, const chunk *rows, Size limit_bytes, chunk *others)
{
	int			column = fold->like->num_columns - (fold->combines ? group_fold_num_states(fold->aggregates) : 0);
	const uint32 *numbers;
	uint32		num_groups;
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	numbers = key_table_find(fold->table, rows, !fold->full);
	num_groups = key_table_rows(fold->table)->num_rows;
	foreach(cell, fold->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		/* one more for rows without a group */
		aggregate->fold(aggregate, fold->context, rows, numbers, num_groups + 1,
						fold->combines && aggregate->has_states ? rows->columns[column++].cells : NULL);
	}
	if (fold->full)
		put_others(numbers, num_groups, rows, others);
	fold->full = numbers && group_fold_bytes(fold) > limit_bytes;
}

/* ---- states of workers */

const column_type group_state_type = {
	.element = {.typlen = GROUP_STATE_BYTES,.typalign = TYPALIGN_DOUBLE,.stride = GROUP_STATE_BYTES},
	.store = COLUMN_BYTES,
	.width = GROUP_STATE_BYTES,
	.align = MAXIMUM_ALIGNOF
};

int
group_fold_num_states(List *aggregates)
{
	int			num_states = 0;
	ListCell   *cell;

	foreach(cell, aggregates)
		num_states += ((const group_aggregate *) lfirst(cell))->has_states;
	return num_states;
}

bool
group_fold_is_full(const group_fold *fold)
{
	return fold->full;
}

const chunk *
group_fold_states(const group_fold *fold, int num_columns)
{
	const chunk *groups = key_table_rows(fold->table);
	int			num_states = group_fold_num_states(fold->aggregates);
	chunk	   *shown = MemoryContextAllocZero(fold->context, offsetof(chunk, columns) + (num_columns + num_states) * sizeof(column));
	ListCell   *cell;

	shown->num_rows = groups->num_rows;
	memcpy(shown->columns, groups->columns, num_columns * sizeof(column));
	shown->num_columns = num_columns;
	foreach(cell, fold->aggregates)
	{
		const group_aggregate *aggregate = lfirst(cell);

		if (aggregate->has_states)
			shown->columns[shown->num_columns++] = (column) {&group_state_type, (char *) aggregate->states(aggregate), NULL};
	}
	return shown;
}

Size
group_fold_bytes(const group_fold *fold)
{
	return MemoryContextMemAllocated(fold->context, true);
}

void
group_fold_finish(group_fold *fold, group_input *input)
{
	const chunk *groups = key_table_rows(fold->table);
	uint32		num_groups = fold->keys->num_keys > 0 ? groups->num_rows : 1;
	ListCell   *cell;

	input->rows = groups;
	input->groups = (row_groups) {num_groups, NULL, large_alloc(input->context, ((Size) num_groups + 1) * sizeof(uint32))};
	for (uint32 group = 0; group <= num_groups; group++)
		input->groups.starts[group] = group;
	foreach(cell, fold->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		/* there may have been no rows */
		aggregate->fold(aggregate, fold->context, NULL, NULL, num_groups, NULL);
		aggregate->prepare(aggregate, input);
	}
}

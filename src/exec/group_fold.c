/*
 * group_fold.c
 *		Groups rows as they come, for aggregates that need no row twice.
 *
 * A table finds the groups of rows, and keeps the first row of each (key_table.c).  The states of a group's aggregates are
 * columns too.  Rows come some thousand at a time: all groups are found, then all rows are added for one aggregate after the
 * other.  So each loop is short.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/key_table.h"
#include "exec/aggregate.h"
#include "exec/group_fold.h"

struct group_fold
{
	List	   *reduced;		/* different reduced_columns of the aggregates */
	const group_keys *keys;
	const chunk *like;
	bool		combines;
	MemoryContext context;		/* of all below and of states, reset at the start */
	key_table  *table;
	bool		is_full;
};

static List *
reduced_of(List *aggregates)
{
	List	   *reduced = NIL;
	ListCell   *cell;

	foreach(cell, aggregates)
		reduced = list_append_unique_ptr(reduced, group_reduced_column(lfirst(cell)));
	return reduced;
}

group_fold *
group_fold_create(MemoryContext context, const group_keys *keys, List *aggregates, const chunk *like, bool combines)
{
	group_fold *fold = MemoryContextAllocZero(context, sizeof(group_fold));

	fold->reduced = reduced_of(aggregates);
	fold->keys = keys;
	fold->like = like;
	fold->combines = combines;
	fold->context = AllocSetContextCreate(context, "mgpu_pg folded groups", ALLOCSET_DEFAULT_SIZES);
	group_fold_start(fold);
	return fold;
}

void
group_fold_start(group_fold *fold)
{
	ListCell   *cell;

	MemoryContextReset(fold->context);
	fold->table = key_table_create(fold->context, fold->keys, fold->like);
	fold->is_full = false;
	foreach(cell, fold->reduced)
	{
		reduced_column *reduced = lfirst(cell);

		reduced->values.context = fold->context;
		reduced->states = NULL;
		reduced->num_states = 0;
		reduced->answer = NULL;
	}
}

/* ---- adding rows */

static void
grow_states(reduced_column *reduced, MemoryContext context, uint32 num_states)
{
	uint32		more = Max(num_states, 2 * reduced->num_states);
	Size		known_bytes = reduced->num_states * sizeof(reduced_state);

	reduced->states = large_realloc(context, reduced->states, known_bytes, more * sizeof(reduced_state));
	memset((char *) reduced->states + known_bytes, 0, more * sizeof(reduced_state) - known_bytes);
	reduced->num_states = more;
}

/* Add rows, or the states of groups of workers, to the states of groups; numbers is NULL if there is one. */
static void
add_rows(const reduced_column *reduced, const chunk *rows, const uint32 *numbers, const reduced_state *states)
{
	if (states)
		reduced_combine(&reduced->values, states, rows->num_rows, numbers, reduced->states);
	else if (numbers)
		reduced_add_each(&reduced->values, rows, numbers, reduced->states);
	else
		reduced_add_rows(&reduced->values, rows, &(row_groups) {1, NULL, NULL}, 0, rows->num_rows, reduced->states);
}

/* One more state takes the rows that have no group; none of it may raise an overflow's error. */
static void
fold_column(const group_fold *fold, reduced_column *reduced, const chunk *rows, const uint32 *numbers, const char *states)
{
	uint32		num_groups = key_table_rows(fold->table)->num_rows;
	float8		nan = get_float8_nan();

	if (num_groups >= reduced->num_states)
		grow_states(reduced, fold->context, num_groups + 1);
	reduced->states[num_groups] = (reduced_state) {.count = PG_INT64_MIN,.reals = {nan, nan, nan, nan, get_float4_nan()}};
	add_rows(reduced, rows, numbers, (const reduced_state *) states);
	reduced->states[num_groups] = (reduced_state) {0};
}

static void
put_others(const group_fold *fold, const chunk *rows, const uint32 *numbers, chunk *others)
{
	uint32		num_groups = key_table_rows(fold->table)->num_rows;

	for (uint64 row = 0; row < rows->num_rows; row++)
		if (numbers[row] == num_groups)
			chunk_append_row(others, rows, row);
}

void
group_fold_rows(group_fold *fold, const chunk *rows, Size limit_bytes, chunk *others)
{
	int			column = fold->like->num_columns - list_length(fold->reduced);
	const uint32 *numbers;
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	numbers = key_table_find(fold->table, rows, !fold->is_full);
	foreach(cell, fold->reduced)
		fold_column(fold, lfirst(cell), rows, numbers, fold->combines ? rows->columns[column++].cells : NULL);
	if (fold->is_full)
		put_others(fold, rows, numbers, others);
	fold->is_full = numbers && group_fold_bytes(fold) > limit_bytes;
}

bool
group_fold_is_full(const group_fold *fold)
{
	return fold->is_full;
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

	input->rows = groups;
	input->groups = row_groups_single(input->context, fold->keys->num_keys > 0 ? groups->num_rows : 1);
}

/* ---- states of workers */

StaticAssertDecl(sizeof(reduced_state) == GROUP_STATE_BYTES, "states of workers have another size");

const column_type group_state_type = {
	.element = {.typlen = GROUP_STATE_BYTES,.typalign = TYPALIGN_DOUBLE,.stride = GROUP_STATE_BYTES},
	.store = COLUMN_BYTES,
	.width = GROUP_STATE_BYTES,
	.align = MAXIMUM_ALIGNOF
};

int
group_fold_num_states(List *aggregates)
{
	return list_length(reduced_of(aggregates));
}

const chunk *
group_fold_states(const group_fold *fold, int num_columns)
{
	const chunk *groups = key_table_rows(fold->table);
	Size		num_shown = num_columns + list_length(fold->reduced);
	chunk	   *shown = MemoryContextAllocZero(fold->context, offsetof(chunk, columns) + num_shown * sizeof(column));
	ListCell   *cell;

	shown->num_rows = groups->num_rows;
	shown->num_columns = num_columns;
	memcpy(shown->columns, groups->columns, num_columns * sizeof(column));
	foreach(cell, fold->reduced)
	{
		const reduced_column *reduced = lfirst(cell);

		shown->columns[shown->num_columns++] = (column) {&group_state_type, (char *) reduced->states, NULL};
	}
	return shown;
}

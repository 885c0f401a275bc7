/*
 * group_fold.c
 *		Groups rows as they come, for aggregates that need no row twice.
 *
 * A hash table from keys to the numbers of groups (open addressing, linear probing).  Of each group its first
 * row is kept, and the states of the aggregates, which are columns too.  Rows come some thousand at a time: codes of
 * all keys are made, then all groups are found, then each aggregate adds all rows.  So each loop is short, and the
 * table's entries are fetched ahead.
 *
 * With millions of groups, every lookup misses the caches, and sorting the keys is faster (key_sort.c).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/aggregate.h"
#include "exec/group_fold.h"

#define FIRST_SLOTS 256

/* How many rows ahead an entry is fetched. */
#define ROWS_AHEAD 16

typedef struct fold_slot
{
	uint64		code;
	uint32		next;			/* number of the group, plus one; 0: free */
} fold_slot;

struct group_fold
{
	MemoryContext context;		/* of all below, reset at the start */
	const group_keys *keys;
	List	   *aggregates;
	const chunk *like;
	bool		combines;
	chunk	   *groups;			/* the first row of each group */
	bool		exact;			/* so far equal codes have meant equal keys */
	bool		full;
	uint32		num_slots;		/* a power of two, at least twice the groups */
	fold_slot  *slots;
	uint32		capacity;		/* of the next two, in rows */
	uint64	   *codes;
	uint32	   *numbers;
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

static fold_slot *
make_slots(group_fold *fold, uint32 num_slots)
{
	fold_slot  *slots = large_alloc(fold->context, num_slots * sizeof(fold_slot));

	memset(slots, 0, num_slots * sizeof(fold_slot));
	return slots;
}

void
group_fold_start(group_fold *fold)
{
	ListCell   *cell;

	MemoryContextReset(fold->context);
	fold->groups = chunk_like(fold->context, fold->like);
	fold->exact = true;
	fold->full = false;
	fold->num_slots = FIRST_SLOTS;
	fold->slots = make_slots(fold, FIRST_SLOTS);
	fold->capacity = 0;
	foreach(cell, fold->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		aggregate->fold_start(aggregate);
	}
}

/* ---- finding groups */

static void
grow_slots(group_fold *fold)
{
	fold_slot  *old = fold->slots;
	uint32		num_old = fold->num_slots;

	fold->num_slots *= 2;
	fold->slots = make_slots(fold, fold->num_slots);
	for (uint32 i = 0; i < num_old; i++)
	{
		uint32		slot = group_code_hash(old[i].code) & (fold->num_slots - 1);

		if (old[i].next == 0)
			continue;
		while (fold->slots[slot].next != 0)
			slot = (slot + 1) & (fold->num_slots - 1);
		fold->slots[slot] = old[i];
	}
	pfree(old);
}

/* Add a group whose first row this is. */
static uint32
add_group(group_fold *fold, fold_slot *slot, uint64 code, const chunk *rows, uint64 row)
{
	uint32		number = fold->groups->num_rows;

	chunk_append_row(fold->groups, rows, row);
	*slot = (fold_slot) {code, number + 1};
	if (fold->groups->num_rows * 2 > fold->num_slots)
		grow_slots(fold);
	return number;
}

/* The group of a row; the number of groups if it has none, and there is no memory for one. */
static inline uint32
find_group(group_fold *fold, uint64 code, const chunk *rows, uint64 row)
{
	uint32		slot = group_code_hash(code) & (fold->num_slots - 1);

	for (;; slot = (slot + 1) & (fold->num_slots - 1))
	{
		fold_slot  *found = &fold->slots[slot];

		if (found->next == 0)
			return fold->full ? fold->groups->num_rows : add_group(fold, found, code, rows, row);
		if (found->code == code &&
			(fold->exact || group_keys_equal(fold->keys, fold->keys->num_keys, fold->groups, found->next - 1, rows, row)))
			return found->next - 1;
	}
}

static void
make_room(group_fold *fold, uint64 num_rows)
{
	if (num_rows <= fold->capacity)
		return;
	fold->capacity = num_rows;
	fold->codes = MemoryContextAllocHuge(fold->context, num_rows * sizeof(uint64));
	fold->numbers = MemoryContextAllocHuge(fold->context, num_rows * sizeof(uint32));
}

static void
find_groups(group_fold *fold, const chunk *rows)
{
	MemoryContext caller = group_calls_start();
	uint32		mask;

	make_room(fold, rows->num_rows);
	fold->exact &= group_keys_codes(fold->keys, rows, fold->codes);
	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		mask = fold->num_slots - 1;
		if (row + ROWS_AHEAD < rows->num_rows)
			__builtin_prefetch(&fold->slots[group_code_hash(fold->codes[row + ROWS_AHEAD]) & mask]);
		fold->numbers[row] = find_group(fold, fold->codes[row], rows, row);
	}
	group_calls_end(caller);
}

/* ---- adding rows */

static void
put_others(const group_fold *fold, const chunk *rows, chunk *others)
{
	for (uint64 row = 0; row < rows->num_rows; row++)
		if (fold->numbers[row] == fold->groups->num_rows)
			chunk_append_row(others, rows, row);
}

void
group_fold_rows(group_fold *fold, const chunk *rows, Size limit_bytes, chunk *others)
{
	bool		grouped = fold->keys->num_keys > 0;
	bool		was_full = fold->full;
	int			column = fold->like->num_columns - (fold->combines ? group_fold_num_states(fold->aggregates) : 0);
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	if (grouped)
		find_groups(fold, rows);
	else if (fold->groups->num_rows == 0 && rows->num_rows > 0)
		chunk_append_row(fold->groups, rows, 0);
	foreach(cell, fold->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		/* one more for rows without a group */
		aggregate->fold(aggregate, fold->context, rows, grouped ? fold->numbers : NULL, fold->groups->num_rows + 1,
						fold->combines && aggregate->has_states ? rows->columns[column++].cells : NULL);
	}
	if (was_full)
		put_others(fold, rows, others);
	fold->full = grouped && group_fold_bytes(fold) > limit_bytes;
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
	int			num_states = 0;
	ListCell   *cell;

	foreach(cell, aggregates)
		num_states += ((const group_aggregate *) lfirst(cell))->has_states;
	return num_states;
}

const uint32 *
group_fold_numbers(const group_fold *fold)
{
	return fold->numbers;
}

uint32
group_fold_count(const group_fold *fold)
{
	return fold->groups->num_rows;
}

bool
group_fold_is_full(const group_fold *fold)
{
	return fold->full;
}

const chunk *
group_fold_states(const group_fold *fold, int num_columns)
{
	int			num_states = group_fold_num_states(fold->aggregates);
	chunk	   *shown = MemoryContextAllocZero(fold->context, offsetof(chunk, columns) + (num_columns + num_states) * sizeof(column));
	ListCell   *cell;

	shown->num_rows = fold->groups->num_rows;
	memcpy(shown->columns, fold->groups->columns, num_columns * sizeof(column));
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
	uint32		num_groups = fold->keys->num_keys > 0 ? fold->groups->num_rows : 1;
	ListCell   *cell;

	input->rows = fold->groups;
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

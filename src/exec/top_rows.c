/*
 * top_rows.c
 *		Keeps the first rows of each partition, as they come.
 *
 * A partition has a list of candidates.  When it is full, it is cut to the rows that are wanted so far, and the last of
 * these becomes the bar: later rows that do not come before it are passed over.  So most rows take one look at a
 * number.  If the cut leaves more than half of the list, the list doubles.  Candidates are copied to a chunk, which is
 * made anew once most of its rows have been dropped, and at the end if there is memory for it, so that rows are returned from
 * one place after the next.
 *
 * Rows that are read together are compared with the bars as they were before.  Those that a later bar would have kept
 * out are dropped by the next cut.
 *
 * A heap for each partition was rejected: ranks keep equal rows, whose number is unknown.  A sort of all rows was
 * rejected too: it takes the memory of all.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/rows.h"
#include "core/sizes.h"
#include "exec/top_rows_state.h"

#define FIRST_CANDIDATES 4
#define FIRST_PARTITIONS 16

/* With as many dropped rows, at least, the chunk is made anew, or with fewer where they are wide. */
#define MOST_DROPPED MGPU_SIZE(16 * 1024, 16)

/* Prepare to find partitions by the key columns alone: the first row of each is copied. */
static void
start_keys(top_rows *top, MemoryContext context)
{
	const group_keys *keys = top->limit->partitions;
	const column_type **types = palloc(keys->num_keys * sizeof(column_type *));

	top->keys = *keys;
	top->keys.keys = MemoryContextAlloc(context, keys->num_keys * sizeof(group_key));
	for (int i = 0; i < keys->num_keys; i++)
	{
		top->keys.keys[i] = keys->keys[i];
		top->keys.keys[i].column = i;
		types[i] = top->like->columns[keys->keys[i].column].type;
	}
	top->key_columns = chunk_create(context, keys->num_keys, types, top->like->most_rows);
	pfree(types);
}

top_rows *
top_rows_create(MemoryContext context, const top_limit *limit, const chunk *like)
{
	top_rows   *top = MemoryContextAllocZero(context, sizeof(top_rows));

	top->limit = limit;
	top->like = like;
	start_keys(top, context);
	top->context = AllocSetContextCreate(context, "mgpu_pg first rows", ALLOCSET_DEFAULT_SIZES);
	top->scratch = AllocSetContextCreate(context, "mgpu_pg comparisons of rows", ALLOCSET_DEFAULT_SIZES);
	return top;
}

void
top_rows_start(top_rows *top)
{
	MemoryContextReset(top->context);
	top->table = key_table_create(top->context, &top->keys, top->key_columns);
	top->kept = chunk_like(top->context, top->like);
	top->num_dropped = 0;
	top->num_partitions = 0;
	top->capacity = 0;
	top->num_codes = 0;
	top_rows_restart(top);
}

/* ---- adding rows */

static void
grow_partitions(top_rows *top, uint32 num_partitions)
{
	top_partition *partitions;
	uint64	   *bars;

	if (num_partitions > top->capacity)
	{
		uint32		capacity = Max(FIRST_PARTITIONS, Max(num_partitions, 2 * top->capacity));

		partitions = MemoryContextAllocHuge(top->context, capacity * sizeof(top_partition));
		bars = MemoryContextAllocHuge(top->context, capacity * sizeof(uint64));
		if (top->capacity > 0)
		{
			memcpy(partitions, top->partitions, top->num_partitions * sizeof(top_partition));
			memcpy(bars, top->bars, top->num_partitions * sizeof(uint64));
			pfree(top->partitions);
			pfree(top->bars);
		}
		top->partitions = partitions;
		top->bars = bars;
		top->capacity = capacity;
	}
	for (; top->num_partitions < num_partitions; top->num_partitions++)
	{
		top->partitions[top->num_partitions] = (top_partition) {0};
		top->bars[top->num_partitions] = ROW_CODE_LAST;
	}
}

/* The partition of each row; NULL: there is one.  All of them exist then. */
static const uint32 *
find_partitions(top_rows *top, const chunk *rows)
{
	const uint32 *numbers;

	top->key_columns->num_rows = rows->num_rows;
	for (int i = 0; i < top->keys.num_keys; i++)
		top->key_columns->columns[i] = rows->columns[top->limit->partitions->keys[i].column];
	numbers = key_table_find(top->table, top->key_columns, true);
	grow_partitions(top, key_table_rows(top->table)->num_rows);
	return numbers;
}

static void
make_room(top_rows *top, uint32 number)
{
	top_partition *partition = &top->partitions[number];
	candidate  *list;

	if (partition->count > 0)
		top_cut(top, number, false);
	if (partition->count * UINT64CONST(2) <= partition->capacity && partition->capacity > 0)
		return;
	partition->capacity = Max(FIRST_CANDIDATES, 2 * partition->capacity);
	list = MemoryContextAllocHuge(top->context, partition->capacity * sizeof(candidate));
	if (partition->list)
	{
		memcpy(list, partition->list, partition->count * sizeof(candidate));
		pfree(partition->list);
	}
	partition->list = list;
}

/* Whether a row with the bar's code is not wanted. */
static bool
misses_bar(const top_rows *top, uint32 number, const chunk *rows, uint64 row)
{
	const top_partition *partition = &top->partitions[number];
	int			order;

	if (partition->bar == 0)
		return false;
	order = row_compare_ties(top->limit->order, top->bars[number], rows, row, top->kept, partition->list[partition->bar - 1].row);
	return order > 0 || (order == 0 && top->limit->rule == TOP_ROWS);
}

static void
make_codes(top_rows *top, const chunk *rows)
{
	if (rows->num_rows > top->num_codes)
	{
		if (top->num_codes > 0)
		{
			pfree(top->codes);
			pfree(top->found);
		}
		top->num_codes = rows->num_rows;
		top->codes = MemoryContextAllocHuge(top->context, top->num_codes * sizeof(uint64));
		top->found = MemoryContextAllocHuge(top->context, top->num_codes * sizeof(uint32));
	}
	row_compare_codes(top->limit->order, rows, top->codes);
}

/* Find the rows that the bars let pass, and return how many there are. */
static uint64
find_candidates(top_rows *top, const chunk *rows, const uint32 *numbers)
{
	const uint64 *codes = top->codes;
	const uint64 *bars = top->bars;
	uint32	   *found = top->found;
	uint32		num_rows = rows->num_rows;
	uint64		num_passed = 0;
	uint64		num_found = 0;

	/* without a branch, which would be unpredictable while many rows pass */
	for (uint32 row = 0; row < num_rows; row++)
	{
		found[num_passed] = row;
		num_passed += codes[row] <= bars[numbers ? numbers[row] : 0];
	}
	for (uint64 i = 0; i < num_passed; i++)
	{
		uint32		row = found[i];
		uint32		number = numbers ? numbers[row] : 0;

		if (codes[row] < bars[number] || !misses_bar(top, number, rows, row))
			found[num_found++] = row;
	}
	return num_found;
}

#define ST_SORT sort_codes
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Of more rows of one partition than are wanted, leave those that may be among its first by their codes.  If the last rows of
 * a table are the first in the order, every row passes a bar that is as old as the rows before.
 */
static uint64
leave_first(top_rows *top, uint64 num_found)
{
	uint32		count = top->limit->count;
	uint64		num_left = 0;
	uint64	   *codes;

	if (top->numbers || top->limit->rule == TOP_DENSE_RANKS || num_found / 2 < count)
		return num_found;
	codes = palloc(num_found * sizeof(uint64));
	for (uint64 i = 0; i < num_found; i++)
		codes[i] = top->codes[top->found[i]];
	sort_codes(codes, num_found);
	for (uint64 i = 0; i < num_found; i++)
	{
		top->found[num_left] = top->found[i];
		num_left += top->codes[top->found[i]] <= codes[count - 1];
	}
	return num_left;
}

/* Copy the rows that were found, and add them to the lists of their partitions. */
static void
add_candidates(top_rows *top, const chunk *rows)
{
	uint64		first = top->kept->num_rows;

	chunk_append_rows(top->kept, rows, top->found, top->num_found);
	for (uint64 i = 0; i < top->num_found; i++)
	{
		uint32		row = top->found[i];
		uint32		number = top->numbers ? top->numbers[row] : 0;
		top_partition *partition = &top->partitions[number];

		if (partition->count == partition->capacity)
			make_room(top, number);
		partition->list[partition->count++] = (candidate) {top->codes[row], first + i};
	}
}

const uint32 *
top_rows_find(top_rows *top, const chunk *rows, uint64 *num_found)
{
	MemoryContext caller = MemoryContextSwitchTo(top->scratch);

	CHECK_FOR_INTERRUPTS();
	top->num_found = 0;
	if (rows->num_rows > 0)
	{
		top->numbers = find_partitions(top, rows);
		make_codes(top, rows);
		top->num_found = leave_first(top, find_candidates(top, rows, top->numbers));
	}
	MemoryContextSwitchTo(caller);
	*num_found = top->num_found;
	return top->found;
}

void
top_rows_add(top_rows *top, const chunk *rows)
{
	MemoryContext caller = MemoryContextSwitchTo(top->scratch);

	add_candidates(top, rows);
	if (top->num_dropped > top->kept->num_rows / 2 &&
		(top->num_dropped > MOST_DROPPED || top_rows_bytes(top) > get_hash_memory_limit()))
		top_renew(top);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(top->scratch);
}

/* ---- the rows */

chunk *
top_rows_kept(top_rows *top)
{
	top_cut_all(top);
	top_renew(top);
	return top->kept;
}

/* Whether a copy of the rows fits in memory beside what there is. */
static bool
has_room_for_copy(const top_rows *top)
{
	Size		copy_bytes = top->kept->num_rows * rows_bytes_of_one(top->kept) + top->kept->arena.taken_bytes;

	return top_rows_bytes(top) + copy_bytes <= get_hash_memory_limit();
}

void
top_rows_finish(top_rows *top)
{
	top_cut_all(top);
	if (has_room_for_copy(top))
		top_arrange(top);
	top_rows_restart(top);
}

void
top_rows_restart(top_rows *top)
{
	top->next_partition = top->next_candidate = 0;
}

const chunk *
top_rows_next(top_rows *top, uint64 *row, int64 *number)
{
	const top_partition *partition;
	const candidate *next;

	if (top->next_partition >= top->num_partitions)
		return NULL;
	partition = &top->partitions[top->next_partition];
	next = &partition->list[top->next_candidate];
	if (top->next_candidate == 0)
		top->number = 1;
	else if (top->limit->rule == TOP_ROWS || !top_are_peers(top, next - 1, next))
		top->number = top->limit->rule == TOP_DENSE_RANKS ? top->number + 1 : top->next_candidate + 1;
	*row = next->row;
	*number = top->number;
	if (++top->next_candidate == partition->count)
	{
		top->next_partition++;
		top->next_candidate = 0;
	}
	return top->kept;
}

Size
top_rows_bytes(const top_rows *top)
{
	return MemoryContextMemAllocated(top->context, true);
}

uint32
top_rows_partitions(const top_rows *top)
{
	return top->num_partitions;
}

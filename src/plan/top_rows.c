/*
 * top_rows.c
 *		Keeps the first rows of each partition, as they come.
 *
 * A partition has a list of candidates.  When it is full, it is cut to the rows that are wanted so far, and the last of
 * these becomes the bar: later rows that do not come before it are passed over.  So most rows take one look at a
 * number.  If the cut leaves more than half of the list, the list doubles.  Candidates are copied to a chunk, which is
 * made anew once most of its rows have been dropped.
 *
 * A heap for each partition was rejected: ranks keep equal rows, whose number is unknown.  A sort of all rows was
 * rejected too: it takes the memory of all.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "core/sizes.h"
#include "plan/group_fold.h"
#include "plan/top_rows.h"

#define FIRST_CANDIDATES 4
#define FIRST_PARTITIONS 16

/* With as many dropped rows, at least, the chunk is made anew. */
#define MOST_DROPPED MGPU_SIZE(16 * 1024, 16)

/* Lists of as many candidates are cut without sorting them. */
#define SELECT_MIN_CANDIDATES MGPU_SIZE(64, 8)

typedef struct candidate
{
	uint64		code;
	uint32		row;			/* of the chunk; of equal rows, the first to come has the smallest */
} candidate;

typedef struct top_partition
{
	candidate  *list;
	uint32		count;
	uint32		capacity;
	uint32		bar;			/* the candidate that is the bar, plus one; 0: none */
} top_partition;

struct top_rows
{
	const top_limit *limit;
	const chunk *like;
	group_fold *fold;			/* finds partitions; NULL: there is one */
	MemoryContext context;		/* of all below, reset at the start */
	MemoryContext scratch;		/* of comparisons */
	chunk	   *kept;
	uint64		num_dropped;	/* of its rows */
	uint32		num_partitions;
	uint32		capacity;		/* of the next two */
	top_partition *partitions;
	uint64	   *bars;			/* codes */
	uint64		num_codes;		/* capacity of the next */
	uint64	   *codes;
	uint32		next_partition; /* to return */
	uint32		next_candidate;
	int64		number;			/* of the row returned last */
	bool		at_end;			/* that there is no next row has been said */
};

/* The first columns, up to the last that is a key. */
static chunk *
keys_like(MemoryContext context, const group_keys *keys, const chunk *like)
{
	int			num_columns = 1;
	const column_type **types = palloc(like->num_columns * sizeof(column_type *));
	chunk	   *rows;

	for (int i = 0; i < keys->num_keys; i++)
		num_columns = Max(num_columns, keys->keys[i].column + 1);
	for (int i = 0; i < num_columns; i++)
		types[i] = like->columns[i].type;
	rows = chunk_create(context, num_columns, types, like->most_rows);
	pfree(types);
	return rows;
}

top_rows *
top_rows_create(MemoryContext context, const top_limit *limit, const chunk *like)
{
	top_rows   *top = MemoryContextAllocZero(context, sizeof(top_rows));

	top->limit = limit;
	top->like = like;
	if (limit->partitions->num_keys > 0)
		top->fold = group_fold_create(context, limit->partitions, NIL, keys_like(context, limit->partitions, like), false);
	top->context = AllocSetContextCreate(context, "mgpu_pg first rows", ALLOCSET_DEFAULT_SIZES);
	top->scratch = AllocSetContextCreate(context, "mgpu_pg comparisons of rows", ALLOCSET_DEFAULT_SIZES);
	return top;
}

void
top_rows_start(top_rows *top)
{
	if (top->fold)
		group_fold_start(top->fold);
	MemoryContextReset(top->context);
	top->kept = chunk_like(top->context, top->like);
	top->num_dropped = 0;
	top->num_partitions = 0;
	top->capacity = 0;
	top->num_codes = 0;
	top->next_partition = top->next_candidate = 0;
	top->at_end = false;
}

/* ---- cutting a list */

static inline int
compare_candidates(const candidate *a, const candidate *b, const top_rows *top)
{
	int			order;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	order = row_compare_ties(top->limit->order, a->code, top->kept, a->row, top->kept, b->row);
	return order != 0 ? order : a->row < b->row ? -1 : a->row > b->row;
}

static bool
are_peers(const top_rows *top, const candidate *a, const candidate *b)
{
	return a->code == b->code && row_compare_ties(top->limit->order, a->code, top->kept, a->row, top->kept, b->row) == 0;
}

#define ST_SORT sort_candidates
#define ST_ELEMENT_TYPE candidate
#define ST_COMPARE(a, b, top) compare_candidates(a, b, top)
#define ST_COMPARE_ARG_TYPE const top_rows
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static inline void
swap(candidate *list, uint32 a, uint32 b)
{
	candidate	kept = list[a];

	list[a] = list[b];
	list[b] = kept;
}

/* Move what comes before list[pivot] in front of it, and return where it is then. */
static uint32
divide(const top_rows *top, candidate *list, uint32 begin, uint32 end, uint32 pivot)
{
	uint32		place = begin;

	swap(list, pivot, end - 1);
	for (uint32 i = begin; i < end - 1; i++)
		if (compare_candidates(&list[i], &list[end - 1], top) < 0)
			swap(list, i, place++);
	swap(list, place, end - 1);
	return place;
}

/* Hoare's selection: list[nth] is what it would be in order, and what comes before it is in front of it. */
static void
select_candidates(const top_rows *top, candidate *list, uint32 count, uint32 nth)
{
	uint32		begin = 0;
	uint32		end = count;
	uint64		random = 1;

	while (end - begin > 1)
	{
		uint32		place;

		CHECK_FOR_INTERRUPTS();
		random = group_code_hash(random + count);
		place = divide(top, list, begin, end, begin + random % (end - begin));
		if (place == nth)
			return;
		if (place < nth)
			begin = place + 1;
		else
			end = place;
	}
}

/* Put the wanted candidates first, in order if sorted; returns how many.  *is_full: later ones have to beat the last. */
static uint32
find_wanted(const top_rows *top, top_partition *partition, bool sorted, bool *is_full)
{
	candidate  *list = partition->list;
	uint32		count = top->limit->count;
	uint32		num_wanted = Min(count, partition->count);
	uint32		num_different = 1;

	*is_full = partition->count >= count;
	if (top->limit->rule == TOP_ROWS && !sorted && partition->count >= SELECT_MIN_CANDIDATES)
	{
		if (*is_full)
			select_candidates(top, list, partition->count, count - 1);
		return num_wanted;
	}
	sort_candidates(list, partition->count, top);
	if (top->limit->rule == TOP_RANKS)
		while (num_wanted < partition->count && are_peers(top, &list[count - 1], &list[num_wanted]))
			num_wanted++;
	if (top->limit->rule != TOP_DENSE_RANKS)
		return num_wanted;
	for (num_wanted = 1; num_wanted < partition->count; num_wanted++)
		if (!are_peers(top, &list[num_wanted - 1], &list[num_wanted]) && num_different++ == count)
			break;
	*is_full = num_different >= count;
	return num_wanted;
}

static void
cut(top_rows *top, uint32 number, bool sorted)
{
	top_partition *partition = &top->partitions[number];
	bool		is_full;
	uint32		num_wanted;

	if (partition->count < top->limit->count && !sorted)
		return;
	num_wanted = find_wanted(top, partition, sorted, &is_full);
	top->num_dropped += partition->count - num_wanted;
	partition->count = num_wanted;
	if (!is_full)
		return;
	partition->bar = num_wanted;
	top->bars[number] = partition->list[num_wanted - 1].code;
}

/* Copy the candidates to a new chunk. */
static void
renew_kept(top_rows *top)
{
	chunk	   *kept = chunk_like(top->context, top->like);

	for (uint32 i = 0; i < top->num_partitions; i++)
	{
		candidate  *list = top->partitions[i].list;

		CHECK_FOR_INTERRUPTS();
		for (uint32 n = 0; n < top->partitions[i].count; n++)
		{
			chunk_append_row(kept, top->kept, list[n].row);
			list[n].row = kept->num_rows - 1;
		}
	}
	chunk_free(top->kept);
	pfree(top->kept);
	top->kept = kept;
	top->num_dropped = 0;
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
	if (top->fold == NULL)
	{
		grow_partitions(top, 1);
		return NULL;
	}
	group_fold_rows(top->fold, rows, SIZE_MAX, NULL);
	grow_partitions(top, group_fold_count(top->fold));
	return group_fold_numbers(top->fold);
}

static void
make_room(top_rows *top, uint32 number)
{
	top_partition *partition = &top->partitions[number];
	candidate  *list;

	if (partition->count > 0)
		cut(top, number, false);
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

static void
add_candidate(top_rows *top, uint32 number, uint64 code, const chunk *rows, uint64 row)
{
	top_partition *partition = &top->partitions[number];

	if (partition->count == partition->capacity)
		make_room(top, number);
	partition->list[partition->count++] = (candidate) {code, top->kept->num_rows};
	chunk_append_row(top->kept, rows, row);
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
		top->num_codes = rows->num_rows;
		top->codes = MemoryContextAllocHuge(top->context, top->num_codes * sizeof(uint64));
	}
	row_compare_codes(top->limit->order, rows, top->codes);
}

void
top_rows_add(top_rows *top, const chunk *rows)
{
	MemoryContext caller;
	const uint32 *numbers;

	CHECK_FOR_INTERRUPTS();
	if (rows->num_rows == 0)
		return;
	caller = MemoryContextSwitchTo(top->scratch);
	numbers = find_partitions(top, rows);
	make_codes(top, rows);
	for (uint64 row = 0; row < rows->num_rows; row++)
	{
		uint32		number = numbers ? numbers[row] : 0;
		uint64		code = top->codes[row];

		if (code > top->bars[number] || (code == top->bars[number] && misses_bar(top, number, rows, row)))
			continue;
		add_candidate(top, number, code, rows, row);
	}
	if (top->num_dropped > Max(top->kept->num_rows / 2, MOST_DROPPED))
		renew_kept(top);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(top->scratch);
}

/* ---- the rows */

static void
cut_all(top_rows *top, bool sorted)
{
	MemoryContext caller = MemoryContextSwitchTo(top->scratch);

	for (uint32 i = 0; i < top->num_partitions; i++)
	{
		CHECK_FOR_INTERRUPTS();
		cut(top, i, sorted);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(top->scratch);
}

chunk *
top_rows_kept(top_rows *top)
{
	cut_all(top, true);
	renew_kept(top);
	return top->kept;
}

void
top_rows_finish(top_rows *top)
{
	cut_all(top, true);
	top->next_partition = top->next_candidate = 0;
	top->at_end = false;
}

const chunk *
top_rows_next(top_rows *top, uint64 *row, int64 *number)
{
	const top_partition *partition;
	const candidate *next;

	top->at_end = top->next_partition >= top->num_partitions;
	if (top->at_end)
		return NULL;
	partition = &top->partitions[top->next_partition];
	next = &partition->list[top->next_candidate];
	if (top->next_candidate == 0)
		top->number = 1;
	else if (top->limit->rule == TOP_ROWS || !are_peers(top, next - 1, next))
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

const chunk *
top_rows_previous(top_rows *top, uint64 *row)
{
	uint32		place = top->next_partition > 0 ? top->partitions[0].count : top->next_candidate;

	if (!top->at_end && place > 0)
		place--;
	top->at_end = false;
	top->next_partition = place > 0 && place == top->partitions[0].count;
	top->next_candidate = top->next_partition > 0 ? 0 : place;
	if (place == 0)
		return NULL;
	*row = top->partitions[0].list[place - 1].row;
	return top->kept;
}

Size
top_rows_bytes(const top_rows *top)
{
	return MemoryContextMemAllocated(top->context, true) + (top->fold ? group_fold_bytes(top->fold) : 0);
}

uint32
top_rows_partitions(const top_rows *top)
{
	return top->num_partitions;
}

/*
 * top_cut.c
 *		Cuts the candidates of a partition to the rows that are wanted so far.
 *
 * Short lists are sorted.  Of long ones the wanted part is selected, which takes less time, unless equal rows are to be
 * counted.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "core/sizes.h"
#include "exec/top_rows_state.h"

/* Lists of as many candidates are cut without sorting them. */
#define SELECT_MIN_CANDIDATES MGPU_SIZE(64, 8)

static inline int
compare_candidates(const candidate *a, const candidate *b, const top_rows *top)
{
	int			order;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	order = row_compare_ties(top->limit->order, a->code, top->kept, a->row, top->kept, b->row);
	return order != 0 ? order : a->row < b->row ? -1 : a->row > b->row;
}

static inline bool
comes_before(const candidate *a, const candidate *b, const top_rows *top)
{
	return unlikely(a->code == b->code) ? compare_candidates(a, b, top) < 0 : a->code < b->code;
}

bool
top_are_peers(const top_rows *top, const candidate *a, const candidate *b)
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

/* Field by field: a load of 16 bytes would wait for the stores of both fields. */
static inline void
swap(candidate *list, uint32 a, uint32 b)
{
	uint64		code = list[a].code;
	uint32		row = list[a].row;

	list[a].code = list[b].code;
	list[a].row = list[b].row;
	list[b].code = code;
	list[b].row = row;
}

/* Move what comes before list[pivot] in front of it, and return where it is then. */
static uint32
divide(const top_rows *top, candidate *list, uint32 begin, uint32 end, uint32 pivot)
{
	uint32		place = begin;

	swap(list, pivot, end - 1);
	for (uint32 i = begin; i < end - 1; i++)
	{
		bool		is_before = comes_before(&list[i], &list[end - 1], top);

		/* without a branch, which would be unpredictable */
		swap(list, i, place);
		place += is_before;
	}
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
		while (num_wanted < partition->count && top_are_peers(top, &list[count - 1], &list[num_wanted]))
			num_wanted++;
	if (top->limit->rule != TOP_DENSE_RANKS)
		return num_wanted;
	for (num_wanted = 1; num_wanted < partition->count; num_wanted++)
		if (!top_are_peers(top, &list[num_wanted - 1], &list[num_wanted]) && num_different++ == count)
			break;
	*is_full = num_different >= count;
	return num_wanted;
}

void
top_cut(top_rows *top, uint32 number, bool sorted)
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

void
top_cut_all(top_rows *top)
{
	MemoryContext caller = MemoryContextSwitchTo(top->scratch);

	for (uint32 i = 0; i < top->num_partitions; i++)
	{
		CHECK_FOR_INTERRUPTS();
		top_cut(top, i, true);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(top->scratch);
}

/* Make the chunk anew of some of its rows. */
static void
copy_rows(top_rows *top, const uint32 *rows, uint64 num_rows)
{
	chunk	   *kept = chunk_like(top->context, top->like);

	CHECK_FOR_INTERRUPTS();
	chunk_append_rows(kept, top->kept, rows, num_rows);
	chunk_free(top->kept);
	pfree(top->kept);
	top->kept = kept;
	top->num_dropped = 0;
	MemoryContextReset(top->scratch);
}

void
top_arrange(top_rows *top)
{
	uint32	   *rows = MemoryContextAllocHuge(top->scratch, top->kept->num_rows * sizeof(uint32) + 1);
	uint64		num_rows = 0;

	for (uint32 i = 0; i < top->num_partitions; i++)
		for (uint32 n = 0; n < top->partitions[i].count; n++)
		{
			rows[num_rows] = top->partitions[i].list[n].row;
			top->partitions[i].list[n].row = num_rows++;
		}
	copy_rows(top, rows, num_rows);
}

void
top_renew(top_rows *top)
{
	uint64		num_rows = top->kept->num_rows;
	uint32	   *places = MemoryContextAllocExtended(top->scratch, num_rows * sizeof(uint32) + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint32	   *rows = MemoryContextAllocHuge(top->scratch, num_rows * sizeof(uint32) + 1);
	uint64		num_kept = 0;

	for (uint32 i = 0; i < top->num_partitions; i++)
		for (uint32 n = 0; n < top->partitions[i].count; n++)
			places[top->partitions[i].list[n].row] = 1;
	CHECK_FOR_INTERRUPTS();
	for (uint64 row = 0; row < num_rows; row++)
	{
		rows[num_kept] = row;
		num_kept += places[row];
		places[row] = num_kept - 1;
	}
	for (uint32 i = 0; i < top->num_partitions; i++)
		for (uint32 n = 0; n < top->partitions[i].count; n++)
			top->partitions[i].list[n].row = places[top->partitions[i].list[n].row];
	copy_rows(top, rows, num_kept);
}

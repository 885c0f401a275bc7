/*
 * enum_order.c
 *		The order of an enum's labels by counting them.
 *
 * Labels whose OIDs do not order as they do have their ranks for keys.  A job on
 * the CPU would have those of all values beside the array; but labels are few, so
 * counting each says where its first position goes, and another walk puts all of
 * them there: a counting sort, whose only memory is a number a label.  Short
 * segments are sorted by ranks of their own.  Ranks of one byte for a job were
 * rejected: they still take memory with the array, and labels can be more.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "enum_order.h"

/* Ranks that are looked up at a time. */
#define BLOCK_ITEMS MGPU_CPU_NOW_PAIRS

/* Values handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* A call, and for each label how many there are, or where the next of them goes. */
typedef struct label_counts
{
	const enum_labels *labels;
	const Oid  *values;
	bool		descending;
	uint32	   *places;
	uint32	   *ranks;
	Oid		   *sorted;
	int64		since_look;		/* values since the last look at interrupts */
} label_counts;

static void
look_at_interrupts(label_counts *counts, int64 num_items)
{
	counts->since_look += num_items;
	if (counts->since_look < STEP_ITEMS)
		return;
	counts->since_look = 0;
	CHECK_FOR_INTERRUPTS();
}

static void
look_up(label_counts *counts, int64 begin, int64 num_items, uint32 *block)
{
	enum_labels_ranks(counts->labels, counts->values + begin, num_items, counts->descending, block);
	look_at_interrupts(counts, num_items);
}

static void
order_few(label_counts *counts, int64 begin, int64 num_items)
{
	uint32		block[BLOCK_ITEMS];
	uint32	   *ranks = counts->ranks + begin;

	look_up(counts, begin, num_items, block);
	mgpu_cpu_argsort_now(block, ranks, num_items, MGPU_KEY_UNSIGNED, sizeof(uint32), 0);
	for (int64 i = 0; i < num_items; i++)
		ranks[i] += begin;
	for (int64 i = 0; counts->sorted && i < num_items; i++)
		counts->sorted[begin + i] = counts->values[ranks[i]];
}

static void
count(label_counts *counts, int64 begin, int64 end)
{
	uint32		block[BLOCK_ITEMS];

	memset(counts->places, 0, counts->labels->num_labels * sizeof(uint32));
	for (int64 i = begin; i < end; i += BLOCK_ITEMS)
	{
		int			num_items = Min(BLOCK_ITEMS, end - i);

		look_up(counts, i, num_items, block);
		for (int j = 0; j < num_items; j++)
			counts->places[block[j]]++;
	}
}

/* Counts become the places where labels begin, and values go there if they are wanted. */
static void
share_places(label_counts *counts, int64 begin)
{
	const enum_labels *labels = counts->labels;
	uint32		place = begin;

	for (uint32 i = 0; i < labels->num_labels; i++)
	{
		Oid			value = labels->ordered[counts->descending ? labels->num_labels - 1 - i : i];
		uint32		end = place + counts->places[i];

		counts->places[i] = place;
		for (uint32 j = place; counts->sorted && j < end; j++)
			counts->sorted[j] = value;
		if (counts->sorted)
			look_at_interrupts(counts, end - place);
		place = end;
	}
}

static void
order_many(label_counts *counts, int64 begin, int64 end)
{
	uint32		block[BLOCK_ITEMS];

	count(counts, begin, end);
	share_places(counts, begin);
	for (int64 i = begin; i < end; i += BLOCK_ITEMS)
	{
		int			num_items = Min(BLOCK_ITEMS, end - i);

		look_up(counts, i, num_items, block);
		for (int j = 0; j < num_items; j++)
			counts->ranks[counts->places[block[j]]++] = i + j;
	}
}

void
enum_order_ranks(const sort_spec *spec, const segment_list *segments, const Oid *values,
				 int64 num_items, const enum_labels *labels, uint32 *ranks, Oid *sorted)
{
	segment_list whole = {.heads = (uint32[]) {0}, .num_segments = 1, .num_items = num_items};
	label_counts counts = {.labels = labels, .values = values, .descending = spec->order.descending,
	.ranks = ranks, .sorted = sorted};

	if (segments == NULL)
		segments = &whole;
	counts.places = palloc_extended(labels->num_labels * sizeof(uint32), MCXT_ALLOC_HUGE);
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		begin = segments->heads[i];
		int64		end = segment_end(segments, i);

		if (end - begin <= BLOCK_ITEMS)
			order_few(&counts, begin, end - begin);
		else
			order_many(&counts, begin, end);
	}
	pfree(counts.places);
}

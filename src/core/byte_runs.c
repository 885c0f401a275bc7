/*
 * byte_runs.c
 *		Runs of equal codes: short ones are ordered, long ones passed on.  See
 *		byte_keys.h.
 *
 * A short run is merge sorted by its strings' next codes; equal codes are compared
 * by the bytes behind them.  Strings lie anywhere in memory, so a task collects
 * several hundred items of several runs and prefetches all of them before it reads
 * the first.
 */
#include "byte_keys.h"

/* Items collected before they are ordered.  The last run may exceed that, so buffers are larger. */
#define BATCH_ITEMS 512
#define BATCH_SPACE (BATCH_ITEMS + MGPU_SHORT_RUN_ITEMS)

/* Runs up to this length are sorted by insertion. */
#define INSERTION_ITEMS 8

typedef struct tie_item
{
	uint64_t	code;
	const char *tail;			/* the string's bytes behind code */
	uint32_t	tail_size;
	uint32_t	item;
} tie_item;

typedef struct tie_run
{
	uint32_t   *places;
	uint32_t	num_items;
	uint32_t	offset;
} tie_run;

typedef struct tie_batch
{
	uint32_t	num_items;
	uint32_t	num_runs;
	tie_run		runs[BATCH_SPACE / 2];
	tie_item	items[BATCH_SPACE];
	tie_item	scratch[MGPU_SHORT_RUN_ITEMS];
} tie_batch;

static int
compare_tails(const tie_item *a, const tie_item *b)
{
	uint32_t	common = a->tail_size < b->tail_size ? a->tail_size : b->tail_size;
	int			order = common > 0 ? memcmp(a->tail, b->tail, common) : 0;

	if (order == 0)
		order = (a->tail_size > b->tail_size) - (a->tail_size < b->tail_size);
	return order;
}

/* Whether a, which comes later in the input, sorts before b. */
static inline bool
goes_before(const tie_item *a, const tie_item *b, bool descending)
{
	int			order;

	if (a->code != b->code)
		return (a->code < b->code) != descending;
	order = compare_tails(a, b);
	return descending ? order > 0 : order < 0;
}

static void
insertion_sort(tie_item *items, uint32_t num_items, bool descending)
{
	for (uint32_t i = 1; i < num_items; i++)
	{
		tie_item	item = items[i];
		uint32_t	place = i;

		while (place > 0 && goes_before(&item, &items[place - 1], descending))
		{
			items[place] = items[place - 1];
			place--;
		}
		items[place] = item;
	}
}

static void
merge_sort(tie_item *items, uint32_t num_items, bool descending, tie_item *scratch)
{
	uint32_t	half = num_items / 2;
	uint32_t	left = 0,
				right = half,
				place = 0;

	if (num_items <= INSERTION_ITEMS)
	{
		insertion_sort(items, num_items, descending);
		return;
	}
	merge_sort(items, half, descending, scratch);
	merge_sort(items + half, num_items - half, descending, scratch);
	memcpy(scratch, items, half * sizeof(*items));
	while (left < half && right < num_items)
	{
		if (goes_before(&items[right], &scratch[left], descending))
			items[place++] = items[right++];
		else
			items[place++] = scratch[left++];
	}
	memcpy(items + place, scratch + left, (half - left) * sizeof(*items));
}

/* Fill in code and tail of items, whose item numbers are set. */
static void
load_run(const mgpu_byte_keys *keys, uint32_t offset, tie_item *items, uint32_t num_items)
{
	uint32_t	step = mgpu_code_step(keys);

	for (uint32_t i = 0; i < num_items; i++)
	{
		mgpu_span	span = keys->spans[items[i].item];	/* NOLINT: set, as order_batch counts the same items each time */

		items[i].code = mgpu_byte_code(keys, span, offset);
		items[i].tail_size = span.size > offset + step ? span.size - offset - step : 0;
		items[i].tail = keys->data + span.offset + offset + step;
	}
}

static void
order_run(const mgpu_byte_keys *keys, const tie_run *run, tie_item *items, tie_item *scratch)
{
	load_run(keys, run->offset, items, run->num_items);
	merge_sort(items, run->num_items, keys->descending, scratch);
	for (uint32_t i = 0; i < run->num_items; i++)
		run->places[i] = items[i].item;
}

static void
order_batch(const mgpu_byte_keys *keys, tie_batch *batch)
{
	tie_item   *items = batch->items;
	uint32_t	number = 0;

	for (uint32_t i = 0; i < batch->num_runs; i++)
		for (uint32_t j = 0; j < batch->runs[i].num_items; j++)
		{
			items[number].item = batch->runs[i].places[j];
			__builtin_prefetch(&keys->spans[items[number++].item]);
		}
	number = 0;
	for (uint32_t i = 0; i < batch->num_runs; i++)
		for (uint32_t j = 0; j < batch->runs[i].num_items; j++)
			/* NOLINTNEXTLINE: the loop before has set as many */
			__builtin_prefetch(keys->data + keys->spans[items[number++].item].offset + batch->runs[i].offset);
	for (uint32_t i = 0; i < batch->num_runs; i++)
	{
		order_run(keys, &batch->runs[i], items, batch->scratch);
		items += batch->runs[i].num_items;
	}
	batch->num_items = 0;
	batch->num_runs = 0;
}

static void
add_short(const mgpu_byte_keys *keys, tie_batch *batch, const tie_run *run)
{
	batch->runs[batch->num_runs++] = *run;
	batch->num_items += run->num_items;
	if (batch->num_items >= BATCH_ITEMS)
		order_batch(keys, batch);
}

static void
add_long(mgpu_byte_round *round, const tie_run *run)
{
	mgpu_byte_run *next = &round->next_runs[atomic_fetch_add(&round->num_next_runs, 1)];

	next->place = (uint32_t) (run->places - round->order);
	next->num_items = run->num_items;
	next->offset = run->offset;
}

static void
start_batch(tie_batch *batch)
{
	batch->num_items = 0;
	batch->num_runs = 0;
}

static void
split_run(mgpu_byte_round *round, const mgpu_byte_run *run, uint64_t head, uint64_t begin, uint64_t end,
		  tie_batch *batch)
{
	const uint64_t *sorted = round->sorted;
	uint64_t	run_end = head + run->num_items;
	uint64_t	next = begin;

	/* equal codes that began before belong to an earlier task */
	if (begin > head)
		while (next < end && sorted[next] == sorted[begin - 1])
			next++;
	while (next < end)
	{
		uint64_t	first = next;
		tie_run		ties;

		for (next = first + 1; next < run_end && sorted[next] == sorted[first];)
			next++;
		if (next - first < 2 || mgpu_code_decides(&round->keys, sorted[first]))
			continue;
		ties.places = round->order + run->place + (first - head);
		ties.num_items = (uint32_t) (next - first);
		ties.offset = run->offset + mgpu_code_step(&round->keys);
		if (ties.num_items <= MGPU_SHORT_RUN_ITEMS)
			add_short(&round->keys, batch, &ties);
		else
			add_long(round, &ties);
	}
}

void
mgpu_byte_split_task(void *context, uint64_t task, int worker)
{
	mgpu_byte_round *round = context;
	uint64_t	begin = task * MGPU_BYTE_TASK_ITEMS;
	uint64_t	end = begin + MGPU_BYTE_TASK_ITEMS;
	tie_batch	batch;

	start_batch(&batch);
	if (end > round->num_items)
		end = round->num_items;
	for (uint32_t i = mgpu_byte_run_of(round, begin); begin < end; i++)
	{
		uint64_t	run_end = (uint64_t) round->heads[i] + round->runs[i].num_items;

		if (run_end > end)
			run_end = end;
		split_run(round, &round->runs[i], round->heads[i], begin, run_end, &batch);
		begin = run_end;
	}
	order_batch(&round->keys, &batch);
}

void
mgpu_byte_segments_task(void *context, uint64_t task, int worker)
{
	const mgpu_byte_segments *segments = context;
	mgpu_byte_round *round = segments->round;
	uint64_t	task_segments = mgpu_byte_task_segments(segments);
	uint64_t	end = (task + 1) * task_segments;
	tie_batch	batch;

	start_batch(&batch);
	if (end > segments->num_segments)
		end = segments->num_segments;
	for (uint64_t i = task * task_segments; i < end; i++)
	{
		uint64_t	segment_end = i + 1 < segments->num_segments ? segments->heads[i + 1] : segments->num_items;
		tie_run		run = {round->order + segments->heads[i], (uint32_t) (segment_end - segments->heads[i]), 0};

		if (run.num_items > segments->short_items)
			add_long(round, &run);
		else if (run.num_items > 1)
			add_short(&round->keys, &batch, &run);
	}
	order_batch(&round->keys, &batch);
}

void
mgpu_byte_order_now(const mgpu_byte_keys *keys, uint32_t offset, uint32_t *items, uint32_t num_items)
{
	tie_run		run = {items, num_items, offset};
	tie_item	ties[MGPU_SHORT_RUN_ITEMS];
	tie_item	scratch[MGPU_SHORT_RUN_ITEMS];

	for (uint32_t i = 0; i < num_items; i++)
		ties[i].item = items[i];
	order_run(keys, &run, ties, scratch);
}

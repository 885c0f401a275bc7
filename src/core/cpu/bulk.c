/*
 * bulk.c
 *		Strategies for bulk remove and bulk insert: runs of values move, and gaps
 *		between them close or open.
 *
 * A binary search in the positions tells where a task's output begins, so no task
 * waits for another (S. Baxter, Modern GPU).  Where many positions are close
 * together, the lengths of runs are unpredictable.  So a fixed number of values is
 * copied, whatever the length, and the next run overwrites the excess.  A bit map
 * with compress instructions was rejected: positions come as a list, and making the
 * map costs as much as the copies.
 *
 * Streamed values move to their places when they are committed.
 */
#include <string.h>

#include "core/cpu/cpu_run.h"

/* Values [begin, end) of the source; values points at the first of them. */
typedef struct source_part
{
	const void *values;
	uint64_t	begin;
	uint64_t	end;
} source_part;

/* Positions tested together for being all the same. */
#define SAME_POSITIONS 64

static uint64_t
positions_below(const mgpu_run *run, uint64_t limit)
{
	return mgpu_positions_below(run->binding.in_positions, run->job.num_b_items, limit);
}

/*
 * Number of inserted values with a place in the output below limit.  The place of
 * value i is its position + i.
 */
static uint64_t
inserted_below(const mgpu_run *run, uint64_t limit)
{
	const uint32_t *positions = run->binding.in_positions;
	uint64_t	begin = 0;
	uint64_t	end = run->job.num_b_items;

	MGPU_SEARCH(begin, end, positions[middle] + middle < limit);
	return begin;
}

/* Values that are copied together. */
#define AT_ONCE(type) (sizeof(type) <= 4 ? 16 : 64 / (int64_t) sizeof(type))

/*
 * Functions of one value width.  A run of at most AT_ONCE values is copied as
 * that many if they may be read and written; limit is the end of what may
 * be written.
 *
 * insert_... takes positions that are not before the source part.  inserted is NULL
 * to leave gaps.
 */
#define DEFINE_BULK(type) \
static inline type * \
copy_run_##type(type *out, const type *limit, const type *from, const type *from_end, uint64_t num_items) \
{ \
	if (num_items <= AT_ONCE(type) && from_end - from >= AT_ONCE(type) && limit - out >= AT_ONCE(type)) \
		memcpy(out, from, AT_ONCE(type) * sizeof(type)); \
	else \
		memcpy(out, from, num_items * sizeof(type)); \
	return out + num_items; \
} \
static void \
remove_##type(const source_part *part, const uint32_t *positions, uint64_t num_positions, type *out) \
{ \
	const type *from = part->values; \
	const type *from_end = from + (part->end - part->begin); \
	const type *limit = out + (part->end - part->begin - num_positions); \
	uint64_t	next = part->begin; \
	for (uint64_t i = 0; i < num_positions; i++) \
	{ \
		uint64_t	num_items = positions[i] - next; \
		out = copy_run_##type(out, limit, from, from_end, num_items); \
		from += num_items + 1; \
		next += num_items + 1; \
	} \
	if (from < from_end) \
		memcpy(out, from, (size_t) (from_end - from) * sizeof(type)); \
} \
static void \
insert_##type(const source_part *part, const uint32_t *positions, uint64_t num_positions, \
			  const type *inserted, type *out) \
{ \
	const type *from = part->values; \
	const type *from_end = from + (part->end - part->begin); \
	const type *limit = out + (part->end - part->begin + num_positions); \
	uint64_t	next = part->begin; \
	for (uint64_t i = 0; i < num_positions;) \
	{ \
		uint64_t	stop = num_positions - i < SAME_POSITIONS ? num_positions : i + SAME_POSITIONS; \
		if (positions[i] == next && positions[stop - 1] == next) \
		{ \
			if (inserted != NULL) \
				memcpy(out, inserted + i, (stop - i) * sizeof(type)); \
			out += stop - i; \
			i = stop; \
		} \
		for (; i < stop; i++) \
		{ \
			uint64_t	num_items = positions[i] - next; \
			out = copy_run_##type(out, limit, from, from_end, num_items); \
			if (inserted != NULL) \
				*out = inserted[i]; \
			out++; \
			from += num_items; \
			next += num_items; \
		} \
	} \
	if (from < from_end) \
		memcpy(out, from, (size_t) (from_end - from) * sizeof(type)); \
} \
static void \
fill_##type(const uint32_t *positions, const type *inserted, uint64_t begin, uint64_t end, type *out) \
{ \
	for (uint64_t i = begin; i < end; i++) \
		out[positions[i] + i] = inserted[i]; \
}

MGPU_FOR_WIDTHS(DEFINE_BULK)

static void
remove_part(const mgpu_run *run, const source_part *part)
{
	uint64_t	first = positions_below(run, part->begin);
	uint64_t	num_positions = positions_below(run, part->end) - first;
	const uint32_t *positions = run->binding.in_positions + first;
	void	   *out = (char *) run->binding.out_values + (part->begin - first) * run->job.value_width;

	MGPU_CALL_WIDTH(run->job.value_width, remove, part, positions, num_positions, out);
}

/* Write the part and inserted values [first, end), which belong before its end or at it. */
static void
insert_part(const mgpu_run *run, const source_part *part, uint64_t first, uint64_t end)
{
	uint32_t	width = run->job.value_width;
	const uint32_t *positions = run->binding.in_positions + first;
	const char *inserted = run->binding.in_b_values;
	void	   *out = (char *) run->binding.out_values + (part->begin + first) * width;

	/* streamed ones may not be in yet: fill_task puts them into their gaps */
	if (run->submitted)
		inserted = run->in[MGPU_CHANNEL_B_VALUES];
	if (inserted != NULL)
		inserted += first * width;
	MGPU_CALL_WIDTH(width, insert, part, positions, end - first, (const void *) inserted, out);
}

static void
remove_streamed(mgpu_run *run, const void *items, uint64_t begin, uint64_t num_items)
{
	source_part part = {items, begin, begin + num_items};

	remove_part(run, &part);
}

/* Values inserted at the end of a slot go with the next slot, except for the last slot. */
static void
insert_streamed(mgpu_run *run, const void *items, uint64_t begin, uint64_t num_items)
{
	source_part part = {items, begin, begin + num_items};

	insert_part(run, &part, positions_below(run, begin),
				part.end == run->job.num_items ? run->job.num_b_items : positions_below(run, part.end));
}

static void
remove_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	begin = task * run->pass_items;
	const char *values = run->in[MGPU_CHANNEL_VALUES];

	remove_streamed(run, values + begin * run->job.value_width, begin, mgpu_task_end(run, task) - begin);
}

/* Each task writes the same number of values. */
static void
insert_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	num_out = run->job.num_items + run->job.num_b_items;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = mgpu_min(begin + run->pass_items, num_out);
	uint64_t	first = inserted_below(run, begin);
	uint64_t	last = inserted_below(run, end);
	source_part part = {run->in[MGPU_CHANNEL_VALUES], begin - first, end - last};

	/* without values none is read, but memcpy needs an address */
	if (part.values == NULL)
		part.values = run->binding.out_values;
	else
		part.values = (const char *) part.values + part.begin * run->job.value_width;
	insert_part(run, &part, first, last);
}

/* Put inserted values into the gaps between streamed ones. */
static void
fill_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const uint32_t *positions = run->binding.in_positions;
	const void *inserted = run->in[MGPU_CHANNEL_B_VALUES];
	void	   *out = run->binding.out_values;
	uint64_t	begin = task * run->pass_items;
	uint64_t	end = mgpu_min(begin + run->pass_items, run->job.num_b_items);

	MGPU_CALL_WIDTH(run->job.value_width, fill, positions, inserted, begin, end, out);
}

static bool
are_values_streamed(const mgpu_run *run)
{
	return run->job.num_items > 0 && run->binding.in_values == NULL;
}

static bool
remove_advance(mgpu_run *run)
{
	if (run->step++ > 0 || are_values_streamed(run) || run->job.num_items == 0)
		return false;
	mgpu_begin_pass(run, remove_task, run->job.value_width);
	return true;
}

static bool
insert_advance(mgpu_run *run)
{
	if (run->step++ > 0)
		return false;
	run->pass_items = mgpu_pass_items(run, run->job.value_width);
	if (!are_values_streamed(run))
		mgpu_begin_phase(run, insert_task,
						 mgpu_num_tasks(run->job.num_items + run->job.num_b_items, run->pass_items));
	else if (run->binding.in_b_values == NULL && run->job.num_b_items > 0)
		mgpu_begin_phase(run, fill_task, mgpu_num_tasks(run->job.num_b_items, run->pass_items));
	else
		return false;
	return true;
}

const mgpu_strategy mgpu_strategy_remove = {
	.algorithm = MGPU_ALGORITHM_MERGE,
	.consume = remove_streamed,
	.advance = remove_advance,
};

const mgpu_strategy mgpu_strategy_insert = {
	.algorithm = MGPU_ALGORITHM_MERGE,
	.consume = insert_streamed,
	.advance = insert_advance,
};

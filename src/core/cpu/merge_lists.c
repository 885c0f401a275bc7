/*
 * merge_lists.c
 *		Strategy for merging two sorted inputs, keys alone or pairs.
 *
 * Merge Path cuts the output into tasks of equal size (cpu_merge_path.h).  A task
 * first checks that its parts of both lists, and the few items that its merge may
 * read behind them, are in order; this also brings them into cache.  Only if a task
 * finds disorder, or a path that leads backwards, do further tasks search for the
 * first such place.  A separate pass for the check was rejected: it reads all input
 * once more.
 *
 * Items move as they are stored, so floats keep their own bits, -0 and NaN
 * included.  Equal items keep their order, a's first.
 */
#include "core/cpu_merge_path.h"
#include "core/cpu/cpu_run.h"

/* Pairs merged at a time: their keys and indices are on the stack. */
#define BLOCK_ITEMS 4096

typedef struct lists_state
{
	mgpu_lists	lists;
	atomic_bool unsorted;
	_Atomic uint64_t first_unsorted;	/* position, plus IN_B in list b */
} lists_state;

#define IN_B (UINT64_C(1) << 32)

static bool
is_in_order(const mgpu_lists *lists, const void *list, uint64_t num_items, uint64_t begin, uint64_t end)
{
	end = mgpu_min(end + MGPU_MERGE_AHEAD, num_items);
	return mgpu_first_unsorted(&lists->codec, lists->vectors, list, begin, end) == end;
}

/* False if the lists turn out not to be sorted. */
static bool
find_cut(const mgpu_lists *lists, uint64_t begin, uint64_t end, mgpu_cut *cut)
{
	cut->begin = begin;
	cut->end = end;
	cut->a_begin = mgpu_merge_path(lists, begin);
	cut->a_end = mgpu_merge_path(lists, end);
	return cut->a_begin <= cut->a_end && begin - cut->a_begin <= end - cut->a_end &&
		is_in_order(lists, lists->a, lists->num_a, cut->a_begin, cut->a_end) &&
		is_in_order(lists, lists->b, lists->num_b, begin - cut->a_begin, end - cut->a_end);
}

#define DEFINE_SELECT(type) \
static void \
select_##type(const type *a, const type *b, uint64_t num_a, const uint32_t *indices, type *out, uint64_t num_items) \
{ \
	for (uint64_t i = 0; i < num_items; i++) \
	{ \
		uint64_t	is_b = mgpu_mask_of(indices[i] >= num_a); \
		const type *from = MGPU_SELECT_POINTER(type, a, b, is_b); \
		out[i] = from[indices[i] - (num_a & is_b)]; \
	} \
}

MGPU_FOR_WIDTHS(DEFINE_SELECT)

/* out[i] = value number indices[i] of a's values followed by b's. */
static void
select_values(const mgpu_run *run, const uint32_t *indices, uint64_t begin, uint64_t num_items)
{
	const void *a = run->in[MGPU_CHANNEL_VALUES];
	const void *b = run->in[MGPU_CHANNEL_B_VALUES];
	void	   *out = (char *) run->binding.out_values + begin * run->job.value_width;
	uint64_t	num_a = run->job.num_items;

	MGPU_CALL_WIDTH(run->job.value_width, select, a, b, num_a, indices, out, num_items);
}

static void
merge_pairs(const mgpu_run *run, const mgpu_lists *lists, mgpu_cut rest)
{
	mgpu_u128	key_block[BLOCK_ITEMS];
	uint32_t	index_block[BLOCK_ITEMS];

	while (rest.begin < rest.end)
	{
		mgpu_cut	cut = mgpu_cut_front(lists, &rest, BLOCK_ITEMS);
		void	   *keys = key_block;
		uint32_t   *indices = index_block;

		if (run->job.outputs & MGPU_OUT_KEYS)
			keys = mgpu_out_key_at(run, cut.begin);
		if (run->job.outputs & MGPU_OUT_INDICES)
			indices = run->binding.out_indices + cut.begin;
		mgpu_merge_cut(lists, &cut, keys, indices);
		if (run->job.outputs & MGPU_OUT_VALUES)
			select_values(run, indices, cut.begin, cut.end - cut.begin);
	}
}

static void
merge_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	lists_state *state = run->state;
	const mgpu_lists *lists = &state->lists;
	uint64_t	num_items = lists->num_a + lists->num_b;
	uint64_t	begin = task * run->tuning.merge_items;
	uint64_t	end = mgpu_min(begin + run->tuning.merge_items, num_items);
	mgpu_cut	cut;

	if (atomic_load(&state->unsorted))
		return;
	if (!find_cut(lists, begin, end, &cut))
		atomic_store(&state->unsorted, true);
	else if (run->job.op == MGPU_OP_MERGE_PAIRS)
		merge_pairs(run, lists, cut);
	else
		mgpu_merge_cut(lists, &cut, mgpu_out_key_at(run, begin), NULL);
}

/* The first tasks search list a, the others list b. */
static void
search_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	lists_state *state = run->state;
	const mgpu_lists *lists = &state->lists;
	uint64_t	num_a_tasks = mgpu_num_tasks(lists->num_a, run->tuning.merge_items);
	bool		is_b = task >= num_a_tasks;
	uint64_t	num_items = is_b ? lists->num_b : lists->num_a;
	uint64_t	begin = (is_b ? task - num_a_tasks : task) * run->tuning.merge_items;
	uint64_t	end = mgpu_min(begin + run->tuning.merge_items, num_items);
	uint64_t	found = mgpu_first_unsorted(&lists->codec, lists->vectors, is_b ? lists->b : lists->a, begin, end);
	uint64_t	first = atomic_load(&state->first_unsorted);

	if (found == end)
		return;
	found += is_b ? IN_B : 0;
	while (found < first && !atomic_compare_exchange_weak(&state->first_unsorted, &first, found))
		;
}

static void
start_lists(mgpu_run *run)
{
	lists_state *state = run->state;

	atomic_store(&state->first_unsorted, UINT64_MAX);
	state->lists.codec = run->codec;
	state->lists.vectors = run->tuning.vectors != 0;
	state->lists.a = run->in[MGPU_CHANNEL_KEYS];
	state->lists.b = run->in[MGPU_CHANNEL_B_KEYS];
	state->lists.num_a = run->job.num_items;
	state->lists.num_b = run->job.num_b_items;
}

static bool
lists_advance(mgpu_run *run)
{
	lists_state *state = run->state;
	uint64_t	first;

	switch (run->step++)
	{
		case 0:
			start_lists(run);
			mgpu_begin_phase(run, merge_task, mgpu_num_tasks(run->job.num_items + run->job.num_b_items,
															 run->tuning.merge_items));
			return true;
		case 1:
			if (!atomic_load(&state->unsorted))
				return false;
			mgpu_begin_phase(run, search_task, mgpu_num_tasks(run->job.num_items, run->tuning.merge_items) +
							 mgpu_num_tasks(run->job.num_b_items, run->tuning.merge_items));
			return true;
		default:
			first = atomic_load(&state->first_unsorted);
			mgpu_fail(&run->error, MGPU_NOT_SORTED, "input %s is not sorted at position %u",
					  first >= IN_B ? "b" : "a", (unsigned) first);
			return false;
	}
}

static void
lists_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	const lists_state *state = run->state;
	uint64_t	first = atomic_load(&state->first_unsorted);

	if (run->error.status != MGPU_NOT_SORTED)
		return;
	stats->unsorted_input = first >= IN_B;
	stats->unsorted_position = (uint32_t) first;
}

const mgpu_strategy mgpu_strategy_lists = {
	.algorithm = MGPU_ALGORITHM_MERGE,
	.state_bytes = sizeof(lists_state),
	.advance = lists_advance,
	.stats = lists_stats,
};

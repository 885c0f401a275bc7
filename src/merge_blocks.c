/*
 * merge_blocks.c
 *		Merges two sorted arrays block by block, by keys that are made as it goes.
 *
 * Keys of both arrays, and ranks, would take more memory than a call may.  But of
 * sorted arrays no more than the next stretch of each is needed: all of the block
 * that ends first in the order, and what of the other belongs before its end.  One
 * job merges that, and says which array each element comes from; then blocks are
 * filled up again.
 *
 * Rejected: cuts along the merge path, as for keys that lie in the arrays: each step
 * of the search would make two keys, and elements of variable width would have to be
 * found for it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array_result.h"
#include "merge_blocks.h"
#include "pgerror.h"

/* Sides set between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

void
merge_blocks_start(merge_blocks *merge, const merge_items *items, const sorted_input *input, int64 most_items,
				   run_series *series)
{
	const array_source *sources[] = {&input->a, &input->b};

	merge->items = items;
	merge->input = input;
	merge->series = series;
	for (int i = 0; i < 2; i++)
	{
		int64		num_items = sorted_input_present(sources[i]);

		/* one more for the last that was merged */
		merge->blocks[i] = (merge_block) {.num_items = num_items, .room = Min(num_items, most_items) + 1, .unsorted = -1};
	}
}

/* Raises for the array that merge_blocks_run says, one of which is known to be not sorted.  False: likewise. */
static bool
raise_unsorted(merge_blocks *merge)
{
	const array_source *sources[] = {&merge->input->a, &merge->input->b};
	merge_block *a = &merge->blocks[0];
	int			which;

	while (a->unsorted < 0 && a->num_read < a->num_items)
	{
		merge->items->shift(merge, 0, a->end - 1);
		a->begin = a->end = 1;
		if (!merge->items->read_on(merge, 0))
			return false;
		CHECK_FOR_INTERRUPTS();
	}
	which = a->unsorted >= 0 ? 0 : 1;
	mgpu_raise_not_sorted(which, sorted_input_first_subscript(sources[which], &merge->input->order) +
						  merge->blocks[which].unsorted);
}

/* Fills a block up, if that is worth moving what it still has.  False: likewise. */
static bool
fill(merge_blocks *merge, int which)
{
	merge_block *block = &merge->blocks[which];
	int64		merged = block->begin - 1;

	if (block->num_read == block->num_items || block->end - block->begin > block->room / 2)
		return true;
	if (merged > 0)
	{
		merge->items->shift(merge, which, merged);
		block->begin -= merged;
		block->end -= merged;
	}
	return merge->items->read_on(merge, which);
}

/* How many of a block's items come before those of the other that follow its last one, at most. */
static int64
count_before(const merge_blocks *merge, int which)
{
	const merge_block *block = &merge->blocks[which];
	int64		last = merge->blocks[1 - which].end - 1;
	int64		low = block->begin;
	int64		high = block->end;

	while (low < high)
	{
		int64		middle = low + (high - low) / 2;
		bool		before = which == 0 ? merge->items->compare(merge, middle, last) <= 0 :
			merge->items->compare(merge, last, middle) > 0;

		if (before)
			low = middle + 1;
		else
			high = middle;
	}
	return low - block->begin;
}

/* What can be merged for good: all of one block, and of the other what goes before what is still to be read. */
static void
cut(const merge_blocks *merge, int64 *num_a, int64 *num_b)
{
	const merge_block *a = &merge->blocks[0];
	const merge_block *b = &merge->blocks[1];
	bool		a_goes_on = a->num_read < a->num_items;
	bool		b_goes_on = b->num_read < b->num_items;

	*num_a = a->end - a->begin;
	*num_b = b->end - b->begin;
	if (a_goes_on && (!b_goes_on || merge->items->compare(merge, a->end - 1, b->end - 1) <= 0))
		*num_b = count_before(merge, 1);
	else if (b_goes_on)
		*num_a = count_before(merge, 0);
}

static bool
merge_all(merge_blocks *merge, uint8 *sides, int64 place, uint32 *ranks)
{
	merge_block *a = &merge->blocks[0];
	merge_block *b = &merge->blocks[1];
	int64		num_items = a->num_items + b->num_items;

	for (int64 merged = 0; merged < num_items;)
	{
		int64		num_a,
					num_b;

		if (!fill(merge, 0) || !fill(merge, 1) ||
			((a->unsorted >= 0 || b->unsorted >= 0) && !raise_unsorted(merge)))
			return false;
		cut(merge, &num_a, &num_b);
		merge->items->merge(merge, num_a, num_b, ranks);
		sorted_input_set_sides(sides, place + merged, ranks, num_a + num_b, num_a);
		a->begin += num_a;
		b->begin += num_b;
		merged += num_a + num_b;
	}
	return true;
}

bool
merge_blocks_run(merge_blocks *merge, uint8 *sides, int64 place)
{
	uint32	   *ranks = array_result_scratch((merge->blocks[0].room + merge->blocks[1].room) * sizeof(uint32));
	bool		done;

	run_series_restart(merge->series);
	done = merge_all(merge, sides, place, ranks);
	if (done)
		run_series_end(merge->series);
	pfree(ranks);
	return done;
}

void
merge_blocks_job(merge_blocks *merge, const void *a_keys, int64 num_a, const void *b_keys, int64 num_b,
				 uint32 key_kind, uint32 *ranks)
{
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = merge->input->function;
	request.job.op = MGPU_OP_MERGE_PAIRS;
	request.job.key_kind = key_kind;
	request.job.key_width = sizeof(uint64);
	request.job.outputs = MGPU_OUT_INDICES;
	request.job.descending = merge->input->order.descending;
	request.job.num_items = num_a;
	request.job.num_b_items = num_b;
	request.binding.in_keys = a_keys;
	request.binding.in_b_keys = b_keys;
	request.binding.out_indices = ranks;
	run_series_job(merge->series, &request);
}

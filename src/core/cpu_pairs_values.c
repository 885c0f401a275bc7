/*
 * cpu_pairs_values.c
 *		Pairs whose values move with their codes, and not by indices.
 *
 * The scatter brings values to their buckets in the result, and codes with them
 * to out_keys or memory of the run's own; when a bucket's codes are in order, its
 * values, which are in cache by then, follow.  That saves a gather from all over
 * the input, a quarter of the time.  Values that are narrower than an index go
 * this way always, since indices would take more than the result has room for:
 * where all codes at once would take too much memory, groups of buckets are
 * scattered and ordered one after another, each by a pass over the input.
 *
 * Wider values have indices where their codes do not fit: groups would read all of
 * the input once more for every ten million items.
 */
#include "cpu_pairs.h"

#include <string.h>

#include "order_codes.h"

#define BLOCK_ITEMS MGPU_PAIRS_BLOCK_ITEMS

bool
mgpu_pairs_next_group(mgpu_run *run)
{
	pairs_state *state = run->state;
	uint32_t	end = state->end_bucket;
	uint64_t	begin = state->begin[end];

	if (end == state->bounds.num_buckets)
		return false;
	state->first_bucket = end;
	state->group_begin = begin;
	for (end++; end < state->bounds.num_buckets && state->begin[end + 1] - begin <= state->carry_items;)
		end++;
	state->end_bucket = end;
	return true;
}

bool
mgpu_pairs_start_groups(mgpu_run *run, uint64_t room, mgpu_status *status, mgpu_error *err)
{
	pairs_state *state = run->state;
	uint64_t	largest = mgpu_largest_bucket(&state->bounds, state->begin);

	state->end_bucket = 0;
	state->carry_items = room / state->code_bytes;
	if (state->carry_items < largest)
		state->carry_items = largest;
	if (state->carry_items > run->job.num_items)
		state->carry_items = run->job.num_items;
	if ((run->job.outputs & MGPU_OUT_KEYS) != 0 && run->job.key_width >= 4)
	{
		state->carry_items = run->job.num_items;
		state->carry = run->binding.out_keys;
	}
	else if (!mgpu_buffer_allocate(&state->own_carry, state->carry_items * state->code_bytes, status, err))
		return false;
	else
		state->carry = state->own_carry.data;
	return mgpu_pairs_next_group(run);
}

/* Numbers of a block's items whose bucket is of the group. */
static uint32_t
find_members(const pairs_state *state, const uint16_t *buckets, uint32_t num_items, uint16_t *members)
{
	uint32_t	num_buckets = state->end_bucket - state->first_bucket;
	uint32_t	num_members = 0;

	for (uint32_t i = 0; i < num_items; i++)
	{
		members[num_members] = (uint16_t) i;
		num_members += buckets[i] - state->first_bucket < num_buckets;
	}
	return num_members;
}

/* to[places[i]] = from[members[i]]. */
#define DEFINE_SCATTER(type) \
static void \
scatter_##type(const type *from, const uint16_t *members, const uint32_t *places, uint32_t num_members, type *to) \
{ \
	for (uint32_t i = 0; i < num_members; i++) \
		to[places[i]] = from[members[i]]; \
}

DEFINE_SCATTER(uint8_t)
DEFINE_SCATTER(uint16_t)
DEFINE_SCATTER(uint32_t)
DEFINE_SCATTER(uint64_t)
DEFINE_SCATTER(mgpu_u128)

static void
scatter_values(const mgpu_run *run, uint64_t begin, const uint16_t *members, const uint32_t *places,
			   uint32_t num_members)
{
	const char *from = (const char *) run->in[MGPU_CHANNEL_VALUES] + begin * run->job.value_width;
	void	   *to = run->binding.out_values;

	switch (run->job.value_width)
	{
		case 0:
			break;				/* keys alone are wanted */
		case 1:
			scatter_uint8_t((const uint8_t *) from, members, places, num_members, to);
			break;
		case 2:
			scatter_uint16_t((const uint16_t *) from, members, places, num_members, to);
			break;
		case 4:
			scatter_uint32_t((const uint32_t *) from, members, places, num_members, to);
			break;
		case 8:
			scatter_uint64_t((const uint64_t *) from, members, places, num_members, to);
			break;
		default:
			scatter_mgpu_u128((const mgpu_u128 *) from, members, places, num_members, to);
	}
}

/* places count from the group's begin. */
static void
scatter_codes(const pairs_state *state, const mgpu_pairs_block *block, const uint16_t *members,
			  const uint32_t *places, uint32_t num_members)
{
	if (state->code_bytes == 4)
		for (uint32_t i = 0; i < num_members; i++)
			((uint32_t *) state->carry)[places[i]] = (uint32_t) block->codes.narrow[members[i]];
	else if (state->code_bytes == 8)
		scatter_uint64_t(block->codes.narrow, members, places, num_members, state->carry);
	else
		scatter_mgpu_u128(block->codes.wide, members, places, num_members, state->carry);
}

void
mgpu_pairs_scatter_values_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	pairs_state *state = run->state;
	uint32_t   *next = mgpu_chunk_row(&state->chunks, task);
	uint64_t	end = mgpu_chunk_end(&state->chunks, task);
	bool		codes = state->begin[state->end_bucket] - state->group_begin <= state->carry_items;
	uint16_t	members[BLOCK_ITEMS];
	mgpu_pairs_block block;

	(void) worker;
	for (uint64_t begin = task * state->chunks.chunk_items; begin < end; begin += BLOCK_ITEMS)
	{
		uint32_t	num_items = end - begin < BLOCK_ITEMS ? (uint32_t) (end - begin) : BLOCK_ITEMS;
		uint32_t	num_members;

		mgpu_pairs_load_block(run, begin, num_items, codes, &block);
		num_members = find_members(state, block.buckets, num_items, members);
		for (uint32_t i = 0; i < num_members; i++)
			block.places[i] = next[block.buckets[members[i]]]++;
		scatter_values(run, begin, members, block.places, num_members);
		if (!codes)
			continue;
		for (uint32_t i = 0; i < num_members; i++)
			block.places[i] -= (uint32_t) state->group_begin;
		scatter_codes(state, &block, members, block.places, num_members);
	}
}

void
mgpu_pairs_store_values(const mgpu_run *run, const uint64_t *packed, uint64_t begin, uint32_t num_items, void *copy)
{
	const pairs_state *state = run->state;
	uint32_t	width = run->job.value_width;
	void	   *values = (char *) run->binding.out_values + begin * width;
	const void *from = copy;
	uint64_t	mask = mgpu_order_mask(num_items);

	if (width == 0)
		return;
	if (state->is_direct)
		from = run->in[MGPU_CHANNEL_VALUES];
	else
		memcpy(copy, values, num_items * width);
	mgpu_gather_packed(from, width, packed, mask, values, num_items);
}

static void
copy_values_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint32_t	width = run->job.value_width;
	uint64_t	begin = task * run->pass_items;
	uint64_t	num_items = run->job.num_items - begin < run->pass_items ? run->job.num_items - begin : run->pass_items;
	uint64_t	to = run->pass_reversed ? run->job.num_items - begin - num_items : begin;
	char	   *values = (char *) run->binding.out_values + to * width;

	(void) worker;
	memcpy(values, (const char *) run->in[MGPU_CHANNEL_VALUES] + begin * width, num_items * width);
	if (run->pass_reversed)
		mgpu_reverse_items(values, width, num_items);
}

bool
mgpu_pairs_begin_copy_values(mgpu_run *run, bool reversed)
{
	if (run->job.value_width == 0)
		return false;
	run->pass_reversed = reversed;
	run->pass_items = mgpu_pass_items(run, run->job.value_width);
	mgpu_begin_phase(run, copy_values_task, mgpu_num_tasks(run->job.num_items, run->pass_items));
	return true;
}

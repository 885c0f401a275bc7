/*
 * position_args.c
 *		int[] arguments that hold positions of another array's elements.
 *
 * They come in any order; executors want them ascending, so those that are not
 * are sorted by the same means as everything else.  A stored array is read to where
 * its positions are wanted, and read again for a sort, rather than kept beside them.
 * Beside one that is in memory there is no room for many positions: where each counts
 * once they are bits, which need no sort; where they are in order they are made of
 * the array, some at a time.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "array_result.h"
#include "compat.h"
#include "null_map.h"
#include "pgerror.h"
#include "position_args.h"
#include "run.h"
#include "sort_args.h"

/* Positions read at a time, and between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* More positions of an array in memory would be too many beside it. */
#define MOST_LIST_ITEMS (12 * 1024 * 1024)

/* Positions of a block. */
#define BLOCK_ITEMS (4 * 1024 * 1024)

static int64
first_null(const array_source *source)
{
	int64		i = 0;

	while (null_bitmap_present(source->null_bitmap, i))
		i++;
	return source->lower_bounds[0] + i;
}

static uint32 *
allocate_positions(int64 num_positions)
{
	/* array_source_read wants four bytes in front */
	uint32	   *room = array_result_scratch((num_positions + 1) * sizeof(uint32));

	room[0] = 0;
	return room + 1;
}

/* A run_read_fn: positions from the array of subscripts. */
static void
read_positions(void *context, Size offset, Size bytes, void *dest)
{
	position_list *list = context;
	uint32	   *positions = dest;

	array_source_read(&list->source, offset, bytes, dest);
	for (Size i = 0; i < bytes / sizeof(uint32); i++)
		positions[i] = (uint32) ((int32) positions[i] - list->first);
}

void
position_list_open(position_list *list, Datum subscripts, const char *what, int64 first, int64 last)
{
	array_source *source = &list->source;

	array_source_open(source, subscripts);
	check_one_dimensional(source);
	if (source->num_nulls > 0)
		mgpu_raise_null_element(what, first_null(source));
	list->positions = NULL;
	list->cpu_reason = NULL;
	list->num_positions = source->num_items;
	list->first = first;
	list->last = last;
	list->is_large = source->num_items > MOST_LIST_ITEMS && !array_source_is_streamed(source);
}

static void
check_subscripts(const position_list *list, const int32 *subscripts, int64 num_items)
{
	for (int64 i = 0; i < num_items; i++)
		if (subscripts[i] < list->first || subscripts[i] > list->last)
			mgpu_raise_position(subscripts[i], list->first, list->last);
}

void
position_list_read(position_list *list)
{
	array_source *source = &list->source;

	list->positions = allocate_positions(source->num_items);
	for (int64 begin = 0; begin < source->num_items; begin += STEP_ITEMS)
	{
		int64		end = Min(source->num_items, begin + STEP_ITEMS);
		int32	   *items = (int32 *) list->positions;

		array_source_read(source, begin * sizeof(int32), (end - begin) * sizeof(int32), items + begin);
		check_subscripts(list, items + begin, end - begin);
		for (int64 i = begin; i < end; i++)
			items[i] = (int32) (items[i] - list->first);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Those of an array in memory. */
static const int32 *
subscripts_of(const position_list *list)
{
	array_source_require(&list->source, list->num_positions * sizeof(int32));
	return (const int32 *) array_source_data(&list->source);
}

void
position_list_to_bits(position_list *list, position_bits *bits, bool strict)
{
	int32	   *subscripts = (int32 *) allocate_positions(STEP_ITEMS);
	int64		previous = list->first - 1;

	position_bits_start(bits, list->last - list->first + 1);
	for (int64 begin = 0; begin < list->num_positions; begin += STEP_ITEMS)
	{
		int64		count = Min(list->num_positions - begin, STEP_ITEMS);

		array_source_read(&list->source, begin * sizeof(int32), count * sizeof(int32), subscripts);
		check_subscripts(list, subscripts, count);
		for (int64 i = 0; i < count; i++)
		{
			if (strict && subscripts[i] <= previous)
				mgpu_raise_heads_order(subscripts[i], previous);
			previous = subscripts[i];
			position_bits_add(bits, subscripts[i] - list->first);
		}
		CHECK_FOR_INTERRUPTS();
	}
	pfree(subscripts - 1);
}

bool
position_list_check(const position_list *list)
{
	const int32 *subscripts = subscripts_of(list);
	bool		ascending = true;

	for (int64 begin = 0; begin < list->num_positions; begin += STEP_ITEMS)
	{
		int64		end = Min(list->num_positions, begin + STEP_ITEMS);

		check_subscripts(list, subscripts + begin, end - begin);
		for (int64 i = Max(begin, 1); i < end; i++)
			ascending &= subscripts[i - 1] <= subscripts[i];
		CHECK_FOR_INTERRUPTS();
	}
	return ascending;
}

void
position_list_close(position_list *list)
{
	array_source_close(&list->source);
}

bool
position_list_is_ascending(const position_list *list, bool unique)
{
	for (int64 i = 1; i < list->num_positions; i++)
		if (list->positions[i - 1] > list->positions[i] ||
			(unique && list->positions[i - 1] == list->positions[i]))
			return false;
	return true;
}

/* In the order of the subscripts they are read from. */
static void
describe_sort(run_request *request, const char *function, position_list *list)
{
	memset(request, 0, sizeof(*request));
	request->function = function;
	request->job.op = MGPU_OP_SORT;
	request->job.key_kind = MGPU_KEY_UNSIGNED;
	request->job.key_width = sizeof(uint32);
	request->job.outputs = MGPU_OUT_KEYS;
	request->job.num_items = list->num_positions;
	request->readers[MGPU_CHANNEL_KEYS].read = read_positions;
	request->readers[MGPU_CHANNEL_KEYS].context = list;
	request->binding.out_keys = list->positions;
}

/* What follows asks no GPU that could not do this. */
static void
run_sort(run_request *request, position_list *list)
{
	run_job(request);
	if (run_last.gpu_gave_up)
		list->cpu_reason = pstrdup(run_last.reason);
}

void
position_list_make_unique(position_list *list, const char *function)
{
	int64		kept = 0;

	if (list->num_positions * sizeof(uint32) <= MGPU_CPU_NOW_KEYS_BYTES)
		mgpu_cpu_sort_keys_now(list->positions, list->num_positions, MGPU_KEY_UNSIGNED,
							   sizeof(uint32), 0);
	else
	{
		run_request request;

		describe_sort(&request, function, list);
		run_sort(&request, list);
	}
	for (int64 i = 0; i < list->num_positions; i++)
	{
		if (i == 0 || list->positions[i] != list->positions[i - 1])
			list->positions[kept++] = list->positions[i];
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	list->num_positions = kept;
}

void
position_list_sort(position_list *list, const char *function, int32 *order)
{
	run_request request;

	if (list->num_positions <= MGPU_CPU_NOW_PAIRS)
	{
		uint32		unsorted[MGPU_CPU_NOW_PAIRS];

		memcpy(unsorted, list->positions, list->num_positions * sizeof(uint32));
		mgpu_cpu_argsort_now(unsorted, (uint32 *) order, list->num_positions,
							 MGPU_KEY_UNSIGNED, sizeof(uint32), 0);
		for (int64 i = 0; i < list->num_positions; i++)
			list->positions[i] = unsorted[order[i]];
		return;
	}
	describe_sort(&request, function, list);
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES;
	request.binding.out_indices = (uint32 *) order;
	run_sort(&request, list);
}

void
position_blocks_start(position_blocks *blocks, const position_list *list, const position_bits *bits)
{
	memset(blocks, 0, sizeof(*blocks));
	blocks->list = list;
	blocks->bits = bits;
	blocks->total = bits ? position_bits_count(bits) : list->num_positions;
	if (list->positions == NULL)
		blocks->buffer = array_result_scratch(Min(blocks->total, BLOCK_ITEMS) * sizeof(uint32));
}

void
position_blocks_rewind(position_blocks *blocks)
{
	blocks->next = 0;
	blocks->num_before = 0;
	blocks->num_positions = 0;
}

/* Positions of the array from next on. */
static int64
read_block(position_blocks *blocks)
{
	const int32 *subscripts = subscripts_of(blocks->list) + blocks->next;
	int64		count = Min(blocks->total - blocks->next, BLOCK_ITEMS);

	for (int64 i = 0; i < count; i++)
		blocks->buffer[i] = (uint32) (subscripts[i] - blocks->list->first);
	blocks->next += count;
	return count;
}

bool
position_blocks_next(position_blocks *blocks)
{
	CHECK_FOR_INTERRUPTS();
	blocks->num_before += blocks->num_positions;
	if (blocks->num_before == blocks->total)
		return false;
	blocks->positions = blocks->buffer;
	if (blocks->buffer == NULL)
	{
		blocks->positions = blocks->list->positions;
		blocks->num_positions = blocks->total;
	}
	else if (blocks->bits)
		blocks->num_positions = position_bits_list(blocks->bits, &blocks->next, blocks->buffer, BLOCK_ITEMS);
	else
		blocks->num_positions = read_block(blocks);
	return true;
}

void
position_blocks_end(position_blocks *blocks)
{
	if (blocks->buffer)
		pfree(blocks->buffer);
}

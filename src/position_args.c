/*
 * position_args.c
 *		int[] arguments that hold positions of another array's elements.
 *
 * They come in any order; executors want them ascending, so those that are not
 * are sorted by the same means as everything else.  A stored array is read to where
 * its positions are wanted, and read again for a sort, rather than kept beside them.
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
position_list_read(position_list *list, Datum subscripts, const char *what,
				   int64 first, int64 last)
{
	array_source *source = &list->source;

	array_source_open(source, subscripts);
	check_one_dimensional(source);
	if (source->num_nulls > 0)
		mgpu_raise_null_element(what, first_null(source));
	list->first = first;
	list->num_positions = source->num_items;
	list->positions = allocate_positions(source->num_items);
	for (int64 begin = 0; begin < source->num_items; begin += STEP_ITEMS)
	{
		int64		end = Min(source->num_items, begin + STEP_ITEMS);
		int32	   *items = (int32 *) list->positions;

		array_source_read(source, begin * sizeof(int32), (end - begin) * sizeof(int32), items + begin);
		for (int64 i = begin; i < end; i++)
		{
			if (items[i] < first || items[i] > last)
				mgpu_raise_position(items[i], first, last);
			items[i] = (int32) (items[i] - first);
		}
		CHECK_FOR_INTERRUPTS();
	}
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
		run_job(&request);
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
	run_job(&request);
}

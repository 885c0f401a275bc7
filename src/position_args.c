/*
 * position_args.c
 *		int[] arguments that hold positions of another array's elements.
 *
 * They come in any order; executors want them ascending, so those that are not
 * are sorted by the same means as everything else.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "null_map.h"
#include "pgerror.h"
#include "position_args.h"
#include "run.h"
#include "sort_args.h"

/* Positions read between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

static int64
first_null(const array_source *source)
{
	int64		i = 0;

	while (null_bitmap_present(source->null_bitmap, i))
		i++;
	return source->lower_bounds[0] + i;
}

void
position_list_read(position_list *list, Datum subscripts, const char *what,
				   int64 first, int64 last)
{
	array_source source;
	const int32 *items;

	array_source_open(&source, subscripts);
	check_one_dimensional(&source);
	if (source.num_nulls > 0)
		mgpu_raise_null_element(what, first_null(&source));
	array_source_load(&source);
	list->num_positions = source.num_items;
	list->positions = palloc_extended((source.num_items + 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	items = (const int32 *) array_source_data(&source);
	for (int64 i = 0; i < source.num_items; i++)
	{
		if (items[i] < first || items[i] > last)
			mgpu_raise_position(items[i], first, last);
		list->positions[i] = (uint32) (items[i] - first);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	array_source_close(&source);
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

static void
describe_sort(run_request *request, const char *function, const position_list *list,
			  const uint32 *unsorted)
{
	memset(request, 0, sizeof(*request));
	request->function = function;
	request->job.op = MGPU_OP_SORT;
	request->job.key_kind = MGPU_KEY_UNSIGNED;
	request->job.key_width = sizeof(uint32);
	request->job.outputs = MGPU_OUT_KEYS;
	request->job.num_items = list->num_positions;
	request->binding.in_keys = unsorted;
	request->binding.out_keys = list->positions;
}

static uint32 *
copy_positions(const position_list *list)
{
	Size		bytes = list->num_positions * sizeof(uint32);

	return memcpy(palloc_extended(bytes, MCXT_ALLOC_HUGE), list->positions, bytes);
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
		uint32	   *unsorted = copy_positions(list);
		run_request request;

		describe_sort(&request, function, list, unsorted);
		run_job(&request);
		pfree(unsorted);
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
	uint32	   *unsorted = copy_positions(list);

	if (list->num_positions <= MGPU_CPU_NOW_PAIRS)
	{
		mgpu_cpu_argsort_now(unsorted, (uint32 *) order, list->num_positions,
							 MGPU_KEY_UNSIGNED, sizeof(uint32), 0);
		for (int64 i = 0; i < list->num_positions; i++)
			list->positions[i] = unsorted[order[i]];
	}
	else
	{
		run_request request;

		describe_sort(&request, function, list, unsorted);
		request.job.op = MGPU_OP_SORT_PAIRS;
		request.job.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES;
		request.binding.out_indices = (uint32 *) order;
		run_job(&request);
	}
	pfree(unsorted);
}

/*
 * position_list.c
 *		int[] arguments that hold positions of another array's elements.
 *
 * Positions come in any order.  Executors want them ascending, so unordered ones are sorted by
 * the same code as other keys.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "array/null_map.h"
#include "array/array_result.h"
#include "order/position_list.h"
#include "pgerror.h"
#include "run/run_job.h"

/* Positions handled between checks for interrupts. */
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
position_list_open(position_list *list, Datum subscripts, const char *what, int64 first, int64 last)
{
	array_source *source = &list->source;

	array_source_open_vector(source, subscripts);
	if (source->num_nulls > 0)
		mgpu_raise_null_element(what, first_null(source));
	list->positions = NULL;
	list->cpu_reason = NULL;
	list->num_positions = source->num_items;
	list->first = first;
	list->last = last;
}

static uint32 *
allocate_positions(int64 num_positions)
{
	/* array_source_read needs four bytes in front of its destination */
	uint32	   *space = array_result_scratch((num_positions + 1) * sizeof(uint32));

	space[0] = 0;
	return space + 1;
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
	int32	   *items;

	list->positions = allocate_positions(list->num_positions);
	items = (int32 *) list->positions;
	for (int64 begin = 0; begin < list->num_positions; begin += STEP_ITEMS)
	{
		int64		end = Min(list->num_positions, begin + STEP_ITEMS);

		array_source_read(&list->source, begin * sizeof(int32), (end - begin) * sizeof(int32), items + begin);
		check_subscripts(list, items + begin, end - begin);
		for (int64 i = begin; i < end; i++)
			items[i] = (int32) (items[i] - list->first);
		CHECK_FOR_INTERRUPTS();
	}
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

/* Sort by a job into sorted.  order is NULL, or gets the former index of each position. */
static void
run_sort(position_list *list, const char *function, uint32 *sorted, int32 *order)
{
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = function;
	request.job.op = order ? MGPU_OP_SORT_PAIRS : MGPU_OP_SORT;
	request.job.key_kind = MGPU_KEY_UNSIGNED;
	request.job.key_width = sizeof(uint32);
	request.job.outputs = order ? MGPU_OUT_KEYS | MGPU_OUT_INDICES : MGPU_OUT_KEYS;
	request.job.num_items = list->num_positions;
	request.binding.in_keys = list->positions;
	request.binding.out_keys = sorted;
	request.binding.out_indices = (uint32 *) order;
	run_job(&request);
	/* later jobs of this call do not try the GPU again */
	if (run_last.gpu_gave_up)
		list->cpu_reason = pstrdup(run_last.reason);
}

void
position_list_sort(position_list *list, const char *function, int32 *order)
{
	int64		num_positions = list->num_positions;
	uint32	   *sorted = allocate_positions(num_positions);

	if (order && num_positions <= MGPU_CPU_NOW_PAIRS)
	{
		mgpu_cpu_argsort_now(list->positions, (uint32 *) order, num_positions, MGPU_KEY_UNSIGNED, sizeof(uint32), 0);
		for (int64 i = 0; i < num_positions; i++)
			sorted[i] = list->positions[order[i]];
	}
	else if (order == NULL && num_positions * sizeof(uint32) <= MGPU_CPU_NOW_KEYS_BYTES)
	{
		memcpy(sorted, list->positions, num_positions * sizeof(uint32));
		mgpu_cpu_sort_keys_now(sorted, num_positions, MGPU_KEY_UNSIGNED, sizeof(uint32), 0);
	}
	else
		run_sort(list, function, sorted, order);
	pfree(list->positions - 1);
	list->positions = sorted;
}

void
position_list_make_unique(position_list *list, const char *function)
{
	int64		kept = 0;

	position_list_sort(list, function, NULL);
	for (int64 i = 0; i < list->num_positions; i++)
	{
		if (i == 0 || list->positions[i] != list->positions[i - 1])
			list->positions[kept++] = list->positions[i];
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	list->num_positions = kept;
}

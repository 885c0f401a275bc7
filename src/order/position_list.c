/*
 * position_list.c
 *		int[] arguments that hold positions of another array's elements.
 *
 * Positions come in any order.  Executors want them ascending, so unordered ones are sorted by
 * the same code as other keys.
 */
#include "postgres.h"

#include "miscadmin.h"

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

void
position_list_sort(position_list *list, const char *function, int32 *order, run_record *record)
{
	uint32	   *sorted = allocate_positions(list->num_positions);
	run_request request = {
		.function = function,
		.record = record,
		.job = {
			.op = order ? MGPU_OP_SORT_PAIRS : MGPU_OP_SORT,
			.key_kind = MGPU_KEY_UNSIGNED,
			.key_width = sizeof(uint32),
			.outputs = order ? MGPU_OUT_KEYS | MGPU_OUT_INDICES : MGPU_OUT_KEYS,
			.num_items = list->num_positions
		},
		.binding = {
			.in_keys = list->positions,
			.out_keys = sorted,
			.out_indices = (uint32 *) order
		}
	};

	run_job(&request);
	pfree(list->positions - 1);
	list->positions = sorted;
}

void
position_list_make_unique(position_list *list, const char *function, run_record *record)
{
	int64		kept = 0;

	position_list_sort(list, function, NULL, record);
	for (int64 i = 0; i < list->num_positions; i++)
	{
		if (i == 0 || list->positions[i] != list->positions[i - 1])
			list->positions[kept++] = list->positions[i];
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	list->num_positions = kept;
}

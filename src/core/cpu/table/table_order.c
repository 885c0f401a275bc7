/*
 * table_order.c
 *		Rows in the order of their sort keys, and which of them a limit leaves.
 *
 * A sort key ends in the row's number, so equal rows stay as they were read.  All keys are sorted by all threads (table_sorts.c);
 * then tasks take ranges of them, and sort what is equal so far by the next level.
 */
#include "core/cpu/table/table.h"

#include <stdlib.h>

#include "core/unsigned_sort.h"

/* ---- keys */

bool
mgpu_table_make_keys(mgpu_table_order *order)
{
	order->keys = mgpu_table_allocate(order->num_rows * order->width);
	order->rows = mgpu_table_allocate(order->num_rows * sizeof(uint32_t));
	order->marks = mgpu_table_allocate(order->num_rows);
	return order->keys != NULL && order->rows != NULL && order->marks != NULL;
}

bool
mgpu_table_plan_order(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;

	if (!mgpu_table_list_batches(run) || !mgpu_table_number_rows(order))
		return false;
	mgpu_table_plan_fields(run);
	order->has_parts = atomic_load(&run->file_bytes) > 0;
	return order->has_parts || mgpu_table_make_keys(order);
}

/* They come back as they are numbered. */
bool
mgpu_table_plan_pass(mgpu_run *run)
{
	if (!mgpu_table_list_batches(run) || !mgpu_table_number_rows(&run->order))
		return false;
	run->result.num_returned = run->order.num_rows;
	run->result.num_groups = run->order.num_rows > 0;
	return true;
}

void
mgpu_table_free_order(mgpu_table_order *order)
{
	free(order->batches);
	free(order->hints);
	free(order->keys);
	free(order->sorted);
	free(order->rows);
	free(order->marks);
	order->batches = NULL;
	order->hints = order->rows = NULL;
	order->keys = order->sorted = NULL;
	order->marks = NULL;
}

/* Keys of 16 bytes are sorted as bytes: the highest first. */
void
mgpu_table_pack(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_order *order = &run->order;
	const mgpu_table_batch *batch = order->batches[task];
	uint64_t   *keys = (uint64_t *) order->keys + batch->first_row * (order->width / 8);

	for (uint64_t i = 0; i < batch->rows.num_rows; i++)
	{
		mgpu_u128	key = mgpu_table_add_number(order, mgpu_table_sort_key(order, 0, &batch->rows, i), batch->first_row + i);

		if (order->width == 8)
			*keys++ = (uint64_t) key;
		else
		{
			*keys++ = mgpu_swap_64((uint64_t) (key >> 64));
			*keys++ = mgpu_swap_64((uint64_t) key);
		}
	}
}

static mgpu_u128
sorted_key(const mgpu_table_order *order, uint64_t place)
{
	const uint64_t *keys = order->sorted;

	if (order->width == 8)
		return keys[place];
	return (mgpu_u128) mgpu_swap_64(keys[2 * place]) << 64 | mgpu_swap_64(keys[2 * place + 1]);
}

static uint32_t
row_of_key(const mgpu_table_order *order, mgpu_u128 key)
{
	return (uint32_t) ((uint64_t) key & ((UINT64_C(1) << order->row_bits) - 1));
}

/* Without the row's number. */
static mgpu_u128
key_alone(const mgpu_table_order *order, mgpu_u128 key)
{
	return key >> order->row_bits;
}

static mgpu_u128
key_of_row(const mgpu_table_order *order, uint32_t level, uint64_t row)
{
	const mgpu_table_batch *batch = mgpu_table_batch_of(order, row);

	return mgpu_table_sort_key(order, level, &batch->rows, row - batch->first_row);
}

/* ---- levels */

uint64_t
mgpu_table_row_tasks(const mgpu_run *run)
{
	return (run->order.num_rows + mgpu_table_step_rows() - 1) / mgpu_table_step_rows();
}

/* Sort rows that are equal in the levels before.  false: out of memory. */
static bool
sort_equal(const mgpu_table_order *order, uint32_t level, uint32_t *rows, uint64_t num_rows)
{
	mgpu_u128  *keys;
	uint64_t	begin = 0;
	bool		sorted = true;

	if (level == order->num_levels || num_rows == 1)
		return true;
	keys = mgpu_table_allocate(num_rows * sizeof(*keys));
	if (keys == NULL)
		return false;
	for (uint64_t i = 0; i < num_rows; i++)
		keys[i] = mgpu_table_add_number(order, key_of_row(order, level, rows[i]), rows[i]);
	mgpu_sort_unsigned(keys, num_rows, sizeof(*keys), NULL);
	for (uint64_t i = 0; i < num_rows; i++)
		rows[i] = row_of_key(order, keys[i]);
	for (uint64_t i = 1; sorted && i <= num_rows; i++)
	{
		if (i < num_rows && key_alone(order, keys[i]) == key_alone(order, keys[begin]))
			continue;
		sorted = sort_equal(order, level + 1, rows + begin, i - begin);
		begin = i;
	}
	free(keys);
	return sorted;
}

static bool
begins_run(const mgpu_table_order *order, uint64_t place)
{
	return place == 0 || key_alone(order, sorted_key(order, place - 1)) != key_alone(order, sorted_key(order, place));
}

/* Rows of a range that begin a run of equal keys, with all of that run. */
void
mgpu_table_refine(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_table_order *order = &run->order;
	uint64_t	place = task * mgpu_table_step_rows();
	uint64_t	range_end = mgpu_table_least(order->num_rows, place + mgpu_table_step_rows());

	for (; order->num_levels == 1 && place < range_end; place++)
		order->rows[place] = row_of_key(order, sorted_key(order, place));
	while (place < range_end && !begins_run(order, place))
		place++;
	while (place < range_end && mgpu_table_goes_on(run))
	{
		uint64_t	begin = place;

		do
		{
			order->rows[place] = row_of_key(order, sorted_key(order, place));
			place++;
		} while (place < order->num_rows && !begins_run(order, place));
		if (!sort_equal(order, 1, order->rows + begin, place - begin))
			mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	}
}

/* ---- marks and limits */

/* Of a level: the key of the row at a place, without its number. */
static mgpu_u128
key_at(const mgpu_table_order *order, uint32_t level, uint64_t place)
{
	return level == 0 ? key_alone(order, sorted_key(order, place)) : key_of_row(order, level, order->rows[place]);
}

void
mgpu_table_keep_last(mgpu_table_order *order)
{
	order->has_last = true;
	for (uint32_t level = 0; level < order->num_levels; level++)
		order->last_keys[level] = key_at(order, level, order->num_rows - 1);
}

static uint8_t
marks_of(const mgpu_table_order *order, uint64_t place)
{
	if (place == 0 && !order->has_last)
		return MGPU_TABLE_STARTS | MGPU_TABLE_DIFFERS;
	for (uint32_t level = 0; level < order->num_levels; level++)
	{
		mgpu_u128	before = place == 0 ? order->last_keys[level] : key_at(order, level, place - 1);
		mgpu_u128	differing = before ^ key_at(order, level, place);

		if (differing != 0)
			return mgpu_bit_length(differing) > order->levels[level].order_bits ?
				MGPU_TABLE_STARTS | MGPU_TABLE_DIFFERS : MGPU_TABLE_DIFFERS;
	}
	return 0;
}

void
mgpu_table_mark(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	uint64_t	end = mgpu_table_least(run->order.num_rows, (task + 1) * mgpu_table_step_rows());

	for (uint64_t place = task * mgpu_table_step_rows(); place < end; place++)
		run->order.marks[place] = marks_of(&run->order, place);
}

static void
count_row(uint64_t *numbers, uint8_t marks)
{
	if ((marks & MGPU_TABLE_STARTS) != 0)
		numbers[MGPU_LIMIT_ROWS] = numbers[MGPU_LIMIT_DENSE_RANKS] = 0;
	numbers[MGPU_LIMIT_ROWS]++;
	if ((marks & MGPU_TABLE_DIFFERS) == 0)
		return;
	numbers[MGPU_LIMIT_RANKS] = numbers[MGPU_LIMIT_ROWS];
	numbers[MGPU_LIMIT_DENSE_RANKS]++;
}

bool
mgpu_table_select(mgpu_run *run)
{
	mgpu_table_order *order = &run->order;
	uint64_t	end = mgpu_table_least(order->num_rows, order->num_selected + mgpu_cpu_tunables.table_task_rows);

	for (uint64_t place = order->num_selected; place < end; place++)
	{
		uint8_t		marks = order->marks[place];

		run->result.num_groups += marks & MGPU_TABLE_STARTS;
		count_row(order->numbers, marks);
		if (order->numbers[run->spec.limit_rule] > run->spec.limit)
			continue;
		order->rows[order->num_left] = order->rows[place];
		order->marks[order->num_left++] = marks;
	}
	order->num_selected = end;
	if (end < order->num_rows)
		return false;
	run->result.num_returned += order->num_left;
	return true;
}

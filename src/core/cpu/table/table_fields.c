/*
 * table_fields.c
 *		Rows as sort keys: the bits of their keys and order columns, one behind the other.
 *
 * A column takes as many bits as its codes differ in, and one more if it has NULLs.  What fits 64 bits together with a row's number is
 * one sort of such words; else as much as fits 128 bits is a level, and rows that are equal in one are sorted by the next.
 */
#include "core/cpu/table/table.h"

/* How far a column's codes go. */
typedef struct column_range
{
	uint64_t	least;
	uint64_t	greatest;
	bool		has_nulls;
} column_range;

static column_range
range_of(const mgpu_run *run, uint32_t column)
{
	column_range range = {UINT64_MAX, 0, false};

	for (int i = 0; i < run->num_workers; i++)
	{
		const mgpu_table_worker *worker = &run->workers[i];

		range.least = worker->least[column] < range.least ? worker->least[column] : range.least;
		range.greatest = worker->greatest[column] > range.greatest ? worker->greatest[column] : range.greatest;
		range.has_nulls |= (worker->all_nulls >> column & 1) != 0;
	}
	if (range.least > range.greatest)
		range.least = range.greatest = 0;	/* NULLs alone */
	return range;
}

static void
add_column(mgpu_run *run, const mgpu_group_order *by, uint32_t *seen)
{
	mgpu_table_order *order = &run->order;
	column_range range = range_of(run, by->column);
	mgpu_table_field field = {.column = (uint8_t) by->column};

	/* a column that is there already tells no more */
	if ((*seen >> by->column & 1) != 0)
		return;
	*seen |= UINT32_C(1) << by->column;
	if (range.has_nulls)
	{
		field.is_null_flag = 1;
		field.bits = 1;
		field.is_flipped = by->nulls_first != 0;
		order->fields[order->num_fields++] = field;
	}
	field.is_null_flag = 0;
	field.bits = (uint8_t) mgpu_bit_length(range.greatest - range.least);
	field.is_flipped = by->descending != 0;
	field.base = field.is_flipped ? range.greatest : range.least;
	if (field.bits > 0)
		order->fields[order->num_fields++] = field;
}

/* Cut a field so that its first part has so many bits; the parts behind it move. */
static void
cut_field(mgpu_table_order *order, uint32_t number, uint32_t bits)
{
	for (uint32_t i = order->num_fields++; i > number; i--)
		order->fields[i] = order->fields[i - 1];
	order->num_key_fields += number < order->num_key_fields;
	order->fields[number].shift = (uint8_t) (order->fields[number].bits - bits);
	order->fields[number].bits = (uint8_t) bits;
	order->fields[number + 1].bits = (uint8_t) (order->fields[number + 1].bits - bits);
}

static uint32_t
all_bits(const mgpu_table_order *order)
{
	uint32_t	bits = 0;

	for (uint32_t i = 0; i < order->num_fields; i++)
		bits += order->fields[i].bits;
	return bits;
}

/* Fill levels with fields.  There is one at least. */
static void
plan_levels(mgpu_table_order *order)
{
	uint32_t	capacity;
	uint32_t	next = 0;

	order->row_bits = order->num_rows > 0 ? mgpu_bit_length(order->num_rows - 1) : 0;
	order->width = all_bits(order) + order->row_bits <= 64 ? 8 : 16;
	capacity = order->width * 8 - order->row_bits;
	do
	{
		mgpu_table_level *level = &order->levels[order->num_levels++];

		level->begin = next;
		for (; next < order->num_fields && level->bits < capacity; next++)
		{
			if (order->fields[next].bits > capacity - level->bits)
				cut_field(order, next, capacity - level->bits);
			level->bits += order->fields[next].bits;
			level->order_bits += next >= order->num_key_fields ? order->fields[next].bits : 0;
		}
		level->end = next;
	} while (next < order->num_fields);
}

void
mgpu_table_plan_fields(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;
	uint32_t	seen = 0;

	for (uint32_t i = 0; i < spec->num_keys; i++)
	{
		mgpu_group_order by = {.column = spec->keys[i]};

		add_column(run, &by, &seen);
	}
	run->order.num_key_fields = run->order.num_fields;
	for (uint32_t i = 0; i < spec->num_orders; i++)
		add_column(run, &spec->orders[i], &seen);
	plan_levels(&run->order);
}

static uint64_t
bits_of(const mgpu_table_field *field, const mgpu_table_rows *rows, uint64_t row)
{
	bool		is_null = (rows->nulls[row] >> field->column & 1) != 0;
	uint64_t	code = rows->codes[field->column][row];

	if (field->is_null_flag)
		return is_null != (field->is_flipped != 0);
	if (is_null)
		return 0;
	code = field->is_flipped ? field->base - code : code - field->base;
	return code >> field->shift & (UINT64_MAX >> (64 - field->bits));
}

mgpu_u128
mgpu_table_sort_key(const mgpu_table_order *order, uint32_t level, const mgpu_table_rows *rows, uint64_t row)
{
	mgpu_u128	key = 0;

	for (uint32_t i = order->levels[level].begin; i < order->levels[level].end; i++)
		key = key << order->fields[i].bits | bits_of(&order->fields[i], rows, row);
	return key;
}

mgpu_u128
mgpu_table_add_number(const mgpu_table_order *order, mgpu_u128 key, uint64_t row)
{
	/* a shift by 128 bits has no meaning */
	return order->row_bits == 0 ? key : key << order->row_bits | row;
}

/* ---- parts of all rows */

/* Columns that sort keys are made of. */
uint32_t
mgpu_table_order_columns(const mgpu_table_order *order)
{
	uint32_t	columns = 0;

	for (uint32_t i = order->levels[0].begin; i < order->levels[0].end; i++)
		columns |= UINT32_C(1) << order->fields[i].column;
	return columns;
}

/* What says which part a row is of.  Rows that are equal in the first of several levels are of one: the next say which comes first. */
mgpu_u128
mgpu_table_place_of(const mgpu_table_order *order, const mgpu_table_rows *rows, uint64_t row, uint64_t number)
{
	return mgpu_table_add_number(order, mgpu_table_sort_key(order, 0, rows, row), order->num_levels > 1 ? 0 : number);
}

/* The part of each row of a worker's batch, and how many rows parts have. */
void
mgpu_table_find_order_parts(const mgpu_run *run, mgpu_table_worker *worker, const mgpu_table_rows *rows, uint32_t *sizes)
{
	const mgpu_table_order *order = &run->order;

	for (uint64_t row = 0; row < rows->num_rows; row++)
	{
		mgpu_u128	key = mgpu_table_place_of(order, rows, row, worker->batch->first_row + row);
		uint32_t	begin = 0;
		uint32_t	end = run->num_parts - 1;

		while (begin < end)
		{
			uint32_t	middle = (begin + end) / 2;

			if (order->bounds[middle] <= key)
				begin = middle + 1;
			else
				end = middle;
		}
		worker->parts[row] = (uint16_t) begin;
		sizes[begin]++;
	}
}

/*
 * reduced_back.c
 *		Rows that a window's frame loses, taken back from states.
 *
 * What is added exactly can be: counts, and sums of integers and of numerics of one scale.  Squares of int8 and numeric are taken back by PostgreSQL's functions, as
 * WindowAgg does it.  Floats are added anew: the order in which they are added shows.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/reduced_numeric.h"
#include "exec/reduced_rows.h"
#include "exec/reduced_squares.h"

static int64
integer_of(const column *col, uint64 row)
{
	const char *cell = cell_element(col->type, col->cells, row);

	switch (col->type->width)
	{
		case 1:
			return *(const uint8 *) cell;
		case 2:
			return *(const int16 *) cell;
		case 4:
			return *(const int32 *) cell;
		default:
			return *(const int64 *) cell;
	}
}

static bool
take_back(const reduced_values *values, const chunk *rows, uint64 row, reduced_state *state)
{
	const column *col;

	state->count--;
	if (values->kind == REDUCED_COUNT)
		return true;
	col = &rows->columns[values->column];
	switch (values->kind)
	{
		case REDUCED_INTEGER:
			state->integers.sum -= integer_of(col, row);
			return true;
		case REDUCED_NUMERIC_SUM:
			return reduced_numeric_take_back(cell_element(col->type, col->cells, row), state);
		default:
			return reduced_squares_take_back(values, col, row, state);
	}
}

bool
reduced_take_back(const reduced_values *values, const chunk *rows, const row_groups *numbers, uint64 begin, uint64 end, reduced_state *state)
{
	counted_rows counted = counted_rows_of(values, rows);

	for (uint64 i = begin; i < end; i++)
	{
		uint64		row = row_groups_row(numbers, i);

		if (counts(&counted, row) && !take_back(values, rows, row, state))
			return false;
	}
	/* a state is zero at first */
	return state->count > 0;
}

/*
 * window_sums.c
 *		Aggregates of windows' frames, over rows as numbers.
 *
 * A frame that begins with its partition gains rows.  From one that moves, rows are taken back where they are counts or integers; others are added anew, so that
 * floats are added as PostgreSQL adds them.  Numerics are sums of numbers in units of their last digit.  What does not fit, or would be an error, ends the job: then MgpuWindow computes it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "core/program/real_bits.h"
#include "exec/window_cells.h"
#include "query/window_columns.h"

/* Sums of numerics are numbers of so many digits. */
#define MOST_NUMBER INT64CONST(999999999999999999)
#define NUMBER_DIGITS 18

/* PostgreSQL adds squares for an average, too, and raises an error if they overflow. */
#define MOST_AVERAGED 1e140

/* ---- what is known */

static void
be_number(value_cells *cells, Oid type_id, uint32 kind)
{
	*cells = (value_cells) {.form = CELLS_NUMBER,.num_cells = 1,.kind = kind,.width = get_typlen(type_id)};
}

static bool
describe(reduction what, const value_cells *argument, Oid result_type, value_cells *result)
{
	switch (what)
	{
		case REDUCE_COUNT:
			be_number(result, result_type, MGPU_KEY_SIGNED);
			return true;
		case REDUCE_SUM:
			be_number(result, result_type, MGPU_KEY_SIGNED);
			return argument->form == CELLS_NUMBER;
		case REDUCE_NUMERIC_SUM:
		case REDUCE_SUM_OF_NUMERIC:
			*result = (value_cells) {.form = CELLS_NUMERIC,.num_cells = 1,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.scale = argument->scale};
			return argument->form == (what == REDUCE_NUMERIC_SUM ? CELLS_NUMBER : CELLS_NUMERIC);
		case REDUCE_FLOAT4_SUM:
		case REDUCE_FLOAT8_SUM:
		case REDUCE_FLOAT_AVG:
			be_number(result, result_type, MGPU_KEY_FLOAT);
			return argument->kind == MGPU_KEY_FLOAT;
		case REDUCE_MIN:
		case REDUCE_MAX:
		case REDUCE_BOOL_MIN:
		case REDUCE_BOOL_MAX:
		case REDUCE_FLOAT4_MIN:
		case REDUCE_FLOAT4_MAX:
		case REDUCE_FLOAT8_MIN:
		case REDUCE_FLOAT8_MAX:
		case REDUCE_MIN_OF_NUMERIC:
		case REDUCE_MAX_OF_NUMERIC:
			*result = *argument;
			return argument->form == CELLS_NUMBER || argument->form == CELLS_NUMERIC;
		default:
			return false;
	}
}

bool
window_sums_describe(cell_function *function, reduction what, Oid result_type, value_cells *result)
{
	function->what = what;
	return describe(what, &function->argument.cells, result_type, result);
}

/* ---- adding */

static void
take_extreme(cell_function *function, int64 bits, bool is_greatest)
{
	uint32		kind = function->argument.cells.kind;
	uint64		code = mgpu_column_code((uint64) bits, kind, sizeof(uint64));
	uint64		known = mgpu_column_code((uint64) function->sum.extreme, kind, sizeof(uint64));

	if (function->sum.count == 1 || (is_greatest ? code > known : code < known))
		function->sum.extreme = bits;
}

/* Whether a sum has become infinite that PostgreSQL would raise an error for. */
static bool
overflows(double sum, double before, double value)
{
	return isinf(sum) && !isinf(before) && !isinf(value);
}

static void
add_real(window_cells *cells, cell_function *function, double value)
{
	cell_sum   *sum = &function->sum;
	double		before = sum->real;

	sum->real += value;
	cells->fails |= overflows(sum->real, before, value) || (function->what == REDUCE_FLOAT_AVG && !(fabs(value) < MOST_AVERAGED));
}

static void
add_narrow(window_cells *cells, cell_function *function, float4 value)
{
	cell_sum   *sum = &function->sum;
	float4		before = sum->narrow;

	sum->narrow += value;
	cells->fails |= overflows(sum->narrow, before, value);
}

static void
add_row(window_cells *cells, cell_function *function, uint64 place)
{
	int			column = function->argument.column;
	int64		bits;

	if (column >= 0 && window_cell_is_null(cells, column, place))
		return;
	function->sum.count++;
	if (function->what == REDUCE_COUNT)
		return;
	bits = window_cell(cells, column, place);
	switch (function->what)
	{
		case REDUCE_SUM:
		case REDUCE_NUMERIC_SUM:
		case REDUCE_SUM_OF_NUMERIC:
			function->sum.integer += bits;
			break;
		case REDUCE_FLOAT4_SUM:
			add_narrow(cells, function, (float4) mgpu_real_of_bits(bits));
			break;
		case REDUCE_FLOAT8_SUM:
		case REDUCE_FLOAT_AVG:
			add_real(cells, function, mgpu_real_of_bits(bits));
			break;
		default:
			take_extreme(function, bits, function->what == REDUCE_MAX || function->what == REDUCE_BOOL_MAX || function->what == REDUCE_FLOAT4_MAX ||
						 function->what == REDUCE_FLOAT8_MAX || function->what == REDUCE_MAX_OF_NUMERIC);
	}
}

/* ---- results */

/* A sum of integers overflows where PostgreSQL's does; one of numerics is a number here. */
static int64
integer_result(window_cells *cells, const cell_function *function)
{
	int128		sum = function->sum.integer;

	if (function->what == REDUCE_SUM ? sum != (int64) sum : sum > MOST_NUMBER || sum < -MOST_NUMBER)
		cells->fails = true;
	return (int64) sum;
}

static int64
result_of(window_cells *cells, const cell_function *function, bool *is_null)
{
	const cell_sum *sum = &function->sum;

	*is_null = sum->count == 0 && function->what != REDUCE_COUNT;
	if (*is_null)
		return 0;
	switch (function->what)
	{
		case REDUCE_COUNT:
			return sum->count;
		case REDUCE_SUM:
		case REDUCE_NUMERIC_SUM:
		case REDUCE_SUM_OF_NUMERIC:
			return integer_result(cells, function);
		case REDUCE_FLOAT4_SUM:
			return mgpu_bits_of_real(sum->narrow);
		case REDUCE_FLOAT8_SUM:
			return mgpu_bits_of_real(sum->real);
		case REDUCE_FLOAT_AVG:
			return mgpu_bits_of_real(sum->real / (double) sum->count);
		default:
			return sum->extreme;
	}
}

/* A frame's first row, whose rows are added anew. */
static void
begin_at(cell_function *function, uint64 place)
{
	function->sum = (cell_sum) {0};
	function->from = function->behind = place;
}

static bool
takes_back(reduction what)
{
	return what == REDUCE_COUNT || what == REDUCE_SUM || what == REDUCE_NUMERIC_SUM || what == REDUCE_SUM_OF_NUMERIC;
}

/* Take a row back from a count or a sum of integers. */
static void
take_back(const window_cells *cells, cell_function *function, uint64 place)
{
	int			column = function->argument.column;

	if (column >= 0 && window_cell_is_null(cells, column, place))
		return;
	function->sum.count--;
	if (function->what != REDUCE_COUNT)
		function->sum.integer -= window_cell(cells, column, place);
}

/* Have the rows of a frame from one on, and those before no more. */
static void
move_to(window_cells *cells, cell_function *function, uint64 first)
{
	if (first == function->from)
		return;
	if (!takes_back(function->what) || first >= function->behind)
	{
		begin_at(function, first);
		return;
	}
	for (; function->from < first; function->from++)
		take_back(cells, function, function->from);
}

void
window_sums_compute(window_cells *cells, cell_function *function, uint32 num_rows, int64 *results, bool *are_null)
{
	const cell_frame *frame = &cells->frames[function->frame];
	const cell_stands *stands = cells->stands;

	for (uint32 i = 0; i < num_rows; i++)
	{
		uint64		first;
		uint64		behind;

		window_cells_find_frame(cells, frame, i, &first, &behind);
		if (cells->next + i == stands->start[i])
			begin_at(function, first);
		else
			move_to(cells, function, first);
		for (; function->behind < behind; function->behind++)
			add_row(cells, function, function->behind);
		results[i] = result_of(cells, function, &are_null[i]);
	}
}

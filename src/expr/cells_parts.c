/*
 * cells_parts.c
 *		Values as numbers that are added, or of which the greatest is asked, and that are no values themselves: parts of intervals, quotients, and
 *		numerics with the digits that they show.
 */
#include "postgres.h"

#include "compat.h"
#include "expr/cells.h"
#include "expr/compile.h"

/* Digits that no quotient shows. */
#define NO_DIGITS 10000

static const expr_type integer = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

bool
expr_program_add_interval(expr_program *program, Expr *expr, value_cells *cells)
{
	expr_value	parts[3];

	if (!compile_interval_parts(program, expr, &parts[0], &parts[1], &parts[2]))
		return false;
	*cells = (value_cells) {.form = CELLS_INTERVAL,.num_cells = lengthof(parts),.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.first = program->num_outputs};
	for (size_t i = 0; i < lengthof(parts); i++)
		(void) expr_program_add_output(program, parts[i]);
	return true;
}

/* Have the rest be at least 0 and less than the quotient's unit: then equal values are equal numbers, and both order them. */
static void
bring_in_order(expr_program *program, quotient_parts *parts)
{
	const int64 unit = power_of_ten(MGPU_REST_DIGITS);
	expr_value	units = find_op(program, MGPU_RUN_FLOOR_OFF, integer, unit, &parts->rest);
	expr_value	sum = find_op(program, MGPU_RUN_ADD_INTEGER, integer, 0, (expr_value[]) {parts->quotient, units});

	sum = find_op(program, MGPU_RUN_SHOW_LARGER, parts->quotient.type, 0, (expr_value[]) {sum, parts->quotient, parts->quotient});
	units = find_op(program, MGPU_RUN_SCALE_UP, integer, unit, &units);
	parts->rest = find_op(program, MGPU_RUN_SUBTRACT_INTEGER, integer, 0, (expr_value[]) {parts->rest, units});
	parts->quotient = sum;
}

bool
expr_program_add_quotient(expr_program *program, Expr *expr, bool in_order, value_cells *cells)
{
	quotient_parts parts;

	if (!compile_quotient_parts(program, expr, &parts))
		return false;
	if (in_order)
		bring_in_order(program, &parts);
	*cells = (value_cells) {.form = CELLS_QUOTIENT,.num_cells = 3,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.first = program->num_outputs};
	(void) expr_program_add_output(program, parts.quotient);
	(void) expr_program_add_output(program, parts.rest);
	(void) expr_program_add_output(program, find_op(program, MGPU_RUN_SHOWN_DIGITS, integer, 0, &parts.quotient));
	return true;
}

/* A copy of the digits of its own is behind the numbers: a limit that is none. */
static void
add_tied(expr_program *program, expr_value quotient, expr_value rest, expr_value digits, int64 limit)
{
	(void) expr_program_add_output(program, quotient);
	(void) expr_program_add_output(program, rest);
	(void) expr_program_add_output(program, find_op(program, MGPU_RUN_LIMIT_MAGNITUDE, integer, limit, &digits));
}

bool
expr_program_add_tied_quotient(expr_program *program, Expr *expr, value_cells *cells)
{
	quotient_parts parts;
	expr_value	digits;

	if (!compile_quotient_parts(program, expr, &parts))
		return false;
	bring_in_order(program, &parts);
	*cells = (value_cells) {
		.form = CELLS_TIED_QUOTIENT,.num_cells = 2 * CELLS_OF_QUOTIENT,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.first = program->num_outputs
	};
	digits = find_op(program, MGPU_RUN_SHOWN_DIGITS, integer, 0, &parts.quotient);
	add_tied(program, parts.quotient, parts.rest, digits, NO_DIGITS);
	parts.quotient.type = integer;
	add_tied(program, find_op(program, MGPU_RUN_NEGATE_INTEGER, integer, 0, &parts.quotient), find_op(program, MGPU_RUN_NEGATE_INTEGER, integer, 0, &parts.rest), digits,
			 NO_DIGITS + 1);
	return true;
}

bool
expr_program_add_between(expr_program *program, Expr *expr, value_cells *cells)
{
	expr_value	value;

	if (!compile_between(program, expr, &value))
		return false;
	*cells = (value_cells) {.form = CELLS_BETWEEN,.num_cells = 1,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.first = expr_program_add_output(program, value)};
	return true;
}

bool
expr_program_add_tied(expr_program *program, Expr *expr, value_cells *cells)
{
	expr_value	value;
	expr_value	digits;
	expr_value	more;
	expr_value	fewer;

	if (!compile_expr(program, expr, &value) || value.type.lane != MGPU_LANE_SHOWN)
		return false;
	*cells = (value_cells) {.form = CELLS_TIED,.num_cells = 2,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.scale = value.type.scale,.first = program->num_outputs};
	value.type = integer;
	digits = find_op(program, MGPU_RUN_SHOWN_DIGITS, integer, 0, &value);
	digits = find_op(program, MGPU_RUN_LIMIT_MAGNITUDE, integer, CELLS_DIGITS, &digits);
	more = find_op(program, MGPU_RUN_SCALE_UP, integer, CELLS_DIGITS, &value);
	more = find_op(program, MGPU_RUN_ADD_INTEGER, integer, 0, (expr_value[]) {more, digits});
	fewer = find_op(program, MGPU_RUN_SCALE_UP, integer, 2 * CELLS_DIGITS, &value);
	fewer = find_op(program, MGPU_RUN_SUBTRACT_INTEGER, integer, 0, (expr_value[]) {fewer, more});
	(void) expr_program_add_output(program, more);
	(void) expr_program_add_output(program, fewer);
	return true;
}

/*
 * cells_parts.c
 *		Values as numbers that are added, or of which the greatest is asked, and that are no values themselves: parts of intervals, quotients, and
 *		numerics with the digits that they show.
 */
#include "postgres.h"

#include "compat.h"
#include "expr/cells.h"
#include "expr/compile.h"

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

bool
expr_program_add_quotient(expr_program *program, Expr *expr, value_cells *cells)
{
	const expr_type integer = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	quotient_parts parts;

	if (!compile_quotient_parts(program, expr, &parts))
		return false;
	*cells = (value_cells) {.form = CELLS_QUOTIENT,.num_cells = 3,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.first = program->num_outputs};
	(void) expr_program_add_output(program, parts.quotient);
	(void) expr_program_add_output(program, parts.rest);
	(void) expr_program_add_output(program, find_op(program, MGPU_RUN_SHOWN_DIGITS, integer, 0, &parts.quotient));
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
	expr_type	type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	expr_value	value;
	expr_value	digits;
	expr_value	more;
	expr_value	fewer;

	if (!compile_expr(program, expr, &value) || value.type.lane != MGPU_LANE_SHOWN)
		return false;
	*cells = (value_cells) {.form = CELLS_TIED,.num_cells = 2,.kind = MGPU_KEY_SIGNED,.width = sizeof(int64),.scale = value.type.scale,.first = program->num_outputs};
	value.type = type;
	digits = find_op(program, MGPU_RUN_SHOWN_DIGITS, type, 0, &value);
	digits = find_op(program, MGPU_RUN_LIMIT_MAGNITUDE, type, CELLS_DIGITS, &digits);
	more = find_op(program, MGPU_RUN_SCALE_UP, type, CELLS_DIGITS, &value);
	more = find_op(program, MGPU_RUN_ADD_INTEGER, type, 0, (expr_value[]) {more, digits});
	fewer = find_op(program, MGPU_RUN_SCALE_UP, type, 2 * CELLS_DIGITS, &value);
	fewer = find_op(program, MGPU_RUN_SUBTRACT_INTEGER, type, 0, (expr_value[]) {fewer, more});
	(void) expr_program_add_output(program, more);
	(void) expr_program_add_output(program, fewer);
	return true;
}

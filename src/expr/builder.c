/*
 * builder.c
 *		Adds registers and operations to a program, and the parts of expressions.
 *
 * Equal parts share a register, since operations depend on their arguments alone.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "compat.h"
#include "expr/compile.h"
#include "expr/expr_builds.h"

int64
power_of_ten(int exponent)
{
	int64		power = 1;

	Assert(exponent >= 0 && exponent <= 18);
	while (exponent-- > 0)
		power *= 10;
	return power;
}

int
add_register(expr_program *program, mgpu_lane lane)
{
	if (program->num_registers == program->most_registers)
	{
		program->most_registers *= 2;
		program->lanes = repalloc(program->lanes, program->most_registers);
	}
	program->lanes[program->num_registers] = lane;
	return program->num_registers++;
}

expr_value
add_op(expr_program *program, int code, expr_type type, int64 number, int num_from, const expr_value *from)
{
	mgpu_program_op *op;

	if (program->num_ops == program->most_ops)
	{
		program->most_ops *= 2;
		program->ops = repalloc(program->ops, program->most_ops * sizeof(mgpu_program_op));
	}
	op = &program->ops[program->num_ops++];
	*op = (mgpu_program_op) {.code = code,.width = type.width,.number = number};
	for (int i = 0; i < num_from; i++)
		op->from[i] = from[i].reg;
	op->to = add_register(program, type.lane);
	return (expr_value) {op->to, type};
}

expr_value
find_op(expr_program *program, int code, expr_type type, int64 number, const expr_value *from)
{
	int			num_from = mgpu_program_num_from[code];

	for (int i = 0; i < program->num_ops; i++)
	{
		const mgpu_program_op *op = &program->ops[i];
		bool		is_same = op->code == code && op->width == type.width && op->number == number;

		for (int n = 0; n < num_from; n++)
			is_same &= op->from[n] == from[n].reg;
		if (is_same)
			return (expr_value) {op->to, type};
	}
	return add_op(program, code, type, number, num_from, from);
}

bool
add_made(expr_program *program, int code, int64 number, const expr_value *from, expr_value *value)
{
	const expr_type type = {MGPU_LANE_BYTES, 0, false, 0};

	if (program->num_made == MGPU_MOST_MADE)
		return false;
	*value = add_op(program, code, type, number, mgpu_program_num_from[code], from);
	program->ops[program->num_ops - 1].width = program->num_made++;
	return true;
}

/* The number of the input that is an attribute. */
static int
input_of(expr_program *program, AttrNumber attribute)
{
	ListCell   *cell;

	foreach(cell, program->attributes)
		if (lfirst_int(cell) == attribute)
			return foreach_current_index(cell);
	program->attributes = lappend_int(program->attributes, attribute);
	return list_length(program->attributes) - 1;
}

expr_value
add_load(expr_program *program, int code, expr_type type, AttrNumber attribute)
{
	return add_op(program, code, type, input_of(program, attribute), 0, NULL);
}

bool
scale_up(expr_program *program, expr_value *value, int scale)
{
	int			digits = scale - value->type.scale;

	if (digits == 0)
		return true;
	if (scale > MOST_SCALE || digits < 0 || value->type.lane == MGPU_LANE_SHOWN)
		return false;
	value->type.scale = scale;
	*value = add_op(program, MGPU_RUN_SCALE_UP, value->type, power_of_ten(digits), 1, value);
	return true;
}

expr_value
show_scale(expr_program *program, expr_value value, int shown)
{
	expr_type	type = value.type;

	type.lane = MGPU_LANE_SHOWN;
	value = add_op(program, MGPU_RUN_SHOW_SCALE, type, 0, 1, &value);
	program->ops[program->num_ops - 1].width = shown;
	return value;
}

/* ---- variables */

Expr *
expr_tid(int relation, int table)
{
	return (Expr *) makeVar(relation, SelfItemPointerAttributeNumber - table, INT8OID, -1, InvalidOid, 0);
}

bool
expr_is_tid(const Var *var)
{
	/* no system column is of that type */
	return var->varattno < 0 && var->vartype == INT8OID;
}

int
expr_tid_table(const Var *var)
{
	return SelfItemPointerAttributeNumber - var->varattno;
}

bool
is_build_var(const expr_program *program, const Expr *expr)
{
	return program->builds && IsA(expr, Var) && ((const Var *) expr)->varno >= EXPR_BUILD_VARNO;
}

/* ---- expressions */

bool
expr_is_parameter(const Node *node)
{
	return IsA(node, Param) && ((const Param *) node)->paramkind <= PARAM_EXEC;
}

Oid
expr_function_of(Expr *expr, List **args)
{
	if (IsA(expr, FuncExpr))
	{
		*args = ((FuncExpr *) expr)->args;
		return ((FuncExpr *) expr)->funcid;
	}
	if (!IsA(expr, OpExpr))
		return InvalidOid;
	set_opfuncid((OpExpr *) expr);
	*args = ((OpExpr *) expr)->args;
	return ((OpExpr *) expr)->opfuncid;
}

bool
find_part(const expr_program *program, Expr *expr, bool is_document, expr_value *value)
{
	ListCell   *cell;

	foreach(cell, program->parts)
	{
		const known_part *part = lfirst(cell);

		if (part->is_document == is_document && equal(part->expr, expr))
		{
			*value = part->value;
			return true;
		}
	}
	return false;
}

void
keep_part(expr_program *program, Expr *expr, bool is_document, expr_value value)
{
	known_part *part;

	/* elsewhere, what a CaseTestExpr stands for is something else */
	if (program->case_values != NIL)
		return;
	part = palloc(sizeof(known_part));
	*part = (known_part) {expr, value, is_document};
	program->parts = lappend(program->parts, part);
}

bool
compile_expr(expr_program *program, Expr *expr, expr_value *value)
{
	if (IsA(expr, CaseTestExpr))
	{
		if (program->case_values == NIL)
			return false;
		*value = *(const expr_value *) linitial(program->case_values);
		return true;
	}
	if (find_part(program, expr, false, value))
		return true;
	if (!program->compile(program, expr, value))
		return false;
	keep_part(program, expr, false, *value);
	return true;
}

bool
compile_args(expr_program *program, const function_call *call, expr_value *args)
{
	ListCell   *cell;

	if (list_length(call->args) > MOST_ARGS)
		return false;
	foreach(cell, call->args)
		if (!compile_expr(program, lfirst(cell), &args[foreach_current_index(cell)]))
			return false;
	return true;
}

bool
add_call_op(expr_program *program, const function_call *call, const expr_value *args, expr_value *value)
{
	*value = add_op(program, call->known->code, call->type, call->known->number, list_length(call->args), args);
	return true;
}

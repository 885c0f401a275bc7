/*
 * compile_json.c
 *		Operations that look into a column of jsonb: data ->> 'key', data -> 'key' ->> 'key', data ? 'key', and casts of these to numbers.
 *
 * No register holds jsonb as such: a document is bytes that only these operations read.  What is cast to a number is taken from the number that the
 * document has; no text is made between.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "expr/compile.h"

static const expr_type bytes = {MGPU_LANE_BYTES, 0, false, 0};

static bool compile_search(expr_program *program, int code, expr_type type, List *args, expr_value *value);

/* A column of jsonb, or a part of one. */
static bool
compile_document(expr_program *program, Expr *expr, expr_value *value)
{
	const Var  *var = (const Var *) expr;
	List	   *args = NIL;

	if (IsA(expr, Var))
	{
		if (var->vartype != JSONBOID || var->varattno <= 0 || var->varlevelsup != 0 || is_build_var(program, expr))
			return false;
		*value = add_load(program, MGPU_RUN_LOAD_VARLENA, bytes, var->varattno);
		return true;
	}
	return expr_function_of(expr, &args) == F_JSONB_OBJECT_FIELD && compile_search(program, MGPU_RUN_JSON_OBJECT, bytes, args, value);
}

/* What the document that is the first argument has for a key, the second. */
static bool
compile_search(expr_program *program, int code, expr_type type, List *args, expr_value *value)
{
	expr_value	from[2];

	if (!compile_document(program, linitial(args), &from[0]) || !compile_expr(program, lsecond(args), &from[1]))
		return false;
	if (MGPU_MAKES_TEXTS(code))
		return add_made(program, code, 0, from, value);
	*value = add_op(program, code, type, 0, mgpu_program_num_from[code], from);
	return true;
}

bool
compile_json(expr_program *program, const function_call *call, expr_value *value)
{
	return compile_search(program, call->known->code, call->type, call->args, value);
}

bool
compile_json_number(expr_program *program, const CoerceViaIO *cast, expr_value *value)
{
	expr_type	number;
	List	   *args = NIL;

	if (expr_function_of(cast->arg, &args) != F_JSONB_OBJECT_FIELD_TEXT || !expr_type_of(NUMERICOID, -1, &number))
		return false;
	/* an integer's text has no digits behind a point */
	if (cast->resulttype == INT2OID || cast->resulttype == INT4OID || cast->resulttype == INT8OID)
		number.scale = 0;
	else if (cast->resulttype != NUMERICOID && cast->resulttype != FLOAT8OID)
		return false;
	if (!compile_search(program, MGPU_RUN_JSON_NUMBER, number, args, value))
		return false;
	program->ops[program->num_ops - 1].width = number.scale;
	if (cast->resulttype == NUMERICOID)
		return true;
	(void) expr_type_of(cast->resulttype, -1, &number);
	if (cast->resulttype == FLOAT8OID)
		*value = add_op(program, MGPU_RUN_REAL_OF_NUMERIC, number, power_of_ten(value->type.scale), 1, value);
	else
		*value = add_op(program, MGPU_RUN_FIT_INTEGER, number, 0, 1, value);
	return true;
}

/*
 * compile_values.c
 *		Casts of texts to numbers, bool, dates and times: substring(x FROM '\d+')::int, (data->>'price')::numeric, (data->>'at')::timestamptz.
 *
 * What is cast is read by one operation each, and of jsonb from the number that a document has (compile_json.c).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/compile.h"

/* A text without the blanks that char(n) has at its end: no value is another for them. */
static bool
compile_source(expr_program *program, Expr *expr, expr_value *value)
{
	if (!compile_expr(program, expr, value) || value->type.lane != MGPU_LANE_BYTES)
		return false;
	if (getBaseType(exprType((Node *) expr)) == BPCHAROID)
		*value = add_op(program, MGPU_RUN_TRIM_BLANKS, value->type, 0, 1, value);
	return true;
}

static bool
compile_read(expr_program *program, const CoerceViaIO *cast, int code, int64 number, expr_value *value)
{
	expr_type	type;

	if (!compile_source(program, cast->arg, value) || !expr_type_of(cast->resulttype, -1, &type))
		return false;
	*value = add_op(program, code, type, number, 1, value);
	return true;
}

/* An integer's text has no digits behind a point. */
static bool
compile_number_of(expr_program *program, const CoerceViaIO *cast, expr_value *value)
{
	bool		is_integer = cast->resulttype != NUMERICOID && cast->resulttype != FLOAT8OID;
	expr_type	read;
	expr_type	type;

	if (!expr_type_of(is_integer ? NUMERICOID : cast->resulttype, -1, &read) || !expr_type_of(cast->resulttype, -1, &type))
		return false;
	if (is_integer)
		read.scale = 0;
	if (!compile_json_number(program, cast->arg, read, value))
	{
		if (!compile_source(program, cast->arg, value))
			return false;
		*value = add_op(program, read.is_numeric ? MGPU_RUN_NUMBER_OF_TEXT : MGPU_RUN_REAL_OF_TEXT, read, 0, 1, value);
	}
	if (read.is_numeric)
		program->ops[program->num_ops - 1].width = read.scale;
	if (is_integer)
		*value = add_op(program, MGPU_RUN_FIT_INTEGER, type, 0, 1, value);
	return true;
}

bool
compile_value_of(expr_program *program, const CoerceViaIO *cast, expr_value *value)
{
	Oid			from = getBaseType(exprType((Node *) cast->arg));

	if (from != TEXTOID && from != VARCHAROID && from != BPCHAROID)
		return false;
	switch (cast->resulttype)
	{
		case INT2OID: case INT4OID: case INT8OID: case NUMERICOID: case FLOAT8OID:
			return compile_number_of(program, cast, value);
		case BOOLOID:
			return compile_read(program, cast, MGPU_RUN_TRUTH_OF_TEXT, 0, value);
		case DATEOID:
			return compile_read(program, cast, MGPU_RUN_DATE_OF_TEXT, 0, value);
		case TIMESTAMPOID: case TIMESTAMPTZOID:
			return compile_read(program, cast, MGPU_RUN_TIME_OF_TEXT, cast->resulttype == TIMESTAMPTZOID, value);
		default:
			return false;
	}
}

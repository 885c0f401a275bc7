/*
 * compile_calls.c
 *		The operations of functions and operators, by their form.  Those of times are in compile_times.c.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/compile.h"

/* ---- numerics */

/* Let arguments be integers of their scale, whatever they show.  Whether one of them showed digits of its own. */
static bool
forget_shown(expr_value *args, int num_args)
{
	bool		any = false;

	for (int i = 0; i < num_args; i++)
	{
		any |= args[i].type.lane == MGPU_LANE_SHOWN;
		args[i].type.lane = MGPU_LANE_INTEGER;
	}
	return any;
}

/* A result, unless it is a comparison's, that shows as many digits as the larger of its arguments, or their sum. */
static bool
show_result(expr_program *program, int code, const expr_value *args, int num_args, expr_value *value)
{
	expr_value	from[3] = {*value, args[0], args[num_args - 1]};
	expr_type	type = value->type;

	if (!type.is_numeric)
		return true;
	type.lane = MGPU_LANE_SHOWN;
	for (int i = 1; i < 3; i++)
		if (from[i].type.lane != MGPU_LANE_SHOWN)
			from[i] = show_scale(program, from[i], from[i].type.scale);
	*value = add_op(program, code, type, 0, 3, from);
	return true;
}

/* The result of a comparison has no scale. */
static bool
compile_of_one_scale(expr_program *program, function_call *call, expr_value *args, expr_value *value)
{
	int			num_args = list_length(call->args);
	int			scale = 0;

	for (int i = 0; i < num_args; i++)
		scale = Max(scale, args[i].type.scale);
	for (int i = 0; i < num_args; i++)
		if (!scale_up(program, &args[i], scale))
			return false;
	if (call->type.is_numeric)
		call->type.scale = scale;
	return add_call_op(program, call, args, value);
}

static bool
compile_product(expr_program *program, function_call *call, expr_value *args, expr_value *value)
{
	call->type.scale = args[0].type.scale + args[1].type.scale;
	return call->type.scale <= MOST_SCALE && add_call_op(program, call, args, value);
}

/* The result is a numeric, or an integer of some width. */
static bool
compile_whole(expr_program *program, function_call *call, expr_value *args, expr_value *value)
{
	expr_type	whole = args[0].type;

	whole.scale = 0;
	*value = add_op(program, call->known->code, whole, power_of_ten(args[0].type.scale), 1, args);
	if (!call->type.is_numeric)
		*value = add_op(program, MGPU_RUN_FIT_INTEGER, call->type, 0, 1, value);
	return true;
}

/* Digits in front of the point go, too. */
static bool
compile_tens(expr_program *program, const function_call *call, const expr_value *arg, int digits, expr_value *value)
{
	expr_type	whole = arg->type;

	if (arg->type.scale - digits > MOST_SCALE)
		return false;
	whole.scale = 0;
	*value = add_op(program, call->known->code, whole, power_of_ten(arg->type.scale - digits), 1, arg);
	*value = add_op(program, MGPU_RUN_SCALE_UP, whole, power_of_ten(-digits), 1, value);
	return true;
}

static bool
compile_digits(expr_program *program, function_call *call, expr_value *args, int digits, expr_value *value)
{
	*value = args[0];
	if (digits < -MOST_SCALE || digits > MOST_SCALE)
		return false;
	if (digits < 0)
		return compile_tens(program, call, args, digits, value);
	if (digits >= value->type.scale)
		return scale_up(program, value, digits);
	value->type.scale = digits;
	*value = add_op(program, call->known->code, value->type, power_of_ten(args[0].type.scale - digits), 1, args);
	return true;
}

/* A constant integer, or the least of all. */
static int
integer_constant(const Node *node)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull || constant->consttype != INT4OID)
		return PG_INT32_MIN;
	return DatumGetInt32(constant->constvalue);
}

static bool
compile_typmod(expr_program *program, function_call *call, expr_value *args, int typmod, expr_value *value)
{
	int			precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	expr_type	type;

	if (typmod < VARHDRSZ || !expr_type_of(NUMERICOID, typmod, &type) || !compile_digits(program, call, args, type.scale, value))
		return false;
	/* all that fit in 64 bits have fewer digits */
	if (precision <= 18)
		*value = add_op(program, MGPU_RUN_LIMIT_MAGNITUDE, value->type, power_of_ten(precision), 1, value);
	return true;
}

/* Whether a numeric has one value for all rows, whose scale is not known. */
static bool
is_limit(Expr *expr)
{
	return expr_is_parameter((Node *) expr) || fixed_number_params(expr) != NIL;
}

/* How a limit is rounded that is the first or the second argument of a comparison. */
static expr_rounding
rounding_of(int outcomes, bool is_first)
{
	if (outcomes == MGPU_IS_EQUAL || outcomes == (MGPU_IS_LESS | MGPU_IS_GREATER))
		return ROUND_TO_NONE;
	/* 1.25 is less than those from 1.3 on, and no less than those up to 1.2 */
	if (outcomes == (is_first ? MGPU_IS_GREATER : MGPU_IS_LESS) || outcomes == ((is_first ? MGPU_IS_LESS : MGPU_IS_GREATER) | MGPU_IS_EQUAL))
		return ROUND_UP;
	return ROUND_DOWN;
}

/* A comparison with a limit. */
static bool
compile_limited(expr_program *program, const function_call *call, expr_value *value)
{
	bool		is_first = is_limit(linitial(call->args));
	expr_value	args[MOST_ARGS];
	expr_value *other = &args[is_first];

	if (!compile_expr(program, list_nth(call->args, is_first), other))
		return false;
	(void) forget_shown(other, 1);
	compile_limit(program, list_nth(call->args, !is_first), other->type.scale, rounding_of(call->known->number, is_first), &args[!is_first]);
	return add_call_op(program, call, args, value);
}

/* Digits behind the point that matter of a function's numerics; of others than these, all. */
static int
digits_that_matter(const function_call *call, List *args)
{
	expr_type	type = {.scale = MOST_SCALE};

	if (call->known->form == FORM_DIGITS)
		return integer_constant(lsecond(args));
	if (call->known->form == FORM_TYPMOD)
		(void) expr_type_of(NUMERICOID, integer_constant(lsecond(args)), &type);
	return call->known->form == FORM_WHOLE || call->known->code == MGPU_RUN_COMPARE_INTEGER ? 0 : type.scale;
}

/* The arguments, of which one may be a quotient, if its first digits say enough. */
static bool
compile_numerics(expr_program *program, const function_call *call, int digits, expr_value *args)
{
	int			num_cut = 0;
	int			scale = 0;

	for (int i = 0; i < list_length(call->args); i++)
	{
		if (compile_expr(program, list_nth(call->args, i), &args[i]))
			scale = Max(scale, args[i].type.scale);
		else if (digits >= CUT_QUOTIENT_DIGITS || !compile_cut_quotient(program, list_nth(call->args, i), &args[i]))
			return false;
		else
			num_cut++;
	}
	return num_cut == 0 || (num_cut == 1 && scale <= CUT_QUOTIENT_DIGITS);
}

static bool
compile_of_numerics(expr_program *program, function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];
	List	   *all = call->args;

	expr_value	shown[MOST_ARGS];
	int			num_args = list_length(all);
	bool		any;

	/* how many digits, or a typmod, is a constant */
	if (call->known->form == FORM_DIGITS || call->known->form == FORM_TYPMOD)
		num_args = 1;
	call->args = list_truncate(list_copy(all), num_args);
	if (compile_quotient(program, call, call->known->form == FORM_DIGITS ? integer_constant(lsecond(all)) : call->known->form == FORM_WHOLE ? 0 : -1, value))
		return true;
	if (!compile_numerics(program, call, digits_that_matter(call, all), args))
		return false;
	memcpy(shown, args, sizeof(shown));
	any = forget_shown(args, num_args);
	switch (call->known->form)
	{
		case FORM_NUMERIC:
			return compile_of_one_scale(program, call, args, value) &&
				(!any || show_result(program, MGPU_RUN_SHOW_LARGER, shown, num_args, value));
		case FORM_PRODUCT:
			return compile_product(program, call, args, value) &&
				(!any || show_result(program, MGPU_RUN_SHOW_SUM, shown, num_args, value));
		case FORM_DIGITS:
			return compile_digits(program, call, args, integer_constant(lsecond(all)), value);
		case FORM_TYPMOD:
			return compile_typmod(program, call, args, integer_constant(lsecond(all)), value);
		case FORM_WHOLE:
			return compile_whole(program, call, args, value);
		default:
			*value = add_op(program, call->known->code, call->type, power_of_ten(args[0].type.scale), 1, args);
			return true;
	}
}

static bool
compile_numeric(expr_program *program, function_call *call, expr_value *value)
{
	if (call->known->form == FORM_BUCKET)
		return compile_bucket(program, call, value);
	if (call->known->code == MGPU_RUN_COMPARE_INTEGER && (is_limit(linitial(call->args)) || is_limit(lsecond(call->args))))
		return compile_limited(program, call, value);
	return compile_of_numerics(program, call, value);
}

/* ---- texts */

/* Of an enum's value with a label, or the other way round. */
static bool
compile_label(expr_program *program, const function_call *call, int number, expr_value *value)
{
	Expr	   *text = list_nth(call->args, number);
	const Const *label = list_nth(call->args, 1 - number);
	expr_value	both[2];

	if (!take_labels(&text, &label) || !compile_expr(program, text, &both[0]) || !compile_const(program, label, &both[1]))
		return false;
	*value = add_op(program, MGPU_RUN_COMPARE_INTEGER, expr_boolean, call->known->number, 2, both);
	return true;
}

static bool
compile_bytes(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];
	bool		in_order = call->known->number != MGPU_IS_EQUAL && call->known->number != (MGPU_IS_LESS | MGPU_IS_GREATER);

	if (!compares_bytes(call->collation, in_order))
		return in_order && compile_collated(program, call, value);
	if (call->known->code == MGPU_RUN_COMPARE_BYTES && !in_order &&
		(compile_label(program, call, 0, value) || compile_label(program, call, 1, value) || compile_build_equality(program, call, value)))
		return true;
	if (!compile_args(program, call, args))
		return false;
	for (int i = 0; i < list_length(call->args) && call->known->form == FORM_BLANKS; i++)
		args[i] = add_op(program, MGPU_RUN_TRIM_BLANKS, args[i].type, 0, 1, &args[i]);
	return add_call_op(program, call, args, value);
}

static bool
compile_characters(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];
	bool		is_utf8;

	if (!encoding_is_known(&is_utf8) || !compile_args(program, call, args))
		return false;
	/* to the end, if there is no length */
	if (call->known->form == FORM_SUBSTRING && list_length(call->args) == 2 && !compile_number(program, (int64) PG_INT32_MAX * 4, &args[2]))
		return false;
	*value = add_op(program, call->known->code, call->type, is_utf8, mgpu_program_num_from[call->known->code], args);
	return true;
}

static bool
compile_trim(expr_program *program, const function_call *call, expr_value *value)
{
	if (!compile_args(program, call, value))
		return false;
	if ((call->known->number & 1) != 0)
		*value = add_op(program, MGPU_RUN_TRIM_FRONT, call->type, 0, 1, value);
	if ((call->known->number & 2) != 0)
		*value = add_op(program, MGPU_RUN_TRIM_BLANKS, call->type, 0, 1, value);
	return true;
}

static bool
compile_like(expr_program *program, const function_call *call, expr_value *value)
{
	const Const *pattern = lsecond(call->args);
	expr_value	arg;
	bool		is_utf8;
	int64		table;

	if (!encoding_is_known(&is_utf8) || !compares_bytes(call->collation, false) || !IsA(pattern, Const) || pattern->constisnull ||
		!compile_expr(program, linitial(call->args), &arg))
		return false;
	table = table_of_pattern(program, DatumGetTextPP(pattern->constvalue));
	if (table < 0)
		return false;
	*value = add_op(program, MGPU_RUN_LIKE, expr_boolean, table, 1, &arg);
	program->ops[program->num_ops - 1].width = is_utf8;
	if (call->known->number)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	return true;
}

/* ---- by form */

static bool
compile_same(expr_program *program, const function_call *call, expr_value *value)
{
	if (!compile_args(program, call, value))
		return false;
	value->type = call->type;
	return true;
}

/* What is in a value of several parts. */
static bool
compile_inside(expr_program *program, const function_call *call, expr_value *value)
{
	switch (call->known->form)
	{
		case FORM_JSON:
			return compile_json(program, call, value);
		case FORM_JSON_CONTAINS:
			return compile_json_contains(program, call, value);
		case FORM_ARRAY:
			return compile_array(program, call, value);
		default:
			return compile_of_ranges(program, call, value);
	}
}

bool
compile_call(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];
	function_call numeric = *call;

	switch (call->known->form)
	{
		case FORM_PLAIN:
			return compile_args(program, call, args) && add_call_op(program, call, args, value);
		case FORM_SAME:
			return compile_same(program, call, value);
		case FORM_QUOTIENT:
			return compile_exact_quotient(program, call, value);
		case FORM_BYTES: case FORM_BLANKS:
			return compile_bytes(program, call, value);
		case FORM_POSITION:
			return compares_bytes(call->collation, false) && compile_characters(program, call, value);
		case FORM_CHARACTERS: case FORM_SUBSTRING:
			return compile_characters(program, call, value);
		case FORM_TRIM:
			return compile_trim(program, call, value);
		case FORM_JSON: case FORM_JSON_CONTAINS: case FORM_ARRAY: case FORM_RANGE:
			return compile_inside(program, call, value);
		case FORM_LIKE:
			return compile_like(program, call, value);
		case FORM_ILIKE: case FORM_REGEX: case FORM_MATCHES: case FORM_LABELS: case FORM_CASE: case FORM_JOINED: case FORM_FORMAT: case FORM_INET:
			return compile_text(program, call, value);
		case FORM_TRUNCATE: case FORM_BIN: case FORM_EXTRACT: case FORM_SPAN: case FORM_SPAN_PART: case FORM_DATES: case FORM_DAY_AND_TIME: case FORM_INTERVAL: case FORM_OF_EPOCH:
			return compile_time(program, call, value);
		case FORM_ZONE: case FORM_NAMED_ZONE: case FORM_MIXED_TIMES: case FORM_TIME_OF_DAY:
			return compile_zoned(program, call, value);
		default:
			return compile_numeric(program, &numeric, value);
	}
}

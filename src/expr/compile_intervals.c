/*
 * compile_intervals.c
 *		The operations of intervals: columns, constants, and what lies between two times.
 *
 * No register holds an interval: it is months, days and microseconds, each an integer.  Compared, or asked for its seconds, it is one integer.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/compile.h"

static const expr_type integer = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* Microseconds of a month and of a year, as extract(epoch) counts them. */
#define EPOCH_OF_MONTH (DAYS_PER_MONTH * USECS_PER_DAY)
#define EPOCH_OF_YEAR (INT64CONST(31557600) * USECS_PER_SEC)

/* Constants that are compared are no longer, so that they fit. */
#define MOST_MONTHS 10000
#define MOST_DAYS INT64CONST(1000000)

typedef struct interval_parts
{
	expr_value	months;
	expr_value	days;
	expr_value	time;
} interval_parts;

const Interval *
interval_constant(const Expr *expr)
{
	const Const *constant = (const Const *) expr;

	return IsA(expr, Const) && !constant->constisnull && constant->consttype == INTERVALOID ? DatumGetIntervalP(constant->constvalue) : NULL;
}

/* An operation on a value and a constant. */
static bool
add_with(expr_program *program, int code, expr_value value, int64 number, expr_value *result)
{
	expr_value	both[2] = {value};

	if (!compile_number(program, number, &both[1]))
		return false;
	*result = add_op(program, code, integer, 0, 2, both);
	return true;
}

/* number * value is added to a sum. */
static bool
add_times(expr_program *program, expr_value value, int64 number, expr_value *sum)
{
	expr_value	both[2] = {*sum};

	if (!add_with(program, MGPU_RUN_MULTIPLY_INTEGER, value, number, &both[1]))
		return false;
	*sum = add_op(program, MGPU_RUN_ADD_INTEGER, integer, 0, 2, both);
	return true;
}

/* ---- parts */

static bool
compile_constant_parts(expr_program *program, const Interval *interval, interval_parts *parts)
{
	return abs(interval->month) <= MOST_MONTHS && compile_number(program, interval->month, &parts->months) && compile_number(program, interval->day, &parts->days) &&
		compile_number(program, interval->time, &parts->time);
}

static bool
compile_column_parts(expr_program *program, const Var *var, interval_parts *parts)
{
	const expr_type bytes = {MGPU_LANE_BYTES, sizeof(Interval), false, 0};
	expr_value	stored;

	if (var->vartype != INTERVALOID || var->varattno <= 0 || var->varlevelsup != 0 || is_build_var(program, (const Expr *) var))
		return false;
	stored = add_load(program, MGPU_RUN_LOAD_FIXED, bytes, var->varattno);
	parts->months = add_op(program, MGPU_RUN_INTERVAL_PART, integer, MGPU_INTERVAL_MONTHS, 1, &stored);
	parts->days = add_op(program, MGPU_RUN_INTERVAL_PART, integer, MGPU_INTERVAL_DAYS, 1, &stored);
	parts->time = add_op(program, MGPU_RUN_INTERVAL_PART, integer, MGPU_INTERVAL_TIME, 1, &stored);
	return true;
}

/* Microseconds between two times. */
static bool
compile_difference(expr_program *program, Expr *expr, expr_value *value)
{
	List	   *args = NIL;
	Oid			function = expr_function_of(expr, &args);
	expr_value	times[2];

	if ((function != F_TIMESTAMP_MI && function != F_TIMESTAMPTZ_MI) || !compile_expr(program, linitial(args), &times[0]) ||
		!compile_expr(program, lsecond(args), &times[1]))
		return false;
	for (int i = 0; i < 2; i++)
		times[i] = add_op(program, MGPU_RUN_FIT_TIME, integer, 0, 1, &times[i]);
	*value = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, integer, 0, 2, times);
	return true;
}

/* Whole days of it are days.  It has no months, but its NULL is one of all parts. */
static bool
compile_difference_parts(expr_program *program, Expr *expr, interval_parts *parts)
{
	expr_value	difference;

	return compile_difference(program, expr, &difference) && add_with(program, MGPU_RUN_DIVIDE_INTEGER, difference, USECS_PER_DAY, &parts->days) &&
		add_with(program, MGPU_RUN_REMAINDER_INTEGER, difference, USECS_PER_DAY, &parts->time) &&
		add_with(program, MGPU_RUN_MULTIPLY_INTEGER, difference, 0, &parts->months);
}

/* The arguments of age(): local times, and whether the first is less, which local times do not tell where an hour comes twice.  false: it is another function. */
static bool
compile_age_args(expr_program *program, Expr *expr, expr_value *from)
{
	List	   *args = NIL;
	Oid			function = expr_function_of(expr, &args);

	if ((function != F_AGE_TIMESTAMP_TIMESTAMP && function != F_AGE_TIMESTAMPTZ_TIMESTAMPTZ) || !compile_expr(program, linitial(args), &from[0]) ||
		!compile_expr(program, lsecond(args), &from[1]))
		return false;
	from[2] = find_op(program, MGPU_RUN_COMPARE_INTEGER, expr_boolean, MGPU_IS_LESS, from);
	return function == F_AGE_TIMESTAMP_TIMESTAMP ||
		(compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, &from[0]) && compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, &from[1]));
}

static bool
compile_age(expr_program *program, Expr *expr, interval_parts *parts)
{
	expr_value	from[3];

	if (!compile_age_args(program, expr, from))
		return false;
	parts->months = find_op(program, MGPU_RUN_AGE, integer, MGPU_INTERVAL_MONTHS, from);
	parts->days = find_op(program, MGPU_RUN_AGE, integer, MGPU_INTERVAL_DAYS, from);
	parts->time = find_op(program, MGPU_RUN_AGE, integer, MGPU_INTERVAL_TIME, from);
	return true;
}

static bool compile_parts(expr_program *program, Expr *expr, interval_parts *parts);

/* A part where a condition is true, else NULL. */
static bool
choose_part(expr_program *program, expr_value condition, expr_value *part)
{
	Const	   *null = makeNullConst(INT8OID, -1, InvalidOid);
	expr_value	from[3] = {condition, *part};

	if (!compile_const(program, null, &from[2]))
		return false;
	*part = add_op(program, MGPU_RUN_CHOOSE, integer, 0, 3, from);
	return true;
}

/* What an aggregate with a filter takes, CASE WHEN filter THEN interval END: the interval and when it is, or NULL. */
static const CaseWhen *
filtered(const Expr *expr)
{
	const CaseExpr *choice = (const CaseExpr *) expr;

	if (!IsA(expr, CaseExpr) || choice->arg || list_length(choice->args) != 1 || !IsA(choice->defresult, Const) || !((const Const *) choice->defresult)->constisnull)
		return NULL;
	return linitial(choice->args);
}

static bool
compile_chosen(expr_program *program, const CaseWhen *when, interval_parts *parts)
{
	expr_value	condition;

	return compile_expr(program, when->expr, &condition) && compile_parts(program, when->result, parts) && choose_part(program, condition, &parts->months) &&
		choose_part(program, condition, &parts->days) && choose_part(program, condition, &parts->time);
}

static bool
compile_parts(expr_program *program, Expr *expr, interval_parts *parts)
{
	const Interval *constant = interval_constant(expr);
	const CaseWhen *when = filtered(expr);

	if (constant)
		return compile_constant_parts(program, constant, parts);
	if (when)
		return compile_chosen(program, when, parts);
	if (IsA(expr, Var))
		return compile_column_parts(program, (const Var *) expr, parts);
	return compile_age(program, expr, parts) || compile_difference_parts(program, expr, parts);
}

bool
compile_interval_parts(expr_program *program, Expr *expr, expr_value *months, expr_value *days, expr_value *time)
{
	interval_parts parts;

	if (exprType((Node *) expr) != INTERVALOID || !compile_parts(program, expr, &parts))
		return false;
	*months = parts.months;
	*days = parts.days;
	*time = parts.time;
	return true;
}

/* ---- one integer */

bool
compile_between(expr_program *program, Expr *expr, expr_value *value)
{
	const CaseWhen *when = filtered(expr);
	expr_value	condition;

	if (when == NULL)
		return compile_difference(program, expr, value);
	return compile_expr(program, when->expr, &condition) && compile_between(program, when->result, value) && choose_part(program, condition, value);
}

/* As PostgreSQL compares them: a month has 30 days. */
static bool
compile_span(expr_program *program, Expr *expr, expr_value *value)
{
	const Interval *constant = interval_constant(expr);
	interval_parts parts;

	if (constant)
		return abs(constant->month) <= MOST_MONTHS && abs(constant->day) <= MOST_DAYS && constant->time <= MOST_DAYS * USECS_PER_DAY && constant->time >= -MOST_DAYS * USECS_PER_DAY &&
			compile_number(program, (constant->month * INT64CONST(30) + constant->day) * USECS_PER_DAY + constant->time, value);
	if (compile_difference(program, expr, value))
		return true;
	if (!compile_parts(program, expr, &parts))
		return false;
	*value = parts.time;
	return add_times(program, parts.days, USECS_PER_DAY, value) && add_times(program, parts.months, DAYS_PER_MONTH * USECS_PER_DAY, value);
}

static bool
compile_epoch(expr_program *program, Expr *expr, expr_value *value)
{
	interval_parts parts;
	expr_value	years;
	expr_value	months;

	if (compile_difference(program, expr, value))
		return true;
	if (!compile_parts(program, expr, &parts) || !add_with(program, MGPU_RUN_DIVIDE_INTEGER, parts.months, MONTHS_PER_YEAR, &years) ||
		!add_with(program, MGPU_RUN_REMAINDER_INTEGER, parts.months, MONTHS_PER_YEAR, &months))
		return false;
	*value = parts.time;
	return add_times(program, parts.days, USECS_PER_DAY, value) && add_times(program, months, EPOCH_OF_MONTH, value) &&
		add_times(program, years, EPOCH_OF_YEAR, value);
}

/* A year, month or day of what a function returns: other intervals may have more hours than the functions of 14 take. */
static bool
compile_field(expr_program *program, const char *field, Expr *expr, expr_value *value)
{
	List	   *args = NIL;
	bool		is_month = strcmp(field, "month") == 0;
	bool		is_day = strcmp(field, "day") == 0;
	expr_value	from[3];
	interval_parts parts;

	if ((!is_month && !is_day && strcmp(field, "year") != 0) || !OidIsValid(expr_function_of(expr, &args)))
		return false;
	if (compile_age_args(program, expr, from))
		*value = find_op(program, MGPU_RUN_AGE, integer, is_day ? MGPU_INTERVAL_DAYS : MGPU_INTERVAL_MONTHS, from);
	else if (compile_difference_parts(program, expr, &parts))
		*value = is_day ? parts.days : parts.months;
	else
		return false;
	return is_day || add_with(program, is_month ? MGPU_RUN_REMAINDER_INTEGER : MGPU_RUN_DIVIDE_INTEGER, *value, MONTHS_PER_YEAR, value);
}

/* extract() returns a numeric, date_part() a float8. */
static bool
compile_part(expr_program *program, const function_call *call, expr_value *value)
{
	const char *field = text_constant(linitial(call->args));
	bool		is_real = call->type.lane == MGPU_LANE_REAL;
	expr_type	type = {MGPU_LANE_INTEGER, sizeof(int64), true, 0};

	if (field == NULL)
		return false;
	if (!is_real && strcmp(field, "epoch") == 0)
	{
		type.scale = 6;
		if (!compile_epoch(program, lsecond(call->args), value))
			return false;
	}
	else if (!compile_field(program, field, lsecond(call->args), value))
		return false;
	value->type = type;
	if (is_real)
		*value = add_op(program, MGPU_RUN_REAL_OF_INTEGER, call->type, 0, 1, value);
	return true;
}

bool
compile_spans(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	spans[2];

	if (call->known->form == FORM_SPAN_PART)
		return compile_part(program, call, value);
	return compile_span(program, linitial(call->args), &spans[0]) && compile_span(program, lsecond(call->args), &spans[1]) && add_call_op(program, call, spans, value);
}

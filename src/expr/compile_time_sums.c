/*
 * compile_time_sums.c
 *		Intervals that are added to dates and times: constant ones, and multiples of these; and times of day that are added to dates.
 *
 * Months and days have the lengths that they have in the session's time zone, so a time with a time zone becomes a local one, and is one again behind each part.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/compile.h"

static const expr_type time_type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* Add microseconds to a time. */
static bool
add_span(expr_program *program, int64 span, expr_value *value)
{
	expr_value	args[2] = {*value};

	if (!compile_number(program, span, &args[1]))
		return false;
	*value = add_op(program, MGPU_RUN_ADD_INTEGER, time_type, 0, 2, args);
	*value = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return true;
}

/* The mean of 400 years.  So many of them behind a month's begin is less than five days from where a month begins. */
#define MEAN_MONTH (146097 * USECS_PER_DAY / 4800)

/* The begin of the month that some microseconds behind a time lie in. */
static bool
find_month(expr_program *program, int64 span, expr_value *value)
{
	if (!add_span(program, span, value))
		return false;
	*value = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, MGPU_TIME_MONTH, 1, value);
	return true;
}

/* The same day of another month, or its last one if that comes before. */
static bool
add_months(expr_program *program, int64 months, expr_value *value)
{
	expr_value	day = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, MGPU_TIME_DAY, 1, value);
	expr_value	begin = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, MGPU_TIME_MONTH, 1, value);
	expr_value	of_day = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, time_type, 0, 2, (expr_value[]) {*value, day});
	expr_value	of_month = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, time_type, 0, 2, (expr_value[]) {day, begin});
	expr_value	days[2];

	if (!find_month(program, months * MEAN_MONTH + 14 * USECS_PER_DAY, &begin))
		return false;
	days[0] = add_op(program, MGPU_RUN_ADD_INTEGER, time_type, 0, 2, (expr_value[]) {begin, of_month});
	days[1] = begin;
	if (!find_month(program, 32 * USECS_PER_DAY, &days[1]) || !add_span(program, -USECS_PER_DAY, &days[1]))
		return false;
	day = add_op(program, MGPU_RUN_SMALLER_INTEGER, time_type, 0, 2, days);
	*value = add_op(program, MGPU_RUN_ADD_INTEGER, time_type, 0, 2, (expr_value[]) {day, of_day});
	*value = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return true;
}

/* Months and days have the lengths that they have in the session's time zone, and each ends in it. */
static bool
add_zoned(expr_program *program, bool (*add) (expr_program *program, int64 number, expr_value *value), int64 number, expr_value *value)
{
	return number == 0 || (compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, value) && add(program, number, value) &&
						   compile_change_zone(program, MGPU_RUN_ZONED_OF_LOCAL, value));
}

static bool
is_near(int64 number, int64 most)
{
	return number <= most && number >= -most;
}

/* Longer ones, and infinite ones, are left to PostgreSQL. */
static bool
is_short(const Interval *interval)
{
	return is_near(interval->month, 12000) && is_near(interval->day, 1000000) && is_near(interval->time, 1000000 * USECS_PER_DAY);
}

static bool
compile_constant(expr_program *program, const function_call *call, const Interval *interval, expr_value *value)
{
	int			sign = call->known->number > 0 ? 1 : -1;

	if (!is_short(interval))
		return false;
	if (call->known->zoned)
		return add_zoned(program, add_months, sign * interval->month, value) && add_zoned(program, add_span, sign * interval->day * USECS_PER_DAY, value) &&
			add_span(program, sign * interval->time, value);
	return (interval->month == 0 || add_months(program, sign * interval->month, value)) &&
		add_span(program, sign * (interval->day * USECS_PER_DAY + interval->time), value);
}

/* ---- multiples */

/* A whole number of intervals, which have no months. */
typedef struct interval_multiple
{
	Expr	   *factor;			/* an integer */
	int64		day;
	int64		time;
} interval_multiple;

/* x * interval '1 hour': microseconds, as PostgreSQL rounds them. */
static bool
find_real_product(Expr *factor, const Interval *interval, interval_multiple *multiple)
{
	Const	   *time = makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum((float8) interval->time), false, FLOAT8PASSBYVAL);
	Expr	   *product = (Expr *) makeFuncExpr(F_FLOAT8MUL, FLOAT8OID, list_make2(factor, time), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);

	*multiple = (interval_multiple) {
		.factor = (Expr *) makeFuncExpr(F_INT8_FLOAT8, INT8OID, list_make1(product), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),.time = 1
	};
	/* parts of days become times */
	return interval->day == 0;
}

/* n * interval '1 day': the integer is cast to a float8. */
static bool
find_product(Expr *expr, interval_multiple *multiple)
{
	List	   *args = NIL;
	List	   *cast = NIL;
	Oid			function = expr_function_of(expr, &args);
	bool		is_turned = function == F_MUL_D_INTERVAL;
	const Interval *interval;
	Expr	   *factor;
	Oid			of_cast;

	if (function != F_INTERVAL_MUL && !is_turned)
		return false;
	interval = interval_constant(list_nth(args, is_turned));
	factor = list_nth(args, !is_turned);
	of_cast = expr_function_of(factor, &cast);
	if (interval == NULL || interval->month != 0)
		return false;
	if (of_cast != F_FLOAT8_INT2 && of_cast != F_FLOAT8_INT4 && of_cast != F_FLOAT8_INT8)
		return find_real_product(factor, interval, multiple);
	*multiple = (interval_multiple) {linitial(cast), interval->day, interval->time};
	return true;
}

static bool
is_zero(const Const *constant)
{
	return IsA(constant, Const) && !constant->constisnull && constant->constvalue == 0;
}

/* make_interval(days => n), or another one of weeks, days, hours and minutes. */
static bool
find_made(Expr *expr, interval_multiple *multiple)
{
	static const interval_multiple units[] = {[2] = {.day = 7},[3] = {.day = 1},[4] = {.time = USECS_PER_HOUR},[5] = {.time = USECS_PER_MINUTE}};
	List	   *args = NIL;
	int			unit = 0;
	ListCell   *cell;

	if (expr_function_of(expr, &args) != F_MAKE_INTERVAL)
		return false;
	foreach(cell, args)
	{
		if (is_zero(lfirst(cell)))
			continue;
		if (unit > 0)
			return false;
		unit = foreach_current_index(cell);
	}
	if (unit < 2 || unit > 5)
		return false;
	*multiple = units[unit];
	multiple->factor = list_nth(args, unit);
	return true;
}

/* Floats up to this are whole, and PostgreSQL multiplies microseconds so; days are an int4. */
#define MOST_WHOLE INT64CONST(9000000000000000)
#define MOST_DAYS INT64CONST(100000000)

/* Add so many times a number of microseconds. */
static bool
add_multiple(expr_program *program, expr_value factor, int64 span, expr_value *value)
{
	expr_value	both[2] = {factor};

	if (!compile_number(program, span, &both[1]))
		return false;
	both[1] = add_op(program, MGPU_RUN_MULTIPLY_INTEGER, time_type, 0, 2, both);
	both[0] = *value;
	*value = add_op(program, MGPU_RUN_ADD_INTEGER, time_type, 0, 2, both);
	*value = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return true;
}

static bool
compile_multiples(expr_program *program, const function_call *call, const interval_multiple *multiple, expr_value *value)
{
	int64		most = Min(multiple->time == 0 ? MOST_WHOLE : MOST_WHOLE / Max(multiple->time, -multiple->time), multiple->day == 0 ? MOST_WHOLE : MOST_DAYS / Max(multiple->day, -multiple->day));
	int			sign = call->known->number > 0 ? 1 : -1;
	expr_value	factor;

	if (most < 1 || !compile_expr(program, multiple->factor, &factor))
		return false;
	factor = add_op(program, MGPU_RUN_LIMIT_MAGNITUDE, time_type, most, 1, &factor);
	if (multiple->day != 0 &&
		((call->known->zoned && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, value)) ||
		 !add_multiple(program, factor, sign * multiple->day * USECS_PER_DAY, value) ||
		 (call->known->zoned && !compile_change_zone(program, MGPU_RUN_ZONED_OF_LOCAL, value))))
		return false;
	/* of no time at all NULL is still NULL */
	return (multiple->day != 0 && multiple->time == 0) || add_multiple(program, factor, sign * multiple->time, value);
}

/* A date or time, and an interval. */
bool
compile_time_sum(expr_program *program, const function_call *call, expr_value *value)
{
	const Interval *interval = interval_constant(lsecond(call->args));
	interval_multiple multiple = {0};

	if (interval == NULL && !find_product(lsecond(call->args), &multiple) && !find_made(lsecond(call->args), &multiple))
		return false;
	if (!compile_expr(program, linitial(call->args), value))
		return false;
	*value = add_op(program, call->known->code, time_type, 0, 1, value);
	*value = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return interval ? compile_constant(program, call, interval, value) : compile_multiples(program, call, &multiple, value);
}

/* A date and a time of day: the end of a day is the begin of the next. */
bool
compile_day_and_time(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];

	if (!compile_args(program, call, args))
		return false;
	args[0] = add_op(program, MGPU_RUN_TIME_OF_DATE, time_type, 0, 1, args);
	*value = add_op(program, MGPU_RUN_ADD_INTEGER, time_type, 0, 2, args);
	*value = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return true;
}

/*
 * compile_times.c
 *		The operations of functions of dates and times.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/compile.h"
#include "expr/time_parts.h"

static const expr_type time_type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* Names that PostgreSQL takes for units and fields, of those that operations know. */
static const char *const unit_names[] = {
	[MGPU_TIME_MICROSECOND] = "microsecond",
	[MGPU_TIME_MILLISECOND] = "millisecond",
	[MGPU_TIME_SECOND] = "second",
	[MGPU_TIME_MINUTE] = "minute",
	[MGPU_TIME_HOUR] = "hour",
	[MGPU_TIME_DAY] = "day",
	[MGPU_TIME_WEEK] = "week",
	[MGPU_TIME_MONTH] = "month",
	[MGPU_TIME_QUARTER] = "quarter",
	[MGPU_TIME_YEAR] = "year"
};

static const char *const field_names[] = {
	[MGPU_FIELD_YEAR] = "year",
	[MGPU_FIELD_QUARTER] = "quarter",
	[MGPU_FIELD_MONTH] = "month",
	[MGPU_FIELD_WEEK] = "week",
	[MGPU_FIELD_DAY] = "day",
	[MGPU_FIELD_DAY_OF_YEAR] = "doy",
	[MGPU_FIELD_DAY_OF_WEEK] = "dow",
	[MGPU_FIELD_ISO_DAY] = "isodow",
	[MGPU_FIELD_ISO_YEAR] = "isoyear",
	[MGPU_FIELD_HOUR] = "hour",
	[MGPU_FIELD_MINUTE] = "minute",
	[MGPU_FIELD_SECOND] = "second",
	[MGPU_FIELD_EPOCH] = "epoch"
};

/* The place of a name among names, or -1. */
static int
place_of(const char *name, const char *const *names, int num_names)
{
	for (int i = 0; name && i < num_names; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

static int
find_name(const Node *node, const char *const *names, int num_names)
{
	return place_of(text_constant(node), names, num_names);
}

double
time_unit_length(const char *unit)
{
	static const double lengths[] = {
		[MGPU_TIME_MICROSECOND] = 1,[MGPU_TIME_MILLISECOND] = 1000,[MGPU_TIME_SECOND] = USECS_PER_SEC,[MGPU_TIME_MINUTE] = USECS_PER_MINUTE,
		[MGPU_TIME_HOUR] = USECS_PER_HOUR,[MGPU_TIME_DAY] = USECS_PER_DAY,[MGPU_TIME_WEEK] = 7.0 * USECS_PER_DAY,[MGPU_TIME_MONTH] = 28.0 * USECS_PER_DAY,
		[MGPU_TIME_QUARTER] = 90.0 * USECS_PER_DAY,[MGPU_TIME_YEAR] = 365.0 * USECS_PER_DAY
	};
	int			place = place_of(unit, unit_names, lengthof(unit_names));

	return lengths[Max(place, 0)];
}

double
time_field_values(const char *field, double range)
{
	static const double most[] = {
		[MGPU_FIELD_QUARTER] = 4,[MGPU_FIELD_MONTH] = 12,[MGPU_FIELD_WEEK] = 53,[MGPU_FIELD_DAY] = 31,[MGPU_FIELD_DAY_OF_YEAR] = 366,
		[MGPU_FIELD_DAY_OF_WEEK] = 7,[MGPU_FIELD_ISO_DAY] = 7,[MGPU_FIELD_HOUR] = 24,[MGPU_FIELD_MINUTE] = 60
	};
	int			place = place_of(field, field_names, lengthof(field_names));

	if (place == MGPU_FIELD_YEAR)
		return range / time_unit_length("year");
	return place >= 0 && place < (int) lengthof(most) && most[place] > 0 ? most[place] : HUGE_VAL;
}

/* Within an hour, PostgreSQL keeps the offset that the time had. */
static void
keep_offset(expr_program *program, expr_value zoned, expr_value local, expr_value *value)
{
	expr_value	offset = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, time_type, 0, 2, (expr_value[]) {local, zoned});

	*value = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, time_type, 0, 2, (expr_value[]) {*value, offset});
}

static bool
compile_truncate(expr_program *program, const function_call *call, expr_value *value)
{
	int			unit = find_name(linitial(call->args), unit_names, lengthof(unit_names));
	const Node *zone = list_length(call->args) > 2 ? lthird(call->args) : NULL;
	expr_value	zoned;
	expr_value	local;

	if (unit < 0 || !compile_expr(program, lsecond(call->args), value))
		return false;
	zoned = *value;
	if (call->known->zoned && !compile_change_named(program, zone, MGPU_RUN_LOCAL_OF_ZONED, value))
		return false;
	local = *value;
	*value = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, unit, 1, value);
	if (!call->known->zoned)
		return true;
	if (unit > MGPU_TIME_HOUR)
		return compile_change_named(program, zone, MGPU_RUN_ZONED_OF_LOCAL, value);
	keep_offset(program, zoned, local, value);
	return true;
}

/* The value of a constant, or NULL: it is none, or NULL. */
static const Const *
constant_of(const Node *node)
{
	return IsA(node, Const) && !((const Const *) node)->constisnull ? (const Const *) node : NULL;
}

static bool
compile_bin(expr_program *program, const function_call *call, expr_value *value)
{
	const Const *stride = constant_of(linitial(call->args));
	const Const *origin = constant_of(lthird(call->args));
	const Interval *interval;
	mgpu_time_bin bin;

	if (stride == NULL || origin == NULL || !compile_expr(program, lsecond(call->args), value))
		return false;
	interval = DatumGetIntervalP(stride->constvalue);
	bin.origin = DatumGetTimestamp(origin->constvalue);
	bin.stride = interval->day * USECS_PER_DAY + interval->time;
	/* others are errors, or of a length that no day count tells */
	if (interval->month != 0 || abs(interval->day) > 100000 || bin.stride <= 0 || !IS_VALID_TIMESTAMP(bin.origin))
		return false;
	*value = add_op(program, MGPU_RUN_TIME_BIN, time_type, table_add(program, &bin, sizeof(bin)), 1, value);
	return true;
}

/* extract() returns a numeric, date_part() a float8. */
static bool
compile_extract(expr_program *program, const function_call *call, expr_value *value)
{
	int			field = find_name(linitial(call->args), field_names, lengthof(field_names));
	bool		of_date = call->known->number;
	bool		is_fraction = field == MGPU_FIELD_SECOND || field == MGPU_FIELD_EPOCH;
	expr_type	type = {MGPU_LANE_INTEGER, sizeof(int64), true, is_fraction ? 6 : 0};

	if (field < 0 || (of_date && field >= MGPU_FIELD_HOUR) || !compile_expr(program, lsecond(call->args), value))
		return false;
	if (of_date)
		*value = add_op(program, MGPU_RUN_TIME_OF_DATE, time_type, 0, 1, value);
	/* the epoch is the same in all time zones */
	if (call->known->zoned && field != MGPU_FIELD_EPOCH && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, value))
		return false;
	*value = add_op(program, MGPU_RUN_EXTRACT, type, field, 1, value);
	if (call->type.lane == MGPU_LANE_INTEGER)
		return true;
	/* PostgreSQL adds two floats here */
	if (field == MGPU_FIELD_SECOND)
		return false;
	*value = add_op(program, MGPU_RUN_REAL_OF_NUMERIC, call->type, power_of_ten(type.scale), 1, value);
	return true;
}

/* An operation on days, none of which is infinite. */
static bool
compile_dates(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];
	bool		is_difference = call->type_id != DATEOID;

	if (!compile_args(program, call, args))
		return false;
	for (int i = 0; i < (is_difference ? 2 : 1); i++)
		args[i] = add_op(program, MGPU_RUN_FIT_DATE, args[i].type, 0, 1, &args[i]);
	(void) add_call_op(program, call, args, value);
	if (!is_difference)
		*value = add_op(program, MGPU_RUN_FIT_DATE, call->type, 0, 1, value);
	return true;
}

static bool
compile_real(expr_program *program, double number, expr_value *value)
{
	return compile_expr(program, (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(number), false, true), value);
}

/* Seconds since 1970, to the next microsecond. */
static bool
compile_of_epoch(expr_program *program, const function_call *call, expr_value *value)
{
	const expr_type real = {MGPU_LANE_REAL, sizeof(float8), false, 0};
	expr_value	args[2];

	if (!compile_expr(program, linitial(call->args), &args[0]) || !compile_real(program, (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (double) SECS_PER_DAY, &args[1]))
		return false;
	args[0] = add_op(program, MGPU_RUN_SUBTRACT_REAL, real, 0, 2, args);
	if (!compile_real(program, USECS_PER_SEC, &args[1]))
		return false;
	args[0] = add_op(program, MGPU_RUN_MULTIPLY_REAL, real, 0, 2, args);
	*value = add_op(program, MGPU_RUN_INTEGER_OF_REAL, time_type, 0, 1, args);
	*value = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return true;
}

bool
compile_time(expr_program *program, const function_call *call, expr_value *value)
{
	switch (call->known->form)
	{
		case FORM_TRUNCATE:
			return compile_truncate(program, call, value);
		case FORM_BIN:
			return compile_bin(program, call, value);
		case FORM_EXTRACT:
			return compile_extract(program, call, value);
		case FORM_SPAN:
		case FORM_SPAN_PART:
			return compile_spans(program, call, value);
		case FORM_DATES:
			return compile_dates(program, call, value);
		case FORM_DAY_AND_TIME:
			return compile_day_and_time(program, call, value);
		case FORM_INTERVAL:
			return compile_time_sum(program, call, value);
		default:
			return compile_of_epoch(program, call, value);
	}
}

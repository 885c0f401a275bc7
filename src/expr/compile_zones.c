/*
 * compile_zones.c
 *		The operations of functions of times that depend on a time zone: AT TIME ZONE, casts, and comparisons of dates and times of both kinds.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/compile.h"

static const expr_type time_type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* To a time zone or from it.  false: its offsets are not known. */
static bool
change_by(expr_program *program, pg_tz *zone, int code, expr_value *value)
{
	if (program->last_zone != zone)
		program->last_zone_table = table_of_zone(program, zone);
	program->last_zone = zone;
	if (program->last_zone_table < 0)
		return false;
	*value = add_op(program, code, time_type, program->last_zone_table, 1, value);
	return true;
}

/* The session's may be another one later. */
bool
compile_change_zone(expr_program *program, int code, expr_value *value)
{
	program->zone = session_timezone;
	return change_by(program, session_timezone, code, value);
}

static bool
compile_zone(expr_program *program, const function_call *call, expr_value *value)
{
	if (!compile_expr(program, linitial(call->args), value))
		return false;
	if (!call->known->zoned && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, value))
		return false;
	*value = add_op(program, call->known->code, call->known->zoned ? time_type : call->type, 0, 1, value);
	return !call->known->zoned || compile_change_zone(program, MGPU_RUN_ZONED_OF_LOCAL, value);
}

/* A name with a slash is no abbreviation, whose meaning a setting may change. */
bool
compile_change_named(expr_program *program, const Node *zone, int code, expr_value *value)
{
	const char *name = zone ? text_constant(zone) : NULL;
	pg_tz	   *found;

	if (zone == NULL)
		return compile_change_zone(program, code, value);
	if (name == NULL || (strchr(name, '/') == NULL && strcmp(name, "UTC") != 0))
		return false;
	found = pg_tzset(name);
	return found && change_by(program, found, code, value);
}

/* AT TIME ZONE. */
static bool
compile_named_zone(expr_program *program, const function_call *call, expr_value *value)
{
	return compile_expr(program, lsecond(call->args), value) && compile_change_named(program, linitial(call->args), call->known->code, value);
}

/* A date, or a time of the other kind, as a time with a time zone or without. */
static bool
compile_as_time(expr_program *program, Expr *expr, bool zoned, expr_value *value)
{
	Oid			type = exprType((Node *) expr);

	if (!compile_expr(program, expr, value))
		return false;
	*value = add_op(program, type == DATEOID ? MGPU_RUN_TIME_OF_DATE : MGPU_RUN_FIT_TIME, time_type, 0, 1, value);
	return !zoned || type == TIMESTAMPTZOID || compile_change_zone(program, MGPU_RUN_ZONED_OF_LOCAL, value);
}

/* A comparison of a date with a time, or of times of both kinds. */
static bool
compile_mixed(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[2];

	return compile_as_time(program, linitial(call->args), call->known->zoned, &args[0]) &&
		compile_as_time(program, lsecond(call->args), call->known->zoned, &args[1]) && add_call_op(program, call, args, value);
}

/* What a time has beyond its day. */
static bool
compile_time_of_day(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[2];

	if (!compile_expr(program, linitial(call->args), &args[0]))
		return false;
	args[0] = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, &args[0]);
	if (call->known->zoned && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, &args[0]))
		return false;
	args[1] = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, MGPU_TIME_DAY, 1, &args[0]);
	*value = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, call->type, 0, 2, args);
	return true;
}

bool
compile_zoned(expr_program *program, const function_call *call, expr_value *value)
{
	switch (call->known->form)
	{
		case FORM_NAMED_ZONE:
			return compile_named_zone(program, call, value);
		case FORM_MIXED_TIMES:
			return compile_mixed(program, call, value);
		case FORM_TIME_OF_DAY:
			return compile_time_of_day(program, call, value);
		default:
			return compile_zone(program, call, value);
	}
}

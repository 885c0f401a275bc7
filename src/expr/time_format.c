/*
 * time_format.c
 *		Texts that to_char makes of times, as numbers.
 *
 * Reports group by to_char(at, 'YYYY-MM').  All times of a month have one text, so the month's first instant stands for it, and to_char is called for
 * groups alone.  A format without years, such as 'HH24:MI', has the parts of one day: its first instants are of the day that numbers begin with.
 * Writing texts in programs was rejected: they take more cells than a number, and only equality is asked for.
 */
#include "postgres.h"

#include <math.h>

#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/compile.h"
#include "expr/time_parts.h"

/* Parts of times, the largest first. */
static const struct
{
	int			unit;			/* mgpu_time_unit */
	double		length;			/* in microseconds, at least */
	double		in_larger;		/* most of them in one before */
}			units[] = {
	{MGPU_TIME_YEAR, 365.0 * USECS_PER_DAY, 9999}, {MGPU_TIME_MONTH, 28.0 * USECS_PER_DAY, 12}, {MGPU_TIME_DAY, USECS_PER_DAY, 31},
	{MGPU_TIME_HOUR, USECS_PER_HOUR, 24}, {MGPU_TIME_MINUTE, USECS_PER_MINUTE, 60}, {MGPU_TIME_SECOND, USECS_PER_SEC, 60}
};

#define DAY_PART 2

/* Of two patterns that begin alike the longer is first.  Names are English ones, since no pattern has TM in front. */
static const struct
{
	const char *pattern;
	int			part;
}			patterns[] = {
	{"YYYY", 0}, {"MM", 1}, {"Month", 1}, {"MONTH", 1}, {"Mon", 1}, {"MON", 1}, {"DD", 2}, {"HH24", 3}, {"MI", 4}, {"SS", 5}
};

/* The bytes of what is not a pattern for sure, or 0: letters outside of quotes may be one. */
static Size
plain_bytes(const char *format)
{
	Size		quoted = *format == '"' ? strcspn(format + 1, "\"\\") : 0;

	if (*format == '"')
		return format[1 + quoted] == '"' ? quoted + 2 : 0;
	return strspn(format, "-/:., _");
}

/* A bit for each part that a format has; 0: it has others. */
static uint32
parts_of(const char *format)
{
	uint32		found = 0;

	while (*format)
	{
		Size		length = plain_bytes(format);

		for (int i = 0; length == 0 && i < (int) lengthof(patterns); i++)
			if (strncmp(format, patterns[i].pattern, strlen(patterns[i].pattern)) == 0)
			{
				found |= 1u << patterns[i].part;
				length = strlen(patterns[i].pattern);
				/* DDD and SSSS are days of a year and seconds of a day */
				if (format[length] == format[length - 1])
					return 0;
			}
		if (length == 0)
			return 0;
		format += length;
	}
	return found;
}

/* The first and the last part, with all between; years come first, or days and what is below.  false: others. */
static bool
find_parts(const char *format, int *first, int *last)
{
	uint32		found = parts_of(format);

	if (found == 0)
		return false;
	for (*first = 0; (found >> *first & 1) == 0;)
		(*first)++;
	for (*last = *first; (found >> (*last + 1) & 1) != 0;)
		(*last)++;
	return found >> (*last + 1) == 0 && (*first == 0 || *first >= DAY_PART);
}

double
time_format_values(const char *format, double range)
{
	double		values = 1;
	int			first;
	int			last;

	if (!find_parts(format, &first, &last))
		return HUGE_VAL;
	if (first == 0)
		return range / units[last].length;
	for (int i = first; i <= last; i++)
		values *= units[i].in_larger;
	return values;
}

bool
compile_format(expr_program *program, const Expr *expr, expr_value *value, Datum *format)
{
	const expr_type time_type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	const FuncExpr *call = (const FuncExpr *) expr;
	bool		is_zoned = IsA(expr, FuncExpr) && call->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT;
	const char *text;
	expr_value	times[2];
	int			first;
	int			last;

	if (!is_zoned && !(IsA(expr, FuncExpr) && call->funcid == F_TO_CHAR_TIMESTAMP_TEXT))
		return false;
	text = text_constant(lsecond(call->args));
	if (text == NULL || !find_parts(text, &first, &last) || !compile_expr(program, linitial(call->args), &times[0]) ||
		(is_zoned && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, &times[0])))
		return false;
	*format = ((const Const *) lsecond(call->args))->constvalue;
	/* texts do not tell years before 1 from those after */
	times[0] = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, times);
	*value = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, units[last].unit, 1, times);
	if (first == 0)
		return true;
	times[1] = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, units[first - 1].unit, 1, times);
	times[0] = *value;
	*value = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, time_type, 0, 2, times);
	return true;
}

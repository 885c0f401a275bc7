/*
 * time_format.c
 *		Texts that to_char makes of times, as numbers.
 *
 * Reports group by to_char(at, 'YYYY-MM').  All times of a month have one text, so the month's first instant stands for it, and to_char is called for
 * groups alone.  A format without years, such as 'HH24:MI', has the parts of one day: its first instants are of the day that numbers begin with.  For a month
 * or a weekday of any year stands one in the first year of numbers.
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

/* Parts of times that lie in each other, the largest first. */
static const struct
{
	int			unit;			/* mgpu_time_unit */
	double		length;			/* in microseconds, at least */
	double		in_larger;		/* most of them in one before */
}			units[] = {
	{MGPU_TIME_YEAR, 365.0 * USECS_PER_DAY, 9999}, {MGPU_TIME_MONTH, 28.0 * USECS_PER_DAY, 12}, {MGPU_TIME_DAY, USECS_PER_DAY, 31},
	{MGPU_TIME_HOUR, USECS_PER_HOUR, 24}, {MGPU_TIME_MINUTE, USECS_PER_MINUTE, 60}, {MGPU_TIME_SECOND, USECS_PER_SEC, 60}
};

#define YEAR_PART 0
#define MONTH_PART 1
#define DAY_PART 2

/* Parts that do not lie so. */
#define QUARTER_PART 6
#define WEEKDAY_PART 7
#define ISO_YEAR_PART 8
#define ISO_WEEK_PART 9

#define HAS(part) (1u << (part))

/* Of two patterns that begin alike the longer is first.  Names are English ones, since no pattern has TM in front. */
static const struct
{
	const char *pattern;
	int			part;
}			patterns[] = {
	{"IYYY", ISO_YEAR_PART}, {"IW", ISO_WEEK_PART}, {"ID", WEEKDAY_PART}, {"YYYY", YEAR_PART}, {"MM", MONTH_PART}, {"Month", MONTH_PART}, {"MONTH", MONTH_PART},
	{"month", MONTH_PART}, {"Mon", MONTH_PART}, {"MON", MONTH_PART}, {"mon", MONTH_PART}, {"DD", DAY_PART}, {"Day", WEEKDAY_PART}, {"DAY", WEEKDAY_PART},
	{"day", WEEKDAY_PART}, {"Dy", WEEKDAY_PART}, {"DY", WEEKDAY_PART}, {"dy", WEEKDAY_PART}, {"D", WEEKDAY_PART}, {"HH24", 3}, {"MI", 4}, {"SS", 5},
	{"Q", QUARTER_PART}
};

/*
 * Sets of parts by themselves.  Those of any year have a field, of which value n has n + first times so many days behind 2000-01-01, a Saturday: the first
 * instant of a day that to_char writes so.  Others are truncated to a unit.
 */
typedef struct part_set
{
	uint32		parts;
	int			field;			/* mgpu_time_field, or -1 */
	int			first;
	int			days;
	int			unit;			/* mgpu_time_unit, of those without a field */
	double		values;			/* how many there are; of a unit, its length in microseconds */
} part_set;

static const part_set part_sets[] = {
	{HAS(MONTH_PART), MGPU_FIELD_MONTH, -1, 31, 0, 12}, {HAS(QUARTER_PART), MGPU_FIELD_QUARTER, -1, 92, 0, 4}, {HAS(WEEKDAY_PART), MGPU_FIELD_DAY_OF_WEEK, 1, 1, 0, 7},
	{HAS(YEAR_PART) | HAS(QUARTER_PART), -1, 0, 0, MGPU_TIME_QUARTER, 90.0 * USECS_PER_DAY},
	{HAS(ISO_YEAR_PART) | HAS(ISO_WEEK_PART), -1, 0, 0, MGPU_TIME_WEEK, 7.0 * USECS_PER_DAY}
};

/* The bytes of a text in quotes, or 0: it does not end. */
static Size
quoted_bytes(const char *format)
{
	Size		length = 1;

	for (; format[length] && format[length] != '"'; length++)
		length += format[length] == '\\' && format[length + 1];
	return format[length] ? length + 1 : 0;
}

/* The bytes of what is not a pattern for sure, or 0: letters outside of quotes may be one, all else is copied. */
static Size
plain_bytes(const char *format)
{
	if (*format == '"')
		return quoted_bytes(format);
	if (format[0] == '\\' && format[1] == '"')
		return 2;
	return (*format >= 'A' && *format <= 'Z') || (*format >= 'a' && *format <= 'z') ? 0 : 1;
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

/* NULL: parts are none of these sets. */
static const part_set *
find_set(uint32 found)
{
	for (int i = 0; i < (int) lengthof(part_sets); i++)
		if (part_sets[i].parts == found)
			return &part_sets[i];
	return NULL;
}

/* The first and the last part, with all between; years come first, or days and what is below.  false: others. */
static bool
find_range(uint32 found, int *first, int *last)
{
	if (found == 0)
		return false;
	for (*first = 0; (found >> *first & 1) == 0;)
		(*first)++;
	for (*last = *first; (found >> (*last + 1) & 1) != 0;)
		(*last)++;
	return found >> (*last + 1) == 0 && *last < (int) lengthof(units) && (*first == YEAR_PART || *first >= DAY_PART);
}

double
time_format_values(const char *format, double range)
{
	uint32		found = parts_of(format);
	const part_set *set = find_set(found);
	double		values = 1;
	int			first;
	int			last;

	if (set)
		return set->field >= 0 ? set->values : range / set->values;
	if (!find_range(found, &first, &last))
		return HUGE_VAL;
	if (first == YEAR_PART)
		return range / units[last].length;
	for (int i = first; i <= last; i++)
		values *= units[i].in_larger;
	return values;
}

/* ---- programs */

static const expr_type time_type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* The instant that stands for a value of a set's field, or unit. */
static bool
compile_set(expr_program *program, const part_set *set, expr_value time, expr_value *value)
{
	expr_value	args[2];

	if (set->field < 0)
	{
		*value = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, set->unit, 1, &time);
		return true;
	}
	args[0] = add_op(program, MGPU_RUN_EXTRACT, time_type, set->field, 1, &time);
	if (!compile_number(program, set->first, &args[1]))
		return false;
	args[0] = add_op(program, MGPU_RUN_ADD_INTEGER, time_type, 0, 2, args);
	if (!compile_number(program, set->days * USECS_PER_DAY, &args[1]))
		return false;
	*value = add_op(program, MGPU_RUN_MULTIPLY_INTEGER, time_type, 0, 2, args);
	return true;
}

/* The first instant of parts from one on, of any day or since there are years. */
static void
compile_range(expr_program *program, int first, int last, expr_value time, expr_value *value)
{
	expr_value	args[2];

	*value = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, units[last].unit, 1, &time);
	if (first == YEAR_PART)
		return;
	args[0] = *value;
	args[1] = add_op(program, MGPU_RUN_TRUNCATE_TIME, time_type, units[first - 1].unit, 1, &time);
	*value = add_op(program, MGPU_RUN_SUBTRACT_INTEGER, time_type, 0, 2, args);
}

bool
compile_format(expr_program *program, const Expr *expr, expr_value *value, Datum *format)
{
	const FuncExpr *call = (const FuncExpr *) expr;
	bool		is_zoned = IsA(expr, FuncExpr) && call->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT;
	const char *text;
	expr_value	time;
	const part_set *set;
	uint32		found;
	int			first = 0;
	int			last = 0;

	if (!is_zoned && !(IsA(expr, FuncExpr) && call->funcid == F_TO_CHAR_TIMESTAMP_TEXT))
		return false;
	text = text_constant(lsecond(call->args));
	found = text ? parts_of(text) : 0;
	set = find_set(found);
	if (set == NULL && !find_range(found, &first, &last))
		return false;
	if (!compile_expr(program, linitial(call->args), &time) || (is_zoned && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, &time)))
		return false;
	*format = ((const Const *) lsecond(call->args))->constvalue;
	/* texts do not tell years before 1 from those after */
	time = add_op(program, MGPU_RUN_FIT_TIME, time_type, 0, 1, &time);
	if (set)
		return compile_set(program, set, time, value);
	compile_range(program, first, last, time, value);
	return true;
}

/*
 * time_format.c
 *		Texts that to_char makes of times: as numbers, or written.
 *
 * Reports group by to_char(at, 'YYYY-MM').  All times of a month have one text, so the month's first instant stands for it, and to_char is called for
 * groups alone.  A format without years, such as 'HH24:MI', has the parts of one day: its first instants are of the day that numbers begin with.  For a month
 * or a weekday of any year stands one in the first year of numbers.
 * Keys are such numbers, which take one cell.  Elsewhere, as in to_char(at, 'YYYY-MM') = '2024-05' or parts that are put together, the text is written.
 */
#include "postgres.h"

#include <ctype.h>
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

#define DIGITS(field, width, add) {MGPU_PIECE_DIGITS, MGPU_FIELD_##field, width, add, 0}
#define NAME(field, width, add) {MGPU_PIECE_NAME, MGPU_FIELD_##field, width, add, 0}

/* Of two patterns that begin alike the longer is first.  Names are English ones, since no pattern has TM in front. */
static const struct
{
	const char *pattern;
	int			part;
	mgpu_time_piece piece;
}			patterns[] = {
	{"IYYY", ISO_YEAR_PART, DIGITS(ISO_YEAR, 4, 0)}, {"IW", ISO_WEEK_PART, DIGITS(WEEK, 2, 0)}, {"ID", WEEKDAY_PART, DIGITS(ISO_DAY, 1, 0)},
	{"YYYY", YEAR_PART, DIGITS(YEAR, 4, 0)}, {"MM", MONTH_PART, DIGITS(MONTH, 2, 0)}, {"Month", MONTH_PART, NAME(MONTH, 9, -1)},
	{"MONTH", MONTH_PART, NAME(MONTH, 9, -1)}, {"month", MONTH_PART, NAME(MONTH, 9, -1)}, {"Mon", MONTH_PART, NAME(MONTH, 3, -1)},
	{"MON", MONTH_PART, NAME(MONTH, 3, -1)}, {"mon", MONTH_PART, NAME(MONTH, 3, -1)}, {"DD", DAY_PART, DIGITS(DAY, 2, 0)},
	{"Day", WEEKDAY_PART, NAME(DAY_OF_WEEK, 9, 0)}, {"DAY", WEEKDAY_PART, NAME(DAY_OF_WEEK, 9, 0)}, {"day", WEEKDAY_PART, NAME(DAY_OF_WEEK, 9, 0)},
	{"Dy", WEEKDAY_PART, NAME(DAY_OF_WEEK, 3, 0)}, {"DY", WEEKDAY_PART, NAME(DAY_OF_WEEK, 3, 0)}, {"dy", WEEKDAY_PART, NAME(DAY_OF_WEEK, 3, 0)},
	{"D", WEEKDAY_PART, DIGITS(DAY_OF_WEEK, 1, 1)}, {"HH24", 3, DIGITS(HOUR, 2, 0)}, {"MI", 4, DIGITS(MINUTE, 2, 0)}, {"SS", 5, DIGITS(SECOND, 2, 0)},
	{"Q", QUARTER_PART, DIGITS(QUARTER, 1, 0)}
};

static const char *const month_names[] = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"};
static const char *const day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

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

/* The pattern that a format begins with, or -1: none of these.  DDD and SSSS are days of a year and seconds of a day. */
static int
pattern_at(const char *format)
{
	for (int i = 0; i < (int) lengthof(patterns); i++)
	{
		Size		length = strlen(patterns[i].pattern);

		if (strncmp(format, patterns[i].pattern, length) == 0)
			return format[length] == format[length - 1] ? -1 : i;
	}
	return -1;
}

/* A bit for each part that a format has; 0: it has others. */
static uint32
parts_of(const char *format)
{
	uint32		found = 0;

	while (*format)
	{
		Size		length = plain_bytes(format);
		int			pattern = length == 0 ? pattern_at(format) : -1;

		if (pattern >= 0)
		{
			found |= 1u << patterns[pattern].part;
			length = strlen(patterns[pattern].pattern);
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

/* ---- texts */

/* The names of a pattern, each in its width and as the pattern's letters are. */
static bool
add_names(mgpu_time_format *format, uint32 *end, const char *pattern, const mgpu_time_piece *piece)
{
	bool		of_months = piece->field == MGPU_FIELD_MONTH;
	int			num_names = of_months ? (int) lengthof(month_names) : (int) lengthof(day_names);

	if (*end + num_names * piece->width > MGPU_FORMAT_BYTES)
		return false;
	for (int i = 0; i < num_names; i++)
	{
		const char *name = of_months ? month_names[i] : day_names[i];
		bool		ended = false;

		for (int j = 0; j < piece->width; j++)
		{
			ended |= name[j] == '\0';
			format->bytes[(*end)++] = ended ? ' ' : islower((unsigned char) pattern[0]) ? pg_ascii_tolower(name[j]) :
				isupper((unsigned char) pattern[1]) ? pg_ascii_toupper(name[j]) : name[j];
		}
	}
	return true;
}

/* The pieces of a format, all of whose parts are known.  false: there are too many, or quotes. */
static bool
find_pieces(const char *text, mgpu_time_format *format)
{
	uint32		end = 0;

	*format = (mgpu_time_format) {0};
	while (*text)
	{
		int			pattern = plain_bytes(text) == 0 ? pattern_at(text) : -1;
		mgpu_time_piece *piece = &format->pieces[format->num_pieces++];

		if (format->num_pieces == MGPU_FORMAT_PIECES || plain_bytes(text) > 1 || end == MGPU_FORMAT_BYTES)
			return false;
		*piece = pattern >= 0 ? patterns[pattern].piece : (mgpu_time_piece) {MGPU_PIECE_BYTES, 0, 1, 0, 0};
		piece->first = piece->kind == MGPU_PIECE_DIGITS ? 0 : end;
		if (piece->kind == MGPU_PIECE_NAME && !add_names(format, &end, text, piece))
			return false;
		if (piece->kind == MGPU_PIECE_BYTES)
			format->bytes[end++] = *text;
		format->length += piece->width;
		text += pattern >= 0 ? strlen(patterns[pattern].pattern) : 1;
	}
	return true;
}

bool
compile_format_text(expr_program *program, const function_call *call, expr_value *value)
{
	const char *text = text_constant(lsecond(call->args));
	mgpu_time_format format;

	if (text == NULL || parts_of(text) == 0 || !find_pieces(text, &format) || !compile_expr(program, linitial(call->args), value) ||
		(call->known->zoned && !compile_change_zone(program, MGPU_RUN_LOCAL_OF_ZONED, value)))
		return false;
	return add_made(program, MGPU_RUN_FORMAT_TIME, table_add(program, &format, sizeof(format)), value, value);
}

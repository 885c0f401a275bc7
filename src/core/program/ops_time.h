/*
 * program/ops_time.h
 *		Operations on days and microseconds since 2000-01-01.
 *
 * The calendar is the Gregorian one, also before it was in use, as PostgreSQL's is.  Days become years by counting them in eras of
 * 400 years that begin in March, so that the day that leap years add is a year's last (Howard Hinnant, "chrono-compatible low-level
 * date algorithms").
 */
#ifndef MGPU_OPS_TIME_H
#define MGPU_OPS_TIME_H

#define MICROSECONDS_PER_SECOND INT64_C(1000000)
#define MICROSECONDS_PER_DAY (INT64_C(86400) * MICROSECONDS_PER_SECOND)
#define UNIX_DAY 10957			/* from 1970-01-01 to 2000-01-01 */
#define SECONDS_BEFORE_2000 (INT64_C(86400) * UNIX_DAY)

/* 0001-01-01 and 9999-12-31 */
#define FIRST_DAY (-730119)
#define LAST_DAY 2921939

MGPU_CODEC int64_t
mgpu_floored(int64_t dividend, int64_t divisor)
{
	return dividend / divisor - (dividend % divisor < 0);
}

MGPU_CODEC int64_t
mgpu_positive_rest(int64_t dividend, int64_t divisor)
{
	return dividend - mgpu_floored(dividend, divisor) * divisor;
}

/* ---- the calendar */

typedef struct mgpu_civil_date
{
	int			year;
	int			month;			/* from 1 */
	int			day;			/* from 1 */
} mgpu_civil_date;

#define DAYS_PER_ERA 146097
#define MARCH_0000 (-719468 - UNIX_DAY) /* 0000-03-01 */

MGPU_CODEC mgpu_civil_date
mgpu_date_of_day(int64_t day)
{
	int64_t		shifted = day - MARCH_0000;
	int64_t		era = mgpu_floored(shifted, DAYS_PER_ERA);
	int			day_of_era = (int) (shifted - era * DAYS_PER_ERA);
	int			year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int			day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int			month = (5 * day_of_year + 2) / 153;	/* from March on */
	mgpu_civil_date date;

	date.year = (int) era * 400 + year_of_era + (month >= 10);
	date.month = month < 10 ? month + 3 : month - 9;
	date.day = day_of_year - (153 * month + 2) / 5 + 1;
	return date;
}

MGPU_CODEC int64_t
mgpu_day_of_date(int year, int month, int day)
{
	int64_t		shifted_year = month <= 2 ? year - 1 : year;
	int64_t		era = mgpu_floored(shifted_year, 400);
	int64_t		year_of_era = shifted_year - era * 400;
	int64_t		day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year + MARCH_0000;
}

/* The Monday on or before a day.  2000-01-03 was one. */
MGPU_CODEC int64_t
mgpu_monday_of(int64_t day)
{
	return day - mgpu_positive_rest(day - 2, 7);
}

/* The ISO week: that of the year that has the week's Thursday. */
MGPU_CODEC int
mgpu_week_of(int64_t day)
{
	int64_t		thursday = mgpu_monday_of(day) + 3;

	return (int) (thursday - mgpu_day_of_date(mgpu_date_of_day(thursday).year, 1, 1)) / 7 + 1;
}

MGPU_CODEC bool
mgpu_is_outside_calendar(int64_t day)
{
	return day < FIRST_DAY || day > LAST_DAY;
}

/* ---- operations */

#define UNARY(name, prepare, result, is_fault) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		int64_t		x = a.integers[i]; \
		prepare; \
		\
		to.states[i] = mgpu_state_unless(a.states[i], is_fault); \
		to.integers[i] = to.states[i] == MGPU_IS_VALUE ? (result) : 0; \
	} \
}

UNARY(fit_date,, x, mgpu_is_outside_calendar(x))
UNARY(fit_time,, x, mgpu_is_outside_calendar(mgpu_floored(x, MICROSECONDS_PER_DAY)))
UNARY(time_of_date,, x * MICROSECONDS_PER_DAY, mgpu_is_outside_calendar(x))
UNARY(date_of_time, int64_t day = mgpu_floored(x, MICROSECONDS_PER_DAY), day, mgpu_is_outside_calendar(day))

MGPU_CODEC int64_t
mgpu_first_day_of(int64_t day, mgpu_time_unit unit)
{
	mgpu_civil_date date = mgpu_date_of_day(day);

	switch (unit)
	{
		case MGPU_TIME_WEEK:
			return mgpu_monday_of(day);
		case MGPU_TIME_MONTH:
			return day - date.day + 1;
		case MGPU_TIME_QUARTER:
			return mgpu_day_of_date(date.year, (date.month - 1) / 3 * 3 + 1, 1);
		default:
			return mgpu_day_of_date(date.year, 1, 1);
	}
}

/* Microseconds of a unit, 0 if its lengths differ. */
MGPU_CODEC int64_t
mgpu_length_of_unit(mgpu_time_unit unit)
{
	switch (unit)
	{
		case MGPU_TIME_MICROSECOND:
			return 1;
		case MGPU_TIME_MILLISECOND:
			return 1000;
		case MGPU_TIME_SECOND:
			return MICROSECONDS_PER_SECOND;
		case MGPU_TIME_MINUTE:
			return 60 * MICROSECONDS_PER_SECOND;
		case MGPU_TIME_HOUR:
			return 3600 * MICROSECONDS_PER_SECOND;
		case MGPU_TIME_DAY:
			return MICROSECONDS_PER_DAY;
		default:
			return 0;
	}
}

MGPU_CODEC void
mgpu_run_truncate_time(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	mgpu_time_unit unit = (mgpu_time_unit) op.number;
	int64_t		length = mgpu_length_of_unit(unit);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];
		int64_t		day = mgpu_floored(x, MICROSECONDS_PER_DAY);

		to.states[i] = mgpu_state_unless(a.states[i], mgpu_is_outside_calendar(day));
		if (to.states[i] != MGPU_IS_VALUE)
			to.integers[i] = 0;
		else if (length > 0)
			to.integers[i] = x - mgpu_positive_rest(x, length);
		else
			to.integers[i] = mgpu_first_day_of(day, unit) * MICROSECONDS_PER_DAY;
	}
}

/* Versions differ before the origin. */
MGPU_CODEC void
mgpu_run_time_bin(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_time_bin *bin = (const mgpu_time_bin *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];

		to.states[i] = mgpu_state_unless(a.states[i], x < bin->origin || mgpu_is_outside_calendar(mgpu_floored(x, MICROSECONDS_PER_DAY)));
		to.integers[i] = to.states[i] == MGPU_IS_VALUE ? x - (x - bin->origin) % bin->stride : 0;
	}
}

MGPU_CODEC int64_t
mgpu_field_of(int64_t time, int64_t day, mgpu_time_field field)
{
	int64_t		in_day = time - day * MICROSECONDS_PER_DAY;

	switch (field)
	{
		case MGPU_FIELD_YEAR:
			return mgpu_date_of_day(day).year;
		case MGPU_FIELD_QUARTER:
			return (mgpu_date_of_day(day).month - 1) / 3 + 1;
		case MGPU_FIELD_MONTH:
			return mgpu_date_of_day(day).month;
		case MGPU_FIELD_WEEK:
			return mgpu_week_of(day);
		case MGPU_FIELD_DAY:
			return mgpu_date_of_day(day).day;
		case MGPU_FIELD_DAY_OF_YEAR:
			return day - mgpu_day_of_date(mgpu_date_of_day(day).year, 1, 1) + 1;
		case MGPU_FIELD_DAY_OF_WEEK:
			return mgpu_positive_rest(day - 1, 7);
		case MGPU_FIELD_ISO_DAY:
			return mgpu_positive_rest(day - 2, 7) + 1;
		case MGPU_FIELD_ISO_YEAR:
			return mgpu_date_of_day(mgpu_monday_of(day) + 3).year;
		case MGPU_FIELD_HOUR:
			return in_day / (3600 * MICROSECONDS_PER_SECOND);
		case MGPU_FIELD_MINUTE:
			return in_day / (60 * MICROSECONDS_PER_SECOND) % 60;
		case MGPU_FIELD_SECOND:
			return in_day % (60 * MICROSECONDS_PER_SECOND);
		default:
			return time + SECONDS_BEFORE_2000 * MICROSECONDS_PER_SECOND;
	}
}

UNARY(extract, int64_t day = mgpu_floored(x, MICROSECONDS_PER_DAY), mgpu_field_of(x, day, (mgpu_time_field) op.number), mgpu_is_outside_calendar(day))

/* ---- time zones */

/* An infinity is a fault, whatever comes out. */
MGPU_CODEC int64_t
mgpu_shift_time(int64_t time, int64_t offset)
{
	return (int64_t) ((uint64_t) time + (uint64_t) offset);
}

/* The entry that holds at a time, or -1.  Rows mostly come in order: the last one's is tried first. */
MGPU_CODEC int64_t
mgpu_change_at(const mgpu_zone *zone, int64_t time, int64_t last)
{
	int64_t		low = 0;
	int64_t		high = zone->num_changes - 1;

	if (zone->changes[last].start <= time && time < zone->changes[last + 1].start)
		return last;
	if (time < zone->changes[0].start || time >= zone->changes[high].start)
		return -1;
	while (low + 1 < high)
	{
		int64_t		middle = (low + high) / 2;

		if (zone->changes[middle].start <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

MGPU_CODEC void
mgpu_run_local_of_zoned(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_zone *zone = (const mgpu_zone *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	int64_t		last = 0;

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		change = a.states[i] == MGPU_IS_VALUE ? mgpu_change_at(zone, a.integers[i], last) : -1;

		last = change < 0 ? last : change;
		to.integers[i] = change < 0 ? 0 : mgpu_shift_time(a.integers[i], zone->changes[last].offset);
		to.states[i] = mgpu_state_unless(a.states[i], change < 0);
	}
}

/*
 * The offset of a local time of whole seconds, as PostgreSQL's DetermineTimeZoneOffset has it: it looks at the first change that comes
 * more than a day before that time in UTC.  A time that there is not, or twice, takes the offset before a change forward, and after one
 * back.  INT64_MIN: it is not known.
 */
MGPU_CODEC int64_t
mgpu_offset_of_local(const mgpu_zone *zone, int64_t time, int64_t *last)
{
	int64_t		change = mgpu_change_at(zone, time - MICROSECONDS_PER_DAY, *last);
	int64_t		boundary;
	int64_t		before;
	int64_t		after;

	if (change < 0)
		return INT64_MIN;
	*last = change;
	before = time - zone->changes[change].offset;
	boundary = zone->changes[change + 1].start;
	/* the last entry is no change */
	if (change + 2 == zone->num_changes)
		return time < boundary - 2 * MICROSECONDS_PER_DAY ? zone->changes[change].offset : INT64_MIN;
	after = time - zone->changes[change + 1].offset;
	if (before < boundary && after < boundary)
		return zone->changes[change].offset;
	if (before > boundary && after >= boundary)
		return zone->changes[change + 1].offset;
	return zone->changes[before > after ? change : change + 1].offset;
}

MGPU_CODEC void
mgpu_run_zoned_of_local(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_zone *zone = (const mgpu_zone *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	int64_t		last = 0;

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];
		int64_t		offset = INT64_MIN;

		/* far times are faults, and their differences might overflow */
		if (a.states[i] == MGPU_IS_VALUE && x > INT64_MIN / 2 && x < INT64_MAX / 2)
			offset = mgpu_offset_of_local(zone, mgpu_floored(x, MICROSECONDS_PER_SECOND) * MICROSECONDS_PER_SECOND, &last);
		to.integers[i] = offset == INT64_MIN ? 0 : mgpu_shift_time(x, -offset);
		to.states[i] = mgpu_state_unless(a.states[i], offset == INT64_MIN);
	}
}

#undef UNARY
#undef MICROSECONDS_PER_SECOND
#undef MICROSECONDS_PER_DAY
#undef UNIX_DAY
#undef SECONDS_BEFORE_2000
#undef FIRST_DAY
#undef LAST_DAY
#undef DAYS_PER_ERA
#undef MARCH_0000

#endif							/* MGPU_OPS_TIME_H */

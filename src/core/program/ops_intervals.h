/*
 * program/ops_intervals.h
 *		Operations on intervals, whose parts are months, days and microseconds.
 */
#ifndef MGPU_OPS_INTERVALS_H
#define MGPU_OPS_INTERVALS_H

/* As rows store them: microseconds, days, months.  The largest and the least number of months are those of infinite ones, too. */
#define MGPU_INTERVAL_BYTES 16

MGPU_CODEC void
mgpu_run_interval_part(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		bool		is_whole = a.states[i] == MGPU_IS_VALUE && a.lengths[i] == MGPU_INTERVAL_BYTES;
		int64_t		time = is_whole ? (int64_t) mgpu_load_bits(a.bytes[i], 8) : 0;
		int32_t		days = is_whole ? (int32_t) mgpu_load_bits(a.bytes[i] + 8, 4) : 0;
		int32_t		months = is_whole ? (int32_t) mgpu_load_bits(a.bytes[i] + 12, 4) : 0;
		bool		is_infinite = months == INT32_MAX || months == INT32_MIN;

		to.integers[i] = op.number == MGPU_INTERVAL_TIME ? time : op.number == MGPU_INTERVAL_DAYS ? days : months;
		to.states[i] = mgpu_state_unless(a.states[i], !is_whole || is_infinite);
	}
}

/* ---- ages */

#define MICROSECONDS_PER_DAY INT64_C(86400000000)
#define MONTHS_PER_YEAR 12

MGPU_CODEC int
mgpu_days_of_month(mgpu_civil_date date)
{
	bool		is_leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);

	return date.month == 2 ? 28 + is_leap : 30 + ((date.month + date.month / 8) & 1);
}

/* From one time to a later one, as PostgreSQL's age() counts: years, months and days of the calendar, and days that are missing are of the earlier one's month. */
MGPU_CODEC int64_t
mgpu_age_part(int64_t from, int64_t to, int64_t part)
{
	int64_t		from_day = mgpu_floored(from, MICROSECONDS_PER_DAY);
	int64_t		to_day = mgpu_floored(to, MICROSECONDS_PER_DAY);
	mgpu_civil_date first = mgpu_date_of_day(from_day);
	mgpu_civil_date last = mgpu_date_of_day(to_day);
	int64_t		time = to - to_day * MICROSECONDS_PER_DAY - (from - from_day * MICROSECONDS_PER_DAY);
	int			days = last.day - first.day - (time < 0);
	int			months = (last.year - first.year) * MONTHS_PER_YEAR + last.month - first.month;

	for (; days < 0; months--)
		days += mgpu_days_of_month(first);
	if (part == MGPU_INTERVAL_TIME)
		return time < 0 ? time + MICROSECONDS_PER_DAY : time;
	return part == MGPU_INTERVAL_DAYS ? days : months;
}

MGPU_CODEC void
mgpu_run_age(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register is_less = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];
		int64_t		y = b.integers[i];
		bool		is_fault = mgpu_is_outside_calendar(mgpu_floored(x, MICROSECONDS_PER_DAY)) || mgpu_is_outside_calendar(mgpu_floored(y, MICROSECONDS_PER_DAY));

		to.states[i] = mgpu_state_unless(mgpu_larger_state(mgpu_larger_state(a.states[i], b.states[i]), is_less.states[i]), is_fault);
		to.integers[i] = to.states[i] != MGPU_IS_VALUE ? 0 : is_less.integers[i] != 0 ? -mgpu_age_part(x, y, op.number) : mgpu_age_part(y, x, op.number);
	}
}

#undef MICROSECONDS_PER_DAY
#undef MONTHS_PER_YEAR

#endif							/* MGPU_OPS_INTERVALS_H */

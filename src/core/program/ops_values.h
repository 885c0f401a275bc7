/*
 * program/ops_values.h
 *		Operations that read texts as values: numbers, truths, dates and times; and the text of a date.
 *
 * They know the one form of each that programs write, which means the same under all settings and in all versions: digits, maybe with a minus or a point; dates
 * and times of ISO 8601.  Blanks, exponents, names of months, times without seconds and the like are faults, as are texts that are no values.
 */
#ifndef MGPU_OPS_VALUES_H
#define MGPU_OPS_VALUES_H

#define MGPU_MOST_EXACT (INT64_C(1) << 53)

/* A number's digits, and how many are behind its point.  false: it has another form, or too many digits. */
MGPU_CODEC bool
mgpu_read_digits(const char *text, uint32_t length, int64_t *number, int *shown)
{
	bool		is_negative = length > 0 && text[0] == '-';
	bool		has_point = false;
	int64_t		sum = 0;
	uint32_t	first = is_negative;

	*shown = 0;
	for (uint32_t i = first; i < length; i++)
	{
		uint32_t	digit = (uint32_t) (uint8_t) text[i] - '0';

		if (text[i] == '.' && !has_point && i > first && i + 1 < length)
		{
			has_point = true;
			continue;
		}
		if (digit > 9 || sum > (INT64_MAX - 9) / 10)
			return false;
		sum = sum * 10 + digit;
		*shown += has_point;
	}
	*number = is_negative ? -sum : sum;
	/* a float's zero has a sign */
	return first < length && !(is_negative && sum == 0);
}

/* A number as an integer of a scale. */
MGPU_CODEC bool
mgpu_read_number(const char *text, uint32_t length, int scale, int64_t *number, int *shown)
{
	if (!mgpu_read_digits(text, length, number, shown) || *shown > scale)
		return false;
	for (int i = *shown; i < scale; i++)
	{
		if (*number > INT64_MAX / 10 || *number < -(INT64_MAX / 10))
			return false;
		*number *= 10;
	}
	return true;
}

/* Digits that a double has exactly, and a power of 10 too: one division rounds once, as reading the text would.  false: they are too many. */
MGPU_CODEC bool
mgpu_real_of_digits(int64_t number, int shown, double *real)
{
	int64_t		power = 1;

	if (number > MGPU_MOST_EXACT || number < -MGPU_MOST_EXACT || shown > MGPU_MOST_DIGITS)
		return false;
	for (int i = 0; i < shown; i++)
		power *= 10;
	*real = (double) number / (double) power;
	return true;
}

MGPU_CODEC void
mgpu_run_number_of_text(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int			shown = 0;

		to.integers[i] = 0;
		to.states[i] = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE && !mgpu_read_number(a.bytes[i], a.lengths[i], op.width, &to.integers[i], &shown));
		to.lengths[i] = (uint32_t) shown;
	}
}

MGPU_CODEC void
mgpu_run_real_of_text(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		number = 0;
		int			shown = 0;

		to.reals[i] = 0;
		to.states[i] = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE &&
										 !(mgpu_read_digits(a.bytes[i], a.lengths[i], &number, &shown) && mgpu_real_of_digits(number, shown, &to.reals[i])));
	}
}

/* Whether a text is a word, or its first letter. */
MGPU_CODEC bool
mgpu_is_word(const char *text, uint32_t length, const char *word, uint32_t word_length)
{
	return (length == 1 || length == word_length) && mgpu_equal_bytes(text, word, length);
}

MGPU_CODEC void
mgpu_run_truth_of_text(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = a.states[i] == MGPU_IS_VALUE && mgpu_is_word(a.bytes[i], a.lengths[i], "true", 4);
		to.states[i] = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE && !to.integers[i] && !mgpu_is_word(a.bytes[i], a.lengths[i], "false", 5));
	}
}

/* ---- dates and times */

/* The number that two digits are, or -1. */
MGPU_CODEC int
mgpu_read_two(const char *text)
{
	uint32_t	tens = (uint32_t) (uint8_t) text[0] - '0';
	uint32_t	ones = (uint32_t) (uint8_t) text[1] - '0';

	return tens > 9 || ones > 9 ? -1 : (int) (tens * 10 + ones);
}

#define MGPU_DATE_BYTES 10u		/* 2024-02-29 */
#define MGPU_TIME_BYTES 19u		/* 2024-02-29 12:34:56 */
#define MGPU_HOUR_BYTES 3u		/* +02 */
#define MGPU_OFFSET_BYTES 6u	/* +02:00 */
#define MGPU_MOST_OFFSET 15		/* hours */

/* In microseconds. */
#define MGPU_SECOND INT64_C(1000000)
#define MGPU_DAY (86400 * MGPU_SECOND)

/* The day of a date that is so many bytes at least.  false: there is none. */
MGPU_CODEC bool
mgpu_read_date(const char *text, int64_t *day)
{
	int			century = mgpu_read_two(text);
	int			year = mgpu_read_two(text + 2);
	int			month = mgpu_read_two(text + 5);
	int			day_of_month = mgpu_read_two(text + 8);

	if (century < 0 || year < 0 || century + year == 0 || month < 1 || month > 12 || day_of_month < 1 || text[4] != '-' || text[7] != '-')
		return false;
	year += 100 * century;
	*day = mgpu_day_of_date(year, month, day_of_month);
	return *day < (month == 12 ? mgpu_day_of_date(year + 1, 1, 1) : mgpu_day_of_date(year, month + 1, 1));
}

/* Microseconds of a day, and at what byte the text goes on.  false: there are none. */
MGPU_CODEC bool
mgpu_read_time(const char *text, uint32_t length, int64_t *time, uint32_t *end)
{
	int			hour = mgpu_read_two(text + MGPU_DATE_BYTES + 1);
	int			minute = mgpu_read_two(text + MGPU_DATE_BYTES + 4);
	int			second = mgpu_read_two(text + MGPU_DATE_BYTES + 7);
	int64_t		unit = MGPU_SECOND;

	if ((text[MGPU_DATE_BYTES] != ' ' && text[MGPU_DATE_BYTES] != 'T') || text[MGPU_DATE_BYTES + 3] != ':' || text[MGPU_DATE_BYTES + 6] != ':' ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
		return false;
	*time = ((hour * 60 + minute) * 60 + second) * MGPU_SECOND;
	*end = MGPU_TIME_BYTES;
	if (*end == length || text[*end] != '.')
		return true;
	for (++*end; *end < length && (uint32_t) (uint8_t) text[*end] - '0' <= 9 && unit > 1; ++*end)
	{
		unit /= 10;
		*time += ((uint8_t) text[*end] - '0') * unit;
	}
	return unit < MGPU_SECOND;
}

/* Microseconds that a time is ahead of UTC, by what is behind it.  false: it does not say. */
MGPU_CODEC bool
mgpu_read_offset(const char *text, uint32_t length, int64_t *offset)
{
	int			hours;
	int			minutes;

	*offset = 0;
	if (length == 1 && text[0] == 'Z')
		return true;
	if ((length != MGPU_HOUR_BYTES && length != MGPU_OFFSET_BYTES) || (text[0] != '+' && text[0] != '-'))
		return false;
	hours = mgpu_read_two(text + 1);
	minutes = length == MGPU_HOUR_BYTES ? 0 : mgpu_read_two(text + 4);
	if (hours < 0 || hours > MGPU_MOST_OFFSET || minutes < 0 || minutes > 59 || (length == MGPU_OFFSET_BYTES && text[3] != ':'))
		return false;
	*offset = (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes) * 60 * MGPU_SECOND;
	return true;
}

/* A time with an offset or without, or a date alone, which has none. */
MGPU_CODEC bool
mgpu_read_timestamp(const char *text, uint32_t length, bool has_offset, int64_t *result)
{
	int64_t		day = 0;
	int64_t		time = 0;
	int64_t		offset = 0;
	uint32_t	end = MGPU_DATE_BYTES;

	if ((length != MGPU_DATE_BYTES && length < MGPU_TIME_BYTES) || !mgpu_read_date(text, &day) || (length > MGPU_DATE_BYTES && !mgpu_read_time(text, length, &time, &end)))
		return false;
	if (has_offset ? !mgpu_read_offset(text + end, length - end, &offset) : end < length)
		return false;
	*result = day * MGPU_DAY + time - offset;
	return true;
}

MGPU_CODEC void
mgpu_run_date_of_text(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = 0;
		to.states[i] = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE && (a.lengths[i] != MGPU_DATE_BYTES || !mgpu_read_date(a.bytes[i], &to.integers[i])));
	}
}

MGPU_CODEC void
mgpu_write_two(char *text, int number)
{
	text[0] = (char) ('0' + number / 10);
	text[1] = (char) ('0' + number % 10);
}

MGPU_CODEC void
mgpu_write_date(char *text, int64_t day)
{
	mgpu_civil_date date = mgpu_date_of_day(day);

	mgpu_write_two(text, date.year / 100);
	mgpu_write_two(text + 2, date.year % 100);
	text[4] = '-';
	mgpu_write_two(text + 5, date.month);
	text[7] = '-';
	mgpu_write_two(text + 8, date.day);
}

MGPU_CODEC void
mgpu_run_text_of_date(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		char	   *text = mgpu_room_for(frame.made, op.width, MGPU_DATE_BYTES);
		bool		is_value = a.states[i] == MGPU_IS_VALUE && !mgpu_is_outside_calendar(a.integers[i]);

		to.states[i] = mgpu_state_unless(a.states[i], !is_value);
		if (text && is_value)
			mgpu_write_date(text, a.integers[i]);
		mgpu_end_made(frame.made, op.width, to, i, text, is_value ? MGPU_DATE_BYTES : 0);
	}
}

MGPU_CODEC void
mgpu_run_time_of_text(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = 0;
		to.states[i] = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE && !mgpu_read_timestamp(a.bytes[i], a.lengths[i], op.number != 0, &to.integers[i]));
	}
}

#endif							/* MGPU_OPS_VALUES_H */

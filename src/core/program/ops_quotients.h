/*
 * program/ops_quotients.h
 *		Quotients of numerics, with as many digits as PostgreSQL gives them.
 *
 * PostgreSQL rounds a quotient to a number of digits behind the point that follows from the first digits of dividend and divisor (select_div_scale of numeric.c): 16 and
 * more that count.  These do not fit in 64 bits, so a quotient is two integers: it has QUOTIENT_DIGITS digits behind the point, and a rest has REST_DIGITS more.  The
 * quotient is cut off, and the rest is rounded to the last digit that is shown; so it may be one of the quotient's units.  What shows more digits is a fault, but for 0.
 */
#ifndef MGPU_OPS_QUOTIENTS_H
#define MGPU_OPS_QUOTIENTS_H

#include "core/numeric_format.h"

#define LEAST_COUNTED 16
#define MOST_SHOWN (MGPU_QUOTIENT_DIGITS + MGPU_REST_DIGITS)

/* 10^15: see expr/compile_fractions.c. */
#define MOST_CUT_DIVISOR UINT64_C(1000000000000000)

/* The place of a number's first digit of base 10,000, 0 in front of the point; *first: that digit.  places: digits behind the point. */
MGPU_CODEC int64_t
mgpu_digit_place(uint64_t number, int64_t places, uint64_t *first)
{
	int64_t		place = number == 0 ? 0 : -places;

	for (; number >= DIGIT_BASE; number /= DIGIT_BASE)
		place++;
	*first = number;
	return place;
}

/* Digits behind the point that a quotient shows.  shown: those of dividend and divisor. */
MGPU_CODEC int64_t
mgpu_shown_of_quotient(uint64_t dividend, uint64_t divisor, int64_t places, uint32_t shown)
{
	uint64_t	first;
	uint64_t	second;
	int64_t		place = mgpu_digit_place(dividend, places, &first) - mgpu_digit_place(divisor, places, &second);
	int64_t		digits = LEAST_COUNTED - DIGIT_PLACES * (first <= second ? place - 1 : place);

	return digits > (int64_t) shown ? digits : (int64_t) shown;
}

MGPU_CODEC uint64_t
mgpu_magnitude_of(int64_t number)
{
	return number < 0 ? 0 - (uint64_t) number : (uint64_t) number;
}

MGPU_CODEC uint64_t
mgpu_ten_to(int64_t power)
{
	uint64_t	ten = 1;

	for (; power > 0; power--)
		ten *= 10;
	return ten;
}

MGPU_CODEC int64_t
mgpu_signed_of(uint64_t magnitude, bool is_negative)
{
	return (int64_t) (is_negative ? 0 - magnitude : magnitude);
}

/* A number without some of its digits, rounded. */
MGPU_CODEC uint64_t
mgpu_without_digits(uint64_t number, int64_t digits)
{
	uint64_t	unit = mgpu_ten_to(digits);

	return digits > 0 ? (number + unit / 2) / unit * unit : number;
}

MGPU_CODEC void
mgpu_run_quotient(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);
	bool		is_cut = (op.number & MGPU_QUOTIENT_IS_CUT) != 0;

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint64_t	x = mgpu_magnitude_of(a.integers[i]);
		uint64_t	y = mgpu_magnitude_of(b.integers[i]);
		int64_t		whole = mgpu_shown_of_quotient(x, y, op.number & (MGPU_QUOTIENT_IS_CUT - 1), a.lengths[i]);
		int64_t		shown = is_cut && whole > MOST_SHOWN ? MOST_SHOWN : whole;
		uint64_t	unit = mgpu_ten_to(MGPU_QUOTIENT_DIGITS);
		bool		has_all = x == 0 || whole <= MOST_SHOWN || (is_cut && y < MOST_CUT_DIVISOR);
		bool		is_fault = !has_all || y == 0 || x / (y == 0 ? 1 : y) >= (uint64_t) (INT64_MAX / 2) / unit;
		uint64_t	quotient = is_fault ? 0 : (uint64_t) ((unsigned __int128) x * unit / y);

		/* a large one shows fewer digits */
		if (shown < MGPU_QUOTIENT_DIGITS)
			quotient = mgpu_without_digits(quotient, MGPU_QUOTIENT_DIGITS - shown);
		to.integers[i] = mgpu_signed_of(quotient, (a.integers[i] < 0) != (b.integers[i] < 0));
		to.lengths[i] = (uint32_t) shown;
		to.states[i] = mgpu_state_unless(mgpu_larger_state(a.states[i], b.states[i]), is_fault);
	}
}

/* The digits of x / y behind those of the quotient, rounded. */
MGPU_CODEC uint64_t
mgpu_rest_of_quotient(uint64_t quotient, int64_t shown, uint64_t x, uint64_t y)
{
	/* it is less than y: what does not fit in 64 bits would be gone */
	uint64_t	left = x * mgpu_ten_to(MGPU_QUOTIENT_DIGITS) - quotient * y;
	uint64_t	unit = mgpu_ten_to(MGPU_REST_DIGITS);
	uint64_t	rest = (uint64_t) ((unsigned __int128) left * unit / y);

	if (shown < MOST_SHOWN)
		return mgpu_without_digits(rest, MOST_SHOWN - shown);
	left = left * unit - rest * y;
	return rest + (left >= y - left);
}

MGPU_CODEC void
mgpu_run_quotient_rest(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register quotients = mgpu_register_from(frame, op, 0);
	mgpu_register a = mgpu_register_from(frame, op, 1);
	mgpu_register b = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		shown = quotients.lengths[i];
		uint64_t	y = mgpu_magnitude_of(b.integers[i]);
		uint64_t	rest = 0;

		if (quotients.states[i] == MGPU_IS_VALUE && y > 0 && shown >= MGPU_QUOTIENT_DIGITS)
			rest = mgpu_rest_of_quotient(mgpu_magnitude_of(quotients.integers[i]), shown, mgpu_magnitude_of(a.integers[i]), y);
		to.integers[i] = mgpu_signed_of(rest, (a.integers[i] < 0) != (b.integers[i] < 0));
		to.states[i] = quotients.states[i];
	}
}

#undef LEAST_COUNTED
#undef MOST_CUT_DIVISOR
#undef MOST_SHOWN

#endif							/* MGPU_OPS_QUOTIENTS_H */

/*
 * program/ops_integers.h
 *		Operations on integers, and on numerics, which are integers of a scale.
 */
#ifndef MGPU_OPS_INTEGERS_H
#define MGPU_OPS_INTEGERS_H

#include "core/numeric_format.h"

/* Whether a number is none of the type of op.width bytes. */
MGPU_CODEC bool
mgpu_is_outside_width(int64_t number, uint32_t width)
{
	int64_t		last = INT64_MAX >> (64 - 8 * width);

	return number > last || number < -last - 1;
}

/* result from x, and y; is_fault may follow from all. */
#define UNARY(name, result, is_fault) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		int64_t		x = a.integers[i]; \
		int64_t		r = result; \
		\
		to.integers[i] = r; \
		to.states[i] = mgpu_state_unless(a.states[i], is_fault); \
	} \
}

#define BINARY(name, result, is_fault) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		int64_t		x = a.integers[i]; \
		int64_t		y = b.integers[i]; \
		int64_t		r = result; \
		\
		to.integers[i] = r; \
		to.states[i] = mgpu_state_unless(mgpu_larger_state(a.states[i], b.states[i]), is_fault); \
	} \
}

#define WRAPPED(x, operator, y) ((int64_t) ((uint64_t) (x) operator (uint64_t) (y)))

BINARY(add_integer, WRAPPED(x, +, y), mgpu_is_outside_width(r, op.width) || ((x ^ r) & (y ^ r)) < 0)
BINARY(subtract_integer, WRAPPED(x, -, y), mgpu_is_outside_width(r, op.width) || ((x ^ y) & (x ^ r)) < 0)
BINARY(multiply_integer, WRAPPED(x, *, y), mgpu_is_outside_width(r, op.width) || mgpu_product_overflows(x, y))
BINARY(divide_integer, y == 0 || y == -1 ? WRAPPED(0, -, x) : x / y, y == 0 || mgpu_is_outside_width(r, op.width) || (y == -1 && x == INT64_MIN))
BINARY(remainder_integer, y == 0 || y == -1 ? 0 : x % y, y == 0)
BINARY(bit_and, x & y, false)
BINARY(bit_or, x | y, false)
BINARY(bit_xor, x ^ y, false)

UNARY(negate_integer, WRAPPED(0, -, x), mgpu_is_outside_width(r, op.width) || x == INT64_MIN)
UNARY(absolute_integer, x < 0 ? WRAPPED(0, -, x) : x, mgpu_is_outside_width(r, op.width) || x == INT64_MIN)
UNARY(sign_integer, (x > 0) - (x < 0), false)
UNARY(fit_integer, x, mgpu_is_outside_width(x, op.width))

/* ---- digits of numerics; op.number is a power of 10 */

UNARY(scale_up, WRAPPED(x, *, op.number), mgpu_product_overflows(x, op.number))
UNARY(cut_off, x / op.number, false)
UNARY(floor_off, x / op.number - (x % op.number < 0), false)
UNARY(ceiling_off, x / op.number + (x % op.number > 0), false)
UNARY(round_off, x / op.number + (x % op.number >= (op.number + 1) / 2) - (-(x % op.number) >= (op.number + 1) / 2), false)
UNARY(limit_magnitude, x, x >= op.number || -op.number >= x)

MGPU_CODEC void
mgpu_run_show_scale(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = a.integers[i];
		to.lengths[i] = op.width;
		to.states[i] = a.states[i];
	}
}

MGPU_CODEC void
mgpu_run_shown_digits(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = a.lengths[i];
		to.states[i] = a.states[i];
	}
}

#define SHOW(name, scale, is_fault) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register c = mgpu_register_from(frame, op, 2); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		uint32_t	x = b.lengths[i]; \
		uint32_t	y = c.lengths[i]; \
		\
		to.integers[i] = a.integers[i]; \
		to.lengths[i] = scale; \
		to.states[i] = mgpu_state_unless(a.states[i], is_fault); \
	} \
}

SHOW(show_larger, x > y ? x : y, false)
SHOW(show_sum, x + y, x + y > SHORT_SCALE_MASK)

/* Digits that a quotient shows, as PostgreSQL chooses them: at least 16 that count, and its arguments'. */
MGPU_CODEC int64_t
mgpu_quotient_digits(const mgpu_quotient *quotient, int64_t dividend, uint32_t shown)
{
	uint64_t	rest = dividend < 0 ? 0 - (uint64_t) dividend : (uint64_t) dividend;
	uint64_t	step = (uint64_t) quotient->step;
	int64_t		least = quotient->least_shown > (int64_t) shown ? quotient->least_shown : (int64_t) shown;
	int64_t		digits = quotient->most_shown;

	if (rest == 0)
		rest = (uint64_t) quotient->one;
	if (rest >= (step + DIGIT_BASE - 1) / DIGIT_BASE)
		digits -= DIGIT_PLACES;
	for (; rest >= step; rest /= DIGIT_BASE)
		digits -= DIGIT_PLACES;
	return digits > least ? digits : least;
}

MGPU_CODEC void
mgpu_run_divide_shown(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_quotient *quotient = (const mgpu_quotient *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];
		int64_t		digits = mgpu_quotient_digits(quotient, x, a.lengths[i]);

		to.integers[i] = WRAPPED(x, *, quotient->factor);
		to.lengths[i] = (uint32_t) digits;
		to.states[i] = mgpu_state_unless(a.states[i], digits < quotient->scale || mgpu_product_overflows(x, quotient->factor));
	}
}

/* ---- comparisons */

#define OUTCOME(x, y) ((x) < (y) ? MGPU_IS_LESS : (x) > (y) ? MGPU_IS_GREATER : MGPU_IS_EQUAL)

BINARY(compare_integer, (OUTCOME(x, y) & op.number) != 0, false)

/* NULL is neither larger nor smaller. */
#define EXTREME(name, takes_first) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		int64_t		x = a.integers[i]; \
		int64_t		y = b.integers[i]; \
		uint8_t		first = a.states[i]; \
		uint8_t		second = b.states[i]; \
		bool		takes_x = second == MGPU_IS_NULL || (first == MGPU_IS_VALUE && (takes_first)); \
		\
		to.integers[i] = takes_x ? x : y; \
		to.states[i] = first == MGPU_IS_FAULT || second == MGPU_IS_FAULT ? MGPU_IS_FAULT : \
			takes_x ? first : second; \
	} \
}

EXTREME(larger_integer, x >= y)
EXTREME(smaller_integer, x <= y)

/* Whether a list, which is in order, has a value. */
MGPU_CODEC bool
mgpu_has_integer(const mgpu_integer_list *list, int64_t value)
{
	uint32_t	low = 0;
	uint32_t	high = list->num_values;

	if (high <= 8)
	{
		bool		found = false;

		for (uint32_t i = 0; i < high; i++)
			found |= list->values[i] == value;
		return found;
	}
	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (list->values[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->num_values && list->values[low] == value;
}

MGPU_CODEC void
mgpu_run_in_integer(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_integer_list *list = (const mgpu_integer_list *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		bool		found = mgpu_has_integer(list, a.integers[i]);

		to.integers[i] = found;
		to.states[i] = a.states[i] == MGPU_IS_VALUE && !found && list->has_null ? MGPU_IS_NULL : a.states[i];
	}
}

#undef UNARY
#undef BINARY
#undef WRAPPED
#undef SHOW
#undef OUTCOME
#undef EXTREME

#endif							/* MGPU_OPS_INTEGERS_H */

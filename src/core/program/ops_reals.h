/*
 * program/ops_reals.h
 *		Operations on floats, by the rules of PostgreSQL's float.h: what becomes infinite or zero without a reason is a fault.
 *
 * A float4 is computed as a double and rounded once more: for sums, products, quotients and roots that gives the float
 * that computing in floats gives.
 */
#ifndef MGPU_OPS_REALS_H
#define MGPU_OPS_REALS_H

#include "core/program/real_bits.h"

MGPU_CODEC double
mgpu_rounded(double number, uint32_t width)
{
	return width == sizeof(float) ? mgpu_round_to_float(number) : number;
}

#define UNARY(name, result, is_fault) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		double		x = a.reals[i]; \
		double		r = result; \
		\
		to.reals[i] = r; \
		to.states[i] = mgpu_state_unless(a.states[i], is_fault); \
	} \
}

#define BINARY(name, member, result, is_fault) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		double		x = a.reals[i]; \
		double		y = b.reals[i]; \
		double		r = result; \
		\
		to.member[i] = r; \
		to.states[i] = mgpu_state_unless(mgpu_larger_state(a.states[i], b.states[i]), is_fault); \
	} \
}

#define OVERFLOWS(r, x, y) (isinf(r) && !isinf(x) && !isinf(y))

BINARY(add_real, reals, mgpu_rounded(x + y, op.width), OVERFLOWS(r, x, y))
BINARY(subtract_real, reals, mgpu_rounded(x - y, op.width), OVERFLOWS(r, x, y))
BINARY(multiply_real, reals, mgpu_rounded(x * y, op.width), OVERFLOWS(r, x, y) || (r == 0 && x != 0 && y != 0))
BINARY(divide_real, reals, mgpu_rounded(x / y, op.width), y == 0 || (isinf(r) && !isinf(x)) || (r == 0 && x != 0 && !isinf(y)))

UNARY(negate_real, mgpu_real_of_bits(mgpu_bits_of_real(x) ^ MGPU_F64_SIGN), false)
UNARY(absolute_real, mgpu_real_of_bits(mgpu_bits_of_real(x) & ~MGPU_F64_SIGN), false)
UNARY(sign_real, x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0, false)
UNARY(square_root, mgpu_keep_nan(x, sqrt(x)), x < 0 || (isinf(r) && !isinf(x)) || (r == 0 && x != 0))
UNARY(floor_real, mgpu_keep_nan(x, floor(x)), false)
UNARY(ceiling_real, mgpu_keep_nan(x, ceil(x)), false)
UNARY(round_real, mgpu_keep_nan(x, rint(x)), false)
UNARY(cut_real, mgpu_keep_nan(x, x >= 0 ? floor(x) : -floor(-x)), false)
UNARY(narrow_real, mgpu_round_to_float(x), OVERFLOWS(r, x, x) || (r == 0 && x != 0))

/* ---- casts */

MGPU_CODEC void
mgpu_run_real_of_integer(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];

		to.reals[i] = op.width == sizeof(float) ? (double) (float) x : (double) x;
		to.states[i] = a.states[i];
	}
}

/* Integers up to here are doubles. */
#define LAST_EXACT (INT64_C(1) << 53)

/* As reading its digits would: one division of what a double has exactly rounds once. */
MGPU_CODEC void
mgpu_run_real_of_numeric(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	double		power = (double) op.number;

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		x = a.integers[i];

		to.reals[i] = (double) x / power;
		to.states[i] = mgpu_state_unless(a.states[i], x > LAST_EXACT || x < -LAST_EXACT);
	}
}

MGPU_CODEC void
mgpu_run_integer_of_real(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	double		end = (double) (UINT64_C(1) << (8 * op.width - 1));

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		double		x = rint(a.reals[i]);
		bool		fits = x >= -end && x < end;

		to.integers[i] = fits ? (int64_t) x : 0;
		to.states[i] = mgpu_state_unless(a.states[i], !fits);
	}
}

/* ---- comparisons: NaN equals NaN and is above all numbers */

MGPU_CODEC int
mgpu_real_outcome(double x, double y)
{
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y) ? MGPU_IS_EQUAL : isnan(x) ? MGPU_IS_GREATER : MGPU_IS_LESS;
	return x < y ? MGPU_IS_LESS : x > y ? MGPU_IS_GREATER : MGPU_IS_EQUAL;
}

BINARY(compare_real, integers, (mgpu_real_outcome(x, y) & op.number) != 0, false)

/* NULL is neither larger nor smaller. */
#define EXTREME(name, other) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		uint8_t		first = a.states[i]; \
		uint8_t		second = b.states[i]; \
		bool		takes_x = second == MGPU_IS_NULL || \
			(first == MGPU_IS_VALUE && mgpu_real_outcome(a.reals[i], b.reals[i]) != (other)); \
		\
		to.reals[i] = takes_x ? a.reals[i] : b.reals[i]; \
		to.states[i] = first == MGPU_IS_FAULT || second == MGPU_IS_FAULT ? MGPU_IS_FAULT : \
			takes_x ? first : second; \
	} \
}

EXTREME(larger_real, MGPU_IS_LESS)
EXTREME(smaller_real, MGPU_IS_GREATER)

/* ---- buckets */

/* The bucket of a value as far behind the first bound of a range; -1: it is none. */
MGPU_CODEC int64_t
mgpu_bucket_at(const mgpu_buckets *buckets, double behind, double range)
{
	double		count = (double) buckets->count;
	double		place = buckets->divides_first ? count * (behind / range) : count * behind / range + 1;

	if (!(place >= 0 && place <= count + 1))
		return -1;
	if (!buckets->divides_first)
		return (int64_t) place;
	return (place < count ? (int64_t) place : buckets->count - 1) + 1;
}

MGPU_CODEC void
mgpu_run_bucket_of_real(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_buckets *buckets = (const mgpu_buckets *) mgpu_program_table(frame, op);
	double		first = buckets->first;
	double		last = buckets->last;
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		double		x = a.reals[i];
		int64_t		bucket;

		if (first < last ? x < first : x > first)
			bucket = 0;
		else if (first < last ? x >= last : x <= last)
			bucket = buckets->count + 1;
		else
			bucket = first < last ? mgpu_bucket_at(buckets, x - first, last - first) : mgpu_bucket_at(buckets, first - x, first - last);
		to.integers[i] = bucket;
		to.states[i] = mgpu_state_unless(a.states[i], bucket < 0);
	}
}

#undef UNARY
#undef BINARY
#undef OVERFLOWS
#undef LAST_EXACT
#undef EXTREME

#endif							/* MGPU_OPS_REALS_H */

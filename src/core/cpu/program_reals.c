/*
 * cpu/program_reals.c
 *		Operations on floats, by the rules of PostgreSQL's float.h: what becomes infinite or zero without a reason is a fault.
 *
 * A float4 is computed as a double and rounded once more: for sums, products, quotients and roots that gives the float
 * that computing in floats gives.
 */
#include "core/cpu/program_run.h"

#include <math.h>

static inline double
rounded(double number, uint32_t width)
{
	return width == sizeof(float) ? (double) (float) number : number;
}

#define UNARY(name, result, is_fault) \
void \
mgpu_run_##name(const mgpu_frame *frame, const mgpu_program_op *op) \
{ \
	const mgpu_register *a = mgpu_register_from(frame, op, 0); \
	const mgpu_register *to = &frame->registers[op->to]; \
	\
	for (uint32_t i = 0; i < frame->num_rows; i++) \
	{ \
		double		x = a->reals[i]; \
		double		r = result; \
		\
		to->reals[i] = r; \
		to->states[i] = mgpu_state_unless(a->states[i], is_fault); \
	} \
}

#define BINARY(name, member, result, is_fault) \
void \
mgpu_run_##name(const mgpu_frame *frame, const mgpu_program_op *op) \
{ \
	const mgpu_register *a = mgpu_register_from(frame, op, 0); \
	const mgpu_register *b = mgpu_register_from(frame, op, 1); \
	const mgpu_register *to = &frame->registers[op->to]; \
	uint32_t	width = op->width; \
	\
	for (uint32_t i = 0; i < frame->num_rows; i++) \
	{ \
		double		x = a->reals[i]; \
		double		y = b->reals[i]; \
		double		r = result; \
		\
		to->member[i] = r; \
		to->states[i] = mgpu_state_unless(mgpu_larger_state(a->states[i], b->states[i]), is_fault); \
	} \
	(void) width; \
}

#define OVERFLOWS(r, x, y) (isinf(r) && !isinf(x) && !isinf(y))

BINARY(add_real, reals, rounded(x + y, width), OVERFLOWS(r, x, y))
BINARY(subtract_real, reals, rounded(x - y, width), OVERFLOWS(r, x, y))
BINARY(multiply_real, reals, rounded(x * y, width), OVERFLOWS(r, x, y) || (r == 0 && x != 0 && y != 0))
BINARY(divide_real, reals, rounded(x / y, width), y == 0 || (isinf(r) && !isinf(x)) || (r == 0 && x != 0 && !isinf(y)))

UNARY(negate_real, -x, false)
UNARY(absolute_real, fabs(x), false)
UNARY(sign_real, x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0, false)
UNARY(square_root, sqrt(x), x < 0 || (isinf(r) && !isinf(x)) || (r == 0 && x != 0))
UNARY(floor_real, floor(x), false)
UNARY(ceiling_real, ceil(x), false)
UNARY(round_real, rint(x), false)
UNARY(cut_real, x >= 0 ? floor(x) : -floor(-x), false)
UNARY(narrow_real, (double) (float) x, OVERFLOWS(r, x, x) || (r == 0 && x != 0))

/* ---- casts */

void
mgpu_run_real_of_integer(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *a = mgpu_register_from(frame, op, 0);
	const mgpu_register *to = &frame->registers[op->to];

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		int64_t		x = a->integers[i];

		to->reals[i] = op->width == sizeof(float) ? (double) (float) x : (double) x;
		to->states[i] = a->states[i];
	}
}

/* Integers up to here are doubles. */
#define LAST_EXACT (INT64_C(1) << 53)

/* As reading its digits would: one division of what a double has exactly rounds once. */
void
mgpu_run_real_of_numeric(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *a = mgpu_register_from(frame, op, 0);
	const mgpu_register *to = &frame->registers[op->to];

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		int64_t		x = a->integers[i];

		to->reals[i] = (double) x / (double) op->number;
		to->states[i] = mgpu_state_unless(a->states[i], x > LAST_EXACT || x < -LAST_EXACT);
	}
}

void
mgpu_run_integer_of_real(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *a = mgpu_register_from(frame, op, 0);
	const mgpu_register *to = &frame->registers[op->to];
	double		end = ldexp(1.0, 8 * op->width - 1);

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		double		x = rint(a->reals[i]);
		bool		fits = x >= -end && x < end;

		to->integers[i] = fits ? (int64_t) x : 0;
		to->states[i] = mgpu_state_unless(a->states[i], !fits);
	}
}

/* ---- comparisons: NaN equals NaN and is above all numbers */

static inline int
outcome(double x, double y)
{
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y) ? MGPU_IS_EQUAL : isnan(x) ? MGPU_IS_GREATER : MGPU_IS_LESS;
	return x < y ? MGPU_IS_LESS : x > y ? MGPU_IS_GREATER : MGPU_IS_EQUAL;
}

BINARY(compare_real, integers, (outcome(x, y) & op->number) != 0, false)

/* NULL is neither larger nor smaller. */
#define EXTREME(name, other) \
void \
mgpu_run_##name(const mgpu_frame *frame, const mgpu_program_op *op) \
{ \
	const mgpu_register *a = mgpu_register_from(frame, op, 0); \
	const mgpu_register *b = mgpu_register_from(frame, op, 1); \
	const mgpu_register *to = &frame->registers[op->to]; \
	\
	for (uint32_t i = 0; i < frame->num_rows; i++) \
	{ \
		uint8_t		first = a->states[i]; \
		uint8_t		second = b->states[i]; \
		bool		takes_x = second == MGPU_IS_NULL || \
			(first == MGPU_IS_VALUE && outcome(a->reals[i], b->reals[i]) != (other)); \
		\
		to->reals[i] = takes_x ? a->reals[i] : b->reals[i]; \
		to->states[i] = first == MGPU_IS_FAULT || second == MGPU_IS_FAULT ? MGPU_IS_FAULT : \
			takes_x ? first : second; \
	} \
}

EXTREME(larger_real, MGPU_IS_LESS)
EXTREME(smaller_real, MGPU_IS_GREATER)

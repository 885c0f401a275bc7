/*
 * program/ops_load.h
 *		Operations that load attributes, as rows of heap pages store them.
 *
 * Layouts are those of varatt.h and numeric.c.  A value that is compressed or out of line is a fault, and so is a numeric that is not a
 * number of the scale that its column declares.
 */
#ifndef MGPU_OPS_LOAD_H
#define MGPU_OPS_LOAD_H

#include "core/numeric_format.h"
#include "core/program/real_bits.h"

/* A loop over the rows: where each value is, and its state. */
#define LOOP(frame, value, state) \
	mgpu_program_input input = mgpu_input_of(frame, op); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		const char *value = input.values[mgpu_row_of(frame, i)]; \
		uint8_t		state = value ? MGPU_IS_VALUE : MGPU_IS_NULL;

#define END_LOOP(state) \
		to.states[i] = state; \
	}

#define LOAD(member, width, converted) \
	do { \
		LOOP(frame, value, state) \
			uint64_t	bits = value ? mgpu_load_bits(value, width) : 0; \
			\
			to.member[i] = converted; \
		END_LOOP(state) \
	} while (0)

MGPU_CODEC void
mgpu_run_load_integer(mgpu_frame frame, mgpu_program_op op)
{
	switch (op.width)
	{
		case 1:
			LOAD(integers, 1, bits);	/* a bool */
			break;
		case 2:
			LOAD(integers, 2, (int16_t) bits);
			break;
		case 4:
			LOAD(integers, 4, (int32_t) bits);
			break;
		default:
			LOAD(integers, 8, (int64_t) bits);
	}
}

MGPU_CODEC void
mgpu_run_load_real(mgpu_frame frame, mgpu_program_op op)
{
	if (op.width == sizeof(float))
		LOAD(reals, 4, mgpu_real_of_float_bits((uint32_t) bits));
	else
		LOAD(reals, 8, mgpu_real_of_bits(bits));
}

MGPU_CODEC void
mgpu_run_load_fixed(mgpu_frame frame, mgpu_program_op op)
{
	LOOP(frame, value, state)
		to.bytes[i] = value;
		to.lengths[i] = value ? op.width : 0;
	END_LOOP(state)
}

MGPU_CODEC void
mgpu_run_load_presence(mgpu_frame frame, mgpu_program_op op)
{
	LOOP(frame, value, state)
		to.integers[i] = value != NULL;
	END_LOOP(state)
}

/* The bytes of a varlena that is stored in place and not compressed.  false: it is not. */
MGPU_CODEC bool
mgpu_find_varlena(const char *value, const char **bytes, uint32_t *length)
{
	uint8_t		first = (uint8_t) value[0];
	uint32_t	header;

	if (first & 1)
	{
		*bytes = value + 1;
		*length = (uint32_t) (first >> 1) - 1;
		return first != 1;
	}
	header = (uint32_t) mgpu_load_bits(value, sizeof(header));
	*bytes = value + sizeof(header);
	*length = (header >> 2) - (uint32_t) sizeof(header);
	return (first & 3) == 0;
}

MGPU_CODEC void
mgpu_run_load_varlena(mgpu_frame frame, mgpu_program_op op)
{
	LOOP(frame, value, state)
		to.bytes[i] = NULL;
		to.lengths[i] = 0;
		if (value && !mgpu_find_varlena(value, &to.bytes[i], &to.lengths[i]))
			state = MGPU_IS_FAULT;
	END_LOOP(state)
}

/* ---- numeric */

/* Of a number, all but some of the last digit's places.  Divisors that the compiler knows are fast. */
MGPU_CODEC int64_t
mgpu_drop_places(int64_t number, int places)
{
	return places == 0 ? number : places == 1 ? number / 10 : places == 2 ? number / 100 : number / 1000;
}

MGPU_CODEC int64_t
mgpu_places_unit(int places)
{
	return places == 0 ? 1 : places == 1 ? 10 : places == 2 ? 100 : 1000;
}

/* A numeric as an integer of a scale, and how many digits it shows, of which those behind the scale are 0.  false: it is none. */
MGPU_CODEC bool
mgpu_find_number(const char *bytes, uint32_t length, int scale, int64_t *number, int *shown)
{
	uint16_t	header;
	int			num_digits = ((int) length - 2) / 2;
	int			places = (scale + DIGIT_PLACES - 1) / DIGIT_PLACES;
	int			wanted;
	int64_t		sum = 0;
	int64_t		whole;

	if (length < sizeof(header))
		return false;
	header = (uint16_t) mgpu_load_bits(bytes, sizeof(header));
	*shown = SHORT_SCALE(header);
	if ((header & NUMERIC_SPECIAL) != NUMERIC_SHORT)
		return false;
	/* digits before the point, and behind it up to the scale */
	wanted = SHORT_WEIGHT(header) + 1 + places;
	if (num_digits > wanted)
		return false;
	for (int i = 0; i < wanted; i++)
	{
		uint64_t	digit = i < num_digits ? mgpu_load_bits(bytes + sizeof(header) + 2 * i, 2) : 0;

		if (sum > INT64_MAX / DIGIT_BASE)
			return false;
		sum = (int64_t) ((uint64_t) sum * DIGIT_BASE + digit);
		if (sum < 0)
			return false;
	}
	whole = mgpu_drop_places(sum, places * DIGIT_PLACES - scale);
	*number = header & SHORT_NEGATIVE ? -whole : whole;
	return *shown <= scale || whole * mgpu_places_unit(places * DIGIT_PLACES - scale) == sum;
}

MGPU_CODEC void
mgpu_run_load_numeric(mgpu_frame frame, mgpu_program_op op)
{
	LOOP(frame, value, state)
		const char *bytes;
		uint32_t	length;
		int			shown = op.width;

		to.integers[i] = 0;
		if (value && !(mgpu_find_varlena(value, &bytes, &length) &&
					   mgpu_find_number(bytes, length, op.width, &to.integers[i], &shown) && shown == op.width))
			state = MGPU_IS_FAULT;
	END_LOOP(state)
}

MGPU_CODEC void
mgpu_run_load_shown(mgpu_frame frame, mgpu_program_op op)
{
	LOOP(frame, value, state)
		const char *bytes;
		uint32_t	length;
		int			shown = 0;

		to.integers[i] = 0;
		if (value && !(mgpu_find_varlena(value, &bytes, &length) && mgpu_find_number(bytes, length, op.width, &to.integers[i], &shown)))
			state = MGPU_IS_FAULT;
		to.lengths[i] = shown;
	END_LOOP(state)
}

#undef LOOP
#undef END_LOOP
#undef LOAD

#endif							/* MGPU_OPS_LOAD_H */

/*
 * cpu/program_load.c
 *		Operations that load attributes, as rows of heap pages store them.
 *
 * Layouts are those of varatt.h and numeric.c.  A value that is compressed or out of line is a fault, and so is a numeric that is not a
 * number of the scale that its column declares.
 */
#include "core/cpu/program_run.h"
#include "core/numeric_format.h"

#include <string.h>

/* A loop over the rows: where each value is, and its state. */
#define LOOP(frame, value, state) \
	const char *const *values = frame->inputs[op->number].values; \
	const mgpu_register *to = &frame->registers[op->to]; \
	\
	for (uint32_t i = 0; i < frame->num_rows; i++) \
	{ \
		const char *value = values[frame->rows[i]]; \
		uint8_t		state = value ? MGPU_IS_VALUE : MGPU_IS_NULL;

#define END_LOOP(state) \
		to->states[i] = state; \
	}

#define LOAD(member, type, otherwise) \
	do { \
		LOOP(frame, value, state) \
			type		stored = otherwise; \
			\
			if (value) \
				memcpy(&stored, value, sizeof(type)); \
			to->member[i] = stored; \
		END_LOOP(state) \
	} while (0)

void
mgpu_run_load_integer(const mgpu_frame *frame, const mgpu_program_op *op)
{
	switch (op->width)
	{
		case 1:
			LOAD(integers, uint8_t, 0); /* a bool */
			break;
		case 2:
			LOAD(integers, int16_t, 0);
			break;
		case 4:
			LOAD(integers, int32_t, 0);
			break;
		default:
			LOAD(integers, int64_t, 0);
	}
}

void
mgpu_run_load_real(const mgpu_frame *frame, const mgpu_program_op *op)
{
	if (op->width == sizeof(float))
		LOAD(reals, float, 0);
	else
		LOAD(reals, double, 0);
}

void
mgpu_run_load_fixed(const mgpu_frame *frame, const mgpu_program_op *op)
{
	LOOP(frame, value, state)
		to->bytes[i] = value;
		to->lengths[i] = value ? op->width : 0;
	END_LOOP(state)
}

/* The bytes of a varlena that is stored in place and not compressed.  false: it is not. */
static inline bool
find_bytes(const char *value, const char **bytes, uint32_t *length)
{
	uint8_t		first = (uint8_t) value[0];
	uint32_t	header;

	if (first & 1)
	{
		*bytes = value + 1;
		*length = (uint32_t) (first >> 1) - 1;
		return first != 1;
	}
	memcpy(&header, value, sizeof(header));
	*bytes = value + sizeof(header);
	*length = (header >> 2) - (uint32_t) sizeof(header);
	return (first & 3) == 0;
}

void
mgpu_run_load_varlena(const mgpu_frame *frame, const mgpu_program_op *op)
{
	LOOP(frame, value, state)
		to->bytes[i] = NULL;
		to->lengths[i] = 0;
		if (value && !find_bytes(value, &to->bytes[i], &to->lengths[i]))
			state = MGPU_IS_FAULT;
	END_LOOP(state)
}

/* ---- numeric */

static const int64_t powers[] = {1, 10, 100, 1000};

/* A numeric as an integer of a scale, and how many of its digits it shows.  false: it is none. */
static inline bool
find_number(const char *bytes, uint32_t length, int scale, int64_t *number, int *shown)
{
	uint16_t	header;
	int			num_digits = ((int) length - 2) / 2;
	int			places = (scale + DIGIT_PLACES - 1) / DIGIT_PLACES;
	int			wanted;
	int64_t		sum = 0;

	if (length < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	*shown = SHORT_SCALE(header);
	if ((header & NUMERIC_SPECIAL) != NUMERIC_SHORT || *shown > scale)
		return false;
	/* digits before the point, and behind it up to the scale */
	wanted = SHORT_WEIGHT(header) + 1 + places;
	if (num_digits > wanted)
		return false;
	for (int i = 0; i < wanted; i++)
	{
		int16_t		digit = 0;

		if (i < num_digits)
			memcpy(&digit, bytes + sizeof(header) + i * sizeof(digit), sizeof(digit));
		if (__builtin_mul_overflow(sum, DIGIT_BASE, &sum) || __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	sum /= powers[places * DIGIT_PLACES - scale];
	*number = header & SHORT_NEGATIVE ? -sum : sum;
	return true;
}

void
mgpu_run_load_numeric(const mgpu_frame *frame, const mgpu_program_op *op)
{
	LOOP(frame, value, state)
		const char *bytes;
		uint32_t	length;
		int			shown = op->width;

		to->integers[i] = 0;
		if (value && !(find_bytes(value, &bytes, &length) &&
					   find_number(bytes, length, op->width, &to->integers[i], &shown) && shown == op->width))
			state = MGPU_IS_FAULT;
	END_LOOP(state)
}

void
mgpu_run_load_shown(const mgpu_frame *frame, const mgpu_program_op *op)
{
	LOOP(frame, value, state)
		const char *bytes;
		uint32_t	length;
		int			shown = 0;

		to->integers[i] = 0;
		if (value && !(find_bytes(value, &bytes, &length) && find_number(bytes, length, op->width, &to->integers[i], &shown)))
			state = MGPU_IS_FAULT;
		to->lengths[i] = shown;
	END_LOOP(state)
}

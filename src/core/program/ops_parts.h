/*
 * program/ops_parts.h
 *		Operations that look for a part of a text.  As others of bytes, they make none.
 */
#ifndef MGPU_OPS_PARTS_H
#define MGPU_OPS_PARTS_H

/* Where bytes are in a text from an offset on; -1: nowhere. */
MGPU_CODEC int64_t
mgpu_place_of(const char *text, uint32_t length, uint32_t offset, const char *bytes, uint32_t num_bytes)
{
	const char *found = num_bytes > length - offset ? NULL : mgpu_find_bytes(text + offset, length - offset, bytes, num_bytes);

	return found ? found - text : -1;
}

/* The place of the second text in the first, in characters from 1 on; 0: it is not there. */
MGPU_CODEC void
mgpu_run_position(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.states[i] = mgpu_larger_state(a.states[i], b.states[i]);
		to.integers[i] = 0;
		if (to.states[i] == MGPU_IS_VALUE)
		{
			int64_t		place = b.lengths[i] == 0 ? 0 : mgpu_place_of(a.bytes[i], a.lengths[i], 0, b.bytes[i], b.lengths[i]);

			to.integers[i] = place < 0 ? 0 : 1 + mgpu_count_characters(a.bytes[i], (uint32_t) place, op.number);
		}
	}
}

/* The field of a text between separators, from 1 on; empty, if there are fewer. */
MGPU_CODEC void
mgpu_take_field(mgpu_register to, mgpu_register from, mgpu_register separators, uint32_t i, int64_t number)
{
	uint32_t	length = from.lengths[i];
	uint32_t	separator = separators.lengths[i];
	uint32_t	begin = 0;
	int64_t		end = separator == 0 ? -1 : mgpu_place_of(from.bytes[i], length, 0, separators.bytes[i], separator);

	for (; number > 1 && end >= 0; number--)
	{
		begin = (uint32_t) end + separator;
		end = mgpu_place_of(from.bytes[i], length, begin, separators.bytes[i], separator);
	}
	to.bytes[i] = from.bytes[i] + begin;
	to.lengths[i] = number > 1 ? 0 : (end < 0 ? length : (uint32_t) end) - begin;
}

/* A field that is counted from the end is a fault. */
MGPU_CODEC void
mgpu_run_split_part(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register separators = mgpu_register_from(frame, op, 1);
	mgpu_register numbers = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], mgpu_larger_state(separators.states[i], numbers.states[i]));

		to.bytes[i] = NULL;
		to.lengths[i] = 0;
		to.states[i] = mgpu_state_unless(state, numbers.integers[i] < 1);
		if (to.states[i] == MGPU_IS_VALUE)
			mgpu_take_field(to, a, separators, i, numbers.integers[i]);
	}
}

/* The last characters.  A negative number of them counts from the begin: a fault. */
MGPU_CODEC void
mgpu_run_trailing(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register counts = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.bytes[i] = NULL;
		to.lengths[i] = 0;
		to.states[i] = mgpu_state_unless(mgpu_larger_state(a.states[i], counts.states[i]), counts.integers[i] < 0);
		if (to.states[i] == MGPU_IS_VALUE)
		{
			int64_t		all = mgpu_count_characters(a.bytes[i], a.lengths[i], op.number);

			mgpu_take_part(to, a, i, all > counts.integers[i] ? all - counts.integers[i] : 0, all, op.number);
		}
	}
}

MGPU_CODEC void
mgpu_run_trim_front(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint32_t	length = a.states[i] == MGPU_IS_VALUE ? a.lengths[i] : 0;
		uint32_t	begin = 0;

		while (begin < length && a.bytes[i][begin] == ' ')
			begin++;
		to.bytes[i] = length > 0 ? a.bytes[i] + begin : a.bytes[i];
		to.lengths[i] = length - begin;
		to.states[i] = a.states[i];
	}
}

#endif							/* MGPU_OPS_PARTS_H */

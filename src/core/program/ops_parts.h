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

/* The end of the field of a text that begins at an offset; -1: it is the last. */
MGPU_CODEC int64_t
mgpu_end_of_field(mgpu_register from, mgpu_register separators, uint32_t i, uint32_t begin)
{
	return separators.lengths[i] == 0 ? -1 : mgpu_place_of(from.bytes[i], from.lengths[i], begin, separators.bytes[i], separators.lengths[i]);
}

MGPU_CODEC int64_t
mgpu_count_fields(mgpu_register from, mgpu_register separators, uint32_t i)
{
	int64_t		count = 1;

	for (int64_t end = mgpu_end_of_field(from, separators, i, 0); end >= 0; count++)
		end = mgpu_end_of_field(from, separators, i, (uint32_t) end + separators.lengths[i]);
	return count;
}

/* The field of a text between separators, from 1 on, or from -1 on for those at the end.  false: there are fewer, and it is empty. */
MGPU_CODEC bool
mgpu_take_field(mgpu_register to, mgpu_register from, mgpu_register separators, uint32_t i, int64_t number)
{
	uint32_t	begin = 0;
	int64_t		end = mgpu_end_of_field(from, separators, i, 0);
	bool		is_there;

	if (number < 0)
		number += mgpu_count_fields(from, separators, i) + 1;
	for (; number > 1 && end >= 0; number--)
	{
		begin = (uint32_t) end + separators.lengths[i];
		end = mgpu_end_of_field(from, separators, i, begin);
	}
	is_there = number == 1;
	to.bytes[i] = from.bytes[i] + begin;
	to.lengths[i] = !is_there ? 0 : (end < 0 ? from.lengths[i] : (uint32_t) end) - begin;
	return is_there;
}

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
		to.states[i] = mgpu_state_unless(state, numbers.integers[i] == 0);
		if (to.states[i] == MGPU_IS_VALUE && (!mgpu_take_field(to, a, separators, i, numbers.integers[i]) || a.lengths[i] == 0) && op.width == MGPU_FIELDS_OF_ARRAY)
			to.states[i] = MGPU_IS_NULL;
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

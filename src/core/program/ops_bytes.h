/*
 * program/ops_bytes.h
 *		Operations on texts and other byte strings.  None makes new bytes: a result is a part of its argument.
 */
#ifndef MGPU_OPS_BYTES_H
#define MGPU_OPS_BYTES_H

/* Whether a byte begins a character of UTF-8. */
MGPU_CODEC bool
mgpu_begins_character(char byte)
{
	return ((unsigned char) byte & 0xC0) != 0x80;
}

MGPU_CODEC uint32_t
mgpu_count_characters(const char *bytes, uint32_t length, bool is_utf8)
{
	uint32_t	count = 0;

	if (!is_utf8)
		return length;
	for (uint32_t i = 0; i < length; i++)
		count += mgpu_begins_character(bytes[i]);
	return count;
}

/* Bytes of the first characters, of all if there are fewer. */
MGPU_CODEC uint32_t
mgpu_skip_characters(const char *bytes, uint32_t length, uint64_t count, bool is_utf8)
{
	uint32_t	offset = 0;

	if (!is_utf8)
		return count < length ? (uint32_t) count : length;
	for (; count > 0 && offset < length; count--)
		for (offset++; offset < length && !mgpu_begins_character(bytes[offset]); offset++)
			;
	return offset;
}

MGPU_CODEC int
mgpu_bytes_outcome(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
	uint32_t	length = a_length < b_length ? a_length : b_length;
	int			order = mgpu_order_bytes(a, b, length);

	if (order == 0)
		return a_length < b_length ? MGPU_IS_LESS : a_length > b_length ? MGPU_IS_GREATER : MGPU_IS_EQUAL;
	return order < 0 ? MGPU_IS_LESS : MGPU_IS_GREATER;
}

MGPU_CODEC void
mgpu_run_compare_bytes(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);
	/* = and <> need no order */
	bool		is_equality = op.number == MGPU_IS_EQUAL || op.number == (MGPU_IS_LESS | MGPU_IS_GREATER);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);

		to.states[i] = state;
		if (state != MGPU_IS_VALUE)
			to.integers[i] = 0;
		else if (is_equality)
			to.integers[i] = (a.lengths[i] == b.lengths[i] && mgpu_equal_bytes(a.bytes[i], b.bytes[i], a.lengths[i])) ==
				(op.number == MGPU_IS_EQUAL);
		else
			to.integers[i] = (mgpu_bytes_outcome(a.bytes[i], a.lengths[i], b.bytes[i], b.lengths[i]) & op.number) != 0;
	}
}

MGPU_CODEC void
mgpu_run_compare_collated(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);
		uint32_t	outcome = state == MGPU_IS_VALUE ? mgpu_collated_outcome(frame, a.bytes[i], a.lengths[i], b.bytes[i], b.lengths[i]) : 0;

		to.states[i] = mgpu_state_unless(state, outcome == 0);
		to.integers[i] = (outcome & op.number) != 0;
	}
}

/* Whether a list, which is in order, has a value. */
MGPU_CODEC bool
mgpu_has_bytes(const mgpu_bytes_list *list, const char *bytes, uint32_t length)
{
	const char *all = (const char *) (list->ends + list->num_values);
	uint32_t	low = 0;
	uint32_t	high = list->num_values;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;
		uint32_t	begin = middle == 0 ? 0 : list->ends[middle - 1];
		uint32_t	other = list->ends[middle] - begin;
		int			order = length != other ? (length < other ? -1 : 1) : mgpu_order_bytes(bytes, all + begin, length);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

MGPU_CODEC void
mgpu_run_in_bytes(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_bytes_list *list = (const mgpu_bytes_list *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = a.states[i];

		to.integers[i] = state == MGPU_IS_VALUE && mgpu_has_bytes(list, a.bytes[i], a.lengths[i]);
		to.states[i] = state == MGPU_IS_VALUE && !to.integers[i] && list->has_null ? MGPU_IS_NULL : state;
	}
}

/* ---- lengths and parts */

#define NUMBER_OF(name, result) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		to.states[i] = a.states[i]; \
		to.integers[i] = a.states[i] == MGPU_IS_VALUE ? (result) : 0; \
	} \
}

NUMBER_OF(bytes, a.lengths[i])
NUMBER_OF(characters, mgpu_count_characters(a.bytes[i], a.lengths[i], op.number))

/* Characters [first, end) of a text, from 0. */
MGPU_CODEC void
mgpu_take_part(mgpu_register to, mgpu_register from, uint32_t i, uint64_t first, uint64_t end, bool is_utf8)
{
	uint32_t	begin = mgpu_skip_characters(from.bytes[i], from.lengths[i], first, is_utf8);

	to.bytes[i] = from.bytes[i] + begin;
	to.lengths[i] = mgpu_skip_characters(to.bytes[i], from.lengths[i] - begin, end - first, is_utf8);
}

/* A negative length is an error.  Characters before the first count, though there are none. */
MGPU_CODEC void
mgpu_run_substring(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register starts = mgpu_register_from(frame, op, 1);
	mgpu_register lengths = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], mgpu_larger_state(starts.states[i], lengths.states[i]));

		to.bytes[i] = NULL;
		to.lengths[i] = 0;
		to.states[i] = mgpu_state_unless(state, lengths.integers[i] < 0);
		if (to.states[i] == MGPU_IS_VALUE)
		{
			int64_t		first = starts.integers[i] - 1;
			int64_t		end = first + lengths.integers[i];

			mgpu_take_part(to, a, i, first < 0 ? 0 : first, end < 0 ? 0 : end, op.number);
		}
	}
}

/* A negative number of characters counts from the end: a fault. */
MGPU_CODEC void
mgpu_run_leading(mgpu_frame frame, mgpu_program_op op)
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
			mgpu_take_part(to, a, i, 0, counts.integers[i], op.number);
	}
}

MGPU_CODEC void
mgpu_run_trim_blanks(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint32_t	length = a.states[i] == MGPU_IS_VALUE ? a.lengths[i] : 0;

		while (length > 0 && a.bytes[i][length - 1] == ' ')
			length--;
		to.bytes[i] = a.bytes[i];
		to.lengths[i] = length;
		to.states[i] = a.states[i];
	}
}

MGPU_CODEC void
mgpu_run_begins_with(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);

		to.states[i] = state;
		to.integers[i] = state == MGPU_IS_VALUE && a.lengths[i] >= b.lengths[i] &&
			mgpu_equal_bytes(a.bytes[i], b.bytes[i], b.lengths[i]);
	}
}

/* ---- LIKE */

/* A piece of a pattern: its bytes, and which of them are any character. */
typedef struct mgpu_like_piece
{
	const char *bytes;
	const char *marks;
	uint32_t	length;
	bool		is_plain;		/* no mark is set */
} mgpu_like_piece;

/* A piece's end in a text that matches it at offset 0; -1: it does not match. */
MGPU_CODEC int64_t
mgpu_match_here(const mgpu_like_piece *part, const char *text, uint32_t length, bool is_utf8)
{
	uint32_t	at = 0;

	if (part->is_plain)
		return length >= part->length && mgpu_equal_bytes(text, part->bytes, part->length) ? (int64_t) part->length : -1;
	for (uint32_t i = 0; i < part->length; i++)
	{
		if (at >= length || (!part->marks[i] && text[at] != part->bytes[i]))
			return -1;
		at += part->marks[i] ? mgpu_skip_characters(text + at, length - at, 1, is_utf8) : 1;
	}
	return at;
}

/* The end of the first match of a piece from an offset on, or -1. */
MGPU_CODEC int64_t
mgpu_match_from(const mgpu_like_piece *part, const char *text, uint32_t length, uint32_t offset, bool is_utf8)
{
	if (part->is_plain)
	{
		const char *found = mgpu_find_bytes(text + offset, length - offset, part->bytes, part->length);

		return found ? found - text + part->length : -1;
	}
	for (; offset <= length; offset += offset < length ? mgpu_skip_characters(text + offset, length - offset, 1, is_utf8) : 1)
	{
		int64_t		end = mgpu_match_here(part, text + offset, length - offset, is_utf8);

		if (end >= 0)
			return offset + end;
	}
	return -1;
}

/* The last piece ends where the text does: it is tried from each character on. */
MGPU_CODEC bool
mgpu_match_at_end(const mgpu_like_piece *part, const char *text, uint32_t length, uint32_t offset, bool is_utf8)
{
	if (part->is_plain)
		return length - offset >= part->length && mgpu_equal_bytes(text + length - part->length, part->bytes, part->length);
	for (; offset <= length; offset += offset < length ? mgpu_skip_characters(text + offset, length - offset, 1, is_utf8) : 1)
		if (mgpu_match_here(part, text + offset, length - offset, is_utf8) == length - offset)
			return true;
	return false;
}

MGPU_CODEC mgpu_like_piece
mgpu_piece_of(const mgpu_like *like, uint32_t number)
{
	const char *bytes = (const char *) (like->ends + like->num_pieces);
	uint32_t	begin = number == 0 ? 0 : like->ends[number - 1];
	uint32_t	length = like->ends[number] - begin;
	mgpu_like_piece part;

	part.bytes = bytes + begin;
	part.marks = part.bytes + like->ends[like->num_pieces - 1];
	part.length = length;
	part.is_plain = !mgpu_has_mark(part.marks, length);
	return part;
}

/* Pieces are found one after the other, each as early as possible. */
MGPU_CODEC bool
mgpu_matches(const mgpu_like *like, const char *text, uint32_t length, bool is_utf8)
{
	mgpu_like_piece part = mgpu_piece_of(like, 0);
	int64_t		at = mgpu_match_here(&part, text, length, is_utf8);

	if (at < 0 || like->num_pieces == 1)
		return at == length;
	for (uint32_t i = 1; i + 1 < like->num_pieces; i++)
	{
		part = mgpu_piece_of(like, i);
		at = mgpu_match_from(&part, text, length, at, is_utf8);
		if (at < 0)
			return false;
	}
	part = mgpu_piece_of(like, like->num_pieces - 1);
	return mgpu_match_at_end(&part, text, length, at, is_utf8);
}

MGPU_CODEC void
mgpu_run_like(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_like *like = (const mgpu_like *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.states[i] = a.states[i];
		to.integers[i] = a.states[i] == MGPU_IS_VALUE && mgpu_matches(like, a.bytes[i], a.lengths[i], op.width);
	}
}

#undef NUMBER_OF

#endif							/* MGPU_OPS_BYTES_H */

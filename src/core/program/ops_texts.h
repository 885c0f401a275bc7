/*
 * program/ops_texts.h
 *		Operations that make new texts: lower and upper case, texts behind each other, numbers as texts, replaced parts.
 *
 * A run has some memory for bytes that are made (mgpu_made).  What each of these operations has made lies behind that of the one before, so it may run once
 * more with other rows: its bytes, and those of all behind it, are gone then.  A text for which there is no room is a fault.
 */
#ifndef MGPU_OPS_TEXTS_H
#define MGPU_OPS_TEXTS_H

/* An operation begins to make texts. */
MGPU_CODEC void
mgpu_begin_made(mgpu_made *made, uint32_t slot)
{
	made->ends[slot] = slot == 0 ? 0 : made->ends[slot - 1];
}

/* Memory for the next text, or NULL.  It is one of `length` bytes at most, whose end is told by mgpu_end_made. */
MGPU_CODEC char *
mgpu_room_for(const mgpu_made *made, uint32_t slot, uint64_t length)
{
	return length <= made->size - made->ends[slot] ? made->bytes + made->ends[slot] : NULL;
}

/* The text of a row has been made; NULL: it has not. */
MGPU_CODEC void
mgpu_end_made(mgpu_made *made, uint32_t slot, mgpu_register to, uint32_t i, char *text, uint32_t length)
{
	to.bytes[i] = text;
	to.lengths[i] = text ? length : 0;
	if (text)
		made->ends[slot] += length;
	else
		to.states[i] = MGPU_IS_FAULT;
}

MGPU_CODEC void
mgpu_copy_bytes(char *to, const char *from, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		to[i] = from[i];
}

/* ---- case */

/* Whether a character beyond those of a map has no case, in any language: scripts without, signs and symbols. */
MGPU_CODEC bool
mgpu_has_no_case(uint32_t c)
{
	return (c >= 0x900 && c <= 0x109F) || (c >= 0x1100 && c <= 0x139F) || (c >= 0x2000 && c <= 0x20FF) || (c >= 0x2190 && c <= 0x245F) ||
		(c >= 0x2500 && c <= 0x2BFF) || (c >= 0x2E80 && c <= 0xA63F) || (c >= 0xAC00 && c <= 0xD7FF) || (c >= 0x1F000 && c <= 0x1FAFF);
}

/* What a character of a map becomes: itself, if it is none of its changes. */
MGPU_CODEC uint32_t
mgpu_changed_case(const mgpu_case_map *map, uint32_t c)
{
	uint32_t	low = 0;
	uint32_t	high = map->num_changes;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (map->changes[middle].from < c)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->num_changes && map->changes[low].from == c ? map->changes[low].to : c;
}

/* The character of UTF-8 at an offset, of *bytes bytes; 0: it is cut off. */
MGPU_CODEC uint32_t
mgpu_character_at(const char *text, uint32_t length, uint32_t at, uint32_t *bytes)
{
	uint8_t		first = (uint8_t) text[at];
	uint32_t	c;

	*bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
	if (*bytes > length - at)
		return 0;
	c = first < 0x80 ? first : first & (0x7F >> *bytes);
	for (uint32_t i = 1; i < *bytes; i++)
		c = c << 6 | ((uint8_t) text[at + i] & 0x3F);
	return c;
}

/* Change one character that is not of ASCII, whose bytes stay as many as they are.  Returns these, or 0: it is not known here what becomes of it. */
MGPU_CODEC uint32_t
mgpu_change_character(const mgpu_case_map *map, const char *text, uint32_t length, uint32_t at, char *to)
{
	uint32_t	bytes = 1;
	uint32_t	c = map->is_utf8 ? mgpu_character_at(text, length, at, &bytes) : (uint8_t) text[at];
	uint32_t	changed = c < map->end ? mgpu_changed_case(map, c) : c;

	if (c == 0 || changed == 0 || (c >= map->end && !map->others_stay && !mgpu_has_no_case(c)))
		return 0;
	mgpu_copy_bytes(to, text + at, bytes);
	if (changed != c && bytes == 1)
		to[0] = (char) changed;
	else if (changed != c)
	{
		to[0] = (char) (0xC0 | changed >> 6);
		to[1] = (char) (0x80 | (changed & 0x3F));
	}
	return bytes;
}

/* false: a character is not known. */
MGPU_CODEC bool
mgpu_change_text(const mgpu_case_map *map, const char *text, uint32_t length, char *to)
{
	for (uint32_t at = 0; at < length;)
	{
		uint8_t		c = (uint8_t) text[at];
		uint32_t	bytes = 1;

		if (c < 0x80)
			to[at] = (char) (c >= map->first && c <= map->last ? c ^ 0x20 : c);
		else
			bytes = mgpu_change_character(map, text, length, at, to + at);
		if (bytes == 0)
			return false;
		at += bytes;
	}
	return true;
}

MGPU_CODEC void
mgpu_run_change_case(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_case_map *map = (const mgpu_case_map *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint32_t	length = a.states[i] == MGPU_IS_VALUE ? a.lengths[i] : 0;
		char	   *text = mgpu_room_for(frame.made, op.width, length);

		to.states[i] = a.states[i];
		mgpu_end_made(frame.made, op.width, to, i, text && mgpu_change_text(map, a.bytes[i], length, text) ? text : NULL, length);
	}
}

/* ---- texts behind each other */

MGPU_CODEC void
mgpu_run_join_bytes(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);
		uint32_t	first = state == MGPU_IS_VALUE ? a.lengths[i] : 0;
		uint32_t	second = state == MGPU_IS_VALUE ? b.lengths[i] : 0;
		char	   *text = mgpu_room_for(frame.made, op.width, (uint64_t) first + second);

		to.states[i] = state;
		if (text)
		{
			mgpu_copy_bytes(text, a.bytes[i], first);
			mgpu_copy_bytes(text + first, b.bytes[i], second);
		}
		mgpu_end_made(frame.made, op.width, to, i, text, first + second);
	}
}

/* ---- numbers */

/* Digits of a number that are behind its point, at most. */
#define MGPU_MOST_DIGITS 18

/* A sign, 20 digits and a point. */
#define MGPU_NUMBER_BYTES 22

/* The text of a number, whose last digits, so many, are behind the point: its length. */
MGPU_CODEC uint32_t
mgpu_text_of_number(int64_t number, uint32_t digits, char *to)
{
	char		reversed[MGPU_NUMBER_BYTES];
	uint64_t	rest = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;
	uint32_t	length = 0;
	uint32_t	num_digits = 0;

	do
	{
		reversed[length++] = (char) ('0' + rest % 10);
		rest /= 10;
		if (++num_digits == digits)
			reversed[length++] = '.';
	} while (rest > 0 || num_digits <= digits);
	if (number < 0)
		reversed[length++] = '-';
	for (uint32_t i = 0; i < length; i++)
		to[i] = reversed[length - 1 - i];
	return length;
}

MGPU_CODEC void
mgpu_run_text_of_integer(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		char	   *text = mgpu_room_for(frame.made, op.width, MGPU_NUMBER_BYTES);

		to.states[i] = a.states[i];
		mgpu_end_made(frame.made, op.width, to, i, text,
					  text && a.states[i] == MGPU_IS_VALUE ? mgpu_text_of_number(a.integers[i], (uint32_t) op.number, text) : 0);
	}
}

/* ---- parts */

/* The length of a text whose parts are replaced, and if there is memory the text.  An empty part is nowhere. */
MGPU_CODEC uint64_t
mgpu_replace_parts(mgpu_register text, mgpu_register part, mgpu_register instead, uint32_t i, char *to)
{
	uint32_t	from = 0;
	uint64_t	length = 0;

	while (from < text.lengths[i])
	{
		int64_t		place = part.lengths[i] == 0 ? -1 : mgpu_place_of(text.bytes[i], text.lengths[i], from, part.bytes[i], part.lengths[i]);
		uint32_t	end = place < 0 ? text.lengths[i] : (uint32_t) place;

		if (to)
			mgpu_copy_bytes(to + length, text.bytes[i] + from, end - from);
		length += end - from;
		if (place < 0)
			break;
		if (to)
			mgpu_copy_bytes(to + length, instead.bytes[i], instead.lengths[i]);
		length += instead.lengths[i];
		from = end + part.lengths[i];
	}
	return length;
}

MGPU_CODEC void
mgpu_run_replace_bytes(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register c = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], mgpu_larger_state(b.states[i], c.states[i]));
		uint64_t	length = state == MGPU_IS_VALUE ? mgpu_replace_parts(a, b, c, i, NULL) : 0;
		char	   *text = mgpu_room_for(frame.made, op.width, length);

		to.states[i] = state;
		if (text && length > 0)
			(void) mgpu_replace_parts(a, b, c, i, text);
		mgpu_end_made(frame.made, op.width, to, i, text, (uint32_t) length);
	}
}

#endif							/* MGPU_OPS_TEXTS_H */

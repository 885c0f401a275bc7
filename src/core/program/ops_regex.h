/*
 * program/ops_regex.h
 *		Regular expressions, as automata that PostgreSQL's own compiler has made (expr/expr_regex.c).
 *
 * A state, and a class for each character, say which state is next.  Once a match has been found, nothing else is looked at.
 */
#ifndef MGPU_OPS_REGEX_H
#define MGPU_OPS_REGEX_H

/* The class of a character that is not of ASCII; MGPU_REGEX_UNKNOWN: it is not known here. */
MGPU_CODEC uint32_t
mgpu_class_of_character(const mgpu_regex *regex, uint32_t c)
{
	const mgpu_regex_range *ranges = (const mgpu_regex_range *) ((const char *) regex + regex->ranges);
	uint32_t	low = 0;
	uint32_t	high = regex->num_ranges;

	/* the last range that begins no later */
	while (high - low > 1)
	{
		uint32_t	middle = (low + high) / 2;

		if (ranges[middle].begin <= c)
			low = middle;
		else
			high = middle;
	}
	return ranges[low].class_of;
}

/* The class of the character at an offset, of *bytes bytes. */
MGPU_CODEC uint32_t
mgpu_class_at(const mgpu_regex *regex, const char *text, uint32_t length, uint32_t at, uint32_t *bytes)
{
	uint8_t		byte = (uint8_t) text[at];

	*bytes = 1;
	if (byte < 0x80)
		return regex->of_ascii[byte];
	return mgpu_class_of_character(regex, regex->is_utf8 ? mgpu_character_at(text, length, at, bytes) : byte);
}

/* Whether a text has a match: true, false or, of an unknown character, a fault.  None begins before *begin: there, nothing had been found yet. */
MGPU_CODEC uint8_t
mgpu_search_regex(const mgpu_regex *regex, const char *text, uint32_t length, int64_t *result, uint32_t *begin)
{
	const uint8_t *next = (const uint8_t *) regex + regex->next;
	uint32_t	state = regex->first;
	uint32_t	at = 0;

	while (at < length && state > MGPU_REGEX_FOUND)
	{
		uint32_t	bytes;
		uint32_t	class_of = mgpu_class_at(regex, text, length, at, &bytes);

		if (class_of == MGPU_REGEX_UNKNOWN)
			return MGPU_IS_FAULT;
		if (state == regex->first)
			*begin = at;
		state = next[state * regex->num_classes + class_of];
		at += bytes;
	}
	/* behind the last class is the end */
	if (state > MGPU_REGEX_FOUND)
		state = next[state * regex->num_classes + regex->num_classes - 1];
	*result = state == MGPU_REGEX_FOUND;
	return MGPU_IS_VALUE;
}

MGPU_CODEC void
mgpu_run_regex(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_regex *regex = (const mgpu_regex *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint32_t	begin;

		to.integers[i] = 0;
		to.states[i] = a.states[i] == MGPU_IS_VALUE ? mgpu_search_regex(regex, a.bytes[i], a.lengths[i], &to.integers[i], &begin) : a.states[i];
	}
}

#endif							/* MGPU_OPS_REGEX_H */

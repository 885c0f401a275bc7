/*
 * program/ops_matches.h
 *		Where a regular expression matches, which part of that a group took, and what takes its place.
 *
 * As PostgreSQL does it: a search says whether there is a match, and from where on; the first place at which the expression's automaton takes something is its
 * begin, the longest that it takes (or the shortest) its end.  Where a group is follows from the expression's tree: each step divides a part in two.
 * Of automata with choices one pass would do, but not with PostgreSQL's choice.  Steps that do not end soon are a fault.
 */
#ifndef MGPU_OPS_MATCHES_H
#define MGPU_OPS_MATCHES_H

/* Characters that are looked at for one text: in the worst case they are the square of its own. */
#define MGPU_REGEX_MOST_LOOKS (UINT32_C(1) << 18)

/* A text, and what is made of it. */
typedef struct mgpu_match_run
{
	const mgpu_regex_match *match;
	const char *text;
	uint32_t	length;
	uint32_t	looks;			/* that are left; none: the text is a fault */
	char	   *made;
	uint32_t	made_length;
	uint32_t	most_made;
} mgpu_match_run;

/* From a place to another. */
typedef struct mgpu_match_part
{
	uint32_t	begin;
	uint32_t	end;
	bool		is_there;
} mgpu_match_part;

/* The place behind a character. */
MGPU_CODEC uint32_t
mgpu_next_place(const mgpu_match_run *run, uint32_t at)
{
	at++;
	while (run->match->search.is_utf8 && at < run->length && ((uint8_t) run->text[at] & 0xC0) == 0x80)
		at++;
	return at;
}

/* The class of the character before a place. */
MGPU_CODEC uint32_t
mgpu_class_before(const mgpu_match_run *run, uint32_t at)
{
	uint32_t	bytes;

	if (at == 0)
		return run->match->search.num_classes - 1;
	at--;
	while (run->match->search.is_utf8 && at > 0 && ((uint8_t) run->text[at] & 0xC0) == 0x80)
		at--;
	return mgpu_class_at(&run->match->search, run->text, run->length, at, &bytes);
}

/* The first and the last place, of those from least to most, where something may end that begins at a place. */
MGPU_CODEC mgpu_match_part
mgpu_find_ends(mgpu_match_run *run, uint32_t automaton, uint32_t begin, uint32_t least, uint32_t most)
{
	const mgpu_regex *regex = &run->match->search;
	const uint8_t *next = (const uint8_t *) run->match + automaton + sizeof(uint32_t);
	mgpu_match_part ends = {0, 0, false};
	uint32_t	class_of = mgpu_class_before(run, begin);
	uint32_t	state = MGPU_REGEX_LOST;
	uint32_t	bytes = 1;

	if (class_of == MGPU_REGEX_UNKNOWN)
		run->looks = 0;
	else
		state = next[MGPU_REGEX_START * regex->num_classes + class_of] & MGPU_REGEX_STATE;
	for (uint32_t at = begin; at <= most && state != MGPU_REGEX_LOST; at += bytes)
	{
		class_of = at < run->length ? mgpu_class_at(regex, run->text, run->length, at, &bytes) : regex->num_classes - 1;
		if (class_of == MGPU_REGEX_UNKNOWN || run->looks == 0)
		{
			run->looks = 0;
			break;
		}
		run->looks--;
		state = next[state * regex->num_classes + class_of];
		if ((state & MGPU_REGEX_ENDS) != 0 && at >= least)
		{
			ends.begin = ends.is_there ? ends.begin : at;
			ends.end = at;
			ends.is_there = true;
		}
		state &= MGPU_REGEX_STATE;
	}
	return ends;
}

/* The first match that begins at a place or behind it. */
MGPU_CODEC mgpu_match_part
mgpu_find_match(mgpu_match_run *run, uint32_t from)
{
	mgpu_match_part found = {0, 0, false};
	int64_t		is_found = 1;

	if (from == 0 && mgpu_search_regex(&run->match->search, run->text, run->length, &is_found, &from) != MGPU_IS_VALUE)
		run->looks = 0;
	for (uint32_t begin = from; is_found && !found.is_there && begin <= run->length && run->looks > 0; begin = mgpu_next_place(run, begin))
	{
		found = mgpu_find_ends(run, run->match->whole, begin, begin, run->length);
		if (run->match->is_shortest)
			found.end = found.begin;
		found.begin = begin;
	}
	return found;
}

/* ---- steps */

/* Where a part is divided.  If there is one place alone, it is that. */
MGPU_CODEC uint32_t
mgpu_divide(mgpu_match_run *run, mgpu_regex_step step, mgpu_match_part part)
{
	uint32_t	least = part.begin;
	uint32_t	most = part.end;

	for (;;)
	{
		mgpu_match_part places = mgpu_find_ends(run, step.left, part.begin, least, most);
		uint32_t	place = step.is_shortest ? places.begin : places.end;

		if (!places.is_there)
		{
			run->looks = 0;
			return part.begin;
		}
		if (places.begin == places.end || mgpu_find_ends(run, step.right, place, part.end, part.end).is_there)
			return place;
		if (step.is_shortest)
			least = place + 1;
		else
			most = place - 1;
	}
}

/* Put bytes behind what has been made.  Without room the text is a fault. */
MGPU_CODEC void
mgpu_make_bytes(mgpu_match_run *run, const char *bytes, uint32_t length)
{
	if (length > run->most_made - run->made_length)
	{
		run->looks = 0;
		return;
	}
	mgpu_copy_bytes(run->made + run->made_length, bytes, length);
	run->made_length += length;
}

/* The part of a match that steps lead to.  What they copy is made. */
MGPU_CODEC mgpu_match_part
mgpu_take_steps(mgpu_match_run *run, mgpu_match_part whole)
{
	const mgpu_regex_step *steps = (const mgpu_regex_step *) ((const char *) run->match + run->match->steps);
	mgpu_match_part part = whole;

	for (uint32_t i = 0; i < run->match->num_steps; i++)
	{
		if (steps[i].code == MGPU_REGEX_LEFT)
			part.end = mgpu_divide(run, steps[i], part);
		else if (steps[i].code == MGPU_REGEX_RIGHT)
			part.begin = mgpu_divide(run, steps[i], part);
		else if (steps[i].code == MGPU_REGEX_LITERAL)
			mgpu_make_bytes(run, (const char *) run->match + steps[i].left, steps[i].right);
		else
		{
			mgpu_make_bytes(run, run->text + part.begin, part.end - part.begin);
			part = whole;
		}
	}
	return part;
}

/* ---- operations */

MGPU_CODEC void
mgpu_run_regex_part(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_regex_match *match = (const mgpu_regex_match *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_match_run run = {match, a.bytes[i], a.lengths[i], MGPU_REGEX_MOST_LOOKS, NULL, 0, 0};
		mgpu_match_part part = {0, 0, false};

		to.states[i] = a.states[i];
		if (a.states[i] == MGPU_IS_VALUE)
		{
			part = mgpu_find_match(&run, 0);
			if (part.is_there)
				part = mgpu_take_steps(&run, part);
			to.states[i] = run.looks == 0 ? MGPU_IS_FAULT : part.is_there ? MGPU_IS_VALUE : MGPU_IS_NULL;
		}
		to.bytes[i] = to.states[i] == MGPU_IS_VALUE ? a.bytes[i] + part.begin : NULL;
		to.lengths[i] = to.states[i] == MGPU_IS_VALUE ? part.end - part.begin : 0;
	}
}

/* After an empty match the next one begins a character behind. */
MGPU_CODEC void
mgpu_replace_matches(mgpu_match_run *run)
{
	uint32_t	from = 0;
	uint32_t	copied = 0;

	while (from <= run->length && run->looks > 0)
	{
		mgpu_match_part found = mgpu_find_match(run, from);

		if (!found.is_there)
			break;
		mgpu_make_bytes(run, run->text + copied, found.begin - copied);
		(void) mgpu_take_steps(run, found);
		copied = found.end;
		from = !run->match->is_global ? UINT32_MAX : found.begin < found.end ? found.end : mgpu_next_place(run, found.end);
	}
	mgpu_make_bytes(run, run->text + copied, run->length - copied);
}

MGPU_CODEC void
mgpu_run_replace_regex(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_regex_match *match = (const mgpu_regex_match *) mgpu_program_table(frame, op);
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_match_run run = {match, a.bytes[i], a.lengths[i], MGPU_REGEX_MOST_LOOKS,
			frame.made->bytes + frame.made->ends[op.width], 0, frame.made->size - frame.made->ends[op.width]};

		to.states[i] = a.states[i];
		if (a.states[i] == MGPU_IS_VALUE)
			mgpu_replace_matches(&run);
		mgpu_end_made(frame.made, op.width, to, i, run.looks > 0 ? run.made : NULL, run.made_length);
	}
}

#endif							/* MGPU_OPS_MATCHES_H */

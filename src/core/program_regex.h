/*
 * program_regex.h
 *		Tables of operations that look for regular expressions: automata, and what leads from a match to its parts.
 *
 * expr/expr_regex.c and expr/compile_matches.c make them; program/ops_regex.h and program/ops_matches.h run them.
 */
#ifndef MGPU_PROGRAM_REGEX_H
#define MGPU_PROGRAM_REGEX_H

#include <stdint.h>

/*
 * A regular expression: an automaton.  States are rows of num_classes next states each, of one byte: for the classes of characters, and the last one for
 * the end of the text.  Characters beyond ASCII are of classes by ranges, of which the first begins at 0.
 */
typedef struct mgpu_regex_range
{
	uint32_t	begin;			/* up to the next one's */
	uint32_t	class_of;
} mgpu_regex_range;

#define MGPU_REGEX_LOST 0		/* states: there will be no match */
#define MGPU_REGEX_FOUND 1
#define MGPU_REGEX_UNKNOWN UINT32_MAX	/* class of a character that the automaton does not know */

typedef struct mgpu_regex
{
	uint32_t	first;			/* state */
	uint32_t	num_states;
	uint32_t	num_classes;	/* with the end */
	uint32_t	num_ranges;
	uint32_t	is_utf8;		/* else each byte is a character */
	uint32_t	ranges;			/* where these are, from the begin of this struct */
	uint32_t	next;
	uint8_t		of_ascii[128];
} mgpu_regex;

/*
 * Where a match is, and parts of it.  For these there are automata that say where a text may end which begins at a place: the number of states, of 4 bytes,
 * and a row for each.  A next state with MGPU_REGEX_ENDS says that the text may end before the character at hand.  The row of MGPU_REGEX_START is for
 * the character before the text; there, the last class is for the begin of all.  Steps lead from the whole match to a part.
 */
#define MGPU_REGEX_START 1
#define MGPU_REGEX_ENDS 0x80
#define MGPU_REGEX_STATE 0x7F

typedef enum mgpu_regex_step_code
{
	MGPU_REGEX_LEFT,			/* on with what one automaton takes so that another takes the rest: as much or, is_shortest, as little as may be */
	MGPU_REGEX_RIGHT,			/* on with that rest */
	MGPU_REGEX_COPY,			/* the part is of the result; begin anew */
	MGPU_REGEX_LITERAL			/* so are these bytes */
} mgpu_regex_step_code;

typedef struct mgpu_regex_step
{
	uint16_t	code;
	uint16_t	is_shortest;
	uint32_t	left;			/* automata, or bytes and how many, from the begin of the mgpu_regex_match */
	uint32_t	right;
} mgpu_regex_step;

typedef struct mgpu_regex_match
{
	mgpu_regex	search;			/* its classes are those of all automata */
	uint32_t	whole;			/* the automaton of matches */
	uint16_t	is_shortest;
	uint16_t	is_global;		/* all matches are replaced, not the first alone */
	uint32_t	num_steps;
	uint32_t	steps;
} mgpu_regex_match;

#endif							/* MGPU_PROGRAM_REGEX_H */

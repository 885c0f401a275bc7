/*
 * expr_regex.c
 *		Regular expressions as automata without choices, which are tables of programs.
 *
 * PostgreSQL's own compiler makes an automaton of an expression's search, whose arcs are of colors: classes of characters that the expression does not
 * tell apart.  Sets of its states are states here, in the usual way.  So what matches is what PostgreSQL finds.  There is none for what no automaton
 * does, which are back references and conditions on what lies around, and for what takes too many states.
 */
#include "postgres.h"

#include "regex/regex.h"
#include "regex/regguts.h"

#include "compat.h"
#include "expr/compile.h"

#define MOST_STATES 200
#define MOST_CLASSES 100
#define MOST_NFA_STATES 512
#define MOST_TABLE_BYTES 5000

/* Characters beyond ASCII have ranges: at most so many. */
#define MOST_RANGES 64

typedef struct state_set
{
	uint64		words[MOST_NFA_STATES / 64];
} state_set;

/* An automaton under way. */
typedef struct regex_maker
{
	const struct cnfa *nfa;
	struct colormap *colors;
	color		classes[MOST_CLASSES];	/* the color of each class */
	int			num_classes;	/* without the end */
	mgpu_regex_range ranges[MOST_RANGES];
	int			num_ranges;
	state_set	sets[MOST_STATES];	/* of each state: from MGPU_REGEX_FOUND + 1 on */
	int			num_states;
	uint8		next[MOST_STATES][MOST_CLASSES];
} regex_maker;

/* ---- classes */

/* The class of a color; -1: there are too many. */
static int
class_of(regex_maker *maker, color of)
{
	int			number = 0;

	while (number < maker->num_classes && maker->classes[number] != of)
		number++;
	/* one is the end */
	if (number == MOST_CLASSES - 1)
		return -1;
	if (number == maker->num_classes)
		maker->classes[maker->num_classes++] = of;
	return number;
}

static bool
add_range(regex_maker *maker, uint32 begin, uint32 class_of)
{
	if (maker->num_ranges > 0 && maker->ranges[maker->num_ranges - 1].class_of == class_of)
		return true;
	if (maker->num_ranges == MOST_RANGES)
		return false;
	maker->ranges[maker->num_ranges++] = (mgpu_regex_range) {begin, class_of};
	return true;
}

/* Find the classes of all characters.  Of those beyond a simple map, an expression may tell apart too many. */
static bool
find_classes(regex_maker *maker, mgpu_regex *regex)
{
	chr			end = regex->is_utf8 ? MAX_SIMPLE_CHR + 1 : 0x100;
	int			number;

	for (chr c = 0; c < end; c++)
	{
		number = class_of(maker, GETCOLOR(maker->colors, c));
		if (number < 0 || (c >= 0x80 && !add_range(maker, c, (uint32) number)))
			return false;
		if (c < 0x80)
			regex->of_ascii[c] = (uint8) number;
	}
	maker->ranges[0].begin = 0;
	if (!regex->is_utf8)
		return true;
	number = maker->colors->numcmranges == 0 && maker->colors->hiarraycols == 1 ? class_of(maker, pg_reg_getcolor(maker->colors, end)) : -1;
	return add_range(maker, end, number < 0 ? MGPU_REGEX_UNKNOWN : (uint32) number);
}

/* ---- states */

static bool
has_state(const state_set *set, int state)
{
	return (set->words[state / 64] >> (state % 64) & 1) != 0;
}

/* States behind those of a set, by arcs of a color.  is_character: those of all characters count, too. */
static state_set
states_behind(const regex_maker *maker, const state_set *set, color of, bool is_character)
{
	state_set	behind = {0};

	for (int state = 0; state < maker->nfa->nstates; state++)
	{
		if (!has_state(set, state))
			continue;
		for (const struct carc *arc = maker->nfa->states[state]; arc->co != COLORLESS; arc++)
			if (arc->co == of || (is_character && arc->co == RAINBOW))
				behind.words[arc->to / 64] |= UINT64CONST(1) << (arc->to % 64);
	}
	return behind;
}

/* The number of a set of states; -1: there are too many. */
static int
state_of(regex_maker *maker, const state_set *set)
{
	static const state_set none = {0};
	int			number = 0;

	if (has_state(set, maker->nfa->post))
		return MGPU_REGEX_FOUND;
	if (memcmp(set, &none, sizeof(none)) == 0)
		return MGPU_REGEX_LOST;
	while (number < maker->num_states && memcmp(&maker->sets[number], set, sizeof(*set)) != 0)
		number++;
	if (number == MOST_STATES)
		return -1;
	if (number == maker->num_states)
		maker->sets[maker->num_states++] = *set;
	return MGPU_REGEX_FOUND + 1 + number;
}

/* Find what is behind a state, whatever comes. */
static bool
find_next(regex_maker *maker, int number)
{
	for (int i = 0; i <= maker->num_classes; i++)
	{
		bool		is_end = i == maker->num_classes;
		state_set	behind = states_behind(maker, &maker->sets[number], is_end ? maker->nfa->eos[1] : maker->classes[i], !is_end);
		int			next = state_of(maker, &behind);

		if (next < 0)
			return false;
		maker->next[number][i] = (uint8) next;
	}
	return true;
}

/* Find all states; the first one is behind the begin of the text. */
static bool
find_states(regex_maker *maker, mgpu_regex *regex)
{
	state_set	before = {0};
	state_set	first;
	int			number;

	before.words[maker->nfa->pre / 64] |= UINT64CONST(1) << (maker->nfa->pre % 64);
	first = states_behind(maker, &before, maker->nfa->bos[1], false);
	number = state_of(maker, &first);
	if (number < 0)
		return false;
	regex->first = (uint32) number;
	for (int i = 0; i < maker->num_states; i++)
		if (!find_next(maker, i))
			return false;
	return true;
}

/* ---- the table */

static int64
write_table(expr_program *program, const regex_maker *maker, mgpu_regex *regex)
{
	int			num_classes = maker->num_classes + 1;
	Size		range_bytes = maker->num_ranges * sizeof(mgpu_regex_range);
	Size		size;
	char	   *table;

	regex->num_states = (uint32) (MGPU_REGEX_FOUND + 1 + maker->num_states);
	regex->num_classes = (uint32) num_classes;
	regex->num_ranges = (uint32) maker->num_ranges;
	regex->ranges = sizeof(mgpu_regex);
	regex->next = (uint32) (sizeof(mgpu_regex) + range_bytes);
	size = regex->next + regex->num_states * num_classes;
	if (size > MOST_TABLE_BYTES)
		return -1;
	table = palloc0(size);
	memcpy(table, regex, sizeof(mgpu_regex));
	memcpy(table + regex->ranges, maker->ranges, range_bytes);
	for (int i = 0; i < maker->num_states; i++)
		memcpy(table + regex->next + (MGPU_REGEX_FOUND + 1 + i) * num_classes, maker->next[i], num_classes);
	return table_add(program, table, size);
}

int64
table_of_regex(expr_program *program, text *pattern, bool any_case, Oid collation, bool is_utf8)
{
	regex_t    *compiled = RE_compile_and_cache(pattern, any_case ? REG_ADVANCED | REG_ICASE : REG_ADVANCED, collation);
	struct guts *guts = (struct guts *) compiled->re_guts;
	regex_maker *maker = palloc0(sizeof(regex_maker));
	mgpu_regex	regex = {.is_utf8 = is_utf8};

	maker->nfa = &guts->search;
	maker->colors = &guts->cmap;
	if ((compiled->re_info & REG_UBACKREF) != 0 || maker->nfa->nstates == 0 || maker->nfa->nstates > MOST_NFA_STATES ||
		(maker->nfa->flags & HASLACONS) != 0 || !find_classes(maker, &regex) || !find_states(maker, &regex))
		return -1;
	return write_table(program, maker, &regex);
}

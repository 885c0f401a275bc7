/*
 * expr_regex.c
 *		Regular expressions as automata without choices, which are tables of programs.
 *
 * PostgreSQL's own compiler makes an automaton of an expression's search, whose arcs are of colors: classes of characters that the expression does not
 * tell apart.  Sets of its states are states here, in the usual way.  So what matches is what PostgreSQL finds.  There is none for what no automaton
 * does, which are back references and conditions on what lies around, and for what takes too many states.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "compat.h"
#include "expr/expr_regex.h"

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

/* A table under way, and the automaton that is added to it. */
struct regex_maker
{
	StringInfoData table;
	struct colormap *colors;
	color		classes[MOST_CLASSES];	/* the color of each class */
	int			num_classes;	/* without the end */
	mgpu_regex_range ranges[MOST_RANGES];
	int			num_ranges;
	const struct cnfa *nfa;
	bool		is_search;		/* a match is all it finds; else, it finds all ends */
	state_set	sets[MOST_STATES];	/* of each state: from MGPU_REGEX_FOUND + 1 on; of ends, from MGPU_REGEX_START on */
	int			num_states;
	uint8		next[MOST_STATES][MOST_CLASSES];
};

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

/* The number of a set of states, in which what has been found is none; -1: there are too many. */
static int
number_of_set(regex_maker *maker, const state_set *set)
{
	static const state_set none = {0};
	int			number = 0;

	if (memcmp(set, &none, sizeof(none)) == 0)
		return MGPU_REGEX_LOST;
	while (number < maker->num_states && memcmp(&maker->sets[number], set, sizeof(*set)) != 0)
		number++;
	if (number == (maker->is_search ? MOST_STATES : MGPU_REGEX_STATE))
		return -1;
	if (number == maker->num_states)
		maker->sets[maker->num_states++] = *set;
	return (maker->is_search ? MGPU_REGEX_FOUND + 1 : MGPU_REGEX_START) + number;
}

static int
state_of(regex_maker *maker, state_set set)
{
	int			number;

	if (!has_state(&set, maker->nfa->post))
		return number_of_set(maker, &set);
	if (maker->is_search)
		return MGPU_REGEX_FOUND;
	set.words[maker->nfa->post / 64] &= ~(UINT64CONST(1) << (maker->nfa->post % 64));
	number = number_of_set(maker, &set);
	return number < 0 ? number : number | MGPU_REGEX_ENDS;
}

/* Find what is behind a state, whatever comes. */
static bool
find_next(regex_maker *maker, int number, color end)
{
	for (int i = 0; i <= maker->num_classes; i++)
	{
		bool		is_end = i == maker->num_classes;
		int			next = state_of(maker, states_behind(maker, &maker->sets[number], is_end ? end : maker->classes[i], !is_end));

		if (next < 0)
			return false;
		maker->next[number][i] = (uint8) next;
	}
	return true;
}

/* Find all states.  The first is before the text or, of a search, behind its begin: *first. */
static bool
find_states(regex_maker *maker, const struct cnfa *nfa, bool is_search, uint32 *first)
{
	state_set	before = {0};

	maker->nfa = nfa;
	maker->is_search = is_search;
	maker->num_states = 0;
	if (nfa->nstates == 0 || nfa->nstates > MOST_NFA_STATES || (nfa->flags & HASLACONS) != 0)
		return false;
	before.words[nfa->pre / 64] |= UINT64CONST(1) << (nfa->pre % 64);
	*first = (uint32) state_of(maker, is_search ? states_behind(maker, &before, nfa->bos[1], false) : before);
	for (int i = 0; i < maker->num_states; i++)
		if (!find_next(maker, i, !is_search && i == 0 ? nfa->bos[1] : nfa->eos[1]))
			return false;
	return true;
}

/* ---- the table */

uint32
regex_add_bytes(regex_maker *maker, const void *bytes, Size size)
{
	uint32		offset = maker->table.len;

	appendBinaryStringInfo(&maker->table, bytes, size);
	return offset;
}

/* Add the next states of the automaton, and of as many others before these. */
static uint32
add_next(regex_maker *maker, int num_before)
{
	int			num_classes = maker->num_classes + 1;
	uint8	   *none = palloc0(num_before * num_classes);
	uint32		offset = regex_add_bytes(maker, none, num_before * num_classes);

	for (int i = 0; i < maker->num_states; i++)
		(void) regex_add_bytes(maker, maker->next[i], num_classes);
	return offset;
}

void
regex_align(regex_maker *maker)
{
	while (maker->table.len % sizeof(uint32) != 0)
		appendStringInfoChar(&maker->table, '\0');
}

uint32
regex_add_ends(regex_maker *maker, const struct cnfa *nfa)
{
	uint32		num_states;
	uint32		offset;

	if (!find_states(maker, nfa, false, &num_states))
		return 0;
	regex_align(maker);
	num_states = MGPU_REGEX_START + maker->num_states;
	offset = regex_add_bytes(maker, &num_states, sizeof(num_states));
	(void) add_next(maker, MGPU_REGEX_START);
	return offset;
}

void *
regex_header(regex_maker *maker)
{
	return maker->table.data;
}

regex_maker *
regex_begin(const regex_t *compiled, bool is_utf8, Size header_bytes)
{
	struct guts *guts = (struct guts *) compiled->re_guts;
	regex_maker *maker = palloc0(sizeof(regex_maker));
	mgpu_regex	regex = {.is_utf8 = is_utf8,.ranges = header_bytes};

	maker->colors = &guts->cmap;
	initStringInfo(&maker->table);
	if ((compiled->re_info & REG_UBACKREF) != 0 || !find_classes(maker, &regex) || !find_states(maker, &guts->search, true, &regex.first))
		return NULL;
	regex.num_states = (uint32) (MGPU_REGEX_FOUND + 1 + maker->num_states);
	regex.num_classes = (uint32) maker->num_classes + 1;
	regex.num_ranges = (uint32) maker->num_ranges;
	(void) regex_add_bytes(maker, palloc0(header_bytes), header_bytes);
	(void) regex_add_bytes(maker, maker->ranges, maker->num_ranges * sizeof(mgpu_regex_range));
	regex.next = add_next(maker, MGPU_REGEX_FOUND + 1);
	memcpy(maker->table.data, &regex, sizeof(regex));
	return maker;
}

int64
regex_end(regex_maker *maker, expr_program *program)
{
	return maker->table.len > MOST_TABLE_BYTES ? -1 : table_add(program, maker->table.data, maker->table.len);
}

const regex_t *
regex_compile(text *pattern, bool any_case, Oid collation)
{
	int			flags = any_case ? REG_ADVANCED | REG_ICASE : REG_ADVANCED;
	pg_wchar   *characters = palloc((VARSIZE_ANY_EXHDR(pattern) + 1) * sizeof(pg_wchar));
	int			length = pg_mb2wchar_with_len(VARDATA_ANY(pattern), characters, (int) VARSIZE_ANY_EXHDR(pattern));
	regex_t		tried;

	if (pg_regcomp(&tried, characters, length, flags, collation) != REG_OKAY)
		return NULL;
	pg_regfree(&tried);
	return RE_compile_and_cache(pattern, flags, collation);
}

int64
table_of_regex(expr_program *program, text *pattern, bool any_case, Oid collation, bool is_utf8)
{
	const regex_t *compiled = regex_compile(pattern, any_case, collation);
	regex_maker *maker = compiled == NULL ? NULL : regex_begin(compiled, is_utf8, sizeof(mgpu_regex));

	return maker == NULL ? -1 : regex_end(maker, program);
}

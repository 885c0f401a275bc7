/*
 * compile_matches.c
 *		substring(x FROM 'pattern'), (regexp_match(x, 'pattern'))[1] and regexp_replace: where a regular expression matches, and what its groups took.
 *
 * PostgreSQL's compiler keeps a tree of an expression that has groups, and an automaton for each of its nodes; its executor finds a match by the whole automaton,
 * and walks down the tree to say where groups are.  The steps to a group are the same walk, written down (core/program_regex.h).  Groups that may take no part
 * in a match are left out: those in alternatives, or of which there may be none.  Scanning patterns here was rejected: it would be a second opinion on
 * what they mean.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "expr/expr_regex.h"

#define MOST_STEPS 64
#define MOST_NODES 32

/* A table under way. */
typedef struct match_maker
{
	regex_maker *regex;
	const struct subre *nodes[MOST_NODES];	/* those whose automata it has */
	uint32		places[MOST_NODES];
	int			num_nodes;
	mgpu_regex_step steps[MOST_STEPS];
	int			num_steps;
} match_maker;

/* What a call asks for. */
typedef struct match_call
{
	text	   *pattern;
	text	   *replacement;	/* NULL: a part is asked for */
	int			group;			/* that part; of an expression without groups, the first is the whole match */
	bool		is_global;
	bool		any_case;
	bool		is_utf8;
	Oid			collation;
} match_call;

/* ---- steps to a group */

static bool
add_step(match_maker *maker, mgpu_regex_step step)
{
	if (maker->num_steps == MOST_STEPS)
		return false;
	maker->steps[maker->num_steps++] = step;
	return true;
}

/* Where a node's automaton is, or 0: there can be none. */
static uint32
automaton_of(match_maker *maker, const struct subre *node)
{
	int			i = 0;

	while (i < maker->num_nodes && maker->nodes[i] != node)
		i++;
	if (i < maker->num_nodes)
		return maker->places[i];
	if (i == MOST_NODES)
		return 0;
	maker->nodes[i] = node;
	maker->places[i] = regex_add_ends(maker->regex, &node->cnfa);
	maker->num_nodes++;
	return maker->places[i];
}

static bool
has_group(const struct subre *node, int group)
{
	check_stack_depth();
	if (node->capno == group)
		return true;
	for (const struct subre *child = node->child; child != NULL; child = child->sibling)
		if (has_group(child, group))
			return true;
	return false;
}

/* From a node that has a group to that: the text of one that is '.' is divided between its children, '(' has one alone. */
static bool
add_steps(match_maker *maker, const struct subre *node, int group)
{
	while (node->capno != group)
	{
		const struct subre *left = node->child;
		bool		is_left;

		if (node->op != '.' && node->op != '(')
			return false;
		is_left = has_group(left, group);
		if (node->op == '.')
		{
			mgpu_regex_step step = {is_left ? MGPU_REGEX_LEFT : MGPU_REGEX_RIGHT, (left->flags & SHORTER) != 0, automaton_of(maker, left), automaton_of(maker, left->sibling)};

			if (step.left == 0 || step.right == 0 || !add_step(maker, step))
				return false;
		}
		node = is_left ? left : left->sibling;
	}
	return true;
}

/* ---- what takes the place of a match */

static bool
add_literal(match_maker *maker, StringInfo literal)
{
	mgpu_regex_step step = {MGPU_REGEX_LITERAL, false, 0, literal->len};

	if (literal->len == 0)
		return true;
	step.left = regex_add_bytes(maker->regex, literal->data, literal->len);
	resetStringInfo(literal);
	return add_step(maker, step);
}

/* A group that is nowhere is empty; 0 is the whole match. */
static bool
add_copy(match_maker *maker, const struct subre *tree, int group)
{
	if (group > 0 && !has_group(tree, group))
		return true;
	return (group == 0 || add_steps(maker, tree, group)) && add_step(maker, (mgpu_regex_step) {.code = MGPU_REGEX_COPY});
}

/* A backslash that is before something else is itself. */
static bool
add_replacement(match_maker *maker, const struct subre *tree, const text *replacement)
{
	const char *next = VARDATA_ANY(replacement);
	const char *end = next + VARSIZE_ANY_EXHDR(replacement);
	StringInfoData literal;

	initStringInfo(&literal);
	for (; next < end; next++)
	{
		bool		is_escape = *next == '\\' && next + 1 < end;

		if (is_escape && (next[1] == '&' || (next[1] >= '1' && next[1] <= '9')))
		{
			if (!add_literal(maker, &literal) || !add_copy(maker, tree, next[1] == '&' ? 0 : next[1] - '0'))
				return false;
			next++;
			continue;
		}
		appendStringInfoChar(&literal, *next);
		if (is_escape && next[1] == '\\')
			next++;
	}
	return add_literal(maker, &literal);
}

/* ---- calls */

static int64
table_of_match(expr_program *program, const match_call *call)
{
	const regex_t *compiled = regex_compile(call->pattern, call->any_case, call->collation);
	match_maker maker = {.regex = compiled == NULL ? NULL : regex_begin(compiled, call->is_utf8, sizeof(mgpu_regex_match))};
	const struct subre *tree;
	mgpu_regex_match *match;
	uint32		whole;
	uint32		steps;

	if (maker.regex == NULL)
		return -1;
	tree = ((const struct guts *) compiled->re_guts)->tree;
	whole = automaton_of(&maker, tree);
	if (whole == 0)
		return -1;
	if (call->replacement != NULL ? !add_replacement(&maker, tree, call->replacement) :
		compiled->re_nsub == 0 ? call->group > 1 : !(has_group(tree, call->group) && add_steps(&maker, tree, call->group)))
		return -1;
	regex_align(maker.regex);
	steps = regex_add_bytes(maker.regex, maker.steps, maker.num_steps * sizeof(mgpu_regex_step));
	match = regex_header(maker.regex);
	match->whole = whole;
	match->is_shortest = (tree->flags & SHORTER) != 0;
	match->is_global = call->is_global;
	match->num_steps = maker.num_steps;
	match->steps = steps;
	return regex_end(maker.regex, program);
}

/* An argument that is a constant text, or NULL. */
static text *
constant_arg(const function_call *call, int number)
{
	const Const *arg = list_nth(call->args, number);

	return IsA(arg, Const) && !arg->constisnull ? DatumGetTextPP(arg->constvalue) : NULL;
}

bool
compile_group(expr_program *program, const function_call *call, int group, expr_value *value)
{
	int			num_args = list_length(call->args);
	match_call	match = {.pattern = constant_arg(call, 1),.group = group,.collation = call->collation};
	const char *flags = num_args == 4 ? text_constant(lfourth(call->args)) : "";
	int64		table;

	if (num_args > 2)
		match.replacement = constant_arg(call, 2);
	if (match.pattern == NULL || (num_args > 2 && match.replacement == NULL) || flags == NULL || flags[strspn(flags, "gi")] != '\0' ||
		!compares_bytes(call->collation, false) || !encoding_is_known(&match.is_utf8))
		return false;
	match.is_global = strchr(flags, 'g') != NULL;
	match.any_case = strchr(flags, 'i') != NULL;
	if (!compile_expr(program, linitial(call->args), value) || (table = table_of_match(program, &match)) < 0)
		return false;
	if (match.replacement != NULL)
		return add_made(program, call->known->code, table, value, value);
	*value = add_op(program, call->known->code, call->type, table, 1, value);
	return true;
}

bool
compile_matches(expr_program *program, const function_call *call, expr_value *value)
{
	return compile_group(program, call, 1, value);
}

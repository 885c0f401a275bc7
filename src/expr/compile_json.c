/*
 * compile_json.c
 *		Operations that look into jsonb: data ->> 'key', data -> 'key' ->> 0, data #>> '{key,0}', data['key'], data ? 'key', and numbers of these.
 *
 * No register holds jsonb as a value: a document is bytes that only these operations read.  What is cast to a number is taken from the number that the
 * document has; no text is made between.  A path is as many operations as it has steps.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "expr/compile.h"

/* Digits of an element's number that fit in an int4 for certain. */
#define MOST_ELEMENT_DIGITS 9

static const expr_type bytes = {MGPU_LANE_BYTES, 0, false, 0};

/* One step into a document. */
typedef struct json_step
{
	Expr	   *key;
	int64		number;			/* of the operation */
} json_step;

/* ---- steps */

static List *
add_step(List *steps, Expr *key, int64 number)
{
	json_step  *step = palloc(sizeof(json_step));

	*step = (json_step) {key, number};
	return lappend(steps, step);
}

static Expr *
key_const(const char *key)
{
	return (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(key), false, false);
}

/* A step of a path: what is a number is a key of objects and an element of arrays.  false: it may count from the end. */
static bool
add_path_step(List **steps, const char *text)
{
	size_t		digits = strspn(text, "0123456789");
	bool		is_number = digits > 0 && text[digits] == '\0';

	if (digits > MOST_ELEMENT_DIGITS || (text[0] != '\0' && strchr(" \t\n\v\f\r+-", text[0]) != NULL))
		return false;
	*steps = add_step(*steps, key_const(text), is_number ? -1 - (int64) atoi(text) : 0);
	return true;
}

/* Steps of a constant array of texts.  NIL: they are none, or one is NULL. */
static List *
steps_of_path(const Const *path)
{
	List	   *steps = NIL;
	Datum	   *texts;
	bool	   *nulls;
	int			num_texts;

	if (!IsA(path, Const) || path->constisnull)
		return NIL;
	deconstruct_array(DatumGetArrayTypeP(path->constvalue), TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &num_texts);
	for (int i = 0; i < num_texts; i++)
		if (nulls[i] || !add_path_step(&steps, TextDatumGetCString(texts[i])))
			return NIL;
	return steps;
}

/* An int4 that a constant is, or -1. */
static int
element_of(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && constant->consttype == INT4OID && !constant->constisnull ? Max(DatumGetInt32(constant->constvalue), -1) : -1;
}

/* data['key'][0] is data #> '{key,0}'. */
static List *
steps_of_subscripts(const SubscriptingRef *part)
{
	List	   *steps = NIL;
	ListCell   *cell;

	foreach(cell, part->refupperindexpr)
	{
		const char *text = lfirst(cell) ? text_constant(lfirst(cell)) : NULL;

		if (text == NULL && lfirst(cell) && element_of(lfirst(cell)) >= 0)
			text = psprintf("%d", element_of(lfirst(cell)));
		if (text == NULL || !add_path_step(&steps, text))
			return NIL;
	}
	return part->reflowerindexpr == NIL && part->refassgnexpr == NULL ? steps : NIL;
}

/* What a function looks for in its first argument.  NIL: it is none of these, or nobody knows before it runs. */
static List *
steps_of(Oid function, const List *args)
{
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD: case F_JSONB_OBJECT_FIELD_TEXT: case F_JSONB_EXISTS:
			return add_step(NIL, lsecond(args), 0);
		case F_JSONB_ARRAY_ELEMENT: case F_JSONB_ARRAY_ELEMENT_TEXT:
			return element_of(lsecond(args)) < 0 ? NIL : add_step(NIL, key_const(""), 1 + (int64) element_of(lsecond(args)));
		case F_JSONB_EXTRACT_PATH: case F_JSONB_EXTRACT_PATH_TEXT:
			return steps_of_path(lsecond(args));
		default:
			return NIL;
	}
}

/* ---- documents */

/* Operations for all steps but so many at the end, which are left. */
static bool
compile_steps(expr_program *program, Expr *from, List *steps, int num_left, expr_value *value)
{
	expr_value	both[2];

	if (steps == NIL || !compile_document(program, from, value))
		return false;
	for (int i = 0; i < list_length(steps) - num_left; i++)
	{
		const json_step *step = list_nth(steps, i);

		both[0] = *value;
		if (!compile_expr(program, step->key, &both[1]))
			return false;
		*value = add_op(program, MGPU_RUN_JSON_OBJECT, bytes, step->number, 2, both);
	}
	return true;
}

static bool
compile_column(expr_program *program, const Var *var, expr_value *value)
{
	if (var->vartype != JSONBOID || var->varattno <= 0 || var->varlevelsup != 0 || is_build_var(program, (const Expr *) var))
		return false;
	*value = add_load(program, MGPU_RUN_LOAD_VARLENA, bytes, var->varattno);
	return true;
}

static bool
compile_part(expr_program *program, Expr *expr, expr_value *value)
{
	List	   *args = NIL;
	Oid			function;

	if (IsA(expr, Var))
		return compile_column(program, (const Var *) expr, value);
	if (IsA(expr, SubscriptingRef))
		return compile_steps(program, ((SubscriptingRef *) expr)->refexpr, steps_of_subscripts((SubscriptingRef *) expr), 0, value);
	function = expr_function_of(expr, &args);
	return compile_steps(program, function ? linitial(args) : NULL, steps_of(function, args), 0, value);
}

bool
compile_document(expr_program *program, Expr *expr, expr_value *value)
{
	if (find_part(program, expr, true, value))
		return true;
	if (exprType((Node *) expr) != JSONBOID || !compile_part(program, expr, value))
		return false;
	keep_part(program, expr, true, *value);
	return true;
}

/* ---- what is looked for */

static bool
compile_search(expr_program *program, int code, expr_type type, Oid function, const List *args, expr_value *value)
{
	List	   *steps = steps_of(function, args);
	const json_step *last;
	expr_value	from[2];

	if (!compile_steps(program, linitial(args), steps, 1, &from[0]))
		return false;
	last = llast(steps);
	if (!compile_expr(program, last->key, &from[1]))
		return false;
	if (MGPU_MAKES_TEXTS(code))
		return add_made(program, code, last->number, from, value);
	*value = add_op(program, code, type, last->number, 2, from);
	return true;
}

bool
compile_json(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	list;

	if (call->known->code != MGPU_RUN_JSON_LENGTH)
		return compile_search(program, call->known->code, call->type, call->known->function, call->args, value);
	if (!compile_document(program, linitial(call->args), &list))
		return false;
	*value = add_op(program, MGPU_RUN_JSON_LENGTH, call->type, 0, 1, &list);
	return true;
}

bool
compile_json_number(expr_program *program, Expr *expr, expr_type type, expr_value *value)
{
	List	   *args = NIL;
	const known_function *known = known_function_of(expr_function_of(expr, &args));

	return known && known->code == MGPU_RUN_JSON_TEXT && known->form == FORM_JSON &&
		compile_search(program, type.is_numeric ? MGPU_RUN_JSON_NUMBER : MGPU_RUN_JSON_REAL, type, known->function, args, value);
}

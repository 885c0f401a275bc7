/*
 * compile_arrays.c
 *		Operations that look into a column of arrays: x = ANY (tags), tags @> '{a,b}', tags && '{a,b}'; and data @> '{"k": 1}' of jsonb; and those that
 *		give an element of an array that is not made: (string_to_array(x, ','))[2] and (regexp_match(x, 'pattern'))[1].
 *
 * A column is looked through once for each constant, of which there are few.  What a document is to have is a key with a string, a number, true, false or
 * null, or several of these: a list in a document is none of a program's.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/compile.h"

/* Constants that are looked for, at most. */
#define MOST_WANTED 8

static const expr_type bytes = {MGPU_LANE_BYTES, 0, false, 0};

/* A column whose bytes only operations of its own look into. */
static bool
compile_column(expr_program *program, const Expr *expr, expr_value *value)
{
	const Var  *var = (const Var *) expr;

	if (!IsA(expr, Var) || var->varattno <= 0 || var->varlevelsup != 0 || is_build_var(program, expr))
		return false;
	*value = add_load(program, MGPU_RUN_LOAD_VARLENA, bytes, var->varattno);
	return true;
}

/* One more condition, of which all have to be met, or one.  number: of those before. */
static void
add_condition(expr_program *program, int number, bool all, expr_value condition, expr_value *value)
{
	expr_value	both[2] = {*value, condition};

	*value = number == 0 ? condition : add_op(program, all ? MGPU_RUN_AND : MGPU_RUN_OR, expr_boolean, 0, 2, both);
}

/* ---- arrays */

static bool
takes_element(Oid type_id, Oid collation)
{
	return type_id == INT2OID || type_id == INT4OID || type_id == INT8OID || (type_id == TEXTOID && compares_bytes(collation, false));
}

static expr_value
add_search(expr_program *program, Oid element, expr_value array, expr_value wanted, bool is_any)
{
	expr_value	from[2] = {array, wanted};
	expr_value	found = add_op(program, element == TEXTOID ? MGPU_RUN_ARRAY_HAS_BYTES : MGPU_RUN_ARRAY_HAS_INTEGER, expr_boolean, is_any, 2, from);

	program->ops[program->num_ops - 1].width = (uint16) (element == TEXTOID ? 0 : get_typlen(element));
	return found;
}

/* x = ANY (tags), or x <> ALL (tags). */
bool
compile_any(expr_program *program, const ScalarArrayOpExpr *expr, expr_value *value)
{
	Oid			element = get_element_type(exprType(lsecond(expr->args)));
	expr_value	array;

	/* a value of another type would be converted */
	if (!takes_element(element, expr->inputcollid) || exprType(linitial(expr->args)) != element ||
		!compile_column(program, lsecond(expr->args), &array) || !compile_expr(program, linitial(expr->args), value))
		return false;
	*value = add_search(program, element, array, *value, true);
	if (!expr->useOr)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	return true;
}

/* cardinality(x), or array_length(x, 1). */
static bool
compile_length(expr_program *program, const function_call *call, expr_value *value)
{
	const Const *dimension = list_length(call->args) > 1 ? lsecond(call->args) : NULL;
	expr_value	array;

	if ((dimension && (!IsA(dimension, Const) || dimension->constisnull || DatumGetInt32(dimension->constvalue) != 1)) ||
		!compile_column(program, linitial(call->args), &array))
		return false;
	*value = add_op(program, MGPU_RUN_ARRAY_LENGTH, call->type, call->known->number, 1, &array);
	return true;
}

/* @>, <@ and && of a column and a constant array without NULLs. */
bool
compile_array(expr_program *program, const function_call *call, expr_value *value)
{
	bool		is_turned = call->known->number == ARRAY_CONTAINED;
	const Const *constant = list_nth(call->args, is_turned || list_length(call->args) < 2 ? 0 : 1);
	Oid			element = get_element_type(exprType((const Node *) constant));
	expr_value	array;
	expr_value	wanted;
	Datum	   *datums;
	bool	   *nulls;
	int			num_wanted;
	int16		length;
	bool		by_value;
	char		align;

	if (call->known->code == MGPU_RUN_ARRAY_LENGTH)
		return compile_length(program, call, value);
	if (!IsA(constant, Const) || constant->constisnull || !takes_element(element, call->collation) || !compile_column(program, list_nth(call->args, is_turned ? 1 : 0), &array))
		return false;
	get_typlenbyvalalign(element, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(constant->constvalue), element, length, by_value, align, &datums, &nulls, &num_wanted);
	if (num_wanted == 0 || num_wanted > MOST_WANTED)
		return false;
	for (int i = 0; i < num_wanted; i++)
	{
		Const	   *one = makeConst(element, -1, constant->constcollid, length, datums[i], nulls[i], by_value);

		if (nulls[i] || !compile_expr(program, (Expr *) one, &wanted))
			return false;
		add_condition(program, i, call->known->number != ARRAY_OVERLAPS, add_search(program, element, array, wanted, false), value);
	}
	return true;
}

/* ---- arrays that functions make */

/* The only subscript, from 1 on, or 0. */
static int
subscript_of(const SubscriptingRef *part)
{
	const Const *number = linitial(part->refupperindexpr);

	if (part->refassgnexpr || part->reflowerindexpr || list_length(part->refupperindexpr) != 1 || !IsA(number, Const) || number->constisnull || number->consttype != INT4OID)
		return 0;
	return Max(DatumGetInt32(number->constvalue), 0);
}

/* A separator that is NULL would divide characters. */
static bool
compile_field(expr_program *program, const function_call *call, int number, expr_value *value)
{
	const Const *separator = lsecond(call->args);
	expr_value	from[3];
	bool		is_utf8;

	if (!IsA(separator, Const) || separator->constisnull || !encoding_is_known(&is_utf8) || !compares_bytes(call->collation, false) ||
		!compile_args(program, call, from) || !compile_number(program, number, &from[2]))
		return false;
	*value = add_op(program, MGPU_RUN_SPLIT_PART, bytes, 0, 3, from);
	program->ops[program->num_ops - 1].width = MGPU_FIELDS_OF_ARRAY;
	return true;
}

bool
compile_element(expr_program *program, const SubscriptingRef *part, expr_value *value)
{
	function_call call = {.known = known_function_of(F_SUBSTRING_TEXT_TEXT),.collation = exprInputCollation((Node *) part->refexpr),.type = bytes,.type_id = TEXTOID};
	Oid			function = expr_function_of(part->refexpr, &call.args);
	int			number = subscript_of(part);

	if (number == 0)
		return false;
	if (function == F_STRING_TO_ARRAY_TEXT_TEXT)
		return compile_field(program, &call, number, value);
	return function == F_REGEXP_MATCH_TEXT_TEXT && compile_group(program, &call, number, value);
}

/* ---- jsonb */

/* What a pair is to have as a value, as documents store it; of what is told by its kind alone, nothing.  The kind, or -1: it is a list or an object. */
static int64
kind_of(const JsonbValue *value, const char **stored, int *length)
{
	*stored = "";
	*length = 0;
	switch (value->type)
	{
		case jbvString:
			*stored = value->val.string.val;
			*length = value->val.string.len;
			return JENTRY_ISSTRING;
		case jbvNumeric:
			*stored = VARDATA_ANY(value->val.numeric);
			*length = (int) VARSIZE_ANY_EXHDR(value->val.numeric);
			return JENTRY_ISNUMERIC;
		case jbvBool:
			return value->val.boolean ? JENTRY_ISBOOL_TRUE : JENTRY_ISBOOL_FALSE;
		case jbvNull:
			return JENTRY_ISNULL;
		default:
			return -1;
	}
}

static bool
compile_bytes(expr_program *program, Oid type_id, const char *string, int length, expr_value *value)
{
	Datum		datum = PointerGetDatum(cstring_to_text_with_len(string, length));

	return compile_expr(program, (Expr *) makeConst(type_id, -1, type_id == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid, -1, datum, false, false), value);
}

static bool
compile_pair(expr_program *program, expr_value document, const JsonbValue *key, const JsonbValue *wanted, expr_value *found)
{
	expr_value	from[3] = {document};
	const char *stored;
	int			length;
	int64		kind = kind_of(wanted, &stored, &length);

	if (kind < 0 || !compile_bytes(program, TEXTOID, key->val.string.val, key->val.string.len, &from[1]) || !compile_bytes(program, BYTEAOID, stored, length, &from[2]))
		return false;
	*found = add_op(program, MGPU_RUN_JSON_IS, expr_boolean, kind, 3, from);
	return true;
}

bool
compile_json_contains(expr_program *program, const function_call *call, expr_value *value)
{
	const Const *constant = lsecond(call->args);
	JsonbIterator *iterator;
	JsonbValue	key;
	JsonbValue	wanted;
	expr_value	document;
	expr_value	found;
	int			number = 0;

	if (!IsA(constant, Const) || constant->constisnull || !JB_ROOT_IS_OBJECT(DatumGetJsonbP(constant->constvalue)) || !compile_document(program, linitial(call->args), &document))
		return false;
	iterator = JsonbIteratorInit(&DatumGetJsonbP(constant->constvalue)->root);
	(void) JsonbIteratorNext(&iterator, &key, true);
	while (JsonbIteratorNext(&iterator, &key, true) == WJB_KEY)
	{
		(void) JsonbIteratorNext(&iterator, &wanted, true);
		if (number == MOST_WANTED || !compile_pair(program, document, &key, &wanted, &found))
			return false;
		add_condition(program, number++, true, found, value);
	}
	/* each document has all of an empty one, if it is no list */
	return number > 0;
}

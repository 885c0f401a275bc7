/*
 * compile_texts.c
 *		Operations that make texts: lower, upper, ||, concat, replace, numbers and dates as texts; and patterns that need them: ILIKE and regular expressions.
 *
 * ILIKE is LIKE of texts in lower case, as PostgreSQL defines it.  No text is made of an enum's value that is compared as one: a constant becomes its label.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "expr/compile.h"

static bool
add_case(expr_program *program, Oid collation, bool is_upper, expr_value *value)
{
	int64		table = OidIsValid(collation) ? table_of_case(program, collation, is_upper) : -1;

	return table >= 0 && add_made(program, MGPU_RUN_CHANGE_CASE, table, value, value);
}

static bool
compile_case(expr_program *program, const function_call *call, expr_value *value)
{
	return compile_args(program, call, value) && add_case(program, call->collation, call->known->number != 0, value);
}

static bool
compile_joined(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	args[MOST_ARGS];

	return compile_args(program, call, args) && add_made(program, call->known->code, 0, args, value);
}

/* ---- numbers and dates */

static bool
is_integer(Oid type_id)
{
	return type_id == INT2OID || type_id == INT4OID || type_id == INT8OID;
}

bool
compile_text_of(expr_program *program, const CoerceViaIO *cast, expr_value *value)
{
	Oid			from = exprType((const Node *) cast->arg);

	if (cast->resulttype == TEXTOID && from == DATEOID && DateStyle == USE_ISO_DATES)
	{
		program->writes_dates = true;
		return compile_expr(program, cast->arg, value) && add_made(program, MGPU_RUN_TEXT_OF_DATE, 0, value, value);
	}
	if (cast->resulttype != TEXTOID || !(is_integer(from) || from == NUMERICOID) || !compile_expr(program, cast->arg, value) ||
		value->type.lane != MGPU_LANE_INTEGER)
		return false;
	return add_made(program, MGPU_RUN_TEXT_OF_INTEGER, value->type.scale, value, value);
}

/* ---- labels */

/* The label of an enum that a text is, or InvalidOid, which is none. */
static Datum
label_of(Oid type_id, Datum string)
{
	const char *label = TextDatumGetCString(string);

	return ObjectIdGetDatum(strlen(label) < NAMEDATALEN ? GetSysCacheOid2(ENUMTYPOIDNAME, Anum_pg_enum_oid, ObjectIdGetDatum(type_id), CStringGetDatum(label)) : InvalidOid);
}

static Const *
labels_of(Oid type_id, const Const *list)
{
	Datum	   *datums;
	bool	   *nulls;
	int			num_datums;
	int			first = 1;

	deconstruct_array(DatumGetArrayTypeP(list->constvalue), TEXTOID, -1, false, TYPALIGN_INT, &datums, &nulls, &num_datums);
	for (int i = 0; i < num_datums; i++)
		datums[i] = nulls[i] ? (Datum) 0 : label_of(type_id, datums[i]);
	return makeConst(get_array_type(type_id), -1, InvalidOid, -1,
					 PointerGetDatum(construct_md_array(datums, nulls, 1, &num_datums, &first, type_id, sizeof(Oid), true, TYPALIGN_INT)), false, false);
}

bool
take_labels(Expr **text, const Const **constant)
{
	const CoerceViaIO *cast = (const CoerceViaIO *) *text;
	Oid			type_id = IsA(cast, CoerceViaIO) && cast->resulttype == TEXTOID ? getBaseType(exprType((const Node *) cast->arg)) : InvalidOid;

	if (!OidIsValid(type_id) || !type_is_enum(type_id) || !IsA(*constant, Const) || (*constant)->constisnull)
		return false;
	if ((*constant)->consttype == TEXTOID)
		*constant = makeConst(type_id, -1, InvalidOid, sizeof(Oid), label_of(type_id, (*constant)->constvalue), false, true);
	else if ((*constant)->consttype == TEXTARRAYOID)
		*constant = labels_of(type_id, *constant);
	else
		return false;
	*text = cast->arg;
	return true;
}

/* Where a label stands in the order of its type; or before all, if it is gone. */
static float4
order_of(const CatCList *labels, Oid label)
{
	for (int i = 0; i < labels->n_members; i++)
	{
		Form_pg_enum other = (Form_pg_enum) GETSTRUCT(&labels->members[i]->tuple);

		if (other->oid == label)
			return other->enumsortorder;
	}
	return -get_float4_infinity();
}

/* The labels that compare so with one, as a list: one that is no label is among them, since an empty list has no NULL. */
static Const *
labels_beside(const Const *label, int outcomes)
{
	Oid			type_id = label->consttype;
	CatCList   *labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type_id));
	Datum	   *found = palloc((labels->n_members + 1) * sizeof(Datum));
	float4		order = order_of(labels, DatumGetObjectId(label->constvalue));
	int			num_found = 0;

	found[num_found++] = ObjectIdGetDatum(InvalidOid);
	for (int i = 0; i < labels->n_members; i++)
	{
		Form_pg_enum other = (Form_pg_enum) GETSTRUCT(&labels->members[i]->tuple);
		int			outcome = other->enumsortorder < order ? MGPU_IS_LESS : other->enumsortorder > order ? MGPU_IS_GREATER : MGPU_IS_EQUAL;

		if ((outcomes & outcome) != 0)
			found[num_found++] = ObjectIdGetDatum(other->oid);
	}
	ReleaseCatCacheList(labels);
	return makeConst(get_array_type(type_id), -1, InvalidOid, -1, PointerGetDatum(construct_array(found, num_found, type_id, sizeof(Oid), true, TYPALIGN_INT)), false, false);
}

/* The outcomes of a comparison with its sides in the other order. */
static int
turned(int outcomes)
{
	return (outcomes & MGPU_IS_EQUAL) | ((outcomes & MGPU_IS_LESS) != 0 ? MGPU_IS_GREATER : MGPU_IS_LESS);
}

/* An order of a value and a constant: x >= 'high' is x IN (...).  The catalog is as the statement sees it, since programs are made when it runs. */
static bool
compile_of_labels(expr_program *program, const function_call *call, expr_value *value)
{
	bool		is_turned = IsA(linitial(call->args), Const);
	const Const *label = list_nth(call->args, !is_turned);
	ScalarArrayOpExpr *in = makeNode(ScalarArrayOpExpr);

	if (!IsA(label, Const) || label->constisnull)
		return false;
	in->opfuncid = F_ENUM_EQ;
	in->useOr = true;
	in->args = list_make2(list_nth(call->args, is_turned), labels_beside(label, is_turned ? turned(call->known->number) : call->known->number));
	return compile_expr(program, (Expr *) in, value);
}

/* ---- concat */

static Expr *
text_const(const char *string)
{
	return (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(string), false, false);
}

/* An argument as a text, and an empty one for NULL; NULL: it is of another type. */
static Expr *
part_of(Expr *arg)
{
	Oid			type_id = exprType((Node *) arg);
	CoalesceExpr *part = makeNode(CoalesceExpr);

	if (is_integer(type_id) || type_id == NUMERICOID || type_id == DATEOID)
	{
		CoerceViaIO *cast = makeNode(CoerceViaIO);

		cast->arg = arg;
		cast->resulttype = TEXTOID;
		cast->resultcollid = DEFAULT_COLLATION_OID;
		cast->coerceformat = COERCE_IMPLICIT_CAST;
		cast->location = -1;
		arg = (Expr *) cast;
	}
	else if (type_id == UNKNOWNOID && IsA(arg, Const))
		return text_const(((Const *) arg)->constisnull ? "" : DatumGetCString(((Const *) arg)->constvalue));
	else if (type_id != TEXTOID && type_id != VARCHAROID)
		return NULL;
	part->coalescetype = TEXTOID;
	part->coalescecollid = DEFAULT_COLLATION_OID;
	part->args = list_make2(arg, text_const(""));
	part->location = -1;
	return (Expr *) part;
}

bool
compile_concat(expr_program *program, const FuncExpr *call, expr_value *value)
{
	ListCell   *cell;

	foreach(cell, call->args)
	{
		Expr	   *part = call->funcvariadic ? NULL : part_of(lfirst(cell));
		expr_value	both[2];

		if (part == NULL || !compile_expr(program, part, &both[1]))
			return false;
		if (foreach_current_index(cell) > 0)
		{
			both[0] = *value;
			if (!add_made(program, MGPU_RUN_JOIN_BYTES, 0, both, value))
				return false;
		}
		else
			*value = both[1];
	}
	return true;
}

/* ---- patterns */

/* The pattern that is a call's second argument, or NULL. */
static text *
pattern_of(const function_call *call)
{
	const Const *pattern = lsecond(call->args);

	if (list_length(call->args) != 2 || !IsA(pattern, Const) || pattern->constisnull || !compares_bytes(call->collation, false))
		return NULL;
	return DatumGetTextPP(pattern->constvalue);
}

static bool
compile_match(expr_program *program, const function_call *call, bool is_negated, int64 table, expr_value *value)
{
	if (table < 0)
		return false;
	*value = add_op(program, call->known->code, expr_boolean, table, 1, value);
	if (is_negated)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	return true;
}

static bool
compile_ilike(expr_program *program, const function_call *call, expr_value *value)
{
	const text *pattern = pattern_of(call);
	bool		is_utf8;
	char	   *lower;

	if (pattern == NULL || !encoding_is_known(&is_utf8) || !compile_expr(program, linitial(call->args), value) ||
		!add_case(program, call->collation, false, value))
		return false;
	lower = str_tolower(VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern), call->collation);
	if (!compile_match(program, call, false, table_of_pattern(program, cstring_to_text(lower)), value))
		return false;
	program->ops[program->num_ops - 1].width = is_utf8;
	if (call->known->number)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	return true;
}

static bool
compile_regex(expr_program *program, const function_call *call, expr_value *value)
{
	text	   *pattern = pattern_of(call);
	bool		is_utf8;

	if (pattern == NULL || !encoding_is_known(&is_utf8) || !compile_expr(program, linitial(call->args), value))
		return false;
	return compile_match(program, call, (call->known->number & REGEX_NOT) != 0,
						 table_of_regex(program, pattern, (call->known->number & REGEX_ANY_CASE) != 0, call->collation, is_utf8), value);
}

bool
compile_text(expr_program *program, const function_call *call, expr_value *value)
{
	switch (call->known->form)
	{
		case FORM_FORMAT:
			return compile_format_text(program, call, value);
		case FORM_INET:
			return compile_inet(program, call, value);
		case FORM_LABELS:
			return compile_of_labels(program, call, value);
		case FORM_CASE:
			return compile_case(program, call, value);
		case FORM_ILIKE:
			return compile_ilike(program, call, value);
		case FORM_REGEX:
			return compile_regex(program, call, value);
		case FORM_MATCHES:
			return compile_matches(program, call, value);
		default:
			/* what is replaced is found by its bytes */
			return (call->known->code == MGPU_RUN_JOIN_BYTES || compares_bytes(call->collation, false)) && compile_joined(program, call, value);
	}
}

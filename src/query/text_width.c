/*
 * text_width.c
 *		How long texts of an expression are, by statistics, or what numerics show behind the point.
 *
 * Statistics have the mean of a column, and some of its values: common ones, and the bounds of its histogram.  The longest of these tells more
 * than the mean where most texts are empty.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "query/text_width.h"

/* Of texts of which nothing is known. */
#define USUAL_WIDTH 8

/* Of strings that stand for inets: with bits behind the network, or none. */
#define LONGEST_V4 10
#define LONGEST_V6 34
#define NETWORK_V4 6
#define NETWORK_V6 18

/* Of their texts, at most. */
#define TEXT_V4 18
#define TEXT_V6 43

/* ---- columns */

static int32
bytes_of(const void *value)
{
	return (int32) VARSIZE_ANY_EXHDR(value);
}

static int32
digits_of(const void *value)
{
	return expr_shown_digits(value);
}

static int32
inet_bytes_of(const void *value)
{
	return expr_inet_length(value);
}

/* The largest measure of the common values and the bounds that statistics have. */
static int32
most_of(HeapTuple statistics, int32 (*measure) (const void *value))
{
	static const int kinds[] = {STATISTIC_KIND_MCV, STATISTIC_KIND_HISTOGRAM};
	AttStatsSlot slot;
	int32		most = 0;

	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		if (!get_attstatsslot(&slot, statistics, kinds[kind], InvalidOid, ATTSTATSSLOT_VALUES))
			continue;
		for (int i = 0; i < slot.nvalues; i++)
			most = Max(most, measure(DatumGetPointer(slot.values[i])));
		free_attstatsslot(&slot);
	}
	return most;
}

static bool
is_shown(Oid table, AttrNumber number)
{
	Oid			type_id;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(table, number, &type_id, &typmod, &collation);
	return getBaseTypeAndTypmod(type_id, &typmod) == NUMERICOID && typmod < (int32) VARHDRSZ;
}

static bool
has_text(Oid type_id)
{
	return type_id == BYTEAOID || (get_typlen(type_id) == -1 && TypeCategory(type_id) == TYPCATEGORY_STRING);
}

text_width
text_width_of_column(Oid table, AttrNumber number)
{
	text_width	width = {.mean = USUAL_WIDTH};
	HeapTuple	statistics = OidIsValid(table) && number > 0 ? SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table), Int16GetDatum(number), BoolGetDatum(false)) : NULL;
	Form_pg_statistic form;

	if (!HeapTupleIsValid(statistics))
		return width;
	form = (Form_pg_statistic) GETSTRUCT(statistics);
	if (form->stawidth > 0)
		width.mean = form->stawidth;
	/* arrays have values of any length, too, of which nobody asks */
	if (has_text(getBaseType(get_atttype(table, number))))
		width.longest = most_of(statistics, bytes_of);
	else if (expr_type_is_inet(getBaseType(get_atttype(table, number))))
		width.longest = most_of(statistics, inet_bytes_of);
	else if (is_shown(table, number))
		width.shown = most_of(statistics, digits_of);
	width.num_values = Max(form->stadistinct, 0);
	ReleaseSysCache(statistics);
	return width;
}

/* ---- expressions */

/* Of some expressions together, or of the widest. */
static text_width
width_of_all(const table_question *question, const List *nodes, bool of_widest)
{
	text_width	width = {0};
	ListCell   *cell;

	foreach(cell, nodes)
	{
		const void *node = IsA(lfirst(cell), CaseWhen) ? ((const CaseWhen *) lfirst(cell))->result : lfirst(cell);
		text_width	of_one = text_width_of(question, node);

		width.mean = of_widest ? Max(width.mean, of_one.mean) : width.mean + of_one.mean;
		width.longest = of_widest ? Max(width.longest, of_one.longest) : width.longest + of_one.longest;
	}
	return width;
}

/* The width of what a function makes of an inet: the family stays, but bits behind the network may come or go. */
static text_width
width_of_inet(const table_question *question, Oid function, const List *args)
{
	text_width	width = text_width_of(question, linitial(args));
	bool		is_v4 = width.longest <= LONGEST_V4;

	/* of which nothing is known */
	if (width.longest == 0)
		return width;
	if (function == F_HOST || function == F_TEXT_INET)
	{
		width.longest = is_v4 ? TEXT_V4 : TEXT_V6;
		width.mean = width.longest / 2;
	}
	else if (function == F_SET_MASKLEN_INET_INT4)
		width.longest = is_v4 ? LONGEST_V4 : LONGEST_V6;
	else
		width.longest = is_v4 ? NETWORK_V4 : NETWORK_V6;
	return width;
}

/* Of what a function makes: of all that it puts together. */
static text_width
width_of_call(const table_question *question, Oid function, const List *args)
{
	switch (function)
	{
		case F_TEXTCAT:
		case F_CONCAT:
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
			return width_of_all(question, args, false);
		case F_TO_CHAR_TIMESTAMP_TEXT:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
			/* about as long as its format, but for names */
			return text_width_of(question, lsecond(args));
		case F_REPLACE:
		case F_SUBSTRING_TEXT_TEXT:
		case F_REGEXP_REPLACE_TEXT_TEXT_TEXT:
		case F_REGEXP_REPLACE_TEXT_TEXT_TEXT_TEXT:
			return text_width_of(question, linitial(args));
		case F_NETWORK:
		case F_CIDR:
		case F_SET_MASKLEN_INET_INT4:
		case F_SET_MASKLEN_CIDR_INT4:
		case F_HOST:
		case F_TEXT_INET:
			return width_of_inet(question, function, args);
		default:
			return (text_width) {.mean = USUAL_WIDTH};
	}
}

static text_width
width_of_constant(const Const *constant)
{
	const void *value = constant->constisnull ? NULL : DatumGetPointer(constant->constvalue);
	int32		length = value && constant->consttype == TEXTOID ? bytes_of(value) : value && expr_type_is_inet(constant->consttype) ? inet_bytes_of(value) : 0;

	return (text_width) {.mean = length,.longest = length};
}

/* Of rows that are no table's it is known how long texts are at most, for which twice the mean is taken. */
static text_width
width_in_rows(const row_layout *rows, AttrNumber number)
{
	return (text_width) {.mean = rows->widths[number - 1] / 2};
}

text_width
text_width_of(const table_question *question, const Expr *expr)
{
	const Var  *var = (const Var *) expr;
	const CaseExpr *choice = (const CaseExpr *) expr;

	switch (nodeTag(expr))
	{
		case T_Var:
			if (question->scan.rows)
				return width_in_rows(question->scan.rows, var->varattno);
			return text_width_of_column(var->varno < EXPR_BUILD_VARNO ? RelationGetRelid(question->widths) : InvalidOid, var->varattno);
		case T_Const:
			return width_of_constant((const Const *) expr);
		case T_RelabelType:
			return text_width_of(question, ((const RelabelType *) expr)->arg);
		case T_OpExpr:
			return width_of_call(question, ((const OpExpr *) expr)->opfuncid, ((const OpExpr *) expr)->args);
		case T_FuncExpr:
			return width_of_call(question, ((const FuncExpr *) expr)->funcid, ((const FuncExpr *) expr)->args);
		case T_CoalesceExpr:
			return width_of_all(question, ((const CoalesceExpr *) expr)->args, true);
		case T_CaseExpr:
			return width_of_all(question, lappend(list_copy(choice->args), choice->defresult), true);
		default:
			return (text_width) {.mean = USUAL_WIDTH};
	}
}

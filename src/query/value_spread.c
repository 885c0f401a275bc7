/*
 * value_spread.c
 *		How many values an expression may have.
 *
 * PostgreSQL takes date_trunc('hour', at), floor(price / 100) or id / 1000 to have as many values as their column has.  Where nearly each row has a value of
 * its own, a report by hours or by prices then seems to have millions of groups, which would need files.  Statistics have the least and the greatest value of
 * a column.  Functions move both ends, or make the steps between values wider, and there are no more values than steps between the ends.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "array/element_type.h"
#include "expr/time_parts.h"
#include "query/value_spread.h"

/* Of times in microseconds. */
typedef struct value_spread
{
	double		range;			/* between the least and the greatest value; HUGE_VAL: not known */
	double		step;			/* between values at least; 0: any */
} value_spread;

static const value_spread unknown = {HUGE_VAL, 0};

static value_spread spread_of(PlannerInfo *root, Node *expr);

static value_spread
spread_of_values(double num_values)
{
	return (value_spread) {num_values, 1};
}

/* ---- columns and constants */

/* A value as a number.  false: it is none, or infinite. */
static bool
number_of(Oid type, Datum value, double *number)
{
	switch (type)
	{
		case INT2OID:
			*number = DatumGetInt16(value);
			return true;
		case INT4OID:
			*number = DatumGetInt32(value);
			return true;
		case INT8OID:
			*number = (double) DatumGetInt64(value);
			return true;
		case FLOAT4OID:
			*number = DatumGetFloat4(value);
			return isfinite(*number);
		case FLOAT8OID:
			*number = DatumGetFloat8(value);
			return isfinite(*number);
		case NUMERICOID:
			*number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
			return isfinite(*number);
		case DATEOID:
			*number = (double) DatumGetDateADT(value) * USECS_PER_DAY;
			return !DATE_NOT_FINITE(DatumGetDateADT(value));
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*number = (double) DatumGetTimestamp(value);
			return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
		default:
			return false;
	}
}

static double
step_of_type(Oid type, int32 typmod)
{
	int			scale = (typmod - VARHDRSZ) & 0x7ff;

	switch (type)
	{
		case FLOAT4OID:
		case FLOAT8OID:
			return 0;
		case NUMERICOID:
			return typmod < (int32) VARHDRSZ || scale > 1000 ? 0 : pow(10, -scale);
		case DATEOID:
			return USECS_PER_DAY;
		default:
			return 1;
	}
}

/* By statistics. */
static value_spread
spread_of_column(PlannerInfo *root, const Var *var)
{
	value_spread spread = {HUGE_VAL, step_of_type(var->vartype, var->vartypmod)};
	VariableStatData variable;
	AttStatsSlot slot;
	double		least;
	double		greatest;

	examine_variable(root, (Node *) var, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple) && variable.acl_ok &&
		get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1 && number_of(var->vartype, slot.values[0], &least) && number_of(var->vartype, slot.values[slot.nvalues - 1], &greatest))
			spread.range = greatest - least;
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(variable);
	return spread;
}

/* A bound of a range, as number_of. */
static bool
number_of_bound(TypeCacheEntry *type, Datum range, bool is_upper, double *number)
{
	RangeBound	bounds[2];
	bool		is_empty;

	range_deserialize(type, DatumGetRangeTypeP(range), &bounds[0], &bounds[1], &is_empty);
	return !is_empty && !bounds[is_upper].infinite && number_of(type->rngelemtype->type_id, bounds[is_upper].val, number);
}

/* Of lower(range) or upper(range): statistics have bounds of ranges, and take each range for another. */
static value_spread
spread_of_bound(PlannerInfo *root, Node *range, bool is_upper)
{
	TypeCacheEntry *type = range_bound_width(exprType(range)) > 0 && IsA(range, Var) ? lookup_type_cache(getBaseType(exprType(range)), TYPECACHE_RANGE_INFO) : NULL;
	value_spread spread = unknown;
	VariableStatData variable;
	AttStatsSlot slot;
	double		least;
	double		greatest;

	if (type == NULL)
		return unknown;
	examine_variable(root, range, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple) && variable.acl_ok &&
		get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_BOUNDS_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1 && number_of_bound(type, slot.values[0], is_upper, &least) && number_of_bound(type, slot.values[slot.nvalues - 1], is_upper, &greatest))
			spread = (value_spread) {greatest - least, step_of_type(type->rngelemtype->type_id, -1)};
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(variable);
	return spread;
}

/* A constant's size, or 0: it is none. */
static double
size_of_constant(const Node *node)
{
	const Const *constant = (const Const *) node;
	double		number;

	return IsA(node, Const) && !constant->constisnull && number_of(constant->consttype, constant->constvalue, &number) ? fabs(number) : 0;
}

static const char *
name_of(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && !constant->constisnull && constant->consttype == TEXTOID ? TextDatumGetCString(constant->constvalue) : "";
}

/* ---- times */

/* Of an expression of one column of times; a time zone moves both ends. */
static double
range_of_times(PlannerInfo *root, Node *expr)
{
	List	   *vars = pull_var_clause(expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	const Var  *var = list_length(vars) == 1 ? linitial(vars) : NULL;

	/* of either bound */
	if (var && (var->vartype == DATERANGEOID || var->vartype == TSRANGEOID || var->vartype == TSTZRANGEOID))
		return Max(spread_of_bound(root, (Node *) var, false).range, spread_of_bound(root, (Node *) var, true).range) + 2.0 * USECS_PER_DAY;
	if (var == NULL || (var->vartype != TIMESTAMPOID && var->vartype != TIMESTAMPTZOID && var->vartype != DATEOID))
		return HUGE_VAL;
	return spread_of_column(root, var).range + 2.0 * USECS_PER_DAY;
}

static double
length_of_interval(const Const *length)
{
	const Interval *interval;

	if (!IsA(length, Const) || length->constisnull)
		return 0;
	interval = DatumGetIntervalP(length->constvalue);
	return Max(interval->month * 28.0 * USECS_PER_DAY + interval->day * (double) USECS_PER_DAY + interval->time, 1.0);
}

static value_spread
spread_of_field(PlannerInfo *root, const char *field, Node *time)
{
	double		range = range_of_times(root, time);

	if (strcmp(field, "epoch") == 0)
		return (value_spread) {range / USECS_PER_SEC, exprType(time) == DATEOID ? SECS_PER_DAY : 1e-6};
	return spread_of_values(time_field_values(field, range));
}

/* Of seconds. */
static value_spread
spread_of_times_of(value_spread seconds)
{
	return (value_spread) {seconds.range * USECS_PER_SEC, Max(seconds.step * USECS_PER_SEC, 1)};
}

/* ---- functions of numbers */

typedef enum spread_effect
{
	MOVES,						/* by a constant, or not at all */
	MULTIPLIES,					/* by a constant */
	DIVIDES,					/* by a constant */
	DIVIDES_WHOLE,				/* of integers: the result is whole */
	MAKES_WHOLE,
	ROUNDS,						/* to a constant number of digits */
	IS_REMAINDER,				/* of a constant */
	IS_BUCKET					/* of the number that comes last */
} spread_effect;

#define OF_INTEGERS(name, effect) \
	{F_INT2##name, effect}, {F_INT24##name, effect}, {F_INT28##name, effect}, {F_INT4##name, effect}, {F_INT42##name, effect}, \
	{F_INT48##name, effect}, {F_INT8##name, effect}, {F_INT82##name, effect}, {F_INT84##name, effect}
#define OF_REALS(name, effect) {F_FLOAT4##name, effect}, {F_FLOAT48##name, effect}, {F_FLOAT84##name, effect}, {F_FLOAT8##name, effect}

static const struct
{
	Oid			function;
	spread_effect effect;
}			effects[] = {
	OF_INTEGERS(PL, MOVES), OF_INTEGERS(MI, MOVES), OF_INTEGERS(MUL, MULTIPLIES), OF_INTEGERS(DIV, DIVIDES_WHOLE),
	OF_REALS(PL, MOVES), OF_REALS(MI, MOVES), OF_REALS(MUL, MULTIPLIES), OF_REALS(DIV, DIVIDES),
	{F_NUMERIC_ADD, MOVES}, {F_NUMERIC_SUB, MOVES}, {F_NUMERIC_MUL, MULTIPLIES}, {F_NUMERIC_DIV, DIVIDES},
	{F_INT2MOD, IS_REMAINDER}, {F_INT4MOD, IS_REMAINDER}, {F_INT8MOD, IS_REMAINDER}, {F_MOD_INT2_INT2, IS_REMAINDER}, {F_MOD_INT4_INT4, IS_REMAINDER},
	{F_MOD_INT8_INT8, IS_REMAINDER}, {F_NUMERIC_MOD, IS_REMAINDER}, {F_MOD_NUMERIC_NUMERIC, IS_REMAINDER},
	{F_FLOOR_FLOAT8, MAKES_WHOLE}, {F_CEIL_FLOAT8, MAKES_WHOLE}, {F_CEILING_FLOAT8, MAKES_WHOLE}, {F_DROUND, MAKES_WHOLE}, {F_ROUND_FLOAT8, MAKES_WHOLE},
	{F_DTRUNC, MAKES_WHOLE}, {F_TRUNC_FLOAT8, MAKES_WHOLE}, {F_FLOOR_NUMERIC, MAKES_WHOLE}, {F_CEIL_NUMERIC, MAKES_WHOLE}, {F_CEILING_NUMERIC, MAKES_WHOLE},
	{F_INT2_FLOAT4, MAKES_WHOLE}, {F_INT4_FLOAT4, MAKES_WHOLE}, {F_INT8_FLOAT4, MAKES_WHOLE}, {F_INT2_FLOAT8, MAKES_WHOLE}, {F_INT4_FLOAT8, MAKES_WHOLE},
	{F_INT8_FLOAT8, MAKES_WHOLE}, {F_INT2_NUMERIC, MAKES_WHOLE}, {F_INT4_NUMERIC, MAKES_WHOLE}, {F_INT8_NUMERIC, MAKES_WHOLE},
	{F_ROUND_NUMERIC_INT4, ROUNDS}, {F_TRUNC_NUMERIC_INT4, ROUNDS},
	{F_INT4_INT2, MOVES}, {F_INT8_INT2, MOVES}, {F_INT8_INT4, MOVES}, {F_INT2_INT4, MOVES}, {F_INT2_INT8, MOVES}, {F_INT4_INT8, MOVES},
	{F_FLOAT4_INT2, MOVES}, {F_FLOAT4_INT4, MOVES}, {F_FLOAT4_INT8, MOVES}, {F_FLOAT8_INT2, MOVES}, {F_FLOAT8_INT4, MOVES}, {F_FLOAT8_INT8, MOVES},
	{F_FLOAT8_FLOAT4, MOVES}, {F_FLOAT8_NUMERIC, MOVES}, {F_NUMERIC_INT2, MOVES}, {F_NUMERIC_INT4, MOVES}, {F_NUMERIC_INT8, MOVES},
	{F_NUMERIC_FLOAT4, MOVES}, {F_NUMERIC_FLOAT8, MOVES}, {F_NUMERIC_NUMERIC_INT4, MOVES},
	{F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4, IS_BUCKET}, {F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4, IS_BUCKET}
};

static value_spread
spread_by_effect(PlannerInfo *root, spread_effect effect, List *args)
{
	Node	   *first = linitial(args);
	double		constant = list_length(args) > 1 ? size_of_constant(llast(args)) : 0;
	value_spread of = spread_of(root, first);

	switch (effect)
	{
		case MOVES:
			return list_length(args) == 1 || IsA(llast(args), Const) ? of : IsA(first, Const) ? spread_of(root, llast(args)) : unknown;
		case MULTIPLIES:
			if (IsA(first, Const))
			{
				constant = size_of_constant(first);
				of = spread_of(root, llast(args));
			}
			return constant > 0 ? (value_spread) {of.range * constant, of.step * constant} : unknown;
		case DIVIDES:
			return constant > 0 ? (value_spread) {of.range / constant, of.step / constant} : unknown;
		case DIVIDES_WHOLE:
			return constant > 0 ? (value_spread) {of.range / constant + 1, Max(of.step / constant, 1)} : unknown;
		case MAKES_WHOLE:
			return (value_spread) {of.range + 1, Max(of.step, 1)};
		case ROUNDS:
			return IsA(llast(args), Const) ? (value_spread) {of.range, Max(of.step, pow(10, -DatumGetInt32(((const Const *) llast(args))->constvalue)))} : unknown;
		case IS_REMAINDER:
			return constant > 0 ? (value_spread) {constant, of.step} : unknown;
		default:
			return constant > 0 ? spread_of_values(constant + 2) : unknown;
	}
}

/* ---- expressions */

/* Of two texts behind each other: all pairs, or one's if the other is a constant. */
static value_spread
spread_of_pair(PlannerInfo *root, Node *first, Node *last)
{
	value_spread of_first = IsA(first, Const) ? spread_of_values(0) : spread_of(root, first);
	value_spread of_last = IsA(last, Const) ? spread_of_values(0) : spread_of(root, last);

	if (of_first.step <= 0 || of_last.step <= 0)
		return unknown;
	return spread_of_values((of_first.range / of_first.step + 1) * (of_last.range / of_last.step + 1) - 1);
}

static value_spread
spread_of_call(PlannerInfo *root, Oid function, List *args)
{
	Node	   *first = linitial(args);
	Node	   *last = llast(args);

	for (int i = 0; i < (int) lengthof(effects); i++)
		if (effects[i].function == function)
			return spread_by_effect(root, effects[i].effect, args);
	switch (function)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return (value_spread) {range_of_times(root, last), time_unit_length(name_of(first))};
		case F_DATE_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
			return (value_spread) {range_of_times(root, last), USECS_PER_DAY};
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return (value_spread) {range_of_times(root, lsecond(args)), length_of_interval((const Const *) first)};
		case F_EXTRACT_TEXT_DATE:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			return spread_of_field(root, name_of(first), last);
		case F_LOWER_ANYRANGE:
		case F_UPPER_ANYRANGE:
			return spread_of_bound(root, first, function == F_UPPER_ANYRANGE);
		case F_TEXTCAT:
			return spread_of_pair(root, first, last);
		case F_TO_TIMESTAMP_FLOAT8:
			return spread_of_times_of(spread_of(root, first));
		case F_TO_CHAR_TIMESTAMP_TEXT:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
			return spread_of_values(time_format_values(name_of(last), range_of_times(root, first)));
		default:
			return unknown;
	}
}

/* Results that are constants; others may be any. */
static value_spread
spread_of_case(const CaseExpr *expr)
{
	ListCell   *cell;

	foreach(cell, expr->args)
		if (!IsA(((const CaseWhen *) lfirst(cell))->result, Const))
			return unknown;
	return expr->defresult == NULL || IsA(expr->defresult, Const) ? spread_of_values(list_length(expr->args)) : unknown;
}

static value_spread
spread_of(PlannerInfo *root, Node *expr)
{
	while (IsA(expr, RelabelType) || IsA(expr, PlaceHolderVar))
		expr = IsA(expr, RelabelType) ? (Node *) ((const RelabelType *) expr)->arg : (Node *) ((const PlaceHolderVar *) expr)->phexpr;
	if (exprType(expr) == BOOLOID)
		return spread_of_values(1);
	switch (nodeTag(expr))
	{
		case T_Var:
			return spread_of_column(root, (const Var *) expr);
		case T_CoerceViaIO:
			return spread_of(root, (Node *) ((const CoerceViaIO *) expr)->arg);
		case T_CaseExpr:
			return spread_of_case((const CaseExpr *) expr);
		case T_OpExpr:
			return spread_of_call(root, get_opcode(((const OpExpr *) expr)->opno), ((const OpExpr *) expr)->args);
		case T_FuncExpr:
			return ((const FuncExpr *) expr)->args ? spread_of_call(root, ((const FuncExpr *) expr)->funcid, ((const FuncExpr *) expr)->args) : unknown;
		default:
			return unknown;
	}
}

double
value_spread_count(PlannerInfo *root, Node *expr)
{
	value_spread spread = spread_of(root, expr);

	/* one more at either end */
	return spread.step > 0 ? ceil(spread.range / spread.step) + 2 : HUGE_VAL;
}

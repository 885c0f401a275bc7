/*
 * group_count.c
 *		How many groups are expected.
 *
 * PostgreSQL takes date_trunc('hour', at) to have as many values as at has.  Where nearly each row has a time of its own, a report by hours then seems to have
 * millions of groups, which would need files.  Statistics have the least and the greatest time, so there are no more hours than lie between; of the hours
 * of a day there are 24.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "expr/time_parts.h"
#include "query/group_count.h"

/* ---- times */

/* A value of statistics in microseconds.  false: it is none, or infinite. */
static bool
time_of(Oid type, Datum value, double *time)
{
	if (type == DATEOID)
	{
		*time = (double) DatumGetDateADT(value) * USECS_PER_DAY;
		return !DATE_NOT_FINITE(DatumGetDateADT(value));
	}
	*time = (double) DatumGetTimestamp(value);
	return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
}

/* Microseconds between the least and the greatest value of a column, by statistics; or HUGE_VAL. */
static double
range_of_column(PlannerInfo *root, const Var *var)
{
	VariableStatData variable;
	AttStatsSlot slot;
	double		range = HUGE_VAL;
	double		least;
	double		greatest;

	examine_variable(root, (Node *) var, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple) && variable.acl_ok &&
		get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1 && time_of(var->vartype, slot.values[0], &least) && time_of(var->vartype, slot.values[slot.nvalues - 1], &greatest))
			range = greatest - least;
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(variable);
	return range;
}

/* The same of an expression of one such column; a time zone moves both ends. */
static double
range_of(PlannerInfo *root, Node *expr)
{
	List	   *vars = pull_var_clause(expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	const Var  *var = list_length(vars) == 1 ? linitial(vars) : NULL;

	if (var == NULL || (var->vartype != TIMESTAMPOID && var->vartype != TIMESTAMPTZOID && var->vartype != DATEOID))
		return HUGE_VAL;
	return range_of_column(root, var) + 2.0 * USECS_PER_DAY;
}

/* ---- keys */

static const char *
name_of(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && !constant->constisnull && constant->consttype == TEXTOID ? TextDatumGetCString(constant->constvalue) : "";
}

static double
most_of_interval(PlannerInfo *root, const Const *length, Node *time)
{
	const Interval *interval;

	if (!IsA(length, Const) || length->constisnull)
		return HUGE_VAL;
	interval = DatumGetIntervalP(length->constvalue);
	return range_of(root, time) / Max(interval->month * 28.0 * USECS_PER_DAY + interval->day * (double) USECS_PER_DAY + interval->time, 1.0);
}

/* Most values of a key that is an operation, or HUGE_VAL. */
static double
most_of_operation(const OpExpr *operation)
{
	const Const *divisor = list_length(operation->args) == 2 ? lsecond(operation->args) : NULL;
	int64		number;

	if (divisor == NULL || !IsA(divisor, Const) || divisor->constisnull)
		return HUGE_VAL;
	switch (get_opcode(operation->opno))
	{
		case F_INT2MOD:
			number = DatumGetInt16(divisor->constvalue);
			break;
		case F_INT4MOD:
			number = DatumGetInt32(divisor->constvalue);
			break;
		case F_INT8MOD:
			number = DatumGetInt64(divisor->constvalue);
			break;
		default:
			return HUGE_VAL;
	}
	return fabs((double) number);
}

/* The same of a function's call. */
static double
most_of_call(PlannerInfo *root, const FuncExpr *call)
{
	Node	   *first = linitial(call->args);
	Node	   *last = llast(call->args);

	switch (call->funcid)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return range_of(root, last) / time_unit_length(name_of(first));
		case F_DATE_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
			return range_of(root, last) / USECS_PER_DAY;
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return most_of_interval(root, (const Const *) first, lsecond(call->args));
		case F_EXTRACT_TEXT_DATE:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			return time_field_values(name_of(first), range_of(root, last));
		case F_TO_CHAR_TIMESTAMP_TEXT:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
			return time_format_values(name_of(last), range_of(root, first));
		default:
			return HUGE_VAL;
	}
}

/* Most values of a key, or HUGE_VAL: what else it is made by may have as many as its columns. */
static double
most_values(PlannerInfo *root, Node *key)
{
	while (IsA(key, RelabelType) || IsA(key, PlaceHolderVar))
		key = IsA(key, RelabelType) ? (Node *) ((const RelabelType *) key)->arg : (Node *) ((const PlaceHolderVar *) key)->phexpr;
	if (IsA(key, OpExpr))
		return most_of_operation((const OpExpr *) key);
	return IsA(key, FuncExpr) && ((const FuncExpr *) key)->args ? most_of_call(root, (const FuncExpr *) key) : HUGE_VAL;
}

double
group_count(PlannerInfo *root, List *keys, double num_rows)
{
	List	   *others = NIL;
	double		most = 1;
	double		count;
	ListCell   *cell;

	foreach(cell, keys)
	{
		double		values = most_values(root, lfirst(cell));

		/* one more at either end, and NULL */
		if (values < num_rows)
			most *= ceil(values) + 3;
		else
			others = lappend(others, lfirst(cell));
	}
	count = keys ? estimate_num_groups(root, keys, num_rows, NULL, NULL) : 1;
	if (list_length(others) < list_length(keys))
		count = Min(count, most * (others ? estimate_num_groups(root, others, num_rows, NULL, NULL) : 1));
	return clamp_row_est(count);
}

/*
 * table_outputs.c
 *		What table jobs compute of each group: counts and sums, sorted values.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "agg/batch.h"
#include "agg/call.h"
#include "array/element_type.h"
#include "batch/group_keys.h"
#include "query/aggregate_ways.h"
#include "query/reductions.h"
#include "query/table_job.h"

/* ---- counts and sums */

/* Whether a reduction can be computed of a value's first cell, and what that is. */
static bool
reduction_of(reduced_kind kind, const value_cells *cells, mgpu_reduction *reduction)
{
	static const mgpu_reduction reductions[] = {
		[REDUCED_COUNT] = MGPU_REDUCE_COUNT,
		[REDUCED_INTEGER] = MGPU_REDUCE_INTEGER,
		[REDUCED_REAL] = MGPU_REDUCE_REAL,
		[REDUCED_SPREAD] = MGPU_REDUCE_SPREAD,
		[REDUCED_NUMERIC_SUM] = MGPU_REDUCE_INTEGER,
		[REDUCED_NUMERIC_EXTREMES] = MGPU_REDUCE_INTEGER,
		[REDUCED_INTERVAL] = MGPU_REDUCE_INTEGER,
		[REDUCED_SQUARES] = MGPU_REDUCE_INTEGER
	};

	*reduction = reductions[kind];
	if (kind == REDUCED_COUNT || kind == REDUCED_INTERVAL || cells->form == CELLS_QUOTIENT)
		return true;
	if (kind == REDUCED_NUMERIC_SUM || kind == REDUCED_SQUARES)
		return cells->form == CELLS_NUMERIC || cells->form == CELLS_SHOWN || (kind == REDUCED_SQUARES && cells->form == CELLS_NUMBER);
	if (kind == REDUCED_NUMERIC_EXTREMES)
		return cells->form == CELLS_NUMERIC || cells->form == CELLS_TIED || cells->form == CELLS_TIED_QUOTIENT;
	return cells->form == CELLS_NUMBER;
}

/* The first column of what a reduction is computed of, or -1. */
static int
reduced_column(table_job *job, const table_question *question, reduced_kind kind, Expr *argument, value_cells *cells)
{
	int			column = -1;

	if (kind == REDUCED_INTERVAL)
		return table_job_interval(job, argument, cells);
	if (kind == REDUCED_NUMERIC_EXTREMES)
		column = table_job_tied(job, argument, cells);
	if (column < 0)
		column = table_job_cells(job, question, argument, cells);
	if (column < 0 && kind == REDUCED_NUMERIC_SUM)
		return table_job_quotient(job, argument, false, cells);
	return column < 0 && kind == REDUCED_NUMERIC_EXTREMES ? table_job_tied_quotient(job, argument, cells) : column;
}

/* Columns of an output that are reduced: digits that are shown count as a value of their own, and so do parts. */
static int
num_reduced(const value_cells *cells)
{
	return cells->form == CELLS_SHOWN || cells->form == CELLS_TIED || cells->form == CELLS_INTERVAL || cells->form == CELLS_QUOTIENT ? cells->num_cells : 1;
}

/* Whether a column is the first of pairs, which are reduced in another way. */
static bool
is_half(const mgpu_group_spec *spec, int column)
{
	return spec->columns[column].reduction == MGPU_REDUCE_PAIRS;
}

/* Have squares be added, too: an integer's as int8. */
static bool
take_squares(table_job *job, const table_question *question, Expr *argument, table_output *output)
{
	Oid			type = getBaseType(exprType((Node *) argument));
	Oid			cast = type == INT2OID ? F_INT8_INT2 : type == INT4OID ? F_INT8_INT4 : InvalidOid;
	Oid			result = type == NUMERICOID ? NUMERICOID : INT8OID;
	Expr	   *value = cast ? (Expr *) makeFuncExpr(cast, INT8OID, list_make1(argument), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST) : argument;
	Expr	   *square = (Expr *) makeFuncExpr(type == NUMERICOID ? F_NUMERIC_MUL : F_INT8MUL, result, list_make2(value, value), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	value_cells cells;

	output->square = table_job_cells(job, question, square, &cells);
	if (output->square < 0)
		return false;
	job->spec->columns[output->square].reduction = Max(job->spec->columns[output->square].reduction, MGPU_REDUCE_INTEGER);
	return !is_half(job->spec, output->square);
}

/* Have the extremes of values that are twice some cells be found. */
static void
take_heads(mgpu_group_spec *spec, int column)
{
	for (int i = column; i <= column + CELLS_OF_QUOTIENT; i += CELLS_OF_QUOTIENT)
	{
		spec->columns[i].num_cells = CELLS_OF_QUOTIENT;
		spec->columns[i].reduction = MGPU_REDUCE_EXTREMES;
	}
}

static bool
take_reduction(table_job *job, const table_question *question, const known_reduction *known, Expr *argument, table_output *output)
{
	mgpu_reduction reduction;

	output->column = reduced_column(job, question, known->kind, argument, &output->cells);
	if (output->column < 0 || !reduction_of(known->kind, &output->cells, &reduction) || is_half(job->spec, output->column))
		return false;
	output->is_greatest = known->reduction == REDUCE_MAX_OF_NUMERIC;
	if (known->kind == REDUCED_SQUARES && !take_squares(job, question, argument, output))
		return false;
	if (reduction_is_float_extreme(known->reduction))
		reduction = MGPU_REDUCE_INTEGER;
	if (output->cells.form == CELLS_TIED_QUOTIENT)
	{
		take_heads(job->spec, output->column);
		return true;
	}
	for (int i = output->column; i < output->column + num_reduced(&output->cells); i++)
	{
		job->spec->columns[i].reduction = Max(job->spec->columns[i].reduction, (uint32) reduction);
		job->spec->columns[i].is_shown |= known->kind == REDUCED_REAL || known->kind == REDUCED_SPREAD;
	}
	return true;
}

/* ---- sorted values */

/* The number of a sort, or -1: there are too many.  The same values are sorted once. */
static int
take_sort(mgpu_group_spec *spec, uint32 column, bool descending, uint32 returns)
{
	uint32		number = 0;

	while (number < spec->num_sorts &&
		   (spec->sorts[number].column != column || spec->sorts[number].descending != (uint32) descending))
		number++;
	if (number == MGPU_GROUP_MAX_SORTS)
		return -1;
	spec->num_sorts = Max(spec->num_sorts, number + 1);
	spec->sorts[number].column = column;
	spec->sorts[number].descending = descending;
	spec->sorts[number].returns |= returns;
	spec->columns[column].is_shown = true;
	return number;
}

/* The fractions of a percentile, or of several, if they are few and valid: how many.  What is not known yet is expected to be one such. */
static int
find_fractions(const table_question *question, int output, const Expr *expr, double *fractions)
{
	const Const *constant = (const Const *) expr;
	agg_percentile asked = {0};

	fractions[0] = 0;
	if (expr == NULL)
		return 0;
	if (question->fractions)
		return question->fractions(question->context, output, fractions, MGPU_GROUP_MAX_PERCENTILES);
	if (!IsA(constant, Const))
		return 1;
	asked.is_array = constant->consttype != FLOAT8OID;
	asked.fraction = (NullableDatum) {.value = constant->constvalue,.isnull = constant->constisnull};
	return agg_percentile_fractions(&asked, fractions, MGPU_GROUP_MAX_PERCENTILES);
}

/* Have a sort pick percentiles.  false: it has no place for them. */
static bool
pick_percentiles(mgpu_group_sort *sort, table_output *output, const double *fractions, int num_fractions, bool continuous)
{
	if (sort->num_percentiles + num_fractions > MGPU_GROUP_MAX_PERCENTILES)
		return false;
	output->percentile = (int) sort->num_percentiles;
	output->num_percentiles = num_fractions;
	for (int i = 0; i < num_fractions; i++)
		sort->percentiles[sort->num_percentiles++] = (mgpu_group_percentile) {.fraction = fractions[i],.continuous = continuous};
	return true;
}

/* Whether values are equal if their cells are: of a numeric that shows digits of its own, the first. */
static bool
are_equal_by_cells(const value_cells *cells, const Aggref *aggref)
{
	const SortGroupClause *clause = linitial(aggref->aggdistinct);
	const Expr *argument = agg_argument(aggref, 0);
	group_key	key;

	return cells->form == CELLS_SHOWN || cells->form == CELLS_RECORD ||
		(group_key_fill(&key, exprType((const Node *) argument), clause->eqop, exprCollation((const Node *) argument)) &&
		 key.form != GROUP_KEY_CALLS);
}

/* Whether values are in order if their only cell is, and come back as they are stored: all, or some of them. */
static bool
is_sorted_by_cell(const value_cells *cells, Oid type_id, bool in_all)
{
	element_type type;

	if (cells->form == CELLS_NUMERIC || cells->form == CELLS_BETWEEN)
		return !in_all;
	element_type_fill(&type, type_id);
	return cells->form == CELLS_NUMBER && type.typbyval && type.key_kind != 0 && type.typlen == (int16) type.key_width;
}

/* Whether a job sorts the values of an output, or counts those that differ. */
static bool
is_sorted(const table_output *output, const Aggref *aggref, const Expr *argument, uint32 returns)
{
	if (returns == MGPU_SORT_DISTINCT && are_equal_by_cells(&output->cells, aggref))
		return true;
	return is_sorted_by_cell(&output->cells, exprType((const Node *) argument), returns == MGPU_SORT_VALUES);
}

/* The first column of an output's values, or -1. */
static int
sorted_column(table_job *job, const table_question *question, Expr *argument, uint32 returns, value_cells *cells)
{
	if (returns == MGPU_SORT_DISTINCT && table_job_is_row(argument))
		return table_job_row(job, question, argument, question->num_read, cells);
	if (returns == MGPU_SORT_DISTINCT)
		return table_job_names(job, question, argument, question->num_read, cells);
	if (exprType((const Node *) argument) == INTERVALOID)
		return expr_program_add_between(job->program, argument, cells) ? table_job_columns(job, cells) : -1;
	return table_job_cells(job, question, argument, cells);
}

static bool
take_sorted(table_job *job, const table_question *question, int number, const group_plan *plan, table_output *output)
{
	const List *columns = list_nth(question->query->uses, number);
	const Aggref *aggref = list_nth(question->outputs, number);
	Expr	   *argument = table_output_argument(question, columns, false);
	double		fractions[MGPU_GROUP_MAX_PERCENTILES];
	int			num_fractions = find_fractions(question, number, plan->fraction, fractions);
	uint32		returns = plan->result == SORTED_COUNT_DISTINCT ? MGPU_SORT_DISTINCT : num_fractions > 0 ? 0 : MGPU_SORT_VALUES;
	mgpu_group_sort *sort;

	/* an array has the NULLs of rows that count, and none of the others */
	if (plan->result == SORTED_ARRAY && linitial_int(columns) >= 0)
		return false;
	output->column = argument ? sorted_column(job, question, argument, returns, &output->cells) : -1;
	if (output->column < 0 || !is_sorted(output, aggref, argument, returns) || is_half(job->spec, output->column))
		return false;
	if (output->cells.form != CELLS_SHOWN)
		table_output_join(job->spec, output);
	output->sort = take_sort(job->spec, output->column, plan->order.descending, returns);
	if (output->sort < 0)
		return false;
	sort = &job->spec->sorts[output->sort];
	if (num_fractions <= 0 || pick_percentiles(sort, output, fractions, num_fractions, plan->result == SORTED_PERCENTILE_CONT))
		return true;
	sort->returns |= MGPU_SORT_VALUES;
	return is_sorted(output, aggref, argument, MGPU_SORT_VALUES);
}

/* ---- outputs */

static bool
take_output(table_job *job, const table_question *question, int number, table_output *output)
{
	const Aggref *aggref = list_nth(question->outputs, number);
	const char *why_not;
	const known_reduction *known;
	Expr	   *argument;
	group_plan	plan;

	*output = (table_output) {.column = -1,.sort = -1,.percentile = -1};
	plan = group_plan_of(aggref, &why_not);
	/* another job finds them */
	if (group_is_fed_values(aggref, &plan) && query_values_of(question->query, number))
		return true;
	if (plan.way == GROUP_WAY_SORT)
		return take_sorted(job, question, number, &plan, output);
	if (plan.way == GROUP_WAY_FEED)
		return table_feed_take(job, question, number, output);
	if (plan.way == GROUP_WAY_ARRAY && query_wants_first(question->query, number))
		return table_first_take(job, question, number, output);
	if (plan.way != GROUP_WAY_REDUCE)
		return false;
	known = known_reduction_of(aggref->aggfnoid);
	argument = table_output_argument(question, list_nth(question->query->uses, number), known->kind == REDUCED_COUNT);
	return argument == NULL || take_reduction(job, question, known, argument, output);
}

bool
table_job_take_outputs(table_job *job, const table_question *question)
{
	int			num_outputs = list_length(question->outputs);

	job->outputs = palloc(num_outputs * sizeof(table_output) + 1);
	for (int i = list_length(question->query->key_columns); i < num_outputs; i++)
	{
		if (IsA(list_nth(question->outputs, i), Aggref) && !take_output(job, question, i, &job->outputs[job->num_outputs++]))
			return false;
	}
	return true;
}

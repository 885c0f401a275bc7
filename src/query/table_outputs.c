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
#include "keys/collation.h"
#include "query/aggregate_ways.h"
#include "query/reductions.h"
#include "query/table_job.h"

/* ---- arguments */

/* value where the condition is true, else NULL. */
static Expr *
make_choice(Expr *condition, Expr *value)
{
	CaseExpr   *choice = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	choice->casetype = exprType((Node *) value);
	choice->casecollid = exprCollation((Node *) value);
	choice->args = list_make1(when);
	when->expr = condition;
	when->result = value;
	choice->defresult = (Expr *) makeNullConst(choice->casetype, exprTypmod((Node *) value), choice->casecollid);
	return (Expr *) choice;
}

/* True where there is a value, else NULL: of any type, and out of line. */
static Expr *
make_presence(Expr *value)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = value;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return make_choice((Expr *) test, (Expr *) makeBoolConst(true, false));
}

/*
 * What an aggregate takes of a row: NULL where it takes nothing.  NULL: rows are counted.  columns: of its filter, then of its
 * arguments; -1 for none.  Of a value that is only counted, no more is wanted than that it is there.
 */
static Expr *
argument_of(const table_question *question, const List *columns, bool is_counted)
{
	int			filter = linitial_int(columns);
	int			argument = list_length(columns) > 1 ? lsecond_int(columns) : -1;
	Expr	   *condition = filter < 0 ? NULL : list_nth(question->scan.columns, filter);
	Expr	   *value = argument < 0 ? NULL : list_nth(question->scan.columns, argument);

	if (value && is_counted && !get_typbyval(exprType((Node *) value)))
		value = make_presence(value);
	return condition && value ? make_choice(condition, value) : condition ? condition : value;
}

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
		[REDUCED_NUMERIC_EXTREMES] = MGPU_REDUCE_INTEGER
	};

	*reduction = reductions[kind];
	if (kind == REDUCED_COUNT)
		return true;
	if (kind == REDUCED_NUMERIC_SUM)
		return cells->form == CELLS_NUMERIC || cells->form == CELLS_SHOWN;
	return cells->form == (kind == REDUCED_NUMERIC_EXTREMES ? CELLS_NUMERIC : CELLS_NUMBER);
}

/* Whether a column is the first of pairs, which are reduced in another way. */
static bool
is_half(const mgpu_group_spec *spec, int column)
{
	return spec->columns[column].reduction == MGPU_REDUCE_PAIRS;
}

static bool
take_reduction(table_job *job, const table_question *question, reduced_kind kind, Expr *argument, table_output *output)
{
	mgpu_reduction reduction;

	output->column = table_job_cells(job, question, argument, &output->cells);
	if (output->column < 0 || !reduction_of(kind, &output->cells, &reduction) || is_half(job->spec, output->column))
		return false;
	/* digits that are shown count as a value of their own */
	for (int i = output->column; i < output->column + (output->cells.form == CELLS_SHOWN ? 2 : 1); i++)
	{
		job->spec->columns[i].reduction = Max(job->spec->columns[i].reduction, (uint32) reduction);
		job->spec->columns[i].is_shown |= reduction >= MGPU_REDUCE_REAL;
	}
	return true;
}

/* ---- extremes of texts */

/* Values of several columns are one: the first tells. */
static void
join_cells(mgpu_group_spec *spec, const table_output *output)
{
	if (output->cells.num_cells > 1)
		spec->columns[output->column].num_cells = (uint8) output->cells.num_cells;
}

/* Texts whose order is that of their bytes. */
static bool
take_extremes(table_job *job, const table_question *question, int number, const Aggref *aggref, table_output *output)
{
	Expr	   *argument = argument_of(question, list_nth(question->query->uses, number), false);
	mgpu_group_column *column;

	if (!collation_orders_bytes(aggref->inputcollid))
		return false;
	output->column = argument ? table_job_cells(job, question, argument, &output->cells) : -1;
	if (output->column < 0 || output->cells.form != CELLS_BYTES)
		return false;
	join_cells(job->spec, output);
	column = &job->spec->columns[output->column];
	column->reduction = Max(column->reduction, column->num_cells > 0 ? MGPU_REDUCE_EXTREMES : MGPU_REDUCE_INTEGER);
	return true;
}

/* ---- pairs */

/* A value where both of a pair are there, else NULL. */
static Expr *
make_half(Expr *value, Expr *y, Expr *x)
{
	return make_choice(makeBoolExpr(AND_EXPR, list_make2(make_presence(y), make_presence(x)), -1), value);
}

/* The column of one half; -1: it has a use of its own, or there are too many. */
static int
take_half(table_job *job, const table_question *question, Expr *half)
{
	value_cells cells;
	int			column = table_job_cells(job, question, half, &cells);
	const mgpu_group_column *of = column < 0 ? NULL : &job->spec->columns[column];

	if (of == NULL || of->kind != MGPU_KEY_FLOAT || of->width != sizeof(float8) ||
		(of->reduction != MGPU_REDUCE_NONE && of->reduction != MGPU_REDUCE_PAIRS))
		return -1;
	for (uint32 i = 0; i < job->spec->num_sorts; i++)
		if (job->spec->sorts[i].column == (uint32) column)
			return -1;
	job->spec->columns[column].is_shown = true;
	return column;
}

static bool
take_pairs(table_job *job, const table_question *question, int number, table_output *output)
{
	const List *columns = list_nth(question->query->uses, number);
	Expr	   *y = argument_of(question, list_make2_int(linitial_int(columns), lsecond_int(columns)), false);
	Expr	   *x = argument_of(question, list_make2_int(linitial_int(columns), lthird_int(columns)), false);

	if (lsecond_int(columns) < 0 || lthird_int(columns) < 0)
		return false;
	output->column = take_half(job, question, make_half(y, y, x));
	if (output->column < 0 || take_half(job, question, make_half(x, y, x)) != output->column + 1)
		return false;
	job->spec->columns[output->column].num_cells = 2;
	job->spec->columns[output->column].reduction = MGPU_REDUCE_PAIRS;
	return true;
}

table_feed
table_feed_of(const Aggref *aggref)
{
	if (aggref->aggdistinct || aggref->aggorder)
		return TABLE_FEED_NONE;
	switch (aggref->aggfnoid)
	{
		case F_MIN_TEXT:
		case F_MAX_TEXT:
			return TABLE_FEED_EXTREME;
		case F_CORR:
		case F_COVAR_POP:
		case F_COVAR_SAMP:
		case F_REGR_AVGX:
		case F_REGR_AVGY:
		case F_REGR_COUNT:
		case F_REGR_INTERCEPT:
		case F_REGR_R2:
		case F_REGR_SLOPE:
		case F_REGR_SXX:
		case F_REGR_SXY:
		case F_REGR_SYY:
			/* later ones also look for values that are all the same */
			return PG_VERSION_NUM < 190000 ? TABLE_FEED_PAIRS : TABLE_FEED_NONE;
		default:
			return TABLE_FEED_NONE;
	}
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

	return cells->form == CELLS_SHOWN ||
		(group_key_fill(&key, exprType((const Node *) argument), clause->eqop, exprCollation((const Node *) argument)) &&
		 key.form != GROUP_KEY_CALLS);
}

/* Whether values are in order if their only cell is, and come back as they are stored: all, or some of them. */
static bool
is_sorted_by_cell(const value_cells *cells, Oid type_id, bool in_all)
{
	element_type type;

	if (cells->form == CELLS_NUMERIC)
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

static bool
take_sorted(table_job *job, const table_question *question, int number, const group_plan *plan, table_output *output)
{
	const List *columns = list_nth(question->query->uses, number);
	const Aggref *aggref = list_nth(question->outputs, number);
	Expr	   *argument = argument_of(question, columns, false);
	double		fractions[MGPU_GROUP_MAX_PERCENTILES];
	int			num_fractions = find_fractions(question, number, plan->fraction, fractions);
	uint32		returns = plan->result == SORTED_COUNT_DISTINCT ? MGPU_SORT_DISTINCT : num_fractions > 0 ? 0 : MGPU_SORT_VALUES;
	mgpu_group_sort *sort;

	/* an array has the NULLs of rows that count, and none of the others */
	if (plan->result == SORTED_ARRAY && linitial_int(columns) >= 0)
		return false;
	output->column = argument ? table_job_cells(job, question, argument, &output->cells) : -1;
	if (output->column < 0 || !is_sorted(output, aggref, argument, returns) || is_half(job->spec, output->column))
		return false;
	if (output->cells.form != CELLS_SHOWN)
		join_cells(job->spec, output);
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
take_feed(table_job *job, const table_question *question, int number, const Aggref *aggref, table_output *output)
{
	switch (table_feed_of(aggref))
	{
		case TABLE_FEED_EXTREME:
			return take_extremes(job, question, number, aggref, output);
		case TABLE_FEED_PAIRS:
			return take_pairs(job, question, number, output);
		default:
			return false;
	}
}

/* Other columns of a group's first row are not asked for. */
static bool
take_output(table_job *job, const table_question *question, int number, table_output *output)
{
	const Aggref *aggref = list_nth(question->outputs, number);
	const char *why_not;
	reduced_kind kind;
	Expr	   *argument;
	group_plan	plan;

	*output = (table_output) {.column = -1,.sort = -1,.percentile = -1};
	if (!IsA(aggref, Aggref))
		return false;
	plan = group_plan_of(aggref, &why_not);
	if (plan.way == GROUP_WAY_SORT)
		return take_sorted(job, question, number, &plan, output);
	if (plan.way == GROUP_WAY_FEED)
		return take_feed(job, question, number, aggref, output);
	if (plan.way != GROUP_WAY_REDUCE)
		return false;
	kind = known_reduction_of(aggref->aggfnoid)->kind;
	argument = argument_of(question, list_nth(question->query->uses, number), kind == REDUCED_COUNT);
	return argument == NULL || take_reduction(job, question, kind, argument, output);
}

/* Floats are added in their order: those of all rows, one after another, faster by the CPU. */
static bool
adds_floats(const mgpu_group_spec *spec)
{
	for (uint32 i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
			return true;
	return false;
}

bool
table_job_take_outputs(table_job *job, const table_question *question)
{
	int			num_keys = list_length(question->query->key_columns);

	job->num_outputs = list_length(question->outputs) - num_keys;
	job->outputs = palloc(job->num_outputs * sizeof(table_output) + 1);
	for (int i = 0; i < job->num_outputs; i++)
		if (!take_output(job, question, num_keys + i, &job->outputs[i]))
			return false;
	return job->spec->num_keys > 0 || !adds_floats(job->spec);
}

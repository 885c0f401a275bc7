/*
 * table_feeds.c
 *		What table jobs compute in place of an aggregate's transition function: the least and the greatest text, inet or time between two, bits of
 *		integers, and sums of pairs.
 *
 * Texts are compared by their bytes, or by the locale of one collation of the C library, which a spec names: only CPU threads know it.
 * Strings that strxfrm makes were rejected, since they would have to be proved (keys/collated.h): most texts of a group are equal to the
 * least or the greatest so far, or take one comparison, as in PostgreSQL.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "keys/collation.h"
#include "query/table_job.h"

/* ---- extremes of texts */

/* Whether a column's extremes are found by this collation, or may be from now on. */
static bool
may_compare_by(const table_job *job, const mgpu_group_column *column, Oid collation)
{
	if (collation_orders_bytes(collation))
		return !column->is_collated;
	return (column->is_collated || column->reduction <= MGPU_REDUCE_COUNT) && expr_program_take_collation(job->program, collation);
}

/* Of intervals between two times, by one number. */
static bool
take_lengths(table_job *job, const table_question *question, int number, table_output *output)
{
	Expr	   *argument = table_output_argument(question, list_nth(question->query->uses, number), false);
	mgpu_group_column *column;

	output->column = argument && expr_program_add_between(job->program, argument, &output->cells) ? table_job_columns(job, &output->cells) : -1;
	if (output->column < 0)
		return false;
	column = &job->spec->columns[output->column];
	column->reduction = Max(column->reduction, MGPU_REDUCE_INTEGER);
	return true;
}

/* Of texts, by their bytes or by the C library; of inets, by what stands for them. */
static bool
take_extremes(table_job *job, const table_question *question, int number, const Aggref *aggref, table_output *output)
{
	Expr	   *argument = table_output_argument(question, list_nth(question->query->uses, number), false);
	Oid			collation = aggref->inputcollid;
	bool		is_text = aggref->aggtype == TEXTOID;
	mgpu_group_column *column;

	output->column = argument ? table_job_cells(job, question, argument, &output->cells) : -1;
	if (output->column < 0 || (output->cells.form != CELLS_BYTES && output->cells.form != CELLS_INET))
		return false;
	column = &job->spec->columns[output->column];
	if (is_text && !may_compare_by(job, column, collation))
		return false;
	table_output_join(job->spec, output);
	if (is_text && !collation_orders_bytes(collation))
	{
		column->is_collated = true;
		column->num_cells = (uint8) output->cells.num_cells;
	}
	column->reduction = Max(column->reduction, column->num_cells > 0 ? MGPU_REDUCE_EXTREMES : MGPU_REDUCE_INTEGER);
	return true;
}

bool
table_feed_write_locale(const table_job *job)
{
	Oid			collation = expr_program_collation(job->program);
	char		provider;
	char	   *name;
	int64		offset;

	if (!OidIsValid(collation))
		return true;
	name = mgpu_locale_of(collation, &provider);
	offset = group_spec_add_bytes(job->spec, name, strlen(name) + 1);
	job->spec->locale = (uint32) offset;
	return offset >= 0;
}

/* ---- bits */

static bool
take_bits(table_job *job, const table_question *question, int number, table_output *output)
{
	Expr	   *argument = table_output_argument(question, list_nth(question->query->uses, number), false);
	mgpu_group_column *column;

	output->column = argument ? table_job_cells(job, question, argument, &output->cells) : -1;
	if (output->column < 0 || output->cells.form != CELLS_NUMBER)
		return false;
	column = &job->spec->columns[output->column];
	if (column->kind != MGPU_KEY_SIGNED || column->num_cells > 0 || (column->reduction > MGPU_REDUCE_INTEGER && column->reduction != MGPU_REDUCE_BITS))
		return false;
	column->reduction = MGPU_REDUCE_BITS;
	return true;
}

/* ---- pairs */

/* A value where both of a pair are there, else NULL. */
static Expr *
make_half(Expr *value, Expr *y, Expr *x)
{
	return table_choice(makeBoolExpr(AND_EXPR, list_make2(table_presence(y), table_presence(x)), -1), value);
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
	Expr	   *y = table_output_argument(question, list_make2_int(linitial_int(columns), lsecond_int(columns)), false);
	Expr	   *x = table_output_argument(question, list_make2_int(linitial_int(columns), lthird_int(columns)), false);

	if (lsecond_int(columns) < 0 || lthird_int(columns) < 0)
		return false;
	output->column = take_half(job, question, make_half(y, y, x));
	if (output->column < 0 || take_half(job, question, make_half(x, y, x)) != output->column + 1)
		return false;
	job->spec->columns[output->column].num_cells = 2;
	job->spec->columns[output->column].reduction = MGPU_REDUCE_PAIRS;
	return true;
}

/* ---- which, and all of them */

table_feed
table_feed_of(const Aggref *aggref)
{
	if (aggref->aggdistinct || aggref->aggorder)
		return TABLE_FEED_NONE;
	switch (aggref->aggfnoid)
	{
		case F_MIN_TEXT:
		case F_MAX_TEXT:
		case F_MIN_INET:
		case F_MAX_INET:
		case F_MIN_INTERVAL:
		case F_MAX_INTERVAL:
			return TABLE_FEED_EXTREME;
		case F_BIT_AND_INT2:
		case F_BIT_AND_INT4:
		case F_BIT_AND_INT8:
		case F_BIT_OR_INT2:
		case F_BIT_OR_INT4:
		case F_BIT_OR_INT8:
			return TABLE_FEED_BITS;
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

bool
table_feed_take(table_job *job, const table_question *question, int number, table_output *output)
{
	const Aggref *aggref = list_nth(question->outputs, number);

	switch (table_feed_of(aggref))
	{
		case TABLE_FEED_EXTREME:
			return aggref->aggtype == INTERVALOID ? take_lengths(job, question, number, output) : take_extremes(job, question, number, aggref, output);
		case TABLE_FEED_BITS:
			return take_bits(job, question, number, output);
		case TABLE_FEED_PAIRS:
			return take_pairs(job, question, number, output);
		default:
			return false;
	}
}

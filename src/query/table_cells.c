/*
 * table_cells.c
 *		The columns of table jobs: the cells that their programs compute of expressions.
 *
 * Texts are some numbers of 8 bytes each.  How many, follows from the column's statistics: a longer one has the CPU do it all.  Where their
 * order does not matter, those that would take too many are one number.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "array/element_type.h"
#include "expr/expr_builds.h"
#include "query/text_width.h"

/* ---- columns */

int
table_job_column(table_job *job, int output, uint32 kind, uint32 width)
{
	mgpu_group_spec *spec = job->spec;
	uint32		reg = expr_program_output_register(job->program, output);
	uint32		number = 0;

	while (number < spec->num_columns &&
		   ((job->of_records >> number & 1) != 0 ||
			!(expr_program_output_register(job->program, job->of_columns[number]) == reg && spec->columns[number].kind == kind)))
		number++;
	if (number == MGPU_GROUP_MAX_COLUMNS)
		return -1;
	if (number == spec->num_columns)
	{
		job->of_columns[spec->num_columns] = output;
		spec->columns[spec->num_columns++] = (mgpu_group_column) {.kind = kind,.width = width};
	}
	return number;
}

/*
 * Words for texts, with room for some that are longer than those that are known; 0: they would be too many.  Inets are of few lengths, all of which are
 * known.  The size of a type has a header, and a length takes a byte.
 */
static int
words_of(const Expr *expr, text_width width)
{
	int			bound = range_bound_width(exprType((const Node *) expr));
	int32		most = type_maximum_size(exprType((const Node *) expr), exprTypmod((const Node *) expr));
	bool		is_inet = expr_type_is_inet(getBaseType(exprType((const Node *) expr)));
	int32		longest = is_inet && width.longest > 0 ? width.longest : Max(2 * width.mean, width.longest + width.longest / 4);
	int			words = width.shown > 0 ? width.shown : (longest + 8) / (int) sizeof(uint64);

	/* a range has its type, two bounds and flags */
	if (bound > 0)
		return (int) (sizeof(Oid) + 2 * bound + 1) / (int) sizeof(uint64) + 1;
	if (most > 0)
		words = Min(words, (most - (int) VARHDRSZ) / (int) sizeof(uint64) + 1);
	return words <= MOST_CELLS ? words : 0;
}

int
table_job_words(const table_question *question, const Expr *expr)
{
	return words_of(expr, text_width_of(question, expr));
}

int
table_job_words_of(const Var *var, Oid table)
{
	int			words = words_of((const Expr *) var, text_width_of_column(table, var->varattno));

	return words > 0 ? words : TABLE_BUILD_NAMED;
}

int
table_job_columns(table_job *job, const value_cells *cells)
{
	int			first = -1;

	for (int i = 0; i < cells->num_cells; i++)
	{
		int			column = table_job_column(job, cells->first + i, cells->kind, cells->width);

		/* cells that were not all there, or none of them, are not one behind the other */
		if (column < 0 || (i > 0 && column != first + i))
			return -1;
		first = i == 0 ? column : first;
	}
	if (first >= 0 && cells->form == CELLS_LONG)
		job->spec->columns[first].is_named = true;
	return first;
}

int
table_job_cells(table_job *job, const table_question *question, Expr *expr, value_cells *cells)
{
	if (!expr_program_add_cells(job->program, expr, table_job_words(question, expr), cells) && !expr_program_add_between(job->program, expr, cells))
		return -1;
	return table_job_columns(job, cells);
}

/* Memory of a text that has a number, beside its bytes. */
#define NAMED_BYTES 40

bool
table_job_add_names(table_job *job, const table_question *question, Expr *expr, double num_values, value_cells *cells)
{
	text_width	width = text_width_of(question, expr);
	int			words = words_of(expr, width);

	if (!expr_program_add_name(job->program, expr, words, cells) && !expr_program_add_cells(job->program, expr, words, cells))
		return false;
	if (cells->form == CELLS_LONG)
		job->spec->name_bytes += (uint64) ((width.num_values > 0 ? width.num_values : num_values) * (width.mean + NAMED_BYTES));
	return true;
}

int
table_job_names(table_job *job, const table_question *question, Expr *expr, double num_values, value_cells *cells)
{
	return table_job_add_names(job, question, expr, num_values, cells) ? table_job_columns(job, cells) : -1;
}

int
table_job_quotient(table_job *job, Expr *expr, bool in_order, value_cells *cells)
{
	return expr_program_add_quotient(job->program, expr, in_order, cells) ? table_job_columns(job, cells) : -1;
}

int
table_job_tied_quotient(table_job *job, Expr *expr, value_cells *cells)
{
	return expr_program_add_tied_quotient(job->program, expr, cells) ? table_job_columns(job, cells) : -1;
}

int
table_job_interval(table_job *job, Expr *expr, value_cells *cells)
{
	return expr_program_add_interval(job->program, expr, cells) ? table_job_columns(job, cells) : -1;
}

int
table_job_tied(table_job *job, Expr *expr, value_cells *cells)
{
	return expr_program_add_tied(job->program, expr, cells) ? table_job_columns(job, cells) : -1;
}

table_value *
table_job_value(table_job *job, const table_question *question, int number)
{
	table_value *value = &job->values[number];

	Expr	   *expr = list_nth(question->scan.columns, number);

	if (value->column < 0)
		value->column = table_job_cells(job, question, expr, &value->cells);
	if (value->column < 0)
		value->column = table_job_quotient(job, expr, true, &value->cells);
	return value->column < 0 ? NULL : value;
}

void
table_job_show(table_job *job, const table_value *value)
{
	for (int i = 0; i < value->cells.num_cells; i++)
		job->spec->columns[value->column + i].is_shown = true;
}

/* ---- tests */

/* No test has operations behind itself: they wait for rows that it keeps. */
bool
table_job_add_test(table_job *job, int output)
{
	mgpu_group_spec *spec = job->spec;

	if (output < 0 || spec->num_tests == MGPU_GROUP_MAX_TESTS)
		return false;
	job->of_tests[spec->num_tests] = output;
	spec->tests[spec->num_tests++].end_op = expr_program_num_ops(job->program);
	return true;
}

/* ---- arguments */

Expr *
table_choice(Expr *condition, Expr *value)
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

Expr *
table_presence(Expr *value)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = value;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return table_choice((Expr *) test, (Expr *) makeBoolConst(true, false));
}

Expr *
table_output_argument(const table_question *question, const List *columns, bool is_counted)
{
	int			filter = linitial_int(columns);
	int			argument = list_length(columns) > 1 ? lsecond_int(columns) : -1;
	Expr	   *condition = filter < 0 ? NULL : list_nth(question->scan.columns, filter);
	Expr	   *value = argument < 0 ? NULL : list_nth(question->scan.columns, argument);

	if (value && is_counted && !get_typbyval(exprType((Node *) value)))
		value = table_presence(value);
	return condition && value ? table_choice(condition, value) : condition ? condition : value;
}

void
table_output_join(mgpu_group_spec *spec, const table_output *output)
{
	if (output->cells.num_cells > 1)
		spec->columns[output->column].num_cells = (uint8) output->cells.num_cells;
}

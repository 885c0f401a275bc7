/*
 * table_cells.c
 *		The columns of table jobs: the cells that their programs compute of expressions.
 *
 * Texts are some numbers of 8 bytes each.  How many, follows from the column's statistics: a longer one has the CPU do it all.
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
#include "expr/expr_builds.h"
#include "query/table_job.h"

/* The widest mean width of texts that are taken. */
#define WIDEST_MEAN 32

/* ---- columns */

int
table_job_column(table_job *job, int output, uint32 kind, uint32 width)
{
	mgpu_group_spec *spec = job->spec;
	uint32		reg = expr_program_output_register(job->program, output);
	uint32		number = 0;

	while (number < spec->num_columns &&
		   !(expr_program_output_register(job->program, job->of_columns[number]) == reg && spec->columns[number].kind == kind))
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

/* The width of texts of which nothing is known: they have EXPR_USUAL_WORDS. */
#define USUAL_WIDTH 8

static int
words_of(const Expr *expr, int32 mean)
{
	int32		most = type_maximum_size(exprType((const Node *) expr), exprTypmod((const Node *) expr));
	int			words = (2 * mean + 8) / (int) sizeof(uint64);

	if (mean > WIDEST_MEAN)
		return 0;
	/* the size has a header, and a length takes a byte */
	if (most > 0)
		words = Min(words, (most - (int) VARHDRSZ) / (int) sizeof(uint64) + 1);
	return Min(words, MOST_CELLS);
}

static int32 width_of(const table_question *question, const Node *node);

/* Of some expressions together, or of the widest. */
static int32
width_of_all(const table_question *question, const List *nodes, bool of_widest)
{
	int32		width = 0;
	ListCell   *cell;

	foreach(cell, nodes)
	{
		const Node *node = IsA(lfirst(cell), CaseWhen) ? (const Node *) ((const CaseWhen *) lfirst(cell))->result : lfirst(cell);
		int32		of_one = width_of(question, node);

		width = of_widest ? Max(width, of_one) : width + of_one;
	}
	return width;
}

/* Of what a function makes: of all that it puts together. */
static int32
width_of_call(const table_question *question, Oid function, const List *args)
{
	switch (function)
	{
		case F_TEXTCAT:
		case F_CONCAT:
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
			return width_of_all(question, args, false);
		case F_REPLACE:
			return width_of(question, linitial(args));
		default:
			return USUAL_WIDTH;
	}
}

/* How wide texts are on the average. */
static int32
width_of(const table_question *question, const Node *node)
{
	const Var  *var = (const Var *) node;
	const Const *constant = (const Const *) node;
	int32		width = 0;

	switch (nodeTag(node))
	{
		case T_Var:
			width = var->varno < EXPR_BUILD_VARNO ? get_attavgwidth(RelationGetRelid(question->widths), var->varattno) : 0;
			return width > 0 ? width : USUAL_WIDTH;
		case T_Const:
			return constant->consttype != TEXTOID || constant->constisnull ? 0 : (int32) VARSIZE_ANY_EXHDR(DatumGetPointer(constant->constvalue));
		case T_RelabelType:
			return width_of(question, (const Node *) ((const RelabelType *) node)->arg);
		case T_OpExpr:
			return width_of_call(question, ((const OpExpr *) node)->opfuncid, ((const OpExpr *) node)->args);
		case T_FuncExpr:
			return width_of_call(question, ((const FuncExpr *) node)->funcid, ((const FuncExpr *) node)->args);
		case T_CoalesceExpr:
			return width_of_all(question, ((const CoalesceExpr *) node)->args, true);
		case T_CaseExpr:
			return width_of_all(question, lappend(list_copy(((const CaseExpr *) node)->args), ((const CaseExpr *) node)->defresult), true);
		default:
			return USUAL_WIDTH;
	}
}

int
table_job_words(const table_question *question, const Expr *expr)
{
	return words_of(expr, width_of(question, (const Node *) expr));
}

int
table_job_words_of(const Var *var, Oid table)
{
	int32		width = OidIsValid(table) && var->varattno > 0 ? get_attavgwidth(table, var->varattno) : 0;
	int			words = words_of((const Expr *) var, width > 0 ? width : USUAL_WIDTH);

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
	return first;
}

int
table_job_cells(table_job *job, const table_question *question, Expr *expr, value_cells *cells)
{
	if (!expr_program_add_cells(job->program, expr, table_job_words(question, expr), cells))
		return -1;
	return table_job_columns(job, cells);
}

int
table_job_interval(table_job *job, Expr *expr, value_cells *cells)
{
	return expr_program_add_interval(job->program, expr, cells) ? table_job_columns(job, cells) : -1;
}

table_value *
table_job_value(table_job *job, const table_question *question, int number)
{
	table_value *value = &job->values[number];

	if (value->column < 0)
		value->column = table_job_cells(job, question, list_nth(question->scan.columns, number), &value->cells);
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

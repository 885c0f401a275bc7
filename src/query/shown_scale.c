/*
 * shown_scale.c
 *		The scale that numerics without a declared one have in a table job.
 *
 * Each value shows as many digits behind the point as it came with.  A register holds an integer, so all have one scale, and a value with more digits is a
 * fault, which ends the job.  Zeros at the end, of which quotients have many, are remembered beside it.  So statistics say how many digits the columns have, and the most counts.  All programs of a job have the same, those of its
 * builds too, or equal keys would have other cells.  A larger scale for all was rejected: products of two would overflow.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "query/table_job.h"

typedef struct scale_search
{
	const table_question *question;
	int			scale;
	Bitmapset  *unfit;			/* attributes of the table with too many digits */
} scale_search;

/* Digits of a column; 0: they are too many. */
static int
digits_of(const table_question *question, const Var *var)
{
	const table_join *join;

	if (var->varno < EXPR_BUILD_VARNO)
		return table_job_words(question, (const Expr *) var);
	join = list_nth(question->scan.joins, var->varno - EXPR_BUILD_VARNO);
	return join->words && join->words[var->varattno - 1] <= EXPR_MOST_SHOWN ? join->words[var->varattno - 1] : 0;
}

static bool
look_at(Node *node, void *context)
{
	scale_search *search = context;
	const Var  *var = (const Var *) node;
	int			digits;

	if (node == NULL)
		return false;
	if (!IsA(node, Var))
		return expression_tree_walker(node, look_at, context);
	if (var->varattno <= 0 || !expr_is_shown((const Expr *) var))
		return false;
	digits = digits_of(search->question, var);
	search->scale = Max(search->scale, digits);
	if (digits == 0 && var->varno < EXPR_BUILD_VARNO)
		search->unfit = bms_add_member(search->unfit, var->varattno);
	return false;
}

void
table_job_find_scale(table_job *job, const table_question *question)
{
	scale_search search = {question, EXPR_LEAST_SHOWN, NULL};
	ListCell   *cell;

	if (question->scan.rows)
		search.scale = Max(search.scale, question->scan.rows->shown_scale);
	else
	{
		(void) look_at((Node *) question->scan.columns, &search);
		(void) look_at((Node *) question->scan.conditions, &search);
	}
	foreach(cell, question->scan.rows ? NIL : question->scan.joins)
	{
		const table_join *join = lfirst(cell);

		(void) look_at((Node *) join->clauses, &search);
		(void) look_at((Node *) join->match_conditions, &search);
		(void) look_at((Node *) join->conditions, &search);
	}
	job->shown_scale = question->build ? question->build->shown_scale : search.scale;
	expr_program_show(job->program, job->shown_scale, search.unfit);
}

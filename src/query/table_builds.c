/*
 * table_builds.c
 *		The builds of table jobs: what they are filled with, and the jobs that read their rows.
 *
 * A build's program computes the cells of its key, and of what the job has asked for, from columns of the build's rows.  Where these rows
 * are a table's, or a join's of tables, a job of their own reads them: its program has the same cells, of the table's attributes, and
 * returns them for each row that meets the conditions.  So a build's rows never become tuples.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "query/table_job.h"

bool
table_build_add(table_build *build, Expr *expr, int num_words, value_cells *cells)
{
	build_column *value = palloc(sizeof(build_column));

	if (!expr_program_add_cells(build->program, expr, num_words, cells) || cells->first + cells->num_cells > TABLE_BUILD_MOST_OUTPUTS)
		return false;
	*value = (build_column) {expr, cells->first, cells->num_cells, NULL};
	build->values = lappend(build->values, value);
	return true;
}

/* Cells of columns, which expressions of the job have asked for. */
static bool
take_column(table_build *build, const build_column *column)
{
	value_cells cells;

	if (column->names)
	{
		build->cells[column->first] = expr_program_add(build->program, column->expr);
		build->names[column->first] = column->names;
		build->has_names = true;
		return build->cells[column->first] >= 0;
	}
	if (!table_build_add(build, column->expr, column->num_cells, &cells) || cells.num_cells != column->num_cells)
		return false;
	for (int i = 0; i < cells.num_cells; i++)
		build->cells[column->first + i] = cells.first + i;
	return true;
}

bool
table_job_finish_builds(table_job *job, const table_question *question)
{
	for (int i = 0; i < list_length(question->scan.joins); i++)
	{
		table_build *build = &job->builds[i];
		ListCell   *cell;

		build->num_cells = expr_program_build_cells(job->program, i);
		if (build->num_cells > MGPU_BUILD_MAX_COLUMNS)
			return false;
		for (int j = 0; build->num_keys > 1 && j < build->num_keys; j++)
			build->cells[j] = build->keys[j];
		foreach(cell, (List *) expr_program_build_columns(job->program, i))
			if (!take_column(build, lfirst(cell)))
				return false;
		expr_program_finish(build->program, TABLE_BUILD_STEP_ROWS);
		job->spec->builds[i].num_columns = build->num_cells;
		job->spec->builds[i].has_next = build->may_repeat;
	}
	return true;
}

/* ---- jobs that read a build's rows */

/* The TIDs of a table of a build are those of the scan, or of a build that it has itself.  NULL: its rows, which are read one by one now, have none. */
static Expr *
tid_below(const table_scan *scan, int table)
{
	ListCell   *cell;

	if (table == 0)
		return expr_tid(1, 0);
	table--;
	foreach(cell, scan->joins)
	{
		const table_join *join = lfirst(cell);

		if (table < join->num_tables)
			return join->one_by_one ? NULL : expr_tid(EXPR_BUILD_VARNO + foreach_current_index(cell), table);
		table -= join->num_tables;
	}
	elog(ERROR, "a build has no such table");
}

/* Columns of the build's rows become what the scan computes for them, and TIDs its own. */
static Node *
look_below(Node *node, void *context)
{
	const table_scan *scan = context;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, look_below, context);
	if (expr_is_tid(var))
		return (Node *) tid_below(scan, expr_tid_table(var));
	return copyObject((Node *) list_nth(scan->columns, var->varattno - 1));
}

/* Cells come back as they are. */
static int
take_cell(table_job *job, int output, const value_cells *cells)
{
	int			column = table_job_column(job, output, cells->kind == MGPU_KEY_FLOAT ? MGPU_KEY_FLOAT : MGPU_KEY_SIGNED, sizeof(uint64));

	if (column >= 0)
		job->spec->columns[column].is_shown = job->spec->columns[column].is_returned = true;
	return column;
}

/* Rows of other rounds do not come back. */
static bool
take_round(table_job *job, const table_build *build)
{
	List	   *keys = NIL;

	for (int i = 0; i < build->num_keys; i++)
		keys = lappend_int(keys, (int) expr_program_output_register(job->program, job->of_columns[job->of_cells[build->keys[i]]]));
	return table_job_add_test(job, expr_program_add_round(job->program, keys, build->round, build->num_rounds));
}

bool
table_job_take_build(table_job *job, const table_question *question)
{
	ListCell   *cell;

	job->spec->limit_rule = MGPU_LIMIT_ROWS;
	job->spec->limit = UINT64_MAX;
	foreach(cell, question->build->values)
	{
		const build_column *value = lfirst(cell);
		Expr	   *expr = (Expr *) look_below((Node *) value->expr, (void *) &question->scan);
		value_cells cells;

		/* a number is a job's own */
		if (expr == NULL || !expr_program_add_cells(job->program, expr, value->num_cells, &cells) || cells.num_cells != value->num_cells || cells.form == CELLS_NAMED)
			return false;
		for (int i = 0; i < cells.num_cells; i++)
		{
			job->of_cells[value->first + i] = take_cell(job, cells.first + i, &cells);
			if (job->of_cells[value->first + i] < 0)
				return false;
		}
	}
	return question->build->num_rounds <= 1 || take_round(job, question->build);
}

/* Words for texts of a column: those that a build below has, or by statistics. */
static int
words_of(const table_question *question, const Expr *expr)
{
	const Var  *var = (const Var *) expr;
	const int  *below = IsA(var, Var) && var->varno >= EXPR_BUILD_VARNO ?
		((const table_join *) list_nth(question->scan.joins, var->varno - EXPR_BUILD_VARNO))->words : NULL;
	int			num_words = below ? below[var->varattno - 1] : table_job_words(question, expr);

	return num_words > 0 ? num_words : TABLE_BUILD_NAMED;
}

int *
table_job_build_words(const table_scan *scan)
{
	table_question question = {.scan = *scan,.widths = scan->relation};
	int		   *words = palloc(list_length(scan->columns) * sizeof(int) + 1);
	ListCell   *cell;

	foreach(cell, scan->columns)
		words[foreach_current_index(cell)] = words_of(&question, lfirst(cell));
	return words;
}

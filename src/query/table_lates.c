/*
 * table_lates.c
 *		Columns that come late: a job returns where their rows are, by which they are fetched from their tables in the end (exec/late_rows.c).
 *
 * So columns may be of any type, however long, and are not read for rows that nobody wants.  Rows are those of the table that streams, or of a smaller
 * side that a job reads: of the table that streams there, or of a side's sides.  A build's rows have the TIDs of these as cells.
 */
#include "postgres.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "query/table_lates.h"

const table_join *
table_join_of(const table_question *question, const Var *var)
{
	return IsA(var, Var) && var->varno >= EXPR_BUILD_VARNO ? list_nth(question->scan.joins, var->varno - EXPR_BUILD_VARNO) : NULL;
}

/* The number of a column's table among those of its build, or 0 for the table that streams.  -1: its rows have no TIDs. */
static int
table_of(const table_question *question, const Var *var)
{
	const table_join *join = table_join_of(question, var);

	if (!IsA(var, Var) || var->varattno <= 0 || question->scan.rows)
		return -1;
	return join == NULL ? 0 : join->tables == NULL ? -1 : join->tables[var->varattno - 1];
}

/* The number of the build a column is of, or -1 for the table that streams. */
static int
build_of(const table_question *question, const Var *var)
{
	return table_join_of(question, var) ? (int) var->varno - EXPR_BUILD_VARNO : -1;
}

/* The number of the TIDs of a column's table, or of the next ones. */
static int
find(const table_job *job, const table_question *question, const Var *var)
{
	int			build = build_of(question, var);
	int			table = table_of(question, var);
	int			number = 0;

	while (number < job->num_lates && !(job->lates[number].build == build && job->lates[number].table == table))
		number++;
	return number;
}

bool
table_late_has(const table_job *job, const table_question *question, int number)
{
	const Var  *var = list_nth(question->scan.columns, number);

	return table_of(question, var) >= 0 && find(job, question, var) < job->num_lates;
}

/* Have TIDs come back as one more column.  false: there are too many. */
static bool
add(table_job *job, const table_question *question, const Var *var)
{
	int			table = table_of(question, var);
	int			column;

	if (job->num_lates == TABLE_MOST_LATES)
		return false;
	column = table_job_column(job, expr_program_add(job->program, expr_tid((int) var->varno, table)), MGPU_KEY_SIGNED, sizeof(uint64));
	job->lates[job->num_lates] = (table_late) {build_of(question, var), table, column};
	job->num_lates += column >= 0;
	return column >= 0;
}

table_value *
table_late_take(table_job *job, const table_question *question, int number)
{
	table_value *value = &job->values[number];
	const Var  *var = list_nth(question->scan.columns, number);
	int			late;

	if (table_of(question, var) < 0)
		return NULL;
	late = find(job, question, var);
	if (late == job->num_lates && !add(job, question, var))
		return NULL;
	value->late = late;
	value->column = job->lates[late].column;
	value->cells = (value_cells) {.form = CELLS_LATE,.num_cells = 1,.kind = MGPU_KEY_SIGNED,.width = sizeof(uint64)};
	return value;
}

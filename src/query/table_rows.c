/*
 * table_rows.c
 *		Table jobs that return rows in order, or the first of each partition: for MgpuTop and MgpuSort.
 *
 * Keys and orders are columns of the job.  The others may come late (query/table_lates).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "array/element_type.h"
#include "core/sizes.h"
#include "expr/expr_builds.h"
#include "keys/collation.h"
#include "query/table_lates.h"

/*
 * Rows that are read for each that comes back and is fetched from its page, which lies anywhere: a microsecond, as long as some hundred rows take to
 * load a column.  Where a column has no cells, there is no job without, and rows are read one by one: each takes a quarter of a microsecond.
 */
#define LATE_TIMES MGPU_SIZE(256, 16)
#define MISSING_TIMES MGPU_SIZE(32, 4)

/* The same where tables are joined, which takes longer without a job. */
#define JOINED_TIMES MGPU_SIZE(8, 2)

/* ---- order */

static bool
is_in_order(const value_cells *cells, Oid type_id, Oid collation)
{
	element_type type;

	switch (cells->form)
	{
		case CELLS_NUMBER:
			element_type_fill(&type, type_id);
			return type.typbyval && type.key_kind != 0 && type.typlen == (int16) type.key_width;
		case CELLS_BYTES:
			type_id = getBaseType(type_id);
			return type_id == BYTEAOID || (type_id != BPCHAROID && OidIsValid(collation) && collation_orders_bytes(collation));
		default:
			return cells->form != CELLS_NAMED && cells->form != CELLS_LONG && cells->form != CELLS_LATE;
	}
}

int
table_ordering_cells(const value_cells *cells, Oid type_id, Oid collation)
{
	if (!is_in_order(cells, type_id, collation))
		return 0;
	/* digits that are shown make no difference */
	return cells->form == CELLS_SHOWN || cells->form == CELLS_QUOTIENT ? cells->num_cells - 1 : cells->num_cells;
}

static bool
take_order(table_job *job, const table_question *question, int number)
{
	const query *query = question->query;
	int			column = list_nth_int(query->order_columns, number);
	Oid			operator = list_nth_oid(query->order_operators, number);
	const table_value *value = table_job_value(job, question, column);
	int			num_cells = value ? table_ordering_cells(&value->cells, table_column_type(question, column), list_nth_oid(query->order_collations, number)) : 0;
	mgpu_group_spec *spec = job->spec;
	element_type type;

	element_type_fill(&type, table_column_type(question, column));
	if (num_cells == 0 || (operator != type.lt_operator && operator != type.gt_operator) || spec->num_orders + num_cells > MGPU_GROUP_MAX_ORDERS)
		return false;
	for (int i = 0; i < num_cells; i++)
		spec->orders[spec->num_orders++] = (mgpu_group_order) {
			.column = value->column + i,
			.descending = operator == type.gt_operator,
			.nulls_first = list_nth_int(query->order_nulls_first, number)
		};
	return true;
}

/* ---- other columns */

/* Whether rows are so much fewer than those that are read, that each may be fetched from the table once more. */
static bool
are_few(const table_question *question, double times)
{
	return question->num_results * times <= question->num_read;
}

/*
 * Whether a column of a build is better fetched, or has to be: it has no cells, or its texts are too long for some, so that all rows of the build would
 * be read one by one.
 */
static bool
is_fetched_of_build(const table_job *job, const table_question *question, int number)
{
	const Var  *var = list_nth(question->scan.columns, number);
	const table_join *join = table_join_of(question, var);

	if (join == NULL || join->tables == NULL || !are_few(question, JOINED_TIMES))
		return false;
	return table_late_has(job, question, number) || !expr_program_has_type(var->vartype, var->vartypmod) ||
		(join->words && join->words[var->varattno - 1] == TABLE_BUILD_NAMED);
}

/* If rows are fetched anyway, all that are not keys are. */
static bool
take_other(table_job *job, const table_question *question, int number)
{
	bool		is_of_build = table_join_of(question, list_nth(question->scan.columns, number)) != NULL;
	bool		is_fetched = is_of_build ? is_fetched_of_build(job, question, number) : table_late_has(job, question, number) || are_few(question, LATE_TIMES);

	if (is_fetched && table_late_take(job, question, number))
		return true;
	if (table_job_value(job, question, number))
		return true;
	return !is_of_build && are_few(question, question->scan.joins ? JOINED_TIMES : MISSING_TIMES) && table_late_take(job, question, number);
}

/* When to take a column: those first that have no cells, then those that may have too many. */
static int
turn_of(const table_question *question, int number)
{
	const Node *column = list_nth(question->scan.columns, number);

	return expr_program_has_type(exprType(column), exprTypmod(column)) ? 1 + get_typbyval(exprType(column)) : 0;
}

static bool
take_others(table_job *job, const table_question *question)
{
	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < job->num_values; i++)
			if (job->values[i].column < 0 && turn_of(question, i) == turn && !take_other(job, question, i))
				return false;
	return true;
}

/* ---- as cells */

/* Have all come back as numbers of 8 bytes.  false: some say too little. */
static bool
widen_cells(table_job *job, const table_question *question)
{
	for (int i = 0; i < job->num_values; i++)
	{
		const value_cells *cells = &job->values[i].cells;

		if (cells->form != CELLS_NUMBER && cells->form != CELLS_NUMERIC && cells->form != CELLS_SHOWN && cells->form != CELLS_BYTES && cells->form != CELLS_UUID &&
			cells->form != CELLS_INET && cells->form != CELLS_QUOTIENT)
			return false;
		for (int j = 0; j < cells->num_cells; j++)
			job->spec->columns[job->values[i].column + j].width = sizeof(uint64);
	}
	for (int i = 0; i < list_length(question->query->key_columns); i++)
	{
		int			column = list_nth_int(question->query->key_columns, i);

		if (table_ordering_cells(&job->values[column].cells, table_column_type(question, column), list_nth_oid(question->query->key_collations, i)) == 0)
			return false;
	}
	return true;
}

/* ---- the whole */

bool
table_job_take_rows(table_job *job, const table_question *question)
{
	static const mgpu_group_limit rules[] = {
		[TOP_ROWS] = MGPU_LIMIT_ROWS,[TOP_RANKS] = MGPU_LIMIT_RANKS,[TOP_DENSE_RANKS] = MGPU_LIMIT_DENSE_RANKS
	};
	const query *query = question->query;
	mgpu_group_spec *spec = job->spec;

	spec->limit_rule = rules[query->rule];
	spec->limit = query->count > 0 ? (uint64) query->count : UINT64_MAX;
	if (spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MGPU_GROUP_MAX_DENSE_RANKS)
		return false;
	if (!table_job_take_keys(job, question))
		return false;
	for (int i = 0; i < list_length(query->order_columns); i++)
		if (!take_order(job, question, i))
			return false;
	if (!take_others(job, question))
		return false;
	for (int i = 0; i < job->num_values; i++)
	{
		const table_value *value = &job->values[i];

		table_job_show(job, value);
		for (int j = 0; j < value->cells.num_cells; j++)
			spec->columns[value->column + j].is_returned = true;
	}
	return !query->as_cells || widen_cells(job, question);
}

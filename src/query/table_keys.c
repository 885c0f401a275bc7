/*
 * table_keys.c
 *		The keys of table jobs: what tells groups and partitions apart, and what follows from that.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "batch/group_keys.h"
#include "expr/expr_builds.h"
#include "query/table_lates.h"

static bool
add_key(table_job *job, table_value *value)
{
	mgpu_group_spec *spec = job->spec;

	if (spec->num_keys + value->cells.num_cells > MGPU_GROUP_MAX_KEYS)
		return false;
	value->key = spec->num_keys;
	table_job_show(job, value);
	for (int i = 0; i < value->cells.num_cells; i++)
		spec->keys[spec->num_keys++] = value->column + i;
	return true;
}

/* The cells of a key.  Of groups nothing but whether values are equal is asked, so a name will do. */
static table_value *
take_key_cells(table_job *job, const table_question *question, int column)
{
	table_value *value = &job->values[column];

	if (value->column < 0 && question->query->kind == QUERY_GROUP)
		value->column = table_job_names(job, question, list_nth(question->scan.columns, column), question->num_results, &value->cells);
	return table_job_value(job, question, column);
}

static bool
take_key(table_job *job, const table_question *question, int number)
{
	const query *query = question->query;
	int			column = list_nth_int(query->key_columns, number);
	table_value *value = take_key_cells(job, question, column);
	group_key	key;

	return value && value->cells.form != CELLS_SHOWN && value->cells.form != CELLS_QUOTIENT && value->cells.form != CELLS_LATE &&
		group_key_fill(&key, table_column_type(question, column), list_nth_oid(query->key_equalities, number), list_nth_oid(query->key_collations, number)) &&
		key.form != GROUP_KEY_CALLS && add_key(job, value);
}

bool
table_job_take_keys(table_job *job, const table_question *question)
{
	for (int i = 0; i < list_length(question->query->key_columns); i++)
		if (!take_key(job, question, i))
			return false;
	return true;
}

/* ---- what follows from them */

/* Columns that are the same in all rows of a group, since they depend on the keys. */
static List *
dependents_of(const table_question *question)
{
	List	   *columns = NIL;

	for (int i = list_length(question->query->key_columns); i < list_length(question->outputs); i++)
		if (!IsA(list_nth(question->outputs, i), Aggref))
			columns = list_append_unique_int(columns, linitial_int(list_nth(question->query->uses, i)));
	return columns;
}

/* Cells that a column is expected to have: more than a value may, if none. */
static int
cells_of(const table_question *question, int column)
{
	Expr	   *expr = list_nth(question->scan.columns, column);
	const table_join *join = table_join_of(question, (const Var *) expr);
	Oid			type_id = getBaseType(exprType((Node *) expr));
	int16		length = get_typlen(type_id);
	int			num_words;

	if (!expr_program_has_type(type_id, exprTypmod((Node *) expr)))
		return TABLE_BUILD_NAMED;
	if (length > 0)
		return (length + (int) sizeof(uint64) - 1) / (int) sizeof(uint64);
	/* and the digits that it shows */
	if (type_id == NUMERICOID)
		return 2;
	num_words = join && join->words ? join->words[((const Var *) expr)->varattno - 1] : table_job_words(question, expr);
	return num_words > 0 ? num_words : TABLE_BUILD_NAMED;
}

/* Whether what depends on the keys is more than groups may have beside these, so that it is fetched. */
static bool
are_wide(const table_job *job, const table_question *question, const List *columns)
{
	int			num_cells = (int) job->spec->num_keys;
	bool		are_long = false;
	ListCell   *cell;

	foreach(cell, columns)
	{
		int			column_cells = cells_of(question, lfirst_int(cell));

		num_cells += column_cells;
		are_long |= column_cells > MOST_CELLS;
	}
	return are_long || num_cells > MGPU_GROUP_MAX_KEYS;
}

/* A row's TID is the key of all columns that are fetched of it. */
static bool
add_late_key(table_job *job, table_value *value)
{
	for (int i = 0; i < job->num_values; i++)
	{
		const table_value *other = &job->values[i];

		if (other->key >= 0 && other->column == value->column)
		{
			value->key = other->key;
			return true;
		}
	}
	return add_key(job, value);
}

bool
table_job_take_dependents(table_job *job, const table_question *question)
{
	List	   *columns = dependents_of(question);
	bool		wide = are_wide(job, question, columns);
	ListCell   *cell;

	foreach(cell, columns)
	{
		table_value *value = &job->values[lfirst_int(cell)];

		if (value->key >= 0)
			continue;
		if (wide && value->column < 0 && table_late_take(job, question, lfirst_int(cell)))
		{
			if (!add_late_key(job, value))
				return false;
			continue;
		}
		value = take_key_cells(job, question, lfirst_int(cell));
		if (value == NULL || !add_key(job, value))
			return false;
	}
	return true;
}

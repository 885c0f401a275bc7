/*
 * table_job.c
 *		Table jobs: what a GPU can read and compute of a table.
 *
 * A job reads one table by a program (core/program.h) of its conditions and of what a node wants of each row, and
 * returns groups with aggregates, or rows in order.  The limits are those of core/group_spec.h.  Memory is none: rows stay in
 * the GPU's, and results that work_mem does not hold go to files.
 *
 * Texts are some numbers of 8 bytes each.  How many, follows from the column's statistics: a longer one has the CPU do it all.
 *
 * Plans carry the query, not the job: parameters, and with them percentiles, are known when the plan runs.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "array/element_type.h"
#include "batch/group_keys.h"
#include "expr/expr_builds.h"
#include "keys/collation.h"
#include "query/table_job.h"
#include "scan/page_values.h"

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

static int
words_of(const Expr *expr, int32 mean)
{
	int32		most = type_maximum_size(exprType((const Node *) expr), exprTypmod((const Node *) expr));
	int			words = mean > 0 ? (2 * mean + 8) / (int) sizeof(uint64) : EXPR_USUAL_WORDS;

	if (mean > WIDEST_MEAN)
		return 0;
	/* the size has a header, and a length takes a byte */
	if (most > 0)
		words = Min(words, (most - (int) VARHDRSZ) / (int) sizeof(uint64) + 1);
	return Min(words, MOST_CELLS);
}

int
table_job_words(const table_question *question, const Expr *expr)
{
	const Var  *var = (const Var *) expr;

	return words_of(expr, IsA(var, Var) && var->varno < EXPR_BUILD_VARNO ? get_attavgwidth(RelationGetRelid(question->widths), var->varattno) : 0);
}

int
table_job_words_of(const Var *var, Oid table)
{
	int			words = words_of((const Expr *) var, OidIsValid(table) && var->varattno > 0 ? get_attavgwidth(table, var->varattno) : 0);

	return words > 0 ? words : TABLE_BUILD_NAMED;
}

/* The spec's columns of cells, one behind the other: the first.  -1: there are too many. */
static int
columns_of(table_job *job, const value_cells *cells)
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
	return columns_of(job, cells);
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

/* ---- where attributes are */

/* Bytes of a stored value. */
static Size
stored_bytes(int16 length, const char *value)
{
	return length > 0 ? (Size) length : VARSIZE_ANY(value);
}

static bool
describe_input(mgpu_group_spec *spec, const value_list *list, int16 length)
{
	mgpu_group_input *input = &spec->inputs[spec->num_inputs++];
	int64		missing = -1;

	if (list->missing)
	{
		missing = group_spec_add_bytes(spec, list->missing, stored_bytes(length, list->missing));
		if (missing < 0)
			return false;
	}
	*input = (mgpu_group_input) {.length = length,.offset = list->offset,.missing = (int32) missing};
	return true;
}

/* A row may have types that are wider than a page, and NULL there. */
static bool
describe_rows(table_job *job, TupleDesc descriptor)
{
	mgpu_group_spec *spec = job->spec;
	page_values *values = page_values_create(descriptor);
	int			num_inputs = expr_program_num_inputs(job->program);

	for (int i = 0; i < num_inputs; i++)
		if (expr_program_attribute(job->program, i) > 0)
			(void) page_values_want(values, expr_program_attribute(job->program, i), true);
	page_values_plan(values);
	if (num_inputs > MGPU_GROUP_MAX_INPUTS || values->all.num_attributes > MGPU_GROUP_MAX_ATTRIBUTES || values->fixed_end > MGPU_PAGE_BYTES)
		return false;
	spec->num_attributes = values->all.num_attributes;
	spec->num_fixed = values->num_fixed;
	spec->fixed_end = values->fixed_end;
	for (uint32 i = 0; i < spec->num_attributes; i++)
		spec->attributes[i] = (mgpu_group_attribute) {values->all.attributes[i].length, values->all.attributes[i].align, -1};
	for (int i = 0; i < num_inputs; i++)
	{
		AttrNumber	number = expr_program_attribute(job->program, i);
		int			list;

		if (number == SelfItemPointerAttributeNumber)
		{
			spec->inputs[spec->num_inputs++] = (mgpu_group_input) {.length = sizeof(uint64),.offset = -1,.missing = -1};
			spec->tid_input = spec->num_inputs;
			continue;
		}
		list = page_values_want(values, number, true);
		spec->attributes[number - 1].input = i;
		if (!describe_input(spec, values->lists[list], spec->attributes[number - 1].length))
			return false;
	}
	return true;
}

/* ---- keys and orders */

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

	if (value->column < 0 && question->query->kind == QUERY_GROUP &&
		expr_program_add_name(job->program, list_nth(question->scan.columns, column), &value->cells))
		value->column = columns_of(job, &value->cells);
	return table_job_value(job, question, column);
}

static bool
take_key(table_job *job, const table_question *question, int number)
{
	const query *query = question->query;
	int			column = list_nth_int(query->key_columns, number);
	table_value *value = take_key_cells(job, question, column);
	group_key	key;

	return value && value->cells.form != CELLS_SHOWN && value->cells.form != CELLS_LATE &&
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

bool
table_job_take_dependent(table_job *job, const table_question *question, int column)
{
	table_value *value = take_key_cells(job, question, column);

	return value && (value->key >= 0 || add_key(job, value));
}

static bool
take_groups(table_job *job, const table_question *question)
{
	const query *query = question->query;

	return query->method != GROUP_COMBINE && query->method != GROUP_PARTIAL && !query->packed_types && table_job_take_keys(job, question) &&
		table_job_take_outputs(job, question);
}

/* ---- the whole */

/* Add all expressions to the program: conditions first. */
static bool
take_all(table_job *job, const table_question *question)
{
	if (!table_job_take_tests(job, question))
		return false;
	if (question->build)
		return table_job_take_build(job, question);
	return question->query->kind == QUERY_GROUP ? take_groups(job, question) : table_job_take_rows(job, question);
}

/* No more is added to the program: write it. */
static bool
write_program(table_job *job)
{
	mgpu_group_spec *spec = job->spec;

	expr_program_finish(job->program, 0);
	if (!expr_program_export(job->program, spec))
		return false;
	for (uint32 i = 0; i < spec->num_tests; i++)
		spec->tests[i].reg = expr_program_output_register(job->program, job->of_tests[i]);
	for (uint32 i = 0; i < spec->num_matches; i++)
		spec->matches[i].reg = expr_program_output_register(job->program, job->of_matches[i]);
	for (uint32 i = 0; i < spec->num_columns; i++)
		spec->columns[i].reg = expr_program_output_register(job->program, job->of_columns[i]);
	return true;
}

const char *
table_job_make(table_job *job, const table_question *question)
{
	mgpu_group_spec *spec = job->spec;
	int			num_values = list_length(question->scan.columns);
	bool		can_do;

	memset(spec, 0, sizeof(*spec));
	*job = (table_job) {.spec = spec,.program = expr_program_create(),.num_values = num_values};
	memset(job->tid_columns, -1, sizeof(job->tid_columns));
	job->values = palloc0(num_values * sizeof(table_value) + 1);
	for (int i = 0; i < num_values; i++)
		job->values[i].column = job->values[i].key = -1;
	can_do = BLCKSZ == MGPU_PAGE_BYTES && take_all(job, question) && table_job_finish_builds(job, question) &&
		write_program(job) && table_feed_write_locale(job) && describe_rows(job, RelationGetDescr(question->scan.relation));
	if (!can_do)
		return TABLE_JOB_NONE;
	job->number = table_job_number(job, question);
	return table_job_is_remembered(job->number) ? TABLE_JOB_BEYOND : NULL;
}

void
table_job_set_round(table_job *job, int round)
{
	mgpu_program_op *op = job->spec->ops + job->spec->tests[job->round_test].end_op;

	/* rows may have another such test, of a build that the job reads them for */
	while ((--op)->code != MGPU_RUN_IN_ROUND)
		Assert(op > job->spec->ops);
	op->width = round;
}

bool
table_job_fill(table_job *job, ExprContext *context)
{
	return expr_program_compute_constants(job->program, context) && expr_program_export_constants(job->program, job->spec);
}

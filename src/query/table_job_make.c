/*
 * table_job_make.c
 *		Table jobs: what a GPU can read and compute of a table.
 *
 * A job reads one table by a program (core/program.h) of its conditions and of what a node wants of each row, and
 * returns groups with aggregates, or rows in order.  The limits are those of core/group_spec.h.  Memory is none: rows stay in
 * the GPU's, and results that work_mem does not hold go to files.
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

/* Rows that are no table's have all of their inputs. */
static bool
describe_other_rows(table_job *job, const row_layout *rows)
{
	mgpu_group_spec *spec = job->spec;
	int			num_inputs = expr_program_num_inputs(job->program);

	if (num_inputs > MGPU_GROUP_MAX_INPUTS)
		return false;
	spec->takes_rows = true;
	spec->num_attributes = spec->num_inputs = num_inputs;
	for (int i = 0; i < num_inputs; i++)
	{
		AttrNumber	number = expr_program_attribute(job->program, i);
		int16		length;

		/* they have no place */
		if (number <= 0)
			return false;
		length = rows->lengths[number - 1];
		spec->inputs[i] = (mgpu_group_input) {.length = length,.offset = -1,.missing = -1};
		spec->attributes[i] = (mgpu_group_attribute) {length, 1, i};
	}
	return true;
}

static bool
describe_input_rows(table_job *job, const table_scan *scan)
{
	return scan->rows ? describe_other_rows(job, scan->rows) : describe_rows(job, RelationGetDescr(scan->relation));
}

static bool
take_groups(table_job *job, const table_question *question)
{
	const query *query = question->query;

	return query->method != GROUP_COMBINE && query->method != GROUP_PARTIAL && !query->packed_types && table_job_take_keys(job, question) &&
		table_job_take_dependents(job, question) && table_job_take_outputs(job, question);
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
	if (question->scan.rows)
		expr_program_take_numbers(job->program, question->scan.rows->numbers);
	table_job_find_scale(job, question);
	job->values = palloc0(num_values * sizeof(table_value) + 1);
	for (int i = 0; i < num_values; i++)
		job->values[i].column = job->values[i].key = -1;
	can_do = BLCKSZ == MGPU_PAGE_BYTES && take_all(job, question) && table_job_finish_builds(job, question) &&
		write_program(job) && table_feed_write_locale(job) && describe_input_rows(job, &question->scan);
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

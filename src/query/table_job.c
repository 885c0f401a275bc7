/*
 * table_job.c
 *		Table jobs: what a GPU can read and compute of a table.
 *
 * A job reads number columns of one table, keeps rows by conditions that compare a column with a constant, and returns
 * groups with aggregates, or rows in order.  The limits are those of core/group_spec.h.  Memory is none: rows stay in
 * the GPU's, and results that work_mem does not hold go to files.
 *
 * Plans carry the query, not the job: parameters, and with them percentiles, are known when the plan runs.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/rel.h"

#include "compat.h"
#include "array/element_type.h"
#include "batch/group_keys.h"
#include "query/aggregate_ways.h"
#include "query/reductions.h"
#include "query/table_job.h"
#include "scan/column_filter.h"

/* ---- columns and conditions */

/* Make room in the spec for an attribute. */
static mgpu_group_attribute *
attribute_of(mgpu_group_spec *spec, AttrNumber attribute)
{
	while (spec->num_attributes < (uint32) attribute)
		spec->attributes[spec->num_attributes++].column = -1;
	return &spec->attributes[attribute - 1];
}

/* The column that holds an attribute.  -1: there can be none. */
static int
take_attribute(mgpu_group_spec *spec, TupleDesc descriptor, AttrNumber number)
{
	mgpu_group_attribute *attribute;
	element_type type;

	if (number > MGPU_GROUP_MAX_ATTRIBUTES)
		return -1;
	attribute = attribute_of(spec, number);
	if (attribute->column >= 0)
		return attribute->column;
	element_type_fill(&type, TupleDescAttr(descriptor, number - 1)->atttypid);
	if (!type.typbyval || type.key_kind == 0 || type.typlen != (int16) type.key_width || spec->num_columns == MGPU_GROUP_MAX_COLUMNS)
		return -1;
	attribute->column = spec->num_columns;
	spec->columns[spec->num_columns] = (mgpu_group_column) {.kind = type.key_kind,.width = type.key_width};
	return spec->num_columns++;
}

static bool
take_columns(table_job *job, const table_scan *scan)
{
	ListCell   *cell;

	foreach(cell, scan->columns)
	{
		const Var  *var = lfirst(cell);
		int			column = -1;

		if (IsA(var, Var) && var->varattno > 0)
			column = take_attribute(job->spec, RelationGetDescr(scan->relation), var->varattno);
		if (column < 0)
			return false;
		job->columns = lappend_int(job->columns, column);
	}
	return true;
}

static bool
has_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || expression_tree_walker(node, has_parameter, context);
}

/*
 * Whether a constant may be computed before a row needs it: that may raise an error, or run a subquery.  Those without
 * parameters PostgreSQL computes when it plans, to estimate.
 */
static bool
is_harmless(Node *constant)
{
	return (IsA(constant, Param) && ((const Param *) constant)->paramkind == PARAM_EXTERN) || !has_parameter(constant, NULL);
}

static bool
take_condition(table_job *job, const table_scan *scan, Expr *condition)
{
	mgpu_group_spec *spec = job->spec;
	column_filter filter;
	int			column;

	if (spec->num_filters == MGPU_GROUP_MAX_FILTERS || !column_filter_fill(&filter, condition))
		return false;
	if (filter.expr && !is_harmless((Node *) filter.expr))
	{
		/* the first condition's constant is computed for the first row, and others' perhaps for none */
		if (spec->num_filters > 0)
			return false;
		job->needs_row = true;
	}
	column = take_attribute(spec, RelationGetDescr(scan->relation), filter.attribute);
	if (column < 0)
		return false;
	spec->filters[spec->num_filters++] = (mgpu_group_filter) {
		.column = column,
		.outcomes = filter.outcomes,
		.keeps_null = filter.keeps_null,
		.keeps_value = filter.keeps_value
	};
	return true;
}

/* A row may have types that are wider than a page, and NULL there. */
static bool
fits_in_page(TupleDesc descriptor, uint32 num_attributes)
{
	uint32		bytes = 0;

	for (uint32 i = 0; i < num_attributes && TupleDescAttr(descriptor, i)->attlen > 0; i++)
		bytes = att_align_nominal(bytes, TupleDescAttr(descriptor, i)->attalign) + TupleDescAttr(descriptor, i)->attlen;
	return bytes <= MGPU_PAGE_BYTES;
}

static bool
take_scan(table_job *job, const table_scan *scan)
{
	ListCell   *cell;

	if (BLCKSZ != MGPU_PAGE_BYTES || !take_columns(job, scan))
		return false;
	foreach(cell, scan->conditions)
		if (!take_condition(job, scan, lfirst(cell)))
			return false;
	return fits_in_page(RelationGetDescr(scan->relation), job->spec->num_attributes);
}

static Oid
type_of(const table_question *question, int column)
{
	return exprType(list_nth(question->scan.columns, column));
}

static bool
take_keys(table_job *job, const table_question *question)
{
	const query *query = question->query;
	mgpu_group_spec *spec = job->spec;

	if (list_length(query->key_columns) > MGPU_GROUP_MAX_KEYS)
		return false;
	for (int i = 0; i < list_length(query->key_columns); i++)
	{
		int			number = list_nth_int(query->key_columns, i);
		group_key	key;

		if (!group_key_fill(&key, type_of(question, number), list_nth_oid(query->key_equalities, i), list_nth_oid(query->key_collations, i)) ||
			(key.form != GROUP_KEY_BITS && key.form != GROUP_KEY_FLOAT))
			return false;
		spec->keys[spec->num_keys] = list_nth_int(job->columns, number);
		spec->columns[spec->keys[spec->num_keys++]].is_shown = true;
	}
	return true;
}

/* ---- groups */

/* column: of the argument; -1: the rows of any group are counted. */
static void
take_reduction(table_job *job, const Aggref *aggref, int column)
{
	static const mgpu_reduction reductions[] = {
		[REDUCED_COUNT] = MGPU_REDUCE_COUNT,
		[REDUCED_INTEGER] = MGPU_REDUCE_INTEGER,
		[REDUCED_REAL] = MGPU_REDUCE_REAL,
		[REDUCED_SPREAD] = MGPU_REDUCE_SPREAD
	};
	mgpu_reduction reduction = reductions[known_reduction_of(aggref->aggfnoid)->kind];
	mgpu_group_column *of;

	if (column < 0)
		return;
	of = &job->spec->columns[list_nth_int(job->columns, column)];
	of->reduction = Max(of->reduction, (uint32) reduction);
	of->is_shown |= reduction >= MGPU_REDUCE_REAL;
}

/* The number of a sort, or -1: there are too many.  The same values are sorted once. */
static int
take_sort(mgpu_group_spec *spec, uint32 column, bool descending, uint32 returns)
{
	uint32		number = 0;

	while (number < spec->num_sorts &&
		   (spec->sorts[number].column != column || spec->sorts[number].descending != (uint32) descending))
		number++;
	if (number == MGPU_GROUP_MAX_SORTS)
		return -1;
	spec->num_sorts = Max(spec->num_sorts, number + 1);
	spec->sorts[number].column = column;
	spec->sorts[number].descending = descending;
	spec->sorts[number].returns |= returns;
	spec->columns[column].is_shown = true;
	return number;
}

/* The fraction of a percentile.  False: it is NULL.  What is not known yet is expected to be valid. */
static bool
find_fraction(const table_question *question, int output, const Expr *expr, double *fraction)
{
	const Const *constant = (const Const *) expr;

	*fraction = 0;
	if (question->fraction)
		return question->fraction(question->context, output, fraction);
	if (!IsA(constant, Const))
		return true;
	if (!constant->constisnull)
		*fraction = DatumGetFloat8(constant->constvalue);
	return !constant->constisnull;
}

/* Whether an output is a percentile with one fraction that is valid; others are computed by the CPU, of all values. */
static bool
is_one_percentile(const table_question *question, int output, const group_plan *plan, double *fraction)
{
	return plan->fraction && exprType((const Node *) plan->fraction) == FLOAT8OID &&
		find_fraction(question, output, plan->fraction, fraction) && *fraction >= 0 && *fraction <= 1;
}

static bool
take_sorted(table_job *job, const table_question *question, int output, const group_plan *plan, int column)
{
	mgpu_group_percentile percentile = {.continuous = plan->result == SORTED_PERCENTILE_CONT};
	bool		picks = is_one_percentile(question, output, plan, &percentile.fraction);
	int			number = take_sort(job->spec, list_nth_int(job->columns, column), plan->order.descending,
								   plan->result == SORTED_COUNT_DISTINCT ? MGPU_SORT_DISTINCT : picks ? 0 : MGPU_SORT_VALUES);
	mgpu_group_sort *sort = number < 0 ? NULL : &job->spec->sorts[number];

	if (sort == NULL || (picks && sort->num_percentiles == MGPU_GROUP_MAX_PERCENTILES))
		return false;
	job->sorts = lappend_int(job->sorts, number);
	job->percentiles = lappend_int(job->percentiles, picks ? (int) sort->num_percentiles : -1);
	if (picks)
		sort->percentiles[sort->num_percentiles++] = percentile;
	return true;
}

/* Other columns of a group's first row are not asked for. */
static bool
take_output(table_job *job, const table_question *question, int output)
{
	const Aggref *aggref = list_nth(question->outputs, output);
	List	   *columns = list_nth(question->query->uses, output);
	const char *why_not;
	group_plan	plan;

	if (!IsA(aggref, Aggref) || linitial_int(columns) >= 0)
		return false;
	plan = group_plan_of(aggref, &why_not);
	if (plan.way == GROUP_WAY_SORT)
		return take_sorted(job, question, output, &plan, lsecond_int(columns));
	if (plan.way != GROUP_WAY_REDUCE)
		return false;
	take_reduction(job, aggref, list_length(columns) > 1 ? lsecond_int(columns) : -1);
	job->sorts = lappend_int(job->sorts, -1);
	job->percentiles = lappend_int(job->percentiles, -1);
	return true;
}

/* Floats are added in their order: those of all rows, one after another, faster by the CPU. */
static bool
adds_floats(const mgpu_group_spec *spec)
{
	for (uint32 i = 0; i < spec->num_columns; i++)
		if (spec->columns[i].reduction >= MGPU_REDUCE_REAL)
			return true;
	return false;
}

static bool
take_groups(table_job *job, const table_question *question)
{
	const query *query = question->query;

	if (query->method == GROUP_COMBINE || query->method == GROUP_PARTIAL || query->packed_types || !take_keys(job, question))
		return false;
	for (int i = list_length(query->key_columns); i < list_length(question->outputs); i++)
		if (!take_output(job, question, i))
			return false;
	return job->spec->num_keys > 0 || !adds_floats(job->spec);
}

/* ---- rows */

static bool
take_orders(table_job *job, const table_question *question)
{
	const query *query = question->query;
	mgpu_group_spec *spec = job->spec;

	if (list_length(query->order_columns) > MGPU_GROUP_MAX_ORDERS)
		return false;
	for (int i = 0; i < list_length(query->order_columns); i++)
	{
		int			number = list_nth_int(query->order_columns, i);
		Oid			operator = list_nth_oid(query->order_operators, i);
		element_type type;

		element_type_fill(&type, type_of(question, number));
		if (operator != type.lt_operator && operator != type.gt_operator)
			return false;
		spec->orders[spec->num_orders++] = (mgpu_group_order) {
			.column = list_nth_int(job->columns, number),
			.descending = operator == type.gt_operator,
			.nulls_first = list_nth_int(query->order_nulls_first, i)
		};
	}
	return true;
}

static bool
take_rows(table_job *job, const table_question *question)
{
	static const mgpu_group_limit rules[] = {
		[TOP_ROWS] = MGPU_LIMIT_ROWS,[TOP_RANKS] = MGPU_LIMIT_RANKS,[TOP_DENSE_RANKS] = MGPU_LIMIT_DENSE_RANKS
	};
	const query *query = question->query;
	mgpu_group_spec *spec = job->spec;
	ListCell   *cell;

	spec->limit_rule = rules[query->rule];
	spec->limit = query->count > 0 ? (uint64) query->count : UINT64_MAX;
	if (spec->limit_rule == MGPU_LIMIT_DENSE_RANKS && spec->limit > MGPU_GROUP_MAX_DENSE_RANKS)
		return false;
	foreach(cell, job->columns)
		spec->columns[lfirst_int(cell)].is_returned = spec->columns[lfirst_int(cell)].is_shown = true;
	return take_keys(job, question) && take_orders(job, question);
}

/* ---- the whole */

const char *
table_job_make(table_job *job, const table_question *question)
{
	mgpu_group_spec *spec = job->spec;
	bool		can_do;

	memset(spec, 0, sizeof(*spec));
	*job = (table_job) {.spec = spec};
	can_do = take_scan(job, &question->scan) &&
		(question->query->kind == QUERY_GROUP ? take_groups(job, question) : take_rows(job, question));
	return can_do ? NULL : TABLE_JOB_NONE;
}

/*
 * table_records.c
 *		Values of several expressions as one, whose columns are a head's (core/group_spec.h): rows that are counted once, and first values in an order.
 *
 * A head's columns are all NULL or none.  So the first says which fields are NULL, and those have zeros.  Such columns serve nothing else: a
 * field that is counted by itself has its own, since what a head is asked for concerns all of its value.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "batch/group_keys.h"
#include "query/aggregate_ways.h"
#include "query/table_job.h"

/* ---- columns */

/* Columns to be: outputs of the program. */
typedef struct record_columns
{
	int			num_columns;
	int			outputs[MGPU_GROUP_MAX_CELLS];
	mgpu_group_column columns[MGPU_GROUP_MAX_CELLS];
} record_columns;

/* false: there are too many. */
static bool
add_column(record_columns *record, int output, uint32 kind, uint32 width)
{
	if (output < 0 || record->num_columns == MGPU_GROUP_MAX_CELLS)
		return false;
	record->outputs[record->num_columns] = output;
	record->columns[record->num_columns++] = (mgpu_group_column) {.kind = kind,.width = width};
	return true;
}

static bool
add_cells(record_columns *record, const value_cells *cells)
{
	for (int i = 0; i < cells->num_cells; i++)
		if (!add_column(record, cells->first + i, cells->kind, cells->width))
			return false;
	if (cells->form == CELLS_LONG)
		record->columns[record->num_columns - 1].is_named = true;
	return true;
}

/* Whether a record has these columns, from a column of the spec on. */
static bool
is_at(const table_job *job, const record_columns *record, uint32 first)
{
	const mgpu_group_spec *spec = job->spec;

	if ((job->of_records >> first & 1) == 0 || spec->columns[first].num_cells != record->num_columns)
		return false;
	for (int i = 0; i < record->num_columns; i++)
		if (expr_program_output_register(job->program, job->of_columns[first + i]) != expr_program_output_register(job->program, record->outputs[i]) ||
			spec->columns[first + i].kind != record->columns[i].kind)
			return false;
	return true;
}

/* The spec's first column of a record.  -1: there are too many. */
static int
take_columns(table_job *job, const record_columns *record)
{
	mgpu_group_spec *spec = job->spec;
	uint32		first = 0;

	while (first < spec->num_columns && !is_at(job, record, first))
		first++;
	if (first < spec->num_columns)
		return first;
	if (first + record->num_columns > MGPU_GROUP_MAX_COLUMNS)
		return -1;
	for (int i = 0; i < record->num_columns; i++)
	{
		job->of_records |= UINT32_C(1) << spec->num_columns;
		job->of_columns[spec->num_columns] = record->outputs[i];
		spec->columns[spec->num_columns++] = record->columns[i];
	}
	spec->columns[first].num_cells = (uint8) record->num_columns;
	return first;
}

/* ---- rows */

/* The value of choices, and their conditions. */
static Expr *
take_apart(Expr *expr, List **conditions)
{
	while (IsA(expr, CaseExpr))
	{
		const CaseWhen *when = linitial(((CaseExpr *) expr)->args);

		*conditions = lcons(when->expr, *conditions);
		expr = when->result;
	}
	return expr;
}

static Expr *
where_true(List *conditions, Expr *value)
{
	ListCell   *cell;

	foreach(cell, conditions)
		value = table_choice(lfirst(cell), value);
	return value;
}

static Expr *
make_test(Expr *value, NullTestType type)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = value;
	test->nulltesttype = type;
	test->location = -1;
	return (Expr *) test;
}

/* Whether record_eq finds a field's values equal where cells are. */
static bool
are_equal_by_cells(const value_cells *cells, const Expr *field)
{
	Oid			type_id = exprType((const Node *) field);
	Oid			collation = exprCollation((const Node *) field);
	const TypeCacheEntry *type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC);
	group_key	key;

	/* without a collation it raises an error */
	if (!OidIsValid(type->cmp_proc) || (OidIsValid(get_typcollation(type_id)) && !OidIsValid(collation)))
		return false;
	return cells->form == CELLS_SHOWN || (group_key_fill(&key, type_id, type->eq_opr, collation) && key.form != GROUP_KEY_CALLS);
}

/* The cells of a field, which are there where it is NULL. */
static bool
take_field(table_job *job, const table_question *question, Expr *field, Expr *is_null, double num_values, value_cells *cells)
{
	if (!table_job_add_names(job, question, field, num_values, cells) || !are_equal_by_cells(cells, field))
		return false;
	/* digits that are shown make no difference */
	if (cells->form == CELLS_SHOWN)
		cells->num_cells = 1;
	return expr_program_fill_cells(job->program, is_null, cells);
}

int
table_job_row(table_job *job, const table_question *question, Expr *expr, double num_values, value_cells *cells)
{
	List	   *conditions = NIL;
	const RowExpr *row = (const RowExpr *) take_apart(expr, &conditions);
	record_columns record = {.num_columns = 1};
	List	   *flags = NIL;
	ListCell   *cell;

	foreach(cell, row->args)
	{
		Expr	   *field = where_true(conditions, lfirst(cell));
		Expr	   *is_null = where_true(conditions, make_test(lfirst(cell), IS_NULL));

		if (!take_field(job, question, field, is_null, num_values, cells) || !add_cells(&record, cells))
			return -1;
		flags = lappend(flags, is_null);
	}
	if (flags == NIL)
		return -1;
	record.outputs[0] = expr_program_add_flags(job->program, flags);
	record.columns[0] = (mgpu_group_column) {.kind = MGPU_KEY_SIGNED,.width = sizeof(int64)};
	*cells = (value_cells) {.form = CELLS_RECORD,.num_cells = record.num_columns};
	return record.outputs[0] < 0 ? -1 : take_columns(job, &record);
}

bool
table_job_is_row(const Expr *expr)
{
	List	   *conditions = NIL;

	return exprType((const Node *) expr) == RECORDOID && IsA(take_apart((Expr *) expr, &conditions), RowExpr);
}

/* ---- first values */

/* A cell that says whether a column of the aggregate's rows is NULL, or is not, then its cells. */
static bool
add_part(table_job *job, record_columns *record, Expr *value, List *conditions, NullTestType said, value_cells *cells)
{
	Expr	   *is_null = where_true(conditions, make_test(value, IS_NULL));
	Expr	   *flag = where_true(conditions, make_test(value, said));

	return add_column(record, expr_program_add(job->program, flag), MGPU_KEY_UNSIGNED, sizeof(bool)) &&
		expr_program_fill_cells(job->program, is_null, cells) && add_cells(record, cells);
}

/* The expression of a row's column, where the aggregate takes the row. */
static Expr *
argument_of(const table_question *question, const List *columns, int n, List **conditions)
{
	int			filter = linitial_int(columns);

	*conditions = filter < 0 ? NIL : list_make1(list_nth(question->scan.columns, filter));
	return list_nth(question->scan.columns, list_nth_int(columns, n));
}

/* One key of the order. */
static bool
add_order(table_job *job, const table_question *question, const List *columns, const Aggref *aggref, SortGroupClause *clause, record_columns *record)
{
	sort_order	order = group_order_of_clause(aggref, clause);
	List	   *conditions;
	Expr	   *value = argument_of(question, columns, get_sortgroupclause_tle(clause, aggref->args)->resno, &conditions);
	Expr	   *counted = where_true(conditions, value);
	value_cells cells;

	if (!expr_program_add_cells(job->program, counted, table_job_words(question, counted), &cells))
		return false;
	cells.num_cells = table_ordering_cells(&cells, exprType((Node *) value), exprCollation((Node *) value));
	return cells.num_cells > 0 && add_part(job, record, value, conditions, order.descending == order.nulls_first ? IS_NULL : IS_NOT_NULL, &cells);
}

/* All keys ascend, or all descend. */
static bool
add_orders(table_job *job, const table_question *question, const List *columns, const Aggref *aggref, record_columns *record, bool *descending)
{
	ListCell   *cell;

	*descending = group_order_of_clause(aggref, linitial(aggref->aggorder)).descending;
	foreach(cell, aggref->aggorder)
		if (group_order_of_clause(aggref, lfirst(cell)).descending != *descending || !add_order(job, question, columns, aggref, lfirst(cell), record))
			return false;
	return true;
}

/*
 * Of rows that are equal in the order, the first of the table, so that several such values are of one row.  Joined rows, and those of windows, have no place.
 */
static bool
add_place(table_job *job, const table_question *question, const List *columns, bool is_greatest, record_columns *record)
{
	List	   *conditions;
	Expr	   *tid = expr_tid(1, 0);

	if (question->scan.joins || question->scan.rows)
		return true;
	if (is_greatest)
		tid = (Expr *) makeFuncExpr(F_INT8UM, INT8OID, list_make1(tid), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	(void) argument_of(question, columns, 1, &conditions);
	return add_column(record, expr_program_add(job->program, where_true(conditions, tid)), MGPU_KEY_SIGNED, sizeof(int64));
}

bool
table_first_take(table_job *job, const table_question *question, int number, table_output *output)
{
	const List *columns = list_nth(question->query->uses, number);
	record_columns record = {0};
	List	   *conditions;
	Expr	   *value = argument_of(question, columns, 1, &conditions);
	Expr	   *counted = where_true(conditions, value);

	if (!add_orders(job, question, columns, list_nth(question->outputs, number), &record, &output->is_greatest) ||
		!add_place(job, question, columns, output->is_greatest, &record))
		return false;
	output->behind = record.num_columns;
	if (!expr_program_add_cells(job->program, counted, table_job_words(question, counted), &output->cells) ||
		!add_part(job, &record, value, conditions, IS_NULL, &output->cells))
		return false;
	output->column = take_columns(job, &record);
	if (output->column < 0)
		return false;
	job->spec->columns[output->column].reduction = MGPU_REDUCE_EXTREMES;
	for (int i = output->behind; i < record.num_columns; i++)
		job->spec->columns[output->column + i].is_shown = true;
	return true;
}

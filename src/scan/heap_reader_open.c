/*
 * heap_reader_open.c
 *		Makes a heap reader, if it can read what a scan returns.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "expr/functions.h"
#include "scan/heap_reader_state.h"

/* Whether an expression has a part that needs more than the values of a row. */
static bool
needs_more(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno <= 0;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, CurrentOfExpr))
		return true;
	return expression_tree_walker(node, needs_more, context);
}

bool
heap_reader_takes(List *exprs, List *conditions)
{
	return !needs_more((Node *) exprs, NULL) && !needs_more((Node *) conditions, NULL);
}

/* Whether a condition compares a column of numbers or times with a constant.  Most do, and the planner asks often. */
static bool
is_simple(const OpExpr *condition)
{
	const known_function *known = IsA(condition, OpExpr) && list_length(condition->args) == 2 ? known_function_of(get_opcode(condition->opno)) : NULL;

	return known && known->form == FORM_PLAIN && (known->code == MGPU_RUN_COMPARE_INTEGER || known->code == MGPU_RUN_COMPARE_REAL) &&
		IsA(linitial(condition->args), Var) && IsA(lsecond(condition->args), Const);
}

bool
heap_reader_computes(List *conditions)
{
	expr_program *program = NULL;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		if (is_simple(lfirst(cell)))
			continue;
		program = program ? program : expr_program_create();
		if (expr_program_add(program, lfirst(cell)) < 0)
			return false;
	}
	return true;
}

/* Columns are computed once all conditions of a page are met: volatile functions in both could tell. */
static bool
are_both_volatile(List *exprs, List *conditions)
{
	return contain_volatile_functions((Node *) exprs) && contain_volatile_functions((Node *) conditions);
}

bool
heap_reader_reads(Relation relation)
{
	/* SERIALIZABLE wants each row checked for conflicts */
	return relation->rd_tableam == GetHeapamTableAmRoutine() && !RelationUsesLocalBuffers(relation) && !IsolationIsSerializable();
}

/* Conditions of a scan's rows.  A Bitmap Heap Scan has those that its index meets apart. */
static List *
conditions_of(const Plan *plan)
{
	if (!IsA(plan, BitmapHeapScan))
		return plan->qual;
	return list_concat_copy(((const BitmapHeapScan *) plan)->bitmapqualorig, plan->qual);
}

/* The column that a condition compares with what no row has; 0: it is another. */
static AttrNumber
compared_column(const Node *condition)
{
	const Node *column = IsA(condition, OpExpr) && list_length(((const OpExpr *) condition)->args) == 2 ? get_leftop((const Expr *) condition) : NULL;

	if (column == NULL || !IsA(column, Var) || contain_var_clause(get_rightop((const Expr *) condition)))
		return 0;
	return ((const Var *) column)->varattno;
}

static int
by_columns(const ListCell *a, const ListCell *b)
{
	AttrNumber	first = compared_column(lfirst(a));
	AttrNumber	second = compared_column(lfirst(b));
	Oid			operators[2] = {((const OpExpr *) lfirst(a))->opno, ((const OpExpr *) lfirst(b))->opno};

	return first != second ? (first > second) - (first < second) : (operators[0] > operators[1]) - (operators[0] < operators[1]);
}

List *
table_scan_common_order(List *conditions)
{
	List	   *compared = NIL;
	List	   *others = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		if (compared_column(lfirst(cell)) > 0)
			compared = lappend(compared, lfirst(cell));
		else
			others = lappend(others, lfirst(cell));
	}
	list_sort(compared, by_columns);
	return list_concat(compared, others);
}

/* Workers share a Bitmap Heap Scan's bitmap, which no reader knows. */
static bool
can_read(const ScanState *scan, List *exprs, List *conditions)
{
	return !(IsA(scan, BitmapHeapScanState) && scan->ps.plan->parallel_aware) && heap_reader_reads(scan->ss_currentRelation) && scan->ps.state->es_epq_active == NULL &&
		IsMVCCSnapshot(scan->ps.state->es_snapshot) && heap_reader_takes(exprs, conditions) &&
		!are_both_volatile(exprs, conditions);
}

/* Ask for the values of all attributes in an expression. */
static bool
want_all(Node *node, page_values *values)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		(void) page_values_want(values, ((Var *) node)->varattno, true);
	return expression_tree_walker(node, want_all, values);
}

/* Add a column; what no program computes is added to targets. */
static void
add_column(heap_reader *reader, Expr *expr, bool late, List **targets)
{
	read_column *col = &reader->columns[reader->num_columns++];

	col->output = -1;
	if (IsA(expr, Var))
	{
		col->is_late = late;
		col->list = page_values_want(reader->values, ((Var *) expr)->varattno, !late);
		return;
	}
	(void) want_all((Node *) expr, reader->values);
	col->list = -1;
	col->output = expr_program_add(reader->program.program, expr);
	if (col->output >= 0)
	{
		col->state = ExecInitExpr(expr, NULL);
		reader->is_programmed = true;
		return;
	}
	reader->by_row = lappend(reader->by_row, expr);
	reader->computed = lappend_int(reader->computed, reader->num_columns - 1);
	*targets = lappend(*targets, makeTargetEntry(expr, list_length(reader->computed), NULL, false));
}

/* Without a parent, it takes a slot of any kind. */
static ProjectionInfo *
make_projection(const ScanState *scan, List *targets)
{
	TupleTableSlot *slot = ExecInitExtraTupleSlot(scan->ps.state, ExecTypeFromTL(targets), &TTSOpsVirtual);

	return ExecBuildProjectionInfo(targets, scan->ps.ps_ExprContext, slot, NULL, NULL);
}

/* After the last expression of a program: find the lists of its inputs. */
static void
finish_program(heap_reader *reader, page_program *program)
{
	int			num_inputs = expr_program_num_inputs(program->program);

	expr_program_finish(program->program, MaxHeapTuplesPerPage);
	program->lists = palloc(num_inputs * sizeof(int) + 1);
	program->inputs = palloc(num_inputs * sizeof(mgpu_program_input) + 1);
	for (int i = 0; i < num_inputs; i++)
		program->lists[i] = page_values_want(reader->values, expr_program_attribute(program->program, i), true);
}

/* The first of the conditions that are no filters become programs, each one of its own, so that it runs for rows that are left. */
static void
add_tests(heap_reader *reader, List *conditions)
{
	List	   *rest = NIL;
	ListCell   *cell;

	reader->tests = palloc(list_length(conditions) * sizeof(page_program) + 1);
	foreach(cell, conditions)
	{
		page_program *test = &reader->tests[reader->num_tests];

		test->program = expr_program_create();
		if (rest == NIL && expr_program_add(test->program, lfirst(cell)) >= 0)
		{
			finish_program(reader, test);
			reader->num_tests++;
		}
		else
			rest = lappend(rest, lfirst(cell));
	}
	reader->by_row = list_concat(reader->by_row, rest);
	reader->condition = ExecInitQual(conditions, NULL);
	reader->rest = ExecInitQual(rest, NULL);
}

/* Conditions are met in the order of the plan, since one may protect the next from an error. */
static void
add_conditions(heap_reader *reader, List *conditions)
{
	List	   *others = NIL;
	ListCell   *cell;

	reader->filters = palloc(list_length(conditions) * sizeof(column_filter) + 1);
	foreach(cell, conditions)
	{
		column_filter *filter = &reader->filters[reader->num_filters];

		if (others == NIL && column_filter_fill(filter, lfirst(cell)))
		{
			column_filter_init(filter);
			filter->list = page_values_want(reader->values, filter->attribute, true);
			reader->num_filters++;
		}
		else
			others = lappend(others, lfirst(cell));
	}
	(void) want_all((Node *) others, reader->values);
	add_tests(reader, others);
}

heap_reader *
heap_reader_open(ScanState *scan, List *exprs, const Bitmapset *late_columns, late_pages *late)
{
	List	   *conditions = conditions_of(scan->ps.plan);
	heap_reader *reader;
	List	   *targets = NIL;
	ListCell   *cell;

	if (!can_read(scan, exprs, conditions))
		return NULL;
	reader = palloc0(sizeof(heap_reader));
	reader->scan = scan;
	reader->conditions = conditions;
	reader->exprs = exprs;
	reader->late = bms_is_empty(late_columns) ? NULL : late;
	reader->values = page_values_create(RelationGetDescr(scan->ss_currentRelation));
	reader->columns = palloc0(list_length(exprs) * sizeof(read_column) + 1);
	reader->program.program = expr_program_create();
	foreach(cell, exprs)
		add_column(reader, lfirst(cell), bms_is_member(foreach_current_index(cell), late_columns), &targets);
	if (reader->is_programmed)
		finish_program(reader, &reader->program);
	else
		reader->program.program = NULL;
	if (targets)
		reader->projection = make_projection(scan, targets);
	add_conditions(reader, conditions);
	page_values_plan(reader->values);
	heap_reader_keep_all(reader, lengthof(reader->kept));
	if (reader->is_programmed || reader->projection || reader->condition)
		reader->slot = ExecInitExtraTupleSlot(scan->ps.state, reader->values->descriptor, &TTSOpsVirtual);
	return reader;
}

table_scan
heap_reader_scan(const heap_reader *reader)
{
	return (table_scan) {
		.relation = reader->scan->ss_currentRelation,
		.columns = reader->exprs,
		.conditions = reader->conditions
	};
}

ExprContext *
heap_reader_context(const heap_reader *reader)
{
	return reader->scan->ps.ps_ExprContext;
}

double
heap_reader_expected_rows(const heap_reader *reader)
{
	Relation	relation = reader->scan->ss_currentRelation;
	BlockNumber num_pages;
	double		num_rows;
	double		visible_part;

	estimate_rel_size(relation, NULL, &num_pages, &num_rows, &visible_part);
	/* rows that the index names */
	if (heap_reader_is_found(reader))
		num_rows = Min(num_rows, outerPlan(reader->scan->ps.plan)->plan_rows);
	return num_rows;
}

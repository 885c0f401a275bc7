/*
 * heap_expressions.c
 *		Conditions and columns of a heap reader that are expressions.
 *
 * They run as programs, all rows of a page at a time (expr_program.h).  PostgreSQL's executor has those that cannot, and the rows that
 * are faults in a program: on a slot that is filled from the page.  It takes ten times as long.
 *
 * A row whose condition is a fault meets all conditions anew there, in the order of rows and of conditions, so that the error that
 * comes first is PostgreSQL's.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "scan/heap_reader_state.h"

/* So many values tell whether a program is worth its time: not if half of them are faults. */
#define VALUES_TO_TELL 1000

static inline Datum
stored_datum(Form_pg_attribute attribute, const char *value)
{
	return value ? fetch_att(value, attribute->attbyval, attribute->attlen) : (Datum) 0;
}

/* Fill the slot that expressions see with the values of a row. */
static void
fill_slot(heap_reader *reader, uint32 row)
{
	TupleTableSlot *slot = reader->slot;
	ExprContext *context = reader->scan->ps.ps_ExprContext;

	ExecClearTuple(slot);
	for (int i = 0; i < reader->values->num_lists; i++)
	{
		const value_list *list;
		int			number = reader->values->lists[i]->attribute - 1;

		if (!reader->values->lists[i]->of_all_rows)
			continue;
		list = page_values_list(reader->values, i);
		slot->tts_values[number] = stored_datum(TupleDescAttr(reader->values->descriptor, number), list->values[row]);
		slot->tts_isnull[number] = list->values[row] == NULL;
	}
	ExecStoreVirtualTuple(slot);
	ResetExprContext(context);
	context->ecxt_scantuple = slot;
}

/* Run a program for kept rows of the page.  false: all rows are faults. */
static bool
run_for_kept(heap_reader *reader, const page_program *program, uint32 num_rows)
{
	for (int i = 0; i < expr_program_num_inputs(program->program); i++)
		program->inputs[i].values = page_values_list(reader->values, program->lists[i])->values;
	return expr_program_run(program->program, reader->scan->ps.ps_ExprContext, program->inputs, reader->kept, num_rows);
}

/* ---- conditions */

/* Keep the rows that a test keeps, or does not decide. */
static uint32
apply_test(heap_reader *reader, const page_program *test, uint32 num_rows)
{
	bool		ran = run_for_kept(reader, test, num_rows);
	const uint8 *states = expr_program_states(test->program, 0);
	const int64 *truths = expr_program_truths(test->program, 0);
	uint32		num_kept = 0;

	for (uint32 i = 0; i < num_rows; i++)
	{
		uint16		row = reader->kept[i];

		if (!ran || states[i] == MGPU_IS_FAULT)
			reader->undecided[row] = true;
		reader->kept[num_kept] = row;
		num_kept += reader->undecided[row] || (states[i] == MGPU_IS_VALUE && truths[i]);
	}
	return num_kept;
}

uint32
heap_reader_test(heap_reader *reader, uint32 num_rows)
{
	ExprContext *context = reader->scan->ps.ps_ExprContext;
	uint32		num_kept = 0;

	memset(reader->undecided, 0, sizeof(reader->undecided));
	for (int i = 0; i < reader->num_tests && num_rows > 0; i++)
		num_rows = apply_test(reader, &reader->tests[i], num_rows);
	for (uint32 i = 0; i < num_rows; i++)
	{
		uint16		row = reader->kept[i];
		ExprState  *left = reader->undecided[row] ? reader->condition : reader->rest;

		reader->kept[num_kept] = row;
		if (left)
			fill_slot(reader, row);
		num_kept += left == NULL || ExecQual(left, context);
	}
	return num_kept;
}

/* ---- columns */

/* Compute a column by the executor: of all rows, or of those that are faults. */
static void
compute_by_row(heap_reader *reader, const read_column *from, const uint8 *states, chunk *rows, uint64 first, uint32 num_rows)
{
	column	   *col = &rows->columns[from - reader->columns];
	Datum		value;
	bool		is_null;

	for (uint32 i = 0; i < num_rows; i++)
	{
		if (states && states[i] != MGPU_IS_FAULT)
			continue;
		fill_slot(reader, reader->kept[i]);
		value = ExecEvalExprSwitchContext(from->state, reader->scan->ps.ps_ExprContext, &is_null);
		chunk_put(rows, col, first + i, value, is_null);
	}
}

static void
run_program(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows)
{
	expr_program *program = reader->program.program;
	bool		ran = reader->is_programmed && run_for_kept(reader, &reader->program, num_rows);

	for (int i = 0; i < reader->num_columns; i++)
	{
		const read_column *from = &reader->columns[i];
		uint32		num_faults = num_rows;

		if (from->output < 0)
			continue;
		if (ran)
			num_faults = expr_program_store(program, from->output, rows, &rows->columns[i], first, num_rows);
		if (num_faults > 0)
			compute_by_row(reader, from, ran ? expr_program_states(program, from->output) : NULL, rows, first, num_rows);
		reader->num_faults += num_faults;
		reader->num_computed += num_rows;
	}
	if (reader->num_computed > VALUES_TO_TELL && reader->num_faults > reader->num_computed / 2)
		reader->is_programmed = false;
}

/* One projection a row: an expression of its own for each column takes half as long again. */
static void
project(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows)
{
	const ListCell *numbers = list_head(reader->computed);
	int			num_computed = list_length(reader->computed);

	for (uint32 i = 0; i < num_rows; i++)
	{
		const TupleTableSlot *slot;

		fill_slot(reader, reader->kept[i]);
		slot = ExecProject(reader->projection);
		for (int j = 0; j < num_computed; j++)
			chunk_put(rows, &rows->columns[lfirst_int(&numbers[j])], first + i, slot->tts_values[j], slot->tts_isnull[j]);
	}
}

void
heap_reader_compute(heap_reader *reader, chunk *rows, uint64 first, uint32 num_rows)
{
	if (num_rows == 0)
		return;
	if (reader->program.program)
		run_program(reader, rows, first, num_rows);
	if (reader->projection)
		project(reader, rows, first, num_rows);
}

/* ---- EXPLAIN */

void
heap_reader_explain(const heap_reader *reader, List *ancestors, struct ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, reader->scan->ps.plan, ancestors);
	List	   *programs = reader->program.program ? list_make1(reader->program.program) : NIL;
	List	   *by_row = NIL;
	ListCell   *cell;

	for (int i = reader->num_tests - 1; i >= 0; i--)
		programs = lcons(reader->tests[i].program, programs);
	expr_programs_explain(programs, es);
	foreach(cell, reader->by_row)
		by_row = lappend(by_row, deparse_expression(lfirst(cell), context, false, false));
	if (by_row)
		ExplainPropertyList("Row by Row", by_row, es);
}

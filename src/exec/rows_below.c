/*
 * rows_below.c
 *		The rows of a node's child that come from MgpuWindow, as columns for the node's job.
 *
 * Between the two there may be a subquery's scan, a Result and an MgpuScan, whose expressions and conditions become those of the job.  None of the nodes is executed:
 * a job sorts the rows of MgpuSort, windows are computed over its answer (window_cells.h), and the node's job takes batches of them.  If any of that cannot be,
 * rows come one by one, from the first on.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "exec/rows_below.h"
#include "exec/sort.h"
#include "query/window_columns.h"

/* ---- what lies between */

/* What a node's own input is called in its expressions, and what it becomes. */
typedef struct renaming
{
	Index		varno;
	int			renamed;
} renaming;

static Node *
rename_input(Node *node, void *context)
{
	const renaming *of = context;
	Var		   *var = (Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, rename_input, context);
	var = copyObject(var);
	if ((Index) var->varno == of->varno)
		var->varno = of->renamed;
	return (Node *) var;
}

/* Expressions of a node's target as those of its input, and its conditions with them. */
static void
go_below(rows_below *below, Plan *plan, renaming input)
{
	below->columns = (List *) rename_input(row_source_look_below((Node *) below->columns, plan), &input);
	below->conditions = (List *) rename_input(row_source_look_below((Node *) below->conditions, plan), &input);
	below->conditions = list_concat((List *) rename_input((Node *) plan->qual, &input), below->conditions);
}

static bool
is_of(PlanState *node, const node_operator *operator)
{
	return node_of(node) && node_of(node)->operator == operator;
}

/* The node whose rows one hands on that is looked through, and what these are called in it; NULL: it is none. */
static PlanState *
input_of(PlanState *node, Index *varno)
{
	/* what it returns are its child's columns */
	if (is_of(node, &scan_operator))
	{
		*varno = INDEX_VAR;
		return node_of(node)->child;
	}
	if (IsA(node, SubqueryScanState))
	{
		*varno = ((const Scan *) node->plan)->scanrelid;
		return ((SubqueryScanState *) node)->subplan;
	}
	*varno = OUTER_VAR;
	return IsA(node, ResultState) && ((const ResultState *) node)->resconstantqual == NULL ? outerPlanState(node) : NULL;
}

/* Whether rows come from windows, and nothing is computed for each row that nobody may ask for. */
static bool
has_windows(PlanState *node)
{
	Index		varno;

	while (node && !is_of(node, &window_operator) && !contain_volatile_functions((Node *) node->plan->targetlist))
		node = input_of(node, &varno);
	return node && is_of(node, &window_operator) && !contain_volatile_functions((Node *) node->plan->targetlist);
}

rows_below *
rows_below_open(PlanState *child)
{
	PlanState  *node = child;
	rows_below *below;

	if (!has_windows(child))
		return NULL;
	below = palloc0(sizeof(rows_below));
	below->columns = row_source_columns(child->plan);
	while (!is_of(node, &window_operator))
	{
		renaming	input = {.renamed = OUTER_VAR};
		PlanState  *next = input_of(node, &input.varno);

		below->passed = lappend(below->passed, node);
		go_below(below, node->plan, input);
		node = next;
	}
	go_below(below, node->plan, (renaming) {INDEX_VAR, 1});
	below->windows = (struct window_state *) node;
	return below;
}

double
rows_below_number(const rows_below *below)
{
	return below->windows->node.child->plan->plan_rows;
}

/* ---- how values are stored */

/* Texts take at most so many bytes; a numeric that is no column has digits as its cells say. */
static void
describe_layout(rows_below *below, const table_job *job)
{
	const window_cells *cells = below->cells;
	int		   *widths = palloc(cells->num_values * sizeof(int) + 1);
	int16	   *lengths = palloc(cells->num_values * sizeof(int16) + 1);
	TupleDesc	row = below->windows->node.css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;

	below->layout = (row_layout) {.lengths = lengths,.widths = widths,.shown_scale = job->shown_scale};
	for (int i = 0; i < cells->num_values; i++)
	{
		const value_cells *value = &cells->values[i].cells;

		widths[i] = value->num_cells * (int) sizeof(uint64) - 1;
		if (value->form == CELLS_NUMERIC)
			below->layout.numbers = bms_add_member(below->layout.numbers, i + 1);
		lengths[i] = value->form == CELLS_NUMERIC || i >= row->natts ? (int16) sizeof(int64) : TupleDescAttr(row, i)->attlen;
	}
}

/* A numeric of 18 digits. */
static int32
typmod_of_number(int scale)
{
	return ((18 << 16) | scale) + VARHDRSZ;
}

/* A mean as the quotient of what it is made of: PostgreSQL computes it so, too. */
static Node *
make_mean(const rows_below *below, int sum)
{
	int32		typmod = typmod_of_number(below->cells->values[sum].cells.scale);
	Var		   *total = makeVar(1, (AttrNumber) (sum + 1), NUMERICOID, typmod, InvalidOid, 0);
	Var		   *count = makeVar(1, (AttrNumber) (sum + 2), INT8OID, -1, InvalidOid, 0);
	FuncExpr   *cast = makeFuncExpr(F_NUMERIC_INT8, NUMERICOID, list_make1(count), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);

	return (Node *) makeFuncExpr(F_NUMERIC_DIV, NUMERICOID, list_make2(total, cast), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
declare_numbers(Node *node, void *context)
{
	const rows_below *below = context;
	const cell_value *value;
	Var		   *var = (Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, declare_numbers, context);
	value = &below->cells->values[var->varattno - 1];
	if (value->sum > 0)
		return make_mean(below, value->sum);
	var = copyObject(var);
	if (value->cells.form == CELLS_NUMERIC)
		var->vartypmod = typmod_of_number(value->cells.scale);
	return (Node *) var;
}

/* ---- numerics that show less than their numbers do */

static bool
shows_less(const rows_below *below, const Node *node)
{
	const Var  *var = (const Var *) node;

	return IsA(var, Var) && below->cells->values[var->varattno - 1].shows_less;
}

/* One that is no mean: such a value orders rows, and no batch has it. */
static bool
is_quotient(const rows_below *below, const Node *node)
{
	const Var  *var = (const Var *) node;
	const cell_value *value = IsA(var, Var) ? &below->cells->values[var->varattno - 1] : NULL;

	return value && value->cells.form == CELLS_QUOTIENT && value->sum == 0;
}

/* Whether the digits of a sum or difference are those of its other argument. */
static bool
has_digits(const rows_below *below, const Node *node, int scale)
{
	const Var  *var = (const Var *) node;
	const cell_value *value = IsA(var, Var) ? &below->cells->values[var->varattno - 1] : NULL;

	return value && !value->shows_less && value->cells.form == CELLS_NUMERIC && value->cells.scale >= scale;
}

/* Whether an operator has the same result, whatever digits a numeric shows. */
static bool
hides_digits(const rows_below *below, const OpExpr *call)
{
	const Node *left = linitial(call->args);
	const Node *right = list_length(call->args) == 2 ? lsecond(call->args) : NULL;

	switch (get_opcode(call->opno))
	{
		case F_NUMERIC_EQ: case F_NUMERIC_NE: case F_NUMERIC_LT: case F_NUMERIC_LE: case F_NUMERIC_GT: case F_NUMERIC_GE:
			return true;
		case F_NUMERIC_ADD:
		case F_NUMERIC_SUB:
			return shows_less(below, left) ? has_digits(below, right, below->cells->values[((const Var *) left)->varattno - 1].cells.scale) :
				shows_less(below, right) && has_digits(below, left, below->cells->values[((const Var *) right)->varattno - 1].cells.scale);
		default:
			return false;
	}
}

/* Whether an expression has a value that is two numbers, or shows how many digits such a numeric has. */
static bool
shows_digits(Node *node, void *context)
{
	const rows_below *below = context;
	ListCell   *cell;

	if (node == NULL)
		return false;
	if (shows_less(below, node) || is_quotient(below, node))
		return true;
	if (!IsA(node, OpExpr) || !hides_digits(below, (const OpExpr *) node))
		return expression_tree_walker(node, shows_digits, context);
	foreach(cell, ((const OpExpr *) node)->args)
		if (is_quotient(below, lfirst(cell)) || (!IsA(lfirst(cell), Var) && shows_digits(lfirst(cell), context)))
			return true;
	return false;
}

table_scan
rows_below_scan(const rows_below *below)
{
	return (table_scan) {
		.rows = &below->layout,
		.columns = (List *) declare_numbers((Node *) below->columns, (void *) below),
		.conditions = (List *) declare_numbers((Node *) below->conditions, (void *) below)
	};
}

ExprContext *
rows_below_context(const rows_below *below)
{
	return below->windows->node.css.ss.ps.ps_ExprContext;
}

/* ---- running */

static sort_state *
sort_of(const rows_below *below)
{
	return below->windows->input.sort;
}

/* The job that sorts is made: whether the windows, and the job above, can be. */
static bool
accepts_job(void *context, const table_job *job)
{
	rows_below *below = context;
	const struct window_state *windows = below->windows;

	below->cells = window_cells_create(windows->node.query, (const CustomScan *) windows->node.css.ss.ps.plan, job);
	if (below->cells == NULL || !window_cells_may_start(below->cells, job, rows_below_number(below)))
		return false;
	describe_layout(below, job);
	if (shows_digits((Node *) below->columns, below) || shows_digits((Node *) below->conditions, below))
		return false;
	return below->accepts == NULL || below->accepts(below->context);
}

/* As ExecProcNode would do on its way down. */
static void
rescan_changed(const rows_below *below)
{
	ListCell   *cell;

	foreach(cell, below->passed)
		if (((PlanState *) lfirst(cell))->chgParam)
			ExecReScan(lfirst(cell));
	if (below->windows->node.css.ss.ps.chgParam)
		ExecReScan(&below->windows->node.css.ss.ps);
	for (PlanState *node = below->windows->node.child; IsA(node, WindowAggState); node = outerPlanState(node))
		if (node->chgParam)
			ExecReScan(node);
	if (sort_of(below)->node.css.ss.ps.chgParam)
		ExecReScan(&sort_of(below)->node.css.ss.ps);
}

bool
rows_below_start(rows_below *below, bool (*accepts) (void *context), void *context)
{
	sort_state *sort = sort_of(below);
	query	   *query = window_columns_query(below->windows->node.query, sort->node.query);

	below->sorted = NULL;
	below->cells = NULL;
	if (query == NULL || sort->node.source == NULL)
		return false;
	rescan_changed(below);
	/* its rows may be there from a scan before */
	if (sort->node.ended)
		return false;
	below->accepts = accepts;
	below->context = context;
	below->sorted = sort_read_cells(sort, query, accepts_job, below);
	if (below->sorted == NULL)
	{
		/* they are gone with the job */
		below->cells = NULL;
		return false;
	}
	/* texts may have turned out longer than the job above was told */
	below->accepts = NULL;
	return accepts_job(below, &below->sorted->job) && window_cells_start(below->cells, below->sorted);
}

uint32
rows_below_fill(rows_below *below, const table_job *job, char *batch, Size bytes)
{
	return window_cells_fill(below->cells, job, batch, bytes);
}

bool
rows_below_fails(const rows_below *below)
{
	return below->cells->fails;
}

/* ---- the end */

static void
count_rows(PlanState *node, uint64 num_rows)
{
	if (node->instrument == NULL)
		return;
	InstrStartNode(node->instrument);
	InstrStopNode(node->instrument, num_rows);
}

void
rows_below_end(rows_below *below, bool done, uint64 num_rows)
{
	ListCell   *cell;

	below->ran = done;
	if (below->cells)
		window_cells_free(below->cells);
	if (done && below->cells)
	{
		count_rows(&below->windows->node.css.ss.ps, below->cells->num_rows);
		foreach(cell, below->passed)
			count_rows(lfirst(cell), num_rows);
	}
	below->cells = NULL;
	sort_end_cells(sort_of(below), done);
}

/*
 * group_having.c
 *		Leaves out groups of a job's answer that fail a condition of HAVING for sure, before anything is made of them.
 *
 * To make a group's values and to run its conditions takes 0.2 us, and of millions of groups often a few are wanted.  So a condition that
 * compares a sum or the like with what is the same for all groups is met by numbers of double precision first.  Where these are close, and for groups that
 * are left, the node's own conditions decide.  Conditions behind one of another kind stay with the node: that one may raise an error.
 * A program on records, run by who makes them, was rejected: with this, reading them takes longer.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "exec/group_state.h"
#include "expr/functions.h"

/* An aggregate compared with a number. */
typedef struct having_test
{
	group_aggregate *aggregate;
	int			outcomes;		/* that are true (core/program.h) */
	ExprState  *limit;
	Oid			type_id;		/* of the limit */
	double		number;			/* it, if the test counts */
	bool		counts;
} having_test;

/* ---- conditions */

/* The outcomes that an operator is true for: the aggregate is on the left, or on the right.  0: it is no comparison of numbers. */
static int
outcomes_of(Oid operator, bool is_right)
{
	const known_function *known = known_function_of(get_opcode(operator));

	if (known == NULL || (known->code != MGPU_RUN_COMPARE_INTEGER && known->code != MGPU_RUN_COMPARE_REAL))
		return 0;
	if (!is_right)
		return (int) known->number;
	return (known->number & MGPU_IS_EQUAL) | ((known->number & MGPU_IS_LESS) ? MGPU_IS_GREATER : 0) | ((known->number & MGPU_IS_GREATER) ? MGPU_IS_LESS : 0);
}

static bool
is_number(Oid type_id)
{
	return type_id == INT2OID || type_id == INT4OID || type_id == INT8OID || type_id == FLOAT4OID || type_id == FLOAT8OID || type_id == NUMERICOID;
}

/* The aggregate that an argument is, if its numbers are known; or NULL. */
static group_aggregate *
aggregate_of(const group_state *state, const Node *node)
{
	const Var  *var = (const Var *) node;
	group_aggregate *aggregate;

	if (!IsA(node, Var) || var->varno != INDEX_VAR || var->varattno > state->num_outputs)
		return NULL;
	aggregate = state->outputs[var->varattno - 1].aggregate;
	return aggregate && aggregate->estimate ? aggregate : NULL;
}

/* Make a test of a condition, or NULL. */
static having_test *
test_of(const group_state *state, const OpExpr *condition)
{
	bool		is_right = aggregate_of(state, linitial(condition->args)) == NULL;
	Expr	   *limit = list_length(condition->args) == 2 ? list_nth(condition->args, !is_right) : NULL;
	having_test test = {.aggregate = limit ? aggregate_of(state, list_nth(condition->args, is_right)) : NULL};

	if (test.aggregate == NULL || !is_number(exprType((Node *) limit)) || !is_number(test.aggregate->aggref->aggtype) ||
		!(IsA(limit, Const) || IsA(limit, Param)))
		return NULL;
	test.outcomes = outcomes_of(condition->opno, is_right);
	if (test.outcomes == 0)
		return NULL;
	test.limit = ExecInitExpr(limit, NULL);
	test.type_id = exprType((Node *) limit);
	return memcpy(palloc(sizeof(having_test)), &test, sizeof(having_test));
}

/* Whether a limit may be a subquery's result, which runs for the first group that comes to it, and may fail. */
static bool
may_run(const having_test *test)
{
	const Param *param = (const Param *) test->limit->expr;

	return IsA(param, Param) && param->paramkind == PARAM_EXEC;
}

void
group_having_start(group_state *state)
{
	ListCell   *cell;

	foreach(cell, state->node.css.ss.ps.plan->qual)
	{
		having_test *test = IsA(lfirst(cell), OpExpr) ? test_of(state, lfirst(cell)) : NULL;

		if (test == NULL || (state->tests != NIL && may_run(test)))
			return;
		state->tests = lappend(state->tests, test);
	}
}

/* ---- groups */

static double
number_of(Oid type_id, Datum value)
{
	switch (type_id)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return (double) DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		default:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
	}
}

/* Find what aggregates are compared with, which parameters may have changed. */
static void
find_limits(const group_state *state)
{
	ListCell   *cell;

	foreach(cell, state->tests)
	{
		having_test *test = lfirst(cell);
		bool		is_null;
		Datum		value = ExecEvalExprSwitchContext(test->limit, state->node.css.ss.ps.ps_ExprContext, &is_null);

		test->counts = !is_null;
		if (test->counts)
			test->number = number_of(test->type_id, value);
	}
}

/* Numbers that differ by less may be equal. */
#define CLOSE 1e-9

static bool
fails(const having_test *test, uint32 group)
{
	double		number;
	double		difference;
	double		close;

	if (!test->counts || !test->aggregate->estimate(test->aggregate, group, &number))
		return false;
	difference = number - test->number;
	close = CLOSE * Max(fabs(number), fabs(test->number));
	/* a NaN is neither */
	return (difference < -close && (test->outcomes & MGPU_IS_LESS) == 0) || (difference > close && (test->outcomes & MGPU_IS_GREATER) == 0);
}

static bool
is_left_out(group_state *state, uint32 group)
{
	ListCell   *cell;

	/* aggregates know for which group they were asked last */
	state->input.turn++;
	foreach(cell, state->tests)
		if (fails(lfirst(cell), group))
			return true;
	return false;
}

/* Have the aggregates that tests ask know the answer. */
static void
take_answer(group_state *state)
{
	ListCell   *cell;

	foreach(cell, state->aggregates)
	{
		group_aggregate *aggregate = lfirst(cell);

		if (aggregate->estimate)
			aggregate->take_device(aggregate, state->device, foreach_current_index(cell));
	}
}

/* Sorted values lie behind each other. */
static bool
has_values(const mgpu_group_spec *spec)
{
	for (uint32 i = 0; i < spec->num_sorts; i++)
		if ((spec->sorts[i].returns & MGPU_SORT_VALUES) != 0)
			return true;
	return false;
}

void
group_having_cut(group_state *state)
{
	device_query *query = state->device;
	Size		bytes = query->request.record.num_words * sizeof(uint64);
	uint32		num_left = 0;
	char	   *left;

	if (state->tests == NIL || has_values(&query->request.spec))
		return;
	find_limits(state);
	take_answer(state);
	left = palloc(query->num_groups * bytes + 1);
	for (uint32 group = 0; group < query->num_groups; group++)
		if (!is_left_out(state, group))
			memcpy(left + bytes * num_left++, device_query_record(query, group), bytes);
	InstrCountFiltered1(&state->node.css.ss.ps, query->num_groups - num_left);
	state->num_groups += query->num_groups - num_left;
	query->records = (const uint64 *) left;
	query->num_groups = num_left;
}

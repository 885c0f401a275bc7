/*
 * table_tests.c
 *		The tests of table jobs: which rows are kept, by conditions and by joins.
 *
 * A join looks a row up in its build.  Whether one was found is a test, that of an outer join none.  Rows meet the tests of
 * the scan, then each join's, from the innermost on: comparisons of fixed-size values first, then the others in the plan's order.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "expr/functions.h"
#include "query/table_job.h"

/* ---- conditions */

static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXEC) ||
		expression_tree_walker(node, has_exec_param, context);
}

/* What is more than comparing a row's fixed-size values with each other, constants and parameters. */
static bool
takes_long(Node *node, void *context)
{
	const known_function *known = NULL;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return ((const Var *) node)->varno >= EXPR_BUILD_VARNO || !get_typbyval(((const Var *) node)->vartype);
		case T_Param:
			return ((const Param *) node)->paramkind != PARAM_EXTERN;
		case T_Const:
			return false;
		case T_OpExpr:
			known = known_function_of(get_opcode(((const OpExpr *) node)->opno));
			break;
		case T_ScalarArrayOpExpr:
			known = known_function_of(get_opcode(((const ScalarArrayOpExpr *) node)->opno));
			break;
		case T_NullTest:
		case T_BoolExpr:
		case T_List:
			return expression_tree_walker(node, takes_long, context);
		default:
			return true;
	}
	return known == NULL || (known->code != MGPU_RUN_COMPARE_INTEGER && known->code != MGPU_RUN_COMPARE_REAL) ||
		expression_tree_walker(node, takes_long, context);
}

/*
 * The plan's order, but for comparisons that can neither fail nor tell of a row: these come first, so that others see few rows.
 */
static List *
in_order(List *conditions)
{
	List	   *first = NIL;
	List	   *others = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		if (takes_long(lfirst(cell), NULL))
			others = lappend(others, lfirst(cell));
		else
			first = lappend(first, lfirst(cell));
	}
	return list_concat(first, others);
}

/*
 * The first condition's constants are computed for the first row, and others' perhaps for none: that may run a subquery.  Of a scan, PostgreSQL's executor
 * does it before the job runs.
 */
static bool
take_conditions(table_job *job, List *conditions)
{
	ListCell   *cell;

	foreach(cell, has_exec_param((Node *) conditions, NULL) ? conditions : in_order(conditions))
	{
		bool		waits = has_exec_param(lfirst(cell), NULL);

		if (waits && job->spec->num_tests > 0 && job->spec->num_builds > 0)
			return false;
		job->needs_queries |= waits && job->spec->num_tests > 0;
		job->needs_row |= waits && job->spec->num_tests == 0;
		if (!table_job_add_test(job, expr_program_add(job->program, lfirst(cell))))
			return false;
	}
	return true;
}

/* ---- joins */

static bool
is_integer(Oid type_id)
{
	return type_id == INT2OID || type_id == INT4OID || type_id == INT8OID;
}

/* Whether two values are equal if their cells are: of the same form, or integers of any width. */
static bool
are_alike(const value_cells *a, const value_cells *b, const OpExpr *clause)
{
	const Expr *left = linitial(clause->args);
	const Expr *right = lsecond(clause->args);
	Oid			left_type = getBaseType(exprType((const Node *) left));
	Oid			right_type = getBaseType(exprType((const Node *) right));

	if (a->form != b->form || a->num_cells != b->num_cells || a->kind == MGPU_KEY_FLOAT || a->scale != b->scale)
		return false;
	/* blanks at the end are as many on both sides */
	if (left_type == BPCHAROID && exprTypmod((const Node *) left) != exprTypmod((const Node *) right))
		return false;
	return left_type == right_type || (is_integer(left_type) && is_integer(right_type));
}

/* Whether an operator says of cells that they are the same. */
static bool
compares_cells(const OpExpr *clause)
{
	const known_function *known = known_function_of(get_opcode(clause->opno));

	if (known == NULL || known->number != MGPU_IS_EQUAL)
		return false;
	return known->code == MGPU_RUN_COMPARE_INTEGER ||
		(known->code == MGPU_RUN_COMPARE_BYTES &&
		 (!OidIsValid(clause->inputcollid) || get_collation_isdeterministic(clause->inputcollid)));
}

static int
words_of_build(const table_join *join, const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) && join->words ? join->words[((const Var *) expr)->varattno - 1] : EXPR_USUAL_WORDS;
}

/* Cells of one key: those of the build become outputs of its program, and the others registers that are added to keys. */
static bool
take_key(table_job *job, const table_question *question, int number, const OpExpr *clause, List **keys)
{
	table_build *build = &job->builds[number];
	Expr	   *outer = linitial(clause->args);
	Expr	   *inner = lsecond(clause->args);
	int			num_words = Max(table_job_words(question, outer), words_of_build(list_nth(question->scan.joins, number), inner));
	value_cells of_row;
	value_cells of_build;
	int			num_cells;

	if (!compares_cells(clause) || table_job_words(question, outer) == 0 || num_words > MOST_CELLS ||
		!expr_program_add_cells(job->program, outer, num_words, &of_row) ||
		!table_build_add(build, inner, of_row.num_cells, &of_build) || !are_alike(&of_row, &of_build, clause))
		return false;
	/* what numerics show does not tell them apart */
	num_cells = of_row.form == CELLS_SHOWN ? 1 : of_row.num_cells;
	if (build->num_keys + num_cells > MGPU_BUILD_MAX_KEYS)
		return false;
	for (int i = 0; i < num_cells; i++)
	{
		*keys = lappend_int(*keys, (int) expr_program_output_register(job->program, of_row.first + i));
		build->keys[build->num_keys++] = of_build.first + i;
	}
	return true;
}

/* What becomes of a row with matches, or none. */
static mgpu_match_kind
kind_of(const table_join *join)
{
	if (join->is_turned)
		return MGPU_MATCH_MARKS;
	switch (join->type)
	{
		case JOIN_LEFT:
		case JOIN_FULL:
			return MGPU_MATCH_ALL;
		case JOIN_SEMI:
			return MGPU_MATCH_SOME;
		case JOIN_ANTI:
			return MGPU_MATCH_NONE;
		default:
			return MGPU_MATCH_PAIRS;
	}
}

static mgpu_match_adds
adds_of(const table_join *join)
{
	if (join->is_turned && join->type == JOIN_SEMI)
		return MGPU_ADDS_MATCHED;
	return join->is_turned || table_join_adds_unmatched(join->type) ? MGPU_ADDS_UNMATCHED : MGPU_ADDS_NOTHING;
}

/* Whether matches are more than a row that is found or not. */
static bool
has_match(const table_join *join)
{
	return join->may_repeat || join->match_conditions || adds_of(join) != MGPU_ADDS_NOTHING;
}

/* Whether a row that finds none goes on: an antijoin without conditions wants no other. */
static bool
keeps_missed(const table_join *join)
{
	return join->type == JOIN_LEFT || join->type == JOIN_FULL || (join->type == JOIN_ANTI && !join->is_turned && join->match_conditions);
}

/*
 * The matches of a join: behind the test that a row is found or, where others go on, one that all meet.  A join of which rows of the build come
 * themselves is the first that rows meet, so that NULL is all that these have beside the build's columns.
 */
static bool
take_match(table_job *job, const table_join *join, int number, int row)
{
	mgpu_group_spec *spec = job->spec;
	mgpu_group_match match = {.test = spec->num_tests,.build = number,.kind = kind_of(join),.adds = adds_of(join)};

	if ((match.adds != MGPU_ADDS_NOTHING && number != (int) spec->num_builds - 1) || has_exec_param((Node *) join->match_conditions, NULL) ||
		!take_conditions(job, join->match_conditions))
		return false;
	match.num_conditions = spec->num_tests - match.test;
	job->of_matches[spec->num_matches] = row;
	spec->matches[spec->num_matches++] = match;
	return true;
}

/* The test of a row that was looked up, if there is any. */
static bool
take_found(table_job *job, const table_join *join, int number, List *keys)
{
	if (!keeps_missed(join))
		return table_job_add_test(job, expr_program_add_found(job->program, number, join->is_turned || join->type != JOIN_ANTI));
	return !has_match(join) || table_job_add_test(job, expr_program_add_round(job->program, keys, 0, 1));
}

static bool
take_join(table_job *job, const table_question *question, int number)
{
	const table_join *join = list_nth(question->scan.joins, number);
	List	   *keys = NIL;
	int			row;
	ListCell   *cell;

	job->builds[number].program = expr_program_create();
	job->builds[number].shown_scale = job->shown_scale;
	expr_program_show(job->builds[number].program, job->shown_scale, NULL);
	job->builds[number].may_repeat = join->may_repeat;
	job->builds[number].num_rounds = join->num_rounds;
	foreach(cell, join->clauses)
		if (!IsA(lfirst(cell), OpExpr) || !take_key(job, question, number, lfirst(cell), &keys))
			return false;
	if (keys == NIL ||
		(join->num_rounds > 1 && !table_job_add_test(job, expr_program_add_round(job->program, keys, 0, join->num_rounds))))
		return false;
	if (join->num_rounds > 1)
		job->round_test = (int) job->spec->num_tests - 1;
	/* what pairs are looked at for, before they are made */
	expr_program_load(job->program, join->match_conditions);
	expr_program_load(job->program, join->may_repeat ? join->conditions : NIL);
	row = expr_program_look_up(job->program, number, keys, join->words, keeps_missed(join), join->one_by_one);
	return take_found(job, join, number, keys) && (!has_match(join) || take_match(job, join, number, row)) &&
		take_conditions(job, join->conditions);
}

bool
table_job_take_tests(table_job *job, const table_question *question)
{
	int			num_joins = list_length(question->scan.joins);

	if (num_joins > MGPU_GROUP_MAX_BUILDS || !take_conditions(job, question->scan.conditions))
		return false;
	if (num_joins == 0)
		return true;
	job->spec->num_builds = num_joins;
	job->builds = palloc0(num_joins * sizeof(table_build));
	expr_program_add_builds(job->program, num_joins);
	for (int i = num_joins - 1; i >= 0; i--)
		if (!take_join(job, question, i))
			return false;
	return true;
}

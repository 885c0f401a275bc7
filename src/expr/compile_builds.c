/*
 * compile_builds.c
 *		The operations of joins: rows of builds (core/build.h) are looked up, and their columns are variables like others.
 *
 * The columns of a build that are wanted become cells as they are asked for.  Of a key that has several cells, these are the first.
 * A text of a build is its words and nothing else: they can be keys, orders and results.  What would need its bytes has no program.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/uuid.h"

#include "compat.h"
#include "expr/compile.h"
#include "expr/expr_builds.h"

static const Var *
build_var(const expr_program *program, const Expr *expr)
{
	const Var  *var;

	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	var = (const Var *) expr;
	return program->builds && IsA(var, Var) && var->varlevelsup == 0 && var->varno >= EXPR_BUILD_VARNO ? var : NULL;
}

bool
is_build_var(const expr_program *program, const Expr *expr)
{
	return IsA(expr, Var) && build_var(program, expr) != NULL;
}

/* The first cell of a column, which has so many. */
static int
cell_of(expr_build *build, const Var *var, int num_cells)
{
	build_column *column;
	ListCell   *cell;

	foreach(cell, build->columns)
	{
		column = lfirst(cell);
		if (column->var->varattno == var->varattno && column->num_cells == num_cells)
			return column->first;
	}
	column = palloc(sizeof(build_column));
	*column = (build_column) {copyObject((Var *) var), build->num_cells, num_cells};
	build->columns = lappend(build->columns, column);
	build->num_cells += num_cells;
	return column->first;
}

static expr_value
fetch(expr_program *program, int number, expr_type type, int cell)
{
	expr_value	value;

	for (int i = 0; i < program->num_ops; i++)
	{
		const mgpu_program_op *op = &program->ops[i];

		if (op->code == MGPU_RUN_FETCH && op->number == number && op->width == cell && program->lanes[op->to] == type.lane)
			return (expr_value) {op->to, type};
	}
	value = add_op(program, MGPU_RUN_FETCH, type, number, 1, &program->builds[number].row);

	program->ops[program->num_ops - 1].width = cell;
	return value;
}

/* The build of a variable, whose row has been looked up; or NULL. */
static expr_build *
build_of(const expr_program *program, const Var *var)
{
	expr_build *build = &program->builds[var->varno - EXPR_BUILD_VARNO];

	return build->is_found && var->varattno > 0 ? build : NULL;
}

bool
compile_build_var(expr_program *program, const Var *var, expr_value *value)
{
	expr_build *build = build_of(program, var);
	expr_type	type;

	if (build == NULL || !expr_type_of(var->vartype, var->vartypmod, &type) || type.lane == MGPU_LANE_BYTES)
		return false;
	*value = fetch(program, var->varno - EXPR_BUILD_VARNO, type, cell_of(build, var, type.lane == MGPU_LANE_SHOWN ? 2 : 1));
	return true;
}

/* Cells of a text or uuid, or 0. */
static int
num_words_of(const expr_build *build, const Var *var, const expr_type *type)
{
	if (type->width > 0)
		return type->width == UUID_LEN ? UUID_LEN / (int) sizeof(uint64) : 0;
	return build->words ? build->words[var->varattno - 1] : EXPR_USUAL_WORDS;
}

int
compile_build_words(expr_program *program, const Expr *expr, expr_value *words)
{
	const Var  *var = build_var(program, expr);
	const expr_type word = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	expr_build *build = var ? build_of(program, var) : NULL;
	expr_type	type;
	int			num_words;
	int			first;

	if (build == NULL || !expr_type_of(var->vartype, var->vartypmod, &type) || type.lane != MGPU_LANE_BYTES)
		return 0;
	num_words = num_words_of(build, var, &type);
	if (num_words == 0 || num_words > MOST_CELLS)
		return 0;
	first = cell_of(build, var, num_words);
	for (int i = 0; i < num_words; i++)
		words[i] = fetch(program, var->varno - EXPR_BUILD_VARNO, word, first + i);
	return num_words;
}

bool
compile_build_presence(expr_program *program, const Var *var, expr_value *value)
{
	expr_value	words[MOST_CELLS];

	if (compile_build_var(program, var, value))
		return true;
	if (compile_build_words(program, (const Expr *) var, words) == 0)
		return false;
	*value = words[0];
	return true;
}

/* ---- for whoever makes programs */

void
expr_program_add_builds(expr_program *program, int num_builds)
{
	program->builds = palloc0(num_builds * sizeof(expr_build));
}

int
expr_program_look_up(expr_program *program, int number, List *keys, const int *words)
{
	const expr_type row = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	expr_build *build = &program->builds[number];
	expr_value	both[2] = {{linitial_int(keys), row}};
	ListCell   *cell;

	for_each_from(cell, keys, 1)
	{
		both[1] = (expr_value) {lfirst_int(cell), row};
		both[0] = add_op(program, MGPU_RUN_HASH_KEYS, row, 0, 2, both);
	}
	both[0] = add_op(program, MGPU_RUN_LOOKUP, row, number, 1, both);
	foreach(cell, list_length(keys) > 1 ? keys : NIL)
	{
		both[1] = (expr_value) {lfirst_int(cell), row};
		both[0] = add_op(program, MGPU_RUN_MATCH, row, number, 2, both);
		program->ops[program->num_ops - 1].width = foreach_current_index(cell);
	}
	*build = (expr_build) {.is_found = true,.row = both[0],.words = words,.num_cells = list_length(keys) > 1 ? list_length(keys) : 0};
	return expr_program_add_output(program, both[0]);
}

int
expr_program_add_found(expr_program *program, int number, bool is_found)
{
	return expr_program_add_output(program, add_op(program, is_found ? MGPU_RUN_IS_NOT_NULL : MGPU_RUN_IS_NULL, expr_boolean, 0, 1,
												   &program->builds[number].row));
}

int
expr_program_register(const expr_program *program, int output)
{
	return program->outputs[output].reg;
}

const List *
expr_program_build_columns(const expr_program *program, int number)
{
	return program->builds[number].columns;
}

int
expr_program_build_cells(const expr_program *program, int number)
{
	return program->builds[number].num_cells;
}

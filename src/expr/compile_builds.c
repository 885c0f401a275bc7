/*
 * compile_builds.c
 *		The operations of joins: rows of builds (core/build.h) are looked up, and their columns are variables like others.
 *
 * An expression of one build's columns alone is computed once for each of its rows, when the build is filled, and becomes cells: rows that
 * stream only fetch them.  So texts of builds may be computed with, though no build has their bytes: they are words, as keys, orders and
 * results, or the number of a long text.  Of a key that has several cells, these are the first.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/fmgroids.h"
#include "utils/uuid.h"

#include "compat.h"
#include "expr/compile.h"
#include "expr/expr_builds.h"

/* What is known of an expression's variables. */
typedef struct part_search
{
	const expr_program *program;
	int			number;			/* of the build whose they are; -1: none was met */
	int			num_cases;		/* of CASE nodes around */
} part_search;

/* Whether a node keeps an expression from being computed for the rows of one build alone. */
static bool
is_no_part(Node *node, void *context)
{
	part_search *search = context;
	bool		has_case;
	bool		found;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		const Var  *var = (const Var *) node;
		int			number = (int) var->varno - EXPR_BUILD_VARNO;

		if (var->varlevelsup > 0 || number < 0 || (var->varattno <= 0 && !expr_is_tid(var)))
			return true;
		if (search->number < 0)
			search->number = number;
		return number != search->number || !search->program->builds[number].is_found;
	}
	/* of a node that is not there, and what has a value when the statement runs */
	if ((IsA(node, CaseTestExpr) && search->num_cases == 0) || (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXEC))
		return true;
	has_case = IsA(node, CaseExpr) && ((const CaseExpr *) node)->arg;
	search->num_cases += has_case;
	found = expression_tree_walker(node, is_no_part, context);
	search->num_cases -= has_case;
	return found;
}

/*
 * The number of the build that has all variables of an expression, or -1.  Where the build's row is missing, the expression has to be NULL:
 * it is not computed for what is not there.
 */
static int
build_of(const expr_program *program, const Expr *expr)
{
	part_search search = {program, -1, 0};

	if (program->builds == NULL || is_no_part((Node *) expr, &search) || search.number < 0)
		return -1;
	return program->builds[search.number].may_miss && contain_nonstrict_functions((Node *) expr) ? -1 : search.number;
}

/* The column of an expression, which has so many cells, or a name. */
static build_column *
column_of(expr_build *build, const Expr *expr, int num_cells, bool is_named)
{
	build_column *column;
	ListCell   *cell;

	foreach(cell, build->columns)
	{
		column = lfirst(cell);
		if (equal(column->expr, expr) && column->num_cells == num_cells && (column->names != NULL) == is_named)
			return column;
	}
	column = palloc(sizeof(build_column));
	*column = (build_column) {copyObject((Expr *) expr), build->num_cells, num_cells, is_named ? text_names_create() : NULL};
	build->columns = lappend(build->columns, column);
	build->num_cells += num_cells;
	return column;
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

/* Whether a column of a build is a numeric that is expected to show too many digits. */
static bool
is_unfit(const expr_build *build, const Expr *expr, const expr_type *type)
{
	return type->lane == MGPU_LANE_SHOWN && build->words && build->words[((const Var *) expr)->varattno - 1] > EXPR_MOST_SHOWN;
}

bool
compile_build_part(expr_program *program, const Expr *expr, expr_value *value)
{
	int			number = build_of(program, expr);
	expr_type	type;

	/* how many digits a numeric has behind the point, is known of columns alone */
	if (number < 0 || !expr_type_of(exprType((const Node *) expr), exprTypmod((const Node *) expr), &type) || type.lane == MGPU_LANE_BYTES ||
		(type.is_numeric && !IsA(expr, Var)) || is_unfit(&program->builds[number], expr, &type))
		return false;
	if (type.lane == MGPU_LANE_SHOWN)
		type.scale = program->shown_scale;
	*value = fetch(program, number, type, column_of(&program->builds[number], expr, type.lane == MGPU_LANE_SHOWN ? 2 : 1, false)->first);
	return true;
}

/* Whether a bpchar is cast to text. */
static bool
is_without_blanks(const Expr *expr)
{
	return IsA(expr, FuncExpr) && ((const FuncExpr *) expr)->funcid == F_TEXT_BPCHAR;
}

/* Cells of a text or uuid, or 0. */
static int
num_words_of(const expr_build *build, const Expr *expr, const expr_type *type)
{
	while (IsA(expr, RelabelType) || is_without_blanks(expr))
		expr = IsA(expr, RelabelType) ? ((const RelabelType *) expr)->arg : linitial(((const FuncExpr *) expr)->args);
	if (type->width > 0)
		return type->width == UUID_LEN ? UUID_LEN / (int) sizeof(uint64) : 0;
	return build->words && IsA(expr, Var) ? build->words[((const Var *) expr)->varattno - 1] : EXPR_USUAL_WORDS;
}

/* Words that a text or uuid of a build has; 0: it is none, or too long. */
static int
count_words(const expr_program *program, const Expr *expr)
{
	int			number = build_of(program, expr);
	expr_type	type;
	int			num_words;

	if (number < 0 || !expr_type_of(exprType((const Node *) expr), exprTypmod((const Node *) expr), &type) || type.lane != MGPU_LANE_BYTES)
		return 0;
	num_words = num_words_of(&program->builds[number], expr, &type);
	return num_words <= MOST_CELLS ? num_words : 0;
}

static void
fetch_words(expr_program *program, const Expr *expr, int num_words, expr_value *words)
{
	const expr_type word = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	int			number = build_of(program, expr);
	int			first = column_of(&program->builds[number], expr, num_words, false)->first;

	for (int i = 0; i < num_words; i++)
		words[i] = fetch(program, number, word, first + i);
}

/* So many words of a text, which say whether it is equal to another that has no more. */
static bool
compile_words(expr_program *program, Expr *expr, int num_words, expr_value *words)
{
	expr_type	type = {MGPU_LANE_INTEGER, (uint16) num_words, false, 0};
	expr_value	bytes;

	if (count_words(program, expr) > 0)
	{
		fetch_words(program, expr, num_words, words);
		return true;
	}
	if (!compile_expr(program, expr, &bytes) || bytes.type.lane != MGPU_LANE_BYTES)
		return false;
	for (int i = 0; i < num_words; i++)
		words[i] = add_op(program, MGPU_RUN_WORD_COMPARED, type, i, 1, &bytes);
	return true;
}

/* Words of COALESCE of a build's text and a constant, which is its value where the build's row is missing, too. */
static int
words_or_constant(expr_program *program, const CoalesceExpr *choice, expr_value *words)
{
	const expr_type word = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	Expr	   *text = linitial(choice->args);
	const Const *constant = llast(choice->args);
	expr_value	of_constant[MOST_CELLS];
	int			num_words;

	if (choice->coalescetype != TEXTOID || list_length(choice->args) != 2 || !IsA(constant, Const) || constant->constisnull || count_words(program, text) == 0)
		return 0;
	num_words = Max(count_words(program, text), (int) (VARSIZE_ANY_EXHDR(DatumGetPointer(constant->constvalue)) / sizeof(uint64)) + 1);
	if (num_words > MOST_CELLS || !compile_words(program, (Expr *) constant, num_words, of_constant))
		return 0;
	fetch_words(program, text, num_words, words);
	for (int i = 0; i < num_words; i++)
		words[i] = add_op(program, MGPU_RUN_COALESCE, word, 0, 2, (expr_value[]) {words[i], of_constant[i]});
	return num_words;
}

int
compile_build_words(expr_program *program, const Expr *expr, expr_value *words)
{
	int			num_words = count_words(program, expr);

	if (program->builds && IsA(expr, CoalesceExpr) && build_of(program, expr) < 0)
		return words_or_constant(program, (const CoalesceExpr *) expr, words);
	if (num_words > 0)
		fetch_words(program, expr, num_words, words);
	return num_words;
}

/* ---- texts that are equal */

/* Whether all words are equal. */
static expr_value
compare_words(expr_program *program, const expr_value *first, const expr_value *second, int num_words)
{
	expr_value	all = {0};

	for (int i = 0; i < num_words; i++)
	{
		expr_value	both[2] = {first[i], second[i]};
		expr_value	with[2] = {all, add_op(program, MGPU_RUN_COMPARE_INTEGER, expr_boolean, MGPU_IS_EQUAL, 2, both)};

		all = i == 0 ? with[1] : add_op(program, MGPU_RUN_AND, expr_boolean, 0, 2, with);
	}
	return all;
}

bool
compile_build_equality(expr_program *program, const function_call *call, expr_value *value)
{
	expr_value	words[2][MOST_CELLS];
	Expr	   *texts[2];
	int			num_words = 0;

	for (int i = 0; i < 2; i++)
	{
		texts[i] = list_nth(call->args, i);
		if (call->known->form == FORM_BLANKS)
			texts[i] = (Expr *) makeFuncExpr(F_TEXT_BPCHAR, TEXTOID, list_make1(texts[i]), InvalidOid, call->collation, COERCE_IMPLICIT_CAST);
		num_words = Max(num_words, count_words(program, texts[i]));
	}
	if (num_words == 0 || !compile_words(program, texts[0], num_words, words[0]) || !compile_words(program, texts[1], num_words, words[1]))
		return false;
	*value = compare_words(program, words[0], words[1], num_words);
	if (call->known->number != MGPU_IS_EQUAL)
		*value = add_op(program, MGPU_RUN_NOT, expr_boolean, 0, 1, value);
	return true;
}

bool
may_name_of_build(const expr_program *program, const Expr *expr)
{
	int			number = build_of(program, expr);

	return number >= 0 && program->builds[number].may_name;
}

const text_names *
compile_build_name(expr_program *program, const Expr *expr, expr_value *value)
{
	const expr_type number_type = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};
	int			number = build_of(program, expr);
	const build_column *column;
	expr_type	type;

	if (number < 0 || !expr_type_of(exprType((const Node *) expr), exprTypmod((const Node *) expr), &type) || type.lane != MGPU_LANE_BYTES ||
		type.width > 0)
		return NULL;
	column = column_of(&program->builds[number], expr, 1, true);
	*value = fetch(program, number, number_type, column->first);
	return column->names;
}

bool
compile_build_presence(expr_program *program, const Var *var, expr_value *value)
{
	expr_value	words[MOST_CELLS];

	if (compile_build_part(program, (const Expr *) var, value))
		return true;
	if (compile_build_words(program, (const Expr *) var, words) == 0)
		return compile_build_name(program, (const Expr *) var, value) != NULL;
	*value = words[0];
	return true;
}

/* ---- for whoever makes programs */

void
expr_program_add_builds(expr_program *program, int num_builds)
{
	program->builds = palloc0(num_builds * sizeof(expr_build));
}

static const expr_type row = {MGPU_LANE_INTEGER, sizeof(int64), false, 0};

/* One number of the cells of a key. */
static expr_value
add_key(expr_program *program, List *keys)
{
	expr_value	both[2] = {{linitial_int(keys), row}};
	ListCell   *cell;

	for_each_from(cell, keys, 1)
	{
		both[1] = (expr_value) {lfirst_int(cell), row};
		both[0] = add_op(program, MGPU_RUN_HASH_KEYS, row, 0, 2, both);
	}
	return both[0];
}

int
expr_program_add_round(expr_program *program, List *keys, int round, int num_rounds)
{
	expr_value	key = add_key(program, keys);
	expr_value	is_in = add_op(program, MGPU_RUN_IN_ROUND, expr_boolean, num_rounds, 1, &key);

	program->ops[program->num_ops - 1].width = round;
	return expr_program_add_output(program, is_in);
}

int
expr_program_look_up(expr_program *program, int number, List *keys, const int *words, bool may_miss, bool may_name)
{
	expr_build *build = &program->builds[number];
	expr_value	both[2] = {add_key(program, keys)};
	ListCell   *cell;

	both[0] = add_op(program, MGPU_RUN_LOOKUP, row, number, 1, both);
	foreach(cell, list_length(keys) > 1 ? keys : NIL)
	{
		both[1] = (expr_value) {lfirst_int(cell), row};
		both[0] = add_op(program, MGPU_RUN_MATCH, row, number, 2, both);
		program->ops[program->num_ops - 1].width = foreach_current_index(cell);
	}
	*build = (expr_build) {
		.is_found = true,.row = both[0],.may_miss = may_miss,.may_name = may_name,.words = words,
		.num_cells = list_length(keys) > 1 ? list_length(keys) : 0
	};
	return expr_program_add_output(program, both[0]);
}

int
expr_program_add_found(expr_program *program, int number, bool is_found)
{
	return expr_program_add_output(program, add_op(program, is_found ? MGPU_RUN_IS_NOT_NULL : MGPU_RUN_IS_NULL, expr_boolean, 0, 1,
												   &program->builds[number].row));
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

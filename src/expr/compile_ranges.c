/*
 * compile_ranges.c
 *		Operations of ranges whose bounds are integers, dates or times: r @> x, r && s, lower(r) and their like.
 *
 * A range is the bytes that rows store, and equal if these are.  What a build has of one are words, as of a text; an operation makes bytes of them.
 * So one operation does for ranges of tables, of builds and constant ones.  Computing with bounds in its place was rejected: r @> x would take a dozen
 * operations, since a bound may be missing, and NULL is no answer then.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "array/element_type.h"
#include "expr/cells.h"
#include "expr/compile.h"

/* The op's width is that of a bound. */
static expr_value
add_range_op(expr_program *program, int code, expr_type type, int number, int width, const expr_value *from)
{
	expr_value	value = add_op(program, code, type, number, mgpu_program_num_from[code], from);

	program->ops[program->num_ops - 1].width = (uint16) width;
	return value;
}

/* The arguments of an intersection, a * b. */
static List *
intersected(Expr *expr)
{
	List	   *args = NIL;

	return expr_function_of(expr, &args) == F_RANGE_INTERSECT ? args : NIL;
}

/* The larger of two lower bounds, or the smaller of two upper ones, where ranges overlap: one that is missing counts for nothing. */
static bool
compile_common_bound(expr_program *program, const function_call *call, List *ranges, expr_value *value)
{
	bool		is_upper = call->known->number != 0;
	int			width = range_bound_width(exprType(linitial(ranges)));
	expr_value	both[2];
	expr_value	choice[3];

	if (width == 0 || !compile_expr(program, linitial(ranges), &both[0]) || !compile_expr(program, lsecond(ranges), &both[1]) ||
		!compile_const(program, makeNullConst(INT8OID, -1, InvalidOid), &choice[2]))
		return false;
	choice[0] = add_range_op(program, MGPU_RUN_RANGE_RELATES, expr_boolean, MGPU_RANGE_OVERLAPS, width, both);
	for (int i = 0; i < 2; i++)
		both[i] = add_range_op(program, MGPU_RUN_RANGE_BOUND, call->type, is_upper, width, &both[i]);
	choice[1] = add_op(program, is_upper ? MGPU_RUN_SMALLER_INTEGER : MGPU_RUN_LARGER_INTEGER, call->type, 0, 2, both);
	*value = add_op(program, MGPU_RUN_CHOOSE, call->type, 0, 3, choice);
	return true;
}

bool
compile_of_ranges(expr_program *program, const function_call *call, expr_value *value)
{
	bool		is_turned = (call->known->number & RANGE_TURNED) != 0;
	int			width = range_bound_width(exprType(list_nth(call->args, is_turned)));
	List	   *ranges = call->known->code == MGPU_RUN_RANGE_BOUND ? intersected(linitial(call->args)) : NIL;
	expr_value	args[MOST_ARGS];
	expr_value	from[2];

	if (ranges != NIL)
		return compile_common_bound(program, call, ranges, value);
	if (width == 0 || !compile_args(program, call, args))
		return false;
	from[0] = args[is_turned];
	from[1] = args[!is_turned];
	*value = add_range_op(program, call->known->code, call->type, call->known->number & ~RANGE_TURNED, width, from);
	return true;
}

bool
compile_build_range(expr_program *program, const Expr *expr, expr_value *value)
{
	expr_value	words[MOST_CELLS];
	int			num_words = range_bound_width(exprType((const Node *) expr)) > 0 ? compile_build_words(program, expr, words) : 0;

	if (num_words < 2 || num_words > 3)
		return false;
	if (num_words == 2)
		words[2] = words[1];
	return add_made(program, MGPU_RUN_BYTES_OF_WORDS, num_words, words, value);
}

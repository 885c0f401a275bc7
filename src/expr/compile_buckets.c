/*
 * compile_buckets.c
 *		width_bucket of a float8 or a numeric, with constant bounds, numerics of which a difference has few digits.
 *
 * Versions of PostgreSQL compute with floats in a different order, so the server's function is asked for a bucket that tells.
 *
 * Of a numeric, in units of the smallest digit of value and bounds, all are integers, and the bucket is one more than (value - low) * count / (high - low), rounded
 * down; but 0 below and count + 1 above the bounds.  PostgreSQL rounds the quotient to 16 digits before it cuts off those behind the point.  A quotient that is no
 * integer is 1 / (high - low) from one at least: more than that rounding moves it, by the limits here.  Before 15 numerics are left to PostgreSQL, which divided first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "expr/compile.h"

#define MOST_RANGE_DIGITS 12
#define MOST_BUCKETS 10000
#define MOST_REAL_BOUND 1e300

/* Bounds and number of buckets. */
typedef struct bucket_bounds
{
	int64		first;
	int64		last;
	int			scale;
	int			count;
} bucket_bounds;

/* A constant as an integer of a scale.  false: it is none. */
static bool
read_bound(const Node *node, int64 *number, int *scale)
{
	expr_constant read = {.type_id = NUMERICOID};
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull || constant->consttype != NUMERICOID || !expr_constant_fill(&read, constant->constvalue))
		return false;
	*number = read.number;
	*scale = read.type.scale;
	return true;
}

/* Have bounds and value one scale.  false: there are too many digits. */
static bool
bring_to_scale(expr_program *program, int scales[2], bucket_bounds *bounds, expr_value *value)
{
	int64		most = power_of_ten(MOST_RANGE_DIGITS);
	int64		range;

	bounds->scale = Max(value->type.scale, Max(scales[0], scales[1]));
	value->type.lane = MGPU_LANE_INTEGER;
	if (bounds->scale > MOST_SCALE || !scale_up(program, value, bounds->scale) ||
		__builtin_mul_overflow(bounds->first, power_of_ten(bounds->scale - scales[0]), &bounds->first) ||
		__builtin_mul_overflow(bounds->last, power_of_ten(bounds->scale - scales[1]), &bounds->last) ||
		__builtin_sub_overflow(bounds->last, bounds->first, &range))
		return false;
	return range != 0 && range <= most && range >= -most;
}

static expr_value
add_with(expr_program *program, int code, const expr_type *type, expr_value first, expr_value second)
{
	expr_value	from[2] = {first, second};

	return add_op(program, code, *type, 0, 2, from);
}

/* One value in place of another that is less or greater; NULL stays. */
static expr_value
limit(expr_program *program, int outcome, expr_value value, expr_value end)
{
	expr_value	pair[2] = {value, end};
	expr_value	from[3] = {add_op(program, MGPU_RUN_COMPARE_INTEGER, expr_boolean, outcome, 2, pair), end, value};

	return add_op(program, MGPU_RUN_CHOOSE, value.type, 0, 3, from);
}

static bool
add_bucket(expr_program *program, const bucket_bounds *bounds, expr_type type, expr_value *value)
{
	int64		numbers[] = {bounds->first, bounds->count, 1, 0, bounds->count + 1};
	expr_value	constants[lengthof(numbers)];
	bool		is_rising = bounds->first < bounds->last;
	expr_type	wide;

	(void) expr_type_of(INT8OID, -1, &wide);
	for (size_t i = 0; i < lengthof(numbers); i++)
		if (!compile_number(program, numbers[i], &constants[i]))
			return false;
	*value = is_rising ? add_with(program, MGPU_RUN_SUBTRACT_INTEGER, &wide, *value, constants[0]) : add_with(program, MGPU_RUN_SUBTRACT_INTEGER, &wide, constants[0], *value);
	*value = add_with(program, MGPU_RUN_MULTIPLY_INTEGER, &wide, *value, constants[1]);
	*value = add_op(program, MGPU_RUN_FLOOR_OFF, wide, is_rising ? bounds->last - bounds->first : bounds->first - bounds->last, 1, value);
	*value = add_with(program, MGPU_RUN_ADD_INTEGER, &wide, *value, constants[2]);
	*value = limit(program, MGPU_IS_LESS, *value, constants[3]);
	*value = limit(program, MGPU_IS_GREATER, *value, constants[4]);
	value->type = type;
	return true;
}

static bool
compile_numeric_bucket(expr_program *program, const function_call *call, int count, expr_value *value)
{
	bucket_bounds bounds = {.count = count};
	int			scales[2];

	return PG_VERSION_NUM >= 150000 && read_bound(lsecond(call->args), &bounds.first, &scales[0]) && read_bound(lthird(call->args), &bounds.last, &scales[1]) &&
		compile_expr(program, linitial(call->args), value) && bring_to_scale(program, scales, &bounds, value) && add_bucket(program, &bounds, call->type, value);
}

/* ---- floats */

/* Bounds whose differences, times the count, are finite. */
static bool
read_real_bound(const Node *node, double *bound)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull || constant->consttype != FLOAT8OID)
		return false;
	*bound = DatumGetFloat8(constant->constvalue);
	return *bound > -MOST_REAL_BOUND && *bound < MOST_REAL_BOUND;
}

/* Bucket 2 of 49 begins at 1, but 1 / 49 is a little less than what it is rounded to. */
static bool
server_divides_first(void)
{
	return DatumGetInt32(DirectFunctionCall4(width_bucket_float8, Float8GetDatum(1), Float8GetDatum(0), Float8GetDatum(49), Int32GetDatum(49))) == 1;
}

static bool
compile_real_bucket(expr_program *program, const function_call *call, int count, expr_value *value)
{
	mgpu_buckets buckets = {.count = count};

	if (!read_real_bound(lsecond(call->args), &buckets.first) || !read_real_bound(lthird(call->args), &buckets.last) || buckets.first == buckets.last ||
		!compile_expr(program, linitial(call->args), value))
		return false;
	buckets.divides_first = server_divides_first();
	*value = add_op(program, MGPU_RUN_BUCKET_OF_REAL, call->type, table_add(program, &buckets, sizeof(buckets)), 1, value);
	return true;
}

bool
compile_bucket(expr_program *program, const function_call *call, expr_value *value)
{
	const Const *constant = lfourth(call->args);
	int			count = IsA(constant, Const) && !constant->constisnull ? DatumGetInt32(constant->constvalue) : 0;

	if (count <= 0 || count > MOST_BUCKETS)
		return false;
	if (call->known->function == F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4)
		return compile_numeric_bucket(program, call, count, value);
	return compile_real_bucket(program, call, count, value);
}

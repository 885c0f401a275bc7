/*
 * evaluate.c
 *		Finishes programs, runs them, and puts what they compute into columns.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "compat.h"
#include "expr/compile.h"

/* ---- making */

expr_program *
expr_program_create(void)
{
	expr_program *program = palloc0(sizeof(expr_program));

	program->most_ops = program->most_registers = 16;
	program->ops = palloc(program->most_ops * sizeof(mgpu_program_op));
	program->lanes = palloc(program->most_registers);
	program->most_outputs = 4;
	program->outputs = palloc(program->most_outputs * sizeof(expr_value));
	initStringInfo(&program->tables);
	return program;
}

/* How much a program has. */
typedef struct program_sizes
{
	int			num_ops;
	int			num_registers;
	int			num_attributes;
	int			num_constants;
	int			num_parts;
	int			table_bytes;
} program_sizes;

static program_sizes
sizes_of(const expr_program *program)
{
	return (program_sizes) {program->num_ops, program->num_registers, list_length(program->attributes),
		list_length(program->constants), list_length(program->parts), program->tables.len};
}

/* Forget what an expression that cannot run so has added. */
static void
cut_back(expr_program *program, const program_sizes *to)
{
	program->num_ops = to->num_ops;
	program->num_registers = to->num_registers;
	program->attributes = list_truncate(program->attributes, to->num_attributes);
	program->constants = list_truncate(program->constants, to->num_constants);
	program->parts = list_truncate(program->parts, to->num_parts);
	program->tables.len = to->table_bytes;
	program->case_values = NIL;
}

int
expr_program_add(expr_program *program, Expr *expr)
{
	program_sizes before = sizes_of(program);
	expr_value	value;

	if (!compile_expr(program, expr, &value))
	{
		cut_back(program, &before);
		return -1;
	}
	if (program->num_outputs == program->most_outputs)
	{
		program->most_outputs *= 2;
		program->outputs = repalloc(program->outputs, program->most_outputs * sizeof(expr_value));
	}
	program->outputs[program->num_outputs] = value;
	return program->num_outputs++;
}

/*
 * Registers are used again once nobody reads them any more, so that all stay in the processor's first cache.  Those of constants and
 * results are kept.
 */
typedef struct register_plan
{
	int		   *last_use;		/* the last operation that reads a register; num_ops: it is kept */
	int		   *place;			/* of each, or -1 */
	uint8	   *lanes;			/* of each place */
	bool	   *taken;
	int			num_places;
} register_plan;

static void
find_last_uses(const expr_program *program, register_plan *plan)
{
	ListCell   *cell;

	for (int i = 0; i < program->num_registers; i++)
		plan->last_use[i] = -1;
	for (int i = 0; i < program->num_ops; i++)
		for (int j = 0; j < mgpu_program_num_from[program->ops[i].code]; j++)
			plan->last_use[program->ops[i].from[j]] = i;
	for (int i = 0; i < program->num_outputs; i++)
		plan->last_use[program->outputs[i].reg] = program->num_ops;
	foreach(cell, program->constants)
		plan->last_use[((expr_constant *) lfirst(cell))->reg] = program->num_ops;
}

/* A place of the register's kind that is free, or a new one. */
static void
take_place(const expr_program *program, register_plan *plan, int reg)
{
	int			place = 0;

	while (place < plan->num_places && (plan->taken[place] || plan->lanes[place] != program->lanes[reg]))
		place++;
	if (place == plan->num_places)
		plan->lanes[plan->num_places++] = program->lanes[reg];
	plan->taken[place] = true;
	plan->place[reg] = place;
}

static void
place_ops(expr_program *program, register_plan *plan)
{
	for (int i = 0; i < program->num_ops; i++)
	{
		mgpu_program_op *op = &program->ops[i];
		int			to = op->to;

		/* a result never lies where an argument is: operations may read it again */
		take_place(program, plan, to);
		op->to = plan->place[to];
		for (int j = 0; j < mgpu_program_num_from[op->code]; j++)
		{
			int			from = op->from[j];

			op->from[j] = plan->place[from];
			if (plan->last_use[from] <= i)
				plan->taken[plan->place[from]] = false;
		}
		if (plan->last_use[to] < 0)
			plan->taken[op->to] = false;
	}
}

static void
place_registers(expr_program *program)
{
	int			num_registers = program->num_registers;
	register_plan plan = {palloc((num_registers + 1) * sizeof(int)), palloc((num_registers + 1) * sizeof(int)),
	palloc0(num_registers + 1), palloc0(num_registers + 1), 0};
	ListCell   *cell;

	find_last_uses(program, &plan);
	foreach(cell, program->constants)
	{
		expr_constant *constant = lfirst(cell);
		int			reg = constant->reg;

		plan.place[reg] = plan.num_places;
		plan.lanes[plan.num_places] = program->lanes[reg];
		plan.taken[plan.num_places] = true;
		constant->reg = plan.num_places++;
	}
	place_ops(program, &plan);
	for (int i = 0; i < program->num_outputs; i++)
		program->outputs[i].reg = plan.place[program->outputs[i].reg];
	program->lanes = plan.lanes;
	program->num_registers = plan.num_places;
}

static void
fill_constant(const expr_program *program, const expr_constant *constant)
{
	mgpu_register *reg = &program->registers[constant->reg];

	memset(reg->states, constant->is_null ? MGPU_IS_NULL : MGPU_IS_VALUE, program->num_rows);
	for (uint32 i = 0; i < program->num_rows; i++)
	{
		if (constant->type.lane == MGPU_LANE_REAL)
			reg->reals[i] = constant->real;
		else if (constant->type.lane == MGPU_LANE_BYTES)
		{
			reg->bytes[i] = constant->bytes;
			reg->lengths[i] = constant->length;
		}
		else
			reg->integers[i] = constant->number;
	}
}

void
expr_program_finish(expr_program *program, uint32 num_rows)
{
	ListCell   *cell;

	place_registers(program);
	program->num_rows = num_rows;
	program->registers = palloc0(program->num_registers * sizeof(mgpu_register) + 1);
	for (int i = 0; i < program->num_registers; i++)
	{
		mgpu_register *reg = &program->registers[i];

		reg->integers = palloc0(num_rows * sizeof(int64));
		reg->states = palloc0(num_rows);
		if (program->lanes[i] == MGPU_LANE_BYTES || program->lanes[i] == MGPU_LANE_SHOWN)
			reg->lengths = palloc0(num_rows * sizeof(uint32));
	}
	foreach(cell, program->constants)
		if (((expr_constant *) lfirst(cell))->param == NULL)
			fill_constant(program, lfirst(cell));
	program->program = (mgpu_program) {
		.num_ops = program->num_ops,.num_inputs = list_length(program->attributes),.num_registers = program->num_registers,
		.num_constants = list_length(program->constants),.ops = program->ops,.lanes = program->lanes,.tables = program->tables.data
	};
}

int
expr_program_num_inputs(const expr_program *program)
{
	return list_length(program->attributes);
}

AttrNumber
expr_program_attribute(const expr_program *program, int input)
{
	return list_nth_int(program->attributes, input);
}

void
expr_program_describe(const expr_program *program, StringInfo names)
{
	for (int i = 0; i < program->num_ops; i++)
		appendStringInfo(names, "%s%s", names->len > 0 ? ", " : "", mgpu_program_names[program->ops[i].code]);
}

/* ---- running */

void
expr_program_forget(expr_program *program)
{
	program->knows_constants = false;
}

/* Fill a parameter's register.  false: a query that has not run yet computes it, as PostgreSQL's executor would have it run. */
static bool
fill_param(expr_program *program, ExprContext *context, expr_constant *constant)
{
	Datum		value;

	if (constant->param->paramkind == PARAM_EXEC && context->ecxt_param_exec_vals[constant->param->paramid].execPlan != NULL)
		return false;
	value = ExecEvalExprSwitchContext(constant->state, context, &constant->is_null);
	if (!constant->is_null && !expr_constant_fill(constant, value))
		return false;
	fill_constant(program, constant);
	return true;
}

/* A parameter's bytes live as long as it has its value. */
static bool
fill_params(expr_program *program, ExprContext *context)
{
	ListCell   *cell;

	if (program->knows_constants)
		return true;
	foreach(cell, program->constants)
	{
		expr_constant *constant = lfirst(cell);

		if (constant->param && !fill_param(program, context, constant))
			return false;
	}
	program->knows_constants = true;
	return true;
}

bool
expr_program_run(expr_program *program, ExprContext *context, const mgpu_program_input *inputs, const uint16 *rows,
				 uint32 num_rows)
{
	/* a cursor's query may go on under another time zone */
	if ((program->zone && program->zone != session_timezone) || !fill_params(program, context))
		return false;
	Assert(num_rows <= program->num_rows);
	mgpu_program_run(&program->program, program->registers, inputs, rows, num_rows);
	return true;
}

const uint8 *
expr_program_states(const expr_program *program, int number)
{
	return program->registers[program->outputs[number].reg].states;
}

const int64 *
expr_program_truths(const expr_program *program, int number)
{
	return program->registers[program->outputs[number].reg].integers;
}

/* ---- into columns */

/* As numeric.c stores a number of few digits: a header of two bytes, and digits of base 10,000. */
#define DIGIT_BASE 10000
#define DIGIT_PLACES 4
#define MOST_DIGITS 10
#define NUMERIC_SHORT 0x8000
#define SHORT_NEGATIVE 0x2000
#define SHORT_SCALE_SHIFT 7
#define SHORT_WEIGHT_MASK 0x7F

typedef struct short_numeric
{
	int32		length;			/* of varlena */
	uint16		header;
	int16		digits[MOST_DIGITS];
} short_numeric;

/* number / 10^scale, shown with so many digits behind the point.  Digits of base 10,000 that are zero at the ends are left out. */
static Datum
make_numeric(short_numeric *made, int64 number, int scale, int shown)
{
	uint64		rest = number < 0 ? -(uint64) number : (uint64) number;
	uint64		unit = power_of_ten(scale);
	uint64		whole = rest / unit;
	int			places = (scale + DIGIT_PLACES - 1) / DIGIT_PLACES;
	uint64		fraction = rest % unit * power_of_ten(places * DIGIT_PLACES - scale);
	int16		digits[MOST_DIGITS];
	int			weight = -1;
	int			first = 0;
	int			end = MOST_DIGITS;
	int			begin = MOST_DIGITS - places;

	for (int i = MOST_DIGITS - 1; i >= begin; i--, fraction /= DIGIT_BASE)
		digits[i] = fraction % DIGIT_BASE;
	for (; whole > 0; whole /= DIGIT_BASE, weight++)
		digits[--begin] = whole % DIGIT_BASE;
	for (first = begin; first < end && digits[first] == 0; first++)
		weight--;
	while (end > first && digits[end - 1] == 0)
		end--;
	if (first == end)
		weight = 0;
	made->header = NUMERIC_SHORT | (number < 0 ? SHORT_NEGATIVE : 0) | shown << SHORT_SCALE_SHIFT | (weight & SHORT_WEIGHT_MASK);
	memcpy(made->digits, digits + first, (end - first) * sizeof(int16));
	SET_VARSIZE(made, offsetof(short_numeric, digits) + (end - first) * sizeof(int16));
	return PointerGetDatum(made);
}

/* A value that is no number of fixed width. */
static void
store_other(const expr_value *value, const mgpu_register *reg, uint32 i, chunk *rows, column *col, uint64 row)
{
	short_numeric made;

	if (value->type.lane == MGPU_LANE_BYTES && value->type.width > 0)
		chunk_put(rows, col, row, PointerGetDatum(reg->bytes[i]), false);
	else if (value->type.lane == MGPU_LANE_BYTES)
		chunk_put_bytes(rows, col, row, reg->bytes[i], reg->lengths[i]);
	else
		chunk_put(rows, col, row, make_numeric(&made, reg->integers[i], value->type.scale,
											   value->type.lane == MGPU_LANE_SHOWN ? (int) reg->lengths[i] : value->type.scale), false);
}

#define STORE(type, member) \
	for (uint32 i = 0; i < num_rows; i++) \
		((type *) col->cells)[first + i] = (type) reg->member[i]

/* Cells of values, of a type of fixed width that is passed by value.  false: it is none. */
static bool
store_numbers(const expr_value *value, const mgpu_register *reg, const column *col, uint64 first, uint32 num_rows)
{
	if (value->type.is_numeric || value->type.lane == MGPU_LANE_BYTES)
		return false;
	if (value->type.lane == MGPU_LANE_REAL && col->type->store == COLUMN_4)
		STORE(float4, reals);
	else if (value->type.lane == MGPU_LANE_REAL)
		STORE(float8, reals);
	else if (col->type->store == COLUMN_1)
		STORE(uint8, integers);
	else if (col->type->store == COLUMN_2)
		STORE(int16, integers);
	else if (col->type->store == COLUMN_4)
		STORE(int32, integers);
	else
		STORE(int64, integers);
	return true;
}

uint32
expr_program_store(const expr_program *program, int number, chunk *rows, column *col, uint64 first, uint32 num_rows)
{
	const expr_value *value = &program->outputs[number];
	const mgpu_register *reg = &program->registers[value->reg];
	bool		is_stored = store_numbers(value, reg, col, first, num_rows);
	uint32		num_faults = 0;

	for (uint32 i = 0; i < num_rows; i++)
	{
		if (reg->states[i] == MGPU_IS_NULL)
			chunk_put_null(rows, col, first + i);
		else if (reg->states[i] == MGPU_IS_FAULT)
			num_faults++;
		else if (!is_stored)
			store_other(value, reg, i, rows, col, first + i);
	}
	return num_faults;
}

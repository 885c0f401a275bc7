/*
 * evaluate.c
 *		Finishes programs, and runs them.
 */
#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "compat.h"
#include "expr/compile.h"

/* Bytes of texts that are made of a row, on the average. */
#define MADE_BYTES 1024

/* ---- making */

expr_program *
expr_program_create(void)
{
	expr_program *program = palloc0(sizeof(expr_program));

	program->compile = compile_node;
	program->shown_scale = EXPR_LEAST_SHOWN;
	program->most_ops = program->most_registers = 16;
	program->ops = palloc(program->most_ops * sizeof(mgpu_program_op));
	program->lanes = palloc(program->most_registers);
	program->most_outputs = 4;
	program->outputs = palloc(program->most_outputs * sizeof(expr_value));
	initStringInfo(&program->tables);
	return program;
}

void
expr_program_take_numbers(expr_program *program, const Bitmapset *attributes)
{
	program->numbers = attributes;
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
	int			num_made;
	Oid			collation;
} program_sizes;

static program_sizes
sizes_of(const expr_program *program)
{
	return (program_sizes) {program->num_ops, program->num_registers, list_length(program->attributes),
		list_length(program->constants), list_length(program->parts), program->tables.len, program->num_made, program->collation};
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
	program->num_made = to->num_made;
	program->collation = to->collation;
	program->last_zone = NULL;
	program->case_values = NIL;
}

int
expr_program_add_output(expr_program *program, expr_value value)
{
	if (program->num_outputs == program->most_outputs)
	{
		program->most_outputs *= 2;
		program->outputs = repalloc(program->outputs, program->most_outputs * sizeof(expr_value));
	}
	program->outputs[program->num_outputs] = value;
	return program->num_outputs++;
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
	return expr_program_add_output(program, value);
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
		if (((expr_constant *) lfirst(cell))->expr == NULL)
			fill_constant(program, lfirst(cell));
	program->program = (mgpu_program) {
		.num_ops = program->num_ops,.ops = program->ops,.lanes = program->lanes,.tables = program->tables.data,.collator = expr_collator(program)
	};
	if (program->num_made > 0)
	{
		program->made.size = num_rows * MADE_BYTES;
		program->made.bytes = palloc(program->made.size + 1);
		program->program.made = &program->made;
	}
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
expr_programs_explain(const List *programs, ExplainState *es)
{
	StringInfoData names;
	int			num_ops = 0;
	ListCell   *cell;

	initStringInfo(&names);
	foreach(cell, programs)
	{
		const expr_program *program = lfirst(cell);

		num_ops += program->num_ops;
		for (int i = 0; i < program->num_ops; i++)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", mgpu_program_names[program->ops[i].code]);
	}
	if (num_ops > 0)
		ExplainPropertyText("Program", es->verbose ? names.data : psprintf("%d ops", num_ops), es);
}

/* ---- running */

void
expr_program_forget(expr_program *program)
{
	program->knows_constants = false;
}

bool
expr_waits_for_query(Node *node, void *context)
{
	const Param *param = (const Param *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return param->paramkind == PARAM_EXEC && ((const ExprContext *) context)->ecxt_param_exec_vals[param->paramid].execPlan != NULL;
	return expression_tree_walker(node, expr_waits_for_query, context);
}

/* Compute a constant.  false: no register holds its value. */
static bool
compute_constant(ExprContext *context, expr_constant *constant)
{
	MemoryContext caller;
	Datum		value;

	if (constant->state == NULL)
	{
		caller = MemoryContextSwitchTo(GetMemoryChunkContext(constant));
		constant->state = ExecInitExpr(constant->expr, NULL);
		if (!IsA(constant->expr, Param))
			constant->numbers = ExecInitExprList(fixed_number_params(constant->expr), NULL);
		MemoryContextSwitchTo(caller);
	}
	if (!fixed_numbers_are_short(constant->numbers, context))
		return false;
	value = ExecEvalExprSwitchContext(constant->state, context, &constant->is_null);
	return constant->is_null || expr_constant_fill(constant, value);
}

static bool
fill_fixed(expr_program *program, ExprContext *context, expr_constant *constant)
{
	if (expr_waits_for_query((Node *) constant->expr, context) || !compute_constant(context, constant))
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

		if (constant->expr && !fill_fixed(program, context, constant))
			return false;
	}
	program->knows_constants = true;
	return true;
}

bool
expr_program_run(expr_program *program, ExprContext *context, const mgpu_program_input *inputs, const uint16 *rows,
				 uint32 num_rows)
{
	/* a cursor's query may go on under another time zone, or style of dates */
	if ((program->zone && program->zone != session_timezone) || (program->writes_dates && DateStyle != USE_ISO_DATES) || !fill_params(program, context))
		return false;
	Assert(num_rows <= program->num_rows);
	mgpu_program_run(&program->program, program->registers, inputs, rows, num_rows);
	return true;
}

bool
expr_program_compute_constants(expr_program *program, ExprContext *context)
{
	ListCell   *cell;

	foreach(cell, program->constants)
	{
		expr_constant *constant = lfirst(cell);

		if (constant->expr && !compute_constant(context, constant))
			return false;
	}
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

const char *
expr_program_text(const expr_program *program, int number, uint32 row, uint32 *length)
{
	const mgpu_register *reg = &program->registers[program->outputs[number].reg];

	*length = reg->lengths[row];
	return reg->bytes[row];
}

/*
 * group_program.c
 *		Validation of the programs of group specs: registers, inputs, builds and numbers of each operation; tables are in group_tables.c.
 *
 * What an executor would read outside of its memory, divide by zero or shift too far is refused here, so that operations need not look.
 */
#include "group_tables.h"

#include <inttypes.h>

/* As many digits fit in 64 bits; powers of 10 that scale numerics. */
#define MOST_DIGITS 18
#define MOST_POWER INT64_C(1000000000000000000)

#define MOST_WORDS 32

/* ---- inputs, builds, numbers */

/* Whether an operation may load its input: bytes that a row has there are as many as it reads. */
static bool
is_load_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op)
{
	int32_t		length;

	if (op->number < 0 || op->number >= (int64_t) spec->num_inputs)
		return false;
	length = spec->inputs[op->number].length;
	switch (op->code)
	{
		case MGPU_RUN_LOAD_PRESENCE:
			return true;
		case MGPU_RUN_LOAD_INTEGER:
			return length == op->width && (length == 1 || length == 2 || length == 4 || length == 8);
		case MGPU_RUN_LOAD_REAL:
			return length == op->width && (length == 4 || length == 8);
		case MGPU_RUN_LOAD_FIXED:
			return length == op->width;
		case MGPU_RUN_LOAD_NUMERIC:
		case MGPU_RUN_LOAD_SHOWN:
			return length == -1 && op->width <= MOST_DIGITS;
		default:
			return length == -1;
	}
}

static bool
is_build_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op)
{
	uint32_t	num_cells = spec->lanes[op->to] == MGPU_LANE_SHOWN ? 2 : 1;

	if (op->number < 0 || op->number >= (int64_t) spec->num_builds)
		return false;
	return op->code == MGPU_RUN_LOOKUP || op->width + num_cells <= spec->builds[op->number].num_columns;
}

static bool
is_width_allowed(const mgpu_program_op *op)
{
	switch (op->code)
	{
		case MGPU_RUN_ADD_INTEGER:
		case MGPU_RUN_SUBTRACT_INTEGER:
		case MGPU_RUN_MULTIPLY_INTEGER:
		case MGPU_RUN_DIVIDE_INTEGER:
		case MGPU_RUN_NEGATE_INTEGER:
		case MGPU_RUN_ABSOLUTE_INTEGER:
		case MGPU_RUN_FIT_INTEGER:
		case MGPU_RUN_INTEGER_OF_REAL:
			return op->width >= 1 && op->width <= sizeof(int64_t);
		case MGPU_RUN_JSON_NUMBER:
		case MGPU_RUN_NUMBER_OF_TEXT:
			return op->width <= MOST_DIGITS;
		case MGPU_RUN_ARRAY_HAS_INTEGER:
			return op->width == sizeof(int16_t) || op->width == sizeof(int32_t) || op->width == sizeof(int64_t);
		case MGPU_RUN_RANGE_BOUND:
		case MGPU_RUN_RANGE_HAS_FLAG:
		case MGPU_RUN_RANGE_HAS:
		case MGPU_RUN_RANGE_RELATES:
			return op->width == sizeof(int32_t) || op->width == sizeof(int64_t);
		case MGPU_RUN_WORD:
		case MGPU_RUN_WORD_FIXED:
		case MGPU_RUN_WORD_INET:
			return op->width <= MOST_WORDS && op->number >= 0 && op->number < op->width;
		case MGPU_RUN_WORD_COMPARED:
			return op->width < MOST_WORDS && op->number >= 0 && op->number < op->width;
		default:
			return true;
	}
}

static bool
is_number_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op)
{
	switch (op->code)
	{
		case MGPU_RUN_ROUND_OFF:
		case MGPU_RUN_CUT_OFF:
		case MGPU_RUN_FLOOR_OFF:
		case MGPU_RUN_CEILING_OFF:
		case MGPU_RUN_LIMIT_MAGNITUDE:
		case MGPU_RUN_REAL_OF_NUMERIC:
			return op->number > 0 && op->number <= MOST_POWER;
		case MGPU_RUN_QUOTIENT:
			return op->number >= 0 && (op->number & ~(int64_t) MGPU_QUOTIENT_IS_CUT) <= MGPU_QUOTIENT_MOST_PLACES;
		case MGPU_RUN_TRUNCATE_TIME:
			return op->number >= 0 && op->number <= MGPU_TIME_YEAR;
		case MGPU_RUN_EXTRACT:
			return op->number >= 0 && op->number <= MGPU_FIELD_EPOCH;
		case MGPU_RUN_BYTES_OF_WORDS:
			return op->number == 2 || op->number == 3;
		case MGPU_RUN_TEXT_OF_INTEGER:
			return op->number >= 0 && op->number <= MOST_DIGITS;
		case MGPU_RUN_IN_ROUND:
			return op->number > 0 && op->number <= MGPU_BUILD_MAX_ROUNDS;
		case MGPU_RUN_LOOKUP:
		case MGPU_RUN_MATCH:
		case MGPU_RUN_FETCH:
			return is_build_allowed(spec, op);
		default:
			return mgpu_group_table_allowed(spec, op);
	}
}

/* ---- registers */

/* Whether a register of a lane may be where an operation has a kind, and its result another lane. */
static bool
is_lane_allowed(char kind, uint8_t lane, uint8_t result)
{
	switch (kind)
	{
		case 'i':
			return lane == MGPU_LANE_INTEGER || lane == MGPU_LANE_SHOWN;
		case 'r':
			return lane == MGPU_LANE_REAL;
		case 's':
			return lane == MGPU_LANE_BYTES;
		case 'n':
			return lane == MGPU_LANE_SHOWN;
		case '#':
			return lane != MGPU_LANE_BYTES;
		case '=':
			return lane == result;
		default:
			return true;
	}
}

/* known: a bit for each register that has something by now. */
static bool
are_registers_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op, uint64_t known)
{
	const char *kinds = mgpu_program_kinds[op->code];
	uint8_t		result;

	if (op->to < spec->num_constants || op->to >= spec->num_registers)
		return false;
	result = spec->lanes[op->to];
	for (int i = 0; i < mgpu_program_num_from[op->code]; i++)
	{
		uint16_t	from = op->from[i];

		if (from >= spec->num_registers || (known >> from & 1) == 0 || !is_lane_allowed(kinds[1 + i], spec->lanes[from], result))
			return false;
	}
	return is_lane_allowed(kinds[0], result, result);
}

static bool
is_op_allowed(const mgpu_group_spec *spec, const mgpu_program_op *op, uint64_t known)
{
	if (op->code >= MGPU_PROGRAM_NUM_CODES || !are_registers_allowed(spec, op, known))
		return false;
	if (mgpu_program_num_from[op->code] == 0)
		return is_load_allowed(spec, op);
	return is_width_allowed(op) && is_number_allowed(spec, op);
}

static mgpu_status
validate_registers(const mgpu_group_spec *spec, mgpu_error *err)
{
	for (uint32_t i = 0; i < spec->num_registers; i++)
		if (spec->lanes[i] > MGPU_LANE_SHOWN)
			return mgpu_fail(err, MGPU_BAD_JOB, "register %" PRIu32 " of kind %d", i, spec->lanes[i]);
	for (uint32_t i = 0; i < spec->num_constants; i++)
	{
		const mgpu_group_constant *constant = &spec->constants[i];

		if (spec->lanes[i] == MGPU_LANE_BYTES &&
			(constant->bits < 0 || constant->bits > (int64_t) spec->table_bytes ||
			 constant->length > spec->table_bytes - (uint64_t) constant->bits))
			return mgpu_fail(err, MGPU_BAD_JOB, "a constant of %" PRIu32 " bytes at offset %" PRId64, constant->length, constant->bits);
	}
	return MGPU_OK;
}

/* ---- the whole */

/* The operations up to one, and what they add to *known. */
static mgpu_status
validate_ops(const mgpu_group_spec *spec, uint32_t begin, uint32_t end, uint64_t *known, mgpu_error *err)
{
	for (uint32_t i = begin; i < end; i++)
	{
		if (!is_op_allowed(spec, &spec->ops[i], *known))
			return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 ", of code %d", i, spec->ops[i].code);
		*known |= UINT64_C(1) << spec->ops[i].to;
	}
	return MGPU_OK;
}

/* Operations that make texts have numbers in their order. */
static mgpu_status
validate_made(const mgpu_group_spec *spec, mgpu_error *err)
{
	uint32_t	num_made = 0;

	for (uint32_t i = 0; i < spec->num_ops; i++)
	{
		if (!MGPU_MAKES_TEXTS(spec->ops[i].code))
			continue;
		if (spec->ops[i].width != num_made || num_made == MGPU_MOST_MADE)
			return mgpu_fail(err, MGPU_BAD_JOB, "operation %" PRIu32 " makes texts as number %d", i, spec->ops[i].width);
		num_made++;
	}
	return MGPU_OK;
}

/* Tests end one behind the other, and have their registers by then. */
static mgpu_status
validate_test(const mgpu_group_spec *spec, const mgpu_group_test *test, uint32_t begin, uint64_t *known, mgpu_error *err)
{
	mgpu_status status;

	if (test->end_op < begin || test->end_op > spec->num_ops)
		return mgpu_fail(err, MGPU_BAD_JOB, "a test ends at operation %" PRIu32, test->end_op);
	status = validate_ops(spec, begin, test->end_op, known, err);
	if (status == MGPU_OK && (test->reg >= spec->num_registers || (*known >> test->reg & 1) == 0 ||
							  spec->lanes[test->reg] != MGPU_LANE_INTEGER))
		return mgpu_fail(err, MGPU_BAD_JOB, "a test of register %" PRIu32, test->reg);
	return status;
}

mgpu_status
mgpu_group_validate_program(const mgpu_group_spec *spec, mgpu_error *err)
{
	uint64_t	known = (UINT64_C(1) << spec->num_constants) - 1;
	mgpu_status status = validate_registers(spec, err);
	uint32_t	begin = 0;

	for (uint32_t i = 0; status == MGPU_OK && i < spec->num_tests; i++)
	{
		status = validate_test(spec, &spec->tests[i], begin, &known, err);
		begin = spec->tests[i].end_op;
	}
	if (status == MGPU_OK)
		status = validate_ops(spec, begin, spec->num_ops, &known, err);
	if (status == MGPU_OK)
		status = validate_made(spec, err);
	for (uint32_t i = 0; status == MGPU_OK && i < spec->num_columns; i++)
	{
		uint32_t	reg = spec->columns[i].reg;

		if (reg >= spec->num_registers || (known >> reg & 1) == 0)
			status = mgpu_fail(err, MGPU_BAD_JOB, "a column of register %" PRIu32, reg);
	}
	return status;
}

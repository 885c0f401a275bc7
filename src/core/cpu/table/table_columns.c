/*
 * table_columns.c
 *		The program of a vector's rows: tests, which rows are kept, and the codes of their columns.
 *
 * The first test's operations run for all rows.  Where a test drops many, rows that are kept move to the front, and with them the registers
 * that are read later; so the operations of the next test, which may look rows up in a large build, run for them alone.
 */
#include "core/cpu/table/table_read.h"

#include <string.h>

/* ---- plan */

/* Registers that operations from one on read, or tests, matches whose conditions do not end before, or columns. */
static uint64_t
registers_read_from(const mgpu_group_spec *spec, uint32_t op, uint32_t test)
{
	uint64_t	read = 0;

	for (; op < spec->num_ops; op++)
		for (int from = 0; from < mgpu_program_num_from[spec->ops[op].code]; from++)
			read |= UINT64_C(1) << spec->ops[op].from[from];
	for (uint32_t i = 0; i < spec->num_matches; i++)
		read |= mgpu_group_match_end(&spec->matches[i]) >= test ? UINT64_C(1) << spec->matches[i].reg : 0;
	for (; test < spec->num_tests; test++)
		read |= UINT64_C(1) << spec->tests[test].reg;
	for (uint32_t i = 0; i < spec->num_columns; i++)
		read |= UINT64_C(1) << spec->columns[i].reg;
	return read;
}

/* What moves with the rows that each test keeps. */
static void
plan_moves(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;
	uint64_t	written = 0;
	uint32_t	op = 0;

	for (uint32_t test = 0; test < spec->num_tests; test++)
	{
		for (; op < spec->tests[test].end_op; op++)
			written |= UINT64_C(1) << spec->ops[op].to;
		run->moved[test] = written & registers_read_from(spec, op, test + 1);
	}
}

void
mgpu_table_plan_columns(mgpu_run *run)
{
	const mgpu_group_spec *spec = &run->spec;

	plan_moves(run);
	for (uint32_t i = 0; i < spec->num_matches; i++)
		mgpu_table_plan_looks(spec, &spec->matches[i], run->moved[spec->matches[i].test - 1], &run->looks[i]);
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		uint32_t	cells = spec->columns[i].num_cells > 0 ? (UINT32_C(1) << spec->columns[i].num_cells) - 1 : 1;

		run->stored |= (uint32_t) mgpu_column_is_stored(spec, i) << i;
		run->grouped |= spec->columns[i].reduction != MGPU_REDUCE_NONE ? cells << i : 0;
	}
	for (uint32_t i = 0; i < spec->num_keys; i++)
		run->key_columns |= UINT32_C(1) << spec->keys[i];
	run->grouped |= run->key_columns;
}

static void
fill_constant(const mgpu_group_spec *spec, uint32_t number, mgpu_register *to)
{
	const mgpu_group_constant *from = &spec->constants[number];

	for (uint32_t i = 0; i < MGPU_VECTOR_ROWS; i++)
	{
		if (spec->lanes[number] == MGPU_LANE_BYTES)
			to->bytes[i] = (const char *) spec->tables + from->bits;
		else
			to->integers[i] = from->bits;
		to->lengths[i] = from->length;
		to->states[i] = from->is_null ? MGPU_IS_NULL : MGPU_IS_VALUE;
	}
}

/* Bytes of texts that are made of a row, on the average of a vector. */
#define MADE_BYTES 1024

static bool
make_room_for_texts(const mgpu_group_spec *spec, mgpu_table_worker *worker)
{
	bool		is_needed = false;

	for (uint32_t i = 0; i < spec->num_ops; i++)
		is_needed |= MGPU_MAKES_TEXTS(spec->ops[i].code);
	if (!is_needed)
		return true;
	worker->made.size = MGPU_VECTOR_ROWS * MADE_BYTES;
	worker->made.bytes = mgpu_arena_allocate(&worker->arena, worker->made.size);
	return worker->made.bytes != NULL;
}

/* Registers are zeroed: no test reads what was never written. */
bool
mgpu_table_make_registers(mgpu_run *run, mgpu_table_worker *worker)
{
	const mgpu_group_spec *spec = &run->spec;
	uint64_t	register_bytes = MGPU_VECTOR_ROWS * (sizeof(int64_t) + sizeof(uint32_t) + 1);

	for (uint32_t i = 0; i < spec->num_registers; i++)
	{
		char	   *memory = mgpu_arena_allocate(&worker->arena, register_bytes);

		if (memory == NULL)
			return false;
		memset(memory, 0, register_bytes);
		worker->registers[i].integers = (int64_t *) memory;
		worker->registers[i].lengths = (uint32_t *) (memory + MGPU_VECTOR_ROWS * sizeof(int64_t));
		worker->registers[i].states = (uint8_t *) (worker->registers[i].lengths + MGPU_VECTOR_ROWS);
		if (i < spec->num_constants)
			fill_constant(spec, i, &worker->registers[i]);
	}
	if (!make_room_for_texts(spec, worker))
		return false;
	for (uint32_t i = 0; i < spec->num_inputs; i++)
	{
		worker->found[i] = mgpu_arena_allocate(&worker->arena, MGPU_VECTOR_ROWS * sizeof(char *));
		if (worker->found[i] == NULL)
			return false;
	}
	return true;
}

static void
run_ops(const mgpu_run *run, mgpu_table_worker *worker, uint32_t begin, uint32_t end, uint32_t num_rows)
{
	const mgpu_group_spec *spec = &run->spec;
	mgpu_program program = {end - begin, spec->ops + begin, spec->lanes, (const char *) spec->tables, spec->builds, run->builds, &worker->made, worker->collator};
	mgpu_program_input inputs[MGPU_GROUP_MAX_INPUTS];

	for (uint32_t i = 0; i < spec->num_inputs; i++)
		inputs[i].values = worker->found[i];
	mgpu_program_run(&program, worker->registers, inputs, worker->kept, num_rows);
}

/* ---- tests */

/* Of some rows, those that meet one more test.  *has_fault: one of them cannot be tested. */
static uint32_t
keep_rows(const mgpu_register *test, uint16_t *selected, uint32_t num_rows, bool *has_fault)
{
	uint32_t	num_kept = 0;

	for (uint32_t i = 0; i < num_rows; i++)
	{
		uint16_t	row = selected[i];

		*has_fault |= test->states[row] == MGPU_IS_FAULT;
		selected[num_kept] = row;
		num_kept += test->states[row] == MGPU_IS_VALUE && test->integers[row] != 0;
	}
	return num_kept;
}

static void
move_register(const mgpu_register *reg, uint8_t lane, const uint16_t *selected, uint32_t num_rows)
{
	for (uint32_t i = 0; i < num_rows; i++)
	{
		reg->integers[i] = reg->integers[selected[i]];
		reg->states[i] = reg->states[selected[i]];
	}
	for (uint32_t i = 0; lane >= MGPU_LANE_BYTES && i < num_rows; i++)
		reg->lengths[i] = reg->lengths[selected[i]];
}

/* Move the selected rows to the front, with these registers and numbers; they are selected then, one after the other. */
static void
move_rows(const mgpu_run *run, mgpu_table_worker *worker, uint64_t registers, uint16_t *numbers, uint32_t num_rows)
{
	for (uint32_t i = 0; i < run->spec.num_registers; i++)
	{
		if ((registers >> i & 1) != 0)
			move_register(&worker->registers[i], run->spec.lanes[i], worker->selected, num_rows);
	}
	for (uint32_t i = 0; i < num_rows; i++)
		worker->kept[i] = worker->kept[worker->selected[i]];
	for (uint32_t i = 0; numbers != NULL && i < num_rows; i++)
		numbers[i] = numbers[worker->selected[i]];
	for (uint32_t i = 0; i < num_rows; i++)
		worker->selected[i] = (uint16_t) i;
}

static void
select_all(mgpu_table_worker *worker, uint32_t num_rows)
{
	for (uint32_t i = 0; i < num_rows; i++)
		worker->selected[i] = (uint16_t) i;
}

/* Where the operations of the first tests end. */
static uint32_t
end_op_of(const mgpu_group_spec *spec, uint32_t num_tests)
{
	return num_tests > 0 ? spec->tests[num_tests - 1].end_op : 0;
}

uint32_t
mgpu_table_meet_tests(mgpu_run *run, mgpu_table_worker *worker, uint32_t test, uint32_t end, uint16_t *numbers, uint32_t num_rows)
{
	const mgpu_group_spec *spec = &run->spec;
	uint32_t	num_selected = num_rows;
	uint32_t	begin = end_op_of(spec, test);
	bool		has_fault = false;

	select_all(worker, num_rows);
	for (uint32_t i = test; i < end; i++)
	{
		run_ops(run, worker, begin, spec->tests[i].end_op, num_rows);
		begin = spec->tests[i].end_op;
		num_selected = keep_rows(&worker->registers[spec->tests[i].reg], worker->selected, num_selected, &has_fault);
		if (num_selected < num_rows / 4 * 3 || (i + 1 == end && num_selected < num_rows))
		{
			move_rows(run, worker, run->moved[i], numbers, num_selected);
			num_rows = num_selected;
		}
	}
	if (has_fault)
		mgpu_table_fail(run, MGPU_TABLE_FAULT);
	return num_rows;
}

void
mgpu_table_run_tests(mgpu_run *run, mgpu_table_worker *worker, uint32_t test, uint32_t end, uint32_t num_rows)
{
	run_ops(run, worker, end_op_of(&run->spec, test), end_op_of(&run->spec, end), num_rows);
}

/* ---- columns */

static uint8_t
states_of(const uint8_t *states, uint32_t num_rows)
{
	uint8_t		all = 0;

	for (uint32_t i = 0; i < num_rows; i++)
		all |= states[i];
	return all;
}

/* Codes, as mgpu_cell_of has them, of rows of which none is NULL. */
static void
encode_integers(const mgpu_register *from, uint32_t kind, uint64_t *codes, uint32_t num_rows)
{
	uint64_t	flip = kind == MGPU_KEY_SIGNED ? MGPU_F64_SIGN : 0;

	for (uint32_t i = 0; i < num_rows; i++)
		codes[i] = (uint64_t) from->integers[i] ^ flip;
}

/* Whether codes are enough. */
static bool
encode_reals(const mgpu_register *from, bool is_narrow, uint64_t *codes, uint32_t num_rows)
{
	uint64_t	odd = 0;

	for (uint32_t i = 0; i < num_rows; i++)
	{
		uint64_t	bits = (uint64_t) from->integers[i];

		if (is_narrow)
		{
			bits = mgpu_float_bits_of_real(bits);
			codes[i] = mgpu_encode_f32((uint32_t) bits);
			odd |= mgpu_decode_f32((uint32_t) codes[i]) ^ bits;
		}
		else
		{
			codes[i] = mgpu_encode_f64(bits);
			odd |= mgpu_decode_f64(codes[i]) ^ bits;
		}
	}
	return odd == 0;
}

/* Rows one by one.  The cells' states, or-ed. */
static uint32_t
encode_cells(const mgpu_group_column *column, uint8_t lane, const mgpu_register *from, uint64_t *codes, uint32_t num_rows)
{
	uint32_t	states = 0;

	for (uint32_t i = 0; i < num_rows; i++)
	{
		uint64_t	number = lane == MGPU_LANE_BYTES ? 0 : (uint64_t) from->integers[i];

		states |= UINT32_C(1) << mgpu_cell_of(column, from->states[i], number, &codes[i]);
	}
	return states;
}

/* Numbers of texts. */
static uint32_t
encode_names(mgpu_run *run, const mgpu_register *from, uint64_t *codes, uint32_t num_rows)
{
	uint32_t	states = states_of(from->states, num_rows);

	if (!mgpu_names_number(run->names, from->bytes, from->lengths, from->states, num_rows, codes))
		mgpu_table_fail(run, MGPU_TABLE_NO_MEMORY);
	return (states & MGPU_IS_FAULT ? UINT32_C(1) << MGPU_CELL_FAULT : 0) | (states & MGPU_IS_NULL ? UINT32_C(1) << MGPU_CELL_NULL : 0);
}

static uint32_t
encode_column(const mgpu_group_column *column, uint8_t lane, const mgpu_register *from, uint64_t *codes, uint32_t num_rows)
{
	if (lane == MGPU_LANE_BYTES || states_of(from->states, num_rows) != MGPU_IS_VALUE)
		return encode_cells(column, lane, from, codes, num_rows);
	if (column->kind == MGPU_KEY_FLOAT)
		return !encode_reals(from, column->width == 4, codes, num_rows) && column->is_shown ? UINT32_C(1) << MGPU_CELL_ODD : 0;
	encode_integers(from, column->kind, codes, num_rows);
	return 0;
}

static void
note_nulls(const mgpu_register *from, uint32_t column, uint32_t *nulls, uint32_t num_rows)
{
	for (uint32_t i = 0; i < num_rows; i++)
		nulls[i] |= (uint32_t) (from->states[i] == MGPU_IS_NULL) << column;
}

/* ORDER: how far codes go of rows that are not NULL. */
static void
note_range(mgpu_table_worker *worker, uint32_t column, const uint8_t *states, const uint64_t *codes, uint32_t num_rows)
{
	uint64_t	least = worker->least[column];
	uint64_t	greatest = worker->greatest[column];

	for (uint32_t i = 0; i < num_rows; i++)
	{
		bool		is_null = states[i] == MGPU_IS_NULL;

		least = !is_null && codes[i] < least ? codes[i] : least;
		greatest = !is_null && codes[i] > greatest ? codes[i] : greatest;
	}
	worker->least[column] = least;
	worker->greatest[column] = greatest;
}

void
mgpu_table_compute(mgpu_run *run, mgpu_table_worker *worker, uint32_t num_rows)
{
	const mgpu_group_spec *spec = &run->spec;
	uint32_t   *nulls = worker->nulls + worker->num_rows;
	uint32_t	states = 0;

	run_ops(run, worker, mgpu_group_tests_end(spec), spec->num_ops, num_rows);
	memset(nulls, 0, num_rows * sizeof(uint32_t));
	for (uint32_t i = 0; i < spec->num_columns; i++)
	{
		const mgpu_register *from = &worker->registers[spec->columns[i].reg];
		bool		is_stored = (run->stored >> i & 1) != 0;
		uint64_t   *codes = is_stored ? worker->codes[i] + worker->num_rows : worker->hashes;
		uint32_t	column_states = spec->columns[i].is_named ? encode_names(run, from, codes, num_rows) :
			encode_column(&spec->columns[i], spec->lanes[spec->columns[i].reg], from, codes, num_rows);

		states |= column_states;
		if ((column_states >> MGPU_CELL_NULL & 1) != 0)
		{
			note_nulls(from, i, nulls, num_rows);
			worker->some_nulls |= UINT32_C(1) << i;
		}
		if (run->way == MGPU_TABLE_ORDER && is_stored)
			note_range(worker, i, from->states, codes, num_rows);
	}
	if ((states >> MGPU_CELL_FAULT & 1) != 0)
		mgpu_table_fail(run, MGPU_TABLE_FAULT);
	if ((states >> MGPU_CELL_ODD & 1) != 0)
		mgpu_table_fail(run, MGPU_TABLE_ODD);
	worker->all_nulls |= worker->some_nulls;
	worker->num_rows += num_rows;
}

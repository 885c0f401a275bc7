/*
 * kernel_program_cases.c
 *		See kernel_program_cases.h.
 */
#include "kernel_program_cases.h"

#include "unit_program.h"
#include "unit_program_made.h"

_Static_assert(PROGRAM_CASE_ROWS == MOST_ROWS && PROGRAM_CASE_REGISTERS == TO + 1, "as unit_program.h has it");

uint64_t
program_case_bytes(void)
{
	return sizeof(program_case);
}

void
program_case_open(void *memory)
{
	open_case(memory);
}

void
program_case_close(void *memory)
{
	close_case(memory);
}

static mgpu_row_register
row_of(const program_case *given, int number, uint32_t row)
{
	const mgpu_register *from = &given->registers[number];
	mgpu_row_register to;

	memset(&to, 0, sizeof(to));
	memcpy(to.integers, &from->integers[row], sizeof(int64_t));
	to.lengths[0] = from->lengths[row];
	to.states[0] = from->states[row];
	return to;
}

void
program_case_make(void *memory, int code, program_rows *rows)
{
	program_case *given = memory;
	static char room[MOST_ROWS * MANY_MADE_BYTES];
	mgpu_made	made = {room, sizeof(room), {0}};
	mgpu_program program = {1, &given->op, given->lanes, (const char *) given->table, given->builds, (const char *) given->build_memory, &made, NULL};
	mgpu_program_input inputs[2] = {{NULL}, {given->values}};

	make_case(given, code);
	memset(given->registers[TO].integers, 0, MOST_ROWS * sizeof(int64_t));
	memset(given->registers[TO].lengths, 0, MOST_ROWS * sizeof(uint32_t));
	rows->op = given->op;
	rows->tables = program.tables;
	rows->builds = program.builds;
	rows->build_memory = program.build_memory;
	rows->any_nan = strncmp(given->kinds, "rrr", 3) == 0 && code != MGPU_RUN_LARGER_REAL && code != MGPU_RUN_SMALLER_REAL;
	memcpy(rows->lanes, given->lanes, sizeof(rows->lanes));
	for (uint32_t row = 0; row < MOST_ROWS; row++)
	{
		for (int i = 0; i <= TO; i++)
			rows->registers[row][i] = row_of(given, i, row);
		rows->inputs[row][0] = NULL;
		rows->inputs[row][1] = given->values[given->rows[row]];
	}
	mgpu_program_run(&program, given->registers, inputs, given->rows, MOST_ROWS);
	for (uint32_t row = 0; row < MOST_ROWS; row++)
		rows->expected[row] = settled_result((uint32_t) code, row_of(given, TO, row));
}

/*
 * group_row.h
 *		One row of a page, by the program of a group spec: what a GPU's thread does.  See group_spec.h and program_row.h.
 *
 * Header-only, C11 and CUDA C++.
 */
#ifndef MGPU_GROUP_ROW_H
#define MGPU_GROUP_ROW_H

#include "core/group_decode.h"
#include "core/program_row.h"

/* What tests say of a row. */
typedef enum mgpu_row_fate
{
	MGPU_ROW_DROPPED = 0,
	MGPU_ROW_KEPT,
	MGPU_ROW_FAULT
} mgpu_row_fate;

/* Bytes of the texts that are made of a row.  Threads of a GPU have that much each, so it is no more than most texts need. */
#define MGPU_ROW_MADE_BYTES 512

/* What a row has in a thread. */
typedef struct mgpu_row_frame
{
	const char *inputs[MGPU_GROUP_MAX_INPUTS];
	uint64_t	tid;
	mgpu_row_register registers[MGPU_GROUP_MAX_REGISTERS];	/* that are no constants */
	mgpu_made	made;
	char		made_bytes[MGPU_ROW_MADE_BYTES];
} mgpu_row_frame;

/* Run the operations first to end - 1 for a row. */
MGPU_CODEC void
mgpu_run_row_ops(const mgpu_row_program *program, uint32_t first, uint32_t end, mgpu_row_frame *frame)
{
	frame->made.bytes = frame->made_bytes;
	frame->made.size = MGPU_ROW_MADE_BYTES;
	mgpu_program_run_row(program, first, end, frame->registers, frame->inputs, &frame->made);
}

/* Find the inputs of the row of a line pointer, as mgpu_find_inputs does it for a page's copy. */
MGPU_CODEC mgpu_row_state
mgpu_find_row_inputs(const mgpu_group_spec *spec, const char *page, uint64_t tid, mgpu_row_frame *frame)
{
	if (spec->tid_input > 0)
	{
		frame->tid = tid;
		frame->inputs[spec->tid_input - 1] = (const char *) &frame->tid;
	}
	return mgpu_find_inputs(spec, page, (uint32_t) (tid & 0xFFFF) - 1, frame->inputs);
}

/* A constant's register, for all rows.  tables: where the spec's are. */
MGPU_CODEC mgpu_row_register
mgpu_group_constant_of(const mgpu_group_spec *spec, uint32_t number)
{
	const mgpu_group_constant *from = &spec->constants[number];
	mgpu_row_register constant;

	constant.integers[0] = from->bits;
	if (spec->lanes[number] == MGPU_LANE_BYTES)
		constant.bytes[0] = (const char *) spec->tables + from->bits;
	constant.lengths[0] = from->length;
	constant.states[0] = from->is_null ? MGPU_IS_NULL : MGPU_IS_VALUE;
	return constant;
}

/* The program of a spec, whose builds and constants are filled.  It lives as long as all three. */
MGPU_CODEC mgpu_row_program
mgpu_group_program(const mgpu_group_spec *spec, const char *builds, const mgpu_row_register *constants)
{
	mgpu_row_program program;

	program.ops = spec->ops;
	program.num_ops = spec->num_ops;
	program.lanes = spec->lanes;
	program.tables = (const char *) spec->tables;
	program.builds = spec->builds;
	program.build_memory = builds;
	program.constants = constants;
	program.num_constants = spec->num_constants;
	return program;
}

/* What a test says of a row for which it was run. */
MGPU_CODEC mgpu_row_fate
mgpu_fate_of_row(const mgpu_row_program *program, uint32_t test, const mgpu_row_frame *frame)
{
	const mgpu_row_register *outcome = mgpu_row_register_at(program, frame->registers, test);

	if (outcome->states[0] == MGPU_IS_FAULT)
		return MGPU_ROW_FAULT;
	return outcome->states[0] == MGPU_IS_VALUE && outcome->integers[0] != 0 ? MGPU_ROW_KEPT : MGPU_ROW_DROPPED;
}

/* The code of a column that was computed. */
MGPU_CODEC mgpu_cell_state
mgpu_row_cell(const mgpu_group_spec *spec, const mgpu_row_program *program, const mgpu_row_frame *frame, uint32_t column, uint64_t *code)
{
	uint32_t	reg = spec->columns[column].reg;
	const mgpu_row_register *from = mgpu_row_register_at(program, frame->registers, reg);

	return mgpu_cell_of(&spec->columns[column], from->states[0],
						spec->lanes[reg] == MGPU_LANE_BYTES ? 0 : (uint64_t) from->integers[0], code);
}

#endif							/* MGPU_GROUP_ROW_H */

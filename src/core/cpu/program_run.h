/*
 * cpu/program_run.h
 *		Internals of running programs, for program_*.c.
 */
#ifndef MGPU_CPU_PROGRAM_RUN_H
#define MGPU_CPU_PROGRAM_RUN_H

#include "core/program.h"

/* A run: what mgpu_program_run is given. */
typedef struct mgpu_frame
{
	const mgpu_program *program;
	const mgpu_register *registers;
	const mgpu_program_input *inputs;
	const uint16_t *rows;
	uint32_t	num_rows;
} mgpu_frame;

typedef void mgpu_program_fn(const mgpu_frame *frame, const mgpu_program_op *op);

#define MGPU_PROGRAM_FUNCTION(code, function, name, num_from) mgpu_program_fn mgpu_run_##function;
MGPU_PROGRAM_OPS(MGPU_PROGRAM_FUNCTION)
#undef MGPU_PROGRAM_FUNCTION

static inline const mgpu_register *
mgpu_register_from(const mgpu_frame *frame, const mgpu_program_op *op, int n)
{
	return &frame->registers[op->from[n]];
}

static inline const void *
mgpu_program_table(const mgpu_frame *frame, const mgpu_program_op *op)
{
	return frame->program->tables + op->number;
}

/* The state of a strict function's result, of a row whose arguments have values or not. */
static inline uint8_t
mgpu_state_unless(uint8_t arguments, bool is_fault)
{
	return arguments == MGPU_IS_VALUE && is_fault ? MGPU_IS_FAULT : arguments;
}

static inline uint8_t
mgpu_larger_state(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

#endif							/* MGPU_CPU_PROGRAM_RUN_H */

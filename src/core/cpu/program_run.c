/*
 * cpu/program_run.c
 *		Runs programs: an operation for all rows, then the next one.
 *
 * So the choice of the operation costs nothing a row, and loops are short enough to be vectorized.  Row by row was rejected: it takes
 * five times as long on a CPU.
 */
#include "core/cpu/program_run.h"

const char *const mgpu_program_names[] = {
#define MGPU_PROGRAM_NAME(code, function, name, num_from) [MGPU_RUN_##code] = name,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_NAME)
#undef MGPU_PROGRAM_NAME
};

const uint8_t mgpu_program_num_from[] = {
#define MGPU_PROGRAM_NUM_FROM(code, function, name, num_from) [MGPU_RUN_##code] = num_from,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_NUM_FROM)
#undef MGPU_PROGRAM_NUM_FROM
};

static mgpu_program_fn *const functions[] = {
#define MGPU_PROGRAM_POINTER(code, function, name, num_from) [MGPU_RUN_##code] = mgpu_run_##function,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_POINTER)
#undef MGPU_PROGRAM_POINTER
};

void
mgpu_program_run(const mgpu_program *program, const mgpu_register *registers, const mgpu_program_input *inputs,
				 const uint16_t *rows, uint32_t num_rows)
{
	mgpu_frame	frame = {program, registers, inputs, rows, num_rows};

	for (uint32_t i = 0; i < program->num_ops; i++)
		functions[program->ops[i].code] (&frame, &program->ops[i]);
}

/*
 * cpu/program_run.c
 *		Runs programs: an operation for all rows, then the next one.
 *
 * So the choice of the operation costs nothing a row, and loops are short enough to be vectorized.  Row by row was rejected: it takes
 * five times as long on a CPU.  What the operations do is in program/ops.h.
 */
#define _GNU_SOURCE
#include "core/collator.h"
#include "core/key_codec.h"
#include "core/program.h"
#include "core/short_bytes.h"

#include <string.h>

/* ---- the form of program/ops.h: a run is what mgpu_program_run is given */

typedef struct mgpu_frame
{
	const mgpu_program *program;
	const mgpu_register *registers;
	const mgpu_program_input *inputs;
	const uint16_t *rows;
	uint32_t	num_rows;
	mgpu_made  *made;
} mgpu_frame;

static inline mgpu_register
mgpu_register_from(mgpu_frame frame, mgpu_program_op op, int n)
{
	return frame.registers[op.from[n]];
}

static inline mgpu_register
mgpu_register_to(mgpu_frame frame, mgpu_program_op op)
{
	return frame.registers[op.to];
}

static inline mgpu_program_input
mgpu_input_of(mgpu_frame frame, mgpu_program_op op)
{
	return frame.inputs[op.number];
}

static inline uint32_t
mgpu_row_of(mgpu_frame frame, uint32_t i)
{
	return frame.rows[i];
}

static inline int
mgpu_order_bytes(const char *a, const char *b, uint32_t length)
{
	return length == 0 ? 0 : memcmp(a, b, length);
}

static inline bool
mgpu_equal_bytes(const char *a, const char *b, uint32_t length)
{
	return mgpu_same_bytes(a, b, length);
}

static inline uint32_t
mgpu_collated_outcome(mgpu_frame frame, const char *a, uint32_t length_a, const char *b, uint32_t length_b)
{
	struct mgpu_collator *collator = frame.program->collator;

	return collator == NULL ? 0 : mgpu_collator_outcome(collator, a, length_a, b, length_b);
}

static inline const char *
mgpu_find_bytes(const char *text, uint32_t length, const char *part, uint32_t part_length)
{
	return memmem(text, length, part, part_length);
}

static inline bool
mgpu_has_mark(const char *marks, uint32_t length)
{
	return memchr(marks, 1, length) != NULL;
}

/* Rows are many: memory is asked for before the first is looked at. */
static inline void
mgpu_prefetch(const void *address)
{
	__builtin_prefetch(address);
}

static inline bool
mgpu_product_overflows(int64_t x, int64_t y)
{
	int64_t		product;

	return __builtin_mul_overflow(x, y, &product);
}

#include "core/program/ops.h"

/* ---- running */

const char *const mgpu_program_names[] = {
#define MGPU_PROGRAM_NAME(code, function, name, kinds) [MGPU_RUN_##code] = name,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_NAME)
#undef MGPU_PROGRAM_NAME
};

const char *const mgpu_program_kinds[] = {
#define MGPU_PROGRAM_KINDS(code, function, name, kinds) [MGPU_RUN_##code] = kinds,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_KINDS)
#undef MGPU_PROGRAM_KINDS
};

/* The result's kind is none of them. */
const uint8_t mgpu_program_num_from[] = {
#define MGPU_PROGRAM_NUM_FROM(code, function, name, kinds) [MGPU_RUN_##code] = sizeof(kinds) - 2,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_NUM_FROM)
#undef MGPU_PROGRAM_NUM_FROM
};

typedef void program_fn(mgpu_frame frame, mgpu_program_op op);

static program_fn *const functions[] = {
#define MGPU_PROGRAM_POINTER(code, function, name, kinds) [MGPU_RUN_##code] = mgpu_run_##function,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_POINTER)
#undef MGPU_PROGRAM_POINTER
};

void
mgpu_program_run(const mgpu_program *program, const mgpu_register *registers, const mgpu_program_input *inputs,
				 const uint16_t *rows, uint32_t num_rows)
{
	mgpu_frame	frame = {program, registers, inputs, rows, num_rows, program->made};

	for (uint32_t i = 0; i < program->num_ops; i++)
		functions[program->ops[i].code] (frame, program->ops[i]);
}

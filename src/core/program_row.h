/*
 * program_row.h
 *		Runs programs for one row, in a thread of a GPU: see program.h.
 *
 * A register has its value in place.  Constants are the first registers: they are in memory that all rows share.  The others
 * are the thread's own.  What the operations do is the source that CPUs compile too (program/ops.h); the helpers
 * here take the place of libc, which a GPU has not.
 *
 * Header-only, C11 and CUDA C++: tests run it on a CPU.
 */
#ifndef MGPU_PROGRAM_ROW_H
#define MGPU_PROGRAM_ROW_H

#include "core/key_codec.h"
#include "core/program.h"

typedef struct mgpu_row_register
{
	union
	{
		int64_t		integers[1];
		double		reals[1];
		const char *bytes[1];
	};
	uint32_t	lengths[1];
	uint8_t		states[1];
} mgpu_row_register;

typedef struct mgpu_row_program
{
	const mgpu_program_op *ops;
	uint32_t	num_ops;
	const uint8_t *lanes;		/* mgpu_lane of each register */
	const char *tables;			/* aligned to 8 bytes */
	const struct mgpu_build *builds;	/* as in mgpu_program */
	const char *build_memory;
	const mgpu_row_register *constants; /* registers 0 to num_constants - 1 */
	uint32_t	num_constants;
} mgpu_row_program;

/* ---- the form of program/ops.h: a run of one row */

typedef struct mgpu_frame
{
	const mgpu_row_program *program;
	mgpu_row_register *registers;
	const char *const *inputs;
	uint32_t	num_rows;		/* 1 */
	mgpu_made  *made;
} mgpu_frame;

/* A register of a program, of which registers[0] is the first that is no constant. */
MGPU_CODEC const mgpu_row_register *
mgpu_row_register_at(const mgpu_row_program *program, const mgpu_row_register *registers, uint32_t number)
{
	return number < program->num_constants ? &program->constants[number] : &registers[number - program->num_constants];
}

MGPU_CODEC mgpu_register
mgpu_register_from(mgpu_frame frame, mgpu_program_op op, int n)
{
	/* nothing is written through it */
	mgpu_row_register *from = (mgpu_row_register *) mgpu_row_register_at(frame.program, frame.registers, op.from[n]);
	mgpu_register result;

	result.integers = from->integers;
	result.lengths = from->lengths;
	result.states = from->states;
	return result;
}

MGPU_CODEC mgpu_register
mgpu_register_to(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_row_register *to = &frame.registers[op.to - frame.program->num_constants];
	mgpu_register result;

	result.integers = to->integers;
	result.lengths = to->lengths;
	result.states = to->states;
	return result;
}

MGPU_CODEC mgpu_program_input
mgpu_input_of(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_program_input input;

	input.values = &frame.inputs[op.number];
	return input;
}

MGPU_CODEC uint32_t
mgpu_row_of(mgpu_frame frame, uint32_t i)
{
	(void) frame;
	return i;
}

MGPU_CODEC int
mgpu_order_bytes(const char *a, const char *b, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
	{
		if (a[i] != b[i])
			return (uint8_t) a[i] < (uint8_t) b[i] ? -1 : 1;
	}
	return 0;
}

MGPU_CODEC bool
mgpu_equal_bytes(const char *a, const char *b, uint32_t length)
{
	return mgpu_order_bytes(a, b, length) == 0;
}

/* There is no C library. */
MGPU_CODEC uint32_t
mgpu_collated_outcome(mgpu_frame frame, const char *a, uint32_t length_a, const char *b, uint32_t length_b)
{
	(void) frame;
	(void) a;
	(void) length_a;
	(void) b;
	(void) length_b;
	return 0;
}

/* Where a part begins in a text, or NULL. */
MGPU_CODEC const char *
mgpu_find_bytes(const char *text, uint32_t length, const char *part, uint32_t part_length)
{
	for (uint32_t i = 0; i + part_length <= length; i++)
	{
		if (mgpu_equal_bytes(text + i, part, part_length))
			return text + i;
	}
	return NULL;
}

MGPU_CODEC bool
mgpu_has_mark(const char *marks, uint32_t length)
{
	bool		found = false;

	for (uint32_t i = 0; i < length; i++)
		found |= marks[i] == 1;
	return found;
}

/* There is one row, and it is looked at right away. */
MGPU_CODEC void
mgpu_prefetch(const void *address)
{
	(void) address;
}

MGPU_CODEC bool
mgpu_product_overflows(int64_t x, int64_t y)
{
	__int128	product = (__int128) x * y;

	return product != (int64_t) product;
}

#include "core/program/ops.h"

/*
 * Run the operations first_op to end_op - 1 for a row.  Its inputs are where it stores each attribute's value, NULL for NULL.  registers[0] is
 * the first register that is no constant; constants are filled.
 */
MGPU_CODEC_ONCE void
mgpu_program_run_row(const mgpu_row_program *program, uint32_t first_op, uint32_t end_op, mgpu_row_register *registers,
					 const char *const *inputs, mgpu_made *made)
{
	mgpu_frame	frame;

	frame.program = program;
	frame.registers = registers;
	frame.inputs = inputs;
	frame.num_rows = 1;
	frame.made = made;
	for (uint32_t i = first_op; i < end_op; i++)
	{
		switch (program->ops[i].code)
		{
#define MGPU_PROGRAM_CASE(code, function, name, kinds) \
			case MGPU_RUN_##code: \
				mgpu_run_##function(frame, program->ops[i]); \
				break;
			MGPU_PROGRAM_OPS(MGPU_PROGRAM_CASE)
#undef MGPU_PROGRAM_CASE
		}
	}
}

#endif							/* MGPU_PROGRAM_ROW_H */

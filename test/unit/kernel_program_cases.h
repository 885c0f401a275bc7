/*
 * kernel_program_cases.h
 *		Cases of unit_program.h, which is C, for kernels: rows of registers in memory that both sides read.
 */
#ifndef MGPU_KERNEL_PROGRAM_CASES_H
#define MGPU_KERNEL_PROGRAM_CASES_H

#include "core/program_row.h"

#define PROGRAM_CASE_ROWS 226
#define PROGRAM_CASE_REGISTERS 4	/* three arguments, then the result */

typedef struct program_rows
{
	mgpu_program_op op;
	uint8_t		lanes[PROGRAM_CASE_REGISTERS];
	const char *tables;
	const mgpu_build *builds;
	const char *build_memory;
	mgpu_row_register registers[PROGRAM_CASE_ROWS][PROGRAM_CASE_REGISTERS];
	const char *inputs[PROGRAM_CASE_ROWS][2];
	mgpu_row_register expected[PROGRAM_CASE_ROWS];	/* the CPU's results */
	bool		any_nan;		/* of two NaN, which one a sum keeps is open; a GPU keeps none */
} program_rows;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a case, which memory that is 0 becomes.  Rows point into it. */
uint64_t	program_case_bytes(void);
void		program_case_open(void *memory);
void		program_case_close(void *memory);

/* The next case of an operation, and what the CPU makes of it. */
void		program_case_make(void *memory, int code, program_rows *rows);

#ifdef __cplusplus
}
#endif

#endif							/* MGPU_KERNEL_PROGRAM_CASES_H */

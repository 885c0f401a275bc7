/*
 * program/ops.h
 *		What the operations of programs do, in one source for both of its forms: many rows a time on a CPU, or one row a thread.
 *
 * Whoever includes this defines a form first, as cpu/program_run.c and program_row.h do:
 *
 *	 mgpu_frame					a run, with program (lanes, tables), num_rows and made (memory for texts)
 *	 mgpu_register_from, _to	where an operation's rows are read and written
 *	 mgpu_input_of, mgpu_row_of	the input that an operation loads, and a row's place in it
 *	 mgpu_order_bytes, mgpu_equal_bytes			as memcmp
 *	 mgpu_find_bytes, mgpu_has_mark				as memmem, memchr
 *	 mgpu_collated_outcome		of two texts, or 0: there is no collator
 *	 mgpu_product_overflows		of two integers
 *
 * Frame, operation and registers are passed by value: then no store to a row can change them, and loops may be vectorized.
 */
#ifndef MGPU_PROGRAM_OPS_H
#define MGPU_PROGRAM_OPS_H

#include "core/key_codec.h"
#include "core/load_bits.h"
#include "core/program.h"

MGPU_CODEC const char *
mgpu_program_table(mgpu_frame frame, mgpu_program_op op)
{
	return frame.program->tables + op.number;
}

/* The state of a strict function's result, of a row whose arguments have values or not. */
MGPU_CODEC uint8_t
mgpu_state_unless(uint8_t arguments, bool is_fault)
{
	return arguments == MGPU_IS_VALUE && is_fault ? MGPU_IS_FAULT : arguments;
}

MGPU_CODEC uint8_t
mgpu_larger_state(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

#include "core/program/ops_builds.h"
#include "core/program/ops_bytes.h"
#include "core/program/ops_integers.h"
#include "core/program/ops_load.h"
#include "core/program/ops_logic.h"
#include "core/program/ops_parts.h"
#include "core/program/ops_quotients.h"
#include "core/program/ops_reals.h"
#include "core/program/ops_texts.h"
#include "core/program/ops_time.h"
#include "core/program/ops_intervals.h"
#include "core/program/ops_values.h"
#include "core/program/ops_format.h"
#include "core/program/ops_json.h"
#include "core/program/ops_arrays.h"
#include "core/program/ops_ranges.h"
#include "core/program/ops_regex.h"
#include "core/program/ops_matches.h"
#include "core/program/ops_words.h"
#include "core/program/ops_inet.h"

#endif							/* MGPU_PROGRAM_OPS_H */

/*
 * program/ops_builds.h
 *		Operations that look rows up in builds (core/build.h), and fetch their cells.
 *
 * A row that was not found is NULL, and so are its cells: what joins make of it is a matter of tests.
 */
#ifndef MGPU_OPS_BUILDS_H
#define MGPU_OPS_BUILDS_H

#include "core/build.h"

MGPU_CODEC void
mgpu_run_hash_keys(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = (int64_t) mgpu_build_hash((uint64_t) a.integers[i], (uint64_t) b.integers[i]);
		to.states[i] = mgpu_larger_state(a.states[i], b.states[i]);
	}
}

/* A row without a key is of the first round. */
MGPU_CODEC void
mgpu_run_in_round(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register key = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = key.states[i];
		uint32_t	round = state == MGPU_IS_VALUE ? mgpu_build_round((uint64_t) key.integers[i], (uint32_t) op.number) : 0;

		to.integers[i] = round == op.width;
		to.states[i] = state == MGPU_IS_FAULT ? state : MGPU_IS_VALUE;
	}
}

MGPU_CODEC void
mgpu_run_lookup(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_build *build = &frame.program->builds[op.number];
	const char *memory = frame.program->build_memory;
	mgpu_register key = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
		mgpu_prefetch(mgpu_build_slot_of(build, memory, (uint64_t) key.integers[i]));
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		int64_t		row = 0;
		uint8_t		state = key.states[i];

		if (state == MGPU_IS_VALUE && !mgpu_build_find(build, memory, (uint64_t) key.integers[i], &row))
			state = MGPU_IS_NULL;
		to.integers[i] = row;
		to.states[i] = state;
	}
}

MGPU_CODEC void
mgpu_run_match(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_build *build = &frame.program->builds[op.number];
	const char *memory = frame.program->build_memory;
	mgpu_register row = mgpu_register_from(frame, op, 0);
	mgpu_register key = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(row.states[i], key.states[i]);
		int64_t		cell = 0;

		if (state == MGPU_IS_VALUE && (mgpu_build_cell(build, memory, op.width, row.integers[i], &cell) != MGPU_IS_VALUE ||
									   cell != key.integers[i]))
			state = MGPU_IS_NULL;
		to.integers[i] = row.integers[i];
		to.states[i] = state;
	}
}

MGPU_CODEC void
mgpu_run_fetch(mgpu_frame frame, mgpu_program_op op)
{
	const mgpu_build *build = &frame.program->builds[op.number];
	const char *memory = frame.program->build_memory;
	mgpu_register row = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);
	bool		is_shown = frame.program->lanes[op.to] == MGPU_LANE_SHOWN;

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = row.states[i];
		int64_t		cell = 0;
		int64_t		shown = 0;

		if (state == MGPU_IS_VALUE)
			state = mgpu_build_cell(build, memory, op.width, row.integers[i], &cell);
		if (state == MGPU_IS_VALUE && is_shown)
			state = mgpu_build_cell(build, memory, op.width + 1u, row.integers[i], &shown);
		/* bits of a float too */
		to.integers[i] = cell;
		if (is_shown)
			to.lengths[i] = (uint32_t) shown;
		to.states[i] = state;
	}
}

#endif							/* MGPU_OPS_BUILDS_H */

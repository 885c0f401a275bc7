/*
 * cpu/program_logic.c
 *		Operations of three-valued logic, and those that look at states.
 *
 * PostgreSQL stops at the argument that decides.  So a fault of a later one does not count then, and one of an earlier one always does.
 */
#include "core/cpu/program_run.h"

/* The result's value and state from x, y and their states. */
#define LOGIC(name, stops_at) \
void \
mgpu_run_##name(const mgpu_frame *frame, const mgpu_program_op *op) \
{ \
	const mgpu_register *a = mgpu_register_from(frame, op, 0); \
	const mgpu_register *b = mgpu_register_from(frame, op, 1); \
	const mgpu_register *to = &frame->registers[op->to]; \
	\
	for (uint32_t i = 0; i < frame->num_rows; i++) \
	{ \
		bool		is_decided = a->states[i] == MGPU_IS_VALUE && a->integers[i] == (stops_at); \
		bool		decides = b->states[i] == MGPU_IS_VALUE && b->integers[i] == (stops_at); \
		\
		to->integers[i] = is_decided || decides ? (stops_at) : !(stops_at); \
		to->states[i] = is_decided ? MGPU_IS_VALUE : \
			a->states[i] == MGPU_IS_FAULT || b->states[i] == MGPU_IS_FAULT ? MGPU_IS_FAULT : \
			decides ? MGPU_IS_VALUE : mgpu_larger_state(a->states[i], b->states[i]); \
	} \
}

LOGIC(and, 0)
LOGIC(or, 1)

void
mgpu_run_not(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *a = mgpu_register_from(frame, op, 0);
	const mgpu_register *to = &frame->registers[op->to];

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		to->integers[i] = !a->integers[i];
		to->states[i] = a->states[i];
	}
}

/* ---- states */

#define TEST_OF_STATE(name, result) \
void \
mgpu_run_##name(const mgpu_frame *frame, const mgpu_program_op *op) \
{ \
	const mgpu_register *a = mgpu_register_from(frame, op, 0); \
	const mgpu_register *to = &frame->registers[op->to]; \
	\
	for (uint32_t i = 0; i < frame->num_rows; i++) \
	{ \
		uint8_t		state = a->states[i]; \
		\
		to->integers[i] = result; \
		to->states[i] = state == MGPU_IS_FAULT ? MGPU_IS_FAULT : MGPU_IS_VALUE; \
	} \
}

TEST_OF_STATE(is_null, state == MGPU_IS_NULL)
TEST_OF_STATE(is_not_null, state != MGPU_IS_NULL)
TEST_OF_STATE(is_truth, (op->number >> (state == MGPU_IS_NULL ? 2 : a->integers[i] != 0)) & 1)

void
mgpu_run_is_distinct(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *equal = mgpu_register_from(frame, op, 0);
	const mgpu_register *a = mgpu_register_from(frame, op, 1);
	const mgpu_register *b = mgpu_register_from(frame, op, 2);
	const mgpu_register *to = &frame->registers[op->to];

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		bool		has_null = a->states[i] == MGPU_IS_NULL || b->states[i] == MGPU_IS_NULL;

		to->integers[i] = has_null ? a->states[i] != b->states[i] : !equal->integers[i];
		to->states[i] = equal->states[i] == MGPU_IS_FAULT || a->states[i] == MGPU_IS_FAULT || b->states[i] == MGPU_IS_FAULT ?
			MGPU_IS_FAULT : MGPU_IS_VALUE;
	}
}

/* ---- choices between registers of any kind */

static mgpu_lane
lane_of(const mgpu_frame *frame, const mgpu_program_op *op)
{
	return frame->program->lanes[op->to];
}

static inline void
copy_value(mgpu_lane lane, const mgpu_register *to, const mgpu_register *from, uint32_t i)
{
	/* as bits, a double is an integer too */
	to->integers[i] = from->integers[i];
	if (lane == MGPU_LANE_BYTES || lane == MGPU_LANE_SHOWN)
		to->lengths[i] = from->lengths[i];
}

void
mgpu_run_choose(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *condition = mgpu_register_from(frame, op, 0);
	const mgpu_register *to = &frame->registers[op->to];
	mgpu_lane	lane = lane_of(frame, op);

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		bool		is_true = condition->states[i] == MGPU_IS_VALUE && condition->integers[i];
		const mgpu_register *from = mgpu_register_from(frame, op, is_true ? 1 : 2);

		copy_value(lane, to, from, i);
		to->states[i] = condition->states[i] == MGPU_IS_FAULT ? MGPU_IS_FAULT : from->states[i];
	}
}

void
mgpu_run_coalesce(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *to = &frame->registers[op->to];
	mgpu_lane	lane = lane_of(frame, op);

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		bool		is_null = mgpu_register_from(frame, op, 0)->states[i] == MGPU_IS_NULL;
		const mgpu_register *from = mgpu_register_from(frame, op, is_null);

		copy_value(lane, to, from, i);
		to->states[i] = from->states[i];
	}
}

void
mgpu_run_null_if(const mgpu_frame *frame, const mgpu_program_op *op)
{
	const mgpu_register *a = mgpu_register_from(frame, op, 0);
	const mgpu_register *equal = mgpu_register_from(frame, op, 1);
	const mgpu_register *to = &frame->registers[op->to];
	mgpu_lane	lane = lane_of(frame, op);

	for (uint32_t i = 0; i < frame->num_rows; i++)
	{
		bool		is_equal = equal->states[i] == MGPU_IS_VALUE && equal->integers[i];

		copy_value(lane, to, a, i);
		to->states[i] = equal->states[i] == MGPU_IS_FAULT ? MGPU_IS_FAULT : is_equal ? MGPU_IS_NULL : a->states[i];
	}
}

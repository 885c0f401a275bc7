/*
 * program/ops_logic.h
 *		Operations of three-valued logic, and those that look at states.
 *
 * PostgreSQL stops at the argument that decides.  So a fault of a later one does not count then, and one of an earlier one always does.
 */
#ifndef MGPU_OPS_LOGIC_H
#define MGPU_OPS_LOGIC_H

/* The result's value and state from x, y and their states. */
#define LOGIC(name, stops_at) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register b = mgpu_register_from(frame, op, 1); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		bool		is_decided = a.states[i] == MGPU_IS_VALUE && a.integers[i] == (stops_at); \
		bool		decides = b.states[i] == MGPU_IS_VALUE && b.integers[i] == (stops_at); \
		\
		to.integers[i] = is_decided || decides ? (stops_at) : !(stops_at); \
		to.states[i] = is_decided ? MGPU_IS_VALUE : \
			a.states[i] == MGPU_IS_FAULT || b.states[i] == MGPU_IS_FAULT ? MGPU_IS_FAULT : \
			decides ? MGPU_IS_VALUE : mgpu_larger_state(a.states[i], b.states[i]); \
	} \
}

LOGIC(and, 0)
LOGIC(or, 1)

MGPU_CODEC void
mgpu_run_not(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		to.integers[i] = !a.integers[i];
		to.states[i] = a.states[i];
	}
}

/* ---- states */

#define TEST_OF_STATE(name, result) \
MGPU_CODEC void \
mgpu_run_##name(mgpu_frame frame, mgpu_program_op op) \
{ \
	mgpu_register a = mgpu_register_from(frame, op, 0); \
	mgpu_register to = mgpu_register_to(frame, op); \
	\
	for (uint32_t i = 0; i < frame.num_rows; i++) \
	{ \
		uint8_t		state = a.states[i]; \
		\
		to.integers[i] = result; \
		to.states[i] = state == MGPU_IS_FAULT ? MGPU_IS_FAULT : MGPU_IS_VALUE; \
	} \
}

TEST_OF_STATE(is_null, state == MGPU_IS_NULL)
TEST_OF_STATE(is_not_null, state != MGPU_IS_NULL)
TEST_OF_STATE(is_truth, (op.number >> (state == MGPU_IS_NULL ? 2 : a.integers[i] != 0)) & 1)

MGPU_CODEC void
mgpu_run_is_distinct(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register equal = mgpu_register_from(frame, op, 0);
	mgpu_register a = mgpu_register_from(frame, op, 1);
	mgpu_register b = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		bool		has_null = a.states[i] == MGPU_IS_NULL || b.states[i] == MGPU_IS_NULL;

		to.integers[i] = has_null ? a.states[i] != b.states[i] : !equal.integers[i];
		to.states[i] = equal.states[i] == MGPU_IS_FAULT || a.states[i] == MGPU_IS_FAULT || b.states[i] == MGPU_IS_FAULT ?
			MGPU_IS_FAULT : MGPU_IS_VALUE;
	}
}

/* ---- choices between registers of any kind */

MGPU_CODEC mgpu_lane
mgpu_lane_of(mgpu_frame frame, mgpu_program_op op)
{
	return (mgpu_lane) frame.program->lanes[op.to];
}

MGPU_CODEC void
mgpu_copy_value(mgpu_lane lane, mgpu_register to, mgpu_register from, uint32_t i)
{
	if (lane == MGPU_LANE_REAL)
		to.reals[i] = from.reals[i];
	else if (lane == MGPU_LANE_BYTES)
		to.bytes[i] = from.bytes[i];
	else
		to.integers[i] = from.integers[i];
	if (lane == MGPU_LANE_BYTES || lane == MGPU_LANE_SHOWN)
		to.lengths[i] = from.lengths[i];
}

MGPU_CODEC void
mgpu_run_choose(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register condition = mgpu_register_from(frame, op, 0);
	mgpu_register first = mgpu_register_from(frame, op, 1);
	mgpu_register second = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);
	mgpu_lane	lane = mgpu_lane_of(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		bool		is_true = condition.states[i] == MGPU_IS_VALUE && condition.integers[i];
		mgpu_register from = is_true ? first : second;

		mgpu_copy_value(lane, to, from, i);
		to.states[i] = condition.states[i] == MGPU_IS_FAULT ? MGPU_IS_FAULT : from.states[i];
	}
}

MGPU_CODEC void
mgpu_run_coalesce(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register first = mgpu_register_from(frame, op, 0);
	mgpu_register second = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);
	mgpu_lane	lane = mgpu_lane_of(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_register from = first.states[i] == MGPU_IS_NULL ? second : first;

		mgpu_copy_value(lane, to, from, i);
		to.states[i] = from.states[i];
	}
}

MGPU_CODEC void
mgpu_run_null_if(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register equal = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);
	mgpu_lane	lane = mgpu_lane_of(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		bool		is_equal = equal.states[i] == MGPU_IS_VALUE && equal.integers[i];

		mgpu_copy_value(lane, to, a, i);
		to.states[i] = equal.states[i] == MGPU_IS_FAULT ? MGPU_IS_FAULT : is_equal ? MGPU_IS_NULL : a.states[i];
	}
}

#undef LOGIC
#undef TEST_OF_STATE

#endif							/* MGPU_OPS_LOGIC_H */

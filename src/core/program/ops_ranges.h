/*
 * program/ops_ranges.h
 *		Operations that look into ranges of integers, dates and times, as rows store them.
 *
 * Behind its length a range has its type, the bounds that it has, of one width, and a byte that says which these are and whether they belong to
 * it.  The layout is that of rangetypes.c; bounds of 4 or 8 bytes need no padding there.  Stored ranges of such types are equal if their bytes are.
 *
 * As PostgreSQL compares bounds, one that does not belong to its range lies beside its value.  Of two ranges of integers the step from one value to
 * the next does not matter: they are stored so that finite lower bounds belong to them, and upper ones do not.
 */
#ifndef MGPU_OPS_RANGES_H
#define MGPU_OPS_RANGES_H

#define MGPU_RANGE_TYPE_BYTES 4u

/* Where a bound lies: in front of all values, at one of them, or behind all; and at its value, or beside it. */
typedef struct mgpu_range_bound
{
	int			place;			/* -1, 0, 1 */
	int64_t		value;
	int			beside;			/* 1: above the value; -1: below */
} mgpu_range_bound;

typedef struct mgpu_range
{
	bool		is_empty;		/* then it has no bounds */
	mgpu_range_bound lower;
	mgpu_range_bound upper;
} mgpu_range;

MGPU_CODEC int64_t
mgpu_load_signed(const char *from, uint32_t width)
{
	uint64_t	bits = mgpu_load_bits(from, width);

	return width == 4 ? (int32_t) bits : (int64_t) bits;
}

/* Its flags.  false: it is damaged. */
MGPU_CODEC bool
mgpu_range_flags(const char *bytes, uint32_t length, uint32_t width, uint32_t *flags)
{
	uint32_t	num_bounds;

	if (length <= MGPU_RANGE_TYPE_BYTES)
		return false;
	*flags = (uint8_t) bytes[length - 1];
	num_bounds = (*flags & MGPU_RANGE_EMPTY) != 0 ? 0 : ((*flags & MGPU_RANGE_LOWER_INFINITE) == 0) + ((*flags & MGPU_RANGE_UPPER_INFINITE) == 0);
	return *flags < MGPU_RANGE_END_FLAGS && length == MGPU_RANGE_TYPE_BYTES + num_bounds * width + 1;
}

/* false: it is damaged. */
MGPU_CODEC bool
mgpu_range_open(const char *bytes, uint32_t length, uint32_t width, mgpu_range *range)
{
	const mgpu_range_bound none = {0, 0, 0};
	uint32_t	flags;

	if (!mgpu_range_flags(bytes, length, width, &flags))
		return false;
	range->is_empty = (flags & MGPU_RANGE_EMPTY) != 0;
	range->lower = none;
	range->upper = none;
	if (range->is_empty)
		return true;
	if ((flags & MGPU_RANGE_LOWER_INFINITE) != 0)
		range->lower.place = -1;
	else
	{
		range->lower.value = mgpu_load_signed(bytes + MGPU_RANGE_TYPE_BYTES, width);
		range->lower.beside = (flags & MGPU_RANGE_LOWER_INCLUSIVE) == 0;
	}
	if ((flags & MGPU_RANGE_UPPER_INFINITE) != 0)
		range->upper.place = 1;
	else
	{
		range->upper.value = mgpu_load_signed(bytes + (length - 1 - width), width);
		range->upper.beside = -((flags & MGPU_RANGE_UPPER_INCLUSIVE) == 0);
	}
	return true;
}

/* Less than 0, 0, or more, as a comes before b, with it, or behind. */
MGPU_CODEC int
mgpu_compare_bounds(mgpu_range_bound a, mgpu_range_bound b)
{
	if (a.place != b.place)
		return a.place - b.place;
	if (a.value != b.value)
		return a.value < b.value ? -1 : 1;
	return a.beside - b.beside;
}

/* Whether nothing is between an upper and a lower bound, and nothing in both. */
MGPU_CODEC bool
mgpu_bounds_adjoin(mgpu_range_bound upper, mgpu_range_bound lower)
{
	return upper.place == lower.place && upper.value == lower.value && (upper.beside == 0) != (lower.beside == 0);
}

MGPU_CODEC bool
mgpu_ranges_relate(const mgpu_range *a, const mgpu_range *b, int64_t relation)
{
	if (relation == MGPU_RANGE_CONTAINS && b->is_empty)
		return true;
	if (a->is_empty || b->is_empty)
		return false;
	switch (relation)
	{
		case MGPU_RANGE_CONTAINS:
			return mgpu_compare_bounds(a->lower, b->lower) <= 0 && mgpu_compare_bounds(a->upper, b->upper) >= 0;
		case MGPU_RANGE_OVERLAPS:
			return mgpu_compare_bounds(a->lower, b->upper) <= 0 && mgpu_compare_bounds(b->lower, a->upper) <= 0;
		case MGPU_RANGE_BEFORE:
			return mgpu_compare_bounds(a->upper, b->lower) < 0;
		default:
			return mgpu_bounds_adjoin(a->upper, b->lower) || mgpu_bounds_adjoin(b->upper, a->lower);
	}
}

/* An empty range has no bound, nor has one that goes on for ever. */
MGPU_CODEC void
mgpu_run_range_bound(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_range	range;
		uint8_t		state = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE && !mgpu_range_open(a.bytes[i], a.lengths[i], op.width, &range));

		to.integers[i] = 0;
		if (state == MGPU_IS_VALUE)
		{
			mgpu_range_bound bound = op.number != 0 ? range.upper : range.lower;

			to.integers[i] = bound.value;
			if (range.is_empty || bound.place != 0)
				state = MGPU_IS_NULL;
		}
		to.states[i] = state;
	}
}

MGPU_CODEC void
mgpu_run_range_has_flag(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint32_t	flags = 0;

		to.states[i] = mgpu_state_unless(a.states[i], a.states[i] == MGPU_IS_VALUE && !mgpu_range_flags(a.bytes[i], a.lengths[i], op.width, &flags));
		to.integers[i] = (flags & (uint64_t) op.number) != 0;
	}
}

MGPU_CODEC void
mgpu_run_range_has(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);
		mgpu_range	range;
		mgpu_range_bound value = {0, 0, 0};

		to.integers[i] = 0;
		if (state == MGPU_IS_VALUE && !mgpu_range_open(a.bytes[i], a.lengths[i], op.width, &range))
			state = MGPU_IS_FAULT;
		if (state == MGPU_IS_VALUE)
		{
			value.value = b.integers[i];
			to.integers[i] = !range.is_empty && mgpu_compare_bounds(range.lower, value) <= 0 && mgpu_compare_bounds(value, range.upper) <= 0;
		}
		to.states[i] = state;
	}
}

MGPU_CODEC void
mgpu_run_range_relates(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);
		mgpu_range	ranges[2];

		to.integers[i] = 0;
		if (state == MGPU_IS_VALUE && !(mgpu_range_open(a.bytes[i], a.lengths[i], op.width, &ranges[0]) && mgpu_range_open(b.bytes[i], b.lengths[i], op.width, &ranges[1])))
			state = MGPU_IS_FAULT;
		if (state == MGPU_IS_VALUE)
			to.integers[i] = mgpu_ranges_relate(&ranges[0], &ranges[1], op.number);
		to.states[i] = state;
	}
}

#endif							/* MGPU_OPS_RANGES_H */

/*
 * program/ops_arrays.h
 *		Operations that look for a value in an array, as rows store it.
 *
 * Behind its length an array has the number of its dimensions, the offset of its values, which is 0 if no element is NULL, and their type; then the sizes of the
 * dimensions, their lower bounds, a bit for each element that says whether it has a value, and the values.  Offsets count from the length on, of four
 * bytes, whatever the row has in its place.  The layout is that of array.h.  It is checked against the array's end, as it may be damaged.
 */
#ifndef MGPU_OPS_ARRAYS_H
#define MGPU_OPS_ARRAYS_H

#define MGPU_ARRAY_LENGTH_BYTES 4u
#define MGPU_ARRAY_HEADER_BYTES 16u
#define MGPU_ARRAY_MOST_DIMENSIONS 6u

/* Where the elements of an array are. */
typedef struct mgpu_array
{
	const char *bytes;			/* of all behind the length */
	uint32_t	end;			/* offset from the length on, as those below */
	uint32_t	at;				/* the next value */
	uint32_t	num_elements;
	uint32_t	bits;			/* of elements that have values; 0: all have */
} mgpu_array;

MGPU_CODEC uint64_t
mgpu_array_load(const mgpu_array *array, uint32_t offset, uint32_t bytes)
{
	return mgpu_load_bits(array->bytes + (offset - MGPU_ARRAY_LENGTH_BYTES), bytes);
}

/* false: it is damaged. */
MGPU_CODEC bool
mgpu_array_open(const char *bytes, uint32_t length, mgpu_array *array)
{
	uint32_t	num_dimensions;
	uint64_t	num_elements = 1;
	uint32_t	sizes_end;
	uint32_t	values;

	array->bytes = bytes;
	array->end = length + MGPU_ARRAY_LENGTH_BYTES;
	if (array->end < MGPU_ARRAY_HEADER_BYTES)
		return false;
	num_dimensions = (uint32_t) mgpu_array_load(array, 4, 4);
	values = (uint32_t) mgpu_array_load(array, 8, 4);
	sizes_end = MGPU_ARRAY_HEADER_BYTES + 8 * num_dimensions;
	if (num_dimensions > MGPU_ARRAY_MOST_DIMENSIONS || sizes_end > array->end)
		return false;
	for (uint32_t i = 0; i < num_dimensions; i++)
	{
		num_elements *= (uint32_t) mgpu_array_load(array, MGPU_ARRAY_HEADER_BYTES + 4 * i, 4);
		if (num_elements > length)
			return false;
	}
	array->num_elements = num_dimensions == 0 ? 0 : (uint32_t) num_elements;
	array->bits = values == 0 ? 0 : sizes_end;
	array->at = values == 0 ? (sizes_end + 7) & ~7u : values;
	return array->num_elements == 0 || (array->at <= array->end && array->at >= sizes_end && (array->bits == 0 || sizes_end + (array->num_elements + 7) / 8 <= array->end));
}

MGPU_CODEC bool
mgpu_array_has_value(const mgpu_array *array, uint32_t number)
{
	return array->bits == 0 || (mgpu_array_load(array, array->bits + number / 8, 1) >> (number % 8) & 1) != 0;
}

/* The next value, a string.  false: it is damaged, or compressed. */
MGPU_CODEC bool
mgpu_array_next_bytes(mgpu_array *array, const char **value, uint32_t *length)
{
	uint32_t	begin = array->at;
	uint32_t	whole;

	/* a short one has no padding in front, and padding is 0 */
	if (begin < array->end && mgpu_array_load(array, begin, 1) == 0)
		begin = (begin + 3) & ~3u;
	if (begin + MGPU_ARRAY_LENGTH_BYTES > array->end && !(begin < array->end && (mgpu_array_load(array, begin, 1) & 1) != 0))
		return false;
	if (!mgpu_find_varlena(array->bytes + (begin - MGPU_ARRAY_LENGTH_BYTES), value, length))
		return false;
	whole = (uint32_t) (*value - array->bytes) + MGPU_ARRAY_LENGTH_BYTES;
	if (*length > array->end || whole > array->end - *length)
		return false;
	array->at = whole + *length;
	return true;
}

/* The next value, an integer that is aligned by its bytes.  false: it is damaged. */
MGPU_CODEC bool
mgpu_array_next_integer(mgpu_array *array, uint32_t bytes, int64_t *value)
{
	uint32_t	begin = (array->at + bytes - 1) & ~(bytes - 1);
	uint64_t	bits;

	if (begin > array->end || bytes > array->end - begin)
		return false;
	bits = mgpu_array_load(array, begin, bytes);
	*value = bytes == 2 ? (int16_t) bits : bytes == 4 ? (int32_t) bits : (int64_t) bits;
	array->at = begin + bytes;
	return true;
}

/* What is known of a row once all elements were looked at: is_any: an element without a value may be equal. */
MGPU_CODEC uint8_t
mgpu_state_of_search(bool found, bool has_null, bool is_any)
{
	return !found && has_null && is_any ? MGPU_IS_NULL : MGPU_IS_VALUE;
}

/* Look for a string: the row's state. */
MGPU_CODEC uint8_t
mgpu_search_bytes(const char *bytes, uint32_t length, const char *wanted, uint32_t wanted_length, bool is_any, int64_t *found)
{
	mgpu_array	array;
	bool		has_null = false;

	if (!mgpu_array_open(bytes, length, &array))
		return MGPU_IS_FAULT;
	for (uint32_t i = 0; i < array.num_elements && *found == 0; i++)
	{
		const char *value = NULL;
		uint32_t	value_length = 0;

		if (!mgpu_array_has_value(&array, i))
		{
			has_null = true;
			continue;
		}
		if (!mgpu_array_next_bytes(&array, &value, &value_length))
			return MGPU_IS_FAULT;
		*found = value_length == wanted_length && mgpu_equal_bytes(value, wanted, wanted_length);
	}
	return mgpu_state_of_search(*found != 0, has_null, is_any);
}

MGPU_CODEC uint8_t
mgpu_search_integer(const char *bytes, uint32_t length, uint32_t width, int64_t wanted, bool is_any, int64_t *found)
{
	mgpu_array	array;
	bool		has_null = false;

	if (!mgpu_array_open(bytes, length, &array))
		return MGPU_IS_FAULT;
	for (uint32_t i = 0; i < array.num_elements && *found == 0; i++)
	{
		int64_t		value = 0;

		if (!mgpu_array_has_value(&array, i))
		{
			has_null = true;
			continue;
		}
		if (!mgpu_array_next_integer(&array, width, &value))
			return MGPU_IS_FAULT;
		*found = value == wanted;
	}
	return mgpu_state_of_search(*found != 0, has_null, is_any);
}

MGPU_CODEC void
mgpu_run_array_has_bytes(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);

		to.integers[i] = 0;
		to.states[i] = state == MGPU_IS_VALUE ? mgpu_search_bytes(a.bytes[i], a.lengths[i], b.bytes[i], b.lengths[i], op.number != 0, &to.integers[i]) : state;
	}
}

MGPU_CODEC void
mgpu_run_array_has_integer(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register b = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		uint8_t		state = mgpu_larger_state(a.states[i], b.states[i]);

		to.integers[i] = 0;
		to.states[i] = state == MGPU_IS_VALUE ? mgpu_search_integer(a.bytes[i], a.lengths[i], op.width, b.integers[i], op.number != 0, &to.integers[i]) : state;
	}
}

MGPU_CODEC void
mgpu_run_array_length(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_array	array = {NULL, 0, 0, 0, 0};
		uint8_t		state = a.states[i];
		bool		is_open = state == MGPU_IS_VALUE && mgpu_array_open(a.bytes[i], a.lengths[i], &array);

		state = mgpu_state_unless(state, !is_open || (op.number == 1 && mgpu_array_load(&array, 4, 4) > 1));
		if (state == MGPU_IS_VALUE && op.number == 1 && array.num_elements == 0)
			state = MGPU_IS_NULL;
		to.integers[i] = array.num_elements;
		to.states[i] = state;
	}
}

#endif							/* MGPU_OPS_ARRAYS_H */

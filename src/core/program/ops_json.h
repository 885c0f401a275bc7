/*
 * program/ops_json.h
 *		Operations that look for a key, or an element, in jsonb, as rows store it.
 *
 * A container has a word with the number of its entries, a word for each, and then what these hold.  An object's entries are its keys, in the order of
 * their lengths and then bytes, and behind them their values.  Words have lengths, but every so often an offset.  The layout is that of jsonb.h.
 * What a key has that is no container, has no bytes for the operations that look into it: no key is in it.
 * Offsets are checked against the container's end, as it may be damaged: then the row is a fault.  So it is where a value is to be a text that the row
 * has not as such.
 */
#ifndef MGPU_OPS_JSON_H
#define MGPU_OPS_JSON_H

#define MGPU_JSON_COUNT 0x0FFFFFFFu	/* of a container's word: entries, or pairs of an object */
#define MGPU_JSON_IS_SCALAR 0x10000000u	/* a document that is no container is an array of one element */
#define MGPU_JSON_IS_OBJECT 0x20000000u
#define MGPU_JSON_LENGTH 0x0FFFFFFFu	/* of an entry: length, or offset of its end */
#define MGPU_JSON_HAS_OFFSET 0x80000000u
#define MGPU_JSON_KIND 0x70000000u
#define MGPU_JSON_STRING 0x00000000u
#define MGPU_JSON_NUMERIC 0x10000000u
#define MGPU_JSON_FALSE 0x20000000u
#define MGPU_JSON_TRUE 0x30000000u
#define MGPU_JSON_NULL 0x40000000u
#define MGPU_JSON_CONTAINER 0x50000000u

#define MGPU_JSON_WORD 4u

/* What an entry holds. */
typedef struct mgpu_json_value
{
	const char *bytes;
	uint32_t	length;
	uint32_t	kind;
} mgpu_json_value;

MGPU_CODEC uint32_t
mgpu_json_word(const char *container, uint32_t number)
{
	return (uint32_t) mgpu_load_bits(container + number * MGPU_JSON_WORD, MGPU_JSON_WORD);
}

/* Where an entry's bytes begin, counted from behind all entries; their number is known to fit. */
MGPU_CODEC uint64_t
mgpu_json_offset(const char *container, uint32_t number)
{
	uint64_t	offset = 0;
	uint32_t	entry = 0;

	while (number > 0 && (entry & MGPU_JSON_HAS_OFFSET) == 0)
	{
		entry = mgpu_json_word(container, number--);
		offset += entry & MGPU_JSON_LENGTH;
	}
	return offset;
}

/* An entry of a container with so many bytes, of which the data begin at an offset.  false: it does not fit. */
MGPU_CODEC bool
mgpu_json_entry(const char *container, uint32_t length, uint32_t data, uint32_t number, mgpu_json_value *value)
{
	uint32_t	entry = mgpu_json_word(container, 1 + number);
	uint64_t	begin = mgpu_json_offset(container, number);
	uint64_t	end = (entry & MGPU_JSON_LENGTH) + (entry & MGPU_JSON_HAS_OFFSET ? 0 : begin);

	value->kind = entry & MGPU_JSON_KIND;
	/* as jsonb.h aligns these */
	if (value->kind == MGPU_JSON_NUMERIC || value->kind == MGPU_JSON_CONTAINER)
		begin = (begin + MGPU_JSON_WORD - 1) / MGPU_JSON_WORD * MGPU_JSON_WORD;
	if (begin > end || end > length - data)
		return false;
	value->bytes = container + data + begin;
	value->length = (uint32_t) (end - begin);
	return true;
}

/* Look for a key: MGPU_IS_VALUE, MGPU_IS_NULL if the container is no object or has no such key, or MGPU_IS_FAULT. */
MGPU_CODEC uint8_t
mgpu_json_find_key(const char *container, uint32_t length, const char *key, uint32_t key_length, mgpu_json_value *value)
{
	uint32_t	low = 0;
	uint32_t	high = mgpu_json_word(container, 0) & MGPU_JSON_COUNT;
	uint32_t	num_pairs = high;
	uint32_t	data = (1 + 2 * high) * MGPU_JSON_WORD;

	if (high > length / (2 * MGPU_JSON_WORD) || data > length)
		return MGPU_IS_FAULT;
	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;
		int			order;

		if (!mgpu_json_entry(container, length, data, middle, value))
			return MGPU_IS_FAULT;
		order = value->length != key_length ? (key_length < value->length ? -1 : 1) : mgpu_order_bytes(key, value->bytes, key_length);
		if (order == 0)
			return mgpu_json_entry(container, length, data, num_pairs + middle, value) ? MGPU_IS_VALUE : MGPU_IS_FAULT;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return MGPU_IS_NULL;
}

/* The same of an element of an array, from 0 on. */
MGPU_CODEC uint8_t
mgpu_json_find_element(const char *container, uint32_t length, uint64_t element, mgpu_json_value *value)
{
	uint32_t	header = mgpu_json_word(container, 0);
	uint32_t	count = header & MGPU_JSON_COUNT;
	uint32_t	data = (1 + count) * MGPU_JSON_WORD;

	if ((header & MGPU_JSON_IS_SCALAR) != 0 || count > length / MGPU_JSON_WORD || data > length)
		return MGPU_IS_FAULT;
	if (element >= count)
		return MGPU_IS_NULL;
	return mgpu_json_entry(container, length, data, (uint32_t) element, value) ? MGPU_IS_VALUE : MGPU_IS_FAULT;
}

/* What a row's container has for a step, whose number is that of JSON_TEXT and others. */
MGPU_CODEC uint8_t
mgpu_json_find(mgpu_register a, mgpu_register keys, uint32_t i, int64_t number, mgpu_json_value *value)
{
	const char *container = a.bytes[i];
	uint32_t	length = a.lengths[i];

	/* what is no container has itself as an element */
	if (length < MGPU_JSON_WORD)
		return length == 0 && number <= 0 ? MGPU_IS_NULL : MGPU_IS_FAULT;
	if ((mgpu_json_word(container, 0) & MGPU_JSON_IS_OBJECT) != 0)
		return number > 0 ? MGPU_IS_NULL : mgpu_json_find_key(container, length, keys.bytes[i], keys.lengths[i], value);
	return number == 0 ? MGPU_IS_NULL : mgpu_json_find_element(container, length, (uint64_t) (number < 0 ? -(number + 1) : number - 1), value);
}

/* The value of a step, or none: what both arguments' states and the search make of it. */
MGPU_CODEC uint8_t
mgpu_json_value_of(mgpu_register a, mgpu_register keys, uint32_t i, int64_t number, mgpu_json_value *value)
{
	uint8_t		state = mgpu_larger_state(a.states[i], keys.states[i]);

	if (state == MGPU_IS_VALUE)
		state = mgpu_json_find(a, keys, i, number, value);
	return state == MGPU_IS_VALUE && value->kind == MGPU_JSON_NULL ? MGPU_IS_NULL : state;
}

/* Where a value that is a number has it.  false: it is none, or damaged. */
MGPU_CODEC bool
mgpu_json_find_numeric(const mgpu_json_value *value, const char **bytes, uint32_t *length)
{
	return value->kind == MGPU_JSON_NUMERIC && value->length > MGPU_JSON_WORD && mgpu_find_varlena(value->bytes, bytes, length) &&
		*length <= value->length - MGPU_JSON_WORD && *length >= sizeof(uint16_t);
}

/* Digits behind the point of a numeric of few digits. */
MGPU_CODEC int
mgpu_digits_shown(const char *numeric)
{
	return SHORT_SCALE((uint16_t) mgpu_load_bits(numeric, sizeof(uint16_t)));
}

/* The text of a number, in memory for the next; 0 bytes: it has more digits than are known here. */
MGPU_CODEC uint32_t
mgpu_write_json_number(const mgpu_json_value *value, char *text)
{
	const char *bytes = NULL;
	uint32_t	length = 0;
	int64_t		number = 0;
	int			shown = 0;

	if (!mgpu_json_find_numeric(value, &bytes, &length))
		return 0;
	shown = mgpu_digits_shown(bytes);
	if (shown > MGPU_MOST_DIGITS || !mgpu_find_number(bytes, length, shown, &number, &shown))
		return 0;
	return mgpu_text_of_number(number, (uint32_t) shown, text);
}

/* What is no text becomes one; a list stays. */
MGPU_CODEC void
mgpu_write_json_value(const mgpu_made *made, uint32_t slot, mgpu_json_value *value)
{
	char	   *text = mgpu_room_for(made, slot, MGPU_NUMBER_BYTES);
	uint32_t	length = 0;

	if (text == NULL)
		return;
	if (value->kind == MGPU_JSON_NUMERIC)
		length = mgpu_write_json_number(value, text);
	else if (value->kind == MGPU_JSON_TRUE || value->kind == MGPU_JSON_FALSE)
	{
		length = value->kind == MGPU_JSON_TRUE ? 4 : 5;
		mgpu_copy_bytes(text, value->kind == MGPU_JSON_TRUE ? "true" : "false", length);
	}
	if (length > 0)
		*value = (mgpu_json_value) {text, length, MGPU_JSON_STRING};
}

MGPU_CODEC void
mgpu_run_json_text(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register keys = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	mgpu_begin_made(frame.made, op.width);
	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_json_value value = {NULL, 0, MGPU_JSON_STRING};
		uint8_t		state = mgpu_json_value_of(a, keys, i, op.number, &value);
		bool		is_made = state == MGPU_IS_VALUE && value.kind != MGPU_JSON_STRING;

		if (is_made)
			mgpu_write_json_value(frame.made, op.width, &value);
		to.states[i] = mgpu_state_unless(state, value.kind != MGPU_JSON_STRING);
		to.bytes[i] = to.states[i] == MGPU_IS_VALUE ? value.bytes : NULL;
		to.lengths[i] = to.states[i] == MGPU_IS_VALUE ? value.length : 0;
		if (is_made && to.states[i] == MGPU_IS_VALUE)
			frame.made->ends[op.width] += value.length;
	}
}

/* Of other operations of this kind.  null is a value here, and no container. */
MGPU_CODEC void
mgpu_run_json_object(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register keys = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_json_value value = {NULL, 0, MGPU_JSON_NULL};
		uint8_t		state = mgpu_larger_state(a.states[i], keys.states[i]);

		to.states[i] = state == MGPU_IS_VALUE ? mgpu_json_find(a, keys, i, op.number, &value) : state;
		to.bytes[i] = to.states[i] == MGPU_IS_VALUE ? value.bytes : NULL;
		to.lengths[i] = to.states[i] == MGPU_IS_VALUE && value.kind == MGPU_JSON_CONTAINER ? value.length : 0;
	}
}

/* A number, or one that a string has, as a numeric's integer of a scale.  false: there is none, or too many digits. */
MGPU_CODEC bool
mgpu_json_number(const mgpu_json_value *value, int scale, int64_t *number, int *shown)
{
	const char *bytes = NULL;
	uint32_t	length = 0;

	if (value->kind == MGPU_JSON_STRING)
		return mgpu_read_number(value->bytes, value->length, scale, number, shown);
	/* as a text, a number with a point is no integer, whatever is behind it */
	return mgpu_json_find_numeric(value, &bytes, &length) && mgpu_find_number(bytes, length, scale, number, shown) && *shown <= scale;
}

MGPU_CODEC void
mgpu_run_json_number(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register keys = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_json_value value = {NULL, 0, MGPU_JSON_NULL};
		uint8_t		state = mgpu_json_value_of(a, keys, i, op.number, &value);
		int			shown = 0;

		to.integers[i] = 0;
		to.states[i] = mgpu_state_unless(state, state == MGPU_IS_VALUE && !mgpu_json_number(&value, op.width, &to.integers[i], &shown));
		to.lengths[i] = (uint32_t) shown;
	}
}

/* The same as a float, of a number in as many digits as it shows. */
MGPU_CODEC bool
mgpu_json_real(const mgpu_json_value *value, double *real)
{
	const char *bytes = NULL;
	uint32_t	length = 0;
	int64_t		number = 0;
	int			shown = 0;

	if (value->kind == MGPU_JSON_STRING)
		return mgpu_read_digits(value->bytes, value->length, &number, &shown) && mgpu_real_of_digits(number, shown, real);
	return mgpu_json_find_numeric(value, &bytes, &length) && mgpu_digits_shown(bytes) <= MGPU_MOST_DIGITS &&
		mgpu_find_number(bytes, length, mgpu_digits_shown(bytes), &number, &shown) && mgpu_real_of_digits(number, shown, real);
}

MGPU_CODEC void
mgpu_run_json_real(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register keys = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_json_value value = {NULL, 0, MGPU_JSON_NULL};
		uint8_t		state = mgpu_json_value_of(a, keys, i, op.number, &value);

		to.reals[i] = 0;
		to.states[i] = mgpu_state_unless(state, state == MGPU_IS_VALUE && !mgpu_json_real(&value, &to.reals[i]));
	}
}

/* Whether two numerics of few digits are equal: their digits have no zeros at the ends, so all is the same but what they show.  A fault: of others. */
MGPU_CODEC uint8_t
mgpu_compare_json_numbers(const mgpu_json_value *value, const char *bytes, uint32_t length, int64_t *is_same)
{
	const char *other = NULL;
	uint32_t	other_length = 0;
	uint16_t	headers[2];

	if (value->length <= MGPU_JSON_WORD || !mgpu_find_varlena(value->bytes, &other, &other_length) || other_length > value->length - MGPU_JSON_WORD || other_length < 2 || length < 2)
		return MGPU_IS_FAULT;
	headers[0] = (uint16_t) mgpu_load_bits(bytes, 2);
	headers[1] = (uint16_t) mgpu_load_bits(other, 2);
	if ((headers[0] & NUMERIC_SPECIAL) != NUMERIC_SHORT || (headers[1] & NUMERIC_SPECIAL) != NUMERIC_SHORT)
		return MGPU_IS_FAULT;
	*is_same = ((headers[0] ^ headers[1]) & ~(SHORT_SCALE_MASK << SHORT_SCALE_SHIFT)) == 0 && length == other_length && mgpu_equal_bytes(bytes + 2, other + 2, length - 2);
	return MGPU_IS_VALUE;
}

/* Whether an object has a value of a kind for a key: this string or number, or true, false or null. */
MGPU_CODEC void
mgpu_run_json_is(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register keys = mgpu_register_from(frame, op, 1);
	mgpu_register wanted = mgpu_register_from(frame, op, 2);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_json_value value = {NULL, 0, MGPU_JSON_NULL};
		uint8_t		state = mgpu_larger_state(a.states[i], mgpu_larger_state(keys.states[i], wanted.states[i]));
		uint8_t		found = state == MGPU_IS_VALUE ? mgpu_json_find(a, keys, i, 0, &value) : state;

		to.integers[i] = found == MGPU_IS_VALUE && value.kind == (uint32_t) op.number;
		to.states[i] = mgpu_state_unless(state, found == MGPU_IS_FAULT);
		if (to.integers[i] == 0 || to.states[i] != MGPU_IS_VALUE)
			continue;
		if (value.kind == MGPU_JSON_STRING)
			to.integers[i] = value.length == wanted.lengths[i] && mgpu_equal_bytes(value.bytes, wanted.bytes[i], value.length);
		else if (value.kind == MGPU_JSON_NUMERIC)
			to.states[i] = mgpu_compare_json_numbers(&value, wanted.bytes[i], wanted.lengths[i], &to.integers[i]);
	}
}

MGPU_CODEC void
mgpu_run_json_has(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register keys = mgpu_register_from(frame, op, 1);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		mgpu_json_value value = {NULL, 0, MGPU_JSON_NULL};
		uint8_t		state = mgpu_larger_state(a.states[i], keys.states[i]);
		uint8_t		found = state != MGPU_IS_VALUE ? MGPU_IS_NULL : mgpu_json_find(a, keys, i, 0, &value);
		/* an array may have it as a string, and what is no container may be it */
		bool		is_other = state == MGPU_IS_VALUE && (a.lengths[i] < MGPU_JSON_WORD || (mgpu_json_word(a.bytes[i], 0) & MGPU_JSON_IS_OBJECT) == 0);

		to.states[i] = mgpu_state_unless(state, found == MGPU_IS_FAULT || is_other);
		to.integers[i] = to.states[i] == MGPU_IS_VALUE && found == MGPU_IS_VALUE;
	}
}

MGPU_CODEC void
mgpu_run_json_length(mgpu_frame frame, mgpu_program_op op)
{
	mgpu_register a = mgpu_register_from(frame, op, 0);
	mgpu_register to = mgpu_register_to(frame, op);

	for (uint32_t i = 0; i < frame.num_rows; i++)
	{
		bool		is_container = a.states[i] == MGPU_IS_VALUE && a.lengths[i] >= MGPU_JSON_WORD;
		uint32_t	header = is_container ? mgpu_json_word(a.bytes[i], 0) : MGPU_JSON_IS_SCALAR;

		to.states[i] = mgpu_state_unless(a.states[i], (header & (MGPU_JSON_IS_SCALAR | MGPU_JSON_IS_OBJECT)) != 0);
		to.integers[i] = header & MGPU_JSON_COUNT;
	}
}

#endif							/* MGPU_OPS_JSON_H */

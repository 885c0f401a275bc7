/*
 * core_group_program.c
 *		Programs of group specs: what validation takes and refuses, of every operation.
 *
 * Each operation is tried in a spec that is valid with it, and is then spoiled in one place after the other.
 */
#include "core/group_spec.h"
#include "unit.h"

/* Registers: a constant of each lane, and one of each lane for results. */
#define RESULT 4
#define NUM_REGISTERS 8

/* Where the tables have what. */
enum
{
	TEXT_AT = 0,
	INTEGERS_AT = 8,			/* two */
	STRINGS_AT = 32,			/* two, of 1 and 2 bytes */
	PATTERN_AT = 56,			/* two pieces of a byte */
	BIN_AT = 72,
	ZONE_AT = 88,				/* two changes */
	TABLES_END = 128,
	CASE_AT = 128,				/* two changes; behind the others, for operations that have it */
	CASE_END = 144,
	REGEX_AT = 144,				/* two classes, three states, two ranges */
	REGEX_END = 144 + sizeof(mgpu_regex) + 2 * sizeof(mgpu_regex_range) + 6,
	QUOTIENT_AT = (REGEX_END + 7) & ~7,
	QUOTIENT_END = QUOTIENT_AT + sizeof(mgpu_quotient),
	BUCKETS_AT = (QUOTIENT_END + 7) & ~7,
	BUCKETS_END = BUCKETS_AT + sizeof(mgpu_buckets),
	FORMAT_AT = (BUCKETS_END + 7) & ~7,	/* a number, a name, a byte */
	FORMAT_END = FORMAT_AT + sizeof(mgpu_time_format),
	MATCH_AT = (FORMAT_END + 7) & ~7
};

/* At MATCH_AT: what the automaton has, another of two states, a step of each code. */
typedef struct match_table
{
	mgpu_regex_match match;
	mgpu_regex_range ranges[2];
	uint8_t		next[8];
	uint32_t	num_states;
	uint8_t		ends[4];
	mgpu_regex_step steps[MGPU_REGEX_LITERAL + 1];
	char		literal[4];
} match_table;

static uint32_t
tables_end(uint16_t code)
{
	if (code == MGPU_RUN_REGEX_PART || code == MGPU_RUN_REPLACE_REGEX)
		return MATCH_AT + sizeof(match_table);
	return code == MGPU_RUN_CHANGE_CASE ? CASE_END : code == MGPU_RUN_REGEX ? REGEX_END : code == MGPU_RUN_DIVIDE_SHOWN ? QUOTIENT_END : code == MGPU_RUN_BUCKET_OF_REAL ? BUCKETS_END :
		code == MGPU_RUN_FORMAT_TIME ? FORMAT_END : TABLES_END;
}

static void
put(mgpu_group_spec *spec, int offset, const void *bytes, size_t size)
{
	memcpy((char *) spec->tables + offset, bytes, size);
}

static void
put_match(mgpu_group_spec *spec, const mgpu_regex *regex)
{
	match_table table = {.match = {.search = *regex,.whole = offsetof(match_table, num_states),.num_steps = MGPU_REGEX_LITERAL + 1,.steps = offsetof(match_table, steps)},
		.ranges = {{0, 1}, {0x800, MGPU_REGEX_UNKNOWN}},.next = {0, 0, 1, 1, 2, 1},.num_states = 2,.ends = {0, 0, MGPU_REGEX_ENDS | 1, MGPU_REGEX_ENDS}};

	table.match.search.ranges = offsetof(match_table, ranges);
	table.match.search.next = offsetof(match_table, next);
	for (uint16_t i = 0; i <= MGPU_REGEX_LITERAL; i++)
		table.steps[i] = (mgpu_regex_step) {i, 0, offsetof(match_table, num_states), offsetof(match_table, num_states)};
	table.steps[MGPU_REGEX_LITERAL] = (mgpu_regex_step) {MGPU_REGEX_LITERAL, 0, offsetof(match_table, literal), sizeof(table.literal)};
	put(spec, MATCH_AT, &table, sizeof(table));
}

static void
fill_tables(mgpu_group_spec *spec)
{
	static const uint32_t strings[] = {2, 0, 1, 3};
	static const uint32_t pattern[] = {2, 1, 2};
	static const int64_t zone[] = {2, 0, 3600, 1000000, 7200};
	static const mgpu_time_bin bin = {60, 0};
	static const uint32_t integers[] = {2, 0};
	static const mgpu_quotient quotient = {.factor = 1,.scale = 2,.one = 1,.step = 101,.most_shown = 24};
	static const mgpu_buckets buckets = {.first = 1,.last = 2,.count = 3};
	static const mgpu_time_format format = {.num_pieces = 3,.length = 14,.pieces = {{MGPU_PIECE_DIGITS, MGPU_FIELD_YEAR, 4, 0, 0},
		{MGPU_PIECE_NAME, MGPU_FIELD_MONTH, 9, -1, 0}, {MGPU_PIECE_BYTES, 0, 1, 0, 108}}};

	static const uint32_t changes[] = {0x00C900E9, 0x00C800E8};
	static const mgpu_regex_range ranges[] = {{0, 1}, {0x800, MGPU_REGEX_UNKNOWN}};
	static const uint8_t next[] = {0, 0, 1, 1, 2, 1};
	const mgpu_case_map map = {.first = 'A',.last = 'Z',.is_utf8 = 1,.end = 0x800,.num_changes = 2};
	const mgpu_regex regex = {.first = 2,.num_states = 3,.num_classes = 2,.num_ranges = 2,.ranges = sizeof(mgpu_regex),.next = sizeof(mgpu_regex) + sizeof(ranges)};

	spec->table_bytes = tables_end(spec->ops[0].code);
	put(spec, CASE_AT, &map, sizeof(map));
	put(spec, CASE_AT + sizeof(map), changes, sizeof(changes));
	put(spec, REGEX_AT, &regex, sizeof(regex));
	put(spec, REGEX_AT + sizeof(regex), ranges, sizeof(ranges));
	put(spec, REGEX_AT + sizeof(regex) + sizeof(ranges), next, sizeof(next));
	put_match(spec, &regex);
	put(spec, INTEGERS_AT, integers, sizeof(integers));
	put(spec, STRINGS_AT, strings, sizeof(strings));
	put(spec, PATTERN_AT, pattern, sizeof(pattern));
	put(spec, BIN_AT, &bin, sizeof(bin));
	put(spec, ZONE_AT, zone, sizeof(zone));
	put(spec, QUOTIENT_AT, &quotient, sizeof(quotient));
	put(spec, BUCKETS_AT, &buckets, sizeof(buckets));
	put(spec, FORMAT_AT, &format, sizeof(format));
}

/* Attributes: a walked varlena behind an int8.  One operation, which is the caller's. */
static mgpu_group_spec
spec_of(mgpu_program_op op)
{
	mgpu_group_spec spec = {
		.num_attributes = 2,.num_inputs = 2,.num_fixed = 1,.fixed_end = 8,.num_builds = 1,
		.num_ops = 1,.num_registers = NUM_REGISTERS,.num_constants = 4
	};

	spec.attributes[0] = (mgpu_group_attribute) {8, 8, 0};
	spec.attributes[1] = (mgpu_group_attribute) {-1, 4, 1};
	spec.inputs[0] = (mgpu_group_input) {8, 0, -1};
	spec.inputs[1] = (mgpu_group_input) {-1, -1, -1};
	for (int i = 0; i < NUM_REGISTERS; i++)
		spec.lanes[i] = (uint8_t) (i % 4);
	spec.constants[MGPU_LANE_BYTES] = (mgpu_group_constant) {.bits = TEXT_AT,.length = 8};
	spec.build_bytes = mgpu_build_plan(&spec.builds[0], 0, 3, 2, false);
	spec.ops[0] = op;
	fill_tables(&spec);
	return spec;
}

static bool
is_valid(const mgpu_group_spec *spec)
{
	mgpu_error	err = {MGPU_OK, ""};
	mgpu_status status = mgpu_group_validate(spec, &err);

	UNIT_CHECK(status == MGPU_OK || (status == MGPU_BAD_JOB && err.message[0] != '\0'));
	return status == MGPU_OK;
}

static bool
takes(mgpu_program_op op)
{
	mgpu_group_spec spec = spec_of(op);

	return is_valid(&spec);
}

/* -------------------------------------------------------------- operations */

static uint16_t
lane_of(char kind)
{
	return kind == 'r' ? MGPU_LANE_REAL : kind == 's' ? MGPU_LANE_BYTES : kind == 'n' ? MGPU_LANE_SHOWN : MGPU_LANE_INTEGER;
}

static int64_t
number_of(uint16_t code)
{
	switch (code)
	{
		case MGPU_RUN_IN_INTEGER:
			return INTEGERS_AT;
		case MGPU_RUN_IN_BYTES:
			return STRINGS_AT;
		case MGPU_RUN_LIKE:
			return PATTERN_AT;
		case MGPU_RUN_CHANGE_CASE:
			return CASE_AT;
		case MGPU_RUN_REGEX:
			return REGEX_AT;
		case MGPU_RUN_REGEX_PART:
		case MGPU_RUN_REPLACE_REGEX:
			return MATCH_AT;
		case MGPU_RUN_TIME_BIN:
			return BIN_AT;
		case MGPU_RUN_DIVIDE_SHOWN:
			return QUOTIENT_AT;
		case MGPU_RUN_BUCKET_OF_REAL:
			return BUCKETS_AT;
		case MGPU_RUN_FORMAT_TIME:
			return FORMAT_AT;
		case MGPU_RUN_LOCAL_OF_ZONED:
		case MGPU_RUN_ZONED_OF_LOCAL:
			return ZONE_AT;
		case MGPU_RUN_LOAD_NUMERIC:
		case MGPU_RUN_LOAD_SHOWN:
		case MGPU_RUN_LOAD_VARLENA:
			return 1;			/* the input */
		case MGPU_RUN_ROUND_OFF:
		case MGPU_RUN_CUT_OFF:
		case MGPU_RUN_FLOOR_OFF:
		case MGPU_RUN_CEILING_OFF:
		case MGPU_RUN_LIMIT_MAGNITUDE:
		case MGPU_RUN_REAL_OF_NUMERIC:
			return 100;
		case MGPU_RUN_IN_ROUND:
			return 16;
		case MGPU_RUN_BYTES_OF_WORDS:
			return 2;
		default:
			return 0;
	}
}

/* One that is valid. */
static mgpu_program_op
op_of(uint16_t code)
{
	const char *kinds = mgpu_program_kinds[code];
	bool		has_column = code == MGPU_RUN_MATCH || code == MGPU_RUN_FETCH || MGPU_MAKES_TEXTS(code);
	mgpu_program_op op = {.code = code,.width = has_column ? 0 : 8,.to = RESULT + lane_of(kinds[0]),.number = number_of(code)};

	for (int i = 0; i < mgpu_program_num_from[code]; i++)
		op.from[i] = lane_of(kinds[1 + i]);
	return op;
}

/* Registers that are not there, of another kind, or that nothing was written to. */
static void
check_registers(uint16_t code)
{
	const char *kinds = mgpu_program_kinds[code];
	const mgpu_program_op op = op_of(code);
	mgpu_program_op other = op;

	other.to = lane_of(kinds[0]);
	UNIT_CHECK(!takes(other));	/* a constant's */
	other.to = NUM_REGISTERS;
	UNIT_CHECK(!takes(other));
	other.to = RESULT + (kinds[0] == 's' ? MGPU_LANE_INTEGER : MGPU_LANE_BYTES);
	UNIT_CHECK(!takes(other));
	for (int i = 0; i < mgpu_program_num_from[code]; i++)
	{
		other = op;
		other.from[i] = NUM_REGISTERS;
		UNIT_CHECK(!takes(other));
		other.from[i] = RESULT + op.from[i];
		UNIT_CHECK(!takes(other));
		other.from[i] = op.from[i] == MGPU_LANE_BYTES ? MGPU_LANE_INTEGER : MGPU_LANE_BYTES;
		UNIT_CHECK(takes(other) == (kinds[1 + i] == '?'));
		other.from[i] = op.from[i] == MGPU_LANE_REAL ? MGPU_LANE_INTEGER : MGPU_LANE_REAL;
		UNIT_CHECK(takes(other) == (kinds[1 + i] == '?'));
	}
}

static void
test_ops(void)
{
	for (uint16_t code = 0; code < MGPU_PROGRAM_NUM_CODES; code++)
	{
		UNIT_CONTEXT("%s", mgpu_program_names[code]);
		UNIT_CHECK(takes(op_of(code)));
		check_registers(code);
	}
	UNIT_CONTEXT("%s", "");
	UNIT_CHECK(!takes((mgpu_program_op) {.code = MGPU_PROGRAM_NUM_CODES,.to = RESULT}));
}

/* ------------------------------------------------------- numbers and widths */

static bool
takes_number(uint16_t code, int64_t number)
{
	mgpu_program_op op = op_of(code);

	op.number = number;
	return takes(op);
}

static bool
takes_width(uint16_t code, uint16_t width)
{
	mgpu_program_op op = op_of(code);

	op.width = width;
	return takes(op);
}

static void
test_numbers(void)
{
	static const uint16_t powers[] = {MGPU_RUN_ROUND_OFF, MGPU_RUN_CUT_OFF, MGPU_RUN_FLOOR_OFF, MGPU_RUN_CEILING_OFF, MGPU_RUN_LIMIT_MAGNITUDE};
	static const uint16_t of_builds[] = {MGPU_RUN_LOOKUP, MGPU_RUN_MATCH, MGPU_RUN_FETCH};
	static const uint16_t of_width[] = {MGPU_RUN_ADD_INTEGER, MGPU_RUN_SUBTRACT_INTEGER, MGPU_RUN_MULTIPLY_INTEGER, MGPU_RUN_DIVIDE_INTEGER,
		MGPU_RUN_NEGATE_INTEGER, MGPU_RUN_ABSOLUTE_INTEGER, MGPU_RUN_FIT_INTEGER, MGPU_RUN_INTEGER_OF_REAL};

	for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++)
	{
		UNIT_CHECK(!takes_number(powers[i], 0) && !takes_number(powers[i], -1) && !takes_number(powers[i], INT64_MAX));
		UNIT_CHECK(takes_number(powers[i], 1));
	}
	for (size_t i = 0; i < sizeof(of_builds) / sizeof(of_builds[0]); i++)
		UNIT_CHECK(!takes_number(of_builds[i], 1) && !takes_number(of_builds[i], -1));
	for (size_t i = 0; i < sizeof(of_width) / sizeof(of_width[0]); i++)
		UNIT_CHECK(!takes_width(of_width[i], 0) && !takes_width(of_width[i], 9));
	UNIT_CHECK(takes_number(MGPU_RUN_IN_ROUND, 1) && !takes_number(MGPU_RUN_IN_ROUND, 0) && !takes_number(MGPU_RUN_IN_ROUND, -1) &&
			   !takes_number(MGPU_RUN_IN_ROUND, MGPU_BUILD_MAX_ROUNDS + 1));
	UNIT_CHECK(takes_number(MGPU_RUN_QUOTIENT, MGPU_QUOTIENT_MOST_PLACES | MGPU_QUOTIENT_IS_CUT) && !takes_number(MGPU_RUN_QUOTIENT, MGPU_QUOTIENT_MOST_PLACES + 1) && !takes_number(MGPU_RUN_QUOTIENT, 2 * MGPU_QUOTIENT_IS_CUT) && !takes_number(MGPU_RUN_QUOTIENT, -1));
	UNIT_CHECK(!takes_number(MGPU_RUN_TRUNCATE_TIME, -1) && !takes_number(MGPU_RUN_TRUNCATE_TIME, MGPU_TIME_YEAR + 1));
	UNIT_CHECK(!takes_number(MGPU_RUN_EXTRACT, -1) && !takes_number(MGPU_RUN_EXTRACT, MGPU_FIELD_EPOCH + 1));
	UNIT_CHECK(takes_number(MGPU_RUN_WORD, 7) && !takes_number(MGPU_RUN_WORD, 8) && !takes_number(MGPU_RUN_WORD_FIXED, -1) && !takes_number(MGPU_RUN_WORD_INET, 8) && !takes_number(MGPU_RUN_WORD_COMPARED, 8));
	for (uint16_t code = MGPU_RUN_RANGE_BOUND; code <= MGPU_RUN_RANGE_RELATES; code++)
		UNIT_CHECK(takes_width(code, 4) && takes_width(code, 8) && !takes_width(code, 0) && !takes_width(code, 7) && !takes_width(code, 9));
	UNIT_CHECK(takes_width(MGPU_RUN_WORD_COMPARED, 31) && !takes_width(MGPU_RUN_WORD_COMPARED, 32));
	UNIT_CHECK(takes_width(MGPU_RUN_WORD, 32) && !takes_width(MGPU_RUN_WORD, 33) && !takes_width(MGPU_RUN_WORD, 0));
	UNIT_CHECK(takes_width(MGPU_RUN_FETCH, 1) && !takes_width(MGPU_RUN_FETCH, 2) && !takes_width(MGPU_RUN_MATCH, 2));
}

/* Operations that make texts have numbers in their order. */
static void
test_made(void)
{
	mgpu_program_op op = op_of(MGPU_RUN_JOIN_BYTES);
	mgpu_group_spec spec = spec_of(op);

	UNIT_CHECK(!takes_width(MGPU_RUN_JOIN_BYTES, 1) && !takes_width(MGPU_RUN_CHANGE_CASE, MGPU_MOST_MADE));
	UNIT_CHECK(!takes_number(MGPU_RUN_TEXT_OF_INTEGER, -1) && !takes_number(MGPU_RUN_TEXT_OF_INTEGER, 19) && takes_number(MGPU_RUN_TEXT_OF_INTEGER, 18));
	UNIT_CHECK(!takes_number(MGPU_RUN_BYTES_OF_WORDS, 1) && takes_number(MGPU_RUN_BYTES_OF_WORDS, 3) && !takes_number(MGPU_RUN_BYTES_OF_WORDS, 4));
	for (uint32_t i = 1; i <= MGPU_MOST_MADE; i++)
	{
		spec.num_ops = i;
		spec.ops[i - 1] = op;
		spec.ops[i - 1].width = (uint16_t) (i - 1);
		UNIT_CHECK(is_valid(&spec));
	}
	spec.num_ops = MGPU_MOST_MADE + 1;
	spec.ops[MGPU_MOST_MADE] = op;
	spec.ops[MGPU_MOST_MADE].width = MGPU_MOST_MADE;
	UNIT_CHECK(!is_valid(&spec));
	spec.num_ops = 2;
	spec.ops[1].width = 0;
	UNIT_CHECK(!is_valid(&spec));
}

/* A numeric that is shown takes two columns of a build. */
static void
test_shown_cells(void)
{
	mgpu_program_op op = op_of(MGPU_RUN_FETCH);

	op.to = RESULT + MGPU_LANE_SHOWN;
	UNIT_CHECK(takes(op));
	op.width = 1;
	UNIT_CHECK(!takes(op));
}

static bool
takes_load(uint16_t code, int16_t length, uint16_t width)
{
	mgpu_program_op op = op_of(code);
	mgpu_group_spec spec;

	op.width = width;
	op.number = length < 0 ? 1 : 0;
	spec = spec_of(op);
	spec.attributes[op.number].length = length;
	spec.inputs[op.number].length = length;
	spec.fixed_end = 24;
	return is_valid(&spec);
}

static void
test_loads(void)
{
	UNIT_CHECK(takes_load(MGPU_RUN_LOAD_INTEGER, 1, 1) && takes_load(MGPU_RUN_LOAD_REAL, 4, 4) && takes_load(MGPU_RUN_LOAD_FIXED, 16, 16));
	UNIT_CHECK(!takes_load(MGPU_RUN_LOAD_INTEGER, 4, 8) && !takes_load(MGPU_RUN_LOAD_INTEGER, 3, 3) && !takes_load(MGPU_RUN_LOAD_INTEGER, 6, 6));
	UNIT_CHECK(!takes_load(MGPU_RUN_LOAD_REAL, 2, 2) && !takes_load(MGPU_RUN_LOAD_FIXED, 16, 17) && !takes_load(MGPU_RUN_LOAD_INTEGER, -1, 8));
	UNIT_CHECK(!takes_load(MGPU_RUN_LOAD_VARLENA, 8, 8) && !takes_load(MGPU_RUN_LOAD_VARLENA, -2, 8) && takes_load(MGPU_RUN_LOAD_PRESENCE, -2, 8));
	UNIT_CHECK(takes_load(MGPU_RUN_LOAD_NUMERIC, -1, 18) && !takes_load(MGPU_RUN_LOAD_NUMERIC, -1, 19) && !takes_load(MGPU_RUN_LOAD_SHOWN, -1, 19));
	UNIT_CHECK(!takes_number(MGPU_RUN_LOAD_PRESENCE, 2) && !takes_number(MGPU_RUN_LOAD_PRESENCE, -1));
}

/* ------------------------------------------------------------------- tables */

/* With other bytes at an offset of the tables. */
static bool
takes_table(uint16_t code, int offset, const void *bytes, size_t size)
{
	mgpu_group_spec spec = spec_of(op_of(code));

	put(&spec, offset, bytes, size);
	return is_valid(&spec);
}

static bool
takes_count(uint16_t code, uint32_t count)
{
	return takes_table(code, (int) number_of(code), &count, sizeof(count));
}

static bool
takes_number_at(uint16_t code, int offset, int64_t number)
{
	return takes_table(code, offset, &number, sizeof(number));
}

/* An automaton with one of its numbers, or one byte, changed. */
static bool
takes_regex(size_t offset, uint32_t number)
{
	return takes_table(MGPU_RUN_REGEX, REGEX_AT + (int) offset, &number, sizeof(number));
}

static bool
takes_regex_byte(size_t offset, uint8_t byte)
{
	return takes_table(MGPU_RUN_REGEX, REGEX_AT + (int) offset, &byte, 1);
}

static void
test_regexes(void)
{
	size_t		next = sizeof(mgpu_regex) + 2 * sizeof(mgpu_regex_range);

	UNIT_CHECK(takes_regex(offsetof(mgpu_regex, first), 0) && !takes_regex(offsetof(mgpu_regex, first), 3));
	UNIT_CHECK(!takes_regex(offsetof(mgpu_regex, num_states), 0) && !takes_regex(offsetof(mgpu_regex, num_states), 257));
	UNIT_CHECK(!takes_regex(offsetof(mgpu_regex, num_classes), 0) && !takes_regex(offsetof(mgpu_regex, num_classes), 200));
	UNIT_CHECK(!takes_regex(offsetof(mgpu_regex, num_ranges), 0) && !takes_regex(offsetof(mgpu_regex, num_ranges), UINT32_MAX));
	UNIT_CHECK(!takes_regex(offsetof(mgpu_regex, ranges), REGEX_END) && !takes_regex(offsetof(mgpu_regex, ranges), 1));
	UNIT_CHECK(!takes_regex(offsetof(mgpu_regex, next), REGEX_END) && !takes_regex(offsetof(mgpu_regex, next), UINT32_MAX));
	UNIT_CHECK(takes_regex_byte(offsetof(mgpu_regex, of_ascii), 1) && !takes_regex_byte(offsetof(mgpu_regex, of_ascii) + 127, 2));
	UNIT_CHECK(!takes_regex_byte(sizeof(mgpu_regex) + offsetof(mgpu_regex_range, class_of), 2));
	UNIT_CHECK(takes_regex_byte(next + 5, 2) && !takes_regex_byte(next + 5, 3));
}

static bool
takes_match(size_t offset, uint32_t number)
{
	bool		takes_part = takes_table(MGPU_RUN_REGEX_PART, MATCH_AT + (int) offset, &number, sizeof(number));

	UNIT_CHECK(takes_part == takes_table(MGPU_RUN_REPLACE_REGEX, MATCH_AT + (int) offset, &number, sizeof(number)));
	return takes_part;
}

static bool
takes_match_step(uint16_t code, size_t field, uint32_t number)
{
	return takes_match(offsetof(match_table, steps) + code * sizeof(mgpu_regex_step) + field, number);
}

static void
test_matches(void)
{
	static const size_t fields[] = {offsetof(mgpu_regex_step, left), offsetof(mgpu_regex_step, right)};
	size_t		ends = offsetof(match_table, ends);

	UNIT_CHECK(!takes_match(offsetof(mgpu_regex, num_classes), 200) && !takes_match(offsetof(mgpu_regex, first), 3));
	UNIT_CHECK(!takes_match(offsetof(mgpu_regex_match, whole), 1) && !takes_match(offsetof(mgpu_regex_match, whole), UINT32_MAX) &&
			   !takes_match(offsetof(mgpu_regex_match, whole), UINT32_MAX - 3) && !takes_match(offsetof(mgpu_regex_match, whole), sizeof(match_table)));
	UNIT_CHECK(takes_match(offsetof(mgpu_regex_match, num_steps), 0) && !takes_match(offsetof(mgpu_regex_match, num_steps), MGPU_REGEX_LITERAL + 3) &&
			   !takes_match(offsetof(mgpu_regex_match, num_steps), UINT32_MAX));
	UNIT_CHECK(!takes_match(offsetof(mgpu_regex_match, steps), 1) && !takes_match(offsetof(mgpu_regex_match, steps), UINT32_MAX - 3));
	UNIT_CHECK(!takes_match(offsetof(match_table, num_states), 1) && !takes_match(offsetof(match_table, num_states), 129) && !takes_match(offsetof(match_table, num_states), UINT32_MAX));
	UNIT_CHECK(takes_match(ends, 0x01808101) && !takes_match(ends, 0x02000000) && !takes_match(ends, 0x82));
	for (uint16_t code = 0; code <= MGPU_REGEX_LITERAL; code++)
		for (size_t i = 0; i < 2; i++)
			UNIT_CHECK(takes_match_step(code, fields[i], UINT32_MAX - 3) == (code == MGPU_REGEX_COPY));
	UNIT_CHECK(!takes_match_step(MGPU_REGEX_COPY, offsetof(mgpu_regex_step, code), MGPU_REGEX_LITERAL + 1));
}

/* Tables that are not where they should be, or end elsewhere. */
static void
test_places(void)
{
	static const uint16_t codes[] = {MGPU_RUN_IN_INTEGER, MGPU_RUN_IN_BYTES, MGPU_RUN_LIKE, MGPU_RUN_CHANGE_CASE, MGPU_RUN_REGEX, MGPU_RUN_REGEX_PART, MGPU_RUN_REPLACE_REGEX, MGPU_RUN_TIME_BIN, MGPU_RUN_DIVIDE_SHOWN, MGPU_RUN_BUCKET_OF_REAL, MGPU_RUN_FORMAT_TIME,
		MGPU_RUN_LOCAL_OF_ZONED, MGPU_RUN_ZONED_OF_LOCAL};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
	{
		mgpu_group_spec spec = spec_of(op_of(codes[i]));

		UNIT_CONTEXT("%s", mgpu_program_names[codes[i]]);
		UNIT_CHECK(!takes_number(codes[i], -8) && !takes_number(codes[i], INT64_MIN) && !takes_number(codes[i], INT64_MAX - 7));
		UNIT_CHECK(!takes_number(codes[i], (tables_end(codes[i]) + 7) & ~7) && !takes_number(codes[i], (tables_end(codes[i]) - 1) & ~7) && !takes_number(codes[i], INT64_C(1) << 32));
		UNIT_CHECK(!takes_number(codes[i], number_of(codes[i]) + 4));
		spec.constants[MGPU_LANE_BYTES].length = 0;
		spec.table_bytes = (uint32_t) number_of(codes[i]) + 4;
		UNIT_CHECK(!is_valid(&spec));
	}
	UNIT_CONTEXT("%s", "");
}

/* A format with one field of a piece changed. */
static bool
takes_piece(uint32_t number, mgpu_time_piece piece)
{
	return takes_table(MGPU_RUN_FORMAT_TIME, FORMAT_AT + (int) (offsetof(mgpu_time_format, pieces) + number * sizeof(piece)), &piece, sizeof(piece));
}

static void
test_formats(void)
{
	static const uint32_t too_many[] = {MGPU_FORMAT_PIECES + 1, 14};
	static const uint32_t too_long[] = {3, 15};
	static const uint32_t fewer[] = {2, 13};

	UNIT_CHECK(takes_table(MGPU_RUN_FORMAT_TIME, FORMAT_AT, fewer, sizeof(fewer)));
	UNIT_CHECK(!takes_table(MGPU_RUN_FORMAT_TIME, FORMAT_AT, too_many, sizeof(too_many)) && !takes_table(MGPU_RUN_FORMAT_TIME, FORMAT_AT, too_long, sizeof(too_long)));
	UNIT_CHECK(takes_piece(0, (mgpu_time_piece) {MGPU_PIECE_DIGITS, MGPU_FIELD_SECOND, 4, 1, UINT32_MAX}) && !takes_piece(0, (mgpu_time_piece) {MGPU_PIECE_DIGITS, MGPU_FIELD_EPOCH, 4, 0, 0}));
	UNIT_CHECK(!takes_piece(0, (mgpu_time_piece) {MGPU_PIECE_DIGITS, MGPU_FIELD_YEAR, 4, -1, 0}) && !takes_piece(0, (mgpu_time_piece) {MGPU_PIECE_DIGITS, MGPU_FIELD_YEAR, 3, 0, 0}));
	UNIT_CHECK(takes_piece(1, (mgpu_time_piece) {MGPU_PIECE_NAME, MGPU_FIELD_MONTH, 9, -1, MGPU_FORMAT_BYTES - 108}) && !takes_piece(1, (mgpu_time_piece) {MGPU_PIECE_NAME, MGPU_FIELD_MONTH, 9, -1, MGPU_FORMAT_BYTES - 107}));
	UNIT_CHECK(takes_piece(1, (mgpu_time_piece) {MGPU_PIECE_NAME, MGPU_FIELD_DAY_OF_WEEK, 9, 0, MGPU_FORMAT_BYTES - 63}) && !takes_piece(1, (mgpu_time_piece) {MGPU_PIECE_NAME, MGPU_FIELD_DAY_OF_WEEK, 9, 1, 0}));
	UNIT_CHECK(!takes_piece(1, (mgpu_time_piece) {MGPU_PIECE_NAME, MGPU_FIELD_MONTH, 9, 0, 0}) && !takes_piece(1, (mgpu_time_piece) {MGPU_PIECE_NAME, MGPU_FIELD_YEAR, 9, 0, 0}));
	UNIT_CHECK(!takes_piece(2, (mgpu_time_piece) {MGPU_PIECE_BYTES, 0, 1, 0, MGPU_FORMAT_BYTES}) && !takes_piece(2, (mgpu_time_piece) {MGPU_PIECE_BYTES, 0, 1, 1, 0}) && !takes_piece(2, (mgpu_time_piece) {3, 0, 1, 0, 0}));
	UNIT_CHECK(!takes_piece(2, (mgpu_time_piece) {MGPU_PIECE_BYTES, 0, 1, 0, UINT32_MAX}) && !takes_piece(2, (mgpu_time_piece) {MGPU_PIECE_BYTES, 0, 0, 0, 0}));
}

static void
test_tables(void)
{
	static const uint32_t descending[] = {2, 0, 3, 1};
	static const uint32_t too_long[] = {2, 0, 1, TABLES_END};
	static const uint32_t no_marks[] = {2, 1, 31};
	static const uint32_t with_marks[] = {2, 1, 30};

	UNIT_CHECK(takes_count(MGPU_RUN_IN_INTEGER, 14) && !takes_count(MGPU_RUN_IN_INTEGER, 15) && !takes_count(MGPU_RUN_IN_INTEGER, UINT32_MAX));
	UNIT_CHECK(takes_count(MGPU_RUN_IN_BYTES, 0) && !takes_count(MGPU_RUN_IN_BYTES, 23) && !takes_count(MGPU_RUN_IN_BYTES, UINT32_MAX));
	UNIT_CHECK(!takes_table(MGPU_RUN_IN_BYTES, STRINGS_AT, descending, sizeof(descending)));
	UNIT_CHECK(!takes_table(MGPU_RUN_IN_BYTES, STRINGS_AT, too_long, sizeof(too_long)));
	UNIT_CHECK(!takes_count(MGPU_RUN_LIKE, 0) && !takes_count(MGPU_RUN_LIKE, 18) && !takes_count(MGPU_RUN_LIKE, UINT32_MAX));
	UNIT_CHECK(takes_table(MGPU_RUN_LIKE, PATTERN_AT, with_marks, sizeof(with_marks)));
	UNIT_CHECK(!takes_table(MGPU_RUN_LIKE, PATTERN_AT, no_marks, sizeof(no_marks)));
	UNIT_CHECK(!takes_number_at(MGPU_RUN_TIME_BIN, BIN_AT, 0) && !takes_number_at(MGPU_RUN_TIME_BIN, BIN_AT, -60));
	UNIT_CHECK(!takes_number_at(MGPU_RUN_TIME_BIN, BIN_AT + 8, INT64_MIN));
	UNIT_CHECK(takes_number_at(MGPU_RUN_DIVIDE_SHOWN, QUOTIENT_AT, INT64_MIN) && takes_number_at(MGPU_RUN_DIVIDE_SHOWN, QUOTIENT_AT + offsetof(mgpu_quotient, step), 1));
	UNIT_CHECK(!takes_number_at(MGPU_RUN_DIVIDE_SHOWN, QUOTIENT_AT + offsetof(mgpu_quotient, step), 0) && !takes_number_at(MGPU_RUN_DIVIDE_SHOWN, QUOTIENT_AT + offsetof(mgpu_quotient, step), -101));
	UNIT_CHECK(takes_number_at(MGPU_RUN_BUCKET_OF_REAL, BUCKETS_AT + offsetof(mgpu_buckets, count), 1) && !takes_number_at(MGPU_RUN_BUCKET_OF_REAL, BUCKETS_AT + offsetof(mgpu_buckets, count), 0) &&
			   !takes_number_at(MGPU_RUN_BUCKET_OF_REAL, BUCKETS_AT + offsetof(mgpu_buckets, count), INT64_C(1) << 31));
	UNIT_CHECK(!takes_number_at(MGPU_RUN_LOCAL_OF_ZONED, ZONE_AT, 1) && !takes_number_at(MGPU_RUN_LOCAL_OF_ZONED, ZONE_AT, 3));
	UNIT_CHECK(!takes_number_at(MGPU_RUN_ZONED_OF_LOCAL, ZONE_AT, -1) && !takes_number_at(MGPU_RUN_ZONED_OF_LOCAL, ZONE_AT, INT64_MAX));
	UNIT_CHECK(!takes_number_at(MGPU_RUN_ZONED_OF_LOCAL, ZONE_AT + 8, INT64_MIN) && !takes_number_at(MGPU_RUN_ZONED_OF_LOCAL, ZONE_AT + 16, INT64_MAX));
}

/* ------------------------------------------------------- registers, inputs */

#define CHECK_BROKEN(change) \
	do { \
		mgpu_group_spec spec = spec_of(op_of(MGPU_RUN_LOAD_VARLENA)); \
		UNIT_CHECK(is_valid(&spec)); \
		change; \
		UNIT_CHECK(!is_valid(&spec)); \
	} while (0)

static void
test_registers(void)
{
	CHECK_BROKEN(spec.lanes[7] = MGPU_LANE_SHOWN + 1);
	CHECK_BROKEN(spec.constants[MGPU_LANE_BYTES].bits = -1);
	CHECK_BROKEN(spec.constants[MGPU_LANE_BYTES].bits = TABLES_END + 1);
	CHECK_BROKEN(spec.constants[MGPU_LANE_BYTES].length = TABLES_END + 1);
	CHECK_BROKEN(spec.constants[MGPU_LANE_BYTES].length = UINT32_MAX);
	CHECK_BROKEN(spec.num_columns = 1; spec.columns[0].kind = MGPU_KEY_SIGNED; spec.columns[0].width = 8; spec.columns[0].reg = RESULT);
	CHECK_BROKEN(spec.num_tests = 1; spec.tests[0].reg = RESULT);
	CHECK_BROKEN(spec.num_tests = 1; spec.tests[0].reg = MGPU_LANE_BYTES);
	CHECK_BROKEN(spec.num_tests = 1; spec.tests[0].reg = MGPU_LANE_REAL);
	/* set, but behind the test */
	CHECK_BROKEN(spec.ops[0] = op_of(MGPU_RUN_LOAD_INTEGER); spec.num_tests = 1; spec.tests[0].reg = RESULT);
}

static void
test_inputs(void)
{
	static const char lengths[] = {8 << 1 | 1, 9 << 1 | 1, 0, 8 << 2, 1};

	CHECK_BROKEN(spec.attributes[1].input = -1);
	CHECK_BROKEN(spec.num_fixed = 0);
	CHECK_BROKEN(spec.inputs[0].offset = -1);
	CHECK_BROKEN(spec.num_fixed = 2);
	CHECK_BROKEN(spec.inputs[1].missing = TABLES_END);
	CHECK_BROKEN(spec.inputs[1].missing = INT32_MAX);
	CHECK_BROKEN(spec.inputs[0].missing = TABLES_END - 7);
	for (int i = 0; i < 5; i++)
	{
		mgpu_group_spec spec = spec_of(op_of(MGPU_RUN_LOAD_VARLENA));

		/* short, too long, a header of 4 bytes that says too few, one that is cut off, and a value that is out of line */
		spec.inputs[1].missing = i == 3 ? TABLES_END - 3 : TABLES_END - 8;
		put(&spec, spec.inputs[1].missing, &lengths[i], 1);
		UNIT_CHECK(is_valid(&spec) == (i == 0 || i == 4));
	}
}

int
main(void)
{
	test_ops();
	test_numbers();
	test_shown_cells();
	test_made();
	test_regexes();
	test_matches();
	test_loads();
	test_places();
	test_tables();
	test_formats();
	test_registers();
	test_inputs();
	return unit_report();
}

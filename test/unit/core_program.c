/*
 * core_program.c
 *		Each operation of programs gives the same for arrays of rows and row by row, to the bit; words of bytes order as the bytes do.
 *
 * Cases are made for each code of MGPU_PROGRAM_OPS: an operation whose shape is not known here fails.
 */
#include "core/program_row.h"
#include "unit.h"
#include "unit_program.h"
#include "unit_program_made.h"

#define NUM_CASES 400
#define NOT_WRITTEN 0x5A

/* ---- arrays against single rows */

static mgpu_row_register
row_of(const program_case *given, int number, uint32_t row)
{
	const mgpu_register *from = &given->registers[number];
	mgpu_row_register to;

	memset(&to, NOT_WRITTEN, sizeof(to));
	if (given->lanes[number] == MGPU_LANE_BYTES)
		to.bytes[0] = from->bytes[row];
	else if (given->lanes[number] == MGPU_LANE_REAL)
		to.reals[0] = from->reals[row];
	else
		to.integers[0] = from->integers[row];
	to.lengths[0] = from->lengths[row];
	to.states[0] = from->states[row];
	return to;
}

/* The result of one row; the first registers are constants. */
static mgpu_row_register
run_row(const program_case *given, uint32_t row, uint32_t num_constants)
{
	mgpu_row_program program = {&given->op, 1, given->lanes, (const char *) given->table, given->builds, (const char *) given->build_memory, NULL,
	num_constants};
	mgpu_row_register all[TO + 1];
	mgpu_row_register constants[TO];
	static char room[ROW_MADE_BYTES];
	mgpu_made	made = {room, sizeof(room), {0}};
	const char *inputs[2] = {NULL, given->values[given->rows[row]]};

	for (int i = 0; i < TO; i++)
		all[i] = row_of(given, i, row);
	memset(&all[TO], NOT_WRITTEN, sizeof(all[TO]));
	memcpy(constants, all, sizeof(constants));
	/* what is a constant is nowhere else */
	memset(all, NOT_WRITTEN, num_constants * sizeof(all[0]));
	program.constants = constants;
	mgpu_program_run_row(&program, 0, 1, all + num_constants, inputs, &made);
	return settled_result(given->op.code, *mgpu_row_register_at(&program, all + num_constants, TO));
}

static void
run_rows(program_case *given, uint32_t num_rows)
{
	static char room[MOST_ROWS * MANY_MADE_BYTES];
	mgpu_made	made = {room, sizeof(room), {0}};
	mgpu_program program = {1, &given->op, given->lanes, (const char *) given->table, given->builds, (const char *) given->build_memory, &made, NULL};
	mgpu_program_input inputs[2] = {{NULL}, {given->values}};
	mgpu_register *to = &given->registers[TO];

	memset(to->integers, NOT_WRITTEN, MOST_ROWS * sizeof(int64_t));
	memset(to->lengths, NOT_WRITTEN, MOST_ROWS * sizeof(uint32_t));
	memset(to->states, NOT_WRITTEN, MOST_ROWS);
	mgpu_program_run(&program, given->registers, inputs, given->rows, num_rows);
}

/* Of two NaN, which one a sum keeps is the compiler's choice. */
static bool
is_any_nan(const program_case *given, uint32_t row, double result)
{
	return strcmp(given->kinds, "rrr") == 0 && given->op.code != MGPU_RUN_LARGER_REAL && given->op.code != MGPU_RUN_SMALLER_REAL &&
		isnan(given->registers[0].reals[row]) && isnan(given->registers[1].reals[row]) && isnan(result) &&
		isnan(given->registers[TO].reals[row]);
}

static void
compare_forms(program_case *given, uint32_t num_rows)
{
	const mgpu_register *to = &given->registers[TO];
	uint32_t	num_constants = (uint32_t) unit_random_below(TO + 1);

	run_rows(given, num_rows);
	for (uint32_t row = 0; row < num_rows; row++)
	{
		mgpu_row_register result = run_row(given, row, num_constants);
		mgpu_row_register expected = settled_result(given->op.code, row_of(given, TO, row));

		UNIT_CHECK(memcmp(result.integers, expected.integers, sizeof(int64_t)) == 0 ||
				   is_any_nan(given, row, result.reals[0]));
		UNIT_CHECK(result.lengths[0] == expected.lengths[0]);
		UNIT_CHECK(result.states[0] == expected.states[0] && result.states[0] <= MGPU_IS_FAULT);
	}
	/* rows behind the last one are not touched */
	UNIT_CHECK(num_rows == MOST_ROWS || to->states[num_rows] == NOT_WRITTEN);
}

/* Whether cases are of registers that the operation takes. */
static bool
are_kinds_alike(const char *kinds, const char *shape)
{
	bool		are_alike = strlen(kinds) == strlen(shape);

	for (size_t i = 0; are_alike && i < strlen(kinds); i++)
		are_alike = kinds[i] == 's' ? strchr("svjaeg", shape[i]) != NULL : kinds[i] == 'i' ? strchr("ib4dtn", shape[i]) != NULL : kinds[i] == '=' || kinds[i] == '?' ? shape[i] == '*' :
			kinds[i] == shape[i];
	return are_alike;
}

static void
check_op(program_case *given, int code)
{
	static const uint32_t counts[] = {1, 2, 7, 64, MOST_ROWS};
	uint64_t	states[3] = {0, 0, 0};	/* rows with a value, NULL, a fault */

	UNIT_CONTEXT("%s", mgpu_program_names[code]);
	UNIT_CHECK(shapes[code].kinds != NULL && are_kinds_alike(mgpu_program_kinds[code], shapes[code].kinds));
	if (shapes[code].kinds == NULL)
		return;
	for (int i = 0; i < NUM_CASES; i++)
	{
		uint32_t	num_rows = counts[i % 5];

		make_case(given, code);
		UNIT_CONTEXT("%s, case %d, width %u, number %lld, %u rows", mgpu_program_names[code], i, given->op.width,
					 (long long) given->op.number, num_rows);
		compare_forms(given, num_rows);
		for (uint32_t row = 0; row < num_rows; row++)
			states[given->registers[TO].states[row] % 3]++;
	}
	/* a test without values would say nothing; without a collator there are none (core_collator.c) */
	UNIT_CONTEXT("%s", mgpu_program_names[code]);
	UNIT_CHECK((states[MGPU_IS_VALUE] > 0) == (code != MGPU_RUN_COMPARE_COLLATED));
	UNIT_CHECK(states[MGPU_IS_NULL] > 0 || code == MGPU_RUN_IS_NULL || code == MGPU_RUN_IS_NOT_NULL ||
			   code == MGPU_RUN_IS_TRUTH || code == MGPU_RUN_IS_DISTINCT || code == MGPU_RUN_IN_ROUND);
}

/* ---- a program of several operations, in parts */

/* The larger of an attribute and 7, but NULL for 100. */
static void
check_program(void)
{
	static const mgpu_program_op ops[] = {
		{.code = MGPU_RUN_LOAD_INTEGER,.width = 4,.to = 2,.number = 0},
		{.code = MGPU_RUN_COMPARE_INTEGER,.width = 1,.to = 3,.from = {2, 0},.number = MGPU_IS_GREATER},
		{.code = MGPU_RUN_CHOOSE,.width = 4,.to = 4,.from = {3, 2, 0}},
		{.code = MGPU_RUN_COMPARE_INTEGER,.width = 1,.to = 3,.from = {4, 1},.number = MGPU_IS_EQUAL},
		{.code = MGPU_RUN_NULL_IF,.width = 4,.to = 5,.from = {4, 3}},
	};
	static const uint8_t lanes[6] = {MGPU_LANE_INTEGER};
	static const int32_t values[] = {3, 7, 8, 100, -5};
	mgpu_row_register constants[2] = {{{{7}}, {0}, {MGPU_IS_VALUE}}, {{{100}}, {0}, {MGPU_IS_VALUE}}};
	mgpu_row_program program = {ops, 5, lanes, NULL, NULL, NULL, constants, 2};

	for (int split = 0; split <= 5; split++)
		for (int i = 0; i < 6; i++)
		{
			mgpu_row_register registers[4];
			const char *input = i < 5 ? (const char *) &values[i] : NULL;
			const mgpu_row_register *result = mgpu_row_register_at(&program, registers, 5);

			mgpu_program_run_row(&program, 0, (uint32_t) split, registers, &input, NULL);
			mgpu_program_run_row(&program, (uint32_t) split, 5, registers, &input, NULL);
			UNIT_CONTEXT("split at %d, value %d", split, i);
			UNIT_CHECK(result->states[0] == (i == 3 ? MGPU_IS_NULL : MGPU_IS_VALUE));
			UNIT_CHECK(i == 3 || result->integers[0] == (i == 2 ? 8 : 7));
		}
}

/* ---- the largest numeric */

static void
check_numeric(program_case *given, uint16_t last_digit, uint8_t state)
{
	const uint16_t numbers[] = {0x8000 | 4, 922, 3372, 368, 5477, last_digit};
	uint32_t	header = (uint32_t) (sizeof(header) + sizeof(numbers)) << 2;

	memcpy(given->stored[0], &header, sizeof(header));
	memcpy(given->stored[0] + sizeof(header), numbers, sizeof(numbers));
	given->values[0] = given->stored[0];
	given->rows[0] = 0;
	given->op = (mgpu_program_op) {.code = MGPU_RUN_LOAD_NUMERIC,.to = TO,.number = 1};
	run_rows(given, 1);
	UNIT_CONTEXT("the last digit is %u", last_digit);
	UNIT_CHECK(given->registers[TO].states[0] == state);
	UNIT_CHECK(state != MGPU_IS_VALUE || given->registers[TO].integers[0] == INT64_MAX - 5807 + last_digit);
}

/* ---- words */

/* Word `number` of `width`; *state: the result's. */
static int64_t
word_of(program_case *given, int code, const void *bytes, uint32_t length, uint8_t *state)
{
	given->op.code = (uint16_t) code;
	given->lanes[0] = MGPU_LANE_BYTES;
	given->registers[0].bytes[0] = bytes;
	given->registers[0].lengths[0] = length;
	given->registers[0].states[0] = *state;
	run_rows(given, 1);
	*state = given->registers[TO].states[0];
	return given->registers[TO].integers[0];
}

static void
check_word(program_case *given, int code, const char *bytes, uint32_t length, uint64_t expected)
{
	uint8_t		state = MGPU_IS_VALUE;
	int64_t		word = word_of(given, code, bytes, length, &state);

	UNIT_CONTEXT("%u bytes, word %d of %u", length, (int) given->op.number, given->op.width);
	UNIT_CHECK(state == MGPU_IS_VALUE && word == (int64_t) (expected ^ UINT64_C(0x8000000000000000)));
}

static uint8_t
state_of_word(program_case *given, int code, uint32_t length, uint8_t state)
{
	static const char bytes[300] = "a";

	(void) word_of(given, code, state == MGPU_IS_VALUE ? bytes : NULL, length, &state);
	return state;
}

static void
check_known_words(program_case *given)
{
	given->op = (mgpu_program_op) {.width = 1,.to = TO};
	check_word(given, MGPU_RUN_WORD, "", 0, 0);
	check_word(given, MGPU_RUN_WORD, NULL, 0, 0);
	check_word(given, MGPU_RUN_WORD, "\1", 1, UINT64_C(0x0100000000000001));
	check_word(given, MGPU_RUN_WORD, "abcdefg", 7, UINT64_C(0x6162636465666707));
	check_word(given, MGPU_RUN_WORD_FIXED, "abcdefgh", 8, UINT64_C(0x6162636465666768));
	check_word(given, MGPU_RUN_WORD_FIXED, "abc", 3, UINT64_C(0x6162630000000000));
	given->op.width = 2;
	check_word(given, MGPU_RUN_WORD, "abcdefgh", 8, UINT64_C(0x6162636465666768));
	check_word(given, MGPU_RUN_WORD, "a\xFF", 2, UINT64_C(0x61FF000000000000));
	check_word(given, MGPU_RUN_WORD_FIXED, "0123456789abcdef", 16, UINT64_C(0x3031323334353637));
	given->op.number = 1;
	check_word(given, MGPU_RUN_WORD, "abcdefgh", 8, 8);
	check_word(given, MGPU_RUN_WORD, "a\xFF", 2, 2);
	check_word(given, MGPU_RUN_WORD, "0123456789abcde", 15, UINT64_C(0x383961626364650F));
	check_word(given, MGPU_RUN_WORD_FIXED, "0123456789abcdef", 16, UINT64_C(0x3839616263646566));
}

/* A string that fits has its words, and one that does not has none of these. */
static void
check_compared_words(program_case *given)
{
	static const char text[] = "abcdefgh0123456789";
	uint8_t		state = MGPU_IS_VALUE;

	given->op = (mgpu_program_op) {.width = 1,.to = TO,.number = 0};
	for (uint32_t length = 0; length < sizeof(text); length++)
	{
		int64_t		word = word_of(given, MGPU_RUN_WORD_COMPARED, text, length, &state);

		UNIT_CONTEXT("%u bytes", length);
		UNIT_CHECK(state == MGPU_IS_VALUE && (length < 8 ? word == word_of(given, MGPU_RUN_WORD, text, length, &state) : (word & 0xFF) == 0xFF));
	}
}

static void
check_states_of_words(program_case *given)
{
	for (uint16_t width = 1; width <= 32; width++)
	{
		UNIT_CONTEXT("%u words", width);
		given->op = (mgpu_program_op) {.width = width,.to = TO,.number = width / 2};
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD, 8u * width - 1, MGPU_IS_VALUE) == MGPU_IS_VALUE);
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD, 8u * width, MGPU_IS_VALUE) == MGPU_IS_FAULT);
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD, 8u * width, MGPU_IS_NULL) == MGPU_IS_NULL);
		UNIT_CHECK(width == 32 || state_of_word(given, MGPU_RUN_WORD_COMPARED, 8u * width, MGPU_IS_VALUE) == MGPU_IS_VALUE);
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD, 1, MGPU_IS_FAULT) == MGPU_IS_FAULT);
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD_FIXED, 8u * width, MGPU_IS_VALUE) == MGPU_IS_VALUE);
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD_FIXED, 8u * width + 1, MGPU_IS_VALUE) == MGPU_IS_FAULT);
		UNIT_CHECK(state_of_word(given, MGPU_RUN_WORD_FIXED, 0, MGPU_IS_NULL) == MGPU_IS_NULL);
	}
}

static int
order_of_words(program_case *given, int code, const char *const bytes[2], const uint32_t lengths[2])
{
	for (given->op.number = 0; given->op.number < given->op.width; given->op.number++)
	{
		uint8_t		states[2] = {MGPU_IS_VALUE, MGPU_IS_VALUE};
		int64_t		a = word_of(given, code, bytes[0], lengths[0], &states[0]);
		int64_t		b = word_of(given, code, bytes[1], lengths[1], &states[1]);

		UNIT_CHECK(states[0] == MGPU_IS_VALUE && states[1] == MGPU_IS_VALUE);
		if (a != b)
			return a < b ? -1 : 1;
	}
	return 0;
}

/* The order of memcmp, and of lengths if all bytes of the shorter one are the same. */
static void
check_order_of_words(program_case *given, int code)
{
	static const unsigned char known[] = {0, 0, 1, 'a', 127, 128, 255};
	char		store[2][24];
	const char *bytes[2] = {store[0] + 1, store[1] + 2};
	uint32_t	lengths[2];
	uint32_t	shorter;
	int			order;

	given->op = (mgpu_program_op) {.width = (uint16_t) (1 + unit_random_below(2)),.to = TO};
	lengths[0] = (uint32_t) unit_random_below(8u * given->op.width);
	lengths[1] = code == MGPU_RUN_WORD ? (uint32_t) unit_random_below(8u * given->op.width) : lengths[0];
	for (int i = 0; i < 24; i++)
		store[0][i] = (char) known[unit_random_below(sizeof(known))];
	/* the same up to somewhere */
	memset(store[1], 0, sizeof(store[1]));
	memcpy(store[1] + 2, store[0] + 1, unit_random_below(17));
	shorter = lengths[0] < lengths[1] ? lengths[0] : lengths[1];
	order = memcmp(bytes[0], bytes[1], shorter);
	if (order == 0)
		order = (lengths[0] > lengths[1]) - (lengths[0] < lengths[1]);
	UNIT_CONTEXT("%u and %u bytes in %u words", lengths[0], lengths[1], given->op.width);
	UNIT_CHECK(order_of_words(given, code, bytes, lengths) == (order > 0) - (order < 0));
}

/* Words of inets order as the inets are compared. */
static void
check_order_of_inets(program_case *given)
{
	const char *inets[2];
	uint32_t	lengths[2];
	int			order;

	make_inets(given);
	for (int i = 0; i < 2; i++)
	{
		uint64_t	number = unit_random_below(NUM_INETS);

		/* the first is often much like the second */
		if (i == 1 && unit_random_below(2) == 0)
			memcpy(given->inets[number] + 2, inets[0] + 2, 1 + unit_random_below(lengths[0] - 2));
		given->inets[number][0] = number % 2 == 0 ? 2 : 3;
		given->inets[number][1] = (char) ((uint8_t) given->inets[number][1] % (number % 2 == 0 ? 33 : 129));
		inets[i] = given->inets[number];
		lengths[i] = number % 2 == 0 ? 6 : 18;
	}
	given->op = (mgpu_program_op) {.width = 5,.to = TO};
	order = order_of_words(given, MGPU_RUN_WORD_INET, inets, lengths);
	given->op = (mgpu_program_op) {.code = MGPU_RUN_COMPARE_INET,.width = 1,.to = TO,.from = {0, 1},.number = order < 0 ? MGPU_IS_LESS : order > 0 ? MGPU_IS_GREATER : MGPU_IS_EQUAL};
	given->lanes[0] = given->lanes[1] = MGPU_LANE_BYTES;
	for (int i = 0; i < 2; i++)
	{
		given->registers[i].bytes[0] = inets[i];
		given->registers[i].lengths[0] = lengths[i];
		given->registers[i].states[0] = MGPU_IS_VALUE;
	}
	run_rows(given, 1);
	UNIT_CONTEXT("inets with %u and %u bits", (uint8_t) inets[0][1], (uint8_t) inets[1][1]);
	UNIT_CHECK(given->registers[TO].integers[0] == 1 && given->registers[TO].states[0] == MGPU_IS_VALUE);
	UNIT_CHECK((order == 0) == (lengths[0] == lengths[1] && memcmp(inets[0], inets[1], lengths[0]) == 0));
}

/* What has become words becomes the same bytes again. */
static void
check_bytes_of_words(program_case *given)
{
	char		text[24];
	uint16_t	num_words = (uint16_t) (2 + unit_random_below(2));
	uint32_t	length = (uint32_t) unit_random_below(8u * num_words);
	int64_t		words[3] = {0};

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char) unit_random_below(256);
	given->op = (mgpu_program_op) {.width = num_words,.to = TO};
	for (given->op.number = 0; given->op.number < num_words; given->op.number++)
	{
		uint8_t		state = MGPU_IS_VALUE;

		words[given->op.number] = word_of(given, MGPU_RUN_WORD, text, length, &state);
	}
	given->op = (mgpu_program_op) {.code = MGPU_RUN_BYTES_OF_WORDS,.to = TO,.from = {0, 1, num_words - 1},.number = num_words};
	for (int i = 0; i < 3; i++)
	{
		given->registers[i].integers[0] = words[i];
		given->registers[i].states[0] = MGPU_IS_VALUE;
	}
	given->lanes[0] = MGPU_LANE_INTEGER;
	run_rows(given, 1);
	UNIT_CONTEXT("%u bytes of %d words", length, num_words);
	UNIT_CHECK(given->registers[TO].states[0] == MGPU_IS_VALUE && given->registers[TO].lengths[0] == length && memcmp(given->registers[TO].bytes[0], text, length) == 0);
}

int
main(void)
{
	program_case *given = unit_allocate(sizeof(*given));

	open_case(given);
#define CHECK_OP(code, function, name, kinds) check_op(given, MGPU_RUN_##code);
	MGPU_PROGRAM_OPS(CHECK_OP)
#undef CHECK_OP
	check_program();
	check_numeric(given, 5806, MGPU_IS_VALUE);
	check_numeric(given, 5807, MGPU_IS_VALUE);
	check_numeric(given, 5808, MGPU_IS_FAULT);
	check_numeric(given, 9999, MGPU_IS_FAULT);
	check_known_words(given);
	check_states_of_words(given);
	check_compared_words(given);
	for (int i = 0; i < 1000; i++)
		check_bytes_of_words(given);
	for (int i = 0; i < 20000; i++)
	{
		check_order_of_words(given, MGPU_RUN_WORD);
		check_order_of_words(given, MGPU_RUN_WORD_FIXED);
		check_order_of_inets(given);
	}
	close_case(given);
	free(given);
	return unit_report();
}

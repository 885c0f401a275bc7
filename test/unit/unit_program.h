/*
 * unit_program.h
 *		Random cases of each operation of programs: registers of rows, what rows store, tables.
 *
 * Values are often of the edges, or equal.  Texts are of few characters, so that some match.  What a register holds beside a value, for NULL
 * and faults, is anything but a text.
 */
#ifndef MGPU_UNIT_PROGRAM_H
#define MGPU_UNIT_PROGRAM_H

#include <float.h>
#include <math.h>

#include "core/build.h"
#include "core/program.h"
#include "unit.h"
#include "unit_program_json.h"
#include "unit_program_shapes.h"

#define MOST_ROWS 226
#define NUM_INPUTS 300
#define STORED_BYTES 64
#define NUM_TEXTS 8
#define TEXT_BYTES 300
#define ARRAY_BYTES 512
#define NUM_INETS 24
#define INET_BYTES 18
#define NUM_RANGES 16
#define RANGE_BYTES 24
#define TO 3					/* the result's register, behind those of the arguments */

/* Texts of values, or nearly so. */
static const char *const value_texts[] = {"", "-", "0", "-0", "007", "1.5", "-12.3400", ".5", "5.", "1.2.3", "1e5", " 1", "1 ", "99999", "-32768", "9223372036854775799", "9223372036854775800", "922337203685477.5", "0.00",
	"true", "t", "false", "f", "tru", "TRUE", "2024-02-29", "2023-02-29", "2024-12-31", "2024-13-01", "2024-00-01", "0000-01-01", "2024/01/01", "2024-01-01 12:34:56", "2024-01-01T23:59:59.123456", "2024-01-01 12:34:56.",
	"2024-01-01 12:34:56.1234567", "2024-01-01 24:00:00", "2024-01-01 12:34:56Z", "2024-01-01 12:34:56.5+02", "0001-01-01T00:00:00.001-15:59", "2024-01-01 12:34:56+16", "2024-01-01 12:34:56+02:60", "2024-01-01 12:34:56+2",
	"2024-01-01 12:34", "2024-01-01_12:34:56"};

#define NUM_VALUE_TEXTS (sizeof(value_texts) / sizeof(value_texts[0]))
#define VALUE_TEXT_BYTES 40

typedef struct program_case
{
	mgpu_program_op op;
	char		kinds[5];
	uint8_t		lanes[TO + 1];
	mgpu_register registers[TO + 1];
	uint16_t	rows[MOST_ROWS];
	const char *values[NUM_INPUTS];	/* the input's */
	char		stored[NUM_INPUTS][STORED_BYTES];
	char		texts[NUM_TEXTS][TEXT_BYTES + 8];
	uint32_t	lengths[NUM_TEXTS];
	char		value_texts[NUM_VALUE_TEXTS][VALUE_TEXT_BYTES];	/* the above: a GPU reads no other memory */
	char		array[ARRAY_BYTES];
	uint32_t	array_length;
	char		inets[NUM_INETS][INET_BYTES];
	char		ranges[NUM_RANGES][RANGE_BYTES];	/* at odd addresses, too */
	uint32_t	range_lengths[NUM_RANGES];
	char		document[DOCUMENT_BYTES];
	uint32_t	document_length;
	uint64_t	table[128];
	mgpu_build	builds[2];
	uint64_t	build_memory[512];
} program_case;

/* ---- values */

static int64_t
random_integer(void)
{
	static const int64_t edges[] = {0, 1, -1, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 100, -50, 49};
	int64_t		edge = edges[unit_random_below(sizeof(edges) / sizeof(edges[0]))];

	switch (unit_random_below(4))
	{
		case 0:
			return edge;
		case 1:
			return (int64_t) ((uint64_t) edge + unit_random_below(5) - 2);
		case 2:
			return (int64_t) unit_random() >> unit_random_below(64);
		default:
			return (int64_t) unit_random_below(7) - 3;
	}
}

static double
random_real(void)
{
	static const double edges[] = {0.0, -0.0, 1.0, -1.0, 0.5, -2.5, INFINITY, -INFINITY, DBL_MAX, DBL_MIN, DBL_TRUE_MIN, FLT_MAX, FLT_MIN,
		1e-46, 3.5e38, 0x1p63, -0x1p63, 0x1p31, 32767.5, -32768.5, 0x1p53};
	uint64_t	bits = unit_random();
	double		real;

	switch (unit_random_below(4))
	{
		case 0:
			return edges[unit_random_below(sizeof(edges) / sizeof(edges[0]))];
		case 1:
			return (double) random_integer() / (double) (1 + unit_random_below(8));
		case 2:
			/* NaN of all kinds, but for those that signal: nothing stores them, and a function may keep or quiet them */
			bits |= UINT64_C(0x7FF8000000000001);
	}
	if ((bits & UINT64_C(0x7FF0000000000000)) == UINT64_C(0x7FF0000000000000) && (bits & UINT64_C(0x000FFFFFFFFFFFFF)) != 0)
		bits |= UINT64_C(0x0008000000000000);
	memcpy(&real, &bits, sizeof(real));
	return real;
}

static int64_t
random_day(void)
{
	static const int64_t edges[] = {-730120, -730119, 2921939, 2921940, -719468 - 10957, 59, 60, 365, INT32_MAX, INT32_MIN};

	if (unit_random_below(4) == 0)
		return edges[unit_random_below(sizeof(edges) / sizeof(edges[0]))];
	return (int64_t) unit_random_below(4000000) - 900000;
}

/* Days up to some from a multiple of 10^15 microseconds, where zones change; and others. */
static int64_t
random_time(void)
{
	int64_t		in_day = (int64_t) unit_random_below(UINT64_C(86400000000));

	if (unit_random_below(8) == 0)
		return random_integer();
	if (unit_random_below(2) == 0)
		return random_day() % 4000000 * INT64_C(86400000000) + in_day * (int64_t) unit_random_below(2);
	return ((int64_t) unit_random_below(9) - 4) * INT64_C(1000000000000000) +
		((int64_t) unit_random_below(7) - 3) * INT64_C(86400000000) + in_day;
}

/* Texts are of characters of UTF-8, or of any bytes. */
static void
make_texts(program_case *given)
{
	static const char *const pieces[] = {"a", "b", "ab", " ", "\0", "\xC3\xA9", "\xE2\x82\xAC", "\xFF"};
	bool		is_wild = unit_random_below(4) == 0;

	for (int i = 0; i < NUM_TEXTS; i++)
	{
		/* the last one is often as long as an interval */
		uint32_t	most = (uint32_t) (i == 0 ? TEXT_BYTES - 8 : i == NUM_TEXTS - 1 ? 16 : unit_random_below(i < 4 ? 5 : 20));
		uint32_t	length = 0;

		while (length < most)
		{
			uint64_t	number = unit_random_below(is_wild ? 8 : 7);
			size_t		size = number == 4 ? 1 : strlen(pieces[number]);

			memcpy(given->texts[i] + length, pieces[number], size);
			length += (uint32_t) size;
		}
		given->lengths[i] = length;
	}
}

/* With keys of all texts but the first, which is long. */
static void
make_case_document(program_case *given)
{
	json_key	keys[NUM_TEXTS];

	for (int i = 1; i < NUM_TEXTS; i++)
		keys[i - 1] = (json_key) {given->texts[i], given->lengths[i]};
	given->document_length = (unit_random_below(4) == 0 ? make_list : make_document) (keys, NUM_TEXTS - 1, given->document);
}

static void
put_word(char *to, uint32_t word)
{
	memcpy(to, &word, sizeof(word));
}

/* Of all texts but the first, or of integers; some elements have no value. */
static void
make_array(program_case *given)
{
	uint32_t	num_elements = (uint32_t) unit_random_below(NUM_TEXTS - 1);
	bool		has_nulls = unit_random_below(2) == 0;
	uint32_t	width = given->op.code == MGPU_RUN_ARRAY_HAS_INTEGER ? given->op.width : 0;
	uint32_t	at = has_nulls ? 32 : 24;

	memset(given->array, 0, sizeof(given->array));
	put_word(given->array + 4, num_elements > 0);
	put_word(given->array + 8, has_nulls ? at : 0);
	put_word(given->array + 16, num_elements);
	for (uint32_t i = 0; i < num_elements; i++)
	{
		int64_t		number = random_integer();
		bool		is_short = unit_random_below(2) == 0;

		if (has_nulls && unit_random_below(3) == 0)
			continue;
		given->array[24] = (char) (given->array[24] | (has_nulls ? 1 << i : 0));
		if (width > 0)
		{
			at = (at + width - 1) & ~(width - 1);
			memcpy(given->array + at, &number, width);
			at += width;
			continue;
		}
		at = is_short ? at : (at + 3) & ~3u;
		if (is_short)
			given->array[at++] = (char) ((given->lengths[1 + i] + 1) << 1 | 1);
		else
			put_word(given->array + at, (given->lengths[1 + i] + 4) << 2);
		at += is_short ? 0 : 4;
		memcpy(given->array + at, given->texts[1 + i], given->lengths[1 + i]);
		at += given->lengths[1 + i];
	}
	given->array_length = at;
}

/* Often of few bits, so that one is in another; some of another family, or with too many bits. */
static void
make_inets(program_case *given)
{
	static const uint8_t known[] = {0, 1, 10, 0x80, 0xC0, 0xFF};

	for (int i = 0; i < NUM_INETS; i++)
	{
		char	   *inet = given->inets[i];
		uint64_t	most_bits = i % 2 == 0 ? 32 : 128;

		inet[0] = (char) (unit_random_below(16) == 0 ? unit_random() : i % 2 == 0 ? 2u : 3u);
		inet[1] = (char) (unit_random_below(3) == 0 ? most_bits : unit_random_below(16) == 0 ? unit_random() : unit_random_below(most_bits + 1));
		for (int k = 2; k < INET_BYTES; k++)
			inet[k] = (char) (unit_random_below(4) == 0 ? known[unit_random_below(sizeof(known))] : i < NUM_INETS / 2 || k > 4 ? 0u : unit_random());
	}
}

static void
set_inet(program_case *given, mgpu_register *to, uint32_t row)
{
	uint64_t	inet = unit_random_below(NUM_INETS);

	to->bytes[row] = given->inets[inet];
	to->lengths[row] = (uint32_t) (unit_random_below(16) == 0 ? unit_random_below(INET_BYTES + 1) : inet % 2 == 0 ? 6 : 18);
}

/* Ranges with bounds of the operation's width, many of which meet; some are damaged. */
static void
make_ranges(program_case *given)
{
	for (int i = 0; i < NUM_RANGES; i++)
	{
		char	   *range = given->ranges[i] + i % 3;
		uint32_t	flags = (uint32_t) (unit_random_below(8) == 0 ? 1 : unit_random_below(16) << 1);
		uint32_t	at = 4;

		for (uint32_t infinite = 8; infinite <= 16; infinite *= 2)
		{
			int64_t		bound = unit_random_below(4) == 0 ? random_integer() : (int64_t) unit_random_below(6) - 2;

			if ((flags & (infinite | 1)) != 0)
				continue;
			memcpy(range + at, &bound, given->op.width);
			at += given->op.width;
		}
		range[at++] = (char) (flags | (unit_random_below(16) == 0 ? 32 : 0));
		given->range_lengths[i] = unit_random_below(8) == 0 ? (uint32_t) unit_random_below(at) : at;
	}
}

static void
set_value(program_case *given, int number, uint32_t row, char kind, bool is_value)
{
	mgpu_register *to = &given->registers[number];
	uint64_t	text = unit_random_below(NUM_TEXTS);
	/* some begin in the middle, at an odd address */
	uint32_t	skipped = unit_random_below(4) == 0 ? given->lengths[text] / 2 : 0;

	to->lengths[row] = (uint32_t) unit_random_below(40);
	if (kind == 'j')
	{
		/* it may end too early */
		to->bytes[row] = is_value ? given->document : NULL;
		to->lengths[row] = is_value ? (uint32_t) (unit_random_below(8) == 0 ? unit_random_below(given->document_length) : given->document_length) : to->lengths[row];
	}
	else if (kind == 'a')
	{
		to->bytes[row] = is_value ? given->array + 4 : NULL;
		to->lengths[row] = is_value ? (uint32_t) (unit_random_below(8) == 0 ? unit_random_below(given->array_length - 4) : given->array_length - 4) : to->lengths[row];
	}
	else if (kind == 'e')
	{
		if (is_value)
			set_inet(given, to, row);
		else
			to->bytes[row] = NULL;
	}
	else if (kind == 'g')
	{
		uint64_t	range = unit_random_below(NUM_RANGES);

		to->bytes[row] = is_value ? given->ranges[range] + range % 3 : NULL;
		to->lengths[row] = is_value ? given->range_lengths[range] : to->lengths[row];
	}
	else if (kind == 'v' && unit_random_below(4) > 0)
	{
		to->bytes[row] = is_value ? given->value_texts[unit_random_below(NUM_VALUE_TEXTS)] : NULL;
		to->lengths[row] = is_value ? (uint32_t) strlen(to->bytes[row]) : to->lengths[row];
	}
	else if (strchr("sv", kind) != NULL)
	{
		to->bytes[row] = is_value ? given->texts[text] + skipped : NULL;
		to->lengths[row] = is_value ? given->lengths[text] - skipped : to->lengths[row];
	}
	else if (kind == 'r')
		to->reals[row] = random_real();
	else if (kind == 'b')
		to->integers[row] = (int64_t) unit_random_below(2);
	else if (kind == '4')
		to->integers[row] = (int32_t) random_integer();
	else if (kind == 'd')
		to->integers[row] = random_day();
	else if (kind == 't')
		to->integers[row] = random_time();
	else
		to->integers[row] = random_integer();
}

/* ---- what rows store */

static void
store_numeric(char *to, uint32_t scale)
{
	uint16_t	numbers[8];
	uint32_t	num_digits = (uint32_t) unit_random_below(6);
	uint32_t	bytes = 2 * (1 + num_digits) - (unit_random_below(16) == 0);
	uint32_t	header = (bytes + 4) << 2 | (unit_random_below(8) == 0 ? 2 : 0);
	uint64_t	weight = unit_random_below(8) == 0 ? unit_random_below(128) : (unit_random_below(6) - 1) & 0x7F;
	uint64_t	shown = unit_random_below(4) == 0 ? unit_random_below(11) : scale;

	numbers[0] = (uint16_t) (0x8000 | unit_random_below(2) << 13 | shown << 7 | weight);
	if (unit_random_below(16) == 0)
		numbers[0] = (uint16_t) unit_random();
	for (uint32_t i = 1; i <= num_digits; i++)
		numbers[i] = (uint16_t) (unit_random_below(4) == 0 ? 9999 * unit_random_below(2) : unit_random_below(10000));
	if (unit_random_below(2) == 0)
	{
		to[0] = (char) ((bytes + 1) << 1 | 1);
		memcpy(to + 1, numbers, sizeof(numbers));
		return;
	}
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), numbers, sizeof(numbers));
}

static void
store(program_case *given, int number)
{
	char	   *to = given->stored[number] + unit_random_below(8);
	double		real = random_real();
	float		narrow = (float) real;
	uint32_t	nan_bits = (uint32_t) unit_random() | UINT32_C(0x7F800001);	/* not always a quiet one */
	int64_t		integer = random_integer();

	given->values[number] = unit_random_below(8) == 0 ? NULL : to;
	if (given->op.code == MGPU_RUN_LOAD_NUMERIC || given->op.code == MGPU_RUN_LOAD_SHOWN)
		store_numeric(to, given->op.width);
	else if (given->op.code != MGPU_RUN_LOAD_REAL)
		memcpy(to, &integer, sizeof(integer));
	else if (given->op.width == sizeof(double))
		memcpy(to, &real, sizeof(real));
	else
		memcpy(to, unit_random_below(4) == 0 ? (const void *) &nan_bits : &narrow, sizeof(narrow));
}

/* ---- tables */

static void
make_integer_list(mgpu_integer_list *list)
{
	list->num_values = (uint32_t) unit_random_below(20);
	list->has_null = (uint32_t) unit_random_below(2);
	for (uint32_t i = 0; i < list->num_values; i++)
		list->values[i] = i == 19 ? INT64_MAX : (int64_t) i - 6;
}

static int
compare_texts(const void *x, const void *y)
{
	const char *a = *(const char *const *) x;
	const char *b = *(const char *const *) y;

	return strlen(a) != strlen(b) ? (strlen(a) < strlen(b) ? -1 : 1) : strcmp(a, b);
}

static void
make_bytes_list(mgpu_bytes_list *list)
{
	static const char *const known[] = {"", "a", "b", "ab", "ba", "aab", "a\xC3\xA9", " "};
	const char *chosen[8];
	uint32_t	end = 0;

	list->num_values = 0;
	list->has_null = (uint32_t) unit_random_below(2);
	for (int i = 0; i < 8; i++)
		if (unit_random_below(2) == 0)
			chosen[list->num_values++] = known[i];
	qsort(chosen, list->num_values, sizeof(chosen[0]), compare_texts);
	for (uint32_t i = 0; i < list->num_values; i++)
	{
		memcpy((char *) (list->ends + list->num_values) + end, chosen[i], strlen(chosen[i]));
		list->ends[i] = end += (uint32_t) strlen(chosen[i]);
	}
}

static void
make_pattern(mgpu_like *like)
{
	static const char bytes[] = "aabb \xC3\xA9";
	char	   *at;
	uint32_t	end = 0;

	like->num_pieces = 1 + (uint32_t) unit_random_below(4);
	for (uint32_t i = 0; i < like->num_pieces; i++)
		like->ends[i] = end += (uint32_t) unit_random_below(3);
	at = (char *) (like->ends + like->num_pieces);
	for (uint32_t i = 0; i < end; i++)
	{
		at[i] = bytes[unit_random_below(sizeof(bytes) - 1)];
		at[end + i] = unit_random_below(4) == 0;
	}
}

static void
make_zone(mgpu_zone *zone)
{
	zone->num_changes = 2 + (int64_t) unit_random_below(4);
	for (int64_t i = 0; i < zone->num_changes; i++)
	{
		zone->changes[i].start = (i - 2) * INT64_C(1000000000000000);
		zone->changes[i].offset = ((int64_t) unit_random_below(25) - 12) * INT64_C(3600000000);
	}
}

/* Of a few letters of the texts. */
static void
make_case_map(mgpu_case_map *map)
{
	bool		is_upper = unit_random_below(2) == 0;

	*map = (mgpu_case_map) {.first = is_upper ? 'a' : 'A',.last = is_upper ? 'z' : 'Z',.is_utf8 = unit_random_below(4) > 0,.others_stay = unit_random_below(2) == 0};
	map->end = map->is_utf8 ? 0x800 : 0x100;
	map->num_changes = 3;
	map->changes[0] = (mgpu_case_change) {0xC3, unit_random_below(2) == 0 ? 0xE3 : 0};
	map->changes[1] = (mgpu_case_change) {0xE9, unit_random_below(4) == 0 ? 0 : 0xC9};
	map->changes[2] = (mgpu_case_change) {0xFF, map->is_utf8 ? 0x178 : 0xFE};
}

static int64_t
random_power(uint64_t most)
{
	int64_t		power = 1;

	for (uint64_t i = unit_random_below(most + 1); i > 0; i--)
		power *= 10;
	return power;
}

static void
make_quotient(mgpu_quotient *quotient)
{
	*quotient = (mgpu_quotient) {
		.factor = unit_random_below(4) == 0 ? 9765625 : random_power(16),.scale = (int64_t) unit_random_below(17),.one = random_power(16),
		.step = (2 + (int64_t) unit_random_below(9999)) * random_power(3),.most_shown = 16 + 4 * (int64_t) unit_random_below(9),.least_shown = (int64_t) unit_random_below(17)
	};
}

static void
make_buckets(mgpu_buckets *buckets)
{
	*buckets = (mgpu_buckets) {.first = random_real(),.last = random_real(),.count = 1 + (int64_t) unit_random_below(50),.divides_first = (int64_t) unit_random_below(2)};
}

#define REGEX_CLASSES 5
#define REGEX_STATES 6

/* An automaton of any arcs. */
static void
make_regex(mgpu_regex *regex)
{
	mgpu_regex_range *ranges = (mgpu_regex_range *) (regex + 1);
	uint8_t    *next = (uint8_t *) (ranges + 3);

	*regex = (mgpu_regex) {.first = (uint32_t) unit_random_below(REGEX_STATES),.num_states = REGEX_STATES,.num_classes = REGEX_CLASSES,.num_ranges = 3,.is_utf8 = unit_random_below(4) > 0};
	regex->ranges = sizeof(mgpu_regex);
	regex->next = (uint32_t) (sizeof(mgpu_regex) + 3 * sizeof(mgpu_regex_range));
	for (int i = 0; i < 128; i++)
		regex->of_ascii[i] = (uint8_t) unit_random_below(REGEX_CLASSES - 1);
	ranges[0] = (mgpu_regex_range) {0, 1};
	ranges[1] = (mgpu_regex_range) {0xE9, 2};
	ranges[2] = (mgpu_regex_range) {0x800, unit_random_below(2) == 0 ? MGPU_REGEX_UNKNOWN : 3};
	for (int i = 0; i < REGEX_STATES * REGEX_CLASSES; i++)
		next[i] = (uint8_t) (unit_random_below(4) == 0 ? unit_random_below(2) : 2 + unit_random_below(REGEX_STATES - 2));
}

#define MATCH_AUTOMATA 3
#define MATCH_STEPS 5

typedef struct match_table
{
	mgpu_regex_match match;
	mgpu_regex_range ranges[3];
	uint8_t		next[REGEX_STATES * REGEX_CLASSES + 2];
	struct
	{
		uint32_t	num_states;
		uint8_t		next[REGEX_STATES * REGEX_CLASSES + 2];
	}			ends[MATCH_AUTOMATA];
	mgpu_regex_step steps[MATCH_STEPS];
} match_table;

static uint32_t
random_automaton(void)
{
	return (uint32_t) (offsetof(match_table, ends) + unit_random_below(MATCH_AUTOMATA) * sizeof(((match_table *) NULL)->ends[0]));
}

/* Automata of any arcs, which rarely get lost, and any steps. */
static void
make_match(match_table *table)
{
	mgpu_regex *regex = &table->match.search;

	make_regex(regex);
	/* what is behind it moves behind the rest of the match */
	memmove(table->next, (char *) table + regex->next, REGEX_STATES * REGEX_CLASSES);
	memmove(table->ranges, (char *) table + regex->ranges, sizeof(table->ranges));
	regex->ranges = offsetof(match_table, ranges);
	regex->next = offsetof(match_table, next);
	for (int i = 0; i < MATCH_AUTOMATA; i++)
	{
		table->ends[i].num_states = REGEX_STATES;
		for (int k = 0; k < REGEX_STATES * REGEX_CLASSES; k++)
			table->ends[i].next[k] = (uint8_t) ((unit_random_below(3) == 0 ? MGPU_REGEX_ENDS : 0) | (unit_random_below(8) == 0 ? MGPU_REGEX_LOST : 2 + unit_random_below(REGEX_STATES - 2)));
	}
	table->match.whole = random_automaton();
	table->match.is_shortest = (uint16_t) unit_random_below(2);
	table->match.is_global = (uint16_t) unit_random_below(2);
	table->match.num_steps = (uint32_t) unit_random_below(MATCH_STEPS + 1);
	table->match.steps = offsetof(match_table, steps);
	for (int i = 0; i < MATCH_STEPS; i++)
	{
		uint16_t	code = (uint16_t) unit_random_below(MGPU_REGEX_LITERAL + 1);
		bool		is_literal = code == MGPU_REGEX_LITERAL;

		table->steps[i] = (mgpu_regex_step) {code, (uint16_t) unit_random_below(2), is_literal ? 28 : random_automaton(), is_literal ? 3 : random_automaton()};
	}
}

#define NUM_BUILD_COLUMNS 4
#define MOST_BUILD_ROWS 24
#define DENSE_KEYS 64

/* Pieces of all kinds, of any field but the epoch. */
static void
make_format(mgpu_time_format *format)
{
	format->num_pieces = (uint32_t) unit_random_below(MGPU_FORMAT_PIECES + 1);
	for (uint32_t i = 0; i < MGPU_FORMAT_BYTES; i++)
		format->bytes[i] = (char) ('a' + i % 26);
	for (uint32_t i = 0; i < format->num_pieces; i++)
	{
		mgpu_time_piece *piece = &format->pieces[i];

		piece->kind = (uint8_t) unit_random_below(MGPU_PIECE_BYTES + 1);
		piece->field = (uint8_t) unit_random_below(MGPU_FIELD_EPOCH);
		piece->width = (uint8_t) (1 + unit_random_below(9));
		piece->first = (uint32_t) unit_random_below(100);
		if (piece->kind == MGPU_PIECE_NAME)
			piece->field = (uint8_t) (unit_random_below(2) == 0 ? MGPU_FIELD_MONTH : MGPU_FIELD_DAY_OF_WEEK);
		if (piece->kind == MGPU_PIECE_NAME && piece->field == MGPU_FIELD_MONTH)
			piece->add = -1;
		if (piece->kind == MGPU_PIECE_DIGITS)
			piece->add = (int8_t) unit_random_below(2);
		format->length += piece->width;
	}
}

/* The second of two builds, of few keys. */
static int64_t
make_build(program_case *given)
{
	mgpu_build *build = &given->builds[1];
	uint64_t	bytes = mgpu_build_plan(&given->builds[0], 0, 1, 1, false);
	char	   *memory = (char *) given->build_memory;
	bool		is_dense = unit_random_below(2) == 0;
	uint64_t	keys[MOST_BUILD_ROWS];

	memset(given->build_memory, 0, sizeof(given->build_memory));
	bytes = mgpu_build_plan(build, bytes, unit_random_below(MOST_BUILD_ROWS + 1), NUM_BUILD_COLUMNS, false);
	if (is_dense)
		bytes = mgpu_build_condense(build, -DENSE_KEYS / 2, DENSE_KEYS / 2 - 1);
	is_dense = build->is_dense != 0;
	UNIT_CHECK(bytes > 0 && bytes <= sizeof(given->build_memory));
	for (uint32_t row = 0; row < build->num_rows; row++)
	{
		keys[row] = (uint64_t) (is_dense ? (int64_t) unit_random_below(DENSE_KEYS) - DENSE_KEYS / 2 : random_integer());
		if (is_dense)
			mgpu_build_mark(build, memory, keys[row]);
	}
	if (is_dense)
		mgpu_build_number(build, memory);
	for (uint32_t row = 0; row < build->num_rows; row++)
	{
		(void) mgpu_build_add(build, memory, keys[row], row);
		for (uint32_t i = 0; i < NUM_BUILD_COLUMNS; i++)
			mgpu_build_put(build, memory, i, row, random_integer(), unit_random_below(4) == 0);
	}
	return 1;
}

#define TABLE_OFFSET 16

static int64_t
make_table(program_case *given, number_kind kind)
{
	void	   *table = (char *) given->table + TABLE_OFFSET;
	mgpu_time_bin *bin = table;

	memset(given->table, 0, sizeof(given->table));
	if (kind == INTEGER_LIST)
		make_integer_list(table);
	else if (kind == BYTES_LIST)
		make_bytes_list(table);
	else if (kind == PATTERN)
		make_pattern(table);
	else if (kind == ZONE)
		make_zone(table);
	else if (kind == CASE_MAP)
		make_case_map(table);
	else if (kind == REGEX)
		make_regex(table);
	else if (kind == QUOTIENT)
		make_quotient(table);
	else if (kind == BUCKETS)
		make_buckets(table);
	else if (kind == FORMAT)
		make_format(table);
	else if (kind == MATCH)
		make_match(table);
	else
	{
		bin->stride = 1 + (int64_t) unit_random_below(UINT64_C(1) << unit_random_below(50));
		bin->origin = random_day() % 1000000 * INT64_C(86400000000);
	}
	return TABLE_OFFSET;
}

/* ---- cases */

static int64_t
random_number(program_case *given, number_kind kind)
{
	static const uint8_t ends[] = {[OUTCOMES] = 8,[ENCODING] = 2,[UNIT] = MGPU_TIME_YEAR + 1,[FIELD] = MGPU_FIELD_EPOCH + 1,[RELATION] = MGPU_RANGE_ADJOINS + 1};

	switch (kind)
	{
		case PLAIN:
			return 0;
		case OUTCOMES:
		case ENCODING:
		case UNIT:
		case FIELD:
		case RELATION:
			return (int64_t) unit_random_below(ends[kind]);
		case POWER:
			return random_power(18);
		case DIGITS:
			return (int64_t) unit_random_below(19);
		case FLAG:
			return INT64_C(1) << unit_random_below(5);
		case WORDS:
			return 2 + (int64_t) unit_random_below(2);
		case JSON_STEP:
			return (int64_t) unit_random_below(9) - 4;
		case JSON_KIND:
			return (int64_t) unit_random_below(5) << 28;
		case PART:
			return (int64_t) unit_random_below(3);
		case PLACES:
			return (int64_t) (unit_random_below(3) | (unit_random_below(2) > 0 ? MGPU_QUOTIENT_IS_CUT : 0));
		case ROUNDS:
			return 2;
		case WHICH:
			return (int64_t) unit_random_below(given->op.width);
		case STORED:
			return 1;
		case BUILD:
			return make_build(given);
		default:
			return make_table(given, kind);
	}
}

static mgpu_lane
lane_of_kind(char kind)
{
	return strchr("svjaeg", kind) != NULL ? MGPU_LANE_BYTES : kind == 'r' ? MGPU_LANE_REAL : kind == 'n' ? MGPU_LANE_SHOWN : MGPU_LANE_INTEGER;
}

static void
choose_op(program_case *given, int code)
{
	const shape *known = &shapes[code];
	char		any = "irsn"[unit_random_below(4)];
	char		number = "irn"[unit_random_below(3)];
	uint32_t	num_widths = 1;

	while (num_widths < 4 && known->widths[num_widths] != 0)
		num_widths++;
	memset(given->kinds, 0, sizeof(given->kinds));
	for (size_t i = 0; i < strlen(known->kinds); i++)
	{
		given->kinds[i] = known->kinds[i] == '*' ? any : known->kinds[i] == '#' ? number : known->kinds[i];
		given->lanes[i == 0 ? TO : i - 1] = (uint8_t) lane_of_kind(given->kinds[i]);
	}
	given->op = (mgpu_program_op) {.code = (uint16_t) code,.to = TO,.from = {0, 1, 2}};
	given->op.width = code == MGPU_RUN_LIKE || code == MGPU_RUN_IN_ROUND ? (uint16_t) unit_random_below(2) : known->widths[unit_random_below(num_widths)];
	given->op.number = random_number(given, known->number);
}

static void
make_case(program_case *given, int code)
{
	bool		has_all = unit_random_below(4) == 0;

	choose_op(given, code);
	make_texts(given);
	make_case_document(given);
	make_array(given);
	make_inets(given);
	if (strchr(given->kinds, 'g') != NULL)
		make_ranges(given);
	for (int i = 0; i < NUM_INPUTS; i++)
		store(given, i);
	for (uint32_t row = 0; row < MOST_ROWS; row++)
	{
		given->rows[row] = (uint16_t) unit_random_below(NUM_INPUTS);
		for (int i = 0; given->kinds[i + 1] != 0; i++)
		{
			uint64_t	state = has_all ? 0 : unit_random_below(6);

			given->registers[i].states[row] = (uint8_t) (state < 3 ? state : MGPU_IS_VALUE);
			set_value(given, i, row, given->kinds[i + 1], given->registers[i].states[row] == MGPU_IS_VALUE);
		}
	}
}

static void
open_case(program_case *given)
{
	memset(given, 0, sizeof(*given));
	for (size_t i = 0; i < NUM_VALUE_TEXTS; i++)
		memcpy(given->value_texts[i], value_texts[i], strlen(value_texts[i]) + 1);
	for (int i = 0; i <= TO; i++)
	{
		given->registers[i].integers = calloc(MOST_ROWS, sizeof(int64_t));
		given->registers[i].lengths = calloc(MOST_ROWS, sizeof(uint32_t));
		given->registers[i].states = calloc(MOST_ROWS, 1);
	}
}

static void
close_case(program_case *given)
{
	for (int i = 0; i <= TO; i++)
	{
		free(given->registers[i].integers);
		free(given->registers[i].lengths);
		free(given->registers[i].states);
	}
}

#endif							/* MGPU_UNIT_PROGRAM_H */

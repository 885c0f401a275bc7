/*
 * program.h
 *		Expressions of a table's columns as a list of operations on registers.
 *
 * A register holds a value for each of some rows, of one kind (mgpu_lane), and a state for each: a value, NULL, or a fault.  A
 * fault says that the row is not decided here: PostgreSQL raises an error for it, or what it computes does not fit.  Whoever
 * runs a program asks PostgreSQL about such rows.  So each operation gives what PostgreSQL's function gives, to the bit, or
 * a fault, and a branch that a row does not take can do no harm: all are computed, and the state of the one that is taken counts.
 *
 * A program has no jumps.  Registers are written once or many times, constants before the first run.  It is plain data, and so are
 * its tables: offsets lead into them, no pointers.
 *
 * Kinds:
 *
 *	 integers	bool, int2, int4, int8, date, time, timestamp; numeric as an integer with a scale that the compiler knows
 *	 reals		float4 (a float's value in a double), float8
 *	 bytes		text, bytea, uuid, inet: where they are, and how many
 *	 shown		numerics of which each has a display scale of its own, as quotients and the branches of a CASE may have them
 *
 * A closure a node, or code compiled to the machine's own, were rejected: the first takes a call a row, the second a compiler.
 */
#ifndef MGPU_PROGRAM_H
#define MGPU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/program_numbers.h"
#include "core/program_ranges.h"
#include "core/program_regex.h"
#include "core/program_times.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mgpu_lane
{
	MGPU_LANE_INTEGER,
	MGPU_LANE_REAL,
	MGPU_LANE_BYTES,			/* with lengths */
	MGPU_LANE_SHOWN				/* numerics of one scale; how many of its digits each shows is in lengths */
} mgpu_lane;

/* A row's state in a register.  That of a strict function's result is the largest of its arguments'. */
#define MGPU_IS_VALUE 0
#define MGPU_IS_NULL 1
#define MGPU_IS_FAULT 2

/* Outcomes of a comparison, as a mask. */
enum
{
	MGPU_IS_LESS = 1,
	MGPU_IS_EQUAL = 2,
	MGPU_IS_GREATER = 4
};

/*
 * The operations: code, function (program/ops_*.h), name for EXPLAIN, and the kinds of the result and of each register that is read: i
 * integers, r reals, s bytes, n shown, = the result's kind, # any but bytes, ? any.  width is the bytes of the result's type: an integer
 * that does not fit, and a float that overflows or underflows, is a fault.  number is what the comment says.
 */
#define MGPU_PROGRAM_OPS(OP) \
	/* an attribute's values, as a row stores them; number: the input */ \
	OP(LOAD_INTEGER, load_integer, "load integer", "i") \
	OP(LOAD_REAL, load_real, "load float", "r") \
	OP(LOAD_NUMERIC, load_numeric, "load numeric", "i") /* width: the scale */ \
	OP(LOAD_SHOWN, load_shown, "load numeric", "n") /* width: the scale; values that show more are faults */ \
	OP(LOAD_VARLENA, load_varlena, "load bytes", "s") \
	OP(LOAD_FIXED, load_fixed, "load bytes", "s") /* width: how many */ \
	OP(LOAD_PRESENCE, load_presence, "load", "i") /* true, or NULL, of any type */ \
	/* integers */ \
	OP(ADD_INTEGER, add_integer, "+", "iii") \
	OP(SUBTRACT_INTEGER, subtract_integer, "-", "iii") \
	OP(MULTIPLY_INTEGER, multiply_integer, "*", "iii") \
	OP(DIVIDE_INTEGER, divide_integer, "/", "iii") \
	OP(REMAINDER_INTEGER, remainder_integer, "%", "iii") \
	OP(NEGATE_INTEGER, negate_integer, "-", "ii") \
	OP(ABSOLUTE_INTEGER, absolute_integer, "abs", "ii") \
	OP(SIGN_INTEGER, sign_integer, "sign", "ii") \
	OP(BIT_AND, bit_and, "&", "iii") \
	OP(BIT_OR, bit_or, "|", "iii") \
	OP(BIT_XOR, bit_xor, "#", "iii") \
	OP(FIT_INTEGER, fit_integer, "cast", "ii") \
	OP(SCALE_UP, scale_up, "scale", "ii") /* number: 10 to the power of the digits that are added */ \
	OP(ROUND_OFF, round_off, "round", "ii") /* number: 10 to the power of the digits that go, half of it away from zero */ \
	OP(CUT_OFF, cut_off, "trunc", "ii") /* number: the same */ \
	OP(FLOOR_OFF, floor_off, "floor", "ii") /* number: the same */ \
	OP(CEILING_OFF, ceiling_off, "ceil", "ii") /* number: the same */ \
	OP(LIMIT_MAGNITUDE, limit_magnitude, "precision", "ii") /* number: the first magnitude that is too large */ \
	OP(SHOW_SCALE, show_scale, "scale", "ni") /* width: the display scale */ \
	OP(SHOW_LARGER, show_larger, "scale", "ninn") /* the first, with the larger display scale of the others */ \
	OP(SHOW_SUM, show_sum, "scale", "ninn") /* the first, with the sum of the others'; more than rows can store are a fault */ \
	OP(SHOWN_DIGITS, shown_digits, "scale", "in") /* the display scale, as an integer */ \
	OP(DIVIDE_SHOWN, divide_shown, "/", "nn") /* by a constant; number: an mgpu_quotient; one that is not exact in the digits that it shows is a fault */ \
	/* of numerics of one scale, of which the first shows the digits of both; number: places of base 10,000 that the scale is, and whether it is cut */ \
	OP(QUOTIENT, quotient, "/", "nni") /* MGPU_QUOTIENT_DIGITS behind the point, cut off; it shows the digits of the whole */ \
	OP(QUOTIENT_REST, quotient_rest, "/", "inii") /* what is behind it: MGPU_REST_DIGITS, rounded; of the quotient and the same two */ \
	/* floats */ \
	OP(ADD_REAL, add_real, "+", "rrr") \
	OP(SUBTRACT_REAL, subtract_real, "-", "rrr") \
	OP(MULTIPLY_REAL, multiply_real, "*", "rrr") \
	OP(DIVIDE_REAL, divide_real, "/", "rrr") \
	OP(NEGATE_REAL, negate_real, "-", "rr") \
	OP(ABSOLUTE_REAL, absolute_real, "abs", "rr") \
	OP(SIGN_REAL, sign_real, "sign", "rr") \
	OP(SQUARE_ROOT, square_root, "sqrt", "rr") \
	OP(FLOOR_REAL, floor_real, "floor", "rr") \
	OP(CEILING_REAL, ceiling_real, "ceil", "rr") \
	OP(ROUND_REAL, round_real, "round", "rr") \
	OP(CUT_REAL, cut_real, "trunc", "rr") \
	OP(NARROW_REAL, narrow_real, "cast", "rr") \
	OP(REAL_OF_INTEGER, real_of_integer, "cast", "ri") \
	OP(REAL_OF_NUMERIC, real_of_numeric, "cast", "ri") /* number: 10 to the power of the scale */ \
	OP(INTEGER_OF_REAL, integer_of_real, "cast", "ir") \
	OP(BUCKET_OF_REAL, bucket_of_real, "width_bucket", "ir") /* number: an mgpu_buckets; of NaN it is a fault */ \
	/* comparisons; number: the outcomes that are true */ \
	OP(COMPARE_INTEGER, compare_integer, "compare", "iii") \
	OP(COMPARE_REAL, compare_real, "compare", "irr") \
	OP(COMPARE_BYTES, compare_bytes, "compare", "iss") \
	OP(COMPARE_COLLATED, compare_collated, "compare", "iss") /* texts, by the program's collator; without one, and of very long texts, a fault */ \
	OP(IN_INTEGER, in_integer, "in", "ii") /* number: an mgpu_integer_list */ \
	OP(IN_BYTES, in_bytes, "in", "is") /* number: an mgpu_bytes_list */ \
	/* inets; bytes that are none are faults */ \
	OP(COMPARE_INET, compare_inet, "compare", "iss") /* number: as above */ \
	OP(INET_WITHIN, inet_within, "<<", "iss") /* one network is in the other, or the same; number: the outcomes of their bits that are true */ \
	OP(INET_PART, inet_part, "masklen", "is") /* number: 0: the family, 1: the bits of the network */ \
	/* logic, and what looks at states */ \
	OP(AND, and, "and", "iii") \
	OP(OR, or, "or", "iii") \
	OP(NOT, not, "not", "ii") \
	OP(IS_NULL, is_null, "is null", "i?") \
	OP(IS_NOT_NULL, is_not_null, "is not null", "i?") \
	OP(IS_TRUTH, is_truth, "is", "ii") /* number: bit 0, 1, 2: what false, true, NULL become; as PostgreSQL's IS TRUE and the like */ \
	OP(IS_DISTINCT, is_distinct, "is distinct", "ii??") /* of the last two; the first says whether they are equal */ \
	OP(CHOOSE, choose, "case", "=i==") /* if the first is true the second, else the third */ \
	OP(COALESCE, coalesce, "coalesce", "===") \
	OP(NULL_IF, null_if, "nullif", "==i") /* the first, unless the second is true */ \
	OP(LARGER_INTEGER, larger_integer, "greatest", "iii") \
	OP(SMALLER_INTEGER, smaller_integer, "least", "iii") \
	OP(LARGER_REAL, larger_real, "greatest", "rrr") \
	OP(SMALLER_REAL, smaller_real, "least", "rrr") \
	/* bytes; number of the first three: 1 if characters are of UTF-8, which tells where they begin; 0 if each is a byte */ \
	OP(CHARACTERS, characters, "length", "is") \
	OP(SUBSTRING, substring, "substr", "ssii") /* bytes, first character, how many */ \
	OP(LEADING, leading, "left", "ssi") /* bytes, how many */ \
	OP(BYTES, bytes, "octet_length", "is") \
	OP(TRIM_BLANKS, trim_blanks, "rtrim", "ss") \
	OP(BEGINS_WITH, begins_with, "starts with", "iss") \
	OP(TRIM_FRONT, trim_front, "ltrim", "ss") \
	OP(POSITION, position, "position", "iss") /* number: as of the first three, here and in the next but one */ \
	OP(SPLIT_PART, split_part, "split_part", "sssi") /* bytes, separator, which of the fields between; width: MGPU_FIELDS_OF_ARRAY or another */ \
	OP(TRAILING, trailing, "right", "ssi") /* bytes, how many */ \
	OP(LIKE, like, "like", "is") /* number: an mgpu_like; width: 1 if characters are of UTF-8 */ \
	OP(REGEX, regex, "~", "is") /* number: an mgpu_regex */ \
	OP(REGEX_PART, regex_part, "substring", "ss") /* number: an mgpu_regex_match */ \
	/* values that texts have; of texts in an unusual form, and of others, faults */ \
	OP(NUMBER_OF_TEXT, number_of_text, "cast", "ns") /* width: the scale; digits behind it are a fault */ \
	OP(REAL_OF_TEXT, real_of_text, "cast", "rs") \
	OP(TRUTH_OF_TEXT, truth_of_text, "cast", "is") \
	OP(DATE_OF_TEXT, date_of_text, "cast", "is") \
	OP(TIME_OF_TEXT, time_of_text, "cast", "is") /* number: 1 if an offset from UTC is behind it, 0 if none is */ \
	/* texts that are made; width: the number of the operation among these, from 0 (mgpu_made) */ \
	OP(CHANGE_CASE, change_case, "change case", "ss") /* number: an mgpu_case_map */ \
	OP(JOIN_BYTES, join_bytes, "||", "sss") \
	OP(TEXT_OF_INTEGER, text_of_integer, "cast", "si") /* number: digits behind the point */ \
	OP(TEXT_OF_DATE, text_of_date, "cast", "si") /* as ISO 8601 has it; years before 1 or after 9999 are faults */ \
	OP(FORMAT_TIME, format_time, "to_char", "si") /* number: an mgpu_time_format; as above */ \
	OP(REPLACE_BYTES, replace_bytes, "replace", "ssss") /* bytes, a part, what takes its place */ \
	OP(REPLACE_REGEX, replace_regex, "regexp_replace", "ss") /* number: an mgpu_regex_match */ \
	OP(INET_MASK, inet_mask, "set_masklen", "ssi") /* an inet; number: 1: without the bits behind the network */ \
	OP(TEXT_OF_INET, text_of_inet, "cast", "ss") /* number: 1: with the bits of the network behind the address */ \
	OP(BYTES_OF_WORDS, bytes_of_words, "bytes", "siii") /* number: how many of these are the words of a string (see WORD), 2 or 3; with 2, the third is one of them */ \
	OP(JSON_TEXT, json_text, "->>", "sss") /* of what it finds as those below, but for lists and objects */ \
	/* what jsonb has for a key; of what has no such key, and of null, NULL; what is of another kind is a fault, but of JSON_OBJECT.  number of the first \
	 * four: 0; or of an array's element, from 1 on, and no key; or less, an element of arrays, from -1 on, and the key of objects */ \
	OP(JSON_OBJECT, json_object, "->", "sss") /* for others of these */ \
	OP(JSON_NUMBER, json_number, "->>", "nss") /* as NUMBER_OF_TEXT, of a number or a string */ \
	OP(JSON_REAL, json_real, "->>", "rss") /* as REAL_OF_TEXT */ \
	OP(JSON_HAS, json_has, "?", "iss") \
	OP(JSON_IS, json_is, "@>", "isss") /* has a key with a value; number: its kind in jsonb */ \
	OP(JSON_LENGTH, json_length, "jsonb_array_length", "is") /* elements of a list */ \
	OP(ARRAY_LENGTH, array_length, "cardinality", "is") /* elements of an array; number: 1 if one without any has no length, and one of several dimensions is a fault */ \
	/* whether an array has a value; number: 1 if an element without a value may be equal, so that NULL says that nobody knows */ \
	OP(ARRAY_HAS_BYTES, array_has_bytes, "any", "iss") \
	OP(ARRAY_HAS_INTEGER, array_has_integer, "any", "isi") /* width: bytes of an element */ \
	/* ranges; width: bytes of a bound, 4 or 8 */ \
	OP(RANGE_BOUND, range_bound, "bound", "is") /* number: 0 for the lower one, 1 for the upper */ \
	OP(RANGE_HAS_FLAG, range_has_flag, "range", "is") /* number: one of mgpu_range_flag */ \
	OP(RANGE_HAS, range_has, "@>", "isi") /* an element */ \
	OP(RANGE_RELATES, range_relates, "ranges", "iss") /* number: mgpu_range_relation, of the first to the second */ \
	/* an integer of 8 bytes; number: which of them, from 0; width: how many there are; strings that do not fit are faults */ \
	OP(WORD, word, "word", "is") /* the last one's lowest byte is the length: 8 * width - 1 bytes fit, of at most 32 words */ \
	OP(WORD_FIXED, word_fixed, "word", "is") /* of a type with one length: 8 * width bytes fit */ \
	OP(WORD_COMPARED, word_compared, "word", "is") /* as WORD, but of a string that does not fit words that equal those of no other; of at most 31 words */ \
	OP(WORD_INET, word_inet, "word", "is") /* of the string that stands for an inet (program/ops_inet.h) */ \
	/* days and microseconds from 2000-01-01 on; infinities are faults, and years before 1 or after 9999 too where a calendar is needed */ \
	OP(FIT_DATE, fit_date, "date", "ii") \
	OP(FIT_TIME, fit_time, "timestamp", "ii") \
	OP(TIME_OF_DATE, time_of_date, "cast", "ii") \
	OP(DATE_OF_TIME, date_of_time, "cast", "ii") \
	OP(TRUNCATE_TIME, truncate_time, "date_trunc", "ii") /* number: an mgpu_time_unit */ \
	OP(TIME_BIN, time_bin, "date_bin", "ii") /* number: an mgpu_time_bin */ \
	OP(EXTRACT, extract, "extract", "ii") /* of a timestamp; number: an mgpu_time_field */ \
	OP(LOCAL_OF_ZONED, local_of_zoned, "to time zone", "ii") /* number: an mgpu_zone */ \
	OP(ZONED_OF_LOCAL, zoned_of_local, "from time zone", "ii") /* number: an mgpu_zone */ \
	OP(INTERVAL_PART, interval_part, "interval", "is") /* of the bytes of an interval; number: an mgpu_interval_part; one that is infinite is a fault */ \
	OP(AGE, age, "age", "iiii") /* a part of the first less the second, of local times; the third says whether it is less than that; number: an mgpu_interval_part */ \
	/* rows of builds, as integers; number: the build */ \
	OP(HASH_KEYS, hash_keys, "hash", "iii") \
	OP(IN_ROUND, in_round, "in round", "ii") /* a key's; width: the round, number: of how many (MGPU_BUILD_MAX_ROUNDS) */ \
	OP(LOOKUP, lookup, "look up", "ii") /* the row with a key, or NULL */ \
	OP(MATCH, match, "match", "iii") /* the row if its cell in a column is the second, else NULL; width: the column */ \
	OP(FETCH, fetch, "fetch", "#i") /* a row's cell, of any kind but bytes; width: the column; of a numeric, digits shown are in the next */

/* Codes have a prefix of their own: MGPU_OP_SORT and the like are jobs. */
typedef enum mgpu_program_code
{
#define MGPU_PROGRAM_CODE(code, function, name, kinds) MGPU_RUN_##code,
	MGPU_PROGRAM_OPS(MGPU_PROGRAM_CODE)
#undef MGPU_PROGRAM_CODE
	MGPU_PROGRAM_NUM_CODES
} mgpu_program_code;

typedef struct mgpu_program_op
{
	uint16_t	code;			/* mgpu_program_code */
	uint16_t	width;
	uint16_t	to;				/* registers */
	uint16_t	from[3];
	int64_t		number;
} mgpu_program_op;

/* Fields of a text are elements of an array: where there are fewer, and of an empty text, NULL. */
#define MGPU_FIELDS_OF_ARRAY 1

/* Operations of a program that make texts, at most. */
#define MGPU_MOST_MADE 8

/* Memory for what they make: that of one's rows behind that of the one before. */
typedef struct mgpu_made
{
	char	   *bytes;
	uint32_t	size;
	uint32_t	ends[MGPU_MOST_MADE];
} mgpu_made;

typedef struct mgpu_program
{
	uint32_t	num_ops;
	const mgpu_program_op *ops;
	const uint8_t *lanes;		/* mgpu_lane of each register */
	const char *tables;			/* aligned to 8 bytes; numbers of operations are offsets into it */
	const struct mgpu_build *builds;	/* core/build.h, and the memory of all; not looked at without such operations */
	const char *build_memory;
	mgpu_made  *made;			/* not looked at without operations that make texts */
	struct mgpu_collator *collator; /* core/collator.h; NULL: there is none */
} mgpu_program;

/* Whether an operation makes texts. */
#define MGPU_MAKES_TEXTS(code) ((code) >= MGPU_RUN_CHANGE_CASE && (code) <= MGPU_RUN_JSON_TEXT)

/* A list: values behind it, in ascending order. */
typedef struct mgpu_integer_list
{
	uint32_t	num_values;
	uint32_t	has_null;
	int64_t		values[];
} mgpu_integer_list;

/* A list of byte strings: ends of each, from the first byte behind the ends on; sorted by length, then bytes. */
typedef struct mgpu_bytes_list
{
	uint32_t	num_values;
	uint32_t	has_null;
	uint32_t	ends[];
} mgpu_bytes_list;

/*
 * A pattern of LIKE: pieces between its %.  In a piece, a byte is itself unless its mark says that any character is there.  The
 * bytes of all pieces, and then their marks, are behind the ends.
 */
typedef struct mgpu_like
{
	uint32_t	num_pieces;		/* one more than there are %: at least 1 */
	uint32_t	ends[];
} mgpu_like;

/*
 * What becomes of characters in lower or upper case.  Letters of ASCII from first to last, a to z or A to Z, take the other one's.  Of characters below
 * `end`, those that change are listed; others of these stay.  0: what becomes of it is not known, as of one that has another number of bytes then.
 */
typedef struct mgpu_case_change
{
	uint16_t	from;
	uint16_t	to;
} mgpu_case_change;

typedef struct mgpu_case_map
{
	uint8_t		first;
	uint8_t		last;
	uint8_t		is_utf8;		/* else each byte is a character */
	uint8_t		others_stay;	/* of characters from `end` on, too; else only those that have no case in any language */
	uint16_t	end;
	uint16_t	num_changes;
	mgpu_case_change changes[];	/* in order */
} mgpu_case_map;

/* A register: as many values as run_program is given rows, at most. */
typedef struct mgpu_register
{
	union
	{
		int64_t    *integers;
		double	   *reals;
		const char **bytes;
	};
	uint32_t   *lengths;		/* of bytes; display scales */
	uint8_t    *states;
} mgpu_register;

/* An attribute's values: where a row stores them, or NULL for NULL. */
typedef struct mgpu_program_input
{
	const char *const *values;
} mgpu_program_input;

/* Name, kinds and number of registers read, for a code. */
extern const char *const mgpu_program_names[];
extern const char *const mgpu_program_kinds[];
extern const uint8_t mgpu_program_num_from[];

/*
 * Run a program for num_rows rows: row i is entry rows[i] of each input.  Registers are as many as the program has; constants are
 * filled.  Results are in the registers that the program's compiler names.  Never fails: see faults.
 */
void		mgpu_program_run(const mgpu_program *program, const mgpu_register *registers, const mgpu_program_input *inputs,
							 const uint16_t *rows, uint32_t num_rows);

#ifdef __cplusplus
}
#endif

#endif							/* MGPU_PROGRAM_H */

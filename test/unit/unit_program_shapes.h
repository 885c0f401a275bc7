/*
 * unit_program_shapes.h
 *		What each operation of programs takes and gives, for random cases of it.
 */
#ifndef MGPU_UNIT_PROGRAM_SHAPES_H
#define MGPU_UNIT_PROGRAM_SHAPES_H

#include "core/program.h"

/* What an operation's number is.  From INTEGER_LIST on, that of a table. */
typedef enum number_kind
{
	PLAIN,						/* nothing */
	OUTCOMES,
	ENCODING,
	UNIT,
	FIELD,
	POWER,						/* of 10 */
	DIGITS,						/* behind a point */
	PART,						/* of an interval */
	PLACES,						/* of a quotient, which may be cut */
	FLAG,						/* of a range */
	RELATION,					/* of ranges */
	WORDS,						/* of a string, 2 or 3 */
	JSON_STEP,
	JSON_KIND,
	ROUNDS,						/* 2, so that widths are 0 and 1 */
	WHICH,						/* a word's */
	STORED,						/* an input's */
	INTEGER_LIST,
	BYTES_LIST,
	PATTERN,
	BIN,
	QUOTIENT,
	BUCKETS,
	FORMAT,
	ZONE,
	CASE_MAP,
	REGEX,
	MATCH,
	BUILD
} number_kind;

/*
 * Kinds of the result and the arguments: i integer, b bool, 4 int4, d date, t timestamp, n numeric that is shown, r real, s bytes, v a text that may have a value, j a document of jsonb, a an array, e an inet, g a range;
 * * one of i, r, s, n; # one of i, r, n.  Widths are up to the first 0.
 */
typedef struct shape
{
	const char *kinds;
	uint8_t		widths[4];
	number_kind number;
} shape;

#define INTEGERS {2, 4, 8}
#define REALS {4, 8}

static const shape shapes[MGPU_PROGRAM_NUM_CODES] = {
	[MGPU_RUN_LOAD_INTEGER] = {"i", {1, 2, 4, 8}, STORED},
	[MGPU_RUN_LOAD_REAL] = {"r", REALS, STORED},
	[MGPU_RUN_LOAD_NUMERIC] = {"i", {1, 2, 4, 9}, STORED},
	[MGPU_RUN_LOAD_SHOWN] = {"n", {1, 2, 4, 9}, STORED},
	[MGPU_RUN_LOAD_VARLENA] = {"s", {8}, STORED},
	[MGPU_RUN_LOAD_FIXED] = {"s", {1, 6, 16}, STORED},
	[MGPU_RUN_LOAD_PRESENCE] = {"b", {1}, STORED},
	[MGPU_RUN_ADD_INTEGER] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_SUBTRACT_INTEGER] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_MULTIPLY_INTEGER] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_DIVIDE_INTEGER] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_REMAINDER_INTEGER] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_NEGATE_INTEGER] = {"ii", INTEGERS, PLAIN},
	[MGPU_RUN_ABSOLUTE_INTEGER] = {"ii", INTEGERS, PLAIN},
	[MGPU_RUN_SIGN_INTEGER] = {"ii", INTEGERS, PLAIN},
	[MGPU_RUN_BIT_AND] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_BIT_OR] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_BIT_XOR] = {"iii", INTEGERS, PLAIN},
	[MGPU_RUN_SHOWN_DIGITS] = {"in", {8}, PLAIN},
	[MGPU_RUN_DIVIDE_SHOWN] = {"nn", {8}, QUOTIENT},
	[MGPU_RUN_QUOTIENT] = {"nni", {8}, PLACES},
	[MGPU_RUN_QUOTIENT_REST] = {"inii", {8}, PLAIN},
	[MGPU_RUN_FIT_INTEGER] = {"ii", INTEGERS, PLAIN},
	[MGPU_RUN_SCALE_UP] = {"ii", {8}, POWER},
	[MGPU_RUN_ROUND_OFF] = {"ii", {8}, POWER},
	[MGPU_RUN_CUT_OFF] = {"ii", {8}, POWER},
	[MGPU_RUN_FLOOR_OFF] = {"ii", {8}, POWER},
	[MGPU_RUN_CEILING_OFF] = {"ii", {8}, POWER},
	[MGPU_RUN_LIMIT_MAGNITUDE] = {"ii", {8}, POWER},
	[MGPU_RUN_SHOW_SCALE] = {"ni", {1, 2, 30}, PLAIN},
	[MGPU_RUN_SHOW_LARGER] = {"nnnn", {8}, PLAIN},
	[MGPU_RUN_SHOW_SUM] = {"nnnn", {8}, PLAIN},
	[MGPU_RUN_ADD_REAL] = {"rrr", REALS, PLAIN},
	[MGPU_RUN_SUBTRACT_REAL] = {"rrr", REALS, PLAIN},
	[MGPU_RUN_MULTIPLY_REAL] = {"rrr", REALS, PLAIN},
	[MGPU_RUN_DIVIDE_REAL] = {"rrr", REALS, PLAIN},
	[MGPU_RUN_NEGATE_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_ABSOLUTE_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_SIGN_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_SQUARE_ROOT] = {"rr", REALS, PLAIN},
	[MGPU_RUN_FLOOR_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_CEILING_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_ROUND_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_CUT_REAL] = {"rr", REALS, PLAIN},
	[MGPU_RUN_NARROW_REAL] = {"rr", {4}, PLAIN},
	[MGPU_RUN_REAL_OF_INTEGER] = {"ri", REALS, PLAIN},
	[MGPU_RUN_REAL_OF_NUMERIC] = {"ri", {8}, POWER},
	[MGPU_RUN_INTEGER_OF_REAL] = {"ir", INTEGERS, PLAIN},
	[MGPU_RUN_BUCKET_OF_REAL] = {"ir", {4}, BUCKETS},
	[MGPU_RUN_COMPARE_INTEGER] = {"iii", {8}, OUTCOMES},
	[MGPU_RUN_COMPARE_REAL] = {"irr", {8}, OUTCOMES},
	[MGPU_RUN_COMPARE_BYTES] = {"iss", {8}, OUTCOMES},
	[MGPU_RUN_COMPARE_COLLATED] = {"iss", {8}, OUTCOMES},
	[MGPU_RUN_IN_INTEGER] = {"ii", {8}, INTEGER_LIST},
	[MGPU_RUN_IN_BYTES] = {"is", {8}, BYTES_LIST},
	[MGPU_RUN_COMPARE_INET] = {"iee", {1}, OUTCOMES},
	[MGPU_RUN_INET_WITHIN] = {"iee", {1}, OUTCOMES},
	[MGPU_RUN_INET_PART] = {"ie", {4}, ENCODING},
	[MGPU_RUN_AND] = {"ibb", {1}, PLAIN},
	[MGPU_RUN_OR] = {"ibb", {1}, PLAIN},
	[MGPU_RUN_NOT] = {"ib", {1}, PLAIN},
	[MGPU_RUN_IS_NULL] = {"i*", {1}, PLAIN},
	[MGPU_RUN_IS_NOT_NULL] = {"i*", {1}, PLAIN},
	[MGPU_RUN_IS_TRUTH] = {"ib", {1}, OUTCOMES},
	[MGPU_RUN_IS_DISTINCT] = {"ib**", {1}, PLAIN},
	[MGPU_RUN_CHOOSE] = {"*b**", {8}, PLAIN},
	[MGPU_RUN_COALESCE] = {"***", {8}, PLAIN},
	[MGPU_RUN_NULL_IF] = {"**b", {8}, PLAIN},
	[MGPU_RUN_LARGER_INTEGER] = {"iii", {8}, PLAIN},
	[MGPU_RUN_SMALLER_INTEGER] = {"iii", {8}, PLAIN},
	[MGPU_RUN_LARGER_REAL] = {"rrr", {8}, PLAIN},
	[MGPU_RUN_SMALLER_REAL] = {"rrr", {8}, PLAIN},
	[MGPU_RUN_CHARACTERS] = {"is", {4}, ENCODING},
	[MGPU_RUN_SUBSTRING] = {"ss44", {8}, ENCODING},
	[MGPU_RUN_LEADING] = {"ss4", {8}, ENCODING},
	[MGPU_RUN_BYTES] = {"is", {4}, PLAIN},
	[MGPU_RUN_TRIM_BLANKS] = {"ss", {8}, PLAIN},
	[MGPU_RUN_BEGINS_WITH] = {"iss", {1}, PLAIN},
	[MGPU_RUN_TRIM_FRONT] = {"ss", {8}, PLAIN},
	[MGPU_RUN_POSITION] = {"iss", {4}, ENCODING},
	[MGPU_RUN_SPLIT_PART] = {"sss4", {MGPU_FIELDS_OF_ARRAY, 8}, ENCODING},
	[MGPU_RUN_TRAILING] = {"ss4", {8}, ENCODING},
	[MGPU_RUN_LIKE] = {"is", {1}, PATTERN},
	[MGPU_RUN_REGEX] = {"is", {1}, REGEX},
	[MGPU_RUN_REGEX_PART] = {"ss", {8}, MATCH},
	[MGPU_RUN_NUMBER_OF_TEXT] = {"nv", {1, 2, 4, 9}, PLAIN},
	[MGPU_RUN_REAL_OF_TEXT] = {"rv", {8}, PLAIN},
	[MGPU_RUN_TRUTH_OF_TEXT] = {"iv", {1}, PLAIN},
	[MGPU_RUN_DATE_OF_TEXT] = {"iv", {4}, PLAIN},
	[MGPU_RUN_TIME_OF_TEXT] = {"iv", {8}, ENCODING},
	[MGPU_RUN_CHANGE_CASE] = {"ss", {0}, CASE_MAP},
	[MGPU_RUN_JOIN_BYTES] = {"sss", {0}, PLAIN},
	[MGPU_RUN_TEXT_OF_INTEGER] = {"si", {0}, DIGITS},
	[MGPU_RUN_TEXT_OF_DATE] = {"sd", {0}, PLAIN},
	[MGPU_RUN_FORMAT_TIME] = {"st", {0}, FORMAT},
	[MGPU_RUN_REPLACE_BYTES] = {"ssss", {0}, PLAIN},
	[MGPU_RUN_REPLACE_REGEX] = {"ss", {0}, MATCH},
	[MGPU_RUN_INET_MASK] = {"se4", {0}, ENCODING},
	[MGPU_RUN_TEXT_OF_INET] = {"se", {0}, ENCODING},
	[MGPU_RUN_BYTES_OF_WORDS] = {"siii", {0}, WORDS},
	[MGPU_RUN_JSON_TEXT] = {"sjs", {0}, JSON_STEP},
	[MGPU_RUN_JSON_OBJECT] = {"sjs", {8}, JSON_STEP},
	[MGPU_RUN_JSON_NUMBER] = {"njs", {1, 2, 4, 9}, JSON_STEP},
	[MGPU_RUN_JSON_REAL] = {"rjs", {8}, JSON_STEP},
	[MGPU_RUN_JSON_HAS] = {"ijs", {1}, PLAIN},
	[MGPU_RUN_JSON_IS] = {"ijss", {1}, JSON_KIND},
	[MGPU_RUN_JSON_LENGTH] = {"ij", {4}, PLAIN},
	[MGPU_RUN_ARRAY_LENGTH] = {"ia", {4}, ENCODING},
	[MGPU_RUN_ARRAY_HAS_BYTES] = {"ias", {1}, ENCODING},
	[MGPU_RUN_ARRAY_HAS_INTEGER] = {"ia4", {2, 4, 8}, ENCODING},
	[MGPU_RUN_RANGE_BOUND] = {"ig", {4, 8}, ENCODING},
	[MGPU_RUN_RANGE_HAS_FLAG] = {"ig", {4, 8}, FLAG},
	[MGPU_RUN_RANGE_HAS] = {"igi", {4, 8}, PLAIN},
	[MGPU_RUN_RANGE_RELATES] = {"igg", {4, 8}, RELATION},
	[MGPU_RUN_WORD] = {"is", {1, 2, 3, 32}, WHICH},
	[MGPU_RUN_WORD_FIXED] = {"is", {1, 2, 3, 32}, WHICH},
	[MGPU_RUN_WORD_COMPARED] = {"is", {1, 2, 3, 31}, WHICH},
	[MGPU_RUN_WORD_INET] = {"ie", {1, 2, 3, 5}, WHICH},
	[MGPU_RUN_FIT_DATE] = {"id", {4}, PLAIN},
	[MGPU_RUN_FIT_TIME] = {"it", {8}, PLAIN},
	[MGPU_RUN_TIME_OF_DATE] = {"id", {8}, PLAIN},
	[MGPU_RUN_DATE_OF_TIME] = {"it", {4}, PLAIN},
	[MGPU_RUN_TRUNCATE_TIME] = {"it", {8}, UNIT},
	[MGPU_RUN_TIME_BIN] = {"it", {8}, BIN},
	[MGPU_RUN_EXTRACT] = {"it", {8}, FIELD},
	[MGPU_RUN_LOCAL_OF_ZONED] = {"it", {8}, ZONE},
	[MGPU_RUN_ZONED_OF_LOCAL] = {"it", {8}, ZONE},
	[MGPU_RUN_INTERVAL_PART] = {"is", {8}, PART},
	[MGPU_RUN_AGE] = {"ittb", {8}, PART},
	[MGPU_RUN_HASH_KEYS] = {"iii", {8}, PLAIN},
	[MGPU_RUN_IN_ROUND] = {"ii", {1}, ROUNDS},
	[MGPU_RUN_LOOKUP] = {"ii", {8}, BUILD},
	[MGPU_RUN_MATCH] = {"iii", {1, 2}, BUILD},
	[MGPU_RUN_FETCH] = {"#i", {1, 2}, BUILD},
};

#endif							/* MGPU_UNIT_PROGRAM_SHAPES_H */

/*
 * functions.h
 *		Which of PostgreSQL's functions are operations of programs.
 */
#ifndef MGPU_EXPR_FUNCTIONS_H
#define MGPU_EXPR_FUNCTIONS_H

#include "core/program.h"

/* How the operation of a function is compiled (compile.c, compile_calls.c). */
typedef enum function_form
{
	FORM_PLAIN,					/* one operation on the arguments */
	FORM_SAME,					/* the argument itself, which has another type */
	FORM_NUMERIC,				/* numerics of the same scale, which is the result's */
	FORM_PRODUCT,				/* numerics: their scales are added */
	FORM_WHOLE,					/* a numeric that becomes whole */
	FORM_DIGITS,				/* a numeric and how many digits it keeps behind the point */
	FORM_TYPMOD,				/* a numeric and the typmod that it gets */
	FORM_BUCKET,				/* width_bucket */
	FORM_REAL_OF_NUMERIC,
	FORM_QUOTIENT,				/* of a numeric and a constant */
	FORM_BYTES,					/* a comparison of texts; number: its outcomes */
	FORM_BLANKS,				/* one of texts without the blanks at their end */
	FORM_CHARACTERS,
	FORM_TRIM,					/* number: 1 if blanks go at the begin, 2 at the end, or-ed */
	FORM_POSITION,
	FORM_SUBSTRING,
	FORM_JSON,					/* jsonb and a key */
	FORM_JSON_CONTAINS,
	FORM_RANGE,					/* number: that of the operation, and maybe RANGE_TURNED */
	FORM_ARRAY,					/* number: ARRAY_CONTAINS and its like */
	FORM_LIKE,					/* number: whether it is NOT LIKE */
	FORM_ILIKE,					/* the same */
	FORM_REGEX,					/* number: REGEX_NOT and REGEX_ANY_CASE */
	FORM_MATCHES,				/* a part of a text, or the text with other parts, by a regular expression */
	FORM_LABELS,				/* an order of enums; number: its outcomes */
	FORM_CASE,					/* number: 1 if it is upper */
	FORM_JOINED,				/* a text that is made of others */
	FORM_FORMAT,				/* what to_char writes of a time */
	FORM_INET,					/* an inet or a text that is made of an inet */
	FORM_TRUNCATE,				/* date_trunc */
	FORM_BIN,					/* date_bin */
	FORM_EXTRACT,
	FORM_SPAN,					/* a comparison of intervals between times, or constant ones */
	FORM_SPAN_PART,			/* extract(epoch from such an interval), and others */
	FORM_DATES,					/* days are added, or differ */
	FORM_DAY_AND_TIME,			/* a date and a time of day */
	FORM_INTERVAL,				/* of a constant one; code: makes a time; number: 1 or -1, the interval's sign */
	FORM_OF_EPOCH,				/* to_timestamp */
	FORM_MIXED_TIMES,			/* a comparison of a date and a time, or of times of both kinds; zoned: one has a time zone */
	FORM_TIME_OF_DAY,
	FORM_NAMED_ZONE,			/* AT TIME ZONE */
	FORM_ZONE					/* between timestamps with and without time zone, and dates */
} function_form;

/* What a column of arrays does with a constant one, or that with it. */
enum
{
	ARRAY_CONTAINS,
	ARRAY_CONTAINED,
	ARRAY_OVERLAPS
};

/* The range, or the first one, is the second argument. */
#define RANGE_TURNED 64

#define REGEX_NOT 1
#define REGEX_ANY_CASE 2

typedef struct known_function
{
	Oid			function;
	uint8		form;			/* function_form */
	uint8		code;			/* mgpu_program_code */
	int8		number;
	bool		zoned;			/* the argument is a timestamp with time zone; of FORM_ZONE, the result is */
} known_function;

/* All of them. */
extern const known_function *known_functions_all(int *num_functions);

/* NULL: no operation does it. */
extern const known_function *known_function_of(Oid function);

#endif							/* MGPU_EXPR_FUNCTIONS_H */

/*
 * compile.h
 *		Internals of making programs, for the other files of this folder.
 */
#ifndef MGPU_EXPR_COMPILE_H
#define MGPU_EXPR_COMPILE_H

#include "lib/stringinfo.h"
#include "pgtime.h"

#include "expr/expr_program.h"
#include "expr/functions.h"
#include "expr/text_names.h"

/* Digits behind the point that a numeric in a register may have: as many fit in four digits of base 10,000. */
#define MOST_SCALE 16

/* How values of a type are in registers. */
typedef struct expr_type
{
	mgpu_lane	lane;
	uint16		width;			/* bytes of a value; 0: variable width */
	bool		is_numeric;
	int			scale;			/* of a numeric's integers: digits behind the point */
} expr_type;

/* What an expression's values are in. */
typedef struct expr_value
{
	int			reg;
	expr_type	type;
} expr_value;

/* What becomes of a numeric parameter's digits behind a scale, so that comparisons with values of that scale stay as they are. */
typedef enum expr_rounding
{
	ROUND_NONE,					/* the scale is the value's own */
	ROUND_DOWN,
	ROUND_UP,
	ROUND_TO_NONE				/* if there are some, no value is equal */
} expr_rounding;

/* A register that is filled before the first run. */
typedef struct expr_constant
{
	int			reg;
	expr_type	type;
	expr_rounding rounding;		/* of a numeric parameter, to the type's scale */
	Oid			type_id;
	int64		number;			/* in the register, unless it is a parameter */
	double		real;
	const char *bytes;
	uint32		length;
	bool		is_null;
	Expr	   *expr;			/* that is the same for all rows: a parameter, or a stable function's result; NULL: it is known */
	ExprState  *state;			/* of the expression; NULL before its first use */
	List	   *numbers;		/* states of the parameters that it is computed of, which have to be short (fixed_numbers.c) */
} expr_constant;

/* A part that has been compiled. */
typedef struct known_part
{
	Expr	   *expr;
	expr_value	value;
	bool		is_document;	/* of type jsonb: the bytes, which are no value to compare or to return */
} known_part;

/* A build of whose rows one has been looked up. */
typedef struct expr_build
{
	bool		is_found;
	bool		may_miss;		/* rows are kept that find none */
	bool		may_name;		/* texts may be numbers, however short they are */
	expr_value	row;
	const int  *words;			/* of each column's texts, or NULL */
	List	   *columns;		/* build_column */
	int			num_cells;
} expr_build;

struct expr_program
{
	bool		(*compile) (expr_program *program, Expr *expr, expr_value *value);	/* a part that is new: compile_node */
	mgpu_program program;
	int			num_ops;
	int			most_ops;
	mgpu_program_op *ops;
	int			num_registers;
	int			most_registers;
	uint8	   *lanes;			/* of each register */
	List	   *attributes;		/* of each input */
	const Bitmapset *numbers;	/* attributes that are numerics, and come as numbers */
	int			shown_scale;	/* of numerics that each have their own */
	const Bitmapset *unfit;		/* attributes that are such, and show more */
	List	   *constants;
	List	   *parts;
	List	   *case_values;	/* what a CaseTestExpr is, the innermost first */
	expr_build *builds;			/* NULL: all variables are attributes */
	StringInfoData tables;
	pg_tz	   *zone;			/* the session's time zone, if tables are of it, or NULL */
	bool		writes_dates;	/* in the session's style */
	pg_tz	   *last_zone;		/* the last one that has a table, or NULL */
	int64		last_zone_table;
	text_names *names;			/* of long texts of the table, or NULL: there are none */
	int			num_made;		/* operations that make texts */
	Oid			collation;		/* by which texts are compared that bytes do not order, or InvalidOid */
	int			num_outputs;
	int			most_outputs;
	expr_value *outputs;

	/* once it is finished */
	mgpu_register *registers;
	uint32		num_rows;		/* most of a run */
	bool		knows_constants;	/* parameters too */
	mgpu_made	made;
};

/* ---- types (expr_types.c), constants (expr_constants.c) and tables (expr_tables.c) */

/* false: no register holds values of the type. */
extern bool expr_type_of(Oid type_id, int32 typmod, expr_type *type);

/* The register of a constant; false: its value has no place in one. */
extern bool compile_const(expr_program *program, const Const *constant, expr_value *value);

/* The same of an int8. */
extern bool compile_number(expr_program *program, int64 number, expr_value *value);

/* What is computed before the first run: it has no variables.  Errors that it may raise are the caller's concern. */
extern bool compile_fixed(expr_program *program, Expr *expr, expr_value *value);

/* So too of a numeric, which is compared with values of a scale. */
extern void compile_limit(expr_program *program, Expr *expr, int scale, expr_rounding rounding, expr_value *value);

/* Whether an expression is a parameter. */
extern bool expr_is_parameter(const Node *node);

/*
 * The numeric parameters of an expression of such and constants, or of a float8 that is made of one (fixed_numbers.c); NIL: it is none.  It may be
 * computed for no row where all of them are short.
 */
extern List *fixed_number_params(Expr *expr);
extern bool fixed_numbers_are_short(List *states, ExprContext *context);

/* A value of a type with registers, as a constant's; false: it has no place. */
extern bool expr_constant_fill(expr_constant *constant, Datum value);

/* Tables that operations name by their offset; -1: there can be none. */
extern int64 table_of_list(expr_program *program, const expr_type *type, Oid element_type, Datum array);
extern int64 table_of_pattern(expr_program *program, const text *pattern);
extern int64 table_of_zone(expr_program *program, pg_tz *zone);

/* What characters become in lower or upper case (expr_case.c), and the automaton of a regular expression (expr_regex.c). */
extern int64 table_of_case(expr_program *program, Oid collation, bool is_upper);
extern int64 table_of_regex(expr_program *program, text *pattern, bool any_case, Oid collation, bool is_utf8);
extern int64 table_add(expr_program *program, const void *bytes, Size size);

/* The value of a constant text, or NULL. */
extern const char *text_constant(const Node *node);

/* Whether characters are of UTF-8, or each is a byte: else no operation tells them apart. */
extern bool encoding_is_known(bool *is_utf8);

/* Most arguments of a function. */
#define MOST_ARGS 3

typedef struct function_call
{
	const known_function *known;
	List	   *args;
	Oid			collation;
	expr_type	type;			/* of the result */
	Oid			type_id;
} function_call;

extern const expr_type expr_boolean;

/* ---- operations and parts (builder.c) */

/* A register that is kept to the end.  Its number among these (evaluate.c). */
extern int	expr_program_add_output(expr_program *program, expr_value value);

/* number / 10^scale with so many digits shown behind the point, in the current context (expr_store.c). */
extern Datum number_to_numeric(int64 number, int scale, int shown);

/* 10 to the power of 0 to 18. */
extern int64 power_of_ten(int exponent);

extern int	add_register(expr_program *program, mgpu_lane lane);

/* Add an operation with a result of a type. */
extern expr_value add_op(expr_program *program, int code, expr_type type, int64 number, int num_from, const expr_value *from);

/* The same, unless it is there: of operations that take registers. */
extern expr_value find_op(expr_program *program, int code, expr_type type, int64 number, const expr_value *from);

/* An operation that makes texts.  false: there are too many. */
extern bool add_made(expr_program *program, int code, int64 number, const expr_value *from, expr_value *value);

/* So too one that loads an attribute. */
extern expr_value add_load(expr_program *program, int code, expr_type type, AttrNumber attribute);

/* A numeric that shows so many of its scale's digits, among others that show others. */
extern expr_value show_scale(expr_program *program, expr_value value, int shown);

/* A numeric with more digits behind the point, the same number.  false: too many. */
extern bool scale_up(expr_program *program, expr_value *value, int scale);

/* The function and arguments of an operator or a call; InvalidOid: it is neither. */
extern Oid	expr_function_of(Expr *expr, List **args);

/* A part that has been compiled before, and one that has been now. */
extern bool find_part(const expr_program *program, Expr *expr, bool is_document, expr_value *value);
extern void keep_part(expr_program *program, Expr *expr, bool is_document, expr_value value);

/* Compile an expression, unless an equal part is there.  false: no program can have it. */
extern bool compile_expr(expr_program *program, Expr *expr, expr_value *value);

/* The arguments of a call, and then the operation that it is; the latter is always true. */
extern bool compile_args(expr_program *program, const function_call *call, expr_value *args);
extern bool add_call_op(expr_program *program, const function_call *call, const expr_value *args, expr_value *value);

/* ---- nodes (compile.c), what chooses between values (compile_choices.c), functions (compile_calls.c), those of times (compile_times.c) */

extern bool compile_node(expr_program *program, Expr *expr, expr_value *value);
extern bool compile_choice(expr_program *program, Expr *expr, expr_value *value);
extern bool compile_call(expr_program *program, const function_call *call, expr_value *value);

/* What a function makes whole, to so many digits, of a quotient by a constant, or a comparison of that with a constant.  false: it is none. */
extern bool compile_quotient(expr_program *program, const function_call *call, int digits, expr_value *value);

/* A quotient by a constant of which 1 has few digits behind the point.  false: it is none. */
extern bool compile_exact_quotient(expr_program *program, const function_call *call, expr_value *value);

/* A constant numeric as an integer and its scale, without zeros at the end, and the digits that it shows.  false: it is none, or has too many. */
extern bool read_short_constant(const Const *constant, int64 *number, int *scale, int *shown);

/*
 * A quotient by anything (compile_fractions.c), or what chooses between such or adds them: a numeric that shows the digits of the whole, and what is behind it in units of the
 * last digit of both.  false: it is none.
 */
typedef struct quotient_parts
{
	expr_value	quotient;
	expr_value	rest;
} quotient_parts;

extern bool compile_quotient_parts(expr_program *program, Expr *expr, quotient_parts *parts);

/* The same, of a quotient, as a number that is rounded to fewer than so many digits, and compared with a number of so many, as the quotient would be. */
#define CUT_QUOTIENT_DIGITS MGPU_QUOTIENT_DIGITS
extern bool compile_cut_quotient(expr_program *program, Expr *expr, expr_value *value);

/* width_bucket with constant bounds (compile_buckets.c). */
extern bool compile_bucket(expr_program *program, const function_call *call, expr_value *value);

extern bool compile_time(expr_program *program, const function_call *call, expr_value *value);
/* What a constant expression is; NULL: it is none, or NULL. */
extern const Interval *interval_constant(const Expr *expr);
extern bool compile_time_sum(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_day_and_time(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_zoned(expr_program *program, const function_call *call, expr_value *value);

/*
 * What is looked for in jsonb (compile_json.c).  A document: an expression of type jsonb, of which the register has the bytes
 * that these operations look into, and whether it is NULL.
 */
extern bool compile_json(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_document(expr_program *program, Expr *expr, expr_value *value);
extern bool compile_spans(expr_program *program, const function_call *call, expr_value *value);

/* The parts of an interval, each an integer of 8 bytes; and all of one between two times, in microseconds. */
extern bool compile_interval_parts(expr_program *program, Expr *expr, expr_value *months, expr_value *days, expr_value *time);
extern bool compile_between(expr_program *program, Expr *expr, expr_value *value);
extern bool compile_any(expr_program *program, const ScalarArrayOpExpr *expr, expr_value *value);
extern bool compile_array(expr_program *program, const function_call *call, expr_value *value);

/* What is asked of ranges (compile_ranges.c), and one of a build as bytes.  false: it is none. */
extern bool compile_of_ranges(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_build_range(expr_program *program, const Expr *expr, expr_value *value);

extern bool compile_json_contains(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_matches(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_group(expr_program *program, const function_call *call, int group, expr_value *value);
extern bool compile_text(expr_program *program, const function_call *call, expr_value *value);
extern bool compile_text_of(expr_program *program, const CoerceViaIO *cast, expr_value *value);

/* A text that an enum's value is cast to, and a constant one or several that it is compared with, become the value and labels.  false: they are others. */
extern bool take_labels(Expr **text, const Const **constant);
extern bool compile_concat(expr_program *program, const FuncExpr *call, expr_value *value);
extern bool compile_inet(expr_program *program, const function_call *call, expr_value *value);

/* An inet of the words that stand for it (core/program/ops_inet.h), as bytes, which are freed. */
extern Datum expr_inet_datum(char *words, int num_words);

/* An element of the array that a function makes of a text (compile_arrays.c). */
extern bool compile_element(expr_program *program, const SubscriptingRef *part, expr_value *value);

/* A value that a text has (compile_values.c); a number of jsonb, as a numeric or a float8, whose text is cast to a number. */
extern bool compile_value_of(expr_program *program, const CoerceViaIO *cast, expr_value *value);
extern bool compile_json_number(expr_program *program, Expr *expr, expr_type type, expr_value *value);

/*
 * What to_char makes of a time is one number (time_format.c): of all times with the same text the least, so that to_char makes it again.  false: the
 * expression is none, or its text has other parts than years, months, days, hours, minutes and seconds.
 */
extern bool compile_format(expr_program *program, const Expr *expr, expr_value *value, Datum *format);

/* The same as a text, in a format of any of these parts. */
extern bool compile_format_text(expr_program *program, const function_call *call, expr_value *value);

/* A time as the session's zone has it, or the other way round.  false: its offsets are not known. */
extern bool compile_change_zone(expr_program *program, int code, expr_value *value);

/* The same of a zone that a constant text names; NULL: the session's. */
extern bool compile_change_named(expr_program *program, const Node *zone, int code, expr_value *value);

/*
 * Expressions of one build's columns alone (compile_builds.c).  false: it is something else, or a text.  Words of a text or uuid, as
 * registers; how many, 0: it has none.  Presence: NULL if the variable is, of any type that has cells.
 */
extern bool is_build_var(const expr_program *program, const Expr *expr);
extern bool compile_build_part(expr_program *program, const Expr *expr, expr_value *value);
extern int	compile_build_words(expr_program *program, const Expr *expr, expr_value *words);

/* Whether two texts are equal, or not equal, of which one is a build's: their words are compared.  false: it is something else. */
extern bool compile_build_equality(expr_program *program, const function_call *call, expr_value *value);

/* The number of a text of a build, and of whose names; NULL: it is none.  Whether a short one may be a number. */
extern bool may_name_of_build(const expr_program *program, const Expr *expr);
extern const text_names *compile_build_name(expr_program *program, const Expr *expr, expr_value *value);
extern bool compile_build_presence(expr_program *program, const Var *var, expr_value *value);

/* Whether texts under a collation are compared by their bytes: in order, or for equality alone. */
extern bool compares_bytes(Oid collation, bool in_order);

/* A program's comparison of texts in the order of a collation of the C library, of which a program has one; and what compares them, or NULL. */
extern bool compile_collated(expr_program *program, const function_call *call, expr_value *value);
extern struct mgpu_collator *expr_collator(const expr_program *program);

#endif							/* MGPU_EXPR_COMPILE_H */

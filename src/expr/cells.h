/*
 * cells.h
 *		Values of expressions as numbers of 8 bytes, in which executors of table jobs keep, order and return them.
 *
 * A number, a date or a numeric with a declared scale is one such cell.  A text is some, which order as its bytes do.  A numeric
 * that shows digits of its own is two: the number, and how many digits it shows.  A text that is too long for that is a number.
 */
#ifndef MGPU_EXPR_CELLS_H
#define MGPU_EXPR_CELLS_H

#include "core/group_spec.h"
#include "expr/expr_program.h"
#include "expr/text_names.h"

typedef enum cell_form
{
	CELLS_NUMBER,				/* a type that is passed by value */
	CELLS_NUMERIC,
	CELLS_SHOWN,				/* the first orders values: equal ones may show different digits */
	CELLS_TIED,					/* such a numeric, with its digits: see expr_program_add_tied */
	CELLS_BYTES,
	CELLS_NAMED,				/* a text of a build: its number, which does not order it */
	CELLS_LONG,					/* so too, a text of the table: threads give it the number */
	CELLS_FORMATTED,			/* a text that to_char makes of a time, maybe trimmed or in another case: the least time that has it */
	CELLS_LABEL,				/* a text that is an enum's label: its OID, which does not order it */
	CELLS_INTERVAL,				/* its parts, which are added and no more: months, days, microseconds */
	CELLS_QUOTIENT,				/* its two numbers, and the digits that it shows: as those are added, or in order */
	CELLS_TIED_QUOTIENT,		/* such a quotient in order, and its digits: see expr_program_add_tied_quotient */
	CELLS_BETWEEN,				/* an interval between two times: its microseconds, which order it */
	CELLS_LATE,					/* any value of the table: the row's TID, by which it is fetched (core/group_spec.h) */
	CELLS_UUID,
	CELLS_INET,
	CELLS_RECORD				/* of several expressions, one behind the other: see table_job_row (query/table_job.h) */
} cell_form;

typedef struct value_cells
{
	cell_form	form;
	int			first;			/* output of the program */
	int			num_cells;
	uint32		kind;			/* as in mgpu_group_column */
	uint32		width;
	int			scale;			/* of a numeric */
	const text_names *names;	/* NAMED, LONG */
	Datum		format;			/* LABEL: what no label is; FORMATTED: a text ... */
	const FuncExpr *around;		/* ... and the function of the text, or NULL */
} value_cells;

/* Most cells of a value. */
#define MOST_CELLS 8

/*
 * Add an expression's cells to a program, as outputs.  num_words: of texts.  false: its values have none.
 */
extern bool expr_program_add_cells(expr_program *program, Expr *expr, int num_words, value_cells *cells);

/* The same where cells need no order, and texts become numbers: of a build, long ones of the table, and what to_char makes of times. */
extern bool expr_program_add_name(expr_program *program, Expr *expr, int num_words, value_cells *cells);

/* What numbers long texts of the table; NULL: there are none. */
extern text_names *expr_program_names(const expr_program *program);

/*
 * What tells the extremes of numerics that show digits of their own, and whether all that are as great show the same: CELLS_DIGITS times the number, with
 * its digits added, and with these taken off.  As many digits as that are a fault.  false: it is none.
 */
#define CELLS_DIGITS 64

extern bool expr_program_add_tied(expr_program *program, Expr *expr, value_cells *cells);

/* The parts of an interval become outputs: months, days, microseconds.  false: it has none. */
extern bool expr_program_add_interval(expr_program *program, Expr *expr, value_cells *cells);

/* The parts of a quotient (compile.h), which may be such that they order it, and how many digits it shows.  false: it has none. */
extern bool expr_program_add_quotient(expr_program *program, Expr *expr, bool in_order, value_cells *cells);

/*
 * What tells the extremes of quotients, as expr_program_add_tied does: twice CELLS_OF_QUOTIENT cells, of which the first order values: a quotient in order and
 * its digits, and both numbers with their signs turned and these digits.  false: it is none.
 */
#define CELLS_OF_QUOTIENT 3

extern bool expr_program_add_tied_quotient(expr_program *program, Expr *expr, value_cells *cells);

/* One cell of an interval that lies between two times.  false: it is none. */
extern bool expr_program_add_between(expr_program *program, Expr *expr, value_cells *cells);

/* Put zeros, or empty texts, in place of cells that are NULL where a condition is true.  false: no program can have the condition. */
extern bool expr_program_fill_cells(expr_program *program, Expr *is_null, value_cells *cells);

/* An output that says which of some conditions are true, NULL where one is.  -1: no program can have them. */
extern int	expr_program_add_flags(expr_program *program, List *conditions);

/*
 * A row's TID as an expression, of 8 bytes (mgpu_tid_of): of the table, or of a build by its number (expr_builds.h) in place of a relation's.  table: whose
 * of those that the build's rows are joined of.
 */
extern Expr *expr_tid(int relation, int table);
extern bool expr_is_tid(const Var *var);
extern int	expr_tid_table(const Var *var);

/* The value of some cells, in the current context.  bits: of each, as mgpu_column_bits returns them. */
extern Datum value_cells_datum(const value_cells *cells, const uint64 *bits);

/* ---- for a job */

/* Add bytes to the tables of a spec.  Their offset; -1: they do not fit. */
extern int64 group_spec_add_bytes(mgpu_group_spec *spec, const void *bytes, Size length);

/* Write operations, registers and tables of a finished program to a spec.  false: they are too many. */
extern bool expr_program_export(const expr_program *program, mgpu_group_spec *spec);

/* The register of an output. */
extern uint32 expr_program_output_register(const expr_program *program, int number);

/* How many operations there are so far. */
extern uint32 expr_program_num_ops(const expr_program *program);

/* Write constants, which have been computed.  false: they do not fit. */
extern bool expr_program_export_constants(const expr_program *program, mgpu_group_spec *spec);

#endif							/* MGPU_EXPR_CELLS_H */

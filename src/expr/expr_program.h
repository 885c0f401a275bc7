/*
 * expr_program.h
 *		Expressions of a table's columns that run as a program (core/program.h), for many rows at a time.
 *
 * A program is made when a plan starts, and lives in the context that was current.  What it computes of a row is what
 * PostgreSQL's executor computes, or a fault: then the caller asks PostgreSQL's executor for that row.
 */
#ifndef MGPU_EXPR_EXPR_PROGRAM_H
#define MGPU_EXPR_EXPR_PROGRAM_H

#include "lib/stringinfo.h"
#include "nodes/execnodes.h"

#include "batch/chunk.h"
#include "core/program.h"

struct ExplainState;

typedef struct expr_program expr_program;

/* An empty program. */
extern expr_program *expr_program_create(void);

/* Have attributes that are numerics with a typmod come as numbers of 8 bytes, in units of their last digit. */
extern void expr_program_take_numbers(expr_program *program, const Bitmapset *attributes);

/*
 * Numerics without a declared scale have one in registers, for all of a program: by default the least, with which most products fit in 64 bits.  Values
 * that have more digits are faults, and attributes that are expected to, unfit, are none of the program's.  Zeros at the end of what a value shows
 * are no digits that it has.
 */
#define EXPR_LEAST_SHOWN 4
#define EXPR_MOST_SHOWN 8
extern void expr_program_show(expr_program *program, int scale, const Bitmapset *unfit);

/* Whether an expression's values are such numerics, and how many digits behind the point one has, as it is stored. */
extern bool expr_is_shown(const Expr *expr);
extern int	expr_shown_digits(const void *number);

/* Whether a type is inet or cidr, and the length of the string that stands for a value (core/program/ops_inet.h). */
extern bool expr_type_is_inet(Oid type_id);
extern int	expr_inet_length(const void *value);

/* Whether programs have values of a type. */
extern bool expr_program_has_type(Oid type_id, int32 typmod);

/*
 * Add an expression, whose variables are attributes of one relation.  Its number, from 0 on, or -1: it cannot run so.  Parts that
 * were added before are computed once.
 */
extern int	expr_program_add(expr_program *program, Expr *expr);

/* Have numbers be read by now that expressions are computed of, of which there may be several for each row later. */
extern void expr_program_load(expr_program *program, List *exprs);

/*
 * Have the program compare texts by a collation of the C library.  false: it has another, or the collation is none.  And the one that it has, or
 * InvalidOid.
 */
extern bool expr_program_take_collation(expr_program *program, Oid collation);
extern Oid	expr_program_collation(const expr_program *program);

/* After the last expression.  num_rows: most rows of a run. */
extern void expr_program_finish(expr_program *program, uint32 num_rows);

/* The attributes that are read: number i is input i. */
extern int	expr_program_num_inputs(const expr_program *program);
extern AttrNumber expr_program_attribute(const expr_program *program, int input);

/* What EXPLAIN says of programs: how many operations they have, with VERBOSE which. */
extern void expr_programs_explain(const List *programs, struct ExplainState *es);

/*
 * Compute all constants now, even by queries that have not run yet, for expr_program_export (export.h).  false: no register holds
 * one.
 */
extern bool expr_program_compute_constants(expr_program *program, ExprContext *context);

/* Whether an expression has the result of a query that has not run yet: PostgreSQL's executor would run it for the first row.  context: an ExprContext. */
extern bool expr_waits_for_query(Node *node, void *context);

/* Parameters may have changed. */
extern void expr_program_forget(expr_program *program);

/*
 * Run it for rows of a page: row i is entry rows[i] of each input.  false: it cannot run now, and all rows are faults.  No error is
 * raised.
 */
extern bool expr_program_run(expr_program *program, ExprContext *context, const mgpu_program_input *inputs, const uint16 *rows,
							 uint32 num_rows);

/* Of the last run: the states of an expression's values, and the values of one of type bool. */
extern const uint8 *expr_program_states(const expr_program *program, int number);
extern const int64 *expr_program_truths(const expr_program *program, int number);

/* The bytes of a text of the last run. */
extern const char *expr_program_text(const expr_program *program, int number, uint32 row, uint32 *length);

/*
 * Put its values into rows from first on of a column, which has room for them, and return how many are faults: those
 * cells have no meaning.
 */
extern uint32 expr_program_store(const expr_program *program, int number, chunk *rows, column *col, uint64 first,
								 uint32 num_rows);

#endif							/* MGPU_EXPR_EXPR_PROGRAM_H */

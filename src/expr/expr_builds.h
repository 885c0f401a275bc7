/*
 * expr_builds.h
 *		Joins in programs: builds (core/build.h), of which rows are looked up.
 *
 * A variable of build i has the number EXPR_BUILD_VARNO + i in place of its relation's, and is a column of the build's rows.  It may
 * be compiled once the row has been looked up.
 */
#ifndef MGPU_EXPR_EXPR_BUILDS_H
#define MGPU_EXPR_EXPR_BUILDS_H

#include "nodes/primnodes.h"

#include "expr/cells.h"

/* Above any relation's number, and above the special ones of 14, which are not below 0 as later ones are. */
#define EXPR_BUILD_VARNO 70000

/* Words of texts of which nothing is known. */
#define EXPR_USUAL_WORDS 3

/* A column of a build, or what is computed of some, and its cells. */
typedef struct build_column
{
	Expr	   *expr;
	int			first;
	int			num_cells;
	text_names *names;			/* its only cell is a number of these; NULL: of no text */
} build_column;

/* Before the first expression that has variables of builds. */
extern void expr_program_add_builds(expr_program *program, int num_builds);

/*
 * Look a row up whose key is in these registers.  words: how many the texts of each column have, or digits numerics that show their own, or NULL.  may_miss: a row that finds
 * none is kept.  may_name: texts may be numbers.  Returns the output that is the row's number, or NULL.
 */
extern int	expr_program_look_up(expr_program *program, int number, List *keys, const int *words, bool may_miss, bool may_name);

/* An output that says whether a row was found, or not. */
extern int	expr_program_add_found(expr_program *program, int number, bool is_found);

/* Whether the key in these registers is of a round (core/build.h): an output. */
extern int	expr_program_add_round(expr_program *program, List *keys, int round, int num_rounds);

/* The columns (build_column) that expressions have asked for, and cells of all, with those of the key. */
extern const List *expr_program_build_columns(const expr_program *program, int number);
extern int	expr_program_build_cells(const expr_program *program, int number);

#endif							/* MGPU_EXPR_EXPR_BUILDS_H */

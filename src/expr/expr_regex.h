/*
 * expr_regex.h
 *		Automata without choices, made of PostgreSQL's, in a table.
 */
#ifndef MGPU_EXPR_EXPR_REGEX_H
#define MGPU_EXPR_EXPR_REGEX_H

#include "expr/compile.h"
#include "regex/regex.h"
#include "regex/regguts.h"

typedef struct regex_maker regex_maker;

/* PostgreSQL's own, or NULL: the pattern is none, which is an error for a row that asks for it. */
extern const regex_t *regex_compile(text *pattern, bool any_case, Oid collation);

/* A table that begins with a struct of so many bytes, of which the first is the mgpu_regex of the search.  NULL: there can be none. */
extern regex_maker *regex_begin(const regex_t *compiled, bool is_utf8, Size header_bytes);

/* Add an automaton that says where texts end, or bytes: where they are, or 0: there can be none. */
extern uint32 regex_add_ends(regex_maker *maker, const struct cnfa *nfa);
extern uint32 regex_add_bytes(regex_maker *maker, const void *bytes, Size size);

/* So that what is added next lies where numbers do. */
extern void regex_align(regex_maker *maker);

/* The struct that the table begins with, until more is added. */
extern void *regex_header(regex_maker *maker);

/* The table as a program's; -1: it is too large. */
extern int64 regex_end(regex_maker *maker, expr_program *program);

#endif							/* MGPU_EXPR_EXPR_REGEX_H */

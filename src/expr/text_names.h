/*
 * text_names.h
 *		Numbers for texts, the same for equal bytes: what a long text is in a table job.
 *
 * A text that takes many words would be compared and copied word by word for each row, and there is a most of them.  Its number is one cell,
 * which says only whether texts are equal, not how they are ordered.
 */
#ifndef MGPU_EXPR_TEXT_NAMES_H
#define MGPU_EXPR_TEXT_NAMES_H

typedef struct text_names text_names;

/* Without any texts, in the current context. */
extern text_names *text_names_create(void);

/* For threads that number texts themselves. */
extern struct mgpu_names *text_names_of_threads(text_names *names);

/* The number of a text, a new one if it was not met before. */
extern int64 text_names_add(text_names *names, const char *bytes, uint32 length);

/* The text of a number, of type text: in the memory of the names. */
extern Datum text_names_datum(const text_names *names, uint64 number);

#endif							/* MGPU_EXPR_TEXT_NAMES_H */

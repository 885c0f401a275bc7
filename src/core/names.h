/*
 * names.h
 *		Numbers for byte strings, the same for equal ones, which several threads give at once.
 *
 * A number says whether strings are equal, and nothing of their order.  So long texts are keys of groups like integers.
 */
#ifndef MGPU_NAMES_H
#define MGPU_NAMES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mgpu_names mgpu_names;

/* Without any strings.  NULL: out of memory. */
mgpu_names *mgpu_names_create(void);
void		mgpu_names_free(mgpu_names *names);

/* Numbers of some strings, at most MGPU_NAMED_ROWS.  Of those whose state is not 0, it is 0.  false: out of memory. */
#define MGPU_NAMED_ROWS 1024
bool		mgpu_names_number(mgpu_names *names, const char *const *bytes, const uint32_t *lengths, const uint8_t *states,
							  uint32_t num_strings, uint64_t *numbers);

/*
 * The string of a number, with four bytes before it, at an address that 4 divides, which are the caller's.  They lie in the memory of the names.
 * NULL: no string has it.
 */
char	   *mgpu_names_string(const mgpu_names *names, uint64_t number, uint32_t *length);

/* Bytes of memory. */
uint64_t	mgpu_names_memory(const mgpu_names *names);

#endif							/* MGPU_NAMES_H */

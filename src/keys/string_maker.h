/*
 * string_maker.h
 *		How the byte string of one value is found or made, by type and collation.
 *
 * The functions on values are for threads: they call nothing of PostgreSQL.
 */
#ifndef MGPU_KEYS_STRING_MAKER_H
#define MGPU_KEYS_STRING_MAKER_H

#include "array/element_type.h"
#include "keys/byte_encode.h"
#include "keys/collated.h"

typedef struct string_maker
{
	byte_form	form;
	byte_encode_fn encode;		/* NULL: no bytes are encoded */
	locale_t	locale;			/* not 0: strings are collated */
} string_maker;

/*
 * Prepare for a type.  num_collated is the number of values, or 0 if collated strings are not
 * wanted.  False: the type has no byte strings, or not under this collation.
 */
extern bool string_maker_start(string_maker *maker, const element_type *type, Oid collation, int64 num_collated);

/* Whether strings are made: else a string is its value's own bytes. */
static inline bool
string_maker_makes(const string_maker *maker)
{
	return maker->encode != NULL || maker->locale != (locale_t) 0;
}

/* Whether strings may contain zero bytes. */
static inline bool
string_maker_has_zeros(const string_maker *maker)
{
	return maker->form == BYTE_FORM_BYTEA || maker->form == BYTE_FORM_NETWORK || maker->form == BYTE_FORM_INTERVAL ||
		maker->locale != (locale_t) 0;
}

/* Bytes behind a string: the zero that ends a collated text. */
static inline Size
string_maker_end(const string_maker *maker)
{
	return maker->locale ? 1 : 0;
}

/* Bytes set aside for the strings of values with so many bytes. */
static inline Size
string_maker_space(const string_maker *maker, Size bytes)
{
	return maker->locale ? COLLATED_SPACE(bytes) : BYTE_ENCODE_SPACE(bytes);
}

/* Bytes of a value that count: without what pads a char(n) or a name. */
static inline uint32
string_maker_value_size(byte_form form, const char *value, uint32 size)
{
	if (form == BYTE_FORM_NAME)
		return strnlen(value, size);
	if (form == BYTE_FORM_BPCHAR)
		while (size > 0 && value[size - 1] == ' ')
			size--;
	return size;
}

/* Write the string of a value.  Returns its length, or 0 if there is none or it does not fit. */
static inline Size
string_maker_make(const string_maker *maker, const char *value, uint32 size, char *out, Size space)
{
	if (maker->locale)
		return collated_make(maker->locale, value, string_maker_value_size(maker->form, value, size), out, space);
	return maker->encode(value, size, (unsigned char *) out);
}

#endif							/* MGPU_KEYS_STRING_MAKER_H */

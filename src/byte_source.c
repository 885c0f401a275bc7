/*
 * byte_source.c
 *		An array's elements as byte strings that order as their type does.
 *
 * Strings of text and bytea lie in the array itself; a span says where.  Under
 * collations that look at more than bytes text has no such strings here.  Text
 * has no zero bytes in any encoding of a server, which saves it the counts in
 * its codes (byte_keys.h).  Other types' strings are made, one behind the other.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "array_result.h"
#include "byte_encode.h"
#include "byte_source.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

static bool
form_applies(const element_type *type, Oid collation)
{
	switch (type->byte_form)
	{
		case BYTE_FORM_NONE:
			return false;
		case BYTE_FORM_TEXT:
		case BYTE_FORM_BPCHAR:
		case BYTE_FORM_NAME:
			return OidIsValid(collation) && mgpu_collation_is_c(collation);
		default:
			return true;
	}
}

static byte_encode_fn
encoder(byte_form form)
{
	switch (form)
	{
		case BYTE_FORM_NUMERIC:
			return byte_encode_numeric;
		case BYTE_FORM_BITS:
			return byte_encode_bits;
		case BYTE_FORM_NETWORK:
			return byte_encode_network;
		case BYTE_FORM_INTERVAL:
			return byte_encode_interval;
		default:
			return NULL;
	}
}

static bool
has_zeros(byte_form form)
{
	return form == BYTE_FORM_BYTEA || form == BYTE_FORM_NETWORK || form == BYTE_FORM_INTERVAL;
}

static uint32
size_without_blanks(const char *string, uint32 size)
{
	while (size > 0 && string[size - 1] == ' ')
		size--;
	return size;
}

/* Walks elements: offset is that of the next one. */
typedef struct walk
{
	const array_source *source;
	const element_type *type;
	Size		offset;
} walk;

/* The next element without its length word.  False: it is not as arrays have them. */
static inline bool
next_value(walk *at, const char **value, uint32 *size)
{
	const char *element = array_source_data(at->source) + at->offset;

	if (at->type->typlen > 0)
	{
		array_source_require(at->source, at->offset + at->type->typlen);
		*value = element;
		*size = at->type->typlen;
		at->offset += at->type->stride;
		return true;
	}
	array_source_require(at->source, at->offset + VARHDRSZ);
	if (!VARATT_IS_4B_U(element) || VARSIZE(element) < VARHDRSZ)
		return false;
	array_source_require(at->source, at->offset + VARSIZE(element));
	*value = VARDATA(element);
	*size = VARSIZE(element) - VARHDRSZ;
	at->offset = INTALIGN(at->offset + VARHDRSZ + *size);
	return true;
}

/* Strings that are there.  False: an element is not as it should be. */
static bool
find_strings(byte_source *bytes, walk *at, int64 num_items)
{
	const char *data = array_source_data(at->source);
	byte_form	form = at->type->byte_form;

	for (int64 i = 0; i < num_items; i++)
	{
		const char *value;
		uint32		size;

		if (!next_value(at, &value, &size))
			return false;
		if (form == BYTE_FORM_BPCHAR)
			size = size_without_blanks(value, size);
		else if (form == BYTE_FORM_NAME)
			size = strnlen(value, size);
		bytes->spans[i] = (mgpu_span) {value - data, size};
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	bytes->keys.data = data;
	bytes->keys.data_end = data + at->source->data_bytes;
	return true;
}

/* Strings that are made.  False: likewise. */
static bool
make_strings(byte_source *bytes, walk *at, int64 num_items, byte_encode_fn encode)
{
	Size		offset = 0;

	bytes->arena = array_result_scratch(BYTE_ENCODE_ROOM(at->source->data_bytes));
	for (int64 i = 0; i < num_items; i++)
	{
		const char *value;
		uint32		size;
		Size		made;

		if (!next_value(at, &value, &size))
			return false;
		made = encode(value, size, (unsigned char *) bytes->arena + offset);
		if (made == 0)
			return false;
		bytes->spans[i] = (mgpu_span) {offset, made};
		offset += made;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	bytes->keys.data = bytes->arena;
	bytes->keys.data_end = bytes->arena + offset;
	return true;
}

bool
byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
				 Oid collation, int64 num_items)
{
	byte_encode_fn encode = encoder(type->byte_form);
	walk		at = {source, type, 0};

	if (!form_applies(type, collation))
		return false;
	array_source_load(source);
	bytes->arena = NULL;
	bytes->spans = array_result_scratch(num_items * sizeof(mgpu_span));
	bytes->keys.spans = bytes->spans;
	bytes->keys.counted = has_zeros(type->byte_form);
	bytes->keys.descending = false;
	if (encode ? make_strings(bytes, &at, num_items, encode) : find_strings(bytes, &at, num_items))
		return true;
	byte_source_close(bytes);
	return false;
}

void
byte_source_close(byte_source *bytes)
{
	pfree(bytes->spans);
	if (bytes->arena)
		pfree(bytes->arena);
}

/*
 * byte_source.c
 *		Elements of an array or an aggregate as byte strings that order as their
 *		type does.
 *
 * Strings of text and bytea lie in the array itself; a span says where.  Under
 * collations that look at more than bytes text has no such strings here.  Text
 * has no zero bytes in any encoding of a server, which saves it the counts in
 * its codes (byte_keys.h).  Other types' strings are made, one behind the other.
 *
 * Rows of an aggregate lie in many blocks of memory, so their strings are always
 * laid end to end, in the order of the rows.  Spans of whole addresses were
 * rejected: twice the memory, for arrays too, to save one pass that every later
 * look at a string is the faster for.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "array_result.h"
#include "byte_encode.h"
#include "byte_source.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

/* The same of bytes, where they are copied. */
#define STEP_BYTES (64 * 1024 * 1024)

bool
byte_source_applies(const element_type *type, Oid collation)
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

/* How many of a value's bytes are its string, where strings are not made. */
static inline uint32
string_size(byte_form form, const char *value, uint32 size)
{
	if (form == BYTE_FORM_BPCHAR)
		return size_without_blanks(value, size);
	if (form == BYTE_FORM_NAME)
		return strnlen(value, size);
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
		bytes->spans[i] = (mgpu_span) {value - data, string_size(form, value, size)};
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

static void
start(byte_source *bytes, const element_type *type, int64 num_items)
{
	bytes->arena = NULL;
	bytes->spans = array_result_scratch(num_items * sizeof(mgpu_span));
	bytes->keys.spans = bytes->spans;
	bytes->keys.counted = has_zeros(type->byte_form);
	bytes->keys.descending = false;
}

bool
byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
				 Oid collation, int64 num_items)
{
	byte_encode_fn encode = encoder(type->byte_form);
	walk		at = {source, type, 0};

	if (!byte_source_applies(type, collation))
		return false;
	array_source_load(source);
	start(bytes, type, num_items);
	if (encode ? make_strings(bytes, &at, num_items, encode) : find_strings(bytes, &at, num_items))
		return true;
	byte_source_close(bytes);
	return false;
}

/* Strings laid end to end. */
typedef struct string_writer
{
	byte_source *bytes;
	byte_form	form;
	byte_encode_fn encode;		/* NULL: strings are values' own bytes */
	Size		used_bytes;
	Size		room_bytes;
} string_writer;

static void
make_room(string_writer *writer, Size bytes)
{
	if (bytes <= writer->room_bytes - writer->used_bytes)
		return;
	writer->room_bytes = Max(writer->used_bytes + bytes, writer->room_bytes + writer->room_bytes / 2);
	writer->bytes->arena = repalloc_huge(writer->bytes->arena, writer->room_bytes);
}

/* False: no string can be made of the value, or none that a span reaches. */
static inline bool
write_string(string_writer *writer, const char *value, uint32 size, mgpu_span *span)
{
	unsigned char *out;
	Size		written;

	make_room(writer, BYTE_ENCODE_ROOM((Size) size));
	out = (unsigned char *) writer->bytes->arena + writer->used_bytes;
	if (writer->encode)
	{
		written = writer->encode(value, size, out);
		if (written == 0)
			return false;
	}
	else
	{
		written = string_size(writer->form, value, size);
		memcpy(out, value, written);
	}
	if (writer->used_bytes + written > PG_UINT32_MAX)
		return false;
	*span = (mgpu_span) {writer->used_bytes, written};
	writer->used_bytes += written;
	return true;
}

bool
byte_source_copy(byte_source *bytes, byte_element_fn element, void *context,
				 const element_type *type, Oid collation, int64 num_items, Size expected_bytes)
{
	string_writer writer = {bytes, type->byte_form, encoder(type->byte_form), 0, Max(expected_bytes, 64)};
	Size		next_look = STEP_BYTES;
	bool		fits = true;

	if (!byte_source_applies(type, collation))
		return false;
	start(bytes, type, num_items);
	bytes->arena = array_result_scratch(writer.room_bytes);
	for (int64 i = 0; fits && i < num_items; i++)
	{
		const char *value = element(context, i);
		uint32		size = type->typlen;

		if (type->typlen < 0)
		{
			size = VARSIZE(value) - VARHDRSZ;
			value = VARDATA(value);
		}
		fits = write_string(&writer, value, size, &bytes->spans[i]);
		if (i % STEP_ITEMS == 0 || writer.used_bytes >= next_look)
		{
			next_look = writer.used_bytes + STEP_BYTES;
			CHECK_FOR_INTERRUPTS();
		}
	}
	bytes->keys.data = bytes->arena;
	bytes->keys.data_end = bytes->arena + writer.used_bytes;
	if (!fits)
		byte_source_close(bytes);
	return fits;
}

void
byte_source_close(byte_source *bytes)
{
	pfree(bytes->spans);
	if (bytes->arena)
		pfree(bytes->arena);
}

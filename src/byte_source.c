/*
 * byte_source.c
 *		An array's elements as byte strings that order as their type does.
 *
 * Strings of text and bytea lie in the array itself; a span says where.  Under
 * collations that look at more than bytes text has no such strings here.  Text
 * has no zero bytes in any encoding of a server, which saves it the counts in
 * its codes (byte_keys.h).
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#include "compat.h"
#include "array_result.h"
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

static uint32
size_without_blanks(const char *string, uint32 size)
{
	while (size > 0 && string[size - 1] == ' ')
		size--;
	return size;
}

static void
find_names(byte_source *bytes, const array_source *source, const element_type *type, int64 num_items)
{
	const char *data = array_source_data(source);

	array_source_require(source, (Size) (num_items - 1) * type->stride + type->typlen);
	for (int64 i = 0; i < num_items; i++)
	{
		Size		offset = (Size) i * type->stride;

		bytes->spans[i] = (mgpu_span) {offset, strnlen(data + offset, NAMEDATALEN)};
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* False: an element is not as arrays have them. */
static bool
find_varlenas(byte_source *bytes, const array_source *source, const element_type *type, int64 num_items)
{
	const char *data = array_source_data(source);
	bool		blanks = type->byte_form == BYTE_FORM_BPCHAR;
	Size		offset = 0;

	for (int64 i = 0; i < num_items; i++)
	{
		const char *element = data + offset;
		uint32		size;

		array_source_require(source, offset + VARHDRSZ);
		if (!VARATT_IS_4B_U(element) || VARSIZE(element) < VARHDRSZ)
			return false;
		array_source_require(source, offset + VARSIZE(element));
		size = VARSIZE(element) - VARHDRSZ;
		bytes->spans[i].offset = offset + VARHDRSZ;
		bytes->spans[i].size = blanks ? size_without_blanks(VARDATA(element), size) : size;
		offset = att_align_nominal(offset + VARHDRSZ + size, type->typalign);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

bool
byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
				 Oid collation, int64 num_items)
{
	if (!form_applies(type, collation))
		return false;
	array_source_load(source);
	bytes->spans = array_result_scratch(num_items * sizeof(mgpu_span));
	bytes->arena = NULL;
	bytes->keys.data = array_source_data(source);
	bytes->keys.data_end = bytes->keys.data + source->data_bytes;
	bytes->keys.spans = bytes->spans;
	bytes->keys.counted = type->byte_form == BYTE_FORM_BYTEA;
	bytes->keys.descending = false;
	if (type->byte_form == BYTE_FORM_NAME)
		find_names(bytes, source, type, num_items);
	else if (!find_varlenas(bytes, source, type, num_items))
	{
		byte_source_close(bytes);
		return false;
	}
	return true;
}

void
byte_source_close(byte_source *bytes)
{
	pfree(bytes->spans);
	if (bytes->arena)
		pfree(bytes->arena);
}

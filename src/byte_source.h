/*
 * byte_source.h
 *		Elements of an array or an aggregate as byte strings that order as their
 *		type does.
 */
#ifndef MGPU_BYTE_SOURCE_H
#define MGPU_BYTE_SOURCE_H

#include "core/byte_keys.h"

#include "array_source.h"
#include "byte_encode.h"
#include "element_type.h"

/* How elements of a type become strings. */
typedef struct byte_strings
{
	byte_form	form;
	byte_encode_fn encode;		/* NULL: strings are elements' own bytes */
	bool		counted;		/* they may have zero bytes */
} byte_strings;

/* Whether strings of this form are made, and are not the elements' own bytes. */
extern bool byte_form_is_made(byte_form form);

/*
 * Whether strings of so many elements, which take data_bytes, are made and take, with
 * all that belongs to them in a sort, more than a call may have.
 */
extern bool byte_strings_take_too_much(const element_type *type, int64 num_items, Size data_bytes);

extern void byte_strings_init(byte_strings *strings, const element_type *type);

typedef struct byte_string
{
	const char *bytes;
	uint32		size;
} byte_string;

extern uint32 byte_size_without_blanks(const char *string, uint32 size);

/* How many of a value's bytes are its string, where strings are not made. */
static inline uint32
byte_string_size(byte_form form, const char *value, uint32 size)
{
	if (form == BYTE_FORM_BPCHAR)
		return byte_size_without_blanks(value, size);
	if (form == BYTE_FORM_NAME)
		return strnlen(value, size);
	return size;
}

/*
 * The string of an element with a 4-byte length.  What is made is written to
 * room, which has BYTE_ENCODE_ROOM of the element's bytes; it is empty only where
 * the value is not as it should be.  Allowed in threads.
 */
static inline byte_string
byte_string_of(const byte_strings *strings, const char *element, char *room)
{
	const char *value = VARDATA(element);
	uint32		size = VARSIZE(element) - VARHDRSZ;

	if (strings->encode)
		return (byte_string) {room, strings->encode(value, size, (unsigned char *) room)};
	return (byte_string) {value, byte_string_size(strings->form, value, size)};
}

/* Walks the present elements of a loaded array, in their order: offset is that of the next one. */
typedef struct byte_walk
{
	const array_source *source;
	const element_type *type;
	Size		offset;
} byte_walk;

static inline void
byte_walk_require(const byte_walk *walk, Size bytes)
{
	if (unlikely(bytes > walk->source->data_bytes))
		array_source_require(walk->source, bytes);
}

/*
 * The next element's value, without its length word if it has one.  False: it is
 * not as arrays have them.  Raises where it would be behind the array's end.
 */
static inline bool
byte_walk_next(byte_walk *walk, const char **value, uint32 *size)
{
	const char *element = array_source_data(walk->source) + walk->offset;

	if (walk->type->typlen > 0)
	{
		byte_walk_require(walk, walk->offset + walk->type->typlen);
		*value = element;
		*size = walk->type->typlen;
		walk->offset += walk->type->stride;
		return true;
	}
	byte_walk_require(walk, walk->offset + VARHDRSZ);
	if (!VARATT_IS_4B_U(element) || VARSIZE(element) < VARHDRSZ)
		return false;
	byte_walk_require(walk, walk->offset + VARSIZE(element));
	*value = VARDATA(element);
	*size = VARSIZE(element) - VARHDRSZ;
	walk->offset = INTALIGN(walk->offset + VARHDRSZ + *size);
	return true;
}

/* Strings, in memory that belongs to the context of byte_source_open. */
typedef struct byte_source
{
	mgpu_byte_keys keys;		/* ascending */
	mgpu_span  *spans;
	char	   *arena;			/* NULL: strings lie in the array */
} byte_source;

/* Whether elements have such strings, as far as type and collation go. */
extern bool byte_source_applies(const element_type *type, Oid collation);

/*
 * The num_items present elements of an array, which gets loaded and must stay
 * so.  False, and nothing to close, if they have no such strings: the type has
 * none, or not under this collation, or not for one of these elements.
 */
extern bool byte_source_open(byte_source *bytes, array_source *source, const element_type *type,
							 Oid collation, int64 num_items);

/*
 * The same for the next num_items elements of a walk over an array whose elements
 * have such strings as far as type and collation go; num_bytes is what they take,
 * which counts where strings are made.
 */
extern bool byte_source_open_some(byte_source *bytes, byte_walk *walk, int64 num_items, Size num_bytes);

/* Values that do not lie in one array. */
typedef struct byte_cells
{
	const char *cells;			/* one behind the other */
	uint32		width;			/* of a cell, in bytes */
	bool		variable;		/* a cell points to a value, which has a 4-byte length before it */
	uint32		size;			/* else: of the value that it begins with */
} byte_cells;

/*
 * The same for num_items of those, whose strings are copied if they need not be
 * made; expected_bytes is about what all of them take.  False also where strings
 * may be more than 4 GB.
 */
extern bool byte_source_copy(byte_source *bytes, const byte_cells *cells, const element_type *type,
							 Oid collation, int64 num_items, Size expected_bytes);

extern void byte_source_close(byte_source *bytes);

#endif							/* MGPU_BYTE_SOURCE_H */

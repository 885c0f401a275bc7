/*
 * element_codes.h
 *		Elements of an array by references of four bytes: their codes, their strings,
 *		their positions.
 */
#ifndef MGPU_ELEMENT_CODES_H
#define MGPU_ELEMENT_CODES_H

#include "core/gather.h"

#include "byte_source.h"

/* Positions whose references are noted. */
#define ELEMENT_STEP 64

/* Room for a string that is made, on a thread's stack too: no number needs more. */
#define ELEMENT_MOST_ROOM_BYTES (128 * 1024)

/* Bit strings that need more are looked at through windows. */
#define ELEMENT_MOST_WHOLE_BYTES (4 * 1024)

/* Of ELEMENT_LINE_REFS references on which some elements begin: how many do before, and a bit for each of them. */
typedef struct element_line
{
	uint32		before;
	uint32		begins[3];
} element_line;

#define ELEMENT_LINE_REFS 96

/*
 * Elements that are there, in their order.  A reference is an element's position
 * where all take the same room, else where it begins, over MGPU_REF_BYTES;
 * references ascend as positions do.  Memory is palloc'd, but for data.
 */
typedef struct element_codes
{
	const element_type *type;
	const char *data;
	Size		data_bytes;
	int64		num_items;
	bool		by_keys;		/* codes are keys, which say everything; else they are of strings */
	byte_strings strings;
	Size		room_bytes;		/* for a string that is made; 0: strings are elements' own bytes */
	bool		in_windows;		/* it never is: of bit strings no more than a code's bytes are made at a time */

	/* where elements vary in their widths; else NULL */
	uint32	   *begins;			/* references of each ELEMENT_STEP'th */
	element_line *lines;		/* NULL too: references do not become positions */
} element_codes;

/* Some present elements of an array, from one to another: bytes from the first element's start. */
typedef struct element_range
{
	Size		begin;
	Size		end;
	int64		num_items;
} element_range;

/*
 * Elements of a loaded array.  False, and nothing to close: some are not as arrays
 * have them, or strings cannot be made in memory as small as it must be.
 */
extern bool element_codes_open(element_codes *codes, const array_source *source, const element_type *type,
							   bool by_keys, const element_range *range);

/*
 * The same of all, with no more than a byte for each 16 of them: element_position returns the
 * reference, until add_lines notes what makes a position of it, which takes line_bytes.
 */
extern bool element_codes_open_bare(element_codes *codes, const array_source *source, const element_type *type,
									bool by_keys);
extern void element_codes_add_lines(element_codes *codes);
extern Size element_codes_line_bytes(const element_codes *codes);
extern void element_codes_close(element_codes *codes);

/* What an open one has taken. */
extern Size element_codes_bytes(const element_codes *codes);

/* All of the rest is allowed in threads. */

/* References of num_refs elements from position begin on. */
extern void element_codes_refs(const element_codes *codes, int64 begin, uint32 num_refs, uint32 *refs);

/* The code of what comes behind the first offset bytes of a string; 0 for a key is fine too. */
static inline uint64
element_string_code(const element_codes *codes, byte_string string, const char *room, uint32 offset)
{
	const char *end = room ? room + codes->room_bytes : codes->data + codes->data_bytes;
	mgpu_byte_keys keys = {string.bytes, end, NULL, codes->strings.counted, false};

	return mgpu_byte_code(&keys, (mgpu_span) {0, string.size}, offset);
}

static inline const char *
element_at(const element_codes *codes, uint32 ref)
{
	return codes->data + (Size) ref * (codes->begins ? MGPU_REF_BYTES : codes->type->stride);
}

/* The key of an element, as an unsigned number.  False: it has none. */
static inline bool
element_key(const element_codes *codes, uint32 ref, uint64 *code)
{
	int64		key = 0;
	bool		fits = codes->type->encode(element_at(codes, ref), &key);

	*code = (uint64) key ^ (UINT64CONST(1) << 63);
	return fits;
}

static inline const char *
element_value(const element_codes *codes, uint32 ref)
{
	const char *element = element_at(codes, ref);

	return codes->begins ? VARDATA(element) : element;
}

/* Not in windows.  room: room_bytes, or NULL.  What is made is empty only where the element is not as it should be. */
static inline byte_string
element_string(const element_codes *codes, uint32 ref, char *room)
{
	const char *element = element_at(codes, ref);
	const char *value = element_value(codes, ref);
	uint32		size = codes->begins ? VARSIZE(element) - VARHDRSZ : (uint32) codes->type->typlen;

	if (codes->strings.encode)
		return (byte_string) {room, codes->strings.encode(value, size, (unsigned char *) room)};
	return (byte_string) {value, byte_string_size(codes->strings.form, value, size)};
}

/*
 * The code of what comes behind the first offset bytes of an element's string, and
 * that string, of which in windows no more is there than whether it is empty.  room: as
 * above, but a code's bytes will do in windows.
 */
static inline uint64
element_code_behind(const element_codes *codes, uint32 ref, uint32 offset, char *room, byte_string *string)
{
	mgpu_byte_keys window = {0};
	const char *element;
	uint32		made;

	if (!codes->in_windows)
	{
		*string = element_string(codes, ref, room);
		return element_string_code(codes, *string, room, offset);
	}
	element = element_at(codes, ref);
	made = byte_encode_bits_part(VARDATA(element), VARSIZE(element) - VARHDRSZ, offset, MGPU_CODE_BYTES, (unsigned char *) room);
	*string = (byte_string) {room, offset + made};
	window.data = room;
	window.data_end = room + MGPU_CODE_BYTES;
	return mgpu_byte_code(&window, (mgpu_span) {0, made}, 0);
}

/* What an element takes, in references, where elements are aligned as int. */
static inline uint32
element_refs(const char *element)
{
	return INTALIGN(VARSIZE(element)) / MGPU_REF_BYTES;
}

/* The same as its type is aligned. */
static inline uint32
element_codes_step(const element_codes *codes, const char *element)
{
	if (codes->type->typalign == TYPALIGN_DOUBLE)
		return DOUBLEALIGN(VARSIZE(element)) / MGPU_REF_BYTES;
	return element_refs(element);
}

static inline uint32
element_bits(uint64 word)
{
	word -= word >> 1 & UINT64CONST(0x5555555555555555);
	word = (word & UINT64CONST(0x3333333333333333)) + (word >> 2 & UINT64CONST(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	return word * UINT64CONST(0x0101010101010101) >> 56;
}

/* Which element it is. */
static inline uint32
element_position(const element_codes *codes, uint32 ref)
{
	const element_line *line;
	uint32		place = ref % ELEMENT_LINE_REFS;
	uint64		low;
	uint64		high;

	if (codes->lines == NULL)
		return ref;
	line = &codes->lines[ref / ELEMENT_LINE_REFS];
	low = (uint64) line->begins[1] << 32 | line->begins[0];
	high = line->begins[2];
	if (place < 64)
	{
		low &= (UINT64CONST(1) << place) - 1;
		high = 0;
	}
	else
		high &= (UINT64CONST(1) << (place - 64)) - 1;
	return line->before + element_bits(low) + element_bits(high);
}

#endif							/* MGPU_ELEMENT_CODES_H */

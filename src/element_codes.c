/*
 * element_codes.c
 *		Elements of an array by references of four bytes: their codes, their strings,
 *		their positions.
 *
 * Elements of variable width are found by walking all of them once.  The walk notes
 * a bit for each place where one begins, with how many are before some of them, by
 * which references become positions again, and the reference of each
 * ELEMENT_STEP'th, from where threads can list more.
 *
 * Rejected: positions in place of references, with every eighth element's offset:
 * the way from there to the element misses the cache once for each line between.
 * Counting elements from where the element's own line begins waits for them, and
 * nobody foresees how many there are.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array_result.h"
#include "element_codes.h"

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

Size
element_codes_line_bytes(const element_codes *codes)
{
	return (codes->data_bytes / MGPU_REF_BYTES / ELEMENT_LINE_REFS + 1) * sizeof(element_line);
}

static void
start_notes(element_codes *codes, bool with_lines)
{
	if (with_lines)
		codes->lines = array_result_scratch(element_codes_line_bytes(codes));
	codes->begins = array_result_scratch((codes->num_items / ELEMENT_STEP + 1) * sizeof(uint32));
}

/* Notes what is where.  False: some element is not as arrays have them. */
static bool
find_elements(element_codes *codes, uint32 *longest)
{
	element_line none;
	element_line *line = codes->lines ? codes->lines : &none;
	uint32		line_begin = 0;
	Size		offset = 0;

	*line = (element_line) {0, {0}};
	for (int64 i = 0; i < codes->num_items; i++)
	{
		const char *element = codes->data + offset;
		uint32		ref = offset / MGPU_REF_BYTES;

		if (offset + VARHDRSZ > codes->data_bytes || !VARATT_IS_4B_U(element) ||
			VARSIZE(element) < VARHDRSZ || VARSIZE(element) > codes->data_bytes - offset)
			return false;
		*longest = Max(*longest, VARSIZE(element));
		if (ref - line_begin >= ELEMENT_LINE_REFS)
		{
			for (; ref - line_begin >= ELEMENT_LINE_REFS; line_begin += ELEMENT_LINE_REFS)
			{
				line += codes->lines != NULL;
				*line = (element_line) {i, {0}};
			}
		}
		line->begins[(ref - line_begin) / 32] |= UINT32_C(1) << (ref - line_begin) % 32;
		if (i % ELEMENT_STEP == 0)
			codes->begins[i / ELEMENT_STEP] = ref;
		offset += (Size) element_codes_step(codes, element) * MGPU_REF_BYTES;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return offset <= codes->data_bytes;
}

static bool
open_elements(element_codes *codes, const array_source *source, const element_type *type,
			  bool by_keys, const element_range *range, bool with_lines)
{
	uint32		longest = type->typlen > 0 ? type->typlen : 0;

	memset(codes, 0, sizeof(*codes));
	codes->type = type;
	codes->data = array_source_data(source) + range->begin;
	codes->data_bytes = range->end - range->begin;
	codes->num_items = range->num_items;
	codes->by_keys = by_keys;
	byte_strings_init(&codes->strings, type);
	if (type->stride > 0)
		array_source_require(source, range->begin + (Size) (range->num_items - 1) * type->stride + type->typlen);
	else
	{
		start_notes(codes, with_lines);
		if (!find_elements(codes, &longest))
		{
			element_codes_close(codes);
			return false;
		}
	}
	if (!by_keys && codes->strings.encode)
		codes->room_bytes = BYTE_ENCODE_ROOM((Size) INTALIGN(longest));
	codes->in_windows = codes->strings.form == BYTE_FORM_BITS && codes->room_bytes > ELEMENT_MOST_WHOLE_BYTES;
	if (codes->in_windows || codes->room_bytes <= ELEMENT_MOST_ROOM_BYTES)
		return true;
	element_codes_close(codes);
	return false;
}

bool
element_codes_open(element_codes *codes, const array_source *source, const element_type *type,
				   bool by_keys, const element_range *range)
{
	return open_elements(codes, source, type, by_keys, range, true);
}

bool
element_codes_open_bare(element_codes *codes, const array_source *source, const element_type *type, bool by_keys)
{
	element_range all = {0, source->data_bytes, source->num_items - source->num_nulls};

	return open_elements(codes, source, type, by_keys, &all, false);
}

void
element_codes_add_lines(element_codes *codes)
{
	uint32		longest = 0;

	Assert(codes->begins && codes->lines == NULL);
	codes->lines = array_result_scratch(element_codes_line_bytes(codes));
	if (!find_elements(codes, &longest))
		elog(ERROR, "array elements are not as they were found");
}

void
element_codes_close(element_codes *codes)
{
	if (codes->begins == NULL)
		return;
	pfree(codes->begins);
	if (codes->lines)
		pfree(codes->lines);
	codes->begins = NULL;
	codes->lines = NULL;
}

Size
element_codes_bytes(const element_codes *codes)
{
	Size		bytes = codes->num_items / ELEMENT_STEP * sizeof(uint32);

	if (codes->begins == NULL)
		return 0;
	if (codes->lines)
		bytes += element_codes_line_bytes(codes);
	return bytes;
}

/* Those of a word of a line's bits, from refs on; where they end, or at end. */
static inline uint32 *
list_bits(uint64 bits, uint32 begin, uint32 *refs, const uint32 *end)
{
	while (bits != 0 && refs < end)
	{
		*refs++ = begin + __builtin_ctzll(bits);
		bits &= bits - 1;
	}
	return refs;
}

/* References of elements from the one that begins at ref on. */
static void
list_refs(const element_codes *codes, uint32 ref, uint32 num_refs, uint32 *refs)
{
	const uint32 *end = refs + num_refs;
	uint32		least = ref % ELEMENT_LINE_REFS;
	uint32		begin = ref - least;

	for (const element_line *line = &codes->lines[ref / ELEMENT_LINE_REFS]; refs < end; line++)
	{
		uint64		low = (uint64) line->begins[1] << 32 | line->begins[0];
		uint64		high = line->begins[2];

		if (least > 0)
		{
			high &= ~UINT64CONST(0) << (least > 64 ? least - 64 : 0);
			low = least < 64 ? low & ~UINT64CONST(0) << least : 0;
			least = 0;
		}
		refs = list_bits(low, begin, refs, end);
		refs = list_bits(high, begin + 64, refs, end);
		begin += ELEMENT_LINE_REFS;
	}
}

/* The same, by what the elements say: skipped of them are not wanted. */
static void
walk_refs(const element_codes *codes, uint32 ref, uint32 skipped, uint32 num_refs, uint32 *refs)
{
	for (; skipped > 0; skipped--)
		ref += element_codes_step(codes, element_at(codes, ref));
	for (uint32 i = 0; i < num_refs; i++)
	{
		refs[i] = ref;
		/* nothing is behind the last one */
		if (i + 1 < num_refs)
			ref += element_codes_step(codes, element_at(codes, ref));
	}
}

void
element_codes_refs(const element_codes *codes, int64 begin, uint32 num_refs, uint32 *refs)
{
	uint32		skipped = begin % ELEMENT_STEP;
	uint32		before[ELEMENT_STEP];
	uint32		ref;

	if (codes->begins == NULL)
	{
		for (uint32 i = 0; i < num_refs; i++)
			refs[i] = begin + i;
		return;
	}
	ref = codes->begins[begin / ELEMENT_STEP];
	if (codes->lines == NULL)
	{
		walk_refs(codes, ref, skipped, num_refs, refs);
		return;
	}
	if (skipped > 0)
	{
		list_refs(codes, ref, skipped, before);
		ref = before[skipped - 1] + element_codes_step(codes, element_at(codes, before[skipped - 1]));
	}
	list_refs(codes, ref, num_refs, refs);
}

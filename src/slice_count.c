/*
 * slice_count.c
 *		Sorts very narrow slices of a multi-dimensional array by counting them.
 *
 * A slice of up to two bytes of numbers, or of two elements of a byte that may be
 * NULL, has one of some 66,000 values.  They are numbered in their order, each is
 * counted, and the result is written from the counts alone: a counting sort, after
 * which equal slices are the same to the byte, so that nothing need be stable.
 *
 * Slices of three bytes are counted by their first two.  Their third ones go to the
 * last third of the result, to the places of their slices in the order of what was
 * counted, and each stretch of them is counted when its turn comes.  What is written
 * never gets to what is still to be read: slice i begins at 3i, and the third byte
 * of the next one is at 2n + i + 1.
 *
 * Rejected: three bytes counted at once, whose counts are 64 MB and miss the caches;
 * slices as keys of four bytes, which take more than the slices do.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array_result.h"
#include "compat.h"
#include "null_map.h"
#include "slice_count.h"

/* Fewer are compared as fast as so many values are counted; slices of three bytes, of which there are more. */
#define LEAST_SLICES (16 * 1024)
#define LEAST_LONG_SLICES (64 * 1024)

/* Bytes of a slice, as numbers, which one code stands for; a third one is a tail. */
#define CODED_BYTES 2

#define BYTE_VALUES 256

/* Slices handled between looks at interrupts. */
#define STEP_ITEMS (1024 * 1024)

typedef struct slice_counts
{
	const char *data;
	const bits8 *bitmap;		/* NULL: no element is */
	int64		num_slices;
	int			slice_items;
	int			coded_items;	/* of them; the others are a tail */
	int			width;			/* bytes of an element */
	uint32		sign;			/* bit that makes elements unsigned */
	uint32		null_code;		/* above all others */
	uint32		num_codes;
	uint32	   *counts;			/* of each code; then where its next tail goes */
	bool		descending;

	/* the result */
	char	   *out;
	bits8	   *out_bitmap;
	int64		num_written;
	uint8	   *tails;			/* codes of elements; NULL: slices have none */
} slice_counts;

bool
slices_are_counted(const array_source *source, const element_type *type)
{
	int64		num_slices = source->dims[0];
	int64		slice_bytes = source->num_items / num_slices * type->key_width;

	if (type->key_kind == 0 || num_slices < LEAST_SLICES)
		return false;
	return slice_bytes <= CODED_BYTES ||
		(slice_bytes == CODED_BYTES + 1 && source->num_nulls == 0 && num_slices >= LEAST_LONG_SLICES);
}

/* ---- counting */

/* A way through all elements. */
typedef struct element_walk
{
	const char *next;			/* that is not NULL */
	int64		item;
} element_walk;

static inline uint32
element_code(const slice_counts *counts, element_walk *walk)
{
	uint8		narrow;
	uint16		wide;

	if (!null_bitmap_present(counts->bitmap, walk->item++))
		return counts->null_code;
	if (counts->width == sizeof(narrow))
	{
		memcpy(&narrow, walk->next, sizeof(narrow));
		walk->next += sizeof(narrow);
		return narrow ^ counts->sign;
	}
	memcpy(&wide, walk->next, sizeof(wide));
	walk->next += sizeof(wide);
	return wide ^ counts->sign;
}

/* Of the walk's next slice, but for its tail. */
static inline uint32
slice_code(const slice_counts *counts, element_walk *walk)
{
	uint32		code = element_code(counts, walk);

	return counts->coded_items == 1 ? code : code * (counts->null_code + 1) + element_code(counts, walk);
}

static void
start(slice_counts *counts, const array_source *source, const element_type *type, bool descending, ArrayType *result)
{
	memset(counts, 0, sizeof(*counts));
	counts->data = array_source_data(source);
	counts->bitmap = source->num_nulls > 0 ? source->null_bitmap : NULL;
	counts->num_slices = source->dims[0];
	counts->slice_items = source->num_items / counts->num_slices;
	counts->width = type->key_width;
	counts->coded_items = Min(counts->slice_items, CODED_BYTES / counts->width);
	counts->sign = type->key_kind == MGPU_KEY_SIGNED ? UINT32_C(1) << (BITS_PER_BYTE * counts->width - 1) : 0;
	counts->null_code = UINT32_C(1) << (BITS_PER_BYTE * counts->width);
	counts->num_codes = counts->null_code + 1;
	if (counts->coded_items == 2)
		counts->num_codes *= counts->num_codes;
	counts->descending = descending;
	counts->out = ARR_DATA_PTR(result);
	counts->out_bitmap = ARR_NULLBITMAP(result);
	if (counts->slice_items > counts->coded_items)
		counts->tails = (uint8 *) counts->out + CODED_BYTES * counts->num_slices;
}

static void
count_slices(const slice_counts *counts)
{
	element_walk walk = {counts->data, 0};

	for (int64 i = 0; i < counts->num_slices; i++)
	{
		counts->counts[slice_code(counts, &walk)]++;
		if (counts->tails)
			(void) element_code(counts, &walk);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* The i-th code in the order that is asked for. */
static inline uint32
ordered_code(const slice_counts *counts, uint32 i)
{
	return counts->descending ? counts->num_codes - 1 - i : i;
}

/* Counts become where tails of a code go; in the end that is where they end. */
static void
place_tails(const slice_counts *counts)
{
	element_walk walk = {counts->data, 0};
	uint32		begin = 0;

	for (uint32 i = 0; i < counts->num_codes; i++)
	{
		uint32	   *count = &counts->counts[ordered_code(counts, i)];
		uint32		num_slices = *count;

		*count = begin;
		begin += num_slices;
	}
	for (int64 i = 0; i < counts->num_slices; i++)
	{
		uint32	   *place = &counts->counts[slice_code(counts, &walk)];

		counts->tails[(*place)++] = element_code(counts, &walk);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* ---- the result */

/* In the null bitmap, of the next slices, in each of which these elements are there. */
static void
mark_present(slice_counts *counts, const bool *present, int64 num_slices)
{
	int			slice_items = counts->slice_items;
	int64		item = counts->num_written * slice_items;

	if (present[0] && present[slice_items - 1])
		array_bitmap_copy(counts->out_bitmap, item, NULL, 0, num_slices * slice_items);
	else if (present[0] || present[slice_items - 1])
		for (int64 i = present[0] ? item : item + 1; i < item + num_slices * slice_items; i += slice_items)
			counts->out_bitmap[i / BITS_PER_BYTE] |= 1 << (i % BITS_PER_BYTE);
}

/* What all slices of a code have in common: their bytes, and which elements are there. */
static int
code_bytes(const slice_counts *counts, uint32 code, char *bytes, bool *present)
{
	uint32		elements[CODED_BYTES] = {code, 0};
	int			num_bytes = 0;

	if (counts->coded_items == 2)
	{
		elements[0] = code / (counts->null_code + 1);
		elements[1] = code % (counts->null_code + 1);
	}
	for (int i = 0; i < counts->coded_items; i++)
	{
		uint16		element = elements[i] ^ counts->sign;
		uint8		narrow = element;

		present[i] = elements[i] != counts->null_code;
		if (present[i])
			memcpy(bytes + num_bytes, counts->width == 1 ? (void *) &narrow : (void *) &element, counts->width);
		num_bytes += present[i] ? counts->width : 0;
	}
	return num_bytes;
}

static void
write_same(slice_counts *counts, uint32 code, int64 num_slices)
{
	char		bytes[CODED_BYTES];
	bool		present[CODED_BYTES];
	int			num_bytes = code_bytes(counts, code, bytes, present);

	for (int64 left = num_slices, step; left > 0; left -= step)
	{
		step = Min(left, STEP_ITEMS);
		if (num_bytes == 1)
			memset(counts->out, bytes[0], step);
		else if (num_bytes == CODED_BYTES)
			for (int64 i = 0; i < step; i++)
				memcpy(counts->out + CODED_BYTES * i, bytes, CODED_BYTES);
		counts->out += num_bytes * step;
		if (counts->bitmap)
			mark_present(counts, present, step);
		counts->num_written += step;
		CHECK_FOR_INTERRUPTS();
	}
}

static void
write_triples(slice_counts *counts, const char *bytes, int64 num_slices)
{
	for (int64 i = 0; i < num_slices; i++, counts->out += CODED_BYTES + 1)
	{
		memcpy(counts->out, bytes, CODED_BYTES + 1);
		if (i % STEP_ITEMS == STEP_ITEMS - 1)
			CHECK_FOR_INTERRUPTS();
	}
}

/* The same of slices that have tails, by these: those from num_written on. */
static void
write_by_tails(slice_counts *counts, uint32 code, int64 num_slices)
{
	const uint8 *tails = counts->tails + counts->num_written;
	uint32		tail_counts[BYTE_VALUES] = {0};
	char		bytes[CODED_BYTES + 1];
	bool		present[CODED_BYTES];

	(void) code_bytes(counts, code, bytes, present);
	for (int64 i = 0; i < num_slices; i++)
	{
		tail_counts[tails[i]]++;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	for (uint32 i = 0; i < BYTE_VALUES; i++)
	{
		uint32		tail = counts->descending ? BYTE_VALUES - 1 - i : i;

		bytes[CODED_BYTES] = tail ^ counts->sign;
		write_triples(counts, bytes, tail_counts[tail]);
	}
	counts->num_written += num_slices;
}

static void
write_slices(slice_counts *counts)
{
	for (uint32 i = 0; i < counts->num_codes; i++)
	{
		uint32		code = ordered_code(counts, i);
		uint32		count = counts->counts[code];

		if (counts->tails && count > counts->num_written)
			write_by_tails(counts, code, count - counts->num_written);
		else if (counts->tails == NULL && count > 0)
			write_same(counts, code, count);
	}
}

void
slices_count(const array_source *source, const element_type *type, bool descending, ArrayType *result)
{
	slice_counts counts;

	start(&counts, source, type, descending, result);
	counts.counts = palloc0(counts.num_codes * sizeof(uint32));
	count_slices(&counts);
	if (counts.tails)
		place_tails(&counts);
	write_slices(&counts);
	pfree(counts.counts);
}

/*
 * slices.c
 *		Sorts the slices of a multi-dimensional array, which are compared as arrays.
 *
 * All slices of an array have the same dimensions, so the first elements that differ decide.
 * NULL is above all others.  Slices of numbers that take up to eight bytes are sorted as one
 * number each.  Other slices are compared in place.  Only the numbers of slices are sorted, and
 * the result is written once.
 *
 * Two alternatives were rejected.  Slices as arrays of their own, for the comparison of arrays,
 * take 40 bytes each beside their elements.  The server's builder of arrays of arrays doubles its
 * memory as it grows and copies it at the end.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "core/key_codec.h"

#include "compat.h"
#include "array/element_type.h"
#include "array/null_map.h"
#include "array/array_result.h"
#include "order/slices.h"
#include "order/order.h"
#include "run/record.h"

/* Elements or slices handled between checks for interrupts. */
#define STEP_ITEMS (64 * 1024)

/* How many slices ahead to prefetch. */
#define SLICES_AHEAD 16

typedef struct slice_sort
{
	const array_source *source;
	element_type type;
	const char *data;
	const uint8 *bitmap;		/* NULL: no NULL elements */
	int64		num_slices;
	int64		slice_items;
	Size		slice_bytes;	/* 0: sizes vary */
	uint32	   *offsets;		/* if sizes vary: where each begins and the last one ends */
	Size		data_bytes;		/* of all slices */
	bool		descending;
	SortSupportData support;
} slice_sort;

/* ---- where slices lie */

/* An iterator over elements, from the start of a slice. */
typedef struct slice_walk
{
	int64		item;
	const char *next;			/* the next element that is not NULL */
} slice_walk;

static inline const char *
slice_begin(const slice_sort *sort, int64 slice)
{
	return sort->data + (sort->offsets ? sort->offsets[slice] : slice * sort->slice_bytes);
}

static inline slice_walk
walk_from(const slice_sort *sort, int64 slice)
{
	return (slice_walk) {slice * sort->slice_items, slice_begin(sort, slice)};
}

/* The next element, or a NULL pointer if it is NULL. */
static inline const char *
next_element(const slice_sort *sort, slice_walk *walk)
{
	const element_type *type = &sort->type;
	const char *element = walk->next;

	if (!null_bitmap_present(sort->bitmap, walk->item++))
		return NULL;
	if (type->stride > 0)
		walk->next += type->stride;
	else
		walk->next += att_align_nominal(att_addlength_pointer(0, type->typlen, element), type->typalign);
	return element;
}

/* Find where each slice begins, in one walk over all elements. */
static void
find_offsets(slice_sort *sort)
{
	slice_walk	walk = {0, sort->data};

	sort->offsets = array_result_scratch((sort->num_slices + 1) * sizeof(uint32));
	sort->offsets[0] = 0;
	for (int64 i = 0; i < sort->num_slices; i++)
	{
		for (int64 j = 0; j < sort->slice_items; j++)
		{
			if (null_bitmap_present(sort->bitmap, walk.item))
				array_source_require(sort->source, walk.next - sort->data + 1);
			(void) next_element(sort, &walk);
			if (walk.item % STEP_ITEMS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		array_source_require(sort->source, walk.next - sort->data);
		sort->offsets[i + 1] = walk.next - sort->data;
	}
	sort->data_bytes = walk.next - sort->data;
}

static void
start(slice_sort *sort, const sort_spec *spec, array_source *source)
{
	memset(sort, 0, sizeof(*sort));
	element_type_fill(&sort->type, source->element_type);
	element_type_check_sortable(&sort->type);
	array_source_load(source);
	sort->source = source;
	sort->data = array_source_data(source);
	sort->bitmap = source->num_nulls > 0 ? source->null_bitmap : NULL;
	sort->num_slices = source->dims[0];
	sort->slice_items = source->num_items / sort->num_slices;
	if (sort->type.stride == 0 || sort->bitmap)
		find_offsets(sort);
	else
	{
		sort->slice_bytes = (Size) sort->slice_items * sort->type.stride;
		sort->data_bytes = (Size) source->num_items * sort->type.stride;
		array_source_require(source, sort->data_bytes);
	}
	sort->descending = spec->order.descending;
}

/* ---- order */

static inline Datum
value_of(const slice_sort *sort, const char *element)
{
	return fetch_att(element, sort->type.typbyval, sort->type.typlen);
}

/* Ascending or descending as sort says.  Equal slices order by their numbers, which makes the sort stable. */
static int
compare_slices(const uint32 *a, const uint32 *b, slice_sort *sort)
{
	slice_walk	a_walk = walk_from(sort, *a);
	slice_walk	b_walk = walk_from(sort, *b);
	int			order = 0;

	for (int64 i = 0; order == 0 && i < sort->slice_items; i++)
	{
		const char *x = next_element(sort, &a_walk);
		const char *y = next_element(sort, &b_walk);

		if (x && y)
			order = sort->support.comparator(value_of(sort, x), value_of(sort, y), &sort->support);
		else
			order = (x == NULL) - (y == NULL);
		if (i % STEP_ITEMS == STEP_ITEMS - 1)
			CHECK_FOR_INTERRUPTS();
	}
	if (sort->descending)
		INVERT_COMPARE_RESULT(order);
	if (order == 0)
		order = *a < *b ? -1 : 1;
	return order;
}

#define ST_SORT sort_numbers
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, sort) compare_slices(a, b, sort)
#define ST_COMPARE_ARG_TYPE slice_sort
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* An element's code: an unsigned number that orders ascending as the element does. */
static inline uint64
slice_code(const slice_sort *sort, const char *element)
{
	uint64		bits = 0;

	switch (sort->type.key_width)
	{
		case 1:
			bits = *(const uint8 *) element;
			break;
		case 2:
			bits = *(const uint16 *) element;
			break;
		case 4:
			bits = *(const uint32 *) element;
			break;
		default:
			memcpy(&bits, element, sizeof(bits));
			return mgpu_encode_64(bits, sort->type.key_kind);
	}
	return mgpu_encode_32(bits, sort->type.key_kind, sort->type.key_width);
}

/* Whether the codes of a slice fit one number, which then orders as the slice does. */
static bool
have_words(const slice_sort *sort)
{
	return sort->type.key_kind != 0 && sort->slice_bytes > 0 && sort->slice_bytes <= sizeof(uint64);
}

static void
order_as_words(slice_sort *sort, const sort_spec *spec, uint32 *numbers)
{
	uint32		width = sort->type.key_width;
	uint64	   *words = array_result_scratch(sort->num_slices * sizeof(uint64));
	const char *element = sort->data;
	word_sort	codes = {
		.spec = spec,
		.num_items = sort->num_slices,
		.words = words,
		.kind = MGPU_KEY_UNSIGNED,
		.width = sizeof(uint64),
		.ranks = numbers
	};

	for (int64 i = 0; i < sort->num_slices; i++)
	{
		words[i] = 0;
		for (int64 j = 0; j < sort->slice_items; j++, element += width)
			words[i] = (width == 8 ? 0 : words[i] << 8 * width) | slice_code(sort, element);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	(void) order_words(&codes);
	pfree(words);
}

static void
order_by_comparison(slice_sort *sort, const sort_spec *spec, uint32 *numbers)
{
	sort->support.ssup_cxt = CurrentMemoryContext;
	sort->support.ssup_collation = spec->collation;
	PrepareSortSupportFromOrderingOp(sort->type.lt_operator, &sort->support);
	for (int64 i = 0; i < sort->num_slices; i++)
		numbers[i] = (uint32) i;
	sort_numbers(numbers, sort->num_slices, sort);
	run_record_cpu(spec->record, spec->function, "compare", sort->num_slices, sort->source->data_bytes,
				   "the CPU compares slices of a multi-dimensional array");
}

/* ---- the result */

/* An array of the source's shape.  The caller fills in the data. */
static ArrayType *
start_result(const slice_sort *sort)
{
	const array_source *source = sort->source;
	Size		overhead = sort->bitmap ? ARR_OVERHEAD_WITHNULLS(source->ndim, source->num_items) :
		ARR_OVERHEAD_NONULLS(source->ndim);
	ArrayType  *result = array_result_scratch(overhead + sort->data_bytes);

	memset(result, 0, overhead);
	SET_VARSIZE(result, overhead + sort->data_bytes);
	result->ndim = source->ndim;
	result->dataoffset = sort->bitmap ? overhead : 0;
	result->elemtype = source->element_type;
	memcpy(ARR_DIMS(result), source->dims, source->ndim * sizeof(int));
	memcpy(ARR_LBOUND(result), source->lower_bounds, source->ndim * sizeof(int));
	return result;
}

static void
write_slices(const slice_sort *sort, ArrayType *result, const uint32 *numbers)
{
	char	   *dest = ARR_DATA_PTR(result);

	for (int64 i = 0; i < sort->num_slices; i++)
	{
		int64		slice = numbers[i];
		const char *begin = slice_begin(sort, slice);
		Size		bytes = sort->offsets ? sort->offsets[slice + 1] - sort->offsets[slice] : sort->slice_bytes;

		if (i + SLICES_AHEAD < sort->num_slices)
			__builtin_prefetch(slice_begin(sort, numbers[i + SLICES_AHEAD]));
		memcpy(dest, begin, bytes);
		dest += bytes;
		if (sort->bitmap)
			array_bitmap_copy(ARR_NULLBITMAP(result), i * sort->slice_items,
							  sort->bitmap, slice * sort->slice_items, sort->slice_items);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

ArrayType *
slices_sorted(const sort_spec *spec, array_source *source)
{
	run_record	record;
	sort_spec	recorded = *spec;
	slice_sort	sort;
	uint32	   *numbers;
	ArrayType  *result;

	recorded.record = &record;
	start(&sort, spec, source);
	numbers = array_result_scratch(sort.num_slices * sizeof(uint32));
	if (have_words(&sort))
		order_as_words(&sort, &recorded, numbers);
	else
		order_by_comparison(&sort, &recorded, numbers);
	run_report(&record);
	result = start_result(&sort);
	write_slices(&sort, result, numbers);
	pfree(numbers);
	if (sort.offsets)
		pfree(sort.offsets);
	return result;
}

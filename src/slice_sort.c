/*
 * slice_sort.c
 *		Sorts the slices of a multi-dimensional array, which are compared as arrays.
 *
 * Slices of one array have the same dimensions, so that the order of arrays is that
 * of their first elements that differ, NULL above all others.  They are compared
 * where they lie, and the result holds their numbers at its end until they are
 * written over these, front to back (array_gather.h has the same for elements).
 * Where slices begin follows from their numbers, or is noted where elements vary in
 * their widths or are NULL: of every slice or, where these are very many, of some
 * before which others are walked over.
 *
 * Rejected: slices as arrays of their own for the comparison of arrays, which take
 * 40 bytes each beside their elements, and the server's builder of arrays of arrays,
 * which doubles its room as it grows and is copied in the end.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "array_result.h"
#include "compat.h"
#include "null_map.h"
#include "run.h"
#include "slice_sort.h"

/* What notes of where slices begin may take. */
#define OFFSETS_BYTES (40 * 1024 * 1024)

/* Elements handled between looks at interrupts, or slices. */
#define STEP_ITEMS (64 * 1024)

/* How many slices ahead to fetch. */
#define SLICES_AHEAD 16

/* From this size on room that was for numbers is given back. */
#define TRIM_MIN_BYTES (1024 * 1024)

typedef struct slice_sort
{
	array_source *source;
	element_type type;
	const char *data;
	const bits8 *bitmap;		/* NULL: no element is */
	int64		num_slices;
	int64		slice_items;
	Size		slice_bytes;	/* 0: they vary, */
	uint32	   *offsets;		/* and this is where every step'th begins */
	int64		step;
	Size		data_bytes;		/* of all */
	Size		shortfall;		/* what slices have less than numbers take */
	bool		descending;
	SortSupportData support;
} slice_sort;

/* A way through elements from some slice on. */
typedef struct slice_walk
{
	const slice_sort *sort;
	int64		item;
	const char *next;			/* the element, or the next one that is not NULL */
} slice_walk;

/* The next element, NULL if it is. */
static inline const char *
next_element(slice_walk *walk)
{
	const slice_sort *sort = walk->sort;
	const char *element = walk->next;

	if (!null_bitmap_present(sort->bitmap, walk->item++))
		return NULL;
	if (sort->type.stride > 0)
		walk->next += sort->type.stride;
	else
		walk->next += att_align_nominal(att_addlength_pointer(0, sort->type.typlen, element), sort->type.typalign);
	return element;
}

static inline slice_walk
walk_from(const slice_sort *sort, int64 slice)
{
	slice_walk	walk = {sort, slice * sort->slice_items, sort->data + slice * sort->slice_bytes};

	if (sort->slice_bytes > 0)
		return walk;
	walk.item = slice / sort->step * sort->step * sort->slice_items;
	walk.next = sort->data + sort->offsets[slice / sort->step];
	while (walk.item < slice * sort->slice_items)
		(void) next_element(&walk);
	return walk;
}

/* ---- what is where */

/* Slices of widths that vary: all are walked over once. */
static void
note_slices(slice_sort *sort)
{
	slice_walk	walk = {sort, 0, sort->data};

	for (sort->step = 1; (sort->num_slices / sort->step + 1) * sizeof(uint32) > OFFSETS_BYTES;)
		sort->step *= 2;
	sort->offsets = array_result_scratch((sort->num_slices / sort->step + 1) * sizeof(uint32));
	for (int64 i = 0; i < sort->num_slices; i++)
	{
		const char *begin = walk.next;

		if (i % sort->step == 0)
			sort->offsets[i / sort->step] = begin - sort->data;
		for (int64 j = 0; j < sort->slice_items; j++)
		{
			if (null_bitmap_present(sort->bitmap, walk.item))
				array_source_require(sort->source, walk.next - sort->data + 1);
			(void) next_element(&walk);
			if (walk.item % STEP_ITEMS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		array_source_require(sort->source, walk.next - sort->data);
		if (walk.next - begin < (ptrdiff_t) sizeof(uint32))
			sort->shortfall += sizeof(uint32) - (walk.next - begin);
	}
	sort->data_bytes = walk.next - sort->data;
}

static void
open_slices(slice_sort *sort, const sort_spec *spec, array_source *source)
{
	memset(sort, 0, sizeof(*sort));
	sort->source = source;
	element_type_fill(&sort->type, source->element_type);
	element_type_check_sortable(&sort->type);
	sort->descending = spec->order.descending;
	sort->support.ssup_cxt = CurrentMemoryContext;
	sort->support.ssup_collation = spec->collation;
	PrepareSortSupportFromOrderingOp(sort->type.lt_operator, &sort->support);
	array_source_load(source);
	sort->data = array_source_data(source);
	sort->bitmap = source->num_nulls > 0 ? source->null_bitmap : NULL;
	sort->num_slices = source->dims[0];
	sort->slice_items = source->num_items / sort->num_slices;
	if (sort->type.stride == 0 || sort->bitmap)
	{
		note_slices(sort);
		return;
	}
	sort->slice_bytes = (Size) sort->slice_items * sort->type.stride;
	sort->data_bytes = sort->num_slices * sort->slice_bytes;
	array_source_require(source, sort->data_bytes);
	if (sort->slice_bytes < sizeof(uint32))
		sort->shortfall = sort->num_slices * (sizeof(uint32) - sort->slice_bytes);
}

/* ---- order */

static inline Datum
value_of(const slice_sort *sort, const char *element)
{
	return fetch_att(element, sort->type.typbyval, sort->type.typlen);
}

static int
compare_slices(const uint32 *a, const uint32 *b, slice_sort *sort)
{
	slice_walk	a_walk = walk_from(sort, *a);
	slice_walk	b_walk = walk_from(sort, *b);
	int			order = 0;

	for (int64 i = 0; order == 0 && i < sort->slice_items; i++)
	{
		const char *x = next_element(&a_walk);
		const char *y = next_element(&b_walk);

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

/* ---- the result */

/* An array like the source's, its data to be filled in, with room for the slices' numbers at their end. */
static ArrayType *
start_result(const slice_sort *sort, uint32 **numbers)
{
	const array_source *source = sort->source;
	Size		overhead = sort->bitmap ? ARR_OVERHEAD_WITHNULLS(source->ndim, source->num_items) :
		ARR_OVERHEAD_NONULLS(source->ndim);
	Size		room = TYPEALIGN(sizeof(uint32), sort->data_bytes + sort->shortfall);
	ArrayType  *result = array_result_scratch(overhead + room);

	memset(result, 0, overhead);
	SET_VARSIZE(result, overhead + sort->data_bytes);
	result->ndim = source->ndim;
	result->dataoffset = sort->bitmap ? overhead : 0;
	result->elemtype = source->element_type;
	memcpy(ARR_DIMS(result), source->dims, source->ndim * sizeof(int));
	memcpy(ARR_LBOUND(result), source->lower_bounds, source->ndim * sizeof(int));
	*numbers = (uint32 *) (ARR_DATA_PTR(result) + room) - sort->num_slices;
	return result;
}

/* What is left of slices and shortfall is never less than the numbers that are left. */
static void
write_slices(const slice_sort *sort, ArrayType *result, const uint32 *numbers)
{
	char	   *dest = ARR_DATA_PTR(result);

	for (int64 i = 0; i < sort->num_slices; i++)
	{
		int64		slice = numbers[i];
		slice_walk	walk;
		const char *begin;

		if (sort->slice_bytes > 0 && i + SLICES_AHEAD < sort->num_slices)
			__builtin_prefetch(sort->data + numbers[i + SLICES_AHEAD] * sort->slice_bytes);
		walk = walk_from(sort, slice);
		begin = walk.next;
		if (sort->slice_bytes > 0)
			walk.next += sort->slice_bytes;
		else
			for (int64 j = 0; j < sort->slice_items; j++)
				(void) next_element(&walk);
		memcpy(dest, begin, walk.next - begin);
		dest += walk.next - begin;
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
	slice_sort	sort;
	ArrayType  *result;
	uint32	   *numbers;

	open_slices(&sort, spec, source);
	result = start_result(&sort, &numbers);
	for (int64 i = 0; i < sort.num_slices; i++)
		numbers[i] = (uint32) i;
	sort_numbers(numbers, sort.num_slices, &sort);
	write_slices(&sort, result, numbers);
	if (sort.offsets)
		pfree(sort.offsets);
	run_note_cpu(spec->function, "compare", sort.num_slices, source->data_bytes,
				 "slices of a multi-dimensional array are compared, on the CPU");
	if (sort.shortfall >= TRIM_MIN_BYTES)
		result = repalloc(result, VARSIZE(result));
	return result;
}

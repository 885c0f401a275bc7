/*
 * slice_sort.c
 *		Sorts the slices of a multi-dimensional array, which are compared as arrays.
 *
 * Slices of one array have the same dimensions, so that the order of arrays is that
 * of their first elements that differ, NULL above all others.  They are compared
 * where they lie, and the result holds their numbers at its end until they are
 * written over these, front to back (array_gather.h has the same for elements).
 * Where slices begin follows from their numbers, or is noted where elements vary in
 * their widths or are NULL.  Of very many slices that is noted of some, before which
 * others are walked over, or said by how many elements are NULL.
 *
 * Slices of less than four bytes have no room for their numbers there.  Where what
 * they lack is too much, numbers are listed a part of the order at a time: those of
 * slices above the last one written and up to a bound from a sample.  A list that
 * gets full goes on with its lower half, and a lower bound, so that any order is
 * sorted in any room.  Numbers count as ties' last word, so that slices which are
 * mostly equal make parts as well as others do.
 *
 * Rejected: slices as arrays of their own for the comparison of arrays, which take
 * 40 bytes each beside their elements, and the server's builder of arrays of arrays,
 * which doubles its room as it grows and is copied in the end; where each slice
 * belongs kept as a byte, which takes as much as walking over slices again saves.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "array_result.h"
#include "compat.h"
#include "null_map.h"
#include "run.h"
#include "slice_count.h"
#include "slice_sort.h"

/* What may be taken beside the input and the result, and of it by notes of where slices begin. */
#define CALL_BYTES (58 * 1024 * 1024)
#define OFFSETS_BYTES (40 * 1024 * 1024)

/* Slices that bounds of parts are taken from, and how much of its room a part is to fill. */
#define SAMPLE_SLICES (64 * 1024)
#define PLANNED_PERCENT 90

/* Elements handled between looks at interrupts, or slices; and slices that are walked over, however many elements they have. */
#define STEP_ITEMS (64 * 1024)
#define LOOK_SLICES 1024

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
	Size		slice_bytes;	/* 0: they vary */
	uint32	   *offsets;		/* then where every step'th begins; or NULL, */
	null_map	nulls;			/* if they are of elements of one width, or NULL */
	int64		step;
	Size		note_bytes;		/* of either */
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
	if (unlikely(sort->offsets == NULL))
	{
		walk.next = sort->data + (Size) null_map_rank(&sort->nulls, walk.item) * sort->type.stride;
		return walk;
	}
	walk.item = slice / sort->step * sort->step * sort->slice_items;
	walk.next = sort->data + sort->offsets[slice / sort->step];
	while (walk.item < slice * sort->slice_items)
		(void) next_element(&walk);
	return walk;
}

/* ---- what is where */

static void
add_shortfall(slice_sort *sort, Size slice_bytes)
{
	if (slice_bytes < sizeof(uint32))
		sort->shortfall += sizeof(uint32) - slice_bytes;
}

/* All are walked over once. */
static void
note_slices(slice_sort *sort)
{
	slice_walk	walk = {sort, 0, sort->data};

	for (sort->step = 1; (sort->num_slices / sort->step + 1) * sizeof(uint32) > OFFSETS_BYTES;)
		sort->step *= 2;
	sort->note_bytes = (sort->num_slices / sort->step + 1) * sizeof(uint32);
	sort->offsets = array_result_scratch(sort->note_bytes);
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
		add_shortfall(sort, walk.next - begin);
	}
	sort->data_bytes = walk.next - sort->data;
}

/* The same of elements of one width. */
static void
note_nulls(slice_sort *sort)
{
	null_map_build(&sort->nulls, sort->bitmap, sort->source->num_items);
	sort->note_bytes = 2 * sort->nulls.num_words * sizeof(uint32);
	for (int64 i = 0; i < sort->num_slices; i++)
	{
		int64		item = i * sort->slice_items;

		add_shortfall(sort, null_bitmap_count(sort->bitmap, item, item + sort->slice_items) * sort->type.stride);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
open_slices(slice_sort *sort, const sort_spec *spec, array_source *source)
{
	memset(sort, 0, sizeof(*sort));
	sort->source = source;
	element_type_fill(&sort->type, source->element_type);
	element_type_check_sortable(&sort->type);
	sort->descending = spec->order.descending;
	array_source_load(source);
	sort->data = array_source_data(source);
	sort->bitmap = source->num_nulls > 0 ? source->null_bitmap : NULL;
	sort->num_slices = source->dims[0];
	sort->slice_items = source->num_items / sort->num_slices;
	sort->data_bytes = (Size) (source->num_items - source->num_nulls) * sort->type.stride;
	array_source_require(source, sort->data_bytes);
}

static void
note_what_is_where(slice_sort *sort)
{
	if (sort->type.stride > 0 && sort->bitmap == NULL)
	{
		sort->slice_bytes = (Size) sort->slice_items * sort->type.stride;
		if (sort->slice_bytes < sizeof(uint32))
			sort->shortfall = sort->num_slices * (sizeof(uint32) - sort->slice_bytes);
	}
	else if (sort->type.stride > 0 && (sort->num_slices + 1) * sizeof(uint32) > OFFSETS_BYTES)
		note_nulls(sort);
	else
		note_slices(sort);
}

static void
forget_what_is_where(slice_sort *sort)
{
	if (sort->offsets)
		pfree(sort->offsets);
	else if (sort->bitmap)
		null_map_free(&sort->nulls);
}

/* ---- order */

static inline Datum
value_of(const slice_sort *sort, const char *element)
{
	return fetch_att(element, sort->type.typbyval, sort->type.typlen);
}

/* Of slices that walks are at, in the order that is asked for; inlined, or walks of small slices go through memory. */
static pg_attribute_always_inline int
compare_walks(slice_walk a, slice_walk b, slice_sort *sort)
{
	int			order = 0;

	for (int64 i = 0; order == 0 && i < sort->slice_items; i++)
	{
		const char *x = next_element(&a);
		const char *y = next_element(&b);

		if (x && y)
			order = sort->support.comparator(value_of(sort, x), value_of(sort, y), &sort->support);
		else
			order = (x == NULL) - (y == NULL);
		if (i % STEP_ITEMS == STEP_ITEMS - 1)
			CHECK_FOR_INTERRUPTS();
	}
	if (sort->descending)
		INVERT_COMPARE_RESULT(order);
	return order;
}

static int
compare_slices(const uint32 *a, const uint32 *b, slice_sort *sort)
{
	int			order = compare_walks(walk_from(sort, *a), walk_from(sort, *b), sort);

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

/* An array like the source's, its data to be filled in, with so much more room at their end. */
static ArrayType *
start_result(const slice_sort *sort, Size room_bytes)
{
	const array_source *source = sort->source;
	Size		overhead = sort->bitmap ? ARR_OVERHEAD_WITHNULLS(source->ndim, source->num_items) :
		ARR_OVERHEAD_NONULLS(source->ndim);
	ArrayType  *result = array_result_scratch(overhead + sort->data_bytes + room_bytes);

	memset(result, 0, overhead);
	SET_VARSIZE(result, overhead + sort->data_bytes);
	result->ndim = source->ndim;
	result->dataoffset = sort->bitmap ? overhead : 0;
	result->elemtype = source->element_type;
	memcpy(ARR_DIMS(result), source->dims, source->ndim * sizeof(int));
	memcpy(ARR_LBOUND(result), source->lower_bounds, source->ndim * sizeof(int));
	return result;
}

/* Slices of these numbers, as those from first on, whose data go to dest; returns where they end. */
static char *
write_slices(const slice_sort *sort, ArrayType *result, int64 first, const uint32 *numbers, int64 num_slices, char *dest)
{
	for (int64 i = 0; i < num_slices; i++)
	{
		int64		slice = numbers[i];
		slice_walk	walk;
		const char *begin;

		if (sort->slice_bytes > 0 && i + SLICES_AHEAD < num_slices)
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
			array_bitmap_copy(ARR_NULLBITMAP(result), (first + i) * sort->slice_items,
							  sort->bitmap, slice * sort->slice_items, sort->slice_items);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return dest;
}

/* All at once: what is left of slices and shortfall is never less than the numbers that are left. */
static ArrayType *
sorted_at_once(slice_sort *sort)
{
	Size		room = TYPEALIGN(sizeof(uint32), sort->data_bytes + sort->shortfall);
	ArrayType  *result = start_result(sort, room - sort->data_bytes);
	uint32	   *numbers = (uint32 *) (ARR_DATA_PTR(result) + room) - sort->num_slices;

	for (int64 i = 0; i < sort->num_slices; i++)
		numbers[i] = (uint32) i;
	sort_numbers(numbers, sort->num_slices, sort);
	(void) write_slices(sort, result, 0, numbers, sort->num_slices, ARR_DATA_PTR(result));
	if (sort->shortfall >= TRIM_MIN_BYTES)
		result = repalloc(result, VARSIZE(result));
	return result;
}

/* ---- parts */

/* A slice that a part ends with. */
typedef struct slice_bound
{
	int64		slice;			/* -1: none */
	slice_walk	walk;
} slice_bound;

static slice_bound
bound_at(const slice_sort *sort, int64 slice)
{
	return (slice_bound) {slice, walk_from(sort, slice)};
}

/* Whether a slice that a walk is at comes after a bound. */
static bool
is_above(slice_sort *sort, const slice_walk *walk, int64 slice, const slice_bound *bound)
{
	int			order = compare_walks(*walk, bound->walk, sort);

	return order > 0 || (order == 0 && slice > bound->slice);
}

/* To the next slice, this being number slice. */
static void
pass_slice(const slice_sort *sort, slice_walk *walk, int64 slice)
{
	if (sort->offsets == NULL)
	{
		if (slice + 1 < sort->num_slices)
			*walk = walk_from(sort, slice + 1);
		return;
	}
	for (int64 i = 0; i < sort->slice_items; i++)
		(void) next_element(walk);
}

/* Numbers of slices above low and not above high, or of so many of the first of them that they are no more than room. */
static int64
list_part(slice_sort *sort, const slice_bound *low, slice_bound high, uint32 *numbers, int64 room)
{
	slice_walk	walk = walk_from(sort, 0);
	int64		num_listed = 0;

	for (int64 i = 0; i < sort->num_slices; pass_slice(sort, &walk, i), i++)
	{
		if (i % LOOK_SLICES == 0)
			CHECK_FOR_INTERRUPTS();
		if (low->slice >= 0 && !is_above(sort, &walk, i, low))
			continue;
		if (num_listed == room)
		{
			sort_numbers(numbers, num_listed, sort);
			num_listed /= 2;
			high = bound_at(sort, numbers[num_listed - 1]);
		}
		if (high.slice < 0 || !is_above(sort, &walk, i, &high))
			numbers[num_listed++] = i;
	}
	return num_listed;
}

/* Some slices, in order: any will do that are not chosen by what is in them. */
static uint32 *
take_sample(slice_sort *sort, int64 *num_sampled)
{
	int64		stretch = sort->num_slices / SAMPLE_SLICES + 1;
	uint32	   *sample = palloc(SAMPLE_SLICES * sizeof(uint32));

	*num_sampled = 0;
	for (int64 i = 0; i + stretch <= sort->num_slices; i += stretch)
		sample[(*num_sampled)++] = i + murmurhash32(i) % stretch;
	sort_numbers(sample, *num_sampled, sort);
	return sample;
}

/* A part is some of the slices that are left, unless their type's order is none: then they would not fill the result. */
static void
require_order(int64 num_listed, int64 num_left)
{
	if (num_listed == 0 || num_listed > num_left)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("comparisons of the elements contradict each other"),
				 errdetail("By these, not every slice has one place in the order."),
				 errhint("The comparison function of the elements' type, or the collation that it uses, must say the same each time.")));
}

/* One part after another, with room for numbers of its own. */
static ArrayType *
sorted_in_parts(slice_sort *sort)
{
	ArrayType  *result = start_result(sort, 0);
	int64		room = (CALL_BYTES - sort->note_bytes) / sizeof(uint32);
	uint32	   *numbers = array_result_scratch(room * sizeof(uint32));
	char	   *dest = ARR_DATA_PTR(result);
	slice_bound low = {.slice = -1};
	int64		num_sampled;
	uint32	   *sample = take_sample(sort, &num_sampled);
	int64		step = Max(num_sampled * room / sort->num_slices * PLANNED_PERCENT / 100, 1);
	int64		num_listed;

	for (int64 written = 0, next = step; written < sort->num_slices; written += num_listed)
	{
		slice_bound high = {.slice = -1};

		if (next < num_sampled)
			high = bound_at(sort, sample[next]);
		num_listed = list_part(sort, &low, high, numbers, room);
		require_order(num_listed, sort->num_slices - written);
		sort_numbers(numbers, num_listed, sort);
		dest = write_slices(sort, result, written, numbers, num_listed, dest);
		low = bound_at(sort, numbers[num_listed - 1]);
		if (low.slice == high.slice)
			next += step;
	}
	pfree(sample);
	pfree(numbers);
	return result;
}

static ArrayType *
sorted_by_comparison(slice_sort *sort, const sort_spec *spec)
{
	ArrayType  *result;

	sort->support.ssup_cxt = CurrentMemoryContext;
	sort->support.ssup_collation = spec->collation;
	PrepareSortSupportFromOrderingOp(sort->type.lt_operator, &sort->support);
	note_what_is_where(sort);
	if (sort->shortfall + sort->note_bytes <= CALL_BYTES)
		result = sorted_at_once(sort);
	else
		result = sorted_in_parts(sort);
	forget_what_is_where(sort);
	run_note_cpu(spec->function, "compare", sort->num_slices, sort->source->data_bytes,
				 "slices of a multi-dimensional array are compared, on the CPU");
	return result;
}

ArrayType *
slices_sorted(const sort_spec *spec, array_source *source)
{
	slice_sort	sort;
	ArrayType  *result;

	open_slices(&sort, spec, source);
	if (!slices_are_counted(source, &sort.type))
		return sorted_by_comparison(&sort, spec);
	result = start_result(&sort, 0);
	slices_count(source, &sort.type, sort.descending, result);
	run_note_cpu(spec->function, "radix", sort.num_slices, source->data_bytes,
				 "slices of a multi-dimensional array that are so narrow are counted, on the CPU");
	return result;
}

/*
 * slice_sort.c
 *		Sorts the slices of a multi-dimensional array, which are compared as arrays.
 *
 * Slices of one array have the same dimensions, so that the order of arrays is that
 * of their first elements that differ, NULL above all others.  They are compared
 * where they lie (slice_walk.h), and the result holds their numbers at its end until
 * they are written over these, front to back (array_gather.h has the same for elements).
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

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "array_result.h"
#include "compat.h"
#include "run.h"
#include "slice_count.h"
#include "slice_sort.h"
#include "slice_walk.h"

/* What may be taken beside the input and the result, notes of where slices begin among it. */
#define CALL_BYTES (58 * 1024 * 1024)

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
	slice_layout layout;
	bool		descending;
	SortSupportData support;
} slice_sort;

/* ---- order */

static inline Datum
value_of(const slice_sort *sort, const char *element)
{
	return fetch_att(element, sort->layout.type.typbyval, sort->layout.type.typlen);
}

/* Of slices that walks are at, in the order that is asked for; inlined, or walks of small slices go through memory. */
static pg_attribute_always_inline int
compare_walks(slice_walk a, slice_walk b, slice_sort *sort)
{
	int			order = 0;

	for (int64 i = 0; order == 0 && i < sort->layout.slice_items; i++)
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
	int			order = compare_walks(walk_from(&sort->layout, *a), walk_from(&sort->layout, *b), sort);

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
	const array_source *source = sort->layout.source;
	Size		overhead = sort->layout.bitmap ? ARR_OVERHEAD_WITHNULLS(source->ndim, source->num_items) :
		ARR_OVERHEAD_NONULLS(source->ndim);
	ArrayType  *result = array_result_scratch(overhead + sort->layout.data_bytes + room_bytes);

	memset(result, 0, overhead);
	SET_VARSIZE(result, overhead + sort->layout.data_bytes);
	result->ndim = source->ndim;
	result->dataoffset = sort->layout.bitmap ? overhead : 0;
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

		if (sort->layout.slice_bytes > 0 && i + SLICES_AHEAD < num_slices)
			__builtin_prefetch(sort->layout.data + numbers[i + SLICES_AHEAD] * sort->layout.slice_bytes);
		walk = walk_from(&sort->layout, slice);
		begin = walk.next;
		if (sort->layout.slice_bytes > 0)
			walk.next += sort->layout.slice_bytes;
		else
			for (int64 j = 0; j < sort->layout.slice_items; j++)
				(void) next_element(&walk);
		memcpy(dest, begin, walk.next - begin);
		dest += walk.next - begin;
		if (sort->layout.bitmap)
			array_bitmap_copy(ARR_NULLBITMAP(result), (first + i) * sort->layout.slice_items,
							  sort->layout.bitmap, slice * sort->layout.slice_items, sort->layout.slice_items);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return dest;
}

/* All at once: what is left of slices and shortfall is never less than the numbers that are left. */
static ArrayType *
sorted_at_once(slice_sort *sort)
{
	Size		room = TYPEALIGN(sizeof(uint32), sort->layout.data_bytes + sort->layout.shortfall);
	ArrayType  *result = start_result(sort, room - sort->layout.data_bytes);
	uint32	   *numbers = (uint32 *) (ARR_DATA_PTR(result) + room) - sort->layout.num_slices;

	for (int64 i = 0; i < sort->layout.num_slices; i++)
		numbers[i] = (uint32) i;
	sort_numbers(numbers, sort->layout.num_slices, sort);
	(void) write_slices(sort, result, 0, numbers, sort->layout.num_slices, ARR_DATA_PTR(result));
	if (sort->layout.shortfall >= TRIM_MIN_BYTES)
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
	return (slice_bound) {slice, walk_from(&sort->layout, slice)};
}

/* Whether a slice that a walk is at comes after a bound. */
static bool
is_above(slice_sort *sort, const slice_walk *walk, int64 slice, const slice_bound *bound)
{
	int			order = compare_walks(*walk, bound->walk, sort);

	return order > 0 || (order == 0 && slice > bound->slice);
}

/* Numbers of slices above low and not above high, or of so many of the first of them that they are no more than room. */
static int64
list_part(slice_sort *sort, const slice_bound *low, slice_bound high, uint32 *numbers, int64 room)
{
	slice_walk	walk = walk_from(&sort->layout, 0);
	int64		num_listed = 0;

	for (int64 i = 0; i < sort->layout.num_slices; pass_slice(&sort->layout, &walk, i), i++)
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
	int64		stretch = sort->layout.num_slices / SAMPLE_SLICES + 1;
	uint32	   *sample = palloc(SAMPLE_SLICES * sizeof(uint32));

	*num_sampled = 0;
	for (int64 i = 0; i + stretch <= sort->layout.num_slices; i += stretch)
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
	int64		room = (CALL_BYTES - sort->layout.note_bytes) / sizeof(uint32);
	uint32	   *numbers = array_result_scratch(room * sizeof(uint32));
	char	   *dest = ARR_DATA_PTR(result);
	slice_bound low = {.slice = -1};
	int64		num_sampled;
	uint32	   *sample = take_sample(sort, &num_sampled);
	int64		step = Max(num_sampled * room / sort->layout.num_slices * PLANNED_PERCENT / 100, 1);
	int64		num_listed;

	for (int64 written = 0, next = step; written < sort->layout.num_slices; written += num_listed)
	{
		slice_bound high = {.slice = -1};

		if (next < num_sampled)
			high = bound_at(sort, sample[next]);
		num_listed = list_part(sort, &low, high, numbers, room);
		require_order(num_listed, sort->layout.num_slices - written);
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
	PrepareSortSupportFromOrderingOp(sort->layout.type.lt_operator, &sort->support);
	slice_layout_note(&sort->layout);
	if (sort->layout.shortfall + sort->layout.note_bytes <= CALL_BYTES)
		result = sorted_at_once(sort);
	else
		result = sorted_in_parts(sort);
	slice_layout_free(&sort->layout);
	run_note_cpu(spec->function, "compare", sort->layout.num_slices, sort->layout.source->data_bytes,
				 "slices of a multi-dimensional array are compared, on the CPU");
	return result;
}

ArrayType *
slices_sorted(const sort_spec *spec, array_source *source)
{
	slice_sort	sort;
	ArrayType  *result;

	memset(&sort, 0, sizeof(sort));
	slice_layout_open(&sort.layout, source);
	sort.descending = spec->order.descending;
	if (!slices_are_counted(source, &sort.layout.type))
		return sorted_by_comparison(&sort, spec);
	result = start_result(&sort, 0);
	slices_count(source, &sort.layout.type, sort.descending, result);
	run_note_cpu(spec->function, "radix", sort.layout.num_slices, source->data_bytes,
				 "slices of a multi-dimensional array that are so narrow are counted, on the CPU");
	return result;
}

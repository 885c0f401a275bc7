/*
 * compared_sort.c
 *		Order of many elements of a type that is compared, in the memory of the result.
 *
 * Values and what belongs to them take 24 bytes an element elsewhere
 * (datum_sort.h, datum_codes.h).  Here the result holds a reference of four bytes
 * for each element (element_codes.h), which is all that is moved: PostgreSQL's sort
 * template sorts references by what the type's comparison says of the elements,
 * and references ascend as positions do, so that they break ties.  A value of a
 * type that is passed by reference had to be looked up for each comparison anyway.
 * Where the type makes codes, these are sorted first (compared_cut.c).
 *
 * Rejected: parts of the input that are merged, whose merges take a second room
 * for references; parts cut by values of a sample, which compare as often and gain
 * nothing where references are sorted in place.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "portability/instr_time.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "compared_codes.h"
#include "compared_sort.h"
#include "datum_codes.h"
#include "datum_network.h"
#include "run.h"

/* Fewer elements' values, and what sorts them, are no more than a call may have; */
#define LEAST_ITEMS (2 * 1024 * 1024)

/* the same where there are codes, those of a job and all that the CPU takes should a GPU fail at it included. */
#define LEAST_CODED_ITEMS (1024 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

static inline int
compare_refs(const uint32 *a, const uint32 *b, compared_sort *sort)
{
	int			order = sort->compare(compared_value(sort, *a), compared_value(sort, *b), &sort->support);

	if (sort->descending)
		INVERT_COMPARE_RESULT(order);
	if (order == 0)
		order = *a < *b ? -1 : 1;
	return order;
}

#define ST_SORT sort_refs
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, sort) compare_refs(a, b, sort)
#define ST_COMPARE_ARG_TYPE compared_sort
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

void
compared_sort_by_comparison(compared_sort *sort, int64 first, int64 num_items)
{
	sort_refs(sort->refs + first, num_items, sort);
}

static void
to_positions(compared_sort *sort, int64 first, int64 num_items)
{
	uint32	   *refs = sort->refs + first;

	if (sort->elements.lines == NULL)
		return;
	for (int64 i = 0; i < num_items; i++)
	{
		if (i + ELEMENT_STEP < num_items)
			__builtin_prefetch(&sort->elements.lines[refs[i + ELEMENT_STEP] / ELEMENT_LINE_REFS]);
		refs[i] = element_position(&sort->elements, refs[i]);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static void
sort_segment(compared_sort *sort, int64 begin, int64 num_items)
{
	if (num_items >= COMPARED_LEAST_CODED_ITEMS && sort->has_codes)
		compared_sort_by_codes(sort, begin, num_items);
	else
	{
		compared_list_refs(sort, begin, num_items);
		compared_sort_by_comparison(sort, begin, num_items);
	}
	to_positions(sort, begin, num_items);
}

/* Abbreviated keys that are no numbers are left alone. */
static void
prepare_comparison(compared_sort *sort, const sort_spec *spec, const element_type *type)
{
	SortSupport support = &sort->support;

	sort->has_codes = datum_codes_prepare(support, type, spec->collation);
	sort->compare = support->abbrev_converter ? support->abbrev_full_comparator : support->comparator;
	sort->next_question = DATUM_CODES_FIRST_QUESTION;
}

/* Whether elements are where multiples of four bytes are, or of their width. */
static bool
has_references(const element_type *type)
{
	return type->stride > 0 ||
		(type->typlen == -1 && (type->typalign == TYPALIGN_INT || type->typalign == TYPALIGN_DOUBLE));
}

/* Whether so many are more than a job may have the codes of. */
static bool
are_many(const compared_sort *sort, int64 num_items)
{
	return num_items > (sort->has_codes ? LEAST_CODED_ITEMS : LEAST_ITEMS);
}

/* A device would have to have all codes, and making these is most of the work. */
static void
note_run(const compared_sort *sort, const sort_spec *spec, const segment_list *segments, int64 num_items, Size num_bytes)
{
	if (sort->has_codes)
		run_note_kept(spec->function, num_items, num_bytes,
					  "codes of so many elements are sorted as they are made, on the CPU");
	else
		run_note_cpu(spec->function, "compare", num_items, num_bytes,
					 "the type is sorted by its comparison function, on the CPU");
	if (segments)
		run_last.num_segments = segments->num_segments;
}

static bool
open_elements(compared_sort *sort, array_source *source, const element_type *type, int64 num_items)
{
	element_range all = {.num_items = num_items};

	array_source_load(source);
	all.end = source->data_bytes;
	return element_codes_open(&sort->elements, source, type, true, &all);
}

static void
sort_segments(compared_sort *sort, const segment_list *segments, int64 num_items)
{
	segment_list whole = {.heads = (uint32[]) {0}, .num_segments = 1, .num_items = num_items};

	if (segments == NULL)
		segments = &whole;
	mgpu_vqsort_prepare();
	for (int64 i = 0; i < segments->num_segments; i++)
		sort_segment(sort, segments->heads[i], segment_end(segments, i) - segments->heads[i]);
}

bool
compared_sort_ranks(const sort_spec *spec, const segment_list *segments, array_source *source,
					const element_type *type, int64 num_items, const spare_room *spare, uint32 *ranks)
{
	compared_sort sort;
	instr_time	start,
				end;

	if (num_items <= Min(LEAST_ITEMS, LEAST_CODED_ITEMS) || !has_references(type))
		return false;
	memset(&sort, 0, sizeof(sort));
	INSTR_TIME_SET_CURRENT(start);
	prepare_comparison(&sort, spec, type);
	if (!are_many(&sort, num_items) || !open_elements(&sort, source, type, num_items))
		return false;
	sort.descending = spec->order.descending;
	sort.refs = ranks;
	sort.spare = *spare;
	sort_segments(&sort, segments, num_items);
	element_codes_close(&sort.elements);
	note_run(&sort, spec, segments, num_items, source->data_bytes);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	run_last.kernel_ms = INSTR_TIME_GET_MILLISEC(end);
	return true;
}

Datum *
compared_values(array_source *source, const element_type *type, int64 num_items)
{
	Datum	   *values = palloc_extended(num_items * sizeof(Datum), MCXT_ALLOC_HUGE);
	Size		offset = 0;
	char	   *data;

	array_source_load(source);
	data = array_source_data(source);
	for (int64 i = 0; i < num_items; i++)
	{
		array_source_require(source, offset + 1);
		values[i] = fetch_att(data + offset, type->typbyval, type->typlen);
		offset = att_addlength_pointer(offset, type->typlen, data + offset);
		offset = att_align_nominal(offset, type->typalign);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return values;
}

bool
compared_sort_open(compared_sort *sort, const sort_spec *spec, const array_source *source, const element_type *type)
{
	memset(sort, 0, sizeof(*sort));
	if (!has_references(type) || !element_codes_open_bare(&sort->elements, source, type, true))
		return false;
	prepare_comparison(sort, spec, type);
	sort->descending = spec->order.descending;
	note_run(sort, spec, NULL, sort->elements.num_items, source->data_bytes);
	return true;
}

/* References to all, or numbers of values where elements have none. */
static void
list_elements(compared_sort *sort, array_source *source, const element_type *type, int64 num_items)
{
	if (has_references(type) && open_elements(sort, source, type, num_items))
	{
		compared_list_refs(sort, 0, num_items);
		return;
	}
	sort->values = compared_values(source, type, num_items);
	for (int64 i = 0; i < num_items; i++)
		sort->refs[i] = (uint32) i;
}

void
compared_network_ranks(const sort_spec *spec, array_source *source, const element_type *type,
					   int64 num_items, uint32 *ranks)
{
	compared_sort sort;

	memset(&sort, 0, sizeof(sort));
	prepare_comparison(&sort, spec, type);
	sort.descending = spec->order.descending;
	sort.refs = ranks;
	list_elements(&sort, source, type, num_items);
	datum_network_sort(&sort, num_items);
	to_positions(&sort, 0, num_items);
	element_codes_close(&sort.elements);
	if (sort.values)
		pfree(sort.values);
	run_note_cpu(spec->function, "network", num_items, source->data_bytes,
				 "the type is sorted by its comparison function, on the CPU");
}

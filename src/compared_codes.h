/*
 * compared_codes.h
 *		Elements that are compared by references of four bytes, and their order by
 *		the codes that their type makes.
 */
#ifndef MGPU_COMPARED_CODES_H
#define MGPU_COMPARED_CODES_H

#include "access/tupmacs.h"
#include "utils/sortsupport.h"

#include "core/dense_codes.h"

#include "element_codes.h"
#include "positions.h"
#include "sort_spec.h"

/* Codes of fewer elements cost more than comparing them. */
#define COMPARED_LEAST_CODED_ITEMS 1024

/* Elements whose codes are sorted at once. */
#define COMPARED_PART_ITEMS (128 * 1024)

/* What may be taken beside the input and the result, */
#define COMPARED_CALL_BYTES (56 * 1024 * 1024)

/* of which a part that is sorted takes so much, and one within it as much again. */
#define COMPARED_PART_BYTES (COMPARED_PART_ITEMS * (2 * sizeof(uint64) + sizeof(uint32)))

typedef struct compared_sort
{
	element_codes elements;		/* references are these', */
	Datum	   *values;			/* or count values in memory of their own; NULL: there are none */
	bool		descending;
	SortSupportData support;
	int			(*compare) (Datum a, Datum b, SortSupport support);	/* whole values, ascending */
	uint32	   *refs;			/* the result: references until a segment is done, then positions */
	spare_room	spare;			/* of the result */
	Size		room;			/* what more may be taken beside it */

	/* codes, until the type says that they do not pay */
	bool		has_codes;
	int64		num_made;
	int64		next_question;
} compared_sort;

/*
 * References first to first + num_items: list_refs puts those of the elements from position
 * first on there; by_comparison puts such as are there in the order of what they refer to;
 * by_codes does both.
 */
extern void compared_list_refs(compared_sort *sort, int64 first, int64 num_items);
extern void compared_sort_by_comparison(compared_sort *sort, int64 first, int64 num_items);
extern void compared_sort_by_codes(compared_sort *sort, int64 first, int64 num_items);

/*
 * References 0 to num_items, which ascend, in order, by codes that are made once if the type
 * has them: so many bytes each then.
 */
#define COMPARED_REFS_ITEM_BYTES (2 * sizeof(uint64) + sizeof(uint32))
extern void compared_sort_refs(compared_sort *sort, int64 num_items);

/* Whether the type, which is asked now and then, still says that codes pay. */
extern bool compared_codes_pay(compared_sort *sort);

/* compared_sort.c: elements, their comparison and their codes.  False: not of a width or a form that this knows. */
extern bool compared_sort_open(compared_sort *sort, const sort_spec *spec, const array_source *source,
							   const element_type *type);

static inline Datum
compared_value(const compared_sort *sort, uint32 ref)
{
	if (sort->values)
		return sort->values[ref];
	return fetch_att(element_at(&sort->elements, ref), sort->elements.type->typbyval, sort->elements.type->typlen);
}

/* Unsigned, ascending; different ones decide. */
static inline uint64
compared_code(compared_sort *sort, uint32 ref)
{
	sort->num_made++;
	return (uint64) sort->support.abbrev_converter(compared_value(sort, ref), &sort->support);
}

#endif							/* MGPU_COMPARED_CODES_H */

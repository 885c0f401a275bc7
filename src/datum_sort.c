/*
 * datum_sort.c
 *		Stable sort of any sortable type through its btree comparison.
 *
 * SortSupport gives the comparison, with abbreviated keys where the type has
 * them; PostgreSQL's own sort template (a quicksort that notices sorted input)
 * sorts (key, index) with the index as the last tie-break, so that the order is
 * total and the result stable.  tuplesort was rejected: it is stable only with
 * the ordinal as a second column of a heap tuple, at several times the cost.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/sortsupport.h"

#include "compat.h"
#include "datum_sort.h"

/* key is abbreviated where the type's keys can be, else the value itself. */
typedef struct sort_item
{
	Datum		key;
	uint32		index;
} sort_item;

typedef struct sort_context
{
	SortSupportData support;
	const Datum *values;
	bool		abbreviated;
} sort_context;

static inline int
compare_items(const sort_item *a, const sort_item *b, sort_context *context)
{
	SortSupport support = &context->support;
	int			order = ApplySortComparator(a->key, false, b->key, false, support);

	if (order == 0 && context->abbreviated)
		order = ApplySortAbbrevFullComparator(context->values[a->index], false,
											  context->values[b->index], false, support);
	if (order == 0)
		order = a->index < b->index ? -1 : 1;
	return order;
}

#define ST_SORT sort_items
#define ST_ELEMENT_TYPE sort_item
#define ST_COMPARE(a, b, context) compare_items(a, b, context)
#define ST_COMPARE_ARG_TYPE sort_context
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Abbreviate every value, or find that it does not pay (the type says so when
 * asked, at ever larger counts) and fall back to the values themselves.
 */
static void
abbreviate(sort_context *context, sort_item *items, int64 num_items)
{
	SortSupport support = &context->support;
	int64		next_question = 10;

	for (int64 i = 0; i < num_items; i++)
	{
		if (i == next_question)
		{
			next_question *= 2;
			CHECK_FOR_INTERRUPTS();
			if (support->abbrev_abort(i, support))
			{
				support->comparator = support->abbrev_full_comparator;
				support->abbrev_converter = NULL;
				support->abbrev_abort = NULL;
				support->abbrev_full_comparator = NULL;
				context->abbreviated = false;
				return;
			}
		}
		items[i].key = support->abbrev_converter(context->values[i], support);
	}
}

void
datum_sort(const Datum *values, int64 num_items, const element_type *type,
		   bool descending, Oid collation, uint32 *ranks)
{
	sort_context context;
	sort_item  *items;

	if (num_items < 2)
	{
		if (num_items == 1)
			ranks[0] = 0;
		return;
	}
	memset(&context, 0, sizeof(context));
	context.values = values;
	context.support.ssup_cxt = CurrentMemoryContext;
	context.support.ssup_collation = collation;
	context.support.ssup_nulls_first = false;
	context.support.abbreviate = true;
	PrepareSortSupportFromOrderingOp(descending ? type->gt_operator : type->lt_operator,
									 &context.support);
	context.abbreviated = context.support.abbrev_converter != NULL;

	items = palloc_extended(num_items * sizeof(sort_item), MCXT_ALLOC_HUGE);
	if (context.abbreviated)
		abbreviate(&context, items, num_items);
	for (int64 i = 0; i < num_items; i++)
	{
		if (!context.abbreviated)
			items[i].key = values[i];
		items[i].index = i;
	}
	sort_items(items, num_items, &context);
	for (int64 i = 0; i < num_items; i++)
		ranks[i] = items[i].index;
	pfree(items);
}

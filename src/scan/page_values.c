/*
 * page_values.c
 *		Where the values of a heap page's rows are.
 *
 * As long as a row has no NULL and its attributes have a fixed width, their offsets are the same in all rows.
 * The others are found by a walk over the row, as heap_deform_tuple does it.
 *
 * Rows lie in a page from its end to its beginning, against the order in which processors fetch ahead by
 * themselves: without the fetches below, reading takes twice as long.
 */
#include "postgres.h"

#include "access/tupmacs.h"

#include "compat.h"
#include "scan/page_values.h"

/* Bytes that the processor fetches at a time. */
#define CACHE_LINE 64

/* ---- lists */

page_values *
page_values_create(TupleDesc descriptor)
{
	page_values *values = palloc0(sizeof(page_values));

	values->descriptor = descriptor;
	values->lists = palloc(descriptor->natts * sizeof(value_list *) + 1);
	return values;
}

int
page_values_want(page_values *values, AttrNumber attribute, bool of_all_rows)
{
	int			number = 0;

	while (number < values->num_lists && values->lists[number]->attribute != attribute)
		number++;
	if (number == values->num_lists)
	{
		values->lists[values->num_lists++] = palloc0(sizeof(value_list));
		values->lists[number]->attribute = attribute;
	}
	values->lists[number]->of_all_rows |= of_all_rows;
	return number;
}

/* What rows that are older than the attribute have there, as they would store it; NULL: nothing. */
static const char *
missing_value(TupleDesc descriptor, AttrNumber attribute)
{
	Form_pg_attribute form = TupleDescAttr(descriptor, attribute - 1);
	bool		is_null = true;
	Datum		value = form->atthasmissing ? getmissingattr(descriptor, attribute, &is_null) : (Datum) 0;
	Datum	   *stored;

	if (is_null)
		return NULL;
	if (!form->attbyval)
		return DatumGetPointer(value);
	stored = palloc(sizeof(Datum));
	store_att_byval(stored, value, form->attlen);
	return (const char *) stored;
}

static void
plan_walk(const page_values *values, value_walk *walk, bool all)
{
	for (int i = 0; i < values->num_lists; i++)
		if (all || values->lists[i]->of_all_rows)
			walk->num_attributes = Max(walk->num_attributes, values->lists[i]->attribute);
	walk->attributes = palloc(walk->num_attributes * sizeof(walked_attribute) + 1);
	for (int i = 0; i < walk->num_attributes; i++)
	{
		Form_pg_attribute form = TupleDescAttr(values->descriptor, i);

		walk->attributes[i] = (walked_attribute) {form->attlen, att_align_nominal(1, form->attalign), -1};
	}
	for (int i = 0; i < values->num_lists; i++)
		if (all || values->lists[i]->of_all_rows)
			walk->attributes[values->lists[i]->attribute - 1].list = i;
}

void
page_values_plan(page_values *values)
{
	uint32		offset = 0;

	plan_walk(values, &values->all, true);
	plan_walk(values, &values->first, false);
	for (int i = 0; i < values->num_lists; i++)
	{
		value_list *list = values->lists[i];

		list->missing = missing_value(values->descriptor, list->attribute);
		list->offset = -1;
	}
	while (values->num_fixed < values->all.num_attributes && values->all.attributes[values->num_fixed].length > 0)
	{
		const walked_attribute *attribute = &values->all.attributes[values->num_fixed++];

		offset = TYPEALIGN(attribute->align, offset);
		if (attribute->list >= 0)
			values->lists[attribute->list]->offset = offset;
		offset += attribute->length;
	}
	values->fixed_end = offset;
}

/* ---- rows */

/* Whether a row has a value for each attribute. */
static inline bool
is_plain(const value_walk *walk, HeapTupleHeader tuple)
{
	return (tuple->t_infomask & HEAP_HASNULL) == 0 && HeapTupleHeaderGetNatts(tuple) >= walk->num_attributes;
}

/* Find the values of a row that has all of them. */
static inline void
walk_plain(const page_values *values, const value_walk *walk, const char *data, uint32 row)
{
	uint32		offset = values->fixed_end;

	for (int i = values->num_fixed; i < walk->num_attributes; i++)
	{
		const walked_attribute *attribute = &walk->attributes[i];
		bool		is_short = attribute->length == -1 && VARATT_IS_1B(data + offset) && !VARATT_IS_1B_E(data + offset);

		/* most values of variable width are short, and those have no padding in front */
		if (!is_short && (attribute->length != -1 || !VARATT_NOT_PAD_BYTE(data + offset)))
			offset = TYPEALIGN(attribute->align, offset);
		if (attribute->list >= 0)
			values->lists[attribute->list]->values[row] = data + offset;
		offset = is_short ? offset + VARSIZE_1B(data + offset) : att_addlength_pointer(offset, attribute->length, data + offset);
	}
}

/* Find the values of any other row. */
static void
walk_row(page_values *values, const value_walk *walk, HeapTupleHeader tuple, uint32 row)
{
	const char *data = (const char *) tuple + tuple->t_hoff;
	int			num_stored = HeapTupleHeaderGetNatts(tuple);
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	uint32		offset = 0;

	for (int i = 0; i < walk->num_attributes; i++)
	{
		const walked_attribute *attribute = &walk->attributes[i];
		value_list *list = attribute->list < 0 ? NULL : values->lists[attribute->list];
		const char *value = NULL;

		if (i >= num_stored)
			value = list ? list->missing : NULL;
		else if (!has_nulls || !att_isnull(i, tuple->t_bits))
		{
			/* a short value of variable width has no padding in front */
			if (attribute->length != -1 || !VARATT_NOT_PAD_BYTE(data + offset))
				offset = TYPEALIGN(attribute->align, offset);
			value = data + offset;
			offset = att_addlength_pointer(offset, attribute->length, value);
		}
		if (list == NULL)
			continue;
		list->values[row] = value;
		list->has_nulls |= value == NULL;
	}
}

static inline HeapTupleHeader
tuple_at(const char *page, const ItemIdData *item)
{
	return (HeapTupleHeader) (page + ItemIdGetOffset(item));
}

static void
fill(const page_values *values, value_list *list)
{
	list->is_filled = true;
	list->has_nulls = false;
	if (list->offset >= 0)
		for (uint32 row = 0; row < values->num_rows; row++)
			list->values[row] = values->data[row] + list->offset;
}

/* Find the values that a walk has. */
static inline void
find(page_values *values, const value_walk *walk, const char *page, const ItemIdData *items, uint32 num_rows, const char *ahead)
{
	uint32		piece = ahead == page ? 0 : BLCKSZ / Max(num_rows, 1);
	bool		all_fixed = values->num_fixed >= walk->num_attributes;
	bool		all_plain = true;

	for (uint32 row = 0; row < num_rows; row++)
	{
		HeapTupleHeader tuple = tuple_at(page, &items[row]);

		for (uint32 i = 0; i < piece; i += CACHE_LINE)
			__builtin_prefetch(ahead + row * piece + i);
		values->data[row] = (const char *) tuple + tuple->t_hoff;
		all_plain &= is_plain(walk, tuple);
	}
	values->num_rows = num_rows;
	values->is_uniform = all_fixed && all_plain;
	for (int i = 0; i < values->num_lists; i++)
	{
		value_list *list = values->lists[i];

		if (walk == &values->first && !list->of_all_rows)
			continue;
		list->is_filled = false;
		if (!values->is_uniform)
			fill(values, list);
	}
	for (uint32 row = 0; row < num_rows && !values->is_uniform; row++)
	{
		HeapTupleHeader tuple = tuple_at(page, &items[row]);

		if (!is_plain(walk, tuple))
			walk_row(values, walk, tuple, row);
		else if (!all_fixed)
			walk_plain(values, walk, values->data[row], row);
	}
}

void
page_values_find(page_values *values, const char *page, const ItemIdData *items, uint32 num_rows, const char *ahead)
{
	find(values, &values->first, page, items, num_rows, ahead);
}

void
page_values_find_all(page_values *values, const char *page, const ItemIdData *items, uint32 num_rows)
{
	find(values, &values->all, page, items, num_rows, page);
}

const value_list *
page_values_list(page_values *values, int number)
{
	value_list *list = values->lists[number];

	if (!list->is_filled)
		fill(values, list);
	return list;
}

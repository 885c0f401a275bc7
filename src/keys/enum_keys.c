/*
 * enum_keys.c
 *		Elements of an enum type as unsigned 32-bit keys.
 *
 * PostgreSQL gives labels even OIDs as long as their order allows it, and then
 * the OIDs order as the labels do; a label that was added between others has an
 * odd one.  With an odd one among the values, their distinct OIDs, which are
 * few, are put in order by the type's comparison and each value gets its rank.
 * Asking the catalog instead was rejected: the comparison is the authority, and
 * knows about labels that are not yet committed.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "array/array_result.h"
#include "keys/enum_keys.h"
#include "keys/value_order.h"

/* Values handled between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct label
{
	Oid			value;			/* hash key */
	uint32		number;			/* by first appearance */
	char		status;			/* the table's */
} label;

#define SH_PREFIX label
#define SH_ELEMENT_TYPE label
#define SH_KEY_TYPE Oid
#define SH_KEY value
#define SH_HASH_KEY(table, key) murmurhash32(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static bool
has_odd(const Oid *values, int64 num_items)
{
	Oid			bits = 0;

	for (int64 i = 0; i < num_items; i++)
		bits |= values[i];
	return (bits & 1) != 0;
}

/* keys[i] = the number of values[i] among the labels, by their first appearance. */
static label_hash *
number_labels(const Oid *values, int64 num_items, uint32 *keys)
{
	label_hash *found = label_create(CurrentMemoryContext, 64, NULL);
	bool		is_there;

	for (int64 i = 0; i < num_items; i++)
	{
		label	   *entry;

		if (i > 0 && values[i] == values[i - 1])
		{
			keys[i] = keys[i - 1];
			continue;
		}
		entry = label_insert(found, values[i], &is_there);
		if (!is_there)
			entry->number = found->members - 1;
		keys[i] = entry->number;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return found;
}

static int
compare_labels(const void *a, const void *b, void *order)
{
	return value_order_compare(order, ObjectIdGetDatum(*(const Oid *) a), ObjectIdGetDatum(*(const Oid *) b));
}

/* The rank of each label, by its number.  Palloc'd. */
static uint32 *
rank_labels(label_hash *labels, const element_type *type)
{
	Oid		   *values = palloc(labels->members * sizeof(Oid));
	uint32	   *ranks = palloc(labels->members * sizeof(uint32));
	uint32		num_values = 0;
	value_order order;
	label_iterator scan;
	label	   *entry;

	label_start_iterate(labels, &scan);
	while ((entry = label_iterate(labels, &scan)) != NULL)
		values[num_values++] = entry->value;
	value_order_prepare(&order, type, InvalidOid, false);
	qsort_arg(values, num_values, sizeof(Oid), compare_labels, &order);
	for (uint32 i = 0; i < num_values; i++)
		ranks[label_lookup(labels, values[i])->number] = i;
	pfree(values);
	return ranks;
}

const uint32 *
enum_keys(const Oid *values, int64 num_items, const element_type *type)
{
	label_hash *labels;
	uint32	   *ranks;
	uint32	   *keys;

	StaticAssertStmt(sizeof(Oid) == sizeof(uint32), "OIDs are keys");
	if (!has_odd(values, num_items))
		return values;
	keys = array_result_scratch(num_items * sizeof(uint32));
	labels = number_labels(values, num_items, keys);
	ranks = rank_labels(labels, type);
	for (int64 i = 0; i < num_items; i++)
		keys[i] = ranks[keys[i]];
	label_destroy(labels);
	pfree(ranks);
	return keys;
}

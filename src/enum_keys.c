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

#include "array_result.h"
#include "datum_sort.h"
#include "enum_keys.h"

/* Values handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct label
{
	Oid			value;			/* hash key */
	uint32		rank;
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

static label_hash *
distinct_labels(const Oid *values, int64 num_items)
{
	label_hash *found = label_create(CurrentMemoryContext, 64, NULL);
	bool		is_there;

	for (int64 i = 0; i < num_items; i++)
	{
		if (i == 0 || values[i] != values[i - 1])
			(void) label_insert(found, values[i], &is_there);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return found;
}

static void
rank_labels(enum_labels *labels, const element_type *type)
{
	uint32		num_labels = labels->num_labels;
	Datum	   *values = palloc(num_labels * sizeof(Datum));
	uint32	   *order = palloc(num_labels * sizeof(uint32));
	label_iterator scan;
	label	   *entry;

	label_start_iterate(labels->ranks, &scan);
	for (uint32 i = 0; (entry = label_iterate(labels->ranks, &scan)) != NULL; i++)
		values[i] = ObjectIdGetDatum(entry->value);
	datum_sort(values, num_labels, type, false, InvalidOid, order);
	for (uint32 i = 0; i < num_labels; i++)
	{
		labels->ordered[i] = DatumGetObjectId(values[order[i]]);
		label_lookup(labels->ranks, labels->ordered[i])->rank = i;
	}
	pfree(values);
	pfree(order);
}

enum_labels *
enum_labels_find(const Oid *values, int64 num_items, const element_type *type)
{
	enum_labels *labels;

	if (!has_odd(values, num_items))
		return NULL;
	labels = palloc(sizeof(*labels));
	labels->ranks = distinct_labels(values, num_items);
	labels->num_labels = labels->ranks->members;
	labels->ordered = palloc(labels->num_labels * sizeof(Oid));
	rank_labels(labels, type);
	return labels;
}

void
enum_labels_free(enum_labels *labels)
{
	label_destroy(labels->ranks);
	pfree(labels->ordered);
	pfree(labels);
}

void
enum_labels_ranks(const enum_labels *labels, const Oid *values, int64 num_items,
				  bool descending, uint32 *ranks)
{
	uint32		last = labels->num_labels - 1;

	for (int64 i = 0; i < num_items; i++)
	{
		uint32		rank = label_lookup(labels->ranks, values[i])->rank;

		ranks[i] = descending ? last - rank : rank;
	}
}

const uint32 *
enum_keys(const Oid *values, int64 num_items, const element_type *type)
{
	enum_labels *labels;
	uint32	   *keys;

	StaticAssertStmt(sizeof(Oid) == sizeof(uint32), "OIDs are keys");
	labels = enum_labels_find(values, num_items, type);
	if (labels == NULL)
		return values;
	keys = array_result_scratch(num_items * sizeof(uint32));
	for (int64 i = 0; i < num_items; i += STEP_ITEMS)
	{
		enum_labels_ranks(labels, values + i, Min(STEP_ITEMS, num_items - i), false, keys + i);
		CHECK_FOR_INTERRUPTS();
	}
	enum_labels_free(labels);
	return keys;
}

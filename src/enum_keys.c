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

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "array_result.h"
#include "datum_sort.h"
#include "enum_keys.h"

/* Values handled between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

typedef struct label
{
	Oid			value;			/* hash key */
	uint32		rank;
} label;

static bool
has_odd(const Oid *values, int64 num_items)
{
	Oid			bits = 0;

	for (int64 i = 0; i < num_items; i++)
		bits |= values[i];
	return (bits & 1) != 0;
}

static HTAB *
distinct_labels(const Oid *values, int64 num_items)
{
	HASHCTL		control;
	HTAB	   *labels;
	Oid			last = InvalidOid;

	memset(&control, 0, sizeof(control));
	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(label);
	control.hcxt = CurrentMemoryContext;
	labels = hash_create("mgpu_pg enum labels", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (int64 i = 0; i < num_items; i++)
	{
		if (i == 0 || values[i] != last)
			(void) hash_search(labels, &values[i], HASH_ENTER, NULL);
		last = values[i];
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return labels;
}

static void
rank_labels(HTAB *labels, const element_type *type)
{
	long		num_labels = hash_get_num_entries(labels);
	label	  **entries = palloc(num_labels * sizeof(label *));
	Datum	   *values = palloc(num_labels * sizeof(Datum));
	uint32	   *order = palloc(num_labels * sizeof(uint32));
	HASH_SEQ_STATUS scan;
	label	   *entry;

	hash_seq_init(&scan, labels);
	for (long i = 0; (entry = hash_seq_search(&scan)) != NULL; i++)
	{
		entries[i] = entry;
		values[i] = ObjectIdGetDatum(entry->value);
	}
	datum_sort(values, num_labels, type, false, InvalidOid, order);
	for (long i = 0; i < num_labels; i++)
		entries[order[i]]->rank = i;
	pfree(entries);
	pfree(values);
	pfree(order);
}

const uint32 *
enum_keys(const Oid *values, int64 num_items, const element_type *type)
{
	HTAB	   *labels;
	uint32	   *keys;
	const label *found = NULL;

	StaticAssertStmt(sizeof(Oid) == sizeof(uint32), "OIDs are keys");
	if (!has_odd(values, num_items))
		return values;
	labels = distinct_labels(values, num_items);
	rank_labels(labels, type);
	keys = array_result_scratch(num_items * sizeof(uint32));
	for (int64 i = 0; i < num_items; i++)
	{
		if (found == NULL || found->value != values[i])
			found = hash_search(labels, &values[i], HASH_FIND, NULL);
		keys[i] = found->rank;
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	hash_destroy(labels);
	return keys;
}

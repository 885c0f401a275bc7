/*
 * index_compare.c
 *		Compares index tuples as the index's own operator classes do.
 *
 * For keys whose strings only seem to order as their values: those of the C library's collations.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "fmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/index_compare.h"

static int
compare_key(const index_keys *keys, int column, IndexTuple a, IndexTuple b)
{
	const index_key *key = &keys->keys[column];
	TupleDesc	descriptor = RelationGetDescr(keys->index);
	FmgrInfo   *compare = index_getprocinfo(keys->index, column + 1, BTORDER_PROC);
	bool		null_a;
	bool		null_b;
	Datum		value_a = index_getattr(a, column + 1, descriptor, &null_a);
	Datum		value_b = index_getattr(b, column + 1, descriptor, &null_b);
	int			order;

	if (null_a || null_b)
		return null_a == null_b ? 0 : null_a == key->nulls_first ? -1 : 1;
	order = DatumGetInt32(FunctionCall2Coll(compare, keys->index->rd_indcollation[column], value_a, value_b));
	if (key->descending)
		INVERT_COMPARE_RESULT(order);
	return order;
}

int
index_compare(const index_keys *keys, IndexTuple a, IndexTuple b)
{
	int			order = 0;

	for (int i = 0; i < keys->num_keys && order == 0; i++)
		order = compare_key(keys, i, a, b);
	return order != 0 ? order : ItemPointerCompare(&a->t_tid, &b->t_tid);
}

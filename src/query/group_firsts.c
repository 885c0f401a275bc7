/*
 * group_firsts.c
 *		Arrays in an order of which a query wants the first element alone: (array_agg(price ORDER BY ts))[1].
 *
 * The node returns an array of that element, and PostgreSQL takes it out.  So plans, and EXPLAIN, have the expressions that the query has.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "query/group_task.h"

static bool
is_one(const Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && constant->consttype == INT4OID && !constant->constisnull && DatumGetInt32(constant->constvalue) == 1;
}

/* Whether a node is the first element of what an aggregate returns. */
static bool
is_first_of(const Node *node, const Aggref *aggref)
{
	const SubscriptingRef *element = (const SubscriptingRef *) node;

	return IsA(node, SubscriptingRef) && element->refassgnexpr == NULL && element->reflowerindexpr == NIL &&
		list_length(element->refupperindexpr) == 1 && is_one(linitial(element->refupperindexpr)) && equal(element->refexpr, aggref);
}

/* Whether an expression has more of it. */
static bool
wants_more(Node *node, void *aggref)
{
	if (node == NULL || is_first_of(node, aggref))
		return false;
	return equal(node, aggref) || expression_tree_walker(node, wants_more, aggref);
}

List *
group_firsts(const List *outputs, List *exprs)
{
	List	   *firsts = NIL;
	bool		has_some = false;
	ListCell   *cell;

	foreach(cell, outputs)
	{
		const Aggref *aggref = lfirst(cell);
		bool		is_first = IsA(aggref, Aggref) && aggref->aggfnoid == F_ARRAY_AGG_ANYNONARRAY && aggref->aggorder && aggref->aggdistinct == NIL &&
			!wants_more((Node *) exprs, (void *) aggref);

		firsts = lappend_int(firsts, is_first);
		has_some |= is_first;
	}
	return has_some ? firsts : NIL;
}

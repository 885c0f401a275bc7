/*
 * group_values_plan.c
 *		Queries for the different values of groups, of mode() and aggregates with DISTINCT that a job has no way of its own for.
 *
 * A job that has an aggregate's arguments as more keys returns each of their values once for each group.  The aggregate's own functions are called
 * for these (exec/group_values.c).  So the table is read once more for each list of arguments, and all other aggregates stay in their job.
 * A job of all keys, from whose groups the others are merged, was rejected: sums of floats, percentiles and distinct counts cannot be.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "compat.h"
#include "query/aggregate_ways.h"
#include "query/group_count.h"
#include "query/group_values_plan.h"

static void
add_key(query *values, List **exprs, const group_task *task, int column, Oid equality)
{
	Expr	   *expr = list_nth(task->columns, column);

	if (list_member_int(values->key_columns, column))
		return;
	values->key_columns = lappend_int(values->key_columns, column);
	values->key_equalities = lappend_oid(values->key_equalities, equality);
	values->key_collations = lappend_oid(values->key_collations, exprCollation((Node *) expr));
	*exprs = lappend(*exprs, expr);
}

/* The query for an aggregate whose filter and arguments have these columns; -1: there is none, or it is a constant. */
static query *
make_values(const group_task *task, const Aggref *aggref, const List *columns, double num_rows)
{
	query	   *values = query_create(QUERY_GROUP);
	List	   *exprs = NIL;

	for (int i = 0; i < list_length(task->keys); i++)
		add_key(values, &exprs, task, linitial_int(list_nth(task->uses, i)), list_nth_oid(task->equalities, i));
	if (linitial_int(columns) >= 0)
		add_key(values, &exprs, task, linitial_int(columns), BooleanEqualOperator);
	for (int i = 1; i < list_length(columns); i++)
	{
		const TargetEntry *argument = list_nth(aggref->args, i - 1);

		if (list_nth_int(columns, i) >= 0)
			add_key(values, &exprs, task, list_nth_int(columns, i), get_sortgroupref_clause(argument->ressortgroupref, group_sort_clauses(aggref))->eqop);
	}
	values->expected = (int) Min(group_count(task->root, exprs, num_rows), PG_INT32_MAX);
	return values;
}

/* Whether so many fit in memory, as rows that have room for all columns. */
static bool
fit(const group_task *task, const query *values)
{
	return (double) values->expected * task->record_bytes <= get_hash_memory_limit();
}

void
group_values_plan(group_task *task, double num_rows)
{
	task->values = NIL;
	/* the child may have computed an aggregate that is a key */
	for (int i = list_length(task->keys); i < list_length(task->outputs); i++)
	{
		const Aggref *aggref = list_nth(task->outputs, i);
		const char *why_not;
		group_plan	plan;
		query	   *values;

		if (!IsA(aggref, Aggref))
			continue;
		plan = group_plan_of(aggref, &why_not);
		if (!group_is_fed_values(aggref, &plan))
			continue;
		values = make_values(task, aggref, list_nth(task->uses, i), num_rows);
		/* where they do not, a job that has no other way leaves the aggregate to the node */
		if (fit(task, values))
			task->values = list_append_unique(task->values, values);
	}
}

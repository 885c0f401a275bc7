/*
 * source_joins.c
 *		Joins between a table's scan and a node: hash joins of PostgreSQL's, whose outer side ends in the scan.
 *
 * A table job may take them over: rows of the inner sides are read first, by sources of their own, and become builds.  The
 * join stays in the plan, and returns the rows if no job does.
 *
 * What is looked at is the plan as it is when it starts, since PostgreSQL has then decided which side is read first, what is
 * compared, and in which order.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "scan/row_source_state.h"

/* Columns of the inner side become those of a build. */
static Node *
name_build(Node *node, void *number)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((const Var *) node)->varno == INNER_VAR)
	{
		Var		   *var = copyObject((Var *) node);

		var->varno = EXPR_BUILD_VARNO + *(const int *) number;
		return (Node *) var;
	}
	return expression_tree_mutator(node, name_build, number);
}

bool
table_join_takes_outer(List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
		if (!IsA(lfirst(cell), Var))
			return false;
	return true;
}

/* Right and full joins: the outer side is a table's scan, or those of its partitions. */
static bool
takes_outer(const Plan *outer)
{
	List	   *exprs = NIL;
	ListCell   *cell;

	foreach(cell, IsA(outer, Append) ? ((const Append *) outer)->appendplans : NIL)
		if (!IsA(lfirst(cell), SeqScan) || !takes_outer(lfirst(cell)))
			return false;
	foreach(cell, outer->targetlist)
		exprs = lappend(exprs, ((const TargetEntry *) lfirst(cell))->expr);
	return (IsA(outer, SeqScan) || IsA(outer, Append)) && table_join_takes_outer(exprs);
}

static bool
takes_join(const HashJoin *join)
{
	JoinType	type = join->join.jointype;

	if (table_join_adds_unmatched(type) && !takes_outer(outerPlan(join)))
		return false;
	return (type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI || table_join_adds_unmatched(type)) &&
		!join->join.plan.parallel_aware;
}

List *
source_add_join(row_source *source, HashJoinState *node, List *exprs)
{
	const HashJoin *plan = (const HashJoin *) node->js.ps.plan;
	int			number = list_length(source->joins);
	source_join *join;
	List	   *own;

	if (!takes_join(plan))
		return NIL;
	join = palloc0(sizeof(source_join));
	join->node = node;
	join->rows = outerPlanState(innerPlanState(node));
	join->source = row_source_open_rows(join->rows);
	source->joins = lappend(source->joins, join);
	if (plan->join.jointype == JOIN_INNER)
		own = list_make3(plan->hashclauses, NIL, list_concat_copy(plan->join.joinqual, plan->join.plan.qual));
	else
		own = list_make3(plan->hashclauses, plan->join.joinqual, plan->join.plan.qual);
	exprs = lappend(exprs, own);
	return (List *) name_build((Node *) exprs, &number);
}

/* Joins as the scan of a reader has them, behind its columns. */
static List *
joins_of(const row_source *source, List *exprs)
{
	List	   *joins = NIL;
	ListCell   *cell;

	foreach(cell, source->joins)
	{
		const source_join *from = lfirst(cell);
		const HashJoin *plan = (const HashJoin *) from->node->js.ps.plan;
		List	   *own = list_nth(exprs, 1 + foreach_current_index(cell));
		table_join *join = palloc(sizeof(table_join));

		*join = (table_join) {
			.type = from->node->js.jointype,.may_repeat = table_join_may_repeat(from->node->js.jointype, plan->join.inner_unique, lsecond(own) != NIL),
			.clauses = linitial(own),.match_conditions = lsecond(own),.conditions = lthird(own),.words = from->words,.one_by_one = from->one_by_one,
			.num_rounds = Max(from->num_rounds, 1)
		};
		joins = lappend(joins, join);
	}
	return joins;
}

table_scan
row_source_scan(const row_source *source, int reader)
{
	table_scan	scan = heap_reader_scan(list_nth(source->readers, reader));

	if (source->joins)
	{
		List	   *exprs = list_nth(source->exprs, reader);

		scan.columns = linitial(exprs);
		scan.joins = joins_of(source, exprs);
	}
	return scan;
}

List *
row_source_joins(const row_source *source)
{
	return source->joins;
}

uint64
row_source_joins_number(const row_source *source)
{
	uint64		number = 0;
	ListCell   *cell;

	foreach(cell, source->joins)
	{
		char	   *plan = nodeToString(((const source_join *) lfirst(cell))->rows->plan);

		number = hash_combine64(number, DatumGetUInt64(hash_any_extended((const unsigned char *) plan, strlen(plan), 0)));
		pfree(plan);
	}
	return number;
}

double
row_source_rows(const row_source *source)
{
	double		sum = 0;
	ListCell   *cell;

	foreach(cell, source->readers)
		sum += heap_reader_expected_rows(lfirst(cell));
	return sum;
}

/* ---- running */

static void
rescan_changed(PlanState *node)
{
	if (node->chgParam)
		rescan_node(node);
}

void
source_settle_joins(const row_source *source)
{
	ListCell   *cell;

	/* from the child down, so that each hands changed parameters on */
	foreach(cell, source->passed)
		rescan_changed(lfirst(cell));
	foreach(cell, source->joins)
	{
		const source_join *join = lfirst(cell);

		rescan_changed(innerPlanState(join->node));
		/* PostgreSQL's join has read it */
		if (join->node->hj_HashTable && join->rows->chgParam == NULL)
			rescan_node(join->rows);
	}
}

void
row_source_end_build(source_join *join)
{
	row_source_stop(join->source);
	rescan_node(join->rows);
}

void
row_source_start_again(row_source *source)
{
	row_source_stop(source);
	rescan_node(source->child);
}

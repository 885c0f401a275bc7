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
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "expr/expr_builds.h"
#include "scan/row_source_state.h"

/* The side whose columns become a build's. */
typedef struct build_name
{
	int			number;
	bool		is_turned;
} build_name;

/* Columns of the side that becomes a build are named so, and others are those of the outer side. */
static Node *
name_build(Node *node, void *context)
{
	const build_name *name = context;
	Var		   *var;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || (((const Var *) node)->varno != INNER_VAR && ((const Var *) node)->varno != OUTER_VAR))
		return expression_tree_mutator(node, name_build, context);
	var = copyObject((Var *) node);
	var->varno = (var->varno == OUTER_VAR) == name->is_turned ? EXPR_BUILD_VARNO + name->number : OUTER_VAR;
	return (Node *) var;
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

static bool
is_table_scan(const Plan *plan)
{
	return IsA(plan, SeqScan) || IsA(plan, BitmapHeapScan);
}

/* Whether a plan is a table's scan, or those of its partitions. */
static bool
is_scan(const Plan *plan)
{
	ListCell   *cell;

	foreach(cell, IsA(plan, Append) ? ((const Append *) plan)->appendplans : NIL)
		if (!is_table_scan(lfirst(cell)))
			return false;
	return is_table_scan(plan) || IsA(plan, Append);
}

static bool
has_plain_columns(const Plan *plan)
{
	List	   *exprs = NIL;
	ListCell   *cell;

	foreach(cell, plan->targetlist)
		exprs = lappend(exprs, ((const TargetEntry *) lfirst(cell))->expr);
	return table_join_takes_outer(exprs);
}

/* Right and full joins: the outer side is a scan. */
static bool
takes_outer(const Plan *outer)
{
	ListCell   *cell;

	foreach(cell, IsA(outer, Append) ? ((const Append *) outer)->appendplans : NIL)
		if (!has_plain_columns(lfirst(cell)))
			return false;
	return is_scan(outer) && has_plain_columns(outer);
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

/* What a build has of a row beside its values, roughly. */
#define BYTES_BESIDE (3 * sizeof(uint64))

bool
table_join_is_turned(JoinType type, const join_side *outer, const join_side *inner)
{
	double		outer_bytes = outer->num_rows * (outer->width + BYTES_BESIDE);
	double		inner_bytes = inner->num_rows * (inner->width + BYTES_BESIDE);

	return (type == JOIN_SEMI || type == JOIN_ANTI) && inner->is_scan && inner_bytes > outer_bytes;
}

static bool
is_turned(const HashJoin *join)
{
	const Plan *outer = outerPlan(join);
	const Plan *inner = outerPlan(innerPlan(join));
	join_side	sides[2] = {{outer->plan_rows, outer->plan_width, false}, {inner->plan_rows, inner->plan_width, is_scan(inner)}};

	return table_join_is_turned(join->join.jointype, &sides[0], &sides[1]);
}

Expr *
table_join_switched(const OpExpr *clause)
{
	return make_opclause(get_commutator(clause->opno), BOOLOID, false, lsecond(clause->args), linitial(clause->args), InvalidOid,
						 clause->inputcollid);
}

static List *
switched(const List *clauses)
{
	List	   *made = NIL;
	ListCell   *cell;

	foreach(cell, clauses)
		made = lappend(made, table_join_switched(lfirst_node(OpExpr, cell)));
	return made;
}

static Node *
take_equal(Node *node, void *clauses)
{
	ListCell   *cell;

	foreach(cell, node ? (List *) clauses : NIL)
	{
		const OpExpr *clause = lfirst_node(OpExpr, cell);
		Node	   *other = lsecond(clause->args);

		if (equal(node, linitial(clause->args)) && exprType(node) == exprType(other))
			return copyObject(other);
	}
	return node ? expression_tree_mutator(node, take_equal, clauses) : NULL;
}

List *
table_join_take_equal(List *exprs, List *clauses)
{
	return (List *) take_equal((Node *) exprs, clauses);
}

static bool
has_inner(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Var) ? ((const Var *) node)->varno == INNER_VAR : expression_tree_walker(node, has_inner, context);
}

PlanState *
source_join_stream(const HashJoinState *node)
{
	return is_turned((const HashJoin *) node->js.ps.plan) ? outerPlanState(innerPlanState(node)) : outerPlanState(node);
}

List *
source_add_join(row_source *source, HashJoinState *node, List *exprs)
{
	const HashJoin *plan = (const HashJoin *) node->js.ps.plan;
	build_name	name = {list_length(source->joins), is_turned(plan)};
	List	   *clauses = name.is_turned ? switched(plan->hashclauses) : plan->hashclauses;
	source_join *join;
	List	   *own;

	if (name.is_turned)
		exprs = table_join_take_equal(exprs, clauses);
	if (!takes_join(plan) || (name.is_turned && has_inner((Node *) exprs, NULL)))
		return NIL;
	join = palloc0(sizeof(source_join));
	join->node = node;
	join->is_turned = name.is_turned;
	join->rows = name.is_turned ? outerPlanState(node) : outerPlanState(innerPlanState(node));
	source->joins = lappend(source->joins, join);
	if (plan->join.jointype == JOIN_INNER)
		own = list_make3(clauses, NIL, list_concat_copy(plan->join.joinqual, plan->join.plan.qual));
	else
		own = list_make3(clauses, plan->join.joinqual, plan->join.plan.qual);
	exprs = lappend(exprs, own);
	return (List *) name_build((Node *) exprs, &name);
}

/* Tables that a source reads: its own, then those of its smaller sides. */
static int
num_tables_of(const row_source *source)
{
	int			number = 1;
	ListCell   *cell;

	foreach(cell, source->joins)
		number += num_tables_of(((const source_join *) lfirst(cell))->source);
	return number;
}

/* The number of a variable's table among those; -1: it is of none, or rows of its side are read one by one. */
static int
table_of(const row_source *source, const Var *var)
{
	int			number = 1;
	int			table;
	const source_join *join;

	if (!IsA(var, Var) || var->varattno <= 0)
		return -1;
	if (var->varno < EXPR_BUILD_VARNO)
		return 0;
	for (int i = 0; i < (int) var->varno - EXPR_BUILD_VARNO; i++)
		number += num_tables_of(((const source_join *) list_nth(source->joins, i))->source);
	join = list_nth(source->joins, var->varno - EXPR_BUILD_VARNO);
	if (join->one_by_one || join->source->readers == NIL)
		return -1;
	table = table_of(join->source, list_nth(row_source_scan(join->source, 0).columns, var->varattno - 1));
	return table < 0 ? -1 : number + table;
}

static int *
tables_of(const source_join *join)
{
	List	   *columns;
	int		   *tables;
	ListCell   *cell;

	if (join->one_by_one || join->source->readers == NIL)
		return NULL;
	columns = row_source_scan(join->source, 0).columns;
	tables = palloc(list_length(columns) * sizeof(int) + 1);
	foreach(cell, columns)
		tables[foreach_current_index(cell)] = table_of(join->source, lfirst(cell));
	return tables;
}

const row_source *
row_source_of_column(const row_source *source, int *column)
{
	const Var  *var = list_nth_node(Var, row_source_scan(source, 0).columns, *column);

	if (var->varno < EXPR_BUILD_VARNO)
		return source;
	*column = var->varattno - 1;
	return row_source_of_column(((const source_join *) list_nth(source->joins, var->varno - EXPR_BUILD_VARNO))->source, column);
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
			.type = from->node->js.jointype,.is_turned = from->is_turned,
			.may_repeat = from->is_turned || table_join_may_repeat(from->node->js.jointype, plan->join.inner_unique, lsecond(own) != NIL),
			.clauses = linitial(own),.match_conditions = lsecond(own),.conditions = lthird(own),.words = from->words,.one_by_one = from->one_by_one,
			.tables = tables_of(from),.num_tables = num_tables_of(from->source),.num_rounds = Max(from->num_rounds, 1)
		};
		joins = lappend(joins, join);
	}
	return joins;
}

table_scan
row_source_scan(const row_source *source, int reader)
{
	table_scan	scan = heap_reader_scan(list_nth(source->readers, reader));

	if (list_length(source->readers) > 1)
		scan.conditions = table_scan_common_order(scan.conditions);
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

/*
 * grouping_sets.c
 *		GROUPING SETS, ROLLUP and CUBE as several plain groupings of the same rows.
 *
 * Each set becomes a node of its own below an Append (set_paths.c).  One node with several sets was rejected: it needs all of what a node
 * has once more.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#if PG_VERSION_NUM >= 180000
#include "rewrite/rewriteManip.h"
#endif
#include "utils/lsyscache.h"

#include "compat.h"
#include "query/grouping_sets.h"
#include "query/scan_path.h"

/* A set, and the clauses of all sets. */
typedef struct chosen_set
{
	const PlannerInfo *root;
	const List *set;
	List	   *all;
} chosen_set;

static bool
has_key(const chosen_set *chosen, Index ref)
{
	return list_member_int(chosen->set, ref);
}

/* GROUPING (…): a bit for each argument, set where the set does not have it as a key. */
static Node *
make_mask(const GroupingFunc *grouping, const chosen_set *chosen)
{
	int32		mask = 0;
	ListCell   *cell;

	foreach(cell, grouping->refs)
		mask = mask << 1 | !has_key(chosen, lfirst_int(cell));
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(mask), false, true);
}

static Node *
make_null(const Node *node)
{
	return (Node *) makeNullConst(exprType(node), exprTypmod(node), exprCollation(node));
}

/* The clause whose key an expression is, or NULL. */
static const SortGroupClause *
clause_of(const Node *node, const chosen_set *chosen)
{
	ListCell   *cell;

	foreach(cell, chosen->all)
		if (equal(node, get_sortgroupclause_expr(lfirst(cell), chosen->root->processed_tlist)))
			return lfirst(cell);
	return NULL;
}

/* What an expression is of a group of the set.  Arguments of aggregates are of rows, which have all keys. */
static Node *
of_set(Node *node, void *context)
{
	const chosen_set *chosen = context;
	const SortGroupClause *clause;

	if (node == NULL || IsA(node, Aggref))
		return node;
	if (IsA(node, GroupingFunc))
		return make_mask((const GroupingFunc *) node, chosen);
	clause = IsA(node, List) ? NULL : clause_of(node, chosen);
	if (clause)
		return has_key(chosen, clause->tleSortGroupRef) ? node : make_null(node);
	return expression_tree_mutator(node, of_set, context);
}

grouping
grouping_of_query(const PlannerInfo *root, PathTarget *target)
{
	return (grouping) {mgpu_group_clause(root), target, (List *) root->parse->havingQual, NIL};
}

grouping
grouping_of_set(const PlannerInfo *root, PathTarget *target, const List *set, List *columns)
{
	chosen_set	chosen = {root, set, root->parse->groupClause};
	grouping	of = {.target = copy_pathtarget(target),.columns = columns};
	ListCell   *cell;

	foreach(cell, chosen.all)
		if (has_key(&chosen, ((const SortGroupClause *) lfirst(cell))->tleSortGroupRef))
			of.clauses = lappend(of.clauses, lfirst(cell));
	of.target->exprs = (List *) mgpu_below_grouping(root, of_set((Node *) target->exprs, &chosen));
	of.having = (List *) mgpu_below_grouping(root, of_set(root->parse->havingQual, &chosen));
	return of;
}

Expr *
grouping_key(const PlannerInfo *root, const SortGroupClause *clause)
{
	return (Expr *) mgpu_below_grouping(root, get_sortgroupclause_expr((SortGroupClause *) clause, root->processed_tlist));
}

/* Whether a relation has the same rows each time that it is read. */
static bool
is_stable(PlannerInfo *root, const RelOptInfo *rel)
{
	return planner_rt_fetch(rel->relid, root)->rtekind == RTE_RELATION &&
		!contain_volatile_functions((Node *) extract_actual_clauses(rel->baserestrictinfo, false)) &&
		!contain_volatile_functions((Node *) extract_actual_clauses(rel->joininfo, false));
}

bool
grouping_may_reread(PlannerInfo *root, const Path *rows, table_executor executor)
{
	const RelOptInfo *rel = rows->parent;
	int			relid = -1;

	if (IS_SIMPLE_REL(rel))
		return (executor != TABLE_BY_NOBODY || scan_saved_cost(root, rows, rows->pathtarget->exprs) > 0) &&
			!contain_volatile_functions((Node *) extract_actual_clauses(rel->baserestrictinfo, false));
	/* a job of joins has no costs that readings would share */
	while (executor != TABLE_BY_NOBODY && (relid = bms_next_member(rel->relids, relid)) >= 0)
		if (root->simple_rel_array[relid] && !is_stable(root, root->simple_rel_array[relid]))
			return false;
	return executor != TABLE_BY_NOBODY;
}

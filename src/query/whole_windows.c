/*
 * whole_windows.c
 *		Aggregates over all rows, as subqueries.
 *
 * SELECT x / sum(x) OVER () FROM t has PostgreSQL keep all rows, in a file mostly, until the last one has been added; so has count(*) OVER () beside the first rows
 * of a page.  It also means:
 *
 *		SELECT x / (SELECT sum(x) FROM t) FROM t
 *
 * which reads the rows twice and keeps none.  Both are planned, and the cheaper one runs (query/correlated).  That is for aggregates that have the same value in
 * whatever order rows come, so for none of floats; and rows have to be the same the second time, so nothing among them is volatile.
 *
 * To have MgpuWindow do it, over rows in any order, was rejected: it would have to keep them, too.
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

#include "compat.h"
#include "query/offers.h"
#include "query/reductions.h"

/* Whether an aggregate has one value, to the last digit that it shows, in whatever order rows come. */
static bool
has_no_order(const WindowFunc *function)
{
	const known_reduction *known = function->winagg ? known_reduction_of(function->winfnoid) : NULL;

	if (known == NULL || (known->kind == REDUCED_NUMERIC_EXTREMES && exprTypmod(linitial(function->args)) < 0))
		return false;
	return known->kind != REDUCED_REAL && known->kind != REDUCED_SPREAD;
}

/* Whether a window is of all rows, and each row's frame too. */
static bool
is_of_all_rows(const WindowClause *window)
{
	int			options = window->frameOptions;
	bool		is_default = (options & FRAMEOPTION_NONDEFAULT) == 0;
	bool		has_ends = (options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0 && (options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) != 0;

	return window->partitionClause == NIL && window->orderClause == NIL && (is_default || (has_ends && (options & FRAMEOPTION_EXCLUSION) == 0));
}

static bool
is_whole(const Query *query, const WindowFunc *function)
{
	ListCell   *cell;

	foreach(cell, query->windowClause)
	{
		const WindowClause *window = lfirst(cell);

		if (window->winref == function->winref)
			return is_of_all_rows(window) && has_no_order(function);
	}
	return false;
}

static Aggref *
make_aggregate(const WindowFunc *function)
{
	Aggref	   *made = makeNode(Aggref);
	ListCell   *cell;

	made->aggfnoid = function->winfnoid;
	made->aggtype = function->wintype;
	made->aggcollid = function->wincollid;
	made->inputcollid = function->inputcollid;
	foreach(cell, function->args)
	{
		made->aggargtypes = lappend_oid(made->aggargtypes, exprType(lfirst(cell)));
		made->args = lappend(made->args, makeTargetEntry(lfirst(cell), (AttrNumber) (foreach_current_index(cell) + 1), NULL, false));
	}
	made->aggfilter = function->aggfilter;
	made->aggstar = function->winstar;
	made->aggkind = AGGKIND_NORMAL;
	made->aggno = made->aggtransno = -1;
	made->location = -1;
	return made;
}

/* SELECT the aggregate of the query's rows. */
static Node *
make_subquery(const Query *query, const WindowFunc *function)
{
	Query	   *rows = copyObject((Query *) query);
	SubLink    *link = makeNode(SubLink);

	rows->targetList = list_make1(makeTargetEntry((Expr *) make_aggregate(copyObject((WindowFunc *) function)), 1, pstrdup("whole"), false));
	rows->windowClause = rows->sortClause = rows->distinctClause = NIL;
	rows->limitOffset = rows->limitCount = NULL;
	rows->limitOption = LIMIT_OPTION_COUNT;
	rows->hasWindowFuncs = rows->hasDistinctOn = false;
	rows->hasAggs = true;
	IncrementVarSublevelsUp((Node *) rows, 1, 1);
	link->subLinkType = EXPR_SUBLINK;
	link->subselect = (Node *) rows;
	link->location = -1;
	return (Node *) link;
}

/* A query, as it was at first, and whether it has had such a function. */
typedef struct window_search
{
	const Query *query;
	bool		is_found;
} window_search;

static Node *
replace(Node *node, void *context)
{
	window_search *search = context;

	if (node == NULL)
		return NULL;
	if (!IsA(node, WindowFunc) || !is_whole(search->query, (WindowFunc *) node))
		return expression_tree_mutator(node, replace, context);
	search->is_found = true;
	return make_subquery(search->query, (WindowFunc *) node);
}

/* Whether some rows may be others when they are read again: of a sample, or from elsewhere. */
static bool
has_other_rows(Node *node, void *context)
{
	const RangeTblEntry *entry = (const RangeTblEntry *) node;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return entry->tablesample || (entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_FOREIGN_TABLE);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_other_rows, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, has_other_rows, context);
}

/* Whether rows may be read twice: they are not grouped, nor locked, and are the same. */
static bool
may_be_read_twice(const Query *query)
{
	return query->commandType == CMD_SELECT && query->hasWindowFuncs && !query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == NULL &&
		query->rowMarks == NIL && !query->hasTargetSRFs && !query->hasModifyingCTE && query->setOperations == NULL && !contain_volatile_functions((Node *) query) && !has_other_rows((Node *) query, NULL);
}

bool
whole_windows_are_in(const Query *query)
{
	ListCell   *cell;

	foreach(cell, query->hasWindowFuncs ? query->windowClause : NIL)
		if (is_of_all_rows(lfirst(cell)))
			return true;
	return false;
}

bool
whole_windows_rewrite(Query *query)
{
	window_search search = {.query = query};
	List	   *made;

	if (!whole_windows_are_in(query) || !may_be_read_twice(query))
		return false;
	made = (List *) replace((Node *) query->targetList, &search);
	if (!search.is_found)
		return false;
	query->targetList = made;
	query->hasSubLinks = true;
	query->hasWindowFuncs = contain_windowfuncs((Node *) made);
	return true;
}

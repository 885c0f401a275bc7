/*
 * custom_plan.h
 *		What plans of all nodes are made of, and what has to hold of their expressions and functions.
 */
#ifndef MGPU_QUERY_CUSTOM_PLAN_H
#define MGPU_QUERY_CUSTOM_PLAN_H

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "query/query.h"

/* Called once for each kind of node, when the library is loaded. */
extern void custom_plan_register(query_kind kind, const CustomScanMethods *methods);

/* What a path of a node is made of. */
typedef struct node_path
{
	query	   *query;
	List	   *entries;		/* expressions of the scan tuple, behind the pack if the node returns packs */
	List	   *quals;			/* conditions on it */
	RelOptInfo *rel;
	PathTarget *target;
	List	   *pathkeys;
	Path	   *child;
	bool		parallel_safe;
	bool		goes_back;		/* its rows can be read backward (exec/node) */
} node_path;

/* A path of a node, but for costs and rows. */
extern CustomPath *custom_plan_path(const node_path *of);

/* The query of a path, or NULL if it is none of a node. */
extern const query *custom_plan_query(const Path *path);

/*
 * Whether an expression has parts that a child cannot compute, or EXPLAIN not name: subqueries, window functions,
 * fields of records.  A simple one has none, is not volatile and returns no set.  allowed, unless NULL, is no such part.
 */
extern bool custom_plan_has_special_parts(Node *node, const WindowFunc *allowed);
extern bool custom_plan_is_simple(Expr *expr);

/*
 * Bytes of an expression's value as a column of a chunk (batch/chunk.h): of its cell, and one that says whether it is
 * NULL; and beside the cell, by the table's statistics, if the type has variable width.
 */
extern Size custom_plan_cell_bytes(const Expr *expr);
extern Size custom_plan_value_bytes(PlannerInfo *root, Expr *expr);

/* ereport(ERROR) unless the user may run the function. */
extern void custom_plan_check_function(Oid function, Oid user);

#endif							/* MGPU_QUERY_CUSTOM_PLAN_H */

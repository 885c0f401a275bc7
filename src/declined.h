/*
 * declined.h
 *		Why the planner took none of the extension's nodes.
 */
#ifndef MGPU_DECLINED_H
#define MGPU_DECLINED_H

#include "nodes/pathnodes.h"

struct ExplainState;

/* What could have been taken. */
typedef enum declined_node
{
	DECLINED_GROUP,
	DECLINED_TOP,
	DECLINED_SORT,
	DECLINED_WINDOW,
	DECLINED_SCAN,
	NUM_DECLINED
} declined_node;

/* Called once, when the library is loaded. */
extern void declined_init(void);

/*
 * A part of a query that the node could compute has been planned.  why_not is a constant clause, or NULL if the
 * node is the cheapest so far.
 */
extern void report_offer(const PlannerInfo *root, declined_node node, const char *why_not);

/* An index is built: by the extension if why_not is NULL, else by PostgreSQL, since that constant clause is true. */
extern void report_index_build(const char *index, const char *why_not);

/* Whether EXPLAIN has the option MGPU. */
extern bool report_is_wanted(struct ExplainState *es);

/* EXPLAIN prints such a node. */
extern void report_printed(struct ExplainState *es, declined_node node);

#endif							/* MGPU_DECLINED_H */

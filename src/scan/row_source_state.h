/*
 * row_source_state.h
 *		Internals of a row source, for row_source.c and source_joins.c.
 */
#ifndef MGPU_ROW_SOURCE_STATE_H
#define MGPU_ROW_SOURCE_STATE_H

#include "core/status.h"

#include "scan/row_source.h"

struct row_source
{
	PlanState  *child;
	List	   *readers;		/* of the child's tables; NIL: rows come one by one */
	int			current;		/* the reader to read next */
	List	   *passed;			/* nodes between */
	List	   *joins;			/* source_join, those among these; NIL: readers have the child's rows */
	List	   *exprs;			/* with joins, of each reader: columns, then clauses and conditions of each join */
	const Bitmapset *late_columns;
	late_pages *late;
	bool		ran_job;		/* the last one did all */
	char		no_gpu[MGPU_ERROR_MESSAGE_BYTES];	/* why no GPU has read the pages; "": nothing is known */
};

/* The side of a join whose rows are looked up in a build of the other's. */
extern PlanState *source_join_stream(const HashJoinState *node);

/*
 * Add a join, whose smaller side has no source yet, and its own expressions to those of what it returns.  Returns all of these with its columns of a
 * build as such; NIL: no job does it.
 */
extern List *source_add_join(row_source *source, HashJoinState *node, List *exprs);

/* Have all nodes of joins take changed parameters over. */
extern void source_settle_joins(const row_source *source);

#endif							/* MGPU_ROW_SOURCE_STATE_H */

/*
 * top.h
 *		MgpuTop, a plan node that keeps the first rows of each partition.
 *
 * Contents of its CustomScan:
 *
 *	 custom_plans		one child, whose rows are the columns
 *	 custom_scan_tlist	the scan tuple: the columns, then the window function, if there is one
 *	 custom_private		a query
 */
#ifndef MGPU_EXEC_TOP_H
#define MGPU_EXEC_TOP_H

#include "batch/spill.h"
#include "exec/device_rows.h"
#include "exec/row_history.h"
#include "exec/top_rows.h"
#include "scan/row_source.h"

#include "nodes/extensible.h"

/* A running node. */
typedef struct top_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	group_keys	partitions;
	row_compare order;
	top_limit	limit;
	bool		has_number;		/* the last entry of the scan tuple is the rows' number */
	row_source *source;
	row_history history;
	chunk	   *rows;			/* that were read last */
	Size		row_bytes;		/* of a row, but for its values of variable width */
	top_rows   *top;
	device_rows device;			/* or what a GPU has kept */
	spill		spill;
	bool		collected;		/* all rows of the child have been read */

	/* for EXPLAIN */
	int64		num_partitions;
	Size		most_bytes;
} top_state;

/* Keep columns that are no keys as they come: they are only handed on.  Returns their numbers. */
extern Bitmapset *top_keep_stored(chunk *rows, const query *query);

/* The order keys, in the current context, for rows with the columns of like. */
extern row_compare top_order_of(const query *query, const chunk *like);

/* ExplainCustomScan (top_explain.c). */
extern void top_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

/* Sort keys of a plan node as EXPLAIN shows them. */
extern List *top_explain_keys(CustomScanState *css, List *ancestors, struct ExplainState *es);

#endif							/* MGPU_EXEC_TOP_H */

/*
 * rows_below.h
 *		The rows of a node's child that come from MgpuWindow: a job of the node takes them as columns.
 */
#ifndef MGPU_EXEC_ROWS_BELOW_H
#define MGPU_EXEC_ROWS_BELOW_H

#include "exec/node.h"
#include "exec/window_cells.h"

/* Between a node and the windows whose rows it reads. */
struct rows_below
{
	List	   *passed;			/* nodes between: they are not executed */
	struct window_state *windows;
	List	   *columns;		/* the child's: expressions of the windows' scan tuple, whose columns are those of relation 1 */
	List	   *conditions;		/* that rows meet, of the same */

	/* once a job for the windows' rows is made */
	row_layout	layout;
	window_cells *cells;
	bool		(*accepts) (void *context);
	void	   *context;
	device_query *sorted;		/* NULL: it has not run; the sort's node has it, for EXPLAIN */
	bool		ran;			/* for EXPLAIN: the last job above took all rows */
};

/* What a child's rows are that come from windows, in the current context; NULL: they do not. */
extern rows_below *rows_below_open(PlanState *child);

/* How many rows are expected. */
extern double rows_below_number(const rows_below *below);

/* What a job above reads, once it is known how values are stored. */
extern table_scan rows_below_scan(const rows_below *below);
extern ExprContext *rows_below_context(const rows_below *below);

/*
 * Have a job sort the windows' rows, in the current context, unless the job above, which can be made by then, is not to run: accepts.  false: there are
 * no rows.
 */
extern bool rows_below_start(rows_below *below, bool (*accepts) (void *context), void *context);

/* The next batch, for a job: as window_cells_fill. */
extern uint32 rows_below_fill(rows_below *below, const table_job *job, char *batch, Size bytes);
extern bool rows_below_fails(const rows_below *below);

/* All rows were taken, of which so many have met the conditions; or none were. */
extern void rows_below_end(rows_below *below, bool done, uint64 num_rows);

#endif							/* MGPU_EXEC_ROWS_BELOW_H */

/*
 * node.h
 *		The plan node: one CustomScan, whose operator is that of its query's kind.
 *
 * Contents of the CustomScan:
 *
 *	 custom_plans		one child, whose rows are the columns, or packs of them
 *	 custom_scan_tlist	the scan tuple
 *	 custom_private		a query (query/query.h)
 */
#ifndef MGPU_EXEC_NODE_H
#define MGPU_EXEC_NODE_H

#include "nodes/extensible.h"
#include "utils/tuplestore.h"

#include "batch/group_keys.h"
#include "batch/row_compare.h"
#include "batch/rows.h"
#include "batch/spill.h"
#include "query/query.h"
#include "scan/row_source.h"

struct ExplainState;
typedef struct node_state node_state;
typedef struct rows_below rows_below;

/* What a kind of node does.  Functions that it does not need are NULL. */
typedef struct node_operator
{
	const char *name;
	Size		state_bytes;	/* of its state, which begins with a node_state */

	/* Prepare to run, in memory of the query.  The child is initialized. */
	void		(*begin) (node_state *node);

	/* The next scan tuple, or NULL.  The memory of the tuple before has been reset. */
	TupleTableSlot *(*next) (node_state *node);

	/*
	 * For node_read.  A GPU reads the child's rows, and the operator is done with them; or rows are to come, then
	 * there are some, of which more are to come, and then the last.
	 */
	bool		(*read_by_device) (node_state *node);
	void		(*start) (node_state *node);
	void		(*take) (node_state *node);
	void		(*finish) (node_state *node);

	/* The child has been read, and would return the same rows: return the same again, or return false. */
	bool		(*restart) (node_state *node);

	/* Forget what was read: the node starts anew, or ends. */
	void		(*forget) (node_state *node);

	/* For EXPLAIN: what was planned, and what has happened once all rows were read. */
	void		(*explain) (node_state *node, List *ancestors, struct ExplainState *es);
	void		(*explain_run) (node_state *node, struct ExplainState *es);
} node_operator;

/* The rows that a node has returned, for a cursor that goes back. */
typedef struct row_history
{
	Tuplestorestate *store;		/* NULL: the node is read forward only */
	TupleTableSlot *kept;		/* a row of it */
	bool		at_end;			/* the node has no more rows */
} row_history;

/* A running node. */
struct node_state
{
	CustomScanState css;		/* first member: PostgreSQL casts to it */
	const node_operator *operator;
	const query *query;
	PlanState  *child;
	row_history history;

	/* its input */
	row_source *source;			/* NULL: the child returns packs */
	rows_below *below;			/* where its rows come from windows, else NULL */
	chunk	   *rows;			/* that were read last, or all of them */
	Size		row_bytes;		/* memory of a row, but for its values of variable width */
	uint64		step_rows;		/* rows that are read at a time, ... */
	Size		step_bytes;		/* ... or bytes of their values of variable width */
	bool		ended;			/* the child has no more rows */
	bool		gave_cells;		/* its rows went to a job above as columns, and it has returned none */
	bool		is_merged;		/* what it returns are groups of another node, merged: it has read nothing */
	uint64		num_rows;		/* expected, of the child or of a partition */
	int			level;			/* of a split of these; 0: they cannot be split */
	spill		spill;
	Size		most_bytes;		/* for EXPLAIN */
};

extern const node_operator group_operator;
extern const node_operator rows_operator;
extern const node_operator top_operator;
extern const node_operator sort_operator;
extern const node_operator window_operator;
extern const node_operator scan_operator;

/* Let plans have the nodes.  Called once, when the library is loaded. */
extern void nodes_init(void);

/* A plan's node as one of these, or NULL. */
extern node_state *node_of(PlanState *plan);

/* ---- for operators, when they begin */

/* Prepare to read the child. */
extern void node_open(node_state *node);

/* Fill the key columns of the query.  Rows that do not fit are to be partitioned by them. */
extern void node_start_keys(node_state *node, group_keys *keys);

/* Some of the query's order columns as keys, in the current context, for rows with the columns of like. */
extern row_compare node_order(const query *query, const chunk *like, int first, int num_keys);

/* ---- for operators, when they run (node_read.c) */

/* Rows that are expected of the child. */
extern uint64 node_expected_rows(const node_state *node);

/* Read the child to its end. */
extern void node_read_child(node_state *node);

/* Read the next partition of rows that did not fit.  False: there are no more. */
extern bool node_read_partition(node_state *node);

/* Append the child's next rows: a step.  False: the child has no more. */
extern bool node_read_step(node_state *node);

/* Take memory for the rows that are expected, so that columns need not move while they grow. */
extern void node_reserve(node_state *node);

/* Memory for rows: all, but for the buffers of files once there are some. */
extern Size node_limit_bytes(const node_state *node);

/* Whether the rows, and so many bytes beside them, take more.  To be asked of each step. */
extern bool node_is_full(node_state *node, Size beside_bytes);

/* Write rows to partitions and free them.  row_bytes: memory of one. */
extern void node_spill(node_state *node, chunk *rows, Size row_bytes);

/* Put a row of a chunk into the scan slot, of which nothing else has values. */
extern TupleTableSlot *node_return_row(node_state *node, const chunk *rows, uint64 row);

/* Put some rows of a chunk into the scan slot as a pack, and move *next, the first of them, behind them. */
extern TupleTableSlot *node_return_pack(node_state *node, const chunk *rows, uint64 *next, uint32 most_rows);

/* ---- EXPLAIN (node_explain.c) */

extern void node_explain(CustomScanState *css, List *ancestors, struct ExplainState *es);

/* Print entries of the scan tuple by their numbers; or the order columns, as PostgreSQL's Sort shows them but for collations. */
extern void node_explain_entries(node_state *node, const char *label, List *entries, List *ancestors, struct ExplainState *es);
extern void node_explain_order(node_state *node, List *ancestors, struct ExplainState *es);

#endif							/* MGPU_EXEC_NODE_H */

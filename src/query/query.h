/*
 * query.h
 *		What a plan node is asked to compute, as plans carry it.
 *
 * The planner makes one, and it is the only content of a CustomScan's custom_private: EXPLAIN and the executor read
 * nothing else of the planner's.  It has numbers of columns, operators and functions.  Expressions are in
 * custom_scan_tlist and in the child's target, where the planner fixes them; constants are the exception, since there
 * is nothing to fix.
 */
#ifndef MGPU_QUERY_QUERY_H
#define MGPU_QUERY_QUERY_H

#include "nodes/extensible.h"

/* What kind of node has it. */
typedef enum query_kind
{
	QUERY_GROUP,				/* MgpuGroup */
	QUERY_ROWS,					/* MgpuRows */
	QUERY_TOP,					/* MgpuTop */
	QUERY_SORT,					/* MgpuSort */
	QUERY_WINDOW,				/* MgpuWindow */
	QUERY_SCAN					/* MgpuScan */
} query_kind;

#define NUM_QUERY_KINDS (QUERY_SCAN + 1)

/* How MgpuGroup groups rows.  With the last two, groups of workers and their states are in packs (group_partial.c). */
typedef enum group_method
{
	GROUP_SORT,
	GROUP_FOLD,
	GROUP_COMBINE,
	GROUP_PARTIAL
} group_method;

/* Which number of a row in its partition is limited. */
typedef enum top_rule
{
	TOP_ROWS,					/* its place: equal rows in the order in which they came */
	TOP_RANKS,					/* one more than there are rows before it */
	TOP_DENSE_RANKS				/* one more than there are different rows before it */
} top_rule;

/* Where the frame of a window ends. */
typedef enum window_frame
{
	WINDOW_ROWS,				/* with the row */
	WINDOW_PEERS,				/* with the last row that is equal in the order */
	WINDOW_PARTITION
} window_frame;

typedef enum window_kind
{
	WINDOW_ROW_NUMBER,
	WINDOW_RANK,
	WINDOW_DENSE_RANK,
	WINDOW_OTHER_ROW,			/* lag, lead */
	WINDOW_FIRST_VALUE,
	WINDOW_LAST_VALUE,
	WINDOW_NTH_VALUE,
	WINDOW_NTILE,
	WINDOW_PERCENT_RANK,
	WINDOW_CUME_DIST,
	WINDOW_AGGREGATE			/* one of query/reductions, over the frame's rows */
} window_kind;

/* Columns are those of the child's rows, from 0.  Lists of one thing have an element for each, in the same order. */
typedef struct query
{
	ExtensibleNode node;
	int			kind;			/* query_kind */

	/* MgpuGroup: grouping keys, which come first in the scan tuple.  MgpuTop: partition keys. */
	List	   *key_columns;
	List	   *key_equalities; /* operators */
	List	   *key_collations;

	/* MgpuTop, MgpuSort: sort keys.  MgpuWindow: the partition's, then the others. */
	List	   *order_columns;
	List	   *order_operators;	/* <  or > of a btree operator family */
	List	   *order_collations;
	List	   *order_nulls_first;	/* not of MgpuWindow */

	int			by_job;			/* bool: a table job is expected to have the answer, for EXPLAIN */

	/* MgpuGroup, and MgpuRows, which has the last one alone */
	int			method;			/* group_method */
	List	   *uses;			/* of each output a list of columns: its own, or for an Aggref that of its filter, then those of
								 * its arguments; -1 for no filter and for an argument that is a constant */
	List	   *firsts;			/* bool of each output: of its array the first element alone is wanted; NIL: of none */
	List	   *packed_types;	/* of the columns in a pack, if the child returns packs */
	List	   *stored;			/* columns that are kept as they come */
	int			shared;			/* one more than the number of the executor's parameter by which grouping sets share the
								 * answers of their jobs; 0: none */
	int			merges;			/* bool: the groups are to be merged from those of another set */
	List	   *values;			/* queries that find values of groups, of more keys, for mode() and aggregates with DISTINCT (group_values.c) ... */
	int			expected;		/* ... and of such a query how many */

	/* MgpuTop, MgpuSort */
	int			rule;			/* top_rule */
	int			count;			/* the last number that is wanted; 0: all, which MgpuSort returns */
	int			fits;			/* of MgpuSort, bool: its rows are expected to fit in memory */
	int			as_cells;		/* bool: a job's rows come back as numbers of 8 bytes, whose forms order and tell all values (table_rows.c) */

	/* MgpuWindow */
	int			num_partition_keys;
	List	   *frames;			/* window_frame of each window: all have one order, or none */
	List	   *preceding;		/* rows in front of the row with which its frame begins; -1: the partition's first */
	List	   *following;		/* of WINDOW_ROWS: rows behind the row with which it ends; negative: before it */
	List	   *ranges;			/* Consts: what is taken off the order's key for the least key of a frame, or NULL */
	List	   *functions;		/* window_kind of each */
	List	   *of_frames;		/* the number of the frame of each */
	List	   *aggregates;		/* OIDs of those */
	List	   *arguments;		/* columns; -1: none */
	List	   *offsets;		/* how many rows further, or back if negative; the number that ntile or nth_value has */
	List	   *defaults;		/* Consts, Integers: numbers of columns, or NULL */
	int			as_columns;		/* bool: a job above is expected to have its rows as columns (window_columns.c) */
} query;

extern query *query_create(query_kind kind);

/* Of a plan's, or a path's, custom_private. */
extern query *query_of(List *private);

static inline bool
query_wants_first(const query *query, int output)
{
	return query->firsts != NIL && list_nth_int(query->firsts, output) != 0;
}

/* The query of a query's values whose keys are an output's columns beside its own keys; NULL: there is none. */
extern const query *query_values_of(const query *query, int output);

/* Whether a node returns packs: to the planner, one column (query/group_query.c). */
static inline bool
query_returns_packs(const query *query)
{
	return query->kind == QUERY_ROWS || (query->kind == QUERY_GROUP && query->method == GROUP_PARTIAL);
}

/* Called once, when the library is loaded: workers read plans. */
extern void query_init(void);

#endif							/* MGPU_QUERY_QUERY_H */

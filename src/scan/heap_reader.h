/*
 * heap_reader.h
 *		Reads a heap table into chunks, a page at a time, in place of a Seq Scan node.
 */
#ifndef MGPU_HEAP_READER_H
#define MGPU_HEAP_READER_H

#include "nodes/execnodes.h"

#include "compat.h"
#include "batch/chunk.h"
#include "scan/late_columns.h"

struct ExplainState;
typedef struct heap_reader heap_reader;

/*
 * A join of the table's rows with those of a build: number i of table_scan.joins, whose columns are variables of build i
 * (expr/expr_builds.h).
 */
typedef struct table_join
{
	JoinType	type;			/* INNER, LEFT, RIGHT, FULL, SEMI, ANTI */
	bool		is_turned;		/* SEMI, ANTI: the table is the inner side, and rows of the build come that have a match, or none */
	bool		may_repeat;		/* a row may match several of the build's, which all come */
	List	   *clauses;		/* operators of equality, between what a row has and what the build's row has */
	List	   *match_conditions;	/* what else a pair meets that is a match; not of inner joins */
	List	   *conditions;		/* that the result meets */
	const int  *words;			/* of the texts of each of the build's columns, digits of numerics that show their own; NULL: they are not known */
	bool		one_by_one;		/* the build's rows are read so, not by a job: their texts may be numbers */
	const int  *tables;			/* of each of the build's columns, the number of its table among those that a job reads for the build; -1: it is of
								 * none, so that rows have no TIDs.  NULL: all are. */
	int			num_tables;		/* that one which streams, then those of the smaller sides' builds */
	int			num_rounds;		/* in which its build's rows are there, a part in each: the table is read that often */
} table_join;

/* Whether a join also returns rows of the build that no row of the table matches. */
static inline bool
table_join_adds_unmatched(JoinType type)
{
	return type == JOIN_RIGHT || type == JOIN_FULL;
}

/* Whether several rows of the build have to be looked at for a row. */
static inline bool
table_join_may_repeat(JoinType type, bool inner_unique, bool has_conditions)
{
	return !inner_unique && (has_conditions || (type != JOIN_SEMI && type != JOIN_ANTI));
}

/* A side of a join, as paths and plans have it. */
typedef struct join_side
{
	double		num_rows;
	int			width;			/* of a row */
	bool		is_scan;		/* of a table, or its partitions */
} join_side;

/* Whether the inner side streams and the outer one is the build: EXISTS and NOT EXISTS, if that build takes less memory. */
extern bool table_join_is_turned(JoinType type, const join_side *outer, const join_side *inner);

/*
 * Expressions above a semijoin that is turned: what a column of the table is equal to stands for it, by clauses as table_join has them.  PostgreSQL may
 * use either in conditions further up, but the rows that come have no row of the table.
 */
extern List *table_join_take_equal(List *exprs, List *clauses);

/* An equality with its sides in the other order. */
extern Expr *table_join_switched(const OpExpr *clause);

/* Whether a right or full join may have expressions of its outer side: NULL is what they are where that has no row. */
extern bool table_join_takes_outer(List *exprs);

/*
 * Conditions in an order that partitions have in common, whether an index has met some of them or not: comparisons of a column with what no row has come
 * first, by columns and operators.  They never fail, so that others may be behind them.
 */
extern List *table_scan_common_order(List *conditions);

/* Rows that are no table's, and how their values are stored (core/input_batch.h): those of relation 1. */
typedef struct row_layout
{
	const int16 *lengths;		/* of each attribute, as attlen */
	Bitmapset  *numbers;		/* attributes that are numerics, with a typmod, and come as numbers of 8 bytes */
	const int  *widths;			/* of each attribute: bytes of texts, at most */
	int			shown_scale;	/* digits that other numerics show, at most */
} row_layout;

/* Which columns of which rows of a table are read: expressions of its attributes, and conditions in the order of the plan. */
typedef struct table_scan
{
	Relation	relation;		/* NULL: rows are no table's */
	const row_layout *rows;		/* how these are stored */
	List	   *columns;
	List	   *conditions;
	List	   *joins;			/* table_join: the one that rows come out of last is the first */
} table_scan;

/* For EXPLAIN. */
typedef struct heap_reader_counts
{
	int64		pages;
	int64		checked_pages;	/* of these, pages whose rows' visibility was checked one by one */
} heap_reader_counts;

/* Whether tables of this kind can be read so, in this transaction. */
extern bool heap_reader_reads(Relation relation);

/* Whether a scan with this target and these conditions, implicitly joined by AND, can be read so. */
extern bool heap_reader_takes(List *exprs, List *conditions);

/* Whether programs meet all conditions, so that no row is one for PostgreSQL's executor. */
extern bool heap_reader_computes(List *conditions);

/*
 * Make a reader of expressions of a scan's columns, in the current context, for the rows that the scan node would
 * return.  The node stays in charge of the scan: it rescans and ends it.  NULL: rows have to be taken from the
 * node one by one.
 *
 * Of the expressions with these numbers, from 0 on, those that are attributes are filled by late_pages_complete, and
 * the caller, who has the late pages, releases them.
 */
extern heap_reader *heap_reader_open(ScanState *scan, List *exprs, const Bitmapset *late_columns, late_pages *late);

/* Have a node begin again.  What nodes below keep of changed parameters lives as long as the query. */
extern void rescan_node(PlanState *node);

/* Say in EXPLAIN (VERBOSE) what programs compute, and what PostgreSQL's executor does for each row. */
extern void heap_reader_explain(const heap_reader *reader, List *ancestors, struct ExplainState *es);

/* What it reads, and where its expressions are evaluated. */
extern table_scan heap_reader_scan(const heap_reader *reader);
extern struct ExprContext *heap_reader_context(const heap_reader *reader);

/* How many rows it is expected to read, whatever conditions leave of them. */
extern double heap_reader_expected_rows(const heap_reader *reader);

/*
 * Append the visible rows of the next page that has any to rows, whose columns are the expressions.  False: there are
 * no more.
 */
extern bool heap_reader_read(heap_reader *reader, chunk *rows);

/*
 * Before another way to read all pages is tried (heap_sender.h): take changed parameters over.  False: other processes read
 * some of the pages.
 */
extern bool heap_reader_prepare(heap_reader *reader);

/*
 * Read until PostgreSQL's executor has run the subqueries whose results conditions compare with, as it does for the first row that comes to them, and
 * begin anew.  false: no row has come to some.
 */
extern bool heap_readers_run_queries(const List *readers);

/* Of the scan's node, or NULL. */
extern struct NodeInstrumentation *heap_reader_instrument(const heap_reader *reader);

/* Stop reading.  The next read begins anew; the node has to be rescanned between. */
extern void heap_reader_stop(heap_reader *reader);

extern heap_reader_counts heap_reader_count(const heap_reader *reader);

#endif							/* MGPU_HEAP_READER_H */

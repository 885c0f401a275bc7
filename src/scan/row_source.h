/*
 * row_source.h
 *		The rows of a node's child: pages of a table as columns where that can be, else rows one by one.
 */
#ifndef MGPU_SCAN_ROW_SOURCE_H
#define MGPU_SCAN_ROW_SOURCE_H

#include "nodes/execnodes.h"

#include "scan/heap_reader.h"

struct ExplainState;
typedef struct row_source row_source;

/*
 * In the current context.  The child is initialized, and returns the columns of the chunks to come.  Late columns, by their
 * numbers from 0 on, may be left until row_source_complete, which fills them for rows of the chunk that are
 * wanted.  The rows' numbers ascend.  Stored values (batch/chunk.h) of these columns then lie in pages until
 * row_source_release, which the caller owes before it reads into an empty chunk.
 */
extern row_source *row_source_open(PlanState *child, const Bitmapset *late_columns);
extern void row_source_complete(row_source *source, chunk *rows, const uint32 *numbers, uint64 num_rows);
extern void row_source_release(row_source *source);

/*
 * What a node has of its child's rows: columns, as variables of OUTER_VAR.  And an expression of those as one of what the child's own node below returns; plan
 * is the child.
 */
extern List *row_source_columns(const Plan *child);
extern Node *row_source_look_below(Node *node, void *plan);

/* Append the next rows, one or those of a page.  False: there are no more. */
extern bool row_source_read(row_source *source, chunk *rows);

/* Stop reading.  The next read begins anew; the child has to be rescanned between. */
extern void row_source_stop(row_source *source);

/*
 * The readers of the child's rows if they are read as pages, and all by this process; else NIL.  The child is ready to be read from
 * its start.
 */
extern List *row_source_readers(row_source *source);

/* What a reader reads, and the joins of its rows. */
extern table_scan row_source_scan(const row_source *source, int reader);

/*
 * A join between the child and its tables (source_joins.c).  Then only a job reads pages, and has the rows of the smaller sides
 * before: its caller reads those.
 */
typedef struct source_join
{
	HashJoinState *node;
	bool		is_turned;		/* as of table_join */
	PlanState  *rows;			/* the smaller side */
	row_source *source;			/* of its rows */
	int		   *words;			/* of its texts, and digits of numerics, by columns, once they are known */
	bool		one_by_one;		/* as of table_join */
	int			num_rounds;		/* the same; 0: not known */
} source_join;

extern List *row_source_joins(const row_source *source);

/* The source of the table that one of the rows' columns is an attribute of, maybe that of a smaller side's side; *column: its number there. */
extern const row_source *row_source_of_column(const row_source *source, int *column);

/* A number for the smaller sides' plans, whatever its parameters are; 0: there are no joins. */
extern uint64 row_source_joins_number(const row_source *source);

/* How many rows a job is expected to read. */
extern double row_source_rows(const row_source *source);

/* All rows of a build have been read, or no more are wanted: its side is ready to be read again. */
extern void row_source_end_build(source_join *join);

/* Pages or builds have been read, and the child's rows are wanted after all: from the first on. */
extern void row_source_start_again(row_source *source);

/* Tell the nodes between the scans and the node that they begin or end to run, for EXPLAIN ANALYZE. */
extern void row_source_instrument(const row_source *source, bool begins, uint64 num_rows);

/* Keep for EXPLAIN whether a job has read the pages, and why no GPU has; NULL: nothing is said of that. */
extern void row_source_tell(row_source *source, bool ran_job, const char *why_not);

/* Say in EXPLAIN how rows are read, or are expected to be: by a job; and in EXPLAIN ANALYZE what this process has read since the last rescan. */
extern void row_source_explain(const row_source *source, bool by_job, List *ancestors, struct ExplainState *es);
extern void row_source_explain_pages(const row_source *source, struct ExplainState *es);

#endif							/* MGPU_SCAN_ROW_SOURCE_H */

/*
 * device_query.h
 *		What a node asks a GPU to compute of a table, and its answer.
 */
#ifndef MGPU_EXEC_DEVICE_QUERY_H
#define MGPU_EXEC_DEVICE_QUERY_H

#include "batch/pick.h"
#include "run/run_table.h"
#include "scan/heap_sender.h"

struct ExplainState;

/* Why no GPU was asked, for EXPLAIN. */
#define DEVICE_QUERY_NONE "a GPU does no statements of this kind"

typedef struct device_query
{
	heap_sender *sender;
	group_request request;
	int64		copied_pages;	/* for EXPLAIN */

	/* The groups at hand: all, or some of those that are in files. */
	uint64		first;			/* their place among all groups */
	uint32		num_groups;
	const uint64 *records;
	char	   *values[MGPU_GROUP_MAX_SORTS];
	uint64		values_end[MGPU_GROUP_MAX_SORTS];	/* bytes of values up to those of the last group */
} device_query;

/* The spec's column that holds a column of the node's rows. */
static inline int
device_query_column(const device_query *query, int column)
{
	return heap_sender_column(query->sender, column);
}

/* Ask for a reduction of a column of the spec; the answer may have more. */
extern void device_query_reduce(device_query *query, int column, mgpu_reduction reduction);

/*
 * Ask for what the values of a column of the spec are in order.  The number of the sort, or -1: there are too many.  The
 * same values are sorted once.
 */
extern int	device_query_sort(device_query *query, int column, bool descending, uint32 returns);

/* Ask for a percentile of a sort; its number, or -1. */
extern int	device_query_percentile(device_query *query, int sort, double fraction, bool continuous);

/* Run what was asked.  The scan's node counts the rows, as if it had returned them.  False: nothing was read. */
extern bool device_query_run(device_query *query, heap_reader *reader);

/* What EXPLAIN ANALYZE says of a node that a GPU has worked for. */
extern void device_query_explain(const device_query *query, struct ExplainState *es);

/* Forget the answer. */
extern void device_query_forget(device_query *query);

/* ---- the answer */

/* Have the next groups at hand, in the current context, or start again.  False: there are no more. */
extern bool device_query_next(device_query *query);
extern void device_query_restart(device_query *query);

/* A group's record, by its number among the groups at hand. */
static inline const uint64 *
device_query_record(const device_query *query, uint32 group)
{
	return query->records + (Size) group * query->request.record.num_words;
}

/* The value of a column that has this code. */
extern Datum device_query_datum(const device_query *query, int column, uint64 code);

#endif							/* MGPU_EXEC_DEVICE_QUERY_H */

/*
 * device_query.h
 *		What a node asks a GPU to compute of a table, and its answer.
 */
#ifndef MGPU_EXEC_DEVICE_QUERY_H
#define MGPU_EXEC_DEVICE_QUERY_H

#include "batch/pick.h"
#include "exec/join_builds.h"
#include "query/table_job.h"
#include "run/run_table.h"
#include "scan/heap_sender.h"
#include "scan/row_source.h"

struct ExplainState;

/* Whether somebody has use for the answer of a job that is made, and not sent yet. */
typedef bool (*device_accepts_fn) (void *context, const table_job *job);

struct rows_below;
struct device_query;

/* What a node wants. */
typedef struct device_question
{
	const char *node;			/* its name */
	row_source *source;			/* its rows, */
	struct rows_below *below;	/* or NULL, or where they come from (exec/rows_below.h) */
	table_question of;			/* but for the scan */
	double		expected_rows;
	double		expected_results;	/* groups, or rows that the node returns */
	Size		group_bytes;	/* that the node takes for each group beside the answer */
	Size		most_bytes;		/* that its answer may have in memory; 0: work_mem times hash_mem_multiplier */
	MemoryContext outputs;		/* where outputs that fit in memory go; NULL: with the query */
	bool		(*tells) (const struct device_query *query);	/* whether the answer says all that is asked; NULL: it does */
	device_accepts_fn accepts;	/* NULL: all are wanted */
	void	   *accepts_context;
} device_question;

typedef struct device_query
{
	MemoryContext context;		/* of it and what it has */
	table_job	job;
	group_request request;
	join_builds builds;
	uint64		number;			/* to remember that rows are beyond it */
	heap_sender *sender;
	const char *why_no_round;	/* why builds of a round could not be made */
	int64		copied_pages;	/* for EXPLAIN */
	int64		kept_pages;

	/* The groups at hand: some of all. */
	uint64		first;			/* their place among all groups */
	uint32		num_groups;
	uint32		num_read;		/* of the answer: some may have been left out */
	const uint64 *records;
	char	   *values[MGPU_GROUP_MAX_SORTS];
	uint64		values_end[MGPU_GROUP_MAX_SORTS];	/* bytes of values up to those of the last group */
} device_query;

/*
 * Have a GPU answer, in a context of the query's own below parent.  The scan's node counts the rows, as if it had returned
 * them.  NULL: none does or can, nothing was read, and EXPLAIN says why not.
 */
extern device_query *device_query_run(MemoryContext parent, const device_question *question);

/* ---- parts of that */

/* A query without a job (device_answer.c). */
extern device_query *device_query_create(MemoryContext parent, const device_question *question, double num_read);

/* The same of rows that come from windows (device_below.c). */
extern device_query *device_query_run_below(MemoryContext parent, const device_question *question);

/* What EXPLAIN ANALYZE says of a node that a GPU has worked for. */
extern void device_query_explain(const device_query *query, struct ExplainState *es);

/* Forget the query and its answer. */
extern void device_query_forget(device_query *query);

/* ---- the answer */

/* Have the next groups at hand, in the current context, or start again.  False: there are no more. */
extern bool device_query_next(device_query *query);
extern void device_query_restart(device_query *query);

/* Records of groups, by the place of the first among all, where they are; in buffer if they are in files. */
extern const uint64 *device_query_read(const device_query *query, uint64 first, uint64 num_groups, char *buffer);

/* A group's record, by its number among the groups at hand. */
static inline const uint64 *
device_query_record(const device_query *query, uint32 group)
{
	return query->records + (Size) group * query->request.record.num_words;
}

/* The value whose cells, of the spec's columns from `column` on, have these codes, in the current context. */
extern Datum device_query_datum(const device_query *query, const value_cells *cells, int column, const uint64 *codes);

#endif							/* MGPU_EXEC_DEVICE_QUERY_H */

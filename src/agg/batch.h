/*
 * batch.h
 *		A batch: all rows of one aggregate that are sorted together.
 *
 * Under a hashed plan that is every group of one aggregate context; the context
 * owns the batch's memory, and when PostgreSQL resets it (between spilled
 * batches, on a rescan, at the end) the batch is gone.  Under a sorted or plain
 * plan it is one group; the batch and its rows' memory live as long as the query
 * and start over when a group does.
 */
#ifndef MGPU_AGG_BATCH_H
#define MGPU_AGG_BATCH_H

#include "columns/pick.h"
#include "columns/wire.h"
#include "core/job.h"
#include "order/sort_spec.h"
#include "run/run.h"

struct agg_call;

typedef enum agg_stage
{
	BATCH_COLLECTING,			/* rows in arrival order */
	BATCH_TOGETHER,				/* all is known: each group's rows */
	BATCH_GROUPED,				/* keys by group */
	BATCH_SORTED				/* each group's keys in order, or what puts them so */
} agg_stage;

typedef struct agg_batch
{
	struct agg_call *call;
	bool		hashed;			/* many groups, memory of the aggregate context */
	bool		borrowed;		/* rows and their grouping are a plan node's */
	agg_stage	stage;
	uint32		num_groups;
	sort_order	order;
	bool		has_order;		/* order is known */

	MemoryContext context;		/* rows and what must survive a restart */
	MemoryContext work_context; /* all the rest */
	chunk	   *rows;
	column	   *key;
	column	   *value;			/* AGG_SORT_BY alone */
	column	   *groups;			/* uint32 numbers; own rows of hashed plans alone */
	chunk	   *fractions;		/* a row a group; NULL: the call's, or no percentile */

	row_groups	all;
	row_groups	items;			/* rows with a key */
	row_groups	nulls;			/* rows without */
	uint32		one_group[2];	/* starts, where there is one */
	uint64		num_items;
	uint64		num_nulls;
	char	   *keys;			/* of items */
	uint32	   *heads;			/* starts of the groups that have items */
	uint64		num_heads;

	/* Sorted: one of them, unless there are no items. */
	char	   *sorted_keys;
	char	   *sorted_values;
	uint32	   *positions;		/* among keys */
} agg_batch;

/* hashed: of many groups, gone when context is reset; else of one at a time. */
extern agg_batch *agg_batch_create(struct agg_call *call, bool hashed, MemoryContext context);

/* Of a plan node's rows, whose groups it knows; keys are copied at once. */
extern agg_batch *agg_batch_of_rows(struct agg_call *call, MemoryContext context, chunk *rows, int key_column,
									const row_groups *groups);

/*
 * The fraction of a row of a percentile where that is no constant: a new group's
 * is kept, others must be the same as their group's.  And a group's, as a row.
 */
extern void agg_batch_take_fraction(agg_batch *batch, uint32 group, NullableDatum fraction);
extern chunk_slice agg_batch_fraction(const agg_batch *batch, uint32 group);

/* Forget everything: a batch of one group is about to get the next. */
extern void agg_batch_restart(agg_batch *batch);

/* The number of a group that is new. */
static inline uint32
agg_batch_new_group(agg_batch *batch)
{
	if (!batch->hashed)
		agg_batch_restart(batch);
	return batch->num_groups++;
}

/* New rows of a group, whose keys and values are the caller's to fill: the number of the first. */
static inline uint64
agg_batch_add_rows(agg_batch *batch, uint32 group, uint64 num_rows)
{
	uint64		first = chunk_add_rows(batch->rows, num_rows);

	if (batch->groups)
		for (uint64 i = 0; i < num_rows; i++)
			((uint32 *) batch->groups->cells)[first + i] = group;
	return first;
}

static inline void
agg_batch_add_key(agg_batch *batch, uint32 group, Datum key, bool is_null)
{
	uint64		row = agg_batch_add_rows(batch, group, 1);

	chunk_put(batch->rows, batch->key, row, key, is_null);
}

/* Memory for what is made of the rows; gone when the batch starts over. */
static inline void *
agg_batch_alloc(const agg_batch *batch, Size bytes)
{
	return large_alloc(batch->work_context, bytes);
}

/* Bring the batch to a stage, if it is not there yet. */
extern void agg_batch_bring_together(agg_batch *batch);
extern void agg_batch_group(agg_batch *batch);
extern void agg_batch_sort(agg_batch *batch);

/* Sorted batches: the element at a position of the sorted order. */
extern const char *agg_batch_sorted_key(const agg_batch *batch, uint64 position);

/* The end of the items that begin at heads[i]. */
static inline uint64
agg_batch_head_end(const agg_batch *batch, uint64 i)
{
	return i + 1 < batch->num_heads ? batch->heads[i + 1] : batch->num_items;
}

/* Fill positions, stably (order.c). */
extern void agg_batch_order(agg_batch *batch);

/* The batch as a job, but for inputs and outputs: segments are the groups that have items. */
extern void agg_batch_describe_job(run_request *request, agg_batch *batch, mgpu_op op, uint32 key_kind,
								   uint32 key_width);

/* Record, for mgpu_last_run, a batch that was sorted without a job. */
extern void agg_batch_record(const agg_batch *batch, const char *algorithm, const char *reason);

/*
 * Whether a batch must be a job, however small.  A sorted plan has a batch a
 * group: under mgpu.executor = gpu its small groups are sorted at once all the
 * same, as a launch for each would take a thousand times as long.
 */
extern bool agg_batch_is_forced(const agg_batch *batch);

/* A group's array (result.c), in the current context. */
extern ArrayType *agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first);

/*
 * A group's percentile, or array of them (percentile_fn.c), in the current
 * context.  continuous: interpolated.
 */
extern Datum agg_batch_percentile(agg_batch *batch, uint32 number, const chunk_slice *fraction, bool continuous,
								  bool *is_null);

#endif							/* MGPU_AGG_BATCH_H */

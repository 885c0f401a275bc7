/*
 * agg_batch.h
 *		A batch: all rows of one aggregate that are sorted together.
 *
 * Under a hashed plan that is every group of one aggregate context; the context
 * owns the batch's memory, and when PostgreSQL resets it (between spilled
 * batches, on a rescan, at the end) the batch is gone.  Under a sorted or plain
 * plan it is one group; the batch and its buffers live as long as the query and
 * start over when a group does.
 *
 * A batch goes one way:
 *
 *	 collecting	rows in arrival order
 *	 grouped	each group's rows together, in arrival order
 *	 sorted		each group's keys in order, or the positions that put them so
 *
 * Rows whose key is NULL are kept apart: counted for each group or, where values
 * are ordered by keys, with their values in arrival order.
 */
#ifndef MGPU_AGG_BATCH_H
#define MGPU_AGG_BATCH_H

#include "agg_fraction.h"
#include "agg_memory.h"
#include "agg_rows.h"
#include "order/sort_spec.h"
#include "core/job.h"
#include "order/sort_spec.h"
#include "pgerror.h"

struct agg_call;

typedef enum agg_stage
{
	BATCH_COLLECTING,
	BATCH_GROUPED,
	BATCH_SORTED
} agg_stage;

typedef struct agg_batch
{
	struct agg_call *call;
	bool		hashed;			/* many groups, memory of the aggregate context */
	agg_stage	stage;
	uint32		num_groups;
	sort_order	order;
	bool		has_order;		/* order is known */

	MemoryContext context;		/* rows and what must survive a restart */
	MemoryContext work_context; /* all the rest */
	agg_rows	rows;
	agg_rows	null_rows;		/* empty without a column of values */
	uint32	   *null_counts;	/* without one: of the first null_capacity groups */
	uint32		null_capacity;
	uint64		total_nulls;	/* the sum of null_counts */
	agg_arena	arena;
	agg_fractions fractions;	/* percentiles whose fraction is not constant */

	/*
	 * Grouped: the rows of group g are starts[g] … starts[g + 1] - 1 and, among
	 * those with a NULL key, null_starts[g] … null_starts[g + 1] - 1; without
	 * starts, group g is row g.  values has the rows with a key first, then the
	 * others.  Where rows are not moved (the batch is one group, or each row is)
	 * keys, values and value_nulls are made when asked for.
	 */
	bool		moved;
	uint64		num_items;		/* rows with a key */
	uint64		num_nulls;		/* rows without */
	uint32	   *starts;			/* NULL: each row is a group */
	uint32	   *null_starts;
	uint32		own_starts[2];
	uint32		own_null_starts[2];
	char	   *keys;
	char	   *values;
	bool	   *value_nulls;	/* NULL: no value is */

	/* Starts of the groups that have rows with a key; NULL: each row is one. */
	uint32	   *heads;
	uint64		num_heads;

	/* Sorted: one of them, unless there are no rows with a key. */
	char	   *sorted_keys;
	char	   *sorted_values;
	uint32	   *positions;		/* among grouped rows */

} agg_batch;

/* hashed: of many groups, gone when context is reset; else of one at a time. */
extern agg_batch *agg_batch_create(struct agg_call *call, bool hashed, MemoryContext context);

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

static inline bool
agg_batch_has_rows(const agg_batch *batch)
{
	return agg_rows_count(&batch->rows) + agg_rows_count(&batch->null_rows) + batch->total_nulls > 0;
}

/* A row that has a key and no value column. */
static inline void
agg_batch_add_key(agg_batch *batch, uint32 group, Datum key)
{
	uint32		row = agg_rows_add(&batch->rows, group);

	agg_column_put(batch->rows.key_column, &batch->arena, batch->rows.last->keys, row, key);
}

/* Make null_counts an array that has the group's. */
extern void agg_batch_make_null_counts(agg_batch *batch, uint32 group);

/* Rows that have neither a key nor a value column. */
static inline void
agg_batch_add_nulls(agg_batch *batch, uint32 group, uint32 num_rows)
{
	if (unlikely(group >= batch->null_capacity))
		agg_batch_make_null_counts(batch, group);
	batch->total_nulls += num_rows;
	if (unlikely(batch->total_nulls > MGPU_MAX_ITEMS))
		mgpu_raise_too_large(batch->total_nulls);
	batch->null_counts[group] += num_rows;
}

/* Memory for what is made of the rows; gone when the batch starts over. */
static inline void *
agg_batch_alloc(const agg_batch *batch, Size bytes)
{
	return agg_alloc(batch->work_context, bytes);
}

/*
 * Make a new batch one that is grouped, of rows that the caller has brought
 * together: arrays of agg_batch_alloc, each as the batch keeps it.  null_starts is
 * NULL where no row is without a key.
 */
extern void agg_batch_set_groups(agg_batch *batch, uint32 num_groups, char *keys, uint32 *starts,
								 uint32 *null_starts);

/* All of these: at the batch's present stage or beyond. */
extern void agg_batch_group(agg_batch *batch);
extern void agg_batch_need_keys(agg_batch *batch);
extern void agg_batch_need_values(agg_batch *batch);
extern void agg_batch_sort(agg_batch *batch);

/*
 * Whether a batch of one group, grouped, is best sorted straight into its
 * result, and doing so: dest has room for all keys, or for all values under
 * mgpu_sort_agg_by.  The batch stays as it is.
 */
extern bool agg_batch_sorts_into_result(agg_batch *batch);
extern void agg_batch_sort_into(agg_batch *batch, char *dest);

/* A group's rows with a key. */
static inline uint64
agg_batch_group_start(const agg_batch *batch, uint32 group)
{
	return batch->starts ? batch->starts[group] : group;
}

static inline uint64
agg_batch_group_items(const agg_batch *batch, uint32 group)
{
	return batch->starts ? batch->starts[group + 1] - batch->starts[group] : 1;
}

static inline uint64
agg_batch_group_nulls(const agg_batch *batch, uint32 group)
{
	return batch->num_nulls == 0 ? 0 : batch->null_starts[group + 1] - batch->null_starts[group];
}

/* Sorted batches: the element at a position of the sorted order. */
extern const char *agg_batch_sorted_key(const agg_batch *batch, uint64 position);

/* Fill positions, by keys that executors do not sort as they are (agg_order.c). */
extern void agg_order_keys(agg_batch *batch);

/* A group's result (agg_result.c), in the current context. */
extern ArrayType *agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first);

/*
 * A group's percentile, or array of them (agg_percentile_fn.c), in the current
 * context.  continuous: interpolated.
 */
extern Datum agg_batch_percentile(agg_batch *batch, uint32 number, const agg_fraction *fraction,
								  bool continuous, bool *is_null);

#endif							/* MGPU_AGG_BATCH_H */

/*
 * batch.h
 *		A batch: all rows of one aggregate that are sorted together.
 *
 * Under a hashed plan a batch has all groups of an aggregate context.  The context owns
 * the batch's memory, and PostgreSQL's reset of the context (between spilled batches,
 * on a rescan, at the end) ends the batch.  Under a sorted or plain plan a batch has
 * one group.  Then the batch and its memory live as long as the query, and each group
 * starts it over.
 */
#ifndef MGPU_AGG_BATCH_H
#define MGPU_AGG_BATCH_H

#include "batch/pick.h"
#include "batch/wire.h"
#include "core/job.h"
#include "order/sort_spec.h"
#include "run/run_job.h"

struct agg_call;

typedef enum agg_stage
{
	BATCH_COLLECTING,			/* rows are added, in arrival order */
	BATCH_TOGETHER,				/* all is filled: row numbers by group */
	BATCH_GROUPED,				/* keys are copied in the order of groups */
	BATCH_SORTED				/* each group's keys, or positions of keys, are in order */
} agg_stage;

typedef struct agg_batch
{
	struct agg_call *call;
	bool		hashed;			/* many groups; memory is of the aggregate context */
	bool		borrowed;		/* rows and their groups belong to a plan node */
	agg_stage	stage;
	uint32		num_groups;
	sort_order	order;
	bool		has_order;		/* order is known */

	MemoryContext context;		/* rows and all that survives a restart */
	MemoryContext work_context; /* memory that agg_batch_restart frees */
	chunk	   *rows;
	column	   *key;
	column	   *value;			/* only for AGG_SORT_BY */
	column	   *groups;			/* uint32 group numbers; only in hashed plans that own their rows */
	chunk	   *fractions;		/* one row per group; NULL: constant fraction, or no percentile */

	row_groups	all;
	row_groups	items;			/* rows whose key is not NULL */
	row_groups	nulls;			/* rows whose key is NULL */
	uint32		one_group[2];	/* the starts of all, if there is one group */
	uint64		num_items;
	uint64		num_nulls;
	char	   *keys;			/* the keys of items, group by group */
	uint32	   *heads;			/* starts of the groups that have items */
	uint64		num_heads;

	/* Sorted batches with items: exactly one of these is set. */
	char	   *sorted_keys;
	char	   *sorted_values;
	uint32	   *positions;		/* positions in keys, in sorted order */
} agg_batch;

/* Create a batch.  hashed: many groups, freed when context is reset; otherwise one group at a time. */
extern agg_batch *agg_batch_create(struct agg_call *call, bool hashed, MemoryContext context);

/* A batch of rows that a plan node has collected and grouped.  The keys are copied at once. */
extern agg_batch *agg_batch_of_rows(struct agg_call *call, MemoryContext context, chunk *rows, int key_column,
									const row_groups *groups);

/*
 * A batch of keys that are in order already, group by group.  Of NULLs only the number in each group counts.  rows may be
 * empty.
 */
extern agg_batch *agg_batch_of_sorted(struct agg_call *call, MemoryContext context, chunk *rows, char *sorted_keys,
									  const row_groups *items, const row_groups *nulls);

/*
 * Percentiles whose fraction is not constant: store the fraction of a new group's first
 * row, and raise an error where a later row differs.  agg_batch_fraction returns a
 * group's fraction, constant or not, as a slice of one row.
 */
extern void agg_batch_take_fraction(agg_batch *batch, uint32 group, NullableDatum fraction);
extern chunk_slice agg_batch_fraction(const agg_batch *batch, uint32 group);

/* Forget all rows and results, for the next group of a batch of one group. */
extern void agg_batch_restart(agg_batch *batch);

/* Start a new group and return its number. */
static inline uint32
agg_batch_new_group(agg_batch *batch)
{
	if (!batch->hashed)
		agg_batch_restart(batch);
	return batch->num_groups++;
}

/* Add rows to a group and return the number of the first.  The caller fills keys and values. */
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

/* Memory that is freed when the batch starts over. */
static inline void *
agg_batch_alloc(const agg_batch *batch, Size bytes)
{
	return large_alloc(batch->work_context, bytes);
}

/* Bring the batch to a stage, unless it has reached it. */
extern void agg_batch_bring_together(agg_batch *batch);
extern void agg_batch_group(agg_batch *batch);
extern void agg_batch_sort(agg_batch *batch);

/* In a sorted batch: the key at a position of the sorted order. */
extern const char *agg_batch_sorted_key(const agg_batch *batch, uint64 position);

/* The end of the group whose items begin at heads[i]. */
static inline uint64
agg_batch_head_end(const agg_batch *batch, uint64 i)
{
	return i + 1 < batch->num_heads ? batch->heads[i + 1] : batch->num_items;
}

/* Fill positions by a stable sort (batch_order.c). */
extern void agg_batch_order(agg_batch *batch);

/* A group's array (batch_result.c), allocated in the current context. */
extern ArrayType *agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first);

/*
 * A group's percentile, or its array of percentiles (percentile_fn.c), in the current
 * context.  continuous: interpolate between values.
 */
extern Datum agg_batch_percentile(agg_batch *batch, uint32 number, const chunk_slice *fraction, bool continuous,
								  bool *is_null);

/* The percentile of num_items values that lies between two of them (mgpu_percentile_positions); of numbers if continuous. */
extern Datum agg_percentile_between(const struct agg_call *call, double fraction, bool continuous, int64 num_items,
									const Datum picked[2]);

#endif							/* MGPU_AGG_BATCH_H */

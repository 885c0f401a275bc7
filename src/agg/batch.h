/*
 * batch.h
 *		A batch: rows of values, with groups, that are sorted together.
 *
 * A batch has rows of many groups or of one group at a time.  The extension's aggregates fill
 * batches (agg/call.h).  MgpuGroup makes them of rows that it has grouped already, or of values
 * that a GPU has sorted.
 */
#ifndef MGPU_AGG_BATCH_H
#define MGPU_AGG_BATCH_H

#include "utils/array.h"

#include "batch/pick.h"
#include "keys/value_order.h"
#include "order/sort_spec.h"

typedef enum agg_stage
{
	BATCH_COLLECTING,			/* rows are added, in arrival order */
	BATCH_TOGETHER,				/* all is filled: row numbers by group */
	BATCH_GROUPED,				/* keys are copied in the order of groups */
	BATCH_SORTED				/* each group's keys, or positions of keys, are in order */
} agg_stage;

typedef struct agg_batch
{
	sort_spec	sort;			/* its order may be set until rows are sorted */
	const column_type *key_type;
	bool		borrowed;		/* rows and their groups belong to a plan node */
	agg_stage	stage;
	uint32		num_groups;

	MemoryContext context;		/* rows and all that survives a restart */
	MemoryContext work_context; /* memory that agg_batch_restart frees */
	chunk	   *rows;
	column	   *key;
	column	   *value;			/* what arrays are made of; NULL: the keys */
	column	   *groups;			/* uint32 group numbers, if the batch collects rows of many groups */
	value_order *comparison;	/* NULL until it is asked for */

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
	uint32	   *positions;		/* of keys or, if there is a value column, of rows, in sorted order */
} agg_batch;

/*
 * Create a batch that collects rows.  hashed: of many groups, else of one at a time.  value_type may be NULL.  The types
 * live as long as the batch, which is part of context.
 */
extern agg_batch *agg_batch_create(MemoryContext context, bool hashed, const sort_spec *sort,
								   const column_type *key_type, const column_type *value_type, uint64 most_rows);

/* A batch of rows that a plan node has collected and grouped.  The keys are copied at once. */
extern agg_batch *agg_batch_of_rows(MemoryContext context, const sort_spec *sort, chunk *rows, int key_column,
									const row_groups *groups);

/* A batch of keys that are in order already, group by group.  Of NULLs only the number in each group counts. */
extern agg_batch *agg_batch_of_sorted(MemoryContext context, const sort_spec *sort, const column_type *key_type,
									  char *sorted_keys, const row_groups *items, const row_groups *nulls);

/* Forget all rows and results, for the next group of a batch of one group. */
extern void agg_batch_restart(agg_batch *batch);

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

/* Memory that is freed when the batch starts over. */
static inline void *
agg_batch_alloc(const agg_batch *batch, Size bytes)
{
	return large_alloc(batch->work_context, bytes);
}

/* The comparison of values, ascending. */
extern value_order *agg_batch_comparison(agg_batch *batch);

/* Bring the batch to a stage, unless it has reached it. */
extern void agg_batch_bring_together(agg_batch *batch);
extern void agg_batch_group(agg_batch *batch);
extern void agg_batch_sort(agg_batch *batch);

/* In a sorted batch without a value column: the key at a position of the sorted order. */
static inline Datum
agg_batch_sorted_datum(const agg_batch *batch, uint64 position)
{
	if (batch->sorted_keys)
		return cell_datum(batch->key_type, batch->sorted_keys, position);
	return cell_datum(batch->key_type, batch->keys, batch->positions[position]);
}

/*
 * Results of a group, in the current context.  The first of them sorts the batch.
 */

/* Its array (batch_array.c). */
extern ArrayType *agg_batch_array(agg_batch *batch, uint32 group, bool nulls_first);

/* Its number of different values, and the most frequent value, the first of those (runs.c). */
extern int64 agg_batch_num_runs(agg_batch *batch, uint32 group);
extern Datum agg_batch_mode(agg_batch *batch, uint32 group, bool *is_null);

/* A percentile, or several (percentile.c). */
typedef struct agg_percentile
{
	bool		continuous;		/* interpolate between values */
	bool		is_array;		/* fraction is an array of fractions, and the result one of percentiles */
	NullableDatum fraction;
} agg_percentile;

extern Datum agg_batch_percentile(agg_batch *batch, uint32 group, const agg_percentile *percentile, bool *is_null);

/*
 * The fractions that are asked for and are not NULL, if they are valid and no more than `most`: their number, else -1.  A percentile, or several,
 * of num_items values from the two that each lies between (mgpu_percentile_positions); of numbers if continuous.
 */
extern int	agg_percentile_fractions(const agg_percentile *percentile, double *fractions, int most);
extern Datum agg_percentile_picked(const agg_percentile *percentile, const element_type *type, int64 num_items, const Datum *picked);

#endif							/* MGPU_AGG_BATCH_H */

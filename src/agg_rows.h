/*
 * agg_rows.h
 *		The rows of an aggregate's batch, columnar, in arrival order.
 *
 * A chunk is one allocation; columns lie behind its header:
 *
 *	 header | keys: capacity cells | values: likewise | groups: uint32 each
 *
 * Group numbers are written from the row on that is the second group's; until
 * then the chunk has one.
 *
 * Rows without a key column hold values whose key is NULL.
 */
#ifndef MGPU_AGG_ROWS_H
#define MGPU_AGG_ROWS_H

#include "agg_column.h"

typedef struct agg_chunk
{
	struct agg_chunk *next;
	uint32		used;
	uint32		capacity;
	char	   *keys;			/* NULL: no such column */
	char	   *values;			/* NULL: no such column */
	uint32	   *groups;			/* NULL: all rows are of this one: */
	uint32		group;
	bool	   *value_nulls;	/* NULL: no value here is */
} agg_chunk;

/* Columns and memory belong to the batch. */
typedef struct agg_rows
{
	const agg_column *key_column;	/* NULL: none */
	const agg_column *value_column; /* NULL: none */
	bool		has_groups;
	bool		has_value_nulls;
	MemoryContext context;
	agg_chunk  *first;			/* NULL: no rows yet */
	agg_chunk  *last;			/* never NULL: where the next row goes if it fits */
	uint64		num_before;		/* rows in the chunks before last */
	uint64		most_rows;		/* more are too large an array */
	bool		foresees;		/* the next chunk's memory is prepared (agg_memory.h) … */
	struct agg_ahead *ahead;	/* … here */
	agg_chunk	none;			/* last, while there is no chunk */
} agg_rows;

extern void agg_rows_init(agg_rows *rows, const agg_column *key_column,
						  const agg_column *value_column, bool has_groups,
						  uint64 most_rows, MemoryContext context);

/* Forget all rows; one chunk is kept for what comes next. */
extern void agg_rows_reset(agg_rows *rows);

/* Give all chunks back. */
extern void agg_rows_free(agg_rows *rows);

/* All rows are there, but for a reset: what was prepared for more is given back. */
extern void agg_rows_finish(agg_rows *rows);

/* Make last a chunk with room for a row. */
extern void agg_rows_grow(agg_rows *rows);

/* Rows to come in the last chunk are of a group that the chunk does not have. */
extern void agg_rows_change_group(agg_rows *rows, uint32 group);

/* Rows that are keys of one group and nothing else; cells need no alignment. */
extern void agg_rows_add_keys(agg_rows *rows, uint32 group, const char *cells, uint64 num_rows);

/* Note that the value of a row just added is NULL. */
extern void agg_rows_value_is_null(agg_rows *rows, uint32 row);

static inline uint64
agg_rows_count(const agg_rows *rows)
{
	return rows->num_before + rows->last->used;
}

/* A new row of the last chunk: its number there.  Cells are the caller's to fill. */
static inline uint32
agg_rows_add(agg_rows *rows, uint32 group)
{
	agg_chunk  *chunk = rows->last;

	if (unlikely(chunk->used == chunk->capacity))
	{
		agg_rows_grow(rows);
		chunk = rows->last;
	}
	if (chunk->groups)
		chunk->groups[chunk->used] = group;
	else if (unlikely(chunk->group != group))
		agg_rows_change_group(rows, group);
	return chunk->used++;
}

/* Which column a copy is of. */
typedef enum agg_which
{
	AGG_KEYS,
	AGG_VALUES
} agg_which;

static inline char *
agg_chunk_cells(const agg_chunk *chunk, agg_which which)
{
	return which == AGG_KEYS ? chunk->keys : chunk->values;
}

static inline const agg_column *
agg_rows_column(const agg_rows *rows, agg_which which)
{
	return which == AGG_KEYS ? rows->key_column : rows->value_column;
}

/* All cells of a column, one after another. */
extern void agg_rows_copy(const agg_rows *rows, agg_which which, char *cells);

/* Whether each row's value is NULL. */
extern void agg_rows_copy_value_nulls(const agg_rows *rows, bool *value_nulls);

/* A column read as a run's input: context of agg_rows_read (run.h). */
typedef struct agg_rows_reader
{
	const agg_rows *rows;
	agg_which	which;
	const agg_chunk *chunk;
	Size		offset;			/* in the chunk's cells */
} agg_rows_reader;

extern void agg_rows_read(void *context, Size offset, Size bytes, void *dest);

#endif							/* MGPU_AGG_ROWS_H */

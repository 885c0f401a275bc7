/*
 * agg_rows.c
 *		The rows of an aggregate's batch, columnar, in arrival order.
 *
 * Rows go to a list of chunks that grow with the batch up to a limit, so that
 * nothing is copied and little more than is used is ever held.  One array that
 * doubles was rejected: it copies everything log2(n) times and holds three times
 * its data while it does.  Only a batch of one
 * group, while it is small, grows its one chunk: a chunk that stays whole can
 * be sorted where it is.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "agg_memory.h"
#include "agg_rows.h"
#include "pgerror.h"
#include "threads.h"

#include "core/job.h"

#define FIRST_CHUNK_BYTES 1024
#define LAST_CHUNK_BYTES (8 * 1024 * 1024)

/* A chunk is at most this part of all before it. */
#define CHUNK_PART 4

/* A group's rows stay in one chunk up to this size. */
#define WHOLE_CHUNK_BYTES (64 * 1024)

#define COLUMN_ALIGN 16

/* Less, or fewer, are not worth threads when they are copied. */
#define THREADS_MIN_BYTES (8 * 1024 * 1024)
#define THREADS_MIN_CHUNKS 4

/* What foreseeing the next chunk's size may be out by, since chunks hold whole rows. */
#define NEXT_CHUNK_SLACK 1024

void
agg_rows_init(agg_rows *rows, const agg_column *key_column, const agg_column *value_column,
			  bool has_groups, uint64 most_rows, MemoryContext context)
{
	memset(rows, 0, sizeof(*rows));
	rows->key_column = key_column;
	rows->value_column = value_column;
	rows->has_groups = has_groups;
	rows->most_rows = most_rows;
	rows->context = context;
	rows->last = &rows->none;
}

void
agg_rows_finish(agg_rows *rows)
{
	agg_ahead_stop(rows->ahead);
}

static void
free_chunk(agg_chunk *chunk)
{
	if (chunk->value_nulls)
		pfree(chunk->value_nulls);
	pfree(chunk);
}

static void
free_after(agg_chunk *chunk)
{
	while (chunk->next)
	{
		agg_chunk  *next = chunk->next;

		chunk->next = next->next;
		free_chunk(next);
	}
}

void
agg_rows_reset(agg_rows *rows)
{
	agg_chunk  *kept = rows->first;

	agg_rows_finish(rows);
	if (kept == NULL)
		return;
	free_after(kept);
	if (kept->value_nulls)
		pfree(kept->value_nulls);
	kept->value_nulls = NULL;
	kept->used = 0;
	rows->last = kept;
	rows->num_before = 0;
	rows->has_value_nulls = false;
}

void
agg_rows_free(agg_rows *rows)
{
	agg_rows_finish(rows);
	while (rows->first)
	{
		agg_chunk  *next = rows->first->next;

		free_chunk(rows->first);
		rows->first = next;
	}
	rows->last = &rows->none;
	rows->num_before = 0;
	rows->has_value_nulls = false;
}

static Size
column_width(const agg_column *column)
{
	return column ? column->width : 0;
}

static Size
row_bytes(const agg_rows *rows)
{
	return column_width(rows->key_column) + column_width(rows->value_column) +
		(rows->has_groups ? sizeof(uint32) : 0);
}

static uint32
capacity_of(const agg_rows *rows, Size bytes)
{
	return Max(bytes / row_bytes(rows), 1);
}

/* Where a chunk's group numbers are, counted from its start. */
static Size
cell_bytes(const agg_rows *rows, uint32 capacity)
{
	return TYPEALIGN(COLUMN_ALIGN, sizeof(agg_chunk)) +
		TYPEALIGN(COLUMN_ALIGN, capacity * column_width(rows->key_column)) +
		TYPEALIGN(COLUMN_ALIGN, capacity * column_width(rows->value_column));
}

static Size
chunk_bytes(const agg_rows *rows, uint32 capacity)
{
	return cell_bytes(rows, capacity) + (rows->has_groups ? capacity * sizeof(uint32) : 0);
}

/* What the chunk will take that comes after one of so many bytes; 0: nobody need know. */
static Size
next_chunk_bytes(const agg_rows *rows, Size bytes)
{
	if (!rows->foresees)
		return 0;
	return chunk_bytes(rows, capacity_of(rows, Min(bytes + bytes / CHUNK_PART, LAST_CHUNK_BYTES))) + NEXT_CHUNK_SLACK;
}

static agg_chunk *
make_chunk(agg_rows *rows, Size bytes)
{
	uint32		capacity = capacity_of(rows, bytes);
	Size		header_bytes = TYPEALIGN(COLUMN_ALIGN, sizeof(agg_chunk));
	Size		key_bytes = TYPEALIGN(COLUMN_ALIGN, capacity * column_width(rows->key_column));
	Size		taken_bytes = chunk_bytes(rows, capacity);
	agg_chunk  *chunk = agg_alloc_next(&rows->ahead, rows->context, &taken_bytes, next_chunk_bytes(rows, bytes));
	char	   *cells = (char *) chunk + header_bytes;

	memset(chunk, 0, sizeof(*chunk));
	chunk->capacity = capacity;
	chunk->keys = key_bytes > 0 ? cells : NULL;
	chunk->values = column_width(rows->value_column) > 0 ? cells + key_bytes : NULL;
	return chunk;
}

void
agg_rows_change_group(agg_rows *rows, uint32 group)
{
	agg_chunk  *chunk = rows->last;

	if (chunk->used > 0)
	{
		chunk->groups = (uint32 *) ((char *) chunk + cell_bytes(rows, chunk->capacity));
		for (uint32 i = 0; i < chunk->used; i++)
			chunk->groups[i] = chunk->group;
		chunk->groups[chunk->used] = group;
	}
	chunk->group = group;
}

/* The one chunk, twice as large. */
static void
enlarge_only_chunk(agg_rows *rows)
{
	agg_chunk  *old = rows->first;
	agg_chunk  *chunk = make_chunk(rows, old->capacity * row_bytes(rows) * 2);

	chunk->used = old->used;
	if (chunk->keys)
		memcpy(chunk->keys, old->keys, old->used * column_width(rows->key_column));
	if (chunk->values)
		memcpy(chunk->values, old->values, old->used * column_width(rows->value_column));
	if (old->value_nulls)
	{
		chunk->value_nulls = MemoryContextAllocZero(rows->context, chunk->capacity);
		memcpy(chunk->value_nulls, old->value_nulls, old->used);
	}
	free_chunk(old);
	rows->first = rows->last = chunk;
}

static void
add_chunk(agg_rows *rows, Size bytes)
{
	agg_chunk  *chunk = make_chunk(rows, Min(bytes, (rows->most_rows - agg_rows_count(rows)) * row_bytes(rows)));

	if (rows->first == NULL)
		rows->first = chunk;
	else
	{
		rows->num_before += rows->last->used;
		rows->last->next = chunk;
	}
	rows->last = chunk;
}

void
agg_rows_grow(agg_rows *rows)
{
	Size		bytes;

	if (agg_rows_count(rows) >= rows->most_rows)
		mgpu_raise_too_large(agg_rows_count(rows) + 1);
	if (rows->first == NULL)
	{
		add_chunk(rows, FIRST_CHUNK_BYTES);
		return;
	}
	bytes = rows->last->capacity * row_bytes(rows);
	if (!rows->has_groups && rows->first == rows->last && bytes < WHOLE_CHUNK_BYTES)
		enlarge_only_chunk(rows);
	else
		add_chunk(rows, Min(Max(bytes, agg_rows_count(rows) * row_bytes(rows) / CHUNK_PART), LAST_CHUNK_BYTES));
}

void
agg_rows_add_keys(agg_rows *rows, uint32 group, const char *cells, uint64 num_rows)
{
	uint32		width = rows->key_column->width;

	if (agg_rows_count(rows) + num_rows > rows->most_rows)
		mgpu_raise_too_large(agg_rows_count(rows) + num_rows);
	while (num_rows > 0)
	{
		agg_chunk  *chunk = rows->last;
		uint32		step = Min(num_rows, chunk->capacity - chunk->used);

		if (step == 0)
		{
			CHECK_FOR_INTERRUPTS();
			agg_rows_grow(rows);
			continue;
		}
		if (chunk->groups == NULL && chunk->group != group)
			agg_rows_change_group(rows, group);
		memcpy(chunk->keys + (Size) chunk->used * width, cells, (Size) step * width);
		for (uint32 i = 0; chunk->groups && i < step; i++)
			chunk->groups[chunk->used + i] = group;
		chunk->used += step;
		cells += (Size) step * width;
		num_rows -= step;
	}
}

void
agg_rows_value_is_null(agg_rows *rows, uint32 row)
{
	agg_chunk  *chunk = rows->last;

	if (chunk->value_nulls == NULL)
		chunk->value_nulls = MemoryContextAllocZero(rows->context, chunk->capacity);
	chunk->value_nulls[row] = true;
	rows->has_value_nulls = true;
}

/* A copy of chunks, each of which is a task. */
typedef struct chunk_copy
{
	const char *source;
	char	   *dest;
	Size		bytes;
} chunk_copy;

static void
copy_task(void *context, uint64 task, int worker)
{
	const chunk_copy *copy = (const chunk_copy *) context + task;

	memcpy(copy->dest, copy->source, copy->bytes);
}

static uint64
count_chunks(const agg_rows *rows)
{
	uint64		num_chunks = 0;

	for (const agg_chunk *chunk = rows->first; chunk; chunk = chunk->next)
		num_chunks++;
	return num_chunks;
}

/* Most of the time goes to the pages of what is written, which are new. */
void
agg_rows_copy(const agg_rows *rows, agg_which which, char *cells)
{
	Size		width = agg_rows_column(rows, which)->width;
	uint64		num_chunks = count_chunks(rows);
	chunk_copy *copies = palloc(num_chunks * sizeof(chunk_copy));
	char	   *dest = cells;
	uint64		i = 0;

	for (const agg_chunk *chunk = rows->first; chunk; chunk = chunk->next)
	{
		copies[i] = (chunk_copy) {agg_chunk_cells(chunk, which), dest, chunk->used * width};
		dest += copies[i++].bytes;
	}
	thread_work_once(copy_task, copies, num_chunks,
					 dest - cells < THREADS_MIN_BYTES ? PG_UINT64_MAX : THREADS_MIN_CHUNKS);
	pfree(copies);
}

void
agg_rows_copy_value_nulls(const agg_rows *rows, bool *value_nulls)
{
	for (const agg_chunk *chunk = rows->first; chunk; chunk = chunk->next)
	{
		if (chunk->value_nulls)
			memcpy(value_nulls, chunk->value_nulls, chunk->used);
		else
			memset(value_nulls, 0, chunk->used);
		value_nulls += chunk->used;
	}
}

void
agg_rows_read(void *context, Size offset, Size bytes, void *dest)
{
	agg_rows_reader *reader = context;
	Size		width = agg_rows_column(reader->rows, reader->which)->width;

	if (offset == 0)
	{
		reader->chunk = reader->rows->first;
		reader->offset = 0;
	}
	while (bytes > 0)
	{
		const agg_chunk *chunk = reader->chunk;
		Size		step = Min(bytes, chunk->used * width - reader->offset);

		memcpy(dest, agg_chunk_cells(chunk, reader->which) + reader->offset, step);
		dest = (char *) dest + step;
		bytes -= step;
		reader->offset += step;
		if (reader->offset == chunk->used * width)
		{
			reader->chunk = chunk->next;
			reader->offset = 0;
		}
	}
}

/*
 * group_keys.c
 *		Which of the rows that a node has collected are one group.
 *
 * All keys are sorted with their row numbers, stably, by the job that sorts
 * anything else (run.c), on the executor that it chooses.  Equal keys are then
 * neighbours, each group's rows in arrival order, and the aggregates' values are
 * picked by row number.  A hash table was rejected: with many groups each row
 * misses the caches at every step of its look-up, where a sort reads and writes
 * in order.
 *
 * A key that is NULL is zeros in its column, so such rows come to stand among
 * those of the value that zeros are; they are split off afterwards.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/cpu_sort.h"

#include "compat.h"
#include "agg_memory.h"
#include "group_keys.h"
#include "run/run.h"

/* Rows handled between looks at interrupts. */
#define STEP_ROWS (256 * 1024)

/* ---- keys of one group */

bool
group_key_is_sortable(const element_type *type)
{
	return OidIsValid(type->lt_operator) && (type->key_kind != 0 || type->is_enum);
}

static uint32
kind_of(const element_type *type)
{
	/* any order of an enum's labels will do: that of their OIDs */
	return type->is_enum ? MGPU_KEY_UNSIGNED : type->key_kind;
}

static bool
floats_are_equal(uint32 width, const char *a, const char *b)
{
	double		x,
				y;

	if (width == sizeof(float4))
	{
		x = *(const float4 *) a;
		y = *(const float4 *) b;
	}
	else
	{
		x = *(const float8 *) a;
		y = *(const float8 *) b;
	}
	return x == y || (isnan(x) && isnan(y));
}

/* Cells are aligned as their type is. */
static inline bool
cells_are_equal(uint32 kind, uint32 width, const char *a, const char *b)
{
	if (kind == MGPU_KEY_FLOAT)
		return floats_are_equal(width, a, b);
	switch (width)
	{
		case 1:
			return *a == *b;
		case 2:
			return *(const uint16 *) a == *(const uint16 *) b;
		case 4:
			return *(const uint32 *) a == *(const uint32 *) b;
		case 8:
			return *(const uint64 *) a == *(const uint64 *) b;
		default:
			return memcmp(a, b, width) == 0;
	}
}

/* A key as an aligned cell, one for all that are equal. */
typedef union plain_key
{
	float4		narrow;
	float8		wide;
	char		bytes[16];
} plain_key;

static plain_key
plain_key_of(const element_type *type, const char *cell)
{
	plain_key	key;

	memcpy(key.bytes, cell, type->stride);
	if (type->key_kind == MGPU_KEY_FLOAT && type->stride == sizeof(float4))
		key.narrow = isnan(key.narrow) ? (float4) NAN : key.narrow + 0.0f;
	else if (type->key_kind == MGPU_KEY_FLOAT)
		key.wide = isnan(key.wide) ? (float8) NAN : key.wide + 0.0;
	return key;
}

uint64
group_key_hash(const element_type *type, const char *cell, bool is_null, uint64 seed)
{
	plain_key	key = plain_key_of(type, cell);

	/* NULL must not always go where zeros go */
	return hash_bytes_extended((const unsigned char *) key.bytes, type->stride, seed * 2 + is_null);
}

bool
group_keys_are_equal(const element_type *type, const char *a, bool a_is_null, const char *b, bool b_is_null)
{
	plain_key	x = plain_key_of(type, a);
	plain_key	y = plain_key_of(type, b);

	return a_is_null == b_is_null && memcmp(x.bytes, y.bytes, type->stride) == 0;
}

/* ---- ranking */

/* Sorted keys, the floats' own bits included, and the positions that put them so. */
static char *
sort_keys(group_rows *rows, const char *function, uint32 *positions)
{
	const group_column *column = &rows->columns[0];
	uint32		width = column->column.width;
	char	   *sorted = agg_alloc(CurrentMemoryContext, rows->num_rows * width);
	agg_rows_reader reader = {.rows = &column->rows,.which = AGG_KEYS};
	run_request request;

	memset(&request, 0, sizeof(request));
	request.function = function;
	request.job.op = MGPU_OP_SORT_PAIRS;
	request.job.key_kind = kind_of(&column->column.type);
	request.job.key_width = width;
	request.job.num_items = rows->num_rows;
	request.job.outputs = MGPU_OUT_KEYS | MGPU_OUT_INDICES;
	request.binding.out_keys = sorted;
	request.binding.out_indices = positions;
	request.readers[MGPU_CHANNEL_KEYS].read = agg_rows_read;
	request.readers[MGPU_CHANNEL_KEYS].context = &reader;
	run_job(&request);
	return sorted;
}

/* The same for rows so few that a run would take longer than they do. */
static char *
sort_few_keys(group_rows *rows, uint32 *positions)
{
	const agg_column *column = &rows->columns[0].column;
	Size		width = column->width;
	char	   *cells = group_rows_cells(rows, 0);
	char	   *sorted = palloc(rows->num_rows * width);

	mgpu_cpu_argsort_now(cells, positions, rows->num_rows, kind_of(&column->type), width, false);
	for (uint64 i = 0; i < rows->num_rows; i++)
		memcpy(sorted + i * width, cells + positions[i] * width, width);
	pfree(cells);
	return sorted;
}

/*
 * Put the rows that are NULL behind all others of [begin, end), with their cells;
 * returns where they start.  Both keep their order.
 */
static uint64
split_nulls(uint32 *positions, char *sorted, uint32 width, uint64 begin, uint64 end, const bool *marks)
{
	uint32	   *nulls = agg_alloc(CurrentMemoryContext, (end - begin) * sizeof(uint32));
	uint64		num_nulls = 0;
	uint64		next = begin;

	for (uint64 i = begin; i < end; i++)
	{
		if (marks[positions[i]])
		{
			nulls[num_nulls++] = positions[i];
			continue;
		}
		positions[next] = positions[i];
		memmove(sorted + next * width, sorted + i * width, width);
		next++;
	}
	memcpy(positions + next, nulls, num_nulls * sizeof(uint32));
	memset(sorted + next * width, 0, num_nulls * width);
	pfree(nulls);
	return next;
}

/* The rows whose key is zeros, among which those without one are, as a range of sorted keys. */
static void
find_zeros(const char *sorted, uint64 num_rows, uint32 kind, uint32 width, uint64 *begin, uint64 *end)
{
	static const char zeros[16] pg_attribute_aligned(8) = {0};
	uint64		i = 0;

	while (!cells_are_equal(kind, width, sorted + i * width, zeros))
		i++;
	*begin = i;
	while (i < num_rows && cells_are_equal(kind, width, sorted + i * width, zeros))
		i++;
	*end = i;
}

/*
 * Notes the rows of [begin, end) whose key is not that of the row before, without
 * branches: each row is noted where the next start belongs, and stays there if it
 * is one.
 */
#define NOTE_CHANGES(type, is_change) \
	do { \
		const type *cell = (const type *) sorted; \
		type *kept = (type *) keys; \
		\
		for (uint64 i = begin; i < end; i++) \
		{ \
			if (starts) \
			{ \
				starts[num_groups] = i; \
				kept[num_groups] = cell[i]; \
			} \
			num_groups += is_change(cell[i - 1], cell[i]); \
		} \
		return num_groups; \
	} while (0)

#define NUMBERS_DIFFER(a, b) ((a) != (b))
#define FLOATS_DIFFER(a, b) (((a) != (b)) & (((a) == (a)) | ((b) == (b))))

static uint32
note_changes(const char *sorted, uint64 begin, uint64 end, uint32 kind, uint32 width,
			 uint32 *starts, char *keys, uint32 num_groups)
{
	if (kind == MGPU_KEY_FLOAT && width == sizeof(float4))
		NOTE_CHANGES(float4, FLOATS_DIFFER);
	if (kind == MGPU_KEY_FLOAT)
		NOTE_CHANGES(float8, FLOATS_DIFFER);
	switch (width)
	{
		case 1:
			NOTE_CHANGES(uint8, NUMBERS_DIFFER);
		case 2:
			NOTE_CHANGES(uint16, NUMBERS_DIFFER);
		case 4:
			NOTE_CHANGES(uint32, NUMBERS_DIFFER);
		case 8:
			NOTE_CHANGES(uint64, NUMBERS_DIFFER);
		default:
			for (uint64 i = begin; i < end; i++)
			{
				const char *cell = sorted + i * width;

				if (memcmp(cell - width, cell, width) == 0)
					continue;
				if (starts)
				{
					starts[num_groups] = i;
					memcpy(keys + (Size) num_groups * width, cell, width);
				}
				num_groups++;
			}
			return num_groups;
	}
}

/*
 * Where groups start: where the key changes, and at split.  Counts them; writes
 * starts and keys, which have room for one more, unless these are NULL.
 */
static uint32
find_starts(const char *sorted, uint64 num_rows, uint32 kind, uint32 width, uint64 split,
			uint32 *starts, char *keys)
{
	uint32		num_groups = 0;
	uint64		end;

	for (uint64 begin = 0; begin < num_rows; begin = end)
	{
		end = begin < split ? split : num_rows;
		if (starts)
		{
			starts[num_groups] = begin;
			memcpy(keys + (Size) num_groups * width, sorted + begin * width, width);
		}
		num_groups++;
		for (uint64 i = begin + 1; i < end; i += STEP_ROWS)
		{
			num_groups = note_changes(sorted, i, Min(i + STEP_ROWS, end), kind, width, starts, keys, num_groups);
			CHECK_FOR_INTERRUPTS();
		}
	}
	return num_groups;
}

static void
make_groups(group_rows *rows, char *sorted, group_ranks *ranks)
{
	const agg_column *column = &rows->columns[0].column;
	uint32		kind = kind_of(&column->type);
	uint32		width = column->width;
	bool	   *marks = group_rows_marks(rows, 0);
	uint64		nulls_begin = rows->num_rows;
	uint32		num_groups;

	if (marks)
	{
		uint64		begin,
					end;

		find_zeros(sorted, rows->num_rows, kind, width, &begin, &end);
		nulls_begin = split_nulls(ranks->positions, sorted, width, begin, end, marks);
		pfree(marks);
	}
	num_groups = find_starts(sorted, rows->num_rows, kind, width, nulls_begin, NULL, NULL);
	ranks->num_groups = num_groups;
	ranks->starts = agg_alloc(CurrentMemoryContext, ((Size) num_groups + 1) * sizeof(uint32));
	ranks->keys = agg_alloc(CurrentMemoryContext, ((Size) num_groups + 1) * width);
	find_starts(sorted, rows->num_rows, kind, width, nulls_begin, ranks->starts, ranks->keys);
	ranks->starts[num_groups] = rows->num_rows;
	ranks->null_group = -1;
	for (uint32 group = 0; group < num_groups && marks; group++)
		if (ranks->starts[group] == nulls_begin)
			ranks->null_group = group;
}

void
group_rank(group_rows *rows, const char *function, MemoryContext context, group_ranks *ranks)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	char	   *sorted;

	ranks->context = context;
	ranks->positions = agg_alloc(context, rows->num_rows * sizeof(uint32));
	if (rows->num_rows <= MGPU_CPU_NOW_PAIRS && !run_is_forced(rows->num_rows))
		sorted = sort_few_keys(rows, ranks->positions);
	else
		sorted = sort_keys(rows, function, ranks->positions);
	make_groups(rows, sorted, ranks);
	pfree(sorted);
	agg_rows_free(&rows->columns[0].rows);
	MemoryContextSwitchTo(caller);
}

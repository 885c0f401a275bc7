/*
 * wire.c
 *		Rows of a chunk as bytes.
 *
 * Rows cross the queue between two processes many at a time, so that the receiver
 * copies each column with one memcpy.  A tuple for each row was rejected: sending it
 * takes longer than the scan takes to find it.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/wire.h"
#include "settings.h"

#include "core/executor.h"

/* Rows handled between checks for interrupts. */
#define STEP_ROWS (64 * 1024)

/* How many rows ahead to fetch. */
#define ROWS_AHEAD 16

typedef struct wire_header
{
	uint32		num_rows;
	uint32		num_columns;
} wire_header;

typedef struct wire_column
{
	uint32		num_bytes;
	uint32		has_nulls;
} wire_column;

/* ---- writing */

void
message_start(StringInfo message)
{
	initStringInfo(message);
	message->len = VARHDRSZ;
}

/* Append num_bytes uninitialized bytes and return their address. */
static char *
reserve(StringInfo message, Size num_bytes)
{
	char	   *dest;

	if (message->len + num_bytes >= MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a group has too many values for a parallel plan"),
				 errhint("Set max_parallel_workers_per_gather to 0.")));
	enlargeStringInfo(message, num_bytes);
	dest = message->data + message->len;
	message->len += num_bytes;
	return dest;
}

void
message_append(StringInfo message, const void *bytes, Size num_bytes)
{
	if (num_bytes > 0)
		memcpy(reserve(message, num_bytes), bytes, num_bytes);
}

static inline uint64
slice_row(const chunk_slice *slice, uint64 i)
{
	return slice->first + (slice->numbers ? slice->numbers[i] : i);
}

static void
append_cells(StringInfo message, const chunk_slice *slice, const column *col)
{
	Size		width = col->type->width;
	char	   *dest;

	if (slice->numbers == NULL)
	{
		message_append(message, col->cells + slice->first * width, slice->num_rows * width);
		return;
	}
	dest = reserve(message, slice->num_rows * width);
	for (uint32 i = 0; i < slice->num_rows; i++)
		memcpy(dest + i * width, col->cells + slice_row(slice, i) * width, width);
}

/*
 * A group's rows lie anywhere: fetch the cell and then the element of rows that are to come.
 * Always inlined: gcc drops calls of what only prefetches.
 */
__attribute__((always_inline)) static inline void
fetch_ahead(const chunk_slice *slice, const column *col, uint64 i)
{
	char	   *const *elements = (char *const *) col->cells;

	if (i + 2 * ROWS_AHEAD < slice->num_rows)
		__builtin_prefetch(&elements[slice_row(slice, i + 2 * ROWS_AHEAD)]);
	if (i + ROWS_AHEAD < slice->num_rows)
		__builtin_prefetch(elements[slice_row(slice, i + ROWS_AHEAD)]);
}

static void
append_elements(StringInfo message, const chunk_slice *slice, const column *col)
{
	for (uint32 i = 0; i < slice->num_rows; i++)
	{
		uint64		row = slice_row(slice, i);
		const char *element = cell_element(col->type, col->cells, row);

		fetch_ahead(slice, col, i);
		if (!column_is_null(col, row))
			message_append(message, element, element_bytes(col->type, element));
	}
}

static void
append_nulls(StringInfo message, const chunk_slice *slice, const column *col)
{
	Size		bytes = column_null_bytes(slice->num_rows);
	char	   *dest = memset(reserve(message, bytes), 0, bytes);

	for (uint32 i = 0; i < slice->num_rows; i++)
		if (column_is_null(col, slice_row(slice, i)))
			dest[i / 8] |= 1 << i % 8;
}

void
message_append_rows(StringInfo message, const chunk_slice *slice)
{
	wire_header header = {slice->num_rows, slice->num_columns};
	int			described_at;

	message_append(message, &header, sizeof(header));
	described_at = message->len;
	(void) reserve(message, slice->num_columns * sizeof(wire_column));
	for (int i = 0; i < slice->num_columns; i++)
	{
		const column *col = &slice->rows->columns[i];
		wire_column described = {.has_nulls = col->nulls != NULL};
		int			start = message->len;

		if (column_is_variable(col->type))
			append_elements(message, slice, col);
		else
			append_cells(message, slice, col);
		described.num_bytes = message->len - start;
		memcpy(message->data + described_at + i * sizeof(described), &described, sizeof(described));
		if (col->nulls)
			append_nulls(message, slice, col);
	}
}

/* For tests: damage one message in sixteen, chosen differently in each process. */
static void
damage(StringInfo message)
{
	static uint32 num_messages = 0;
	uint32		random = murmurhash32((uint32) MyProcPid * 65537 + num_messages++);
	uint32		place = murmurhash32(random);
	uint32		value = murmurhash32(place);
	char	   *data = message->data + VARHDRSZ;
	uint32		bytes = message->len - VARHDRSZ;
	uint32		extremes[] = {0, 1, PG_INT32_MAX, PG_UINT32_MAX, bytes, value};

	switch (random % 64)
	{
		case 0:
			data[place % bytes] ^= 1 << value % 8;
			break;
		case 1:
			data[place % sizeof(wire_header)] ^= 1 << value % 8;
			break;
		case 2:
			memcpy(data + place % (bytes / sizeof(uint32)) * sizeof(uint32), &extremes[value % lengthof(extremes)],
				   sizeof(uint32));
			break;
		case 3:
			message->len = VARHDRSZ + place % bytes;
			break;
		default:
			break;
	}
}

bytea *
message_end(StringInfo message)
{
	if (unlikely(mgpu_setting_inject_fault == MGPU_FAULT_AGG_RUN))
		damage(message);
	SET_VARSIZE(message->data, message->len);
	return (bytea *) message->data;
}

/* ---- reading */

/* Size of the next element, or 0 if it does not end before end. */
static Size
next_element_bytes(const column_type *type, const char *next, const char *end)
{
	Size		left = end - next;
	Size		bytes;

	if (type->store == COLUMN_VARLENA)
	{
		if (left < VARHDRSZ || !VARATT_IS_4B_U(next) || VARSIZE(next) < VARHDRSZ || VARSIZE(next) > left)
			return 0;
	}
	else if (type->store == COLUMN_STORED)
	{
		/* in memory there are no other pointers, and a short length counts itself */
		if (left < VARHDRSZ || (VARATT_IS_EXTERNAL(next) && !VARATT_IS_EXTERNAL_ONDISK(next)) ||
			(!VARATT_IS_1B(next) && VARSIZE_4B(next) < VARHDRSZ + sizeof(uint32) * VARATT_IS_4B_C(next)) ||
			VARSIZE_ANY(next) > left)
			return 0;
	}
	else if (memchr(next, '\0', left) == NULL)
		return 0;
	bytes = element_bytes(type, next);
	return bytes > left ? 0 : bytes;
}

/* Copy all elements to the arena at once and point the cells to them. */
static bool
read_elements(chunk *rows, column *col, uint64 first, uint32 num_rows, const char *bytes, Size num_bytes)
{
	const char *next = memcpy(arena_take(&rows->arena, num_bytes, MAXIMUM_ALIGNOF), bytes, num_bytes);
	const char *end = next + num_bytes;

	for (uint64 row = first; row < first + num_rows; row++)
	{
		Size		element = 0;

		if (row % STEP_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (column_is_null(col, row))
			continue;
		element = next_element_bytes(col->type, next, end);
		if (element == 0)
			return false;
		((const char **) col->cells)[row] = next;
		next += element;
	}
	return next == end;
}

static void
read_nulls(chunk *rows, column *col, uint64 first, uint32 num_rows, const char *nulls)
{
	for (uint32 i = 0; i < num_rows; i++)
		if (nulls[i / 8] & (1 << i % 8))
			chunk_put_null(rows, col, first + i);
}

static wire_column
column_header(const char *bytes, int i)
{
	wire_column header;

	memcpy(&header, bytes + sizeof(wire_header) + i * sizeof(header), sizeof(header));
	return header;
}

/* Size of a message of rows, or 0 if the lengths of its parts are wrong. */
static Size
checked_bytes(const chunk *rows, int num_columns, const char *bytes, Size num_bytes)
{
	Size		expected = sizeof(wire_header) + num_columns * sizeof(wire_column);
	wire_header header;

	if (num_bytes < expected)
		return 0;
	memcpy(&header, bytes, sizeof(header));
	if (header.num_columns != (uint32) num_columns || header.num_rows > num_bytes * BITS_PER_BYTE ||
		(num_columns == 0 && header.num_rows > 0))
		return 0;
	for (int i = 0; i < num_columns; i++)
	{
		const column_type *type = rows->columns[i].type;
		wire_column described = column_header(bytes, i);

		if (!column_is_variable(type) && described.num_bytes != (Size) header.num_rows * type->width)
			return 0;
		expected += described.num_bytes + (described.has_nulls ? column_null_bytes(header.num_rows) : 0);
	}
	return expected <= num_bytes ? expected : 0;
}

Size
chunk_read(chunk *rows, int num_columns, const char *bytes, Size num_bytes)
{
	const char *next = bytes + sizeof(wire_header) + num_columns * sizeof(wire_column);
	Size		read_bytes = checked_bytes(rows, num_columns, bytes, num_bytes);
	uint64		first;
	wire_header header;

	if (read_bytes == 0)
		return 0;
	memcpy(&header, bytes, sizeof(header));
	first = chunk_add_rows(rows, header.num_rows);
	for (int i = 0; i < num_columns; i++)
	{
		column	   *col = &rows->columns[i];
		wire_column described = column_header(bytes, i);
		const char *values = next;

		next += described.num_bytes;
		if (!column_is_variable(col->type) && described.num_bytes > 0)
			memcpy(col->cells + first * col->type->width, values, described.num_bytes);
		if (described.has_nulls)
		{
			read_nulls(rows, col, first, header.num_rows, next);
			next += column_null_bytes(header.num_rows);
		}
		if (column_is_variable(col->type) &&
			!read_elements(rows, col, first, header.num_rows, values, described.num_bytes))
			return 0;
	}
	return read_bytes;
}

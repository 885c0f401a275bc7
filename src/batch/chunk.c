/*
 * chunk.c
 *		A chunk: rows stored as columns.
 *
 * A full column moves to memory of twice its size.  A list of blocks that never move
 * was rejected: a sort needs each column in one piece, and joining blocks costs as much
 * copying.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#include "compat.h"
#include "batch/chunk.h"
#include "core/short_bytes.h"
#include "pgerror.h"

/* Size of the first allocation, in bytes of rows. */
#define FIRST_BYTES 1024

static column_store
store_of(const element_type *type)
{
	if (type->typlen == -1)
		return COLUMN_VARLENA;
	if (type->typlen < 0)
		return COLUMN_CSTRING;
	if (!type->typbyval || type->stride != type->typlen)
		return COLUMN_BYTES;
	switch (type->typlen)
	{
		case 1:
			return COLUMN_1;
		case 2:
			return COLUMN_2;
		case 4:
			return COLUMN_4;
		case 8:
			return COLUMN_8;
		default:
			return COLUMN_BYTES;
	}
}

void
column_type_fill(column_type *type, Oid type_id)
{
	element_type_fill(&type->element, type_id);
	type->store = store_of(&type->element);
	type->width = column_is_variable(type) ? (int) sizeof(char *) : type->element.stride;
	type->align = att_align_nominal(1, type->element.typalign);
}

chunk *
chunk_create(MemoryContext context, int num_columns, const column_type *const *types, uint64 most_rows)
{
	chunk	   *rows = MemoryContextAllocZero(context, offsetof(chunk, columns) + num_columns * sizeof(column));

	rows->context = rows->arena.context = context;
	rows->most_rows = most_rows;
	rows->num_columns = num_columns;
	for (int i = 0; i < num_columns; i++)
		rows->columns[i].type = types[i];
	return rows;
}

chunk *
chunk_like(MemoryContext context, const chunk *like)
{
	chunk	   *rows = MemoryContextAllocZero(context, offsetof(chunk, columns) + like->num_columns * sizeof(column));

	rows->context = rows->arena.context = context;
	rows->most_rows = like->most_rows;
	rows->num_columns = like->num_columns;
	for (int i = 0; i < like->num_columns; i++)
		rows->columns[i].type = like->columns[i].type;
	return rows;
}

void
chunk_keep_stored(chunk *rows, column *col)
{
	column_type *type;

	if (col->type->store != COLUMN_VARLENA)
		return;
	type = MemoryContextAlloc(rows->context, sizeof(column_type));
	*type = *col->type;
	type->store = COLUMN_STORED;
	col->type = type;
}

static void
free_nulls(column *col)
{
	if (col->nulls)
		pfree(col->nulls);
	col->nulls = NULL;
}

void
chunk_reset(chunk *rows)
{
	rows->num_rows = 0;
	for (int i = 0; i < rows->num_columns; i++)
		free_nulls(&rows->columns[i]);
	arena_reset(&rows->arena, false);
}

void
chunk_free_column(chunk *rows, column *col)
{
	free_nulls(col);
	if (col->cells)
		pfree(col->cells);
	col->cells = NULL;
	rows->capacity = 0;
}

void
chunk_free(chunk *rows)
{
	rows->num_rows = 0;
	for (int i = 0; i < rows->num_columns; i++)
		chunk_free_column(rows, &rows->columns[i]);
	arena_reset(&rows->arena, true);
}

static Size
row_bytes(const chunk *rows)
{
	Size		bytes = 0;

	for (int i = 0; i < rows->num_columns; i++)
		bytes += rows->columns[i].type->width;
	return bytes;
}

void
chunk_grow(chunk *rows, uint64 num_rows)
{
	uint64		needed = rows->num_rows + num_rows;
	uint64		capacity = rows->capacity;
	Size		bytes = row_bytes(rows);

	if (needed > rows->most_rows)
		mgpu_raise_too_large(needed);
	capacity = Min(Max(Max(capacity * 2, FIRST_BYTES / Max(bytes, 1)), needed), rows->most_rows);
	for (int i = 0; i < rows->num_columns; i++)
	{
		column	   *col = &rows->columns[i];

		col->cells = large_realloc(rows->context, col->cells, rows->num_rows * col->type->width,
								   capacity * col->type->width);
		if (col->nulls)
		{
			Size		known_bytes = column_null_bytes(rows->capacity);

			col->nulls = large_realloc(rows->context, col->nulls, known_bytes, column_null_bytes(capacity));
			memset(col->nulls + known_bytes, 0, column_null_bytes(capacity) - known_bytes);
		}
	}
	rows->capacity = capacity;
}

void
chunk_put_null(chunk *rows, column *col, uint64 row)
{
	if (col->nulls == NULL)
	{
		col->nulls = large_alloc(rows->context, column_null_bytes(rows->capacity));
		memset(col->nulls, 0, column_null_bytes(rows->capacity));
	}
	col->nulls[row / 8] |= 1 << row % 8;
	memset(col->cells + row * col->type->width, 0, col->type->width);
}

/* Keep bytes as an element of variable width. */
static pg_attribute_always_inline char *
keep_varlena_bytes(const column_type *type, arena *to, const char *data, Size length)
{
	Size		bytes = VARHDRSZ + length;
	Size		padded = TYPEALIGN(type->align, bytes);
	char	   *element = arena_take(to, padded, type->align);

	/* the padding is smaller than the alignment */
	if (type->align == sizeof(uint32))
		*(uint32 *) (element + padded - sizeof(uint32)) = 0;
	else
		memset(element + bytes, 0, padded - bytes);
	SET_VARSIZE(element, bytes);
	if (length >= 4 && length <= 16)
		mgpu_copy_short(VARDATA(element), data, length);
	else
		memcpy(VARDATA(element), data, length);
	return element;
}

static char *
keep_varlena(const column_type *type, arena *to, Datum value)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	char	   *element = keep_varlena_bytes(type, to, VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));

	/* the caller's context may live as long as the query */
	if ((Pointer) packed != DatumGetPointer(value))
		pfree(packed);
	return element;
}

void
chunk_put_bytes(chunk *rows, column *col, uint64 row, const char *bytes, Size length)
{
	((char **) col->cells)[row] = keep_varlena_bytes(col->type, &rows->arena, bytes, length);
}

void
chunk_put_varlenas(chunk *rows, column *col, uint64 first, const char *const *values, const uint16 *picked, uint32 num_rows)
{
	for (uint32 i = 0; i < num_rows; i++)
	{
		const char *value = values[picked[i]];

		/* most are short */
		if (value && VARATT_IS_1B(value) && !VARATT_IS_1B_E(value))
			((char **) col->cells)[first + i] = keep_varlena_bytes(col->type, &rows->arena, VARDATA_1B(value), VARSIZE_1B(value) - VARHDRSZ_SHORT);
		else if (value)
			((char **) col->cells)[first + i] = keep_varlena(col->type, &rows->arena, PointerGetDatum(value));
		else
			chunk_put_null(rows, col, first + i);
	}
}

static char *
keep_stored(const column_type *type, arena *to, Datum value)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	Size		bytes;
	Size		padded;
	char	   *element;

	/* what lies in memory may not live long enough */
	if (VARATT_IS_EXTERNAL(stored) && !VARATT_IS_EXTERNAL_ONDISK(stored))
		stored = detoast_external_attr(stored);
	bytes = VARSIZE_ANY(stored);
	padded = TYPEALIGN(type->align, bytes);
	element = arena_take(to, padded, type->align);
	memset(element + bytes, 0, padded - bytes);
	memcpy(element, stored, bytes);
	if ((Pointer) stored != DatumGetPointer(value))
		pfree(stored);
	return element;
}

static char *
keep_cstring(const column_type *type, arena *to, Datum value)
{
	Size		bytes = strlen(DatumGetCString(value)) + 1;
	Size		padded = TYPEALIGN(type->align, bytes);
	char	   *element = arena_take(to, padded, type->align);

	memcpy(element, DatumGetCString(value), bytes);
	memset(element + bytes, 0, padded - bytes);
	return element;
}

static void
keep_bytes(const column_type *type, char *cell, Datum value)
{
	const element_type *element = &type->element;

	if (element->typbyval)
		store_att_byval(cell, value, element->typlen);
	else
		memcpy(cell, DatumGetPointer(value), element->typlen);
	memset(cell + element->typlen, 0, type->width - element->typlen);
}

void
chunk_put_other(chunk *rows, column *col, uint64 row, Datum value)
{
	const column_type *type = col->type;
	char	   *cell = col->cells + row * type->width;

	if (type->store == COLUMN_VARLENA)
		*(char **) cell = keep_varlena(type, &rows->arena, value);
	else if (type->store == COLUMN_STORED)
		*(char **) cell = keep_stored(type, &rows->arena, value);
	else if (type->store == COLUMN_CSTRING)
		*(char **) cell = keep_cstring(type, &rows->arena, value);
	else
		keep_bytes(type, cell, value);
}

static inline void
append_cell(chunk *rows, column *col, uint64 to, const column *from, uint64 row)
{
	bool		is_null = column_is_null(from, row);

	chunk_put(rows, col, to, is_null ? (Datum) 0 : cell_datum(from->type, from->cells, row), is_null);
}

void
chunk_append_row(chunk *rows, const chunk *from, uint64 row)
{
	uint64		to = chunk_add_rows(rows, 1);

	for (int i = 0; i < rows->num_columns; i++)
		append_cell(rows, &rows->columns[i], to, &from->columns[i], row);
}

/* Inlined where the width is known. */
static pg_attribute_always_inline void
copy_cells(char *to, const char *from, Size width, const uint32 *numbers, uint64 num_rows)
{
	for (uint64 i = 0; i < num_rows; i++)
		memcpy(to + i * width, from + numbers[i] * width, width);
}

static void
append_cells(chunk *rows, column *col, uint64 first, const column *from, const uint32 *numbers, uint64 num_rows)
{
	char	   *to = col->cells + first * col->type->width;

	if (from->nulls == NULL && from->type->store == COLUMN_4)
		copy_cells(to, from->cells, sizeof(uint32), numbers, num_rows);
	else if (from->nulls == NULL && from->type->store == COLUMN_8)
		copy_cells(to, from->cells, sizeof(uint64), numbers, num_rows);
	else
		for (uint64 i = 0; i < num_rows; i++)
			append_cell(rows, col, first + i, from, numbers[i]);
}

void
chunk_append_rows(chunk *rows, const chunk *from, const uint32 *numbers, uint64 num_rows)
{
	uint64		first = chunk_add_rows(rows, num_rows);

	for (int i = 0; num_rows > 0 && i < rows->num_columns; i++)
		append_cells(rows, &rows->columns[i], first, &from->columns[i], numbers, num_rows);
}

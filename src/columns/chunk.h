/*
 * chunk.h
 *		A chunk of columns: what rows are held in by aggregates and plan nodes, and
 *		what workers' messages and temporary files (wire.h) are made of.
 *
 * A cell of a column is
 *
 *	 by value		the value
 *	 fixed width	the element as an array holds it, padding included
 *	 variable		a pointer to the element in the chunk's arena, as an array holds
 *					it: detoasted, with a 4-byte length, padded with zeros
 *
 * The cell of a NULL is zeros.  Cells of a column lie one after another, so that a
 * column can be a job's input where it is.
 */
#ifndef MGPU_CHUNK_H
#define MGPU_CHUNK_H

#include "access/tupmacs.h"

#include "array/element_type.h"
#include "columns/arena.h"

typedef enum column_store
{
	COLUMN_1,
	COLUMN_2,
	COLUMN_4,
	COLUMN_8,
	COLUMN_BYTES,
	COLUMN_VARLENA,				/* this one and the next are variable */
	COLUMN_CSTRING
} column_store;

/* How values of a type are kept. */
typedef struct column_type
{
	element_type element;
	column_store store;
	uint32		width;			/* bytes of a cell */
	uint32		align;			/* of an element in an array, in bytes */
} column_type;

typedef struct column
{
	const column_type *type;
	char	   *cells;
	uint8	   *nulls;			/* a bit a row, set for NULL; NULL: no value is */
} column;

typedef struct chunk
{
	MemoryContext context;
	uint64		num_rows;
	uint64		capacity;		/* in rows */
	uint64		most_rows;		/* more are an error */
	arena		arena;
	int			num_columns;
	column		columns[FLEXIBLE_ARRAY_MEMBER];
} chunk;

extern void column_type_fill(column_type *type, Oid type_id);

/* Column i is of types[i], which must live as long as the chunk. */
extern chunk *chunk_create(MemoryContext context, int num_columns, const column_type *const *types, uint64 most_rows);

/* Forget all rows; memory is kept for those to come, or given back. */
extern void chunk_reset(chunk *rows);
extern void chunk_free(chunk *rows);

/* Give one column back; all that may follow is a reset. */
extern void chunk_free_column(chunk *rows, column *col);

/* Bytes that the rows take. */
extern Size chunk_bytes(const chunk *rows);

/* Make room for so many more rows; ereport(ERROR) if they are too many. */
extern void chunk_grow(chunk *rows, uint64 num_rows);

/* Zeros, and their rows marked. */
extern void chunk_put_null(chunk *rows, column *col, uint64 row);

/* The general part of chunk_put. */
extern void chunk_put_other(chunk *rows, column *col, uint64 row, Datum value);

static inline bool
column_is_variable(const column_type *type)
{
	return type->store >= COLUMN_VARLENA;
}

/* New rows, whose cells are the caller's to fill: the number of the first. */
static inline uint64
chunk_add_rows(chunk *rows, uint64 num_rows)
{
	uint64		first = rows->num_rows;

	if (unlikely(num_rows > rows->capacity - first))
		chunk_grow(rows, num_rows);
	rows->num_rows += num_rows;
	return first;
}

/* Keep a value, which may be toasted. */
static inline void
chunk_put(chunk *rows, column *col, uint64 row, Datum value, bool is_null)
{
	if (unlikely(is_null))
	{
		chunk_put_null(rows, col, row);
		return;
	}
	switch (col->type->store)
	{
		case COLUMN_1:
			((uint8 *) col->cells)[row] = DatumGetUInt8(value);
			break;
		case COLUMN_2:
			((uint16 *) col->cells)[row] = DatumGetUInt16(value);
			break;
		case COLUMN_4:
			((uint32 *) col->cells)[row] = DatumGetUInt32(value);
			break;
		case COLUMN_8:
			((uint64 *) col->cells)[row] = DatumGetUInt64(value);
			break;
		default:
			chunk_put_other(rows, col, row, value);
	}
}

static inline bool
column_is_null(const column *col, uint64 row)
{
	return col->nulls && (col->nulls[row / 8] & (1 << row % 8)) != 0;
}

static inline Size
column_null_bytes(uint64 num_rows)
{
	return (num_rows + 7) / 8;
}

/* The element that a cell stands for, as an array holds it. */
static inline const char *
cell_element(const column_type *type, const char *cells, uint64 i)
{
	if (column_is_variable(type))
		return ((char *const *) cells)[i];
	return cells + i * type->width;
}

/* The same as a Datum, which points to it where the type is by reference. */
static inline Datum
cell_datum(const column_type *type, const char *cells, uint64 i)
{
	return fetch_att(cell_element(type, cells, i), type->element.typbyval, type->element.typlen);
}

/* Bytes that an element takes in an array, its padding included. */
static inline Size
element_bytes(const column_type *type, const char *element)
{
	switch (type->store)
	{
		case COLUMN_VARLENA:
			return TYPEALIGN(type->align, VARSIZE(element));
		case COLUMN_CSTRING:
			return TYPEALIGN(type->align, strlen(element) + 1);
		default:
			return type->width;
	}
}

#endif							/* MGPU_CHUNK_H */

/*
 * chunk.h
 *		A chunk: rows stored as columns.
 *
 * Aggregates and plan nodes collect rows in chunks.  Messages of parallel workers and
 * temporary files are written from chunks (wire.h).  A cell of a column is
 *
 *	 by value		the value
 *	 fixed width	the element as an array stores it, padding included
 *	 variable		a pointer to the element in the chunk's arena; the element is stored
 *					as in an array: detoasted, with a 4-byte length, padded with zeros
 *	 stored			such a pointer too, but the element is as it came: maybe with a short length,
 *					compressed, or a pointer to where a table has it
 *
 * The cell of a NULL is zero.  The cells of a column are contiguous, so that a column
 * can be a job's input without a copy.
 */
#ifndef MGPU_CHUNK_H
#define MGPU_CHUNK_H

#include "access/tupmacs.h"

#include "array/element_type.h"
#include "batch/arena.h"

typedef enum column_store
{
	COLUMN_1,
	COLUMN_2,
	COLUMN_4,
	COLUMN_8,
	COLUMN_BYTES,
	COLUMN_VARLENA,				/* this and the next ones have variable width */
	COLUMN_STORED,				/* only where somebody asks for it (chunk_keep_stored) */
	COLUMN_CSTRING
} column_store;

/* How values of a type are stored. */
typedef struct column_type
{
	element_type element;
	column_store store;
	uint32		width;			/* size of a cell, in bytes */
	uint32		align;			/* alignment of an element in an array, in bytes */
} column_type;

typedef struct column
{
	const column_type *type;
	char	   *cells;
	uint8	   *nulls;			/* one bit per row, set for NULL; NULL pointer: no NULLs */
} column;

typedef struct chunk
{
	MemoryContext context;
	uint64		num_rows;
	uint64		capacity;		/* in rows */
	uint64		most_rows;		/* limit; more rows raise an error */
	arena		arena;
	int			num_columns;
	column		columns[FLEXIBLE_ARRAY_MEMBER];
} chunk;

/*
 * Bytes of values of variable width that are read before memory is looked at.  A number of rows alone does not do: a value
 * may have a gigabyte.
 */
#define CHUNK_STEP_BYTES (256 * 1024)

extern void column_type_fill(column_type *type, Oid type_id);

/* Column i has the type types[i], which must live as long as the chunk. */
extern chunk *chunk_create(MemoryContext context, int num_columns, const column_type *const *types, uint64 most_rows);

/* Create an empty chunk with the columns of another, whose types it shares. */
extern chunk *chunk_like(MemoryContext context, const chunk *like);

/*
 * Keep a column's values of variable width as they come, which is cheaper where they are only handed on.  They are
 * valid as long as the query's snapshot.  The chunk is empty.
 */
extern void chunk_keep_stored(chunk *rows, column *col);

/* Forget all rows.  chunk_reset keeps the memory for new rows; chunk_free releases it. */
extern void chunk_reset(chunk *rows);
extern void chunk_free(chunk *rows);

/* Release the memory of one column.  No row may be added before the next reset. */
extern void chunk_free_column(chunk *rows, column *col);

/* Make the columns large enough for num_rows more rows; ereport(ERROR) above most_rows. */
extern void chunk_grow(chunk *rows, uint64 num_rows);

/* Store a NULL: set its bit and zero its cell. */
extern void chunk_put_null(chunk *rows, column *col, uint64 row);

/* Copy a row, or rows by their numbers, of another chunk with the same columns, or more behind them. */
extern void chunk_append_row(chunk *rows, const chunk *from, uint64 row);
extern void chunk_append_rows(chunk *rows, const chunk *from, const uint32 *numbers, uint64 num_rows);

/* Store a value of variable width that has these bytes. */
extern void chunk_put_bytes(chunk *rows, column *col, uint64 row, const char *bytes, Size length);

/* Store values of COLUMN_VARLENA as a table has them, those with the picked numbers, from row first on.  NULL stands for NULL. */
extern void chunk_put_varlenas(chunk *rows, column *col, uint64 first, const char *const *values, const uint16 *picked,
							   uint32 num_rows);

/* The slow path of chunk_put. */
extern void chunk_put_other(chunk *rows, column *col, uint64 row, Datum value);

static inline bool
column_is_variable(const column_type *type)
{
	return type->store >= COLUMN_VARLENA;
}

/* Add rows and return the number of the first.  The caller fills their cells. */
static inline uint64
chunk_add_rows(chunk *rows, uint64 num_rows)
{
	uint64		first = rows->num_rows;

	if (unlikely(num_rows > rows->capacity - first))
		chunk_grow(rows, num_rows);
	rows->num_rows += num_rows;
	return first;
}

/* Store a value, which may be toasted. */
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

/* The element of a cell, as an array stores it. */
static inline const char *
cell_element(const column_type *type, const char *cells, uint64 i)
{
	if (column_is_variable(type))
		return ((char *const *) cells)[i];
	return cells + i * type->width;
}

/* The element as a Datum.  A Datum by reference points into the chunk. */
static inline Datum
cell_datum(const column_type *type, const char *cells, uint64 i)
{
	return fetch_att(cell_element(type, cells, i), type->element.typbyval, type->element.typlen);
}

/* Bytes of an element in an array, including its padding. */
static inline Size
element_bytes(const column_type *type, const char *element)
{
	switch (type->store)
	{
		case COLUMN_VARLENA:
			return TYPEALIGN(type->align, VARSIZE(element));
		case COLUMN_STORED:
			return TYPEALIGN(type->align, VARSIZE_ANY(element));
		case COLUMN_CSTRING:
			return TYPEALIGN(type->align, strlen(element) + 1);
		default:
			return type->width;
	}
}

#endif							/* MGPU_CHUNK_H */

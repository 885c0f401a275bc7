/*
 * agg_column.h
 *		How an aggregate keeps one column of values: cells, and an arena for
 *		what does not fit a cell.
 *
 *	 by value		the cell is the value
 *	 fixed width	the cell is the element as an array holds it, padding included
 *	 variable		the cell points to the element in the arena, as an array
 *					holds it: detoasted, with a 4-byte length, padded with zeros
 */
#ifndef MGPU_AGG_COLUMN_H
#define MGPU_AGG_COLUMN_H

#include "access/tupmacs.h"

#include "array/element_type.h"

typedef enum agg_store
{
	AGG_STORE_1,
	AGG_STORE_2,
	AGG_STORE_4,
	AGG_STORE_8,
	AGG_STORE_BYTES,
	AGG_STORE_VARLENA,			/* this one and the next are variable */
	AGG_STORE_CSTRING
} agg_store;

typedef struct agg_column
{
	element_type type;
	agg_store	store;
	uint32		width;			/* bytes of a cell */
	uint32		align;			/* of an element in an array, in bytes */
} agg_column;

/*
 * Bump allocation in blocks that grow with what is taken.  Blocks belong to the
 * context; a reset keeps the last one, unless it is large, for what comes next.
 */
typedef struct agg_arena
{
	MemoryContext context;
	struct agg_arena_block *blocks; /* newest first */
	char	   *next;
	char	   *end;
	Size		taken_bytes;	/* since the last reset, without gaps */
	bool		foresees;		/* the next block is prepared (agg_memory.h) … */
	struct agg_ahead *ahead;	/* … here */
} agg_arena;

extern void agg_column_init(agg_column *column, Oid type_id);

extern void agg_arena_init(agg_arena *arena, MemoryContext context);
extern void agg_arena_reset(agg_arena *arena);

/* All is taken, but for a reset: what was prepared for more is given back. */
extern void agg_arena_finish(agg_arena *arena);

/* bytes at an address that is a multiple of align, uninitialized. */
extern char *agg_arena_take(agg_arena *arena, Size bytes, uint32 align);

/* The general part of agg_column_put. */
extern void agg_column_put_other(const agg_column *column, agg_arena *arena,
								 char *cell, Datum value);

static inline bool
agg_column_is_variable(const agg_column *column)
{
	return column->store >= AGG_STORE_VARLENA;
}

/* Keep a value in a row's cell.  value may be toasted. */
static inline void
agg_column_put(const agg_column *column, agg_arena *arena, char *cells, uint32 row, Datum value)
{
	switch (column->store)
	{
		case AGG_STORE_1:
			((uint8 *) cells)[row] = DatumGetUInt8(value);
			break;
		case AGG_STORE_2:
			((uint16 *) cells)[row] = DatumGetUInt16(value);
			break;
		case AGG_STORE_4:
			((uint32 *) cells)[row] = DatumGetUInt32(value);
			break;
		case AGG_STORE_8:
			((uint64 *) cells)[row] = DatumGetUInt64(value);
			break;
		default:
			agg_column_put_other(column, arena, cells + (Size) row * column->width, value);
	}
}

/* The element that a cell stands for, as an array holds it. */
static inline const char *
agg_column_element(const agg_column *column, const char *cells, uint64 row)
{
	if (agg_column_is_variable(column))
		return ((char *const *) cells)[row];
	return cells + row * column->width;
}

/* The same as a Datum, which points to it where the type is by reference. */
static inline Datum
agg_column_datum(const agg_column *column, const char *cells, uint64 row)
{
	return fetch_att(agg_column_element(column, cells, row), column->type.typbyval, column->type.typlen);
}

/* Bytes that an element takes in an array, its padding included. */
static inline Size
agg_column_bytes(const agg_column *column, const char *element)
{
	switch (column->store)
	{
		case AGG_STORE_VARLENA:
			return TYPEALIGN(column->align, VARSIZE(element));
		case AGG_STORE_CSTRING:
			return TYPEALIGN(column->align, strlen(element) + 1);
		default:
			return column->width;
	}
}

#endif							/* MGPU_AGG_COLUMN_H */

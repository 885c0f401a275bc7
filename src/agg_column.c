/*
 * agg_column.c
 *		How an aggregate keeps one column of values.
 *
 * Elements of variable width lie one after another in a few large blocks rather
 * than each in a palloc of its own, which costs 16 bytes and a function call
 * more a value.  They are kept in the form that arrays hold, so that making a
 * result is copying.
 */
#include "postgres.h"

#include "compat.h"
#include "agg_column.h"
#include "agg_memory.h"

/* Least and largest size of a block, but for a value that takes more. */
#define FIRST_BLOCK_BYTES 1024
#define LAST_BLOCK_BYTES (8 * 1024 * 1024)

/* A block is at most this part of all before it. */
#define BLOCK_PART 4

/* Larger blocks are not kept. */
#define KEPT_BLOCK_BYTES (256 * 1024)

typedef struct agg_arena_block
{
	struct agg_arena_block *older;
	Size		bytes;			/* with this header */
} agg_arena_block;

static agg_store
store_of(const element_type *type)
{
	if (type->typlen == -1)
		return AGG_STORE_VARLENA;
	if (type->typlen < 0)
		return AGG_STORE_CSTRING;
	if (!type->typbyval || type->stride != type->typlen)
		return AGG_STORE_BYTES;
	switch (type->typlen)
	{
		case 1:
			return AGG_STORE_1;
		case 2:
			return AGG_STORE_2;
		case 4:
			return AGG_STORE_4;
		case 8:
			return AGG_STORE_8;
		default:
			return AGG_STORE_BYTES;
	}
}

void
agg_column_init(agg_column *column, Oid type_id)
{
	element_type_fill(&column->type, type_id);
	column->store = store_of(&column->type);
	column->width = agg_column_is_variable(column) ? (int) sizeof(char *) : column->type.stride;
	column->align = att_align_nominal(1, column->type.typalign);
}

void
agg_arena_init(agg_arena *arena, MemoryContext context)
{
	arena->context = context;
	arena->blocks = NULL;
	arena->next = NULL;
	arena->end = NULL;
	arena->taken_bytes = 0;
	arena->foresees = false;
	arena->ahead = NULL;
}

void
agg_arena_finish(agg_arena *arena)
{
	agg_ahead_stop(arena->ahead);
}

static void
use_block(agg_arena *arena, agg_arena_block *block)
{
	arena->next = (char *) block + MAXALIGN(sizeof(agg_arena_block));
	arena->end = (char *) block + block->bytes;
}

void
agg_arena_reset(agg_arena *arena)
{
	agg_arena_block *kept = arena->blocks;

	agg_arena_finish(arena);
	if (kept == NULL)
		return;
	while (kept->older)
	{
		agg_arena_block *older = kept->older;

		kept->older = older->older;
		pfree(older);
	}
	if (kept->bytes > KEPT_BLOCK_BYTES)
	{
		pfree(kept);
		arena->blocks = NULL;
		arena->next = arena->end = NULL;
	}
	else
		use_block(arena, kept);
	arena->taken_bytes = 0;
}

static pg_noinline void
add_block(agg_arena *arena, Size needed_bytes)
{
	Size		bytes = Min(Max(arena->taken_bytes / BLOCK_PART, FIRST_BLOCK_BYTES), LAST_BLOCK_BYTES);
	Size		next_bytes = 0;
	agg_arena_block *block;

	/* large values have blocks of their own */
	if (arena->foresees && needed_bytes < bytes / 2)
		next_bytes = Min(bytes + bytes / BLOCK_PART, LAST_BLOCK_BYTES);
	bytes = Max(bytes, MAXALIGN(sizeof(agg_arena_block)) + needed_bytes);
	block = agg_alloc_next(&arena->ahead, arena->context, &bytes, next_bytes);
	block->bytes = bytes;
	block->older = arena->blocks;
	arena->blocks = block;
	use_block(arena, block);
}

/* For every row: inline, which what others can call is not in a shared library. */
static inline char *
take(agg_arena *arena, Size bytes, uint32 align)
{
	char	   *start = (char *) TYPEALIGN(align, arena->next);

	if (unlikely(start + bytes > arena->end || arena->blocks == NULL))
	{
		add_block(arena, bytes);
		start = arena->next;
	}
	arena->next = start + bytes;
	arena->taken_bytes += bytes;
	return start;
}

char *
agg_arena_take(agg_arena *arena, Size bytes, uint32 align)
{
	return take(arena, bytes, align);
}

/* Strings are mostly short: two copies of a width, which may overlap, in place of a call. */
static inline void
copy_bytes(char *dest, const char *source, Size bytes)
{
	if (bytes > 2 * sizeof(uint64) || bytes < sizeof(uint32))
		memcpy(dest, source, bytes);
	else if (bytes >= sizeof(uint64))
	{
		memcpy(dest, source, sizeof(uint64));
		memcpy(dest + bytes - sizeof(uint64), source + bytes - sizeof(uint64), sizeof(uint64));
	}
	else
	{
		memcpy(dest, source, sizeof(uint32));
		memcpy(dest + bytes - sizeof(uint32), source + bytes - sizeof(uint32), sizeof(uint32));
	}
}

static char *
keep_varlena(const agg_column *column, agg_arena *arena, Datum value)
{
	struct varlena *packed = (struct varlena *) DatumGetPointer(value);
	Size		bytes;
	Size		padded;
	char	   *element;

	if (VARATT_IS_EXTERNAL(packed) || VARATT_IS_COMPRESSED(packed))
		packed = PG_DETOAST_DATUM_PACKED(value);
	bytes = VARHDRSZ + VARSIZE_ANY_EXHDR(packed);
	padded = TYPEALIGN(column->align, bytes);
	element = take(arena, padded, column->align);
	if (column->align == sizeof(uint32))
		*(uint32 *) (element + padded - sizeof(uint32)) = 0;
	else
		memset(element + bytes, 0, padded - bytes);
	SET_VARSIZE(element, bytes);
	copy_bytes(VARDATA(element), VARDATA_ANY(packed), bytes - VARHDRSZ);
	return element;
}

static char *
keep_cstring(const agg_column *column, agg_arena *arena, Datum value)
{
	const char *string = DatumGetCString(value);
	Size		bytes = strlen(string) + 1;
	Size		padded = TYPEALIGN(column->align, bytes);
	char	   *element = take(arena, padded, column->align);

	memcpy(element, string, bytes);
	memset(element + bytes, 0, padded - bytes);
	return element;
}

static void
keep_bytes(const agg_column *column, char *cell, Datum value)
{
	const element_type *type = &column->type;

	if (type->typbyval)
		store_att_byval(cell, value, type->typlen);
	else
		memcpy(cell, DatumGetPointer(value), type->typlen);
	memset(cell + type->typlen, 0, column->width - type->typlen);
}

void
agg_column_put_other(const agg_column *column, agg_arena *arena, char *cell, Datum value)
{
	if (column->store == AGG_STORE_VARLENA)
		*(char **) cell = keep_varlena(column, arena, value);
	else if (column->store == AGG_STORE_CSTRING)
		*(char **) cell = keep_cstring(column, arena, value);
	else
		keep_bytes(column, cell, value);
}

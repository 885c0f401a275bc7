/*
 * arena.c
 *		Allocations whose size grows with a statement's input.
 *
 * Rows are moved to their groups, and groups are read for results, in an order that the
 * processor cannot predict, so that huge pages pay (large_memory.c).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "batch/arena.h"

/* Smallest and largest block.  A value that does not fit gets a block of its own size. */
#define FIRST_BLOCK_BYTES 1024
#define LAST_BLOCK_BYTES (8 * 1024 * 1024)

/* A new block has 1 / BLOCK_PART of the bytes taken so far, within the two limits above. */
#define BLOCK_PART 4

typedef struct arena_block
{
	struct arena_block *older;
	Size		bytes;			/* including this header */
} arena_block;

void *
large_realloc(MemoryContext context, void *start, Size known_bytes, Size bytes)
{
	void	   *larger = large_alloc(context, bytes);

	if (start)
	{
		memcpy(larger, start, known_bytes);
		pfree(start);
	}
	return larger;
}

static void
use_block(arena *from, arena_block *block)
{
	from->next = (char *) block + MAXALIGN(sizeof(arena_block));
	from->end = (char *) block + block->bytes;
}

void
arena_add_block(arena *from, Size needed_bytes)
{
	Size		bytes = Min(Max(from->taken_bytes / BLOCK_PART, FIRST_BLOCK_BYTES), LAST_BLOCK_BYTES);
	arena_block *block;

	bytes = Max(bytes, MAXALIGN(sizeof(arena_block)) + needed_bytes);
	block = large_alloc(from->context, bytes);
	block->bytes = bytes;
	block->older = from->blocks;
	from->blocks = block;
	from->block_bytes += bytes;
	use_block(from, block);
}

void
arena_reset(arena *from, bool all)
{
	arena_block *kept = from->blocks;

	from->taken_bytes = 0;
	if (kept == NULL || (kept->older == NULL && !all))
	{
		if (kept)
			use_block(from, kept);
		return;
	}
	while (from->blocks)
	{
		arena_block *block = from->blocks;

		from->blocks = block->older;
		pfree(block);
	}
	from->block_bytes = 0;
}

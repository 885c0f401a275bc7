/*
 * arena.h
 *		Allocations whose size grows with a statement's input.
 */
#ifndef MGPU_ARENA_H
#define MGPU_ARENA_H

#include "large_memory.h"

#include "compat.h"

/*
 * Allocate bytes, copy the first known_bytes of start and free start, which may be
 * NULL. realloc was rejected: pages that it moves are no longer huge.
 */
extern void *large_realloc(MemoryContext context, void *start, Size known_bytes, Size bytes);

/*
 * Bump allocation in blocks that grow with the bytes taken.  A palloc for each value
 * was rejected: it costs 16 bytes and a call more for each value.
 */
typedef struct arena
{
	MemoryContext context;
	struct arena_block *blocks; /* newest first */
	char	   *next;
	char	   *end;
	Size		taken_bytes;	/* handed out by arena_take */
	Size		block_bytes;	/* total size of the blocks */
} arena;

/* Forget all values.  Unless all is set, a single block is kept for later values. */
extern void arena_reset(arena *from, bool all);

/* The slow path of arena_take: add a block. */
extern void arena_add_block(arena *from, Size needed_bytes);

/* Take uninitialized bytes at an address that is a multiple of align. */
static inline char *
arena_take(arena *from, Size bytes, uint32 align)
{
	char	   *start = (char *) TYPEALIGN(align, from->next);

	if (unlikely(from->blocks == NULL || start + bytes > from->end))
	{
		arena_add_block(from, bytes);
		start = from->next;
	}
	from->next = start + bytes;
	from->taken_bytes += bytes;
	return start;
}

#endif							/* MGPU_ARENA_H */

/*
 * arena.h
 *		Memory for what grows with a statement's input.
 */
#ifndef MGPU_ARENA_H
#define MGPU_ARENA_H

#include "compat.h"

/* As MemoryContextAllocHuge, of any size, 0 included; what is large gets huge pages. */
extern void *large_alloc(MemoryContext context, Size bytes);

/*
 * The same with the first known_bytes of start, which may be NULL and is gone.
 * Not realloc: pages that it moves are no huge ones any more.
 */
extern void *large_realloc(MemoryContext context, void *start, Size known_bytes, Size bytes);

/*
 * Bump allocation in blocks that grow with what is taken.  A palloc for each value
 * was rejected: 16 bytes and a call more a value.
 */
typedef struct arena
{
	MemoryContext context;
	struct arena_block *blocks; /* newest first */
	char	   *next;
	char	   *end;
	Size		taken_bytes;	/* by values */
	Size		block_bytes;	/* of all blocks */
} arena;

/* Forget all values; a lone block is kept for those to come, unless all is to go. */
extern void arena_reset(arena *from, bool all);

/* The part of arena_take that needs a new block. */
extern void arena_add_block(arena *from, Size needed_bytes);

/* bytes at an address that is a multiple of align, uninitialized. */
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

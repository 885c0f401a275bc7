/*
 * table_memory.c
 *		Memory of table runs: arenas of large blocks, and large arrays, in huge pages if the system has them.
 *
 * A fault for each 4 kB of rows that are kept would take as long as grouping them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/cpu/table/table_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_BYTES (UINT64_C(2) << 20)
#define BLOCK_BYTES (UINT64_C(4) << 20)

/* Blocks of an arena begin small, and double. */
#define FIRST_BLOCK_BYTES (UINT64_C(64) << 10)

struct mgpu_arena_block
{
	_Alignas(64) struct mgpu_arena_block *next;
	uint64_t	bytes;
};

void *
mgpu_table_allocate(uint64_t bytes)
{
	uint64_t	alignment = bytes >= 2 * HUGE_BYTES ? HUGE_BYTES : 64;
	void	   *memory;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + alignment) / alignment * alignment;	/* never 0 */
	memory = aligned_alloc(alignment, bytes);
	if (memory != NULL && alignment == HUGE_BYTES)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static uint64_t
rounded(uint64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

uint64_t
mgpu_arena_growth(const mgpu_arena *arena, uint64_t bytes)
{
	uint64_t	before = arena->blocks == NULL ? FIRST_BLOCK_BYTES / 2 : arena->blocks->bytes;
	uint64_t	next_bytes = mgpu_table_least(2 * before, BLOCK_BYTES);
	uint64_t	least_bytes = rounded(bytes) + sizeof(struct mgpu_arena_block);

	if (rounded(bytes) <= arena->left)
		return 0;
	return least_bytes > next_bytes ? least_bytes : next_bytes;
}

void *
mgpu_arena_allocate(mgpu_arena *arena, uint64_t bytes)
{
	uint64_t	block_bytes = mgpu_arena_growth(arena, bytes);
	void	   *memory;

	bytes = rounded(bytes);
	if (block_bytes > 0)
	{
		struct mgpu_arena_block *block = mgpu_table_allocate(block_bytes);

		if (block == NULL)
			return NULL;
		block->next = arena->blocks;
		block->bytes = block_bytes;
		arena->bytes += block_bytes;
		arena->blocks = block;
		arena->next = (char *) (block + 1);
		arena->left = block_bytes - sizeof(*block);
	}
	memory = arena->next;
	arena->next += bytes;
	arena->left -= bytes;
	return memory;
}

void
mgpu_arena_free(mgpu_arena *arena)
{
	while (arena->blocks != NULL)
	{
		struct mgpu_arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	arena->left = arena->bytes = 0;
}

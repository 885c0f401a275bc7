/*
 * table_memory.h
 *		Memory of table runs: arenas, and large arrays.
 */
#ifndef MGPU_TABLE_MEMORY_H
#define MGPU_TABLE_MEMORY_H

#include <stdint.h>

static inline uint64_t
mgpu_table_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Memory that is freed at once.  Of one thread at a time. */
typedef struct mgpu_arena
{
	struct mgpu_arena_block *blocks;
	char	   *next;
	uint64_t	left;
	uint64_t	bytes;			/* of all blocks */
} mgpu_arena;

/* NULL if there is none. */
void	   *mgpu_arena_allocate(mgpu_arena *arena, uint64_t bytes);
void		mgpu_arena_free(mgpu_arena *arena);

/* Bytes that an arena would have more, for so many of its own. */
uint64_t	mgpu_arena_growth(const mgpu_arena *arena, uint64_t bytes);

/* Memory of its own, with huge pages where it is large; to be freed with free.  NULL if there is none. */
void	   *mgpu_table_allocate(uint64_t bytes);

#endif							/* MGPU_TABLE_MEMORY_H */

/*
 * cpu_tile_shape.h
 *		How the CPU's mergesort cuts a job's items, for whoever counts what it would do.
 */
#ifndef MGPU_CPU_TILE_SHAPE_H
#define MGPU_CPU_TILE_SHAPE_H

#include "job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See cpu/tiles.h. */
typedef struct mgpu_tile_shape
{
	uint64_t	tile_items;
	uint64_t	unit_items;		/* what a pass beyond a chunk moves */
	uint64_t	num_tiles;
	uint32_t	chunk_passes;	/* passes that stay inside a chunk, and move single items */
	uint32_t	num_passes;		/* all of them */
} mgpu_tile_shape;

/* job: a sort of keys by MGPU_ALGORITHM_MERGE or MGPU_ALGORITHM_LOCALITY. */
void		mgpu_cpu_tile_shape(const mgpu_job *job, mgpu_tile_shape *shape);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_CPU_TILE_SHAPE_H */

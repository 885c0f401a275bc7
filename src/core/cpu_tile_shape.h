/*
 * cpu_tile_shape.h
 *		The shape of the CPU's mergesort for a job, for models that count its
 *		work.
 */
#ifndef MGPU_CPU_TILE_SHAPE_H
#define MGPU_CPU_TILE_SHAPE_H

#include "job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* See cpu/tiles.h for the terms. */
typedef struct mgpu_tile_shape
{
	uint64_t	tile_items;
	uint64_t	unit_items;		/* moved as a whole by passes beyond a chunk */
	uint64_t	num_tiles;
	uint32_t	chunk_passes;	/* passes inside a chunk, which move single items */
	uint32_t	num_passes;		/* all passes */
} mgpu_tile_shape;

/* job: a sort of keys by MGPU_ALGORITHM_MERGE or MGPU_ALGORITHM_LOCALITY. */
void		mgpu_cpu_tile_shape(const mgpu_job *job, mgpu_tile_shape *shape);

#ifdef __cplusplus
}
#endif
#endif							/* MGPU_CPU_TILE_SHAPE_H */

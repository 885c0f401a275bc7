/*
 * cpu_sides.h
 *		Two sides of codes (and indices, for pairs) that an explicitly requested
 *		algorithm moves items between, pass by pass.
 *
 *		keys, streamed	run->codes	<->  out_keys
 *		keys, whole		out_keys	<->  own
 *		pairs			run->codes or own, indices	 <->  own, own
 *
 * Each state of a strategy that uses them begins with an mgpu_sides.
 */
#ifndef MGPU_CPU_SIDES_H
#define MGPU_CPU_SIDES_H

#include "cpu_run.h"

typedef struct mgpu_sides
{
	void	   *codes[2];		/* of job.key_width */
	uint32_t   *indices[2];		/* NULL for keys alone */
	int			current;		/* where the items are */
	int			step;			/* of mgpu_sides_finish */
	mgpu_buffer own_codes[2];
	mgpu_buffer own_indices;
} mgpu_sides;

/* Bytes that mgpu_sides_start allocates, at most. */
uint64_t	mgpu_sides_bytes(const mgpu_run *run);

bool		mgpu_sides_start(mgpu_run *run, mgpu_sides *sides, mgpu_status *status, mgpu_error *err);

/* A phase that brings whole input to side 0; false: streamed codes are there. */
bool		mgpu_sides_begin_load(mgpu_run *run, mgpu_sides *sides);

/*
 * Call it phase after phase once items are in order: brings them to the result.
 * False when that is done.
 */
bool		mgpu_sides_finish(mgpu_run *run, mgpu_sides *sides);

void		mgpu_sides_release(mgpu_sides *sides);

#endif							/* MGPU_CPU_SIDES_H */

/*
 * cpu_chunks.h
 *		Input cut into chunks whose items go to columns (buckets or digits): the
 *		table of how many go where, and then of where they begin.
 *
 * A chunk is a task of the phase that counts and of the phase that moves; both
 * phases see chunks in input order, which keeps items of a column in input
 * order whatever the number of threads.
 */
#ifndef MGPU_CPU_CHUNKS_H
#define MGPU_CPU_CHUNKS_H

#include "cpu_run.h"
#include "cpu_split.h"

typedef struct mgpu_chunks
{
	uint64_t	num_items;
	uint64_t	chunk_items;
	uint64_t	num_chunks;
	uint64_t	num_columns;	/* at most */
	mgpu_buffer table;			/* uint32_t [num_chunks][num_columns] */
} mgpu_chunks;

/* Items of a chunk, given how many are best for caches. */
uint64_t	mgpu_plan_chunk_items(uint64_t num_items, uint64_t best_items);

/* Bytes of a table. */
uint64_t	mgpu_chunks_bytes(uint64_t num_items, uint64_t best_items, uint64_t num_columns);

bool		mgpu_chunks_start(mgpu_chunks *chunks, uint64_t num_items, uint64_t best_items,
							  uint64_t num_columns, mgpu_status *status, mgpu_error *err);

static inline uint32_t *
mgpu_chunk_row(const mgpu_chunks *chunks, uint64_t chunk)
{
	return (uint32_t *) chunks->table.data + chunk * chunks->num_columns;
}

/* One past a chunk's last item. */
static inline uint64_t
mgpu_chunk_end(const mgpu_chunks *chunks, uint64_t chunk)
{
	uint64_t	end = (chunk + 1) * chunks->chunk_items;

	return end < chunks->num_items ? end : chunks->num_items;
}

/*
 * Sizes in the table become places: by column, then by chunk.  begin[0 ...
 * num_columns] receives where columns begin, and num_items at the end.
 */
void		mgpu_chunks_place(mgpu_chunks *chunks, uint32_t num_columns, uint64_t *begin);

/* Choose bounds for num_buckets buckets from random items of the run's input. */
bool		mgpu_sample_bounds(const mgpu_run *run, mgpu_bounds *bounds, uint32_t num_buckets,
							   mgpu_status *status, mgpu_error *err);

/* Items of the largest bucket that needs sorting. */
uint64_t	mgpu_largest_bucket(const mgpu_bounds *bounds, const uint64_t *begin);

#endif							/* MGPU_CPU_CHUNKS_H */

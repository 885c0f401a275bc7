/*
 * tiles.h
 *		State of the tile-based mergesort: tile_merge.c (strategy),
 *		tile_records.c (records and their sort), tile_chunk.c (inside a chunk),
 *		tile_pass.c (beyond a chunk).
 *
 *		tile	items sorted at once; the statistics count tiles
 *		chunk	tiles that fit a cache: one task sorts and merges them
 *		unit	tiles whose records move together, in passes beyond a chunk
 *
 * Each size is a tile times a power of two; the last of each kind may be partial.
 * Records are what is sorted.  Those of pairs hold the index below the code: all
 * differ, so ascending order is stable order.
 *
 *		integers		as stored: their code is one xor away, which costs less
 *						than passes that encode and decode
 *		other keys		uint32_t ... mgpu_u128: the code
 *		pairs, up to 4	uint64_t: code << 32 | index
 *
 * Rejected: records of 16 bytes for pairs of wider keys, twice as slow as pairs.c.
 */
#ifndef MGPU_CPU_TILES_H
#define MGPU_CPU_TILES_H

#include "core/cpu_merge_path.h"
#include "core/cpu/cpu_run.h"

/* Two neighbouring lists that a pass beyond a chunk merges, and the range that changes. */
typedef struct mgpu_tile_merge
{
	uint64_t	begin;			/* first record of a above b's first one */
	uint64_t	middle;			/* first record of b */
	uint64_t	end;			/* behind the last record of b below a's last one */
	uint64_t	num_units_before;	/* units of the pass's earlier merges */
} mgpu_tile_merge;

/* A unit's current place, and its other one, which the next pass may write. */
typedef struct mgpu_tile_place
{
	char	   *here;
	char	   *there;			/* NULL: not allocated yet */
} mgpu_tile_place;

typedef struct mgpu_tiles
{
	mgpu_codec	codec;			/* of records: the identity, or integers' */
	bool		vectors;
	uint64_t	num_items;
	uint64_t	tile_items;
	uint64_t	short_items;	/* most items merged in registers */
	uint64_t	chunk_items;
	uint64_t	unit_items;
	uint64_t	num_tiles;
	uint32_t	chunk_passes;	/* passes inside a chunk */
	uint32_t	num_passes;		/* all passes */

	char	   *home;			/* records until a pass beyond a chunk moves them */
	mgpu_tile_place *places;	/* [units] */

	/*
	 * with segments, [tiles][2]: the last head at or before a tile's first
	 * record, and the first head behind that record (or num_items)
	 */
	uint32_t   *heads;

	char	   *scratch;		/* [workers]: lists to merge, and their padding */
	uint64_t	worker_bytes;

	/* the current pass */
	uint32_t	pass;
	mgpu_tile_merge *merges;	/* [num_merges] */
	uint64_t	num_merges;
	uint64_t	num_units;		/* units of all merges */
	char	   *next_place;		/* the second place of the next unit without one */
	uint64_t	num_missing;	/* units without a second place */

	_Atomic uint64_t merge_tiles[MGPU_MAX_PASSES];
	uint64_t	copy_tiles[MGPU_MAX_PASSES];
} mgpu_tiles;

/* tile_records.c */

/* Bytes of a run's records. */
uint32_t	mgpu_record_bytes(const mgpu_run *run);

/*
 * Load items [begin, end) of the input as records.  The caller sorts the returned
 * records to home, where they may be already.
 */
const char *mgpu_records_load(const mgpu_run *run, mgpu_tiles *tiles, uint64_t begin, uint64_t end);

/* Begin a phase that writes the records to the outputs, from their current places. */
void		mgpu_begin_unload(mgpu_run *run);

/* Sort records, which are in input order; sorted may be records itself. */
void		mgpu_records_sort(const mgpu_tiles *tiles, const void *records, void *sorted,
							  uint32_t num_records);

/* Whether record x is below record y. */
bool		mgpu_record_below(const mgpu_tiles *tiles, const void *x, const void *y);

/* tile_chunk.c */

/* Load, sort and merge chunk number task; context is the run. */
void		mgpu_tile_chunk_task(void *context, uint64_t task, int worker);

/* Scratch bytes that a worker needs for it. */
uint64_t	mgpu_tile_scratch_bytes(const mgpu_tiles *tiles);

/*
 * Narrow the lists [*begin, middle) and [middle, *end) to the segment that lies in
 * both.  False if there is none; true at once without segments.
 */
bool		mgpu_tile_clamp(const mgpu_tiles *tiles, uint64_t *begin, uint64_t middle, uint64_t *end);

/* tile_pass.c */

/*
 * Begin the next pass that has lists to merge.  False if there is none, or on
 * failure.
 */
bool		mgpu_begin_tile_pass(mgpu_run *run);

static inline char *
mgpu_home_of(const mgpu_tiles *tiles, uint64_t i)
{
	return tiles->home + i * tiles->codec.width;
}

/* Record i, at its unit's current place. */
static inline char *
mgpu_record_of(const mgpu_tiles *tiles, uint64_t i)
{
	return tiles->places[i / tiles->unit_items].here + i % tiles->unit_items * tiles->codec.width;
}

static inline void *
mgpu_tile_scratch(const mgpu_tiles *tiles, int worker)
{
	return tiles->scratch + tiles->worker_bytes * (uint64_t) worker;
}

/* How many tiles the records [begin, end) touch. */
static inline uint64_t
mgpu_tiles_touched(const mgpu_tiles *tiles, uint64_t begin, uint64_t end)
{
	return (end - 1) / tiles->tile_items - begin / tiles->tile_items + 1;
}

#endif							/* MGPU_CPU_TILES_H */

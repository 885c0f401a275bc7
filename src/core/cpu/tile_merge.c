/*
 * tile_merge.c
 *		Strategies merge and locality: tile-based mergesort of all items or of
 *		each segment.  They provide the statistics of passes.
 *
 * Tiles are sorted, then lists of 1, 2, 4 ... tiles are merged (segmented sort and
 * locality sort of S. Baxter's Modern GPU; tile_chunk.c has the observation behind
 * both).  One task finishes each chunk that fits a cache, while later keys still
 * arrive if they are streamed.  Then every pass goes over all of memory
 * (tile_pass.c).
 */
#include <stdlib.h>

#include "core/cpu/stream.h"
#include "core/cpu/tiles.h"

/* Tiles of a unit. */
#define UNIT_TILES 16

static void
plan_tiles(const mgpu_run *run, mgpu_tiles *tiles)
{
	uint32_t	width = mgpu_record_bytes(run);
	uint64_t	most = mgpu_vector_sort_max(width);

	if (run->job.op == MGPU_OP_SORT && run->job.key_kind <= MGPU_KEY_SIGNED)
		tiles->codec = run->codec;
	else
		mgpu_codec_init_identity(&tiles->codec, width);
	tiles->vectors = run->tuning.vectors != 0;
	tiles->num_items = run->job.num_items;
	tiles->tile_items = run->tuning.tile_items;
	if (tiles->vectors && most > 0 && tiles->tile_items > most)
		tiles->tile_items = most;
	tiles->short_items = tiles->vectors ? most : 0;
	tiles->num_tiles = mgpu_num_tasks(tiles->num_items, tiles->tile_items);
	while ((tiles->num_tiles - 1) >> tiles->num_passes != 0)
		tiles->num_passes++;
	while (tiles->chunk_passes < tiles->num_passes &&
		   (tiles->tile_items << (tiles->chunk_passes + 1)) * width <= run->tuning.chunk_bytes)
		tiles->chunk_passes++;
	tiles->chunk_items = tiles->tile_items << tiles->chunk_passes;
	tiles->unit_items = tiles->tile_items * UNIT_TILES;
	if (tiles->unit_items > tiles->chunk_items)
		tiles->unit_items = tiles->chunk_items;
	tiles->worker_bytes = mgpu_tile_scratch_bytes(tiles);
}

static bool
allocate_tiles(mgpu_run *run, mgpu_tiles *tiles, mgpu_status *status, mgpu_error *err)
{
	uint64_t	num_units = mgpu_num_tasks(tiles->num_items, tiles->unit_items);

	if (run->job.op == MGPU_OP_SORT_PAIRS &&
		!mgpu_buffer_allocate(&tiles->own_home, tiles->num_items * tiles->codec.width, status, err))
		return false;
	if (run->job.num_segments > 0 &&
		!mgpu_buffer_allocate(&tiles->heads, tiles->num_tiles * 2 * sizeof(uint32_t), status, err))
		return false;
	return mgpu_buffer_allocate(&tiles->scratch, tiles->worker_bytes * (uint64_t) run->num_threads, status, err) &&
		mgpu_buffer_allocate(&tiles->places, num_units * sizeof(mgpu_tile_place), status, err) &&
		mgpu_buffer_allocate(&tiles->merges,
							 (tiles->num_items / tiles->chunk_items + 1) * sizeof(mgpu_tile_merge), status, err);
}

static bool
start_tiles(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_tiles *tiles = calloc(1, sizeof(*tiles));
	mgpu_tile_place *places;

	if (tiles == NULL)
	{
		*status = mgpu_fail(err, MGPU_HOST_MEMORY, "out of memory for mergesort");
		return false;
	}
	run->state = tiles;
	plan_tiles(run, tiles);
	if (!allocate_tiles(run, tiles, status, err))
		return false;
	tiles->home = run->job.op == MGPU_OP_SORT ? run->binding.out_keys : tiles->own_home.data;
	places = tiles->places.data;
	for (uint64_t begin = 0; begin < tiles->num_items; begin += tiles->unit_items)
		*places++ = (mgpu_tile_place) {.here = mgpu_home_of(tiles, begin)};
	tiles->pass = tiles->chunk_passes;
	return true;
}

/* Begin the chunks' phase while keys arrive. */
static bool
tile_begin_stream(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	run->step = 1;
	return start_tiles(run, status, err) &&
		mgpu_stream_begin(run, mgpu_tile_chunk_task, ((mgpu_tiles *) run->state)->chunk_items, status, err);
}

static void
tile_release(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;

	mgpu_buffer_free(&tiles->own_home);
	mgpu_buffer_free(&tiles->places);
	mgpu_buffer_free(&tiles->heads);
	mgpu_buffer_free(&tiles->scratch);
	mgpu_buffer_free(&tiles->merges);
	for (int i = 0; i < tiles->num_spare; i++)
		mgpu_buffer_free(&tiles->spare[i]);
	free(tiles);
}

static bool
tile_advance(mgpu_run *run, mgpu_status *status, mgpu_error *err)
{
	mgpu_tiles *tiles;

	switch (run->step)
	{
		case 0:
			run->step = 1;
			if (!start_tiles(run, status, err))
				return false;
			tiles = run->state;
			mgpu_begin_phase(run, mgpu_tile_chunk_task, mgpu_num_tasks(tiles->num_items, tiles->chunk_items));
			return true;
		case 1:
			if (mgpu_begin_tile_pass(run, status, err))
				return true;
			if (*status != MGPU_OK)
				return false;
			run->step = 2;
			mgpu_begin_unload(run);
			return true;
		default:
			return false;
	}
}

static void
tile_stats(const mgpu_run *run, mgpu_run_stats *stats)
{
	const mgpu_tiles *tiles = run->state;

	stats->num_tiles = tiles->num_tiles;
	stats->num_passes = (int) tiles->num_passes;
	for (uint32_t pass = 0; pass < tiles->num_passes; pass++)
	{
		stats->passes[pass].merge_tiles = atomic_load(&tiles->merge_tiles[pass]);
		stats->passes[pass].copy_tiles = tiles->copy_tiles[pass];
	}
}

const mgpu_strategy mgpu_strategy_merge = {
	.algorithm = MGPU_ALGORITHM_MERGE,
	.codes_in_result = true,
	.begin_stream = tile_begin_stream,
	.advance = tile_advance,
	.stats = tile_stats,
	.release = tile_release,
};

const mgpu_strategy mgpu_strategy_locality = {
	.algorithm = MGPU_ALGORITHM_LOCALITY,
	.codes_in_result = true,
	.begin_stream = tile_begin_stream,
	.advance = tile_advance,
	.stats = tile_stats,
	.release = tile_release,
};

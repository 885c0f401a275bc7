/*
 * tile_merge.c
 *		Strategy for the algorithms merge and locality: tile-based mergesort of all
 *		items or of each segment.  It provides the statistics of passes.
 *
 * Tiles are sorted, then lists of 1, 2, 4 ... tiles are merged (segmented sort and
 * locality sort of S. Baxter's Modern GPU; tile_chunk.c has the observation behind
 * both).  One task finishes each chunk that fits a cache, while later keys still
 * arrive if they are streamed.  Then every pass goes over all of memory
 * (tile_pass.c).
 */
#include "core/cpu/input.h"
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
allocate_tiles(mgpu_run *run, mgpu_tiles *tiles)
{
	uint64_t	num_units = mgpu_num_tasks(tiles->num_items, tiles->unit_items);

	tiles->home = run->job.op == MGPU_OP_SORT ? run->binding.out_keys :
		mgpu_allocate(run, tiles->num_items * tiles->codec.width);
	if (run->job.num_segments > 0)
		tiles->heads = mgpu_allocate(run, tiles->num_tiles * 2 * sizeof(uint32_t));
	tiles->scratch = mgpu_allocate(run, tiles->worker_bytes * (uint64_t) run->num_threads);
	tiles->places = mgpu_allocate(run, num_units * sizeof(mgpu_tile_place));
	tiles->merges = mgpu_allocate(run, (tiles->num_items / tiles->chunk_items + 1) * sizeof(mgpu_tile_merge));
	return run->error.status == MGPU_OK;
}

static bool
start_tiles(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;
	mgpu_tile_place *place;

	plan_tiles(run, tiles);
	if (!allocate_tiles(run, tiles))
		return false;
	place = tiles->places;
	for (uint64_t begin = 0; begin < tiles->num_items; begin += tiles->unit_items)
		*place++ = (mgpu_tile_place) {.here = mgpu_home_of(tiles, begin)};
	tiles->pass = tiles->chunk_passes;
	return true;
}

/* Begin the chunks' phase while keys arrive. */
static bool
tile_begin_stream(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;

	run->step = 1;
	return start_tiles(run) && mgpu_stream_begin(run, mgpu_tile_chunk_task, tiles->chunk_items);
}

static bool
tile_advance(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;

	switch (run->step)
	{
		case 0:
			run->step = 1;
			if (!start_tiles(run))
				return false;
			mgpu_begin_phase(run, mgpu_tile_chunk_task, mgpu_num_tasks(tiles->num_items, tiles->chunk_items));
			return true;
		case 1:
			if (mgpu_begin_tile_pass(run))
				return true;
			if (run->error.status != MGPU_OK)
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

const mgpu_strategy mgpu_strategy_tiles = {
	.algorithm = MGPU_ALGORITHM_AUTO,
	.state_bytes = sizeof(mgpu_tiles),
	.codes_in_result = true,
	.begin_stream = tile_begin_stream,
	.advance = tile_advance,
	.stats = tile_stats,
};

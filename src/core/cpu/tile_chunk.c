/*
 * tile_chunk.c
 *		Tile-based mergesort inside a chunk, by one task while the chunk is in
 *		cache.
 *
 * Two neighbouring lists differ from their merge only between the first record of a
 * above b's first one and the last record of b below a's last one; with segments,
 * only in the segment that straddles their border.  Just this range is copied aside
 * and merged back.  So lists in order cost a single comparison, and records in their
 * place do not move.  A chunk's passes run one after another in cache.
 */
#include "core/cpu/tiles.h"

#include <string.h>

uint64_t
mgpu_tile_scratch_bytes(const mgpu_tiles *tiles)
{
	return ((tiles->chunk_items + 2 * MGPU_MERGE_AHEAD) * tiles->codec.width + 127) / 64 * 64;
}

/* A tile: items [begin, end), and its records before they are sorted. */
typedef struct tile_part
{
	uint64_t	begin;
	uint64_t	end;
	const char *records;
} tile_part;

/* Sort the tile's records [begin, end) to home. */
static void
sort_piece(const mgpu_tiles *tiles, const tile_part *tile, uint64_t begin, uint64_t end)
{
	mgpu_records_sort(tiles, tile->records + (begin - tile->begin) * tiles->codec.width,
					  mgpu_home_of(tiles, begin), (uint32_t) (end - begin));
}

/* Sort a tile inside each segment.  heads: those within the tile, except one at its first record. */
static void
sort_pieces(const mgpu_tiles *tiles, const tile_part *tile, const uint32_t *heads, uint64_t num_heads)
{
	uint32_t	width = tiles->codec.width;
	mgpu_flips	flips = {width, tiles->codec.flip, tiles->codec.flip};
	uint64_t	num_sorted = 0;

	sort_piece(tiles, tile, tile->begin, num_heads > 0 ? heads[0] : tile->end);
	if (num_heads > 0 && tiles->vectors && mgpu_vector_items(width) > 0)
		num_sorted = mgpu_vector_sort_segments(tile->records + (heads[0] - tile->begin) * width,
											   mgpu_home_of(tiles, heads[0]), heads, num_heads,
											   (uint32_t) tile->end, &flips);
	for (uint64_t i = num_sorted; i < num_heads; i++)
		sort_piece(tiles, tile, heads[i], i + 1 < num_heads ? heads[i + 1] : tile->end);
}

/* *head: number of the first head behind the tile's first record; moved on to the next tile's. */
static void
sort_tile(const mgpu_run *run, mgpu_tiles *tiles, const tile_part *tile, uint64_t *head)
{
	const uint32_t *heads = run->binding.in_segment_heads;
	uint32_t   *tile_heads = tiles->heads + 2 * (tile->begin / tiles->tile_items);
	uint64_t	first = *head;
	uint64_t	last = first;

	if (run->job.num_segments == 0)
	{
		sort_piece(tiles, tile, tile->begin, tile->end);
		return;
	}
	tile_heads[0] = heads[first - 1];
	tile_heads[1] = (uint32_t) (first < run->job.num_segments ? heads[first] : tiles->num_items);
	while (last < run->job.num_segments && heads[last] < tile->end)
		last++;
	sort_pieces(tiles, tile, heads + first, last - first);
	*head = last < run->job.num_segments && heads[last] == tile->end ? last + 1 : last;
}

bool
mgpu_tile_clamp(const mgpu_tiles *tiles, uint64_t *begin, uint64_t middle, uint64_t *end)
{
	const uint32_t *tile_heads = tiles->heads;

	if (tile_heads == NULL)
		return true;
	tile_heads += 2 * (middle / tiles->tile_items);
	if (tile_heads[0] > *begin)
		*begin = tile_heads[0];
	if (tile_heads[1] < *end)
		*end = tile_heads[1];
	return *begin < middle;
}

/* Merge two lists in place.  Returns how many tiles that changed. */
static uint64_t
merge_in_place(mgpu_tiles *tiles, uint64_t begin, uint64_t middle, uint64_t end, char *scratch)
{
	uint32_t	width = tiles->codec.width;
	char	   *b = mgpu_home_of(tiles, middle);
	uint64_t	num_a,
				num_b;

	if (!mgpu_tile_clamp(tiles, &begin, middle, &end))
		return 0;
	num_b = mgpu_count_below(&tiles->codec, b, end - middle, b - width);
	if (num_b == 0)
		return 0;
	num_a = mgpu_count_above(&tiles->codec, b, middle - begin, b);
	if (num_a + num_b <= tiles->short_items)
	{
		mgpu_vector_merge_short(b - num_a * width, (uint32_t) num_a, (uint32_t) num_b, width, tiles->codec.flip);
		return mgpu_tiles_touched(tiles, middle - num_a, middle + num_b);
	}
	memcpy(scratch, b - num_a * width, num_a * width);
	memcpy(mgpu_padded_b(&tiles->codec, scratch, num_a), b, num_b * width);
	mgpu_merge_padded(&tiles->codec, tiles->vectors, scratch, num_a, num_b, b - num_a * width);
	return mgpu_tiles_touched(tiles, middle - num_a, middle + num_b);
}

void
mgpu_tile_chunk_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_tiles *tiles = run->state;
	void	   *scratch = mgpu_tile_scratch(tiles, worker);
	uint64_t	begin = task * tiles->chunk_items;
	uint64_t	end = mgpu_min(begin + tiles->chunk_items, tiles->num_items);
	uint64_t	head = mgpu_positions_below(run->binding.in_segment_heads, run->job.num_segments, begin + 1);
	tile_part	tile = {.records = mgpu_records_load(run, tiles, begin, end)};

	for (tile.begin = begin; tile.begin < end; tile.begin = tile.end)
	{
		tile.end = mgpu_min(tile.begin + tiles->tile_items, end);
		sort_tile(run, tiles, &tile, &head);
		tile.records += tiles->tile_items * tiles->codec.width;
	}
	for (uint32_t pass = 0; pass < tiles->chunk_passes; pass++)
	{
		uint64_t	list_items = tiles->tile_items << pass;
		uint64_t	num_tiles = 0;

		for (uint64_t middle = begin + list_items; middle < end; middle += 2 * list_items)
			num_tiles += merge_in_place(tiles, middle - list_items, middle,
										mgpu_min(middle + list_items, end), scratch);
		if (num_tiles > 0)
			atomic_fetch_add(&tiles->merge_tiles[pass], num_tiles);
	}
}

/*
 * tile_pass.c
 *		Passes of the tile-based mergesort over lists longer than a chunk.
 *
 * The calling thread finds the range that changes in each pair of lists, by a few
 * binary searches.  Tasks write these ranges, cut into units by Merge Path.  A unit
 * that changes is written to the other of its two places and swaps them; the second
 * place is allocated when first needed.  So a pass copies only records that share a
 * unit with moving ones: its copy tiles.  Ping-pong of whole passes was rejected:
 * each pass would have to copy every tile that it does not merge, until both sides
 * hold it.
 */
#include <string.h>

#include "core/cpu/tiles.h"

/* Units of a task. */
#define TASK_UNITS 8

static bool
is_below(const mgpu_tiles *tiles, uint64_t i, uint64_t j)
{
	return mgpu_record_below(tiles, mgpu_record_of(tiles, i), mgpu_record_of(tiles, j));
}

/*
 * First of the sorted records [begin, end) that is above record i.  The search
 * gallops from the end, where nearly sorted lists meet.
 */
static uint64_t
first_above(const mgpu_tiles *tiles, uint64_t begin, uint64_t end, uint64_t i)
{
	uint64_t	step = 1;

	for (; end - begin > step && is_below(tiles, i, end - step); step *= 2)
		end -= step;
	if (end - begin > step)
		begin = end - step + 1;
	MGPU_SEARCH(begin, end, !is_below(tiles, i, middle));
	return begin;
}

/* First of the sorted records [begin, end) that is not below record i.  Gallops from the front. */
static uint64_t
first_not_below(const mgpu_tiles *tiles, uint64_t begin, uint64_t end, uint64_t i)
{
	uint64_t	step = 1;

	for (; end - begin > step && is_below(tiles, begin + step - 1, i); step *= 2)
		begin += step;
	if (end - begin > step)
		end = begin + step - 1;
	MGPU_SEARCH(begin, end, is_below(tiles, middle, i));
	return begin;
}

/* Record the range that the merge of two lists changes, if any. */
static void
plan_merge(mgpu_tiles *tiles, uint64_t begin, uint64_t middle, uint64_t end)
{
	mgpu_tile_merge *merge = tiles->merges + tiles->num_merges;
	uint64_t	num_units;
	uint64_t	unit_end;
	uint64_t	num_tiles;

	if (!mgpu_tile_clamp(tiles, &begin, middle, &end) || !is_below(tiles, middle, middle - 1))
		return;
	merge->begin = first_above(tiles, begin, middle, middle);
	merge->middle = middle;
	merge->end = first_not_below(tiles, middle, end, middle - 1);
	merge->num_units_before = tiles->num_units;
	num_units = (merge->end - 1) / tiles->unit_items - merge->begin / tiles->unit_items + 1;
	unit_end = mgpu_min((merge->begin / tiles->unit_items + num_units) * tiles->unit_items, tiles->num_items);
	num_tiles = mgpu_tiles_touched(tiles, merge->begin, merge->end);
	tiles->num_merges++;
	tiles->num_units += num_units;
	tiles->merge_tiles[tiles->pass] += num_tiles;
	tiles->copy_tiles[tiles->pass] +=
		mgpu_tiles_touched(tiles, merge->begin / tiles->unit_items * tiles->unit_items, unit_end) - num_tiles;
}

/* The merge that a unit of the pass belongs to. */
static const mgpu_tile_merge *
merge_of_unit(const mgpu_tiles *tiles, uint64_t unit)
{
	const mgpu_tile_merge *merges = tiles->merges;
	uint64_t	begin = 0;
	uint64_t	end = tiles->num_merges;

	while (end - begin > 1)
	{
		uint64_t	middle = begin + (end - begin) / 2;

		if (merges[middle].num_units_before <= unit)
			begin = middle;
		else
			end = middle;
	}
	return merges + begin;
}

/* Of the merge's first diagonal records, how many come from its first list. */
static uint64_t
path_of(const mgpu_tiles *tiles, const mgpu_tile_merge *merge, uint64_t diagonal)
{
	uint64_t	num_b = merge->end - merge->middle;
	uint64_t	begin = diagonal > num_b ? diagonal - num_b : 0;
	uint64_t	end = mgpu_min(merge->middle - merge->begin, diagonal);

	MGPU_SEARCH(begin, end, !is_below(tiles, merge->middle + (diagonal - 1 - middle), merge->begin + middle));
	return begin;
}

/* Copy records [begin, end), unit by unit. */
static void
fetch(const mgpu_tiles *tiles, uint64_t begin, uint64_t end, char *copy)
{
	while (begin < end)
	{
		uint64_t	stop = mgpu_min((begin / tiles->unit_items + 1) * tiles->unit_items, end);

		memcpy(copy, mgpu_record_of(tiles, begin), (stop - begin) * tiles->codec.width);
		copy += (stop - begin) * tiles->codec.width;
		begin = stop;
	}
}

/*
 * Write one unit of a merge to its other place.  *a_begin is the path's crossing of
 * the unit's first diagonal, and becomes that of its last.
 */
static void
merge_unit(const mgpu_tiles *tiles, const mgpu_tile_merge *merge, uint64_t unit, uint64_t *a_begin, char *scratch)
{
	const mgpu_tile_place *place = tiles->places + unit;
	uint32_t	width = tiles->codec.width;
	uint64_t	unit_begin = unit * tiles->unit_items;
	uint64_t	unit_end = mgpu_min(unit_begin + tiles->unit_items, tiles->num_items);
	uint64_t	begin = unit_begin > merge->begin ? unit_begin : merge->begin;
	uint64_t	end = mgpu_min(unit_end, merge->end);
	uint64_t	a_end = path_of(tiles, merge, end - merge->begin);
	uint64_t	num_a = a_end - *a_begin;
	uint64_t	num_b = end - begin - num_a;
	uint64_t	b_begin = merge->middle + (begin - merge->begin - *a_begin);

	fetch(tiles, unit_begin, begin, place->there);
	fetch(tiles, end, unit_end, place->there + (end - unit_begin) * width);
	fetch(tiles, merge->begin + *a_begin, merge->begin + a_end, scratch);
	fetch(tiles, b_begin, b_begin + num_b, mgpu_padded_b(&tiles->codec, scratch, num_a));
	mgpu_merge_padded(&tiles->codec, tiles->vectors, scratch, num_a, num_b, place->there + (begin - unit_begin) * width);
	*a_begin = a_end;
}

static void
merge_units_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	const mgpu_tiles *tiles = run->state;
	const mgpu_tile_merge *last_merge = NULL;
	uint64_t	end = mgpu_min((task + 1) * TASK_UNITS, tiles->num_units);
	uint64_t	a_begin = 0;

	for (uint64_t i = task * TASK_UNITS; i < end; i++)
	{
		const mgpu_tile_merge *merge = merge_of_unit(tiles, i);
		uint64_t	unit = merge->begin / tiles->unit_items + (i - merge->num_units_before);
		uint64_t	unit_begin = unit * tiles->unit_items;

		if (merge != last_merge)
			a_begin = unit_begin > merge->begin ? path_of(tiles, merge, unit_begin - merge->begin) : 0;
		merge_unit(tiles, merge, unit, &a_begin, mgpu_tile_scratch(tiles, worker));
		last_merge = merge;
	}
}

/* Call visit for each unit that the pass writes. */
static void
visit_units(mgpu_tiles *tiles, void (*visit) (mgpu_tiles *tiles, mgpu_tile_place *place))
{
	mgpu_tile_place *places = tiles->places;

	for (uint64_t i = 0; i < tiles->num_merges; i++)
	{
		const mgpu_tile_merge *merge = tiles->merges + i;

		for (uint64_t unit = merge->begin / tiles->unit_items; unit <= (merge->end - 1) / tiles->unit_items; unit++)
			visit(tiles, &places[unit]);
	}
}

static void
swap_places(mgpu_tiles *tiles, mgpu_tile_place *place)
{
	char	   *here = place->here;

	place->here = place->there;
	place->there = here;
}

static void
count_missing(mgpu_tiles *tiles, mgpu_tile_place *place)
{
	if (place->there == NULL)
		tiles->num_missing++;
}

static void
give_place(mgpu_tiles *tiles, mgpu_tile_place *place)
{
	if (place->there != NULL)
		return;
	place->there = tiles->next_place;
	tiles->next_place += tiles->unit_items * tiles->codec.width;
}

/* Allocate second places for the pass's units that have none. */
static bool
make_places(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;

	tiles->num_missing = 0;
	visit_units(tiles, count_missing);
	if (tiles->num_missing == 0)
		return true;
	tiles->next_place = mgpu_allocate(run, tiles->num_missing * tiles->unit_items * tiles->codec.width);
	if (tiles->next_place == NULL)
		return false;
	visit_units(tiles, give_place);
	return true;
}

bool
mgpu_begin_tile_pass(mgpu_run *run)
{
	mgpu_tiles *tiles = run->state;

	visit_units(tiles, swap_places);
	tiles->num_merges = 0;
	tiles->num_units = 0;
	for (; tiles->pass < tiles->num_passes && tiles->num_merges == 0; tiles->pass++)
	{
		uint64_t	list_items = tiles->tile_items << tiles->pass;

		for (uint64_t middle = list_items; middle < tiles->num_items; middle += 2 * list_items)
			plan_merge(tiles, middle - list_items, middle,
					   mgpu_min(middle + list_items, tiles->num_items));
	}
	if (tiles->num_merges == 0 || !make_places(run))
		return false;
	mgpu_begin_phase(run, merge_units_task, mgpu_num_tasks(tiles->num_units, TASK_UNITS));
	return true;
}

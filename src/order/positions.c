/*
 * positions.c
 *		The sorted order of an array's elements, as positions.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array/null_map.h"
#include "array/array_segments.h"
#include "order/order.h"
#include "order/positions.h"

/* Elements handled between checks for interrupts. */
#define STEP_ITEMS (256 * 1024)

bool
present_ranks(const sort_spec *spec, array_source *source, const element_type *type,
			  sort_keys *keys, uint32 *ranks, void *sorted_words)
{
	const segment_list *segments = spec->segments;
	segment_list present;

	if (source->num_items == source->num_nulls)
		return false;
	if (segments && source->num_nulls > 0)
	{
		segments_of_present(&present, segments, source);
		segments = &present;
	}
	if (spec->op == MGPU_OP_ODD_EVEN_SORT)
	{
		sort_keys_as_values(keys, source, type, spec->collation);
		order_by_network(spec, keys, ranks);
		return false;
	}
	sort_keys_of_array(keys, source, type, spec->collation);
	return order_ranks(spec, segments, keys, ranks, sorted_words);
}

/* Write the first num_nulls NULL elements from begin on.  Returns the end of the output. */
static int32 *
put_nulls(const array_source *source, int64 begin, int64 num_nulls, int32 base, int32 *next)
{
	for (; num_nulls > 0; begin++)
		if (!null_bitmap_present(source->null_bitmap, begin))
		{
			*next++ = base + (int32) begin;
			num_nulls--;
		}
	return next;
}

/* Turn ranks into positions in place.  The output never overtakes the ranks still to be read. */
static void
place_nulls(const sort_spec *spec, const array_source *source, int32 base, int32 *positions)
{
	segment_list whole = {.heads = (uint32[]) {0},.num_segments = 1,.num_items = source->num_items};
	const segment_list *segments = spec->segments ? spec->segments : &whole;
	const uint32 *ranks = (const uint32 *) positions + source->num_nulls;
	int32	   *next = positions;
	int64		moved = 0;
	null_map	map;

	null_map_build(&map, source->null_bitmap, source->num_items);
	for (int64 i = 0; i < segments->num_segments; i++)
	{
		int64		begin = segments->heads[i];
		int64		end = segment_end(segments, i);
		int64		num_nulls = end - begin - null_bitmap_count(source->null_bitmap, begin, end);

		if (spec->order.nulls_first)
			next = put_nulls(source, begin, num_nulls, base, next);
		for (int64 j = end - begin - num_nulls; j > 0; j--)
		{
			*next++ = base + (int32) null_map_select(&map, *ranks++);
			if (++moved % STEP_ITEMS == 0)
				CHECK_FOR_INTERRUPTS();
		}
		if (!spec->order.nulls_first)
			next = put_nulls(source, begin, num_nulls, base, next);
	}
	null_map_free(&map);
}

void
ranks_to_positions(const sort_spec *spec, const array_source *source, int32 base, int32 *positions)
{
	if (source->num_nulls > 0)
		place_nulls(spec, source, base, positions);
	else if (base != 0)
		for (int64 i = 0; i < source->num_items; i++)
			positions[i] += base;
}

void
sorted_positions(const sort_spec *spec, array_source *source, const element_type *type,
				 int32 base, int32 *positions)
{
	sort_keys	keys;

	(void) present_ranks(spec, source, type, &keys, (uint32 *) positions + source->num_nulls, NULL);
	if (source->num_items > source->num_nulls)
		sort_keys_free(&keys);
	ranks_to_positions(spec, source, base, positions);
}

/*
 * pair_fill.c
 *		Fills the result of a sort of pairs from the front, some positions at a time.
 *
 * Whoever finds out the order (pair_parts.h, order_parts.h) does so for a part of
 * it at a time, so that positions of all are never there.  Each part's are used as
 * soon as they are known, and forgotten.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "compat.h"
#include "pair_fill.h"

/* NULL keys added at a time. */
#define BLOCK_ITEMS 1024

/* Keys looked at between looks at interrupts. */
#define STEP_ITEMS (256 * 1024)

void
pair_filler_start(pair_filler *filler, pair_result *result, const array_source *keys, const element_type *key_type,
				  const array_source *vals, const element_type *val_type)
{
	memset(filler, 0, sizeof(*filler));
	filler->keys = keys;
	filler->want_keys = result->keys != NULL;
	if (keys->num_nulls > 0)
		null_map_build(&filler->map, keys->null_bitmap, keys->num_items);
	array_filler_start(&filler->vals, result->vals, vals, val_type);
	if (filler->want_keys)
		array_filler_start(&filler->out_keys, result->keys, keys, key_type);
}

void
pair_filler_end(pair_filler *filler, bool done)
{
	array_filler_end(&filler->vals, done);
	if (filler->want_keys)
		array_filler_end(&filler->out_keys, done);
	if (filler->keys->num_nulls > 0)
		null_map_free(&filler->map);
}

Size
pair_filler_bytes(const pair_filler *filler)
{
	Size		bytes = array_filler_bytes(&filler->vals);

	if (filler->want_keys)
		bytes += array_filler_bytes(&filler->out_keys);
	if (filler->keys->num_nulls > 0)
		bytes += null_map_bytes(&filler->map);
	return bytes;
}

void
pair_filler_add(pair_filler *filler, const uint32 *positions, int64 num_positions)
{
	array_filler_add(&filler->vals, (const int32 *) positions, num_positions);
	if (filler->want_keys)
		array_filler_add(&filler->out_keys, (const int32 *) positions, num_positions);
}

void
pair_filler_add_nulls(pair_filler *filler)
{
	const array_source *keys = filler->keys;
	uint32		positions[BLOCK_ITEMS];
	int64		num_nulls = 0;

	for (int64 i = 0; keys->num_nulls > 0 && i < keys->num_items; i++)
	{
		if (!null_bitmap_present(keys->null_bitmap, i))
			positions[num_nulls++] = (uint32) i;
		if (num_nulls == BLOCK_ITEMS || i == keys->num_items - 1)
		{
			pair_filler_add(filler, positions, num_nulls);
			num_nulls = 0;
		}
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

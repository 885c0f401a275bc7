/*
 * sorted_keys.c
 *		Merges two sorted arrays by 64-bit keys that are made of their elements.
 *
 * Each element's key is made once, a block at a time (merge_blocks.c), and compared
 * with the one before it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "array_result.h"
#include "merge_blocks.h"
#include "sorted_keys.h"

/* Keys of each array that are held at a time: 24 bytes for one of both and their ranks. */
#define BLOCK_ITEMS (1024 * 1024)

/* Elements handled between looks at interrupts. */
#define STEP_ITEMS (64 * 1024)

typedef struct key_merge
{
	merge_blocks blocks;		/* is first */
	int64	   *keys[2];
} key_merge;

static bool
read_keys(merge_blocks *merge, int which)
{
	const array_source *source = which == 0 ? &merge->input->a : &merge->input->b;
	const element_type *type = merge->input->type;
	bool		descending = merge->input->order.descending;
	merge_block *block = &merge->blocks[which];
	int64		begin = block->end;
	int64		end = Min(block->room, begin + block->num_items - block->num_read);
	int64	   *keys = ((key_merge *) merge)->keys[which];
	const char *element = array_source_data(source) + (Size) block->num_read * type->stride;

	block->num_read += end - begin;
	block->end = end;
	for (int64 i = begin; i < end; i++, element += type->stride)
	{
		if (!type->encode(element, &keys[i]))
			return false;
		if (i > 0 && block->unsorted < 0 && (descending ? keys[i - 1] < keys[i] : keys[i - 1] > keys[i]))
			block->unsorted = merge_block_position(block, i);
		if (i % STEP_ITEMS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return true;
}

static void
shift_keys(merge_blocks *merge, int which, int64 num_items)
{
	int64	   *keys = ((key_merge *) merge)->keys[which];

	memmove(keys, keys + num_items, (merge->blocks[which].end - num_items) * sizeof(int64));
}

static int
compare_keys(const merge_blocks *merge, int64 a_item, int64 b_item)
{
	const key_merge *keys = (const key_merge *) merge;
	int64		a = keys->keys[0][a_item];
	int64		b = keys->keys[1][b_item];
	int			order = (a > b) - (a < b);

	return merge->input->order.descending ? -order : order;
}

static void
merge_keys(merge_blocks *merge, int64 num_a, int64 num_b, uint32 *ranks)
{
	const key_merge *keys = (const key_merge *) merge;

	merge_blocks_job(merge, keys->keys[0] + merge->blocks[0].begin, num_a,
					 keys->keys[1] + merge->blocks[1].begin, num_b, MGPU_KEY_SIGNED, ranks);
}

bool
sorted_keys_merge(sorted_input *input, uint8 *sides, int64 place, run_series *series)
{
	static const merge_items items = {read_keys, shift_keys, compare_keys, merge_keys};
	array_source *sources[] = {&input->a, &input->b};
	key_merge	merge;
	bool		done;

	if (input->type->encode == NULL)
		return false;
	merge_blocks_start(&merge.blocks, &items, input, BLOCK_ITEMS, series);
	for (int i = 0; i < 2; i++)
	{
		int64		num_items = merge.blocks.blocks[i].num_items;

		array_source_load(sources[i]);
		if (num_items > 0)
			array_source_require(sources[i], (Size) (num_items - 1) * input->type->stride + input->type->typlen);
		merge.keys[i] = array_result_scratch(merge.blocks.blocks[i].room * sizeof(int64));
	}
	done = merge_blocks_run(&merge.blocks, sides, place);
	pfree(merge.keys[0]);
	pfree(merge.keys[1]);
	return done;
}

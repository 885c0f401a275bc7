/*
 * string_parts.c
 *		See string_parts.h.
 *
 * Codes are made once where there is a byte an item: the part that each of them is
 * in is kept from counting to scattering.
 */
#include <stddef.h>

#include "string_parts.h"

#define SAMPLES_PER_PART 64
#define MOST_SAMPLES (MGPU_MOST_PLANNED_PARTS * SAMPLES_PER_PART)

/* Samples that are long are no more bytes than that together, unless a part would have fewer than these. */
#define LONG_SAMPLES_BYTES (16 * 1024 * 1024)
#define LEAST_SAMPLES_PER_PART 4

#define LEAST_TASK_ITEMS (1 << 14)

/* ... but of long ones no more than that: a task ends in time for a cancel, and few items are enough for several threads. */
#define LONG_TASK_BYTES (4 * 1024 * 1024)

#define BLOCK_ITEMS MGPU_PARTS_BLOCK_ITEMS

static uint64_t
least_task_items(const mgpu_string_parts *parts)
{
	uint64_t	items = LONG_TASK_BYTES / (parts->item_bytes + 1) + 1;

	return items < LEAST_TASK_ITEMS ? items : LEAST_TASK_ITEMS;
}

/* Whole blocks, but where a block is too much. */
static uint64_t
task_items(const mgpu_string_parts *parts)
{
	uint64_t	least = least_task_items(parts);
	uint64_t	items = parts->num_items / MGPU_MOST_PART_TASKS + 1;

	if (items < least)
		items = least;
	return items < BLOCK_ITEMS ? items : (items + BLOCK_ITEMS - 1) / BLOCK_ITEMS * BLOCK_ITEMS;
}

static uint32_t
sample_size(const mgpu_string_parts *parts, uint64_t num_parts)
{
	uint64_t	most = num_parts * SAMPLES_PER_PART;
	uint64_t	least = num_parts * LEAST_SAMPLES_PER_PART;
	uint64_t	samples = LONG_SAMPLES_BYTES / (parts->item_bytes + 1);

	return (uint32_t) (samples > most ? most : samples < least ? least : samples);
}

uint64_t
mgpu_part_tasks(const mgpu_string_parts *parts)
{
	return (parts->num_items + task_items(parts) - 1) / task_items(parts);
}

static uint64_t
task_end(const mgpu_string_parts *parts, uint64_t task)
{
	uint64_t	end = (task + 1) * task_items(parts);

	return end < parts->num_items ? end : parts->num_items;
}

void
mgpu_parts_choose(mgpu_string_parts *parts, uint64_t num_parts)
{
	uint32_t	positions[MOST_SAMPLES];
	uint64_t	codes[MOST_SAMPLES];
	uint32_t	num_samples;

	if (num_parts > MGPU_MOST_PLANNED_PARTS)
		num_parts = MGPU_MOST_PLANNED_PARTS;
	num_samples = sample_size(parts, num_parts);
	mgpu_sample_positions(positions, num_samples, parts->num_items);
	for (uint32_t i = 0; i < num_samples; i++)
		parts->refs_of(parts->context, positions[i], 1, &positions[i]);
	parts->codes_of(parts->context, positions, num_samples, codes);
	mgpu_bounds_choose(&parts->bounds, codes, num_samples, sizeof(uint64_t), (uint32_t) num_parts);
}

/* Which part each of a block's strings is in. */
static void
classify(const mgpu_string_parts *parts, const uint32_t *refs, uint32_t num_refs, uint16_t *found)
{
	uint64_t	codes[BLOCK_ITEMS];

	parts->codes_of(parts->context, refs, num_refs, codes);
	mgpu_classify(&parts->bounds, codes, sizeof(uint64_t), found, num_refs);
}

void
mgpu_parts_classify_task(void *context, uint64_t task, int worker)
{
	mgpu_string_parts *parts = context;
	uint32_t   *counts = parts->counts[task];
	uint64_t	end = task_end(parts, task);

	(void) worker;
	for (uint64_t i = task * task_items(parts); i < end; i += BLOCK_ITEMS)
	{
		uint32_t	num_items = end - i < BLOCK_ITEMS ? (uint32_t) (end - i) : BLOCK_ITEMS;
		uint32_t	refs[BLOCK_ITEMS];
		uint16_t	found[BLOCK_ITEMS];

		parts->refs_of(parts->context, i, num_items, refs);
		classify(parts, refs, num_items, found);
		for (uint32_t j = 0; j < num_items; j++)
			counts[found[j]]++;
		for (uint32_t j = 0; parts->parts && j < num_items; j++)
			parts->parts[i + j] = (uint8_t) found[j];
	}
}

/* The bucket that is part i of begins. */
static uint32_t
bucket_of(const mgpu_string_parts *parts, uint32_t i)
{
	return parts->descending ? mgpu_num_parts(parts) - 1 - i : i;
}

void
mgpu_parts_place(mgpu_string_parts *parts)
{
	uint32_t	num_parts = mgpu_num_parts(parts);
	uint64_t	num_tasks = mgpu_part_tasks(parts);
	uint32_t	next = 0;

	for (uint32_t i = 0; i < num_parts; i++)
	{
		uint32_t	bucket = bucket_of(parts, i);

		parts->begins[i] = next;
		for (uint64_t task = 0; task < num_tasks; task++)
		{
			uint32_t	count = parts->counts[task][bucket];

			parts->counts[task][bucket] = next;
			next += count;
		}
	}
	parts->begins[num_parts] = next;
}

void
mgpu_parts_scatter_task(void *context, uint64_t task, int worker)
{
	mgpu_string_parts *parts = context;
	uint32_t   *nexts = parts->counts[task];
	uint64_t	end = task_end(parts, task);

	(void) worker;
	for (uint64_t i = task * task_items(parts); i < end; i += BLOCK_ITEMS)
	{
		uint32_t	num_items = end - i < BLOCK_ITEMS ? (uint32_t) (end - i) : BLOCK_ITEMS;
		uint32_t	refs[BLOCK_ITEMS];
		uint16_t	found[BLOCK_ITEMS];

		parts->refs_of(parts->context, i, num_items, refs);
		if (parts->parts == NULL)
			classify(parts, refs, num_items, found);
		else
			for (uint32_t j = 0; j < num_items; j++)
				found[j] = parts->parts[i + j];
		for (uint32_t j = 0; j < num_items; j++)
		{
			uint32_t	place = nexts[found[j]]++;

			parts->out[place] = refs[j];
			if (place < parts->num_out_items)
				parts->out_items[place] = (uint32_t) (i + j);
		}
	}
}

bool
mgpu_part_code(const mgpu_string_parts *parts, uint32_t i, uint64_t *code)
{
	mgpu_u128	wide;

	if (!mgpu_bucket_is_constant(&parts->bounds, bucket_of(parts, i), &wide))
		return false;
	*code = (uint64_t) wide;
	return true;
}

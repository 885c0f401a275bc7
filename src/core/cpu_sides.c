/*
 * cpu_sides.c
 *		See cpu_sides.h.
 */
#include "cpu_sides.h"

#include <string.h>

static bool
has_indices(const mgpu_run *run)
{
	return run->job.op == MGPU_OP_SORT_PAIRS;
}

uint64_t
mgpu_sides_bytes(const mgpu_run *run)
{
	uint64_t	item_bytes = run->job.key_width;

	if (has_indices(run))
		item_bytes = 2 * item_bytes + sizeof(uint32_t);
	return run->job.num_items * item_bytes;
}

bool
mgpu_sides_start(mgpu_run *run, mgpu_sides *sides, mgpu_status *status, mgpu_error *err)
{
	uint64_t	codes_bytes = run->job.num_items * run->job.key_width;

	sides->codes[0] = run->codes.data;
	sides->codes[1] = NULL;
	if (!has_indices(run))
		sides->codes[run->codes.data ? 1 : 0] = run->binding.out_keys;
	for (int side = 0; side < 2; side++)
	{
		if (sides->codes[side] != NULL)
			continue;
		if (!mgpu_buffer_allocate(&sides->own_codes[side], codes_bytes, status, err))
			return false;
		sides->codes[side] = sides->own_codes[side].data;
	}
	if (!has_indices(run))
		return true;
	if (!mgpu_buffer_allocate(&sides->own_indices, run->job.num_items * sizeof(uint32_t), status, err))
		return false;
	sides->indices[0] = run->indices;
	sides->indices[1] = sides->own_indices.data;
	return true;
}

bool
mgpu_sides_begin_load(mgpu_run *run, mgpu_sides *sides)
{
	if (run->codes.data != NULL)
		return false;
	mgpu_begin_encode_pass(run, sides->codes[0]);
	return true;
}

static void
copy_indices_task(void *context, uint64_t task, int worker)
{
	mgpu_run   *run = context;
	mgpu_sides *sides = run->state;
	uint64_t	begin = task * run->pass_items;
	uint64_t	num_items = run->job.num_items - begin;

	(void) worker;
	if (num_items > run->pass_items)
		num_items = run->pass_items;
	memcpy(run->indices + begin, sides->indices[1] + begin, num_items * sizeof(uint32_t));
}

bool
mgpu_sides_finish(mgpu_run *run, mgpu_sides *sides)
{
	switch (sides->step++)
	{
		case 0:
			if (run->job.outputs & MGPU_OUT_KEYS)
			{
				mgpu_begin_decode_pass(run, sides->codes[sides->current]);
				return true;
			}
			sides->step = 2;
			/* FALLTHROUGH */
		case 1:
			sides->step = 2;
			if (has_indices(run) && sides->current == 1)
			{
				run->pass_items = mgpu_pass_items(run, sizeof(uint32_t));
				mgpu_begin_phase(run, copy_indices_task,
								 mgpu_num_tasks(run->job.num_items, run->pass_items));
				return true;
			}
			/* FALLTHROUGH */
		default:
			return has_indices(run) && mgpu_begin_gather_pass(run, MGPU_OUT_VALUES);
	}
}

void
mgpu_sides_release(mgpu_sides *sides)
{
	mgpu_buffer_free(&sides->own_codes[0]);
	mgpu_buffer_free(&sides->own_codes[1]);
	mgpu_buffer_free(&sides->own_indices);
}

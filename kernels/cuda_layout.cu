/*
 * cuda_layout.cu
 *		Where a job's arrays lie in device memory.  See cuda_layout.h.
 *
 * One allocation a run, cut up here, was chosen over one a buffer: it can be
 * checked against a limit, cached and freed in one step.  Sums fit 64 bits: at
 * most 2^32 items and less than 128 bytes each.
 */
#include "cuda_layout.h"

#define ALIGNMENT UINT64_C(256)

/* The next `bytes` of the arena. */
static uint64_t
place(mgpu_cuda_layout *layout, uint64_t bytes)
{
	uint64_t	offset = layout->total_bytes;

	layout->total_bytes += (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	return offset;
}

static mgpu_sort_shape
choose_shape(const mgpu_job *job)
{
	bool		indexed = (job->outputs & (MGPU_OUT_INDICES | MGPU_OUT_VALUES)) != 0 || job->key_width == 16;

	if (job->key_width <= 4)
		return indexed ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U32;
	return indexed ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U64;
}

/* Two sides of 4-byte keys and indices, each one region (device_sort.h). */
static void
place_packed_sides(mgpu_cuda_layout *layout, uint64_t num_items)
{
	uint64_t	array_bytes = mgpu_padded_items(num_items) * sizeof(uint32_t);

	for (int side = 0; side < 2; side++)
	{
		layout->keys[side] = place(layout, 2 * array_bytes);
		layout->indices[side] = layout->keys[side] + array_bytes;
	}
}

static void
place_sides(mgpu_cuda_layout *layout, uint64_t num_items)
{
	bool		is_64 = layout->shape == MGPU_SHAPE_U64 || layout->shape == MGPU_SHAPE_U64_INDEX;

	if (layout->shape == MGPU_SHAPE_U32_INDEX)
	{
		place_packed_sides(layout, num_items);
		return;
	}
	for (int side = 0; side < 2; side++)
		layout->keys[side] = place(layout, num_items * (is_64 ? 8 : 4));
	for (int side = 0; side < 2; side++)
		layout->indices[side] = layout->shape == MGPU_SHAPE_U64_INDEX ?
			place(layout, num_items * sizeof(uint32_t)) : MGPU_NO_OFFSET;
}

extern "C" void
mgpu_cuda_plan_layout(const mgpu_job *job, mgpu_cuda_layout *layout)
{
	uint64_t	num_items = job->num_items;

	*layout = mgpu_cuda_layout();
	layout->shape = choose_shape(job);
	layout->algorithm = mgpu_choose_algorithm((mgpu_algorithm) job->algorithm, layout->shape, num_items);
	if (num_items == 0)
		return;
	place_sides(layout, num_items);
	layout->stored_keys = layout->keys[job->key_width < 4 ? 1 : 0];
	if (job->key_width == 16)
	{
		layout->high = place(layout, num_items * sizeof(uint64_t));
		layout->low = place(layout, num_items * sizeof(uint64_t));
		layout->first_indices = place(layout, num_items * sizeof(uint32_t));
	}
	if (job->outputs & MGPU_OUT_VALUES)
	{
		layout->values = place(layout, num_items * job->value_width);
		layout->sorted_values = place(layout, num_items * job->value_width);
	}
	layout->temp_bytes = mgpu_find_sorter(layout->algorithm, layout->shape)->temp_bytes(num_items);
	layout->temp = place(layout, layout->temp_bytes);
}

/*
 * engine/layout.cu
 *		Where a job's arrays lie in device memory.  See layout.h.
 *
 * One allocation a run can be checked against a limit, cached and freed in one step; one a buffer
 * was rejected.  Sums fit 64 bits: at most 2^32 items of less than 128 bytes each.
 */
#include "engine/layout.h"
#include "group/group.h"
#include "merge/ops.h"
#include "segmented/segmented.h"

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

/* Two sides of 4-byte keys and indices, each one region (sort/sorter.h). */
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
place_regions(mgpu_cuda_layout *layout, uint64_t num_items)
{
	for (int side = 0; side < 2; side++)
	{
		layout->keys[side] = place(layout, mgpu_segmented_region_bytes(layout->shape, num_items));
		layout->indices[side] = layout->shape == MGPU_SHAPE_U32_INDEX || layout->shape == MGPU_SHAPE_U64_INDEX ?
			layout->keys[side] + mgpu_segmented_index_offset(layout->shape, num_items) : MGPU_NO_OFFSET;
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

/* Sides, and where keys arrive: what every sort has. */
static void
place_keys(mgpu_cuda_layout *layout, const mgpu_job *job)
{
	bool		segmented = mgpu_cuda_is_segmented(job);

	if (segmented)
		place_regions(layout, job->num_items);
	else
		place_sides(layout, job->num_items);
	layout->stored_keys = segmented && job->key_width == 16 ? place(layout, job->num_items * job->key_width) :
		layout->keys[job->key_width < 4 ? 1 : 0];
}

/* Temporary memory for whichever sort runs. */
static uint64_t
sort_temp_bytes(const mgpu_cuda_layout *layout, const mgpu_job *job)
{
	if (mgpu_cuda_is_segmented(job))
		return mgpu_segmented_temp_bytes(layout->shape, job->num_items);
	return mgpu_find_sorter(layout->algorithm, layout->shape)->temp_bytes(job->num_items);
}

static void
plan_sort(mgpu_cuda_layout *layout, const mgpu_job *job)
{
	uint64_t	num_items = job->num_items;

	place_keys(layout, job);
	if (job->key_width == 16)
	{
		layout->high = place(layout, num_items * sizeof(uint64_t));
		layout->low = place(layout, num_items * sizeof(uint64_t));
		layout->first_indices = place(layout, num_items * sizeof(uint32_t));
	}
	if (job->outputs & MGPU_OUT_VALUES)
	{
		layout->values = place(layout, num_items * job->value_width);
		layout->result_values = place(layout, num_items * job->value_width);
	}
	if (mgpu_cuda_is_segmented(job))
	{
		layout->segment_heads = place(layout, job->num_segments * sizeof(uint32_t));
		layout->pass_stats = place(layout, sizeof(mgpu_segmented_stats));
	}
	layout->temp_bytes = sort_temp_bytes(layout, job);
}

static void
plan_merge(mgpu_cuda_layout *layout, const mgpu_job *job)
{
	uint64_t	num_items = mgpu_cuda_result_items(job);

	layout->stored_keys = place(layout, job->num_items * job->key_width);
	layout->b_keys = place(layout, job->num_b_items * job->key_width);
	layout->merged_keys = place(layout, num_items * job->key_width);
	if (job->outputs & MGPU_OUT_INDICES)
	{
		layout->all_indices = place(layout, num_items * sizeof(uint32_t));
		layout->merged_indices = place(layout, num_items * sizeof(uint32_t));
	}
	if (job->outputs & MGPU_OUT_VALUES)
	{
		/* one array, which a gather can index */
		layout->values = place(layout, num_items * job->value_width);
		layout->b_values = layout->values + job->num_items * job->value_width;
		layout->result_values = place(layout, num_items * job->value_width);
	}
	layout->order_check = place(layout, sizeof(mgpu_order_check));
	layout->temp_bytes = mgpu_merge_temp_bytes(job->key_width, mgpu_cuda_carried_width(job), job->num_items,
											   job->num_b_items);
}

static void
plan_bulk(mgpu_cuda_layout *layout, const mgpu_job *job)
{
	uint32_t	width = job->value_width;
	bool		inserts = job->op == MGPU_OP_INSERT;

	layout->values = place(layout, job->num_items * width);
	layout->positions = place(layout, job->num_b_items * sizeof(uint32_t));
	layout->b_values = place(layout, inserts ? job->num_b_items * width : 0);
	layout->result_values = place(layout, mgpu_cuda_result_items(job) * width);
	layout->temp_bytes = inserts ? mgpu_insert_temp_bytes(width, job->num_items, job->num_b_items) :
		mgpu_remove_temp_bytes(width, job->num_items, job->num_b_items);
}

static mgpu_algorithm
choose_algorithm(const mgpu_job *job, mgpu_sort_shape shape)
{
	if (mgpu_cuda_is_segmented(job))
		return job->algorithm == MGPU_ALGORITHM_LOCALITY ? MGPU_ALGORITHM_LOCALITY : MGPU_ALGORITHM_MERGE;
	if (job->op != MGPU_OP_SORT && job->op != MGPU_OP_SORT_PAIRS)
		return MGPU_ALGORITHM_MERGE;
	return job->algorithm == MGPU_ALGORITHM_AUTO ? mgpu_choose_algorithm(shape, job->key_width, job->num_items) :
		(mgpu_algorithm) job->algorithm;
}

extern "C" void
mgpu_cuda_plan_layout(const mgpu_job *job, mgpu_cuda_layout *layout)
{
	bool		sorts = job->op == MGPU_OP_SORT || job->op == MGPU_OP_SORT_PAIRS;

	*layout = mgpu_cuda_layout();
	if (job->op == MGPU_OP_GROUP)
	{
		/* the rest is taken as rows come (run_group.h) */
		layout->algorithm = MGPU_ALGORITHM_RADIX;
		(void) place(layout, sizeof(mgpu_group_control));
		return;
	}
	layout->shape = choose_shape(job);
	layout->algorithm = choose_algorithm(job, layout->shape);
	if (job->num_items + job->num_b_items == 0)
		return;
	if (sorts)
		plan_sort(layout, job);
	else if (job->op == MGPU_OP_ODD_EVEN_SORT)
		place_keys(layout, job);
	else if (job->op == MGPU_OP_MERGE || job->op == MGPU_OP_MERGE_PAIRS)
		plan_merge(layout, job);
	else
		plan_bulk(layout, job);
	layout->temp = place(layout, layout->temp_bytes);
}

extern "C" bool
mgpu_cuda_is_segmented(const mgpu_job *job)
{
	return (job->op == MGPU_OP_SORT || job->op == MGPU_OP_SORT_PAIRS) &&
		(job->num_segments > 0 || job->algorithm == MGPU_ALGORITHM_LOCALITY);
}

extern "C" uint64_t
mgpu_cuda_result_items(const mgpu_job *job)
{
	if (job->op == MGPU_OP_REMOVE)
		return job->num_items - job->num_b_items;
	return job->num_items + job->num_b_items;	/* b is empty where there is no b */
}

extern "C" uint32_t
mgpu_cuda_carried_width(const mgpu_job *job)
{
	return (job->outputs & MGPU_OUT_INDICES) != 0 ? (uint32_t) sizeof(uint32_t) : job->value_width;
}

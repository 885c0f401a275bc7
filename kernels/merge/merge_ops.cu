/*
 * merge/merge_ops.cu
 *		Entry points of the merge: which kernels a key takes, and their memory.
 *
 * Signs and directions are parameters of one integer order (key_order.cuh), so seven orders serve
 * every kind, width and direction.
 */
#include "merge/ops.h"
#include "merge/splits.cuh"

static const mgpu_merger *
find_merger(const mgpu_codec *codec)
{
	bool		is_float = codec->kind == MGPU_KEY_FLOAT;

	switch (codec->width)
	{
		case 1:
			return &mgpu_merger_two_1;
		case 2:
			return &mgpu_merger_two_2;
		case 4:
			return is_float ? &mgpu_merger_float_4 : &mgpu_merger_two_4;
		case 8:
			return is_float ? &mgpu_merger_float_8 : &mgpu_merger_two_8;
		default:
			return &mgpu_merger_two_16;
	}
}

static uint32_t
merge_tile_items(uint32_t key_width, uint32_t value_width)
{
	if (key_width == 16)
		return mgpu_merge_pairs_tuning<16>::tile_items;
	if (key_width == 8)
		return value_width == 0 ? mgpu_merge_keys_tuning<8>::tile_items : mgpu_merge_pairs_tuning<8>::tile_items;
	return value_width == 0 ? mgpu_merge_keys_tuning<4>::tile_items : mgpu_merge_pairs_tuning<4>::tile_items;
}

static_assert(mgpu_merge_keys_tuning<1>::tile_items == mgpu_merge_keys_tuning<4>::tile_items &&
			  mgpu_merge_keys_tuning<2>::tile_items == mgpu_merge_keys_tuning<4>::tile_items &&
			  mgpu_merge_pairs_tuning<1>::tile_items == mgpu_merge_pairs_tuning<4>::tile_items &&
			  mgpu_merge_pairs_tuning<2>::tile_items == mgpu_merge_pairs_tuning<4>::tile_items,
			  "merge_tile_items tells widths up to 4 by that of 4");

extern "C" uint64_t
mgpu_merge_temp_bytes(uint32_t key_width, uint32_t value_width, uint64_t num_a_items, uint64_t num_b_items)
{
	return mgpu_splits_bytes(num_a_items + num_b_items, merge_tile_items(key_width, value_width));
}

extern "C" cudaError_t
mgpu_launch_merge(const mgpu_merge_request *request)
{
	return find_merger(&request->codec)->merge(request);
}

extern "C" cudaError_t
mgpu_launch_find_unsorted(const mgpu_merge_request *request)
{
	return find_merger(&request->codec)->find_unsorted(request);
}

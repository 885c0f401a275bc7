/* Merge of two lists of 8-byte floats.  See merge_two.cuh. */
#include "merge/merge_two.cuh"

const mgpu_merger mgpu_merger_float_8 = {
	mgpu_merge_in_order<mgpu_float_order<uint64_t>>,
	mgpu_unsorted_in_order<mgpu_float_order<uint64_t>>
};

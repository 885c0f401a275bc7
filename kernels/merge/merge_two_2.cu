/* Merge of two lists of 2-byte integers.  See merge_two.cuh. */
#include "merge/merge_two.cuh"

const mgpu_merger mgpu_merger_two_2 = {
	mgpu_merge_in_order<mgpu_integer_order<uint16_t>>,
	mgpu_unsorted_in_order<mgpu_integer_order<uint16_t>>
};

/* Merge of two lists of 16-byte keys in memcmp's order.  See merge_two.cuh. */
#include "merge/merge_two.cuh"

const mgpu_merger mgpu_merger_two_16 = {
	mgpu_merge_in_order<mgpu_bytes_order>,
	mgpu_unsorted_in_order<mgpu_bytes_order>
};

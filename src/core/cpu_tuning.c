/*
 * cpu_tuning.c
 *		Values of cpu_tuning.h, measured on x86-64 servers with AVX-512.
 */
#include "cpu_tuning.h"

mgpu_cpu_tuning mgpu_cpu_tunables = {
	.slot_bytes = UINT64_C(256) << 10,
	.step_bytes = UINT64_C(2) << 20,
	.poll_ms = 20,
	.threads_min_bytes = UINT64_C(8) << 20,
	.direct_bytes = UINT64_C(64) << 20,
	.count_min_items = 1 << 15,
	.chunk_bytes = UINT64_C(256) << 10,
	.bucket_bytes = UINT64_C(4) << 20,
	.pair_direct_items = 1 << 20,
	.pair_chunk_items = 1 << 19,
	.pair_bucket_items = 1 << 16,
	.pair_max_buckets = 128,
	.scratch_bytes = UINT64_C(56) << 20,
	.max_buckets = 128,
	.samples_per_bucket = 64,
	.vectors = 1,
	.tile_items = 256,
	.tile_chunk_bytes = UINT64_C(256) << 10,
	.segment_task_items = 1 << 16,
	.segment_items = 1 << 18,
	.segment_scratch_bytes = UINT64_C(6) << 20,
	.merge_items = 1 << 17,
};

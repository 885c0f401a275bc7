/*
 * cpu_tuning.c
 *		Values of cpu_tuning.h, measured on x86-64 servers with AVX-512.
 */
#include "cpu_tuning.h"

#include "sizes.h"

mgpu_cpu_tuning mgpu_cpu_tunables = {
	.slot_bytes = MGPU_SIZE(UINT64_C(256) << 10, 4096),
	.step_bytes = MGPU_SIZE(UINT64_C(2) << 20, 8192),
	.poll_ms = 20,
	.threads_min_bytes = MGPU_SIZE(UINT64_C(8) << 20, 4096),
	.direct_bytes = MGPU_SIZE(UINT64_C(64) << 20, 32768),
	.radix_bytes = MGPU_SIZE(UINT64_C(256) << 10, 4096),
	.count_min_items = MGPU_SIZE(1 << 15, 2048),
	.chunk_bytes = MGPU_SIZE(UINT64_C(256) << 10, 4096),
	.bucket_bytes = MGPU_SIZE(UINT64_C(4) << 20, 8192),
	.pair_direct_items = MGPU_SIZE(1 << 20, 2048),
	.pair_chunk_items = MGPU_SIZE(1 << 19, 1024),
	.pair_bucket_items = MGPU_SIZE(1 << 16, 512),
	.max_buckets = 128,
	.samples_per_bucket = MGPU_SIZE(64, 16),
	.vectors = 1,
	.tile_items = 256,
	.segment_task_items = MGPU_SIZE(1 << 16, 1024),
	.segment_items = MGPU_SIZE(1 << 18, 4096),
	.merge_items = MGPU_SIZE(1 << 17, 2048),
	.table_task_pages = MGPU_SIZE(16, 1),
	.table_slot_pages = MGPU_SIZE(128, 4),
	.table_fold_bytes = MGPU_SIZE(UINT64_C(4) << 20, 2048),
	.table_task_rows = MGPU_SIZE(1 << 20, 1024),
	.table_part_bytes = MGPU_SIZE(UINT64_MAX, 16384),
	.table_large_values = MGPU_SIZE(1 << 18, 256),
	.table_write_bytes = MGPU_SIZE(UINT64_C(1) << 20, 1024),
};

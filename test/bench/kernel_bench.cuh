/*
 * kernel_bench.cuh
 *		What the parts of kernel_bench share: timing, device data, reports.
 */
#ifndef MGPU_KERNEL_BENCH_CUH
#define MGPU_KERNEL_BENCH_CUH

#include "kernel_bench_device.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Keys use all bits of their type, but for few distinct ones. */
typedef enum bench_pattern
{
	BENCH_RANDOM = 0,
	BENCH_FEW,					/* 16 values */
	BENCH_ZIPF,					/* the n-th most frequent value comes 1/n as often as the first */
	BENCH_SORTED,
	BENCH_REVERSED,
	BENCH_NEAR_100,				/* sorted, each key then moved by up to 100 places */
	BENCH_NEAR_10000,			/* … 10,000 places */
	NUM_BENCH_PATTERNS
} bench_pattern;

extern const char *const bench_pattern_names[NUM_BENCH_PATTERNS];

/* Device memory of the largest case, allocated once. */
typedef struct bench_memory
{
	char	   *input;			/* keys that every run starts from */
	char	   *sides[2];		/* keys and indices of a sort (sort/sorter.h) */
	char	   *indices[2];
	char	   *reference;		/* a result to compare with */
	char	   *temp;
	uint64_t	temp_bytes;
	cudaEvent_t begin;
	cudaEvent_t end;
} bench_memory;

/* Fill input with num_items keys of key_bytes (4 or 8). */
void		bench_fill(bench_memory *memory, int pattern, uint64_t num_items, int key_bytes);

/* 32-bit words in which two arrays on the device differ; overwrites the start of temp. */
uint64_t	bench_count_differences(bench_memory *memory, const void *a, const void *b, uint64_t num_words);

/* Time one enqueued piece of work in milliseconds. */
template <typename Work>
static double
bench_time(bench_memory *memory, Work work)
{
	float		milliseconds;

	REQUIRE_CUDA(cudaEventRecord(memory->begin));
	work();
	REQUIRE_CUDA(cudaEventRecord(memory->end));
	REQUIRE_CUDA(cudaEventSynchronize(memory->end));
	REQUIRE_CUDA(cudaEventElapsedTime(&milliseconds, memory->begin, memory->end));
	return milliseconds;
}

static inline double
bench_median(std::vector<double> times)
{
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

/* Compare tunings of the merge sort, stage by stage (kernel_bench_sweep.cu). */
void		bench_sweep(bench_memory *memory);

/* Compare tunings for a few thousand keys, and time the floors of all sorts (kernel_bench_small.cu). */
void		bench_small(bench_memory *memory);

#endif							/* MGPU_KERNEL_BENCH_CUH */

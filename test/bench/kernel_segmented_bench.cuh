/*
 * kernel_segmented_bench.cuh
 *		What kernel_segmented_bench sorts and how it takes times: keys, segments, turns.
 */
#ifndef MGPU_KERNEL_SEGMENTED_BENCH_CUH
#define MGPU_KERNEL_SEGMENTED_BENCH_CUH

#include "kernel_bench_device.cuh"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#define SLOW_MS 60.0

/* -------------------------------------------------------------------- keys */

typedef enum order
{
	ORDER_RANDOM = 0,
	ORDER_SORTED,
	ORDER_REVERSED,
	ORDER_NEAR					/* each key within `distance` of its place */
} order;

template <typename Key>
static __global__ void
fill_keys(Key *keys, uint64_t num_items, int order, uint64_t distance)
{
	uint64_t	item = (uint64_t) blockIdx.x * THREADS + threadIdx.x;
	uint64_t	bits = mix(item + UINT64_C(0x9E3779B97F4A7C15));

	if (item >= num_items)
		return;
	if (order == ORDER_SORTED)
		keys[item] = (Key) item;
	else if (order == ORDER_REVERSED)
		keys[item] = (Key) (num_items - item);
	else if (order == ORDER_NEAR)
		keys[item] = (Key) (item + bits % distance);
	else
		keys[item] = (Key) bits;
}

static __global__ void
count_differences(const uint32_t *first, const uint32_t *second, uint64_t num_words, unsigned long long *count)
{
	uint64_t	word = (uint64_t) blockIdx.x * THREADS + threadIdx.x;

	if (word < num_words && first[word] != second[word])
		atomicAdd(count, 1ull);
}

static void
require_equal(const void *first, const void *second, uint64_t bytes, const char *what)
{
	device_items<unsigned long long> count(1);
	unsigned long long differences;

	REQUIRE_CUDA(cudaMemset(count.data, 0, sizeof(differences)));
	count_differences<<<ctas(bytes / 4), THREADS>>>(static_cast<const uint32_t *>(first),
													static_cast<const uint32_t *>(second), bytes / 4, count.data);
	REQUIRE_CUDA(cudaMemcpy(&differences, count.data, sizeof(differences), cudaMemcpyDeviceToHost));
	if (differences != 0)
	{
		fprintf(stderr, "%s: %llu words differ\n", what, differences);
		exit(1);
	}
}

/* ---------------------------------------------------------------- segments */

/* One item in `mean` begins a segment, by chance. */
struct is_head
{
	uint32_t	mean;

	__device__ bool
	operator()(uint32_t item) const
	{
		return item == 0 || mix(item) % mean == 0;
	}
};

/* Segment offsets: heads, and the number of items behind them. */
struct segments
{
	device_items<uint32_t> offsets;
	uint64_t	num_segments;

	/* random segments; mean 1: a segment an item */
	segments(uint64_t num_items, uint32_t mean) : offsets(num_items + 1), num_segments(0)
	{
		device_items<uint64_t> count(1);
		thrust::counting_iterator<uint32_t> numbers(0);
		size_t		bytes = 0;

		REQUIRE_CUDA(cub::DeviceSelect::If(nullptr, bytes, numbers, offsets.data, count.data, (int64_t) num_items,
										   is_head{mean}));

		device_items<char> temp(bytes);

		REQUIRE_CUDA(cub::DeviceSelect::If(temp.data, bytes, numbers, offsets.data, count.data, (int64_t) num_items,
										   is_head{mean}));
		REQUIRE_CUDA(cudaMemcpy(&num_segments, count.data, sizeof(num_segments), cudaMemcpyDeviceToHost));
		finish(num_items);
	}

	/* lengths by a power law: very many tiny ones, and a few of any size up to a quarter */
	explicit segments(uint64_t num_items) : offsets(num_items + 1), num_segments(0)
	{
		std::mt19937_64 random_bits(20250120);
		std::vector<uint32_t> heads;

		for (uint64_t head = 0; head < num_items;)
		{
			double		uniform = ((random_bits() >> 11) + 1) * 0x1p-53;

			heads.push_back((uint32_t) head);
			head += std::min<uint64_t>(num_items / 4 + 1, (uint64_t) pow(uniform, -1 / 1.1));
		}
		num_segments = heads.size();
		REQUIRE_CUDA(cudaMemcpy(offsets.data, heads.data(), heads.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
		finish(num_items);
	}

	void
	finish(uint64_t num_items)
	{
		uint32_t	end = (uint32_t) num_items;

		REQUIRE_CUDA(cudaMemcpy(offsets.data + num_segments, &end, sizeof(end), cudaMemcpyHostToDevice));
	}
};

/* ------------------------------------------------------------------- timing */

/* What takes its turn: a copy, our sort, or a rival. */
struct contender
{
	const char *name;
	std::function<void ()> run;
	std::vector<double> times;

	double
	median() const
	{
		std::vector<double> sorted = times;

		std::sort(sorted.begin(), sorted.end());
		return sorted[sorted.size() / 2];
	}
};

/*
 * Time all in turn; before each turn comes `prepare`, which is not timed.  The first round warms
 * up.  What takes longer than SLOW_MS there has no other turn.
 */
static void
time_in_turn(std::vector<contender> &contenders, const std::function<void ()> &prepare, int rounds)
{
	std::vector<bool> slow(contenders.size());
	cudaEvent_t begin;
	cudaEvent_t end;

	REQUIRE_CUDA(cudaEventCreate(&begin));
	REQUIRE_CUDA(cudaEventCreate(&end));
	for (int round = -1; round < rounds; round++)
		for (size_t i = 0; i < contenders.size(); i++)
		{
			float		milliseconds;

			if (slow[i])
				continue;
			prepare();
			REQUIRE_CUDA(cudaEventRecord(begin));
			contenders[i].run();
			REQUIRE_CUDA(cudaEventRecord(end));
			REQUIRE_CUDA(cudaEventSynchronize(end));
			REQUIRE_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
			slow[i] = milliseconds > SLOW_MS;
			if (round >= 0 || slow[i])
				contenders[i].times.push_back(milliseconds);
		}
	REQUIRE_CUDA(cudaEventDestroy(begin));
	REQUIRE_CUDA(cudaEventDestroy(end));
}

#endif							/* MGPU_KERNEL_SEGMENTED_BENCH_CUH */

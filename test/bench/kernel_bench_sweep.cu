/*
 * kernel_bench_sweep.cu
 *		Tunings of the merge sort side by side, stage by stage.
 *
 * For every tuning: the time of the block sort, of all partitions and of all
 * merges, each launch timed alone, so that the sum is a little more than what a
 * sort takes.  Tunings take turns within a repetition.
 */
#include "kernel_bench.cuh"

#include "sort/merge_sort.cuh"

#define REPETITIONS 5

struct stage_times
{
	std::vector<double> sort;
	std::vector<double> partition;
	std::vector<double> merge;
	int			num_passes;
};

/* Run one tuning once; keys[0] holds the input. */
template <class Tuning, typename Key>
static void
run_stages(bench_memory *memory, uint64_t num_items, stage_times *times)
{
	mgpu_merge_plan plan = mgpu_plan_merges<Tuning>(num_items);
	Key		   *keys[2] = {(Key *) memory->sides[0], (Key *) memory->sides[1]};
	mgpu_key_array<Key> arrays[2] = {{keys[0]}, {keys[1]}};
	mgpu_plain_source<Key> source = {(const Key *) memory->input};
	int			side = 0;
	double		partition_ms = 0;
	double		merge_ms = 0;

	times->num_passes = plan.num_passes;
	times->sort.push_back(bench_time(memory, [&] ()
	{
		REQUIRE_CUDA((mgpu_launch_sort_tiles<Tuning>(source, arrays[0], num_items, 0)));
	}));
	for (; plan.num_passes > 0; mgpu_advance_plan(&plan), side ^= 1)
	{
		const Key  *in = keys[side];
		mgpu_key_array<Key> sink = arrays[side ^ 1];

		partition_ms += bench_time(memory, [&] ()
		{
			REQUIRE_CUDA(mgpu_launch_partition_k_way(in, plan.pass, memory->temp, 0));
		});
		merge_ms += bench_time(memory, [&] ()
		{
			REQUIRE_CUDA(mgpu_launch_merge_k_way<Tuning>(arrays[side], plan.pass, memory->temp, sink, 0));
		});
	}
	times->partition.push_back(partition_ms);
	times->merge.push_back(merge_ms);
}

template <class Tuning>
static void
report(int key_bytes, uint64_t num_items, const stage_times *times)
{
	double		sort = bench_median(times->sort);
	double		partition = bench_median(times->partition);
	double		merge = bench_median(times->merge);

	printf("u%d %9llu  %4d threads, %2d items, %2d ways, %4d resident: sort %7.3f + partition %6.3f + "
		   "merge %7.3f = %7.3f ms, %2d passes of %.3f\n", key_bytes * 8, (unsigned long long) num_items,
		   Tuning::threads, Tuning::items_per_thread, Tuning::ways, Tuning::resident_threads, sort, partition, merge, sort + partition + merge, times->num_passes,
		   times->num_passes > 0 ? merge / times->num_passes : 0);
	fflush(stdout);
}

template <typename Key, class... Tunings>
static void
sweep(bench_memory *memory, uint64_t num_items)
{
	stage_times times[sizeof...(Tunings)];
	int			tuning;

	bench_fill(memory, BENCH_RANDOM, num_items, sizeof(Key));
	for (int repetition = 0; repetition < REPETITIONS; repetition++)
	{
		tuning = 0;
		(run_stages<Tunings, Key>(memory, num_items, &times[tuning++]), ...);
	}
	tuning = 0;
	(report<Tunings>(sizeof(Key), num_items, &times[tuning++]), ...);
}

void
bench_sweep(bench_memory *memory)
{
	for (uint64_t size : {100000, 1000000, 3000000, 100000000})
	{
		sweep<uint32_t,
			mgpu_tuning_u32,
			mgpu_tuning_u32_small,
			mgpu_merge_tuning<256, 53, 16, 768>,
			mgpu_merge_tuning<256, 47, 32, 768>,
			mgpu_merge_tuning<256, 31, 32, 1024>,
			mgpu_merge_tuning<256, 23, 16, 1024>,
			mgpu_merge_tuning<256, 15, 16, 1024>,
			mgpu_merge_tuning<512, 11, 16, 1024>,
			mgpu_merge_tuning<512, 23, 32, 1024>>(memory, size);
	}
	for (uint64_t size : {100000, 1000000, 3000000, 100000000})
	{
		sweep<uint64_t,
			mgpu_tuning_u64,
			mgpu_tuning_u64_small,
			mgpu_merge_tuning<256, 25, 32, 768>,
			mgpu_merge_tuning<256, 11, 16, 1024>,
			mgpu_merge_tuning<512, 11, 16, 1024>,
			mgpu_merge_tuning<512, 15, 16, 1024>>(memory, size);
	}
}

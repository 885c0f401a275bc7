/*
 * kernel_bench_small.cu
 *		Sorts of a few thousand keys by one CTA, tuning by tuning, and what a launch,
 *		a wait for a word and an event take by themselves.
 */
#include "kernel_bench.cuh"

#include "device/signal.h"
#include "sort/merge_sort.cuh"

#define REPETITIONS 41

static __global__ void
do_nothing()
{
}

static __global__ void
answer_only(uint64_t *word, uint32_t question)
{
	*word = MGPU_SIGNAL(question, 1);
}

template <typename Work>
static double
time_often(bench_memory *memory, Work work)
{
	std::vector<double> times;

	for (int repetition = 0; repetition < REPETITIONS; repetition++)
	{
		REQUIRE_CUDA(cudaDeviceSynchronize());
		times.push_back(bench_time(memory, work));
	}
	return bench_median(times) * 1e3;
}

/* The floor of all sorts, timed in the same way. */
static void
report_floors(bench_memory *memory)
{
	double		nothing = time_often(memory, [] () { });
	double		launch = time_often(memory, [] () { do_nothing<<<1, 32>>>(); });
	double		launches = time_often(memory, [] ()
	{
		do_nothing<<<1, 32>>>();
		do_nothing<<<1, 32>>>();
	});
	double		waited = time_often(memory, [] ()
	{
		uint64_t   *word;
		uint32_t	question;
		uint32_t	answer;

		REQUIRE_CUDA(mgpu_new_question(&word, &question));
		answer_only<<<1, 32>>>(word, question);
		REQUIRE_CUDA(mgpu_await_answer(word, question, 0, &answer));
	});

	printf("two events %.2f us, with a launch between %.2f, with two %.2f, with one whose word the host awaits %.2f\n",
		   nothing, launch, launches, waited);
}

static mgpu_sort_request
make_request(const bench_memory *memory, mgpu_sort_shape shape, uint64_t num_items)
{
	mgpu_sort_request request = {};

	for (int side = 0; side < 2; side++)
	{
		request.keys[side] = memory->sides[side];
		if (shape == MGPU_SHAPE_U32_INDEX)
			request.indices[side] = (uint32_t *) memory->sides[side] + mgpu_padded_items(num_items);
		else if (shape == MGPU_SHAPE_U64_INDEX)
			request.indices[side] = (uint32_t *) memory->indices[side];
	}
	request.num_items = num_items;
	request.temp = memory->temp;
	request.temp_bytes = memory->temp_bytes;
	return request;
}

template <mgpu_sort_shape shape, class Tuning>
static cudaError_t
sort_one_tile(mgpu_sort_request *request)
{
	if constexpr (shape == MGPU_SHAPE_U32)
		return mgpu_sort_tile_of_keys<Tuning, uint32_t>(request);
	else if constexpr (shape == MGPU_SHAPE_U64)
		return mgpu_sort_tile_of_keys<Tuning, uint64_t>(request);
	else if constexpr (shape == MGPU_SHAPE_U32_INDEX)
		return mgpu_sort_tile_of_packed<Tuning>(request);
	else
		return mgpu_sort_tile_of_indexed<Tuning>(request);
}

template <mgpu_sort_shape shape, class... Tunings>
static void
sweep_shape(bench_memory *memory, const char *name)
{
	for (uint64_t num_items : {300, 1000, 2000, 3500, 5000, 7500, 10000, 11900})
	{
		mgpu_sort_request request = make_request(memory, shape, num_items);
		auto		report = [&] (int threads, int items, uint64_t most_items, cudaError_t (*sort) (mgpu_sort_request *))
		{
			if (num_items <= most_items)
				printf(" %dx%d %.1f", threads, items, time_often(memory, [&] () { REQUIRE_CUDA(sort(&request)); }));
		};

		bench_fill(memory, BENCH_RANDOM, num_items, shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 4 : 8);
		REQUIRE_CUDA(cudaMemcpy(memory->sides[0], memory->input, num_items * 8, cudaMemcpyDeviceToDevice));
		printf("%s %6llu, us: as it is", name, (unsigned long long) num_items);
		report(0, 0, UINT64_MAX, mgpu_merge_sorters[shape].sort);
		(report(Tunings::threads, Tunings::items_per_thread, Tunings::tile_items, sort_one_tile<shape, Tunings>), ...);
		printf("\n");
		fflush(stdout);
	}
}

void
bench_small(bench_memory *memory)
{
	report_floors(memory);
	sweep_shape<MGPU_SHAPE_U32, mgpu_tile_tuning<512, 3>, mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<128, 9>,
		mgpu_tile_tuning<256, 9>, mgpu_tile_tuning<256, 15>, mgpu_tile_tuning<512, 11>, mgpu_tile_tuning<256, 23>,
		mgpu_tile_tuning<512, 15>, mgpu_tile_tuning<256, 31>, mgpu_tile_tuning<256, 45>>(memory, "u32");
	sweep_shape<MGPU_SHAPE_U64, mgpu_tile_tuning<512, 3>, mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<128, 9>,
		mgpu_tile_tuning<256, 9>, mgpu_tile_tuning<256, 15>, mgpu_tile_tuning<256, 21>>(memory, "u64");
	sweep_shape<MGPU_SHAPE_U32_INDEX, mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<256, 9>,
		mgpu_tile_tuning<256, 15>>(memory, "u32 + index");
	sweep_shape<MGPU_SHAPE_U64_INDEX, mgpu_tile_tuning<512, 3>, mgpu_tile_tuning<256, 5>, mgpu_tile_tuning<128, 9>,
		mgpu_tile_tuning<256, 9>, mgpu_tile_tuning<256, 13>>(memory, "u64 + index");
}

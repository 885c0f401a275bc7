/*
 * kernel_bench.cu
 *		Our sorts against CUB's on the same data, in one run.
 *
 *	kernel_bench [--csv FILE] [--sweep]
 *
 * Every repetition runs all contestants of a case in turn, since clocks drift;
 * figures are medians of CUDA event times over what is enqueued, launches
 * included, data on the device.  share is the time of a device copy of the
 * same items over the time taken: the part of one read and one write at full
 * bandwidth.  vs merge is the time of CUB's merge sort over the time taken.
 * Results of all contestants are compared.  --sweep compares tunings instead.
 */
#include "kernel_bench.cuh"

#include <cstring>

#include <cub/device/device_merge_sort.cuh>

#include "device_sort.h"
#include "map.h"

#define FILL_THREADS 256

const char *const bench_pattern_names[NUM_BENCH_PATTERNS] = {"random", "sorted", "few distinct"};

typedef struct bench_case
{
	int			pattern;
	uint64_t	num_items;
	int			key_bytes;
	bool		indexed;
} bench_case;

typedef enum contestant
{
	OUR_MERGE = 0,
	CUB_MERGE,
	CUB_RADIX,
	NUM_CONTESTANTS
} contestant;

static const char *const contestant_names[NUM_CONTESTANTS] = {"mgpu merge", "CUB merge", "CUB radix"};

/* ------------------------------------------------------------------- data */

template <typename Key>
static __global__ void
fill_keys(Key *keys, uint64_t num_items, int pattern)
{
	uint64_t	stride = (uint64_t) gridDim.x * FILL_THREADS;

	for (uint64_t item = (uint64_t) blockIdx.x * FILL_THREADS + threadIdx.x; item < num_items; item += stride)
	{
		uint64_t	hash = (item ^ item >> 31) * UINT64_C(0x9E3779B97F4A7C15);

		hash = (hash ^ hash >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
		hash ^= hash >> 32;
		keys[item] = pattern == BENCH_SORTED ? (Key) item : pattern == BENCH_FEW ? (Key) (hash % 16) : (Key) hash;
	}
}

static __global__ void
count_differences(const uint32_t *a, const uint32_t *b, uint64_t num_words, unsigned long long *count)
{
	uint64_t	stride = (uint64_t) gridDim.x * FILL_THREADS;
	unsigned long long own = 0;

	for (uint64_t word = (uint64_t) blockIdx.x * FILL_THREADS + threadIdx.x; word < num_words; word += stride)
		own += a[word] != b[word];
	if (own > 0)
		atomicAdd(count, own);
}

void
bench_fill(bench_memory *memory, int pattern, uint64_t num_items, int key_bytes)
{
	if (key_bytes == 4)
		fill_keys<<<2048, FILL_THREADS>>>((uint32_t *) memory->input, num_items, pattern);
	else
		fill_keys<<<2048, FILL_THREADS>>>((uint64_t *) memory->input, num_items, pattern);
	REQUIRE_CUDA(cudaDeviceSynchronize());
}

static void
allocate_memory(bench_memory *memory, uint64_t most_items)
{
	REQUIRE_CUDA(cudaMalloc((void **) &memory->input, most_items * 8));
	REQUIRE_CUDA(cudaMalloc((void **) &memory->reference, most_items * 12));
	for (int side = 0; side < 2; side++)
	{
		REQUIRE_CUDA(cudaMalloc((void **) &memory->sides[side], most_items * 8 + 1024));
		REQUIRE_CUDA(cudaMalloc((void **) &memory->indices[side], most_items * 4));
	}
	memory->temp_bytes = most_items * 14;	/* CUB's merge sort keeps a copy there */
	REQUIRE_CUDA(cudaMalloc((void **) &memory->temp, memory->temp_bytes));
	REQUIRE_CUDA(cudaEventCreate(&memory->begin));
	REQUIRE_CUDA(cudaEventCreate(&memory->end));
}

/* ------------------------------------------------------------ contestants */

static mgpu_sort_request
make_request(const bench_memory *memory, const bench_case *test)
{
	bool		packed = test->indexed && test->key_bytes == 4;
	mgpu_sort_request request = {};

	for (int side = 0; side < 2; side++)
	{
		request.keys[side] = memory->sides[side];
		if (packed)
			request.indices[side] = (uint32_t *) memory->sides[side] + mgpu_padded_items(test->num_items);
		else if (test->indexed)
			request.indices[side] = (uint32_t *) memory->indices[side];
	}
	request.key_bits = (uint32_t) test->key_bytes * 8;
	request.num_items = test->num_items;
	request.temp = memory->temp;
	request.temp_bytes = memory->temp_bytes;
	return request;
}

struct less_than
{
	template <typename Key>
	__device__ __forceinline__ bool
	operator()(const Key &a, const Key &b) const
	{
		return a < b;
	}
};

/* Sorts side 0 in place. */
template <typename Key>
static cudaError_t
cub_merge_sort(bench_memory *memory, const mgpu_sort_request *request, bool indexed)
{
	Key		   *keys = static_cast<Key *>(request->keys[0]);
	uint32_t	num_items = (uint32_t) request->num_items;
	size_t		temp_bytes = 0;
	cudaError_t code;

	if (!indexed)
	{
		code = cub::DeviceMergeSort::StableSortKeys(nullptr, temp_bytes, keys, num_items, less_than());
		if (code == cudaSuccess && temp_bytes <= memory->temp_bytes)
			code = cub::DeviceMergeSort::StableSortKeys(memory->temp, temp_bytes, keys, num_items, less_than());
		return code;
	}
	code = cub::DeviceMergeSort::StableSortPairs(nullptr, temp_bytes, keys, request->indices[0], num_items, less_than());
	if (code == cudaSuccess && temp_bytes <= memory->temp_bytes)
		code = cub::DeviceMergeSort::StableSortPairs(memory->temp, temp_bytes, keys, request->indices[0], num_items,
													 less_than());
	return code;
}

/* What is timed: from keys on the device to sorted keys (and indices). */
static void
run_contestant(bench_memory *memory, const bench_case *test, int contestant, mgpu_sort_request *request)
{
	mgpu_sort_shape shape = test->key_bytes == 4 ? (test->indexed ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U32) :
		(test->indexed ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U64);

	if (contestant == OUR_MERGE)
		REQUIRE_CUDA(mgpu_merge_sorters[shape].sort(request));
	else if (contestant == CUB_RADIX)
		REQUIRE_CUDA(mgpu_radix_sorters[shape].sort(request));
	else
	{
		if (test->indexed)
			REQUIRE_CUDA(mgpu_launch_iota(request->indices[0], test->num_items, 0));
		REQUIRE_CUDA(test->key_bytes == 4 ? cub_merge_sort<uint32_t>(memory, request, test->indexed) :
					 cub_merge_sort<uint64_t>(memory, request, test->indexed));
	}
}

/* Keep the first contestant's result and compare the others' with it. */
static bool
check_result(bench_memory *memory, const bench_case *test, const mgpu_sort_request *request, bool first)
{
	uint64_t	key_words = test->num_items * test->key_bytes / 4;
	const uint32_t *keys = (const uint32_t *) request->keys[request->current];
	uint32_t   *reference = (uint32_t *) memory->reference;
	unsigned long long *count = (unsigned long long *) memory->temp;
	unsigned long long differences;

	if (first)
	{
		REQUIRE_CUDA(cudaMemcpy(reference, keys, key_words * 4, cudaMemcpyDeviceToDevice));
		if (test->indexed)
			REQUIRE_CUDA(cudaMemcpy(reference + key_words, request->indices[request->current], test->num_items * 4,
									cudaMemcpyDeviceToDevice));
		return true;
	}
	REQUIRE_CUDA(cudaMemset(count, 0, sizeof(*count)));
	count_differences<<<2048, FILL_THREADS>>>(keys, reference, key_words, count);
	if (test->indexed)
		count_differences<<<2048, FILL_THREADS>>>(request->indices[request->current], reference + key_words,
												  test->num_items, count);
	REQUIRE_CUDA(cudaMemcpy(&differences, count, sizeof(differences), cudaMemcpyDeviceToHost));
	return differences == 0;
}

/* ------------------------------------------------------------------ report */

static double
time_copy(bench_memory *memory, uint64_t bytes)
{
	std::vector<double> times;

	for (int repetition = 0; repetition < 11; repetition++)
		times.push_back(bench_time(memory, [&] ()
		{
			REQUIRE_CUDA(cudaMemcpyAsync(memory->sides[1], memory->sides[0], bytes, cudaMemcpyDeviceToDevice));
		}));
	return bench_median(times);
}

static bool
run_case(bench_memory *memory, const bench_case *test, FILE *csv)
{
	int			repetitions = test->num_items >= 50000000 ? 5 : 11;
	uint64_t	item_bytes = test->key_bytes + (test->indexed ? 4 : 0);
	double		copy_ms = time_copy(memory, std::min<uint64_t>(item_bytes, 8) * test->num_items) *
		item_bytes / std::min<uint64_t>(item_bytes, 8);
	std::vector<double> times[NUM_CONTESTANTS];
	double		medians[NUM_CONTESTANTS];
	bool		agree = true;

	bench_fill(memory, test->pattern, test->num_items, test->key_bytes);
	/* the first repetition warms up and is checked */
	for (int repetition = 0; repetition <= repetitions; repetition++)
	{
		for (int contestant = 0; contestant < NUM_CONTESTANTS; contestant++)
		{
			mgpu_sort_request request = make_request(memory, test);
			double		milliseconds;

			REQUIRE_CUDA(cudaMemcpyAsync(request.keys[0], memory->input, test->num_items * test->key_bytes,
										 cudaMemcpyDeviceToDevice));
			milliseconds = bench_time(memory, [&] () { run_contestant(memory, test, contestant, &request); });
			if (repetition > 0)
				times[contestant].push_back(milliseconds);
			else
				agree = check_result(memory, test, &request, contestant == 0) && agree;
		}
	}
	for (int contestant = 0; contestant < NUM_CONTESTANTS; contestant++)
		medians[contestant] = bench_median(times[contestant]);
	for (int contestant = 0; contestant < NUM_CONTESTANTS; contestant++)
	{
		double		ms = medians[contestant];
		double		giga_keys = test->num_items / ms * 1e-6;
		double		giga_bytes = 2 * giga_keys * item_bytes;

		printf("%-12s u%d%-6s %9llu  %-10s %9.3f ms %7.2f Gkeys/s %7.0f GB/s %5.1f%% %6.2f%s\n",
			   bench_pattern_names[test->pattern], test->key_bytes * 8, test->indexed ? "+index" : "",
			   (unsigned long long) test->num_items, contestant_names[contestant], ms, giga_keys, giga_bytes,
			   100 * copy_ms / ms, medians[CUB_MERGE] / ms, agree ? "" : "  RESULTS DIFFER");
		if (csv != NULL)
			fprintf(csv, "%s,u%d,%d,%llu,%s,%.4f,%.3f,%.1f,%.4f,%.3f,%d\n", bench_pattern_names[test->pattern],
					test->key_bytes * 8, test->indexed, (unsigned long long) test->num_items,
					contestant_names[contestant], ms, giga_keys, giga_bytes, copy_ms / ms, medians[CUB_MERGE] / ms,
					agree);
	}
	fflush(stdout);
	return agree;
}

static bool
run_cases(bench_memory *memory, FILE *csv)
{
	static const uint64_t sizes[] = {10000, 100000, 1000000, 10000000, 100000000};
	bool		agree = true;
	double		copy_ms = time_copy(memory, UINT64_C(400000000));

	printf("device copy of 100M int4: %.3f ms, %.0f GB/s read and written\n", copy_ms, 0.8e3 / copy_ms);
	printf("%-12s %-9s %9s  %-10s %12s %15s %12s %6s %6s\n", "input", "keys", "items", "sort", "time", "rate",
		   "one pass", "share", "vs merge");
	if (csv != NULL)
		fprintf(csv, "input,keys,indexed,items,sort,ms,gkeys_per_s,gb_per_s,share_of_copy,cub_merge_ratio,agree\n");
	for (int key_bytes = 4; key_bytes <= 8; key_bytes += 4)
	{
		for (int indexed = 0; indexed < 2; indexed++)
		{
			for (int pattern = 0; pattern < NUM_BENCH_PATTERNS; pattern++)
			{
				for (uint64_t size : sizes)
				{
					bench_case	test = {pattern, size, key_bytes, indexed != 0};

					if (pattern == BENCH_RANDOM || size >= 10000000)
						agree = run_case(memory, &test, csv) && agree;
				}
			}
		}
	}
	return agree;
}

int
main(int argc, char **argv)
{
	FILE	   *csv = NULL;
	bool		sweep = false;
	bool		agree = true;
	int			count = 0;
	bench_memory memory = {};

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--sweep") == 0)
			sweep = true;
		else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc && (csv = fopen(argv[i + 1], "w")) != NULL)
			i++;
		else
		{
			fprintf(stderr, "usage: kernel_bench [--csv FILE] [--sweep]\n");
			return 2;
		}
	}
	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
	{
		printf("no usable GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
		return 77;
	}
	allocate_memory(&memory, 100000000);
	if (sweep)
		bench_sweep(&memory);
	else
		agree = run_cases(&memory, csv);
	if (csv != NULL && fclose(csv) != 0)
		agree = false;
	return agree ? 0 : 1;
}

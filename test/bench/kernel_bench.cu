/*
 * kernel_bench.cu
 *		Our sorts against CUB's on the same data, in one run.
 *
 *	kernel_bench [--csv FILE] [--items N] [--only TEXT] [--sweep | --small]
 *
 * Every repetition runs all contestants of a case in turn, since clocks drift;
 * figures are medians of CUDA event times over what is enqueued, launches
 * included, data on the device, each sort between two arrays of which either may
 * hold the result.  share is the time of a device copy of the same items over
 * the time taken: the part of one read and one write at full bandwidth.
 * vs merge and vs radix are the times of CUB's two sorts over the time taken.
 * Results of all contestants are compared.  "mgpu auto" is the sort under `auto`;
 * its line names what it took.  --only takes the inputs whose names hold TEXT;
 * --sweep compares tunings instead, --small those for a few thousand keys.
 *
 * CUB is asked for its temporary memory before the timing and is told counts in
 * 64 bits for keys alone and in 32 with indices, which is what is faster.
 */
#include "kernel_bench.cuh"

#include <cstring>

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "device/map.h"
#include "sort/sorter.h"

#define MOST_ITEMS UINT64_C(100000000)
#define PATTERN_MIN_ITEMS UINT64_C(1000000) /* below, launches count and not keys: random ones will do */

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
	OUR_RADIX,
	OUR_AUTO,
	CUB_MERGE,
	CUB_RADIX,
	NUM_CONTESTANTS
} contestant;

static const char *const contestant_names[NUM_CONTESTANTS] = {"mgpu merge", "mgpu radix", "mgpu auto", "CUB merge", "CUB radix"};

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

static mgpu_sort_shape
shape_of(const bench_case *test)
{
	if (test->key_bytes == 4)
		return test->indexed ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U32;
	return test->indexed ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U64;
}

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
cub_merge_sort(void *temp, size_t *temp_bytes, const mgpu_sort_request *request)
{
	Key		   *keys = static_cast<Key *>(request->keys[0]);
	uint32_t	num_items = (uint32_t) request->num_items;

	if (request->indices[0] == nullptr)
		return cub::DeviceMergeSort::StableSortKeys(temp, *temp_bytes, keys, num_items, less_than());
	return cub::DeviceMergeSort::StableSortPairs(temp, *temp_bytes, keys, request->indices[0], num_items, less_than());
}

template <typename Key>
static cudaError_t
cub_radix_sort(void *temp, size_t *temp_bytes, mgpu_sort_request *request)
{
	cub::DoubleBuffer<Key> keys(static_cast<Key *>(request->keys[0]), static_cast<Key *>(request->keys[1]));
	cub::DoubleBuffer<uint32_t> indices(request->indices[0], request->indices[1]);
	uint32_t	num_items = (uint32_t) request->num_items;
	cudaError_t code;

	if (request->indices[0] == nullptr)
		code = cub::DeviceRadixSort::SortKeys(temp, *temp_bytes, keys, request->num_items);
	else
		code = cub::DeviceRadixSort::SortPairs(temp, *temp_bytes, keys, indices, num_items);
	request->current = keys.selector;
	return code;
}

/* temp: NULL to ask for *temp_bytes. */
static cudaError_t
run_cub(int contestant, const bench_case *test, void *temp, size_t *temp_bytes, mgpu_sort_request *request)
{
	if (contestant == CUB_MERGE)
		return test->key_bytes == 4 ? cub_merge_sort<uint32_t>(temp, temp_bytes, request) :
			cub_merge_sort<uint64_t>(temp, temp_bytes, request);
	return test->key_bytes == 4 ? cub_radix_sort<uint32_t>(temp, temp_bytes, request) :
		cub_radix_sort<uint64_t>(temp, temp_bytes, request);
}

/* From keys on the device to sorted keys (and indices), in milliseconds; *ran: what AUTO took. */
static double
time_contestant(bench_memory *memory, const bench_case *test, int contestant, mgpu_sort_request *request,
				mgpu_algorithm *ran)
{
	mgpu_sort_shape shape = shape_of(test);
	size_t		temp_bytes = 0;

	if (contestant == OUR_MERGE)
		return bench_time(memory, [&] () { REQUIRE_CUDA(mgpu_merge_sorters[shape].sort(request)); });
	if (contestant == OUR_RADIX)
		return bench_time(memory, [&] () { REQUIRE_CUDA(mgpu_radix_sorters[shape].sort(request)); });
	if (contestant == OUR_AUTO)
		return bench_time(memory, [&] ()
		{
			*ran = mgpu_choose_algorithm(shape, (uint32_t) test->key_bytes, test->num_items);
			REQUIRE_CUDA(mgpu_auto_sort(shape, request, ran));
		});
	REQUIRE_CUDA(run_cub(contestant, test, nullptr, &temp_bytes, request));
	if (temp_bytes > memory->temp_bytes)
	{
		fprintf(stderr, "%s wants %zu bytes\n", contestant_names[contestant], temp_bytes);
		exit(1);
	}
	return bench_time(memory, [&] ()
	{
		if (test->indexed)
			REQUIRE_CUDA(mgpu_launch_iota(request->indices[0], test->num_items, 0));
		REQUIRE_CUDA(run_cub(contestant, test, memory->temp, &temp_bytes, request));
	});
}

/* Keep the first contestant's result and compare the others' with it. */
static bool
check_result(bench_memory *memory, const bench_case *test, const mgpu_sort_request *request, bool first)
{
	uint64_t	key_words = test->num_items * test->key_bytes / 4;
	uint32_t   *reference = (uint32_t *) memory->reference;
	const void *keys = request->keys[request->current];
	const uint32_t *indices = request->indices[request->current];

	if (first)
	{
		REQUIRE_CUDA(cudaMemcpy(reference, keys, key_words * 4, cudaMemcpyDeviceToDevice));
		if (test->indexed)
			REQUIRE_CUDA(cudaMemcpy(reference + key_words, indices, test->num_items * 4, cudaMemcpyDeviceToDevice));
		return true;
	}
	return bench_count_differences(memory, keys, reference, key_words) == 0 &&
		(!test->indexed || bench_count_differences(memory, indices, reference + key_words, test->num_items) == 0);
}

/* ------------------------------------------------------------------ report */

typedef struct case_result
{
	double		copy_ms;
	double		ms[NUM_CONTESTANTS];
	mgpu_algorithm ran;			/* by mgpu auto */
	bool		agree;
} case_result;

static const char *
name_of(int contestant, mgpu_algorithm ran)
{
	static char name[32];

	if (contestant != OUR_AUTO)
		return contestant_names[contestant];
	snprintf(name, sizeof(name), "mgpu auto: %s", ran == MGPU_ALGORITHM_RADIX ? "radix" :
			 ran == MGPU_ALGORITHM_LOCALITY ? "locality" : "merge");
	return name;
}

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

static void
report(const bench_case *test, const case_result *result, FILE *csv)
{
	uint64_t	item_bytes = test->key_bytes + (test->indexed ? 4 : 0);

	for (int contestant = 0; contestant < NUM_CONTESTANTS; contestant++)
	{
		double		ms = result->ms[contestant];
		double		giga_keys = test->num_items / ms * 1e-6;
		double		giga_bytes = 2 * giga_keys * item_bytes;
		double		vs_merge = result->ms[CUB_MERGE] / ms;
		double		vs_radix = result->ms[CUB_RADIX] / ms;
		const char *name = name_of(contestant, result->ran);

		printf("%-12s u%d%-6s %9llu  %-19s %9.3f ms %7.2f Gkeys/s %7.0f GB/s %5.1f%% %6.2f %6.2f%s\n",
			   bench_pattern_names[test->pattern], test->key_bytes * 8, test->indexed ? "+index" : "",
			   (unsigned long long) test->num_items, name, ms, giga_keys, giga_bytes, 100 * result->copy_ms / ms,
			   vs_merge, vs_radix, result->agree ? "" : "  RESULTS DIFFER");
		if (csv != NULL)
			fprintf(csv, "%s,u%d,%d,%llu,%s,%.4f,%.3f,%.1f,%.4f,%.3f,%.3f,%d\n", bench_pattern_names[test->pattern],
					test->key_bytes * 8, test->indexed, (unsigned long long) test->num_items, name, ms, giga_keys,
					giga_bytes, result->copy_ms / ms, vs_merge, vs_radix, result->agree);
	}
	fflush(stdout);
}

static bool
run_case(bench_memory *memory, const bench_case *test, FILE *csv)
{
	int			repetitions = test->num_items >= 50000000 ? 5 : 11;
	uint64_t	item_bytes = test->key_bytes + (test->indexed ? 4 : 0);
	uint64_t	copied_bytes = std::min<uint64_t>(item_bytes, 8);	/* a side holds no more */
	std::vector<double> times[NUM_CONTESTANTS];
	case_result result = {};

	result.copy_ms = time_copy(memory, copied_bytes * test->num_items) * item_bytes / copied_bytes;
	result.agree = true;
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
			milliseconds = time_contestant(memory, test, contestant, &request, &result.ran);
			if (repetition > 0)
				times[contestant].push_back(milliseconds);
			else
				result.agree = check_result(memory, test, &request, contestant == 0) && result.agree;
		}
	}
	for (int contestant = 0; contestant < NUM_CONTESTANTS; contestant++)
		result.ms[contestant] = bench_median(times[contestant]);
	report(test, &result, csv);
	return result.agree;
}

static bool
run_cases(bench_memory *memory, uint64_t only_items, const char *only, FILE *csv)
{
	static const uint64_t sizes[] = {1000, 10000, 100000, 1000000, 10000000, MOST_ITEMS};
	bool		agree = true;
	double		copy_ms = time_copy(memory, MOST_ITEMS * 4);

	printf("device copy of 100M int4: %.3f ms, %.0f GB/s read and written\n", copy_ms, 0.8e3 / copy_ms);
	printf("%-12s %-9s %9s  %-19s %12s %15s %12s %6s %6s %6s\n", "input", "keys", "items", "sort", "time", "rate",
		   "one pass", "share", "merge", "radix");
	if (csv != NULL)
		fprintf(csv, "input,keys,indexed,items,sort,ms,gkeys_per_s,gb_per_s,share_of_copy,cub_merge_ratio,"
				"cub_radix_ratio,agree\n");
	for (int key_bytes = 4; key_bytes <= 8; key_bytes += 4)
	{
		for (int indexed = 0; indexed < 2; indexed++)
		{
			for (int pattern = 0; pattern < NUM_BENCH_PATTERNS; pattern++)
			{
				for (uint64_t size : sizes)
				{
					bench_case	test = {pattern, size, key_bytes, indexed != 0};

					if ((pattern == BENCH_RANDOM || size >= PATTERN_MIN_ITEMS) &&
						(only_items == 0 || size == only_items) && strstr(bench_pattern_names[pattern], only) != NULL)
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
	const char *only = "";
	uint64_t	only_items = 0;
	bool		sweep = false;
	bool		small = false;
	bool		agree = true;
	int			count = 0;
	bench_memory memory = {};

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--sweep") == 0)
			sweep = true;
		else if (strcmp(argv[i], "--small") == 0)
			small = true;
		else if (i + 1 < argc && strcmp(argv[i], "--items") == 0)
			only_items = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--only") == 0)
			only = argv[++i];
		else if (i + 1 < argc && strcmp(argv[i], "--csv") == 0 && (csv = fopen(argv[i + 1], "w")) != NULL)
			i++;
		else
		{
			fprintf(stderr, "usage: kernel_bench [--csv FILE] [--items N] [--only TEXT] [--sweep | --small]\n");
			return 2;
		}
	}
	if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
	{
		printf("no usable GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
		return 77;
	}
	allocate_memory(&memory, MOST_ITEMS);
	if (sweep)
		bench_sweep(&memory);
	else if (small)
		bench_small(&memory);
	else
		agree = run_cases(&memory, only_items, only, csv);
	if (csv != NULL && fclose(csv) != 0)
		agree = false;
	return agree ? 0 : 1;
}

/*
 * kernel_segmented_bench.cu
 *		Segmented sort and locality sort against CUB.
 *
 *	kernel_segmented_bench [--items N] [--mean N] [--rounds N] [--only TEXT] [--csv FILE] [--locality] [--one-rival]
 *
 * Each case is timed in turn with its rivals and with a device copy of the keys,
 * all in one run, and every figure is a median: ms, Gkeys/s, the copy's time as
 * a part of it, and the rivals' times with their ratio to ours.  Rivals of the
 * segmented sort are cub::DeviceSegmentedSort and, of keys alone,
 * cub::DeviceSegmentedRadixSort; of the locality sort cub::DeviceRadixSort.  A
 * rival that takes longer than SLOW_MS is timed once.  "passes" is how often the
 * average tile was merged or copied, from the sort's own counts.  Results are
 * compared with a rival's.
 *
 * --one-rival leaves out cub::DeviceSegmentedRadixSort, which takes ten seconds
 * for 100M segments.  --mean takes segments of that mean alone, in every shape;
 * --locality takes locality sorts alone: every shape in order, in reverse, at many
 * distances and in no order.  --only takes the cases whose names hold TEXT.
 */
#include "kernel_segmented_bench.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <cstring>
#include <memory>
#include <string>

#include "device/map.h"
#include "segmented/segmented.h"

static int	rounds = 9;
static FILE *csv = nullptr;
static bool one_rival = false;
static const char *only = "";

/* contenders: copy, ours, and one or two rivals. */
static void
report(const std::string &name, uint64_t num_items, uint64_t num_segments, const std::vector<contender> &contenders,
	   double passes)
{
	double		copy = contenders[0].median();
	double		ours = contenders[1].median();
	double		best = INFINITY;

	printf("%-36s %11llu  %8.3f ms %7.2f Gkeys/s  %5.1f copies  %5.2f passes", name.c_str(),
		   (unsigned long long) num_items, ours, num_items / ours / 1e6, ours / copy, passes);
	for (size_t i = 2; i < contenders.size(); i++)
	{
		double		rival = contenders[i].median();

		best = std::min(best, rival);
		printf("  %s %9.3f ms x %.2f", contenders[i].name, rival, rival / ours);
	}
	printf("\n");
	fflush(stdout);
	if (csv == nullptr)
		return;
	fprintf(csv, "\"%s\",%llu,%llu,%.5f,%.4f,%.5f,%.3f", name.c_str(), (unsigned long long) num_items,
			(unsigned long long) num_segments, ours, num_items / ours / 1e6, copy, passes);
	for (size_t i = 2; i < 4; i++)
		fprintf(csv, ",%.5f", i < contenders.size() ? contenders[i].median() : 0);
	fprintf(csv, ",%.4f\n", best / ours);
}

/* One case: our sort and its rivals, of keys alone or with their indices. */
template <typename Key, bool indexed>
struct bench_case
{
	static constexpr mgpu_sort_shape shape = indexed ? (sizeof(Key) == 8 ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U32_INDEX) :
		(sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32);

	int64_t		num_items;
	const segments *cut;		/* NULL: a locality sort */
	device_items<Key> input;
	device_items<uint32_t> indices;
	device_items<Key> out;		/* of a rival */
	device_items<uint32_t> out_indices;
	device_items<char> regions[2];
	device_items<char> temp;
	device_items<mgpu_segmented_stats> stats;
	Key		   *keys;			/* what all sort, as fresh in the cache for each */

	bench_case(uint64_t num_items_, const segments *cut_)
		: num_items((int64_t) num_items_), cut(cut_), input(num_items_), indices(indexed ? num_items_ : 0), out(num_items_),
		out_indices(indexed ? num_items_ : 0),
		regions{device_items<char>(mgpu_segmented_region_bytes(shape, num_items_)),
				device_items<char>(mgpu_segmented_region_bytes(shape, num_items_))},
		temp(mgpu_segmented_temp_bytes(shape, num_items_)), stats(1), keys(reinterpret_cast<Key *>(regions[0].data))
	{
	}

	void
	fill(int order, uint64_t distance)
	{
		fill_keys<<<ctas(input.num_items), THREADS>>>(input.data, input.num_items, order, distance);
		REQUIRE_CUDA(cudaGetLastError());
		if (indexed)
			REQUIRE_CUDA(mgpu_launch_iota(indices.data, input.num_items, nullptr));
	}

	void
	copy_input(Key *to)
	{
		REQUIRE_CUDA(cudaMemcpyAsync(to, input.data, num_items * sizeof(Key), cudaMemcpyDeviceToDevice));
	}

	void
	sort()
	{
		mgpu_segmented_request request = {};

		request.shape = shape;
		request.regions[0] = regions[0].data;
		request.regions[1] = regions[1].data;
		request.num_items = input.num_items;
		if (cut != nullptr)
		{
			request.segment_heads = cut->offsets.data;
			request.num_segments = cut->num_segments;
		}
		request.stats = stats.data;
		request.temp = temp.data;
		request.temp_bytes = temp.num_items;
		REQUIRE_CUDA(mgpu_launch_segmented_sort(&request));
	}

	cudaError_t
	cub_radix(void *cub_temp, size_t &bytes)
	{
		if constexpr (indexed)
			return cub::DeviceRadixSort::SortPairs(cub_temp, bytes, keys, out.data, indices.data, out_indices.data, num_items);
		else
			return cub::DeviceRadixSort::SortKeys(cub_temp, bytes, keys, out.data, num_items);
	}

	cudaError_t
	cub_segmented(void *cub_temp, size_t &bytes)
	{
		const uint32_t *heads = cut->offsets.data;
		int64_t		num_segments = (int64_t) cut->num_segments;

		if constexpr (indexed)
			return cub::DeviceSegmentedSort::StableSortPairs(cub_temp, bytes, keys, out.data, indices.data, out_indices.data,
															 num_items, num_segments, heads, heads + 1);
		else
			return cub::DeviceSegmentedSort::SortKeys(cub_temp, bytes, keys, out.data, num_items, num_segments, heads, heads + 1);
	}

	/* keys alone */
	cudaError_t
	cub_segmented_radix(void *cub_temp, size_t &bytes)
	{
		const uint32_t *heads = cut->offsets.data;

		return cub::DeviceSegmentedRadixSort::SortKeys(cub_temp, bytes, keys, out.data, num_items, (int64_t) cut->num_segments,
													   heads, heads + 1);
	}

	/* A rival, with temporary memory of its own. */
	contender
	rival(const char *name, cudaError_t (bench_case::*call) (void *, size_t &))
	{
		size_t		bytes = 0;

		REQUIRE_CUDA((this->*call)(nullptr, bytes));

		auto		cub_temp = std::make_shared<device_items<char>>(bytes);

		return {name, [=] {
			size_t		given = bytes;

			REQUIRE_CUDA((this->*call)(cub_temp->data, given));
		}, {}};
	}

	/* Our result is the first rival's. */
	void
	compare(const std::string &name, const contender &first_rival)
	{
		copy_input(keys);
		first_rival.run();
		sort();
		require_equal(keys, out.data, num_items * sizeof(Key), name.c_str());
		if (indexed)
			require_equal(regions[0].data + mgpu_segmented_index_offset(shape, input.num_items), out_indices.data,
						  num_items * sizeof(uint32_t), name.c_str());
	}

	/* How often the average tile was merged or copied. */
	double
	passes_worth()
	{
		mgpu_segmented_stats counts;
		uint64_t	tiles = 0;

		REQUIRE_CUDA(cudaMemcpy(&counts, stats.data, sizeof(counts), cudaMemcpyDeviceToHost));
		for (const mgpu_pass_stats &pass : counts.passes)
			tiles += pass.merge_tiles + pass.copy_tiles;
		return (double) tiles / counts.num_tiles;
	}

	void
	bench(const std::string &name, const std::vector<contender> &rivals)
	{
		std::vector<contender> contenders = {{"copy", [this] { copy_input(out.data); }, {}}, {"ours", [this] { sort(); }, {}}};

		contenders.insert(contenders.end(), rivals.begin(), rivals.end());
		time_in_turn(contenders, [this] { copy_input(keys); }, rounds);
		compare(name, rivals[0]);
		report(name, input.num_items, cut != nullptr ? cut->num_segments : 0, contenders, passes_worth());
	}
};

/* -------------------------------------------------------------------- cases */

static bool
is_left_out(const std::string &name)
{
	return name.find(only) == std::string::npos;
}

template <typename Key, bool indexed>
static void
bench_segments(const std::string &name, uint64_t num_items, const segments &cut)
{
	typedef bench_case<Key, indexed> Case;

	if (is_left_out(name))
		return;

	Case		one(num_items, &cut);
	std::vector<contender> rivals = {one.rival("segmented sort", &Case::cub_segmented)};

	if constexpr (!indexed)
		if (!one_rival)
			rivals.push_back(one.rival("segmented radix", &Case::cub_segmented_radix));
	one.fill(ORDER_RANDOM, 0);
	one.bench(name, rivals);
}

template <typename Key, bool indexed>
static void
bench_locality(const std::string &name, uint64_t num_items, int order, uint64_t distance)
{
	typedef bench_case<Key, indexed> Case;

	if (is_left_out(name))
		return;

	Case		one(num_items, nullptr);

	one.fill(order, distance);
	one.bench(name, {one.rival("radix sort", &Case::cub_radix)});
}

/* Segments of one mean; all shapes, or those of the table. */
static void
bench_mean(uint64_t num_items, uint32_t mean, bool all_shapes)
{
	segments	cut(num_items, mean);
	std::string name = "mean " + std::to_string(mean);

	bench_segments<uint32_t, false>("int4, " + name, num_items, cut);
	if (all_shapes)
	{
		bench_segments<uint64_t, false>("int8, " + name, num_items, cut);
		bench_segments<uint32_t, true>("int4 with indices, " + name, num_items, cut);
	}
}

static void
bench_all(uint64_t num_items)
{
	for (uint32_t mean : {1, 10, 30, 100, 300, 1000, 10000, 100000, 1000000})
		bench_mean(num_items, mean, mean == 10 || mean == 100 || mean == 10000);

	segments	power_law(num_items);

	bench_segments<uint32_t, false>("int4, power law", num_items, power_law);
	bench_locality<uint32_t, false>("int4, sorted", num_items, ORDER_SORTED, 0);
	for (uint64_t distance : {100, 10000, 1000000})
		bench_locality<uint32_t, false>("int4, within " + std::to_string(distance), num_items, ORDER_NEAR, distance);
	bench_locality<uint32_t, false>("int4, reversed", num_items, ORDER_REVERSED, 0);
	bench_locality<uint32_t, false>("int4, random", num_items, ORDER_RANDOM, 0);
	bench_locality<uint64_t, false>("int8, within 100", num_items, ORDER_NEAR, 100);
}

template <typename Key, bool indexed>
static void
bench_orders(const std::string &name, uint64_t num_items)
{
	bench_locality<Key, indexed>(name + ", sorted", num_items, ORDER_SORTED, 0);
	bench_locality<Key, indexed>(name + ", reversed", num_items, ORDER_REVERSED, 0);
	for (uint64_t distance = 100; distance <= num_items; distance *= 10)
		bench_locality<Key, indexed>(name + ", within " + std::to_string(distance), num_items, ORDER_NEAR, distance);
	bench_locality<Key, indexed>(name + ", random", num_items, ORDER_RANDOM, 0);
}

static void
bench_all_orders(uint64_t num_items)
{
	bench_orders<uint32_t, false>("int4", num_items);
	bench_orders<uint64_t, false>("int8", num_items);
	bench_orders<uint32_t, true>("int4 with indices", num_items);
	bench_orders<uint64_t, true>("int8 with indices", num_items);
}

int
main(int argc, char **argv)
{
	std::vector<uint64_t> sizes = {1000000, 10000000, 100000000};
	uint32_t	only_mean = 0;
	bool		locality = false;
	int			num_devices = 0;
	cudaError_t status;

	for (int i = 1; i < argc; i++)
	{
		if (i + 1 < argc && strcmp(argv[i], "--items") == 0)
			sizes = {strtoull(argv[++i], nullptr, 10)};
		else if (i + 1 < argc && strcmp(argv[i], "--mean") == 0)
			only_mean = (uint32_t) std::max(1, atoi(argv[++i]));
		else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0)
			rounds = std::max(1, atoi(argv[++i]));
		else if (i + 1 < argc && strcmp(argv[i], "--only") == 0)
			only = argv[++i];
		else if (i + 1 < argc && strcmp(argv[i], "--csv") == 0)
			csv = fopen(argv[++i], "w");
		else if (strcmp(argv[i], "--locality") == 0)
			locality = true;
		else if (strcmp(argv[i], "--one-rival") == 0)
			one_rival = true;
		else
		{
			fprintf(stderr, "usage: kernel_segmented_bench [--items N] [--mean N] [--rounds N] [--only TEXT] [--csv FILE] [--locality] [--one-rival]\n");
			return 2;
		}
	}
	status = cudaGetDeviceCount(&num_devices);
	if (status != cudaSuccess || num_devices == 0)
	{
		printf("no usable GPU: %s\n", status != cudaSuccess ? cudaGetErrorString(status) : "no device");
		return 77;
	}
	if (csv != nullptr)
		fprintf(csv, "case,items,segments,ms,gkeys_per_s,copy_ms,passes,rival_1_ms,rival_2_ms,best_rival_ratio\n");
	for (uint64_t num_items : sizes)
	{
		if (locality)
			bench_all_orders(num_items);
		else if (only_mean != 0)
			bench_mean(num_items, only_mean, true);
		else
			bench_all(num_items);
	}
	if (csv != nullptr)
		fclose(csv);
	return 0;
}

/*
 * kernel_segmented_bench.cu
 *		Segmented sort and locality sort against CUB.
 *
 *	kernel_segmented_bench [--items N] [--mean N] [--rounds N] [--only TEXT] [--csv FILE] [--locality] [--one-rival]
 *
 * Each case is timed in turn with its rivals and with a device copy of the keys,
 * all in one run, and every figure is a median: ms, Gkeys/s, the copy's time as
 * a part of it, and the rivals' times with their ratio to ours.  Rivals of the
 * segmented sort are cub::DeviceSegmentedSort and cub::DeviceSegmentedRadixSort,
 * of the locality sort cub::DeviceRadixSort.  A rival that takes longer than
 * SLOW_MS is timed once.  "passes" is how often the average tile was merged or
 * copied, from the sort's own counts.  Results are compared with a rival's.
 *
 * Locality sorts are timed as `auto` sorts, which decide alike: by mgpu_auto_sort.
 * The next line says what ran, what the passes of a locality sort and a merge sort
 * take whatever the keys look like, and what the probe predicted.  --locality is for
 * that choice alone: every shape in order, in reverse, at many distances and in no
 * order, and nothing else.  --one-rival leaves out
 * cub::DeviceSegmentedRadixSort, which takes ten seconds for 100M segments.  "wide"
 * are near keys that differ in all their bits.
 * --only takes the cases whose names hold TEXT, --mean segments of that mean alone, in
 * every shape.
 */
#include <cuda_runtime.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "device/map.h"
#include "executor/auto_sort.h"
#include "segmented/segmented.h"

#define REQUIRE_CUDA(call) \
	do { \
		cudaError_t require_code = (call); \
		if (require_code != cudaSuccess) \
		{ \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(require_code)); \
			exit(1); \
		} \
	} while (0)

#define THREADS 256
#define SLOW_MS 60.0

static int	rounds = 9;
static FILE *csv = nullptr;
static bool one_rival = false;
static const char *only = "";
static cudaEvent_t begin_event;
static cudaEvent_t end_event;

typedef std::function<void ()> work;

/* -------------------------------------------------------------- device data */

static __device__ uint64_t
mix(uint64_t number)
{
	number = (number ^ number >> 31) * UINT64_C(0x7FB5D329728EA185);
	number = (number ^ number >> 27) * UINT64_C(0x81DADEF4BC2DD44D);
	return number ^ number >> 33;
}

typedef enum order
{
	ORDER_RANDOM = 0,
	ORDER_SORTED,
	ORDER_REVERSED,
	ORDER_NEAR,					/* each key within `distance` of its place */
	ORDER_WIDE					/* the same, and keys spread over all that their type holds */
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
	else if (order == ORDER_WIDE)
	{
		Key			step = (Key) ~(Key) 0 / (Key) (num_items + distance);

		keys[item] = (Key) (item + bits % distance) * step + (Key) mix(bits) % step;
	}
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

static bool
is_left_out(const std::string &name)
{
	return name.find(only) == std::string::npos;
}

static unsigned
ctas(uint64_t num_items)
{
	return (unsigned) ((num_items + THREADS - 1) / THREADS);
}

/* Device memory that frees itself. */
template <typename Item>
struct device_items
{
	Item	   *data = nullptr;
	uint64_t	num_items;

	explicit device_items(uint64_t num_items_) : num_items(num_items_)
	{
		REQUIRE_CUDA(cudaMalloc(&data, num_items * sizeof(Item) + 256));
	}

	device_items(const device_items &) = delete;

	~device_items()
	{
		cudaFree(data);
	}
};

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

struct piece
{
	work		prepare;		/* not timed */
	work		run;
	std::vector<double> times;

	double
	median() const
	{
		std::vector<double> sorted = times;

		if (sorted.empty())
			return 0;
		std::sort(sorted.begin(), sorted.end());
		return sorted[sorted.size() / 2];
	}
};

static double
time_once(const piece &piece)
{
	float		milliseconds;

	if (piece.prepare)
		piece.prepare();
	REQUIRE_CUDA(cudaEventRecord(begin_event));
	piece.run();
	REQUIRE_CUDA(cudaEventRecord(end_event));
	REQUIRE_CUDA(cudaEventSynchronize(end_event));
	REQUIRE_CUDA(cudaEventElapsedTime(&milliseconds, begin_event, end_event));
	return milliseconds;
}

/* In turn; the first round warms up, and sorts out what is slow. */
static void
time_pieces(std::vector<piece> &pieces)
{
	std::vector<bool> slow(pieces.size());

	for (int round = -1; round < rounds; round++)
		for (size_t i = 0; i < pieces.size(); i++)
		{
			double		milliseconds;

			if (!pieces[i].run || slow[i])
				continue;
			milliseconds = time_once(pieces[i]);
			slow[i] = milliseconds > SLOW_MS;
			if (round >= 0 || slow[i])
				pieces[i].times.push_back(milliseconds);
		}
}

/* How often the average tile was merged or copied. */
static double
passes_worth(const mgpu_segmented_stats *d_stats)
{
	mgpu_segmented_stats stats;
	uint64_t	tiles = 0;

	REQUIRE_CUDA(cudaMemcpy(&stats, d_stats, sizeof(stats), cudaMemcpyDeviceToHost));
	for (const mgpu_pass_stats &pass : stats.passes)
		tiles += pass.merge_tiles + pass.copy_tiles;
	return (double) tiles / stats.num_tiles;
}

/* pieces: copy, ours, then rivals by these names. */
static void
report(const std::string &name, uint64_t num_items, uint64_t num_segments, const std::vector<piece> &pieces,
	   const std::vector<const char *> &rivals, double passes)
{
	double		copy = pieces[0].median();
	double		ours = pieces[1].median();
	double		best = 0;

	printf("%-36s %11llu  %8.3f ms %7.2f Gkeys/s  %5.1f copies  %5.2f passes", name.c_str(),
		   (unsigned long long) num_items, ours, num_items / ours / 1e6, ours / copy, passes);
	for (size_t i = 0; i < rivals.size(); i++)
	{
		double		rival = pieces[i + 2].median();

		if (rival > 0 && (best == 0 || rival < best))
			best = rival;
		printf("  %s %9.3f ms x %.2f", rivals[i], rival, rival / ours);
	}
	printf("\n");
	fflush(stdout);
	if (csv != nullptr)
	{
		fprintf(csv, "\"%s\",%llu,%llu,%.5f,%.4f,%.5f,%.3f", name.c_str(), (unsigned long long) num_items,
				(unsigned long long) num_segments, ours, num_items / ours / 1e6, copy, passes);
		for (size_t i = 0; i < 2; i++)
			fprintf(csv, ",%.5f", i < rivals.size() ? pieces[i + 2].median() : 0);
		fprintf(csv, ",%.4f\n", best / ours);
	}
}

/* -------------------------------------------------------------------- cases */

/* What our sort of one case works on. */
template <typename Key>
struct our_sort
{
	device_items<char> regions[2];
	device_items<char> temp;
	device_items<char> sort_temp;
	device_items<mgpu_segmented_stats> stats;
	mgpu_segmented_request request;

	our_sort(mgpu_sort_shape shape, uint64_t num_items, const uint32_t *heads, uint64_t num_segments)
		: regions{device_items<char>(mgpu_segmented_region_bytes(shape, num_items)),
				  device_items<char>(mgpu_segmented_region_bytes(shape, num_items))},
		temp(mgpu_segmented_temp_bytes(shape, num_items)),
		sort_temp(heads != nullptr ? 0 : mgpu_auto_temp_bytes(shape, num_items)),
		stats(1),
		request{shape, {regions[0].data, regions[1].data}, 0, num_items, heads, num_segments, stats.data, temp.data, temp.num_items, nullptr}
	{
	}

	piece
	as_piece(const Key *keys)
	{
		piece		ours;

		ours.prepare = [this, keys] {
			REQUIRE_CUDA(cudaMemcpyAsync(regions[0].data, keys, request.num_items * sizeof(Key), cudaMemcpyDeviceToDevice));
		};
		ours.run = [this] {
			REQUIRE_CUDA(mgpu_launch_segmented_sort(&request));
		};
		return ours;
	}
};

template <typename Key>
static piece
copy_piece(const device_items<Key> &from, const device_items<Key> &to)
{
	piece		copy;

	copy.run = [&from, &to] {
		REQUIRE_CUDA(cudaMemcpyAsync(to.data, from.data, from.num_items * sizeof(Key), cudaMemcpyDeviceToDevice));
	};
	return copy;
}

/* A rival, its temporary memory found out first: call(temp, bytes). */
template <typename Call>
static piece
rival_piece(device_items<char> &temp, size_t bytes, Call call)
{
	piece		rival;

	rival.run = [&temp, bytes, call] {
		size_t		given = bytes;

		REQUIRE_CUDA(call(temp.data, given));
	};
	return rival;
}

template <typename Call>
static size_t
rival_bytes(Call call)
{
	size_t		bytes = 0;

	REQUIRE_CUDA(call(nullptr, bytes));
	return bytes;
}

template <typename Key>
static void
bench_segments(const std::string &name, uint64_t num_items, const segments &cut)
{
	if (is_left_out(name))
		return;

	device_items<Key> keys(num_items);
	device_items<Key> out(num_items);
	our_sort<Key> ours(sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32, num_items, cut.offsets.data, cut.num_segments);
	int64_t		num_segments = (int64_t) cut.num_segments;
	auto		sort = [&] (void *temp, size_t &bytes) {
		return cub::DeviceSegmentedSort::SortKeys(temp, bytes, keys.data, out.data, (int64_t) num_items, num_segments,
												  cut.offsets.data, cut.offsets.data + 1);
	};
	auto		radix = [&] (void *temp, size_t &bytes) {
		return cub::DeviceSegmentedRadixSort::SortKeys(temp, bytes, keys.data, out.data, (int64_t) num_items,
													   num_segments, cut.offsets.data, cut.offsets.data + 1);
	};
	size_t		sort_bytes = rival_bytes(sort);
	size_t		radix_bytes = rival_bytes(radix);
	device_items<char> temp(std::max(sort_bytes, radix_bytes));

	fill_keys<<<ctas(num_items), THREADS>>>(keys.data, num_items, ORDER_RANDOM, 0);
	REQUIRE_CUDA(cudaGetLastError());

	std::vector<piece> pieces = {copy_piece(keys, out), ours.as_piece(keys.data), rival_piece(temp, sort_bytes, sort),
	rival_piece(temp, radix_bytes, radix)};

	if (one_rival)
		pieces[3].run = nullptr;
	time_pieces(pieces);
	pieces[2].run();
	require_equal(ours.regions[0].data, out.data, num_items * sizeof(Key), name.c_str());
	report(name, num_items, cut.num_segments, pieces, {"segmented sort", "segmented radix"}, passes_worth(ours.stats.data));
}

/* 4-byte keys with their indices. */
static void
bench_segment_pairs(const std::string &name, uint64_t num_items, const segments &cut)
{
	if (is_left_out(name))
		return;

	device_items<uint32_t> keys(num_items);
	device_items<uint32_t> out(num_items);
	device_items<uint32_t> indices(num_items);
	device_items<uint32_t> out_indices(num_items);
	our_sort<uint32_t> ours(MGPU_SHAPE_U32_INDEX, num_items, cut.offsets.data, cut.num_segments);
	int64_t		num_segments = (int64_t) cut.num_segments;
	auto		sort = [&] (void *temp, size_t &bytes) {
		return cub::DeviceSegmentedSort::StableSortPairs(temp, bytes, keys.data, out.data, indices.data,
														 out_indices.data, (int64_t) num_items, num_segments,
														 cut.offsets.data, cut.offsets.data + 1);
	};
	size_t		sort_bytes = rival_bytes(sort);
	device_items<char> temp(sort_bytes);

	fill_keys<<<ctas(num_items), THREADS>>>(keys.data, num_items, ORDER_RANDOM, 0);
	REQUIRE_CUDA(mgpu_launch_iota(indices.data, num_items, nullptr));

	std::vector<piece> pieces = {copy_piece(keys, out), ours.as_piece(keys.data), rival_piece(temp, sort_bytes, sort)};

	time_pieces(pieces);
	pieces[1].prepare();
	pieces[1].run();
	pieces[2].run();
	require_equal(ours.regions[0].data, out.data, num_items * 4, name.c_str());
	require_equal(ours.regions[0].data + mgpu_segmented_index_offset(MGPU_SHAPE_U32_INDEX, num_items), out_indices.data,
				  num_items * 4, name.c_str());
	report(name, num_items, cut.num_segments, pieces, {"segmented sort"}, passes_worth(ours.stats.data));
}

/* The same as a plain sort's request. */
template <typename Key>
static mgpu_sort_request
make_plain_request(our_sort<Key> &ours)
{
	mgpu_segmented_request &request = ours.request;
	uint64_t	index_offset = mgpu_segmented_index_offset(request.shape, request.num_items);
	bool		indexed = request.shape == MGPU_SHAPE_U32_INDEX || request.shape == MGPU_SHAPE_U64_INDEX;
	mgpu_sort_request sort = {};

	for (int side = 0; side < 2; side++)
	{
		sort.keys[side] = request.regions[side];
		if (indexed)
			sort.indices[side] = reinterpret_cast<uint32_t *>(static_cast<char *>(request.regions[side]) + index_offset);
	}
	sort.key_bits = sizeof(Key) * 8;
	sort.has_regions = true;
	sort.num_items = request.num_items;
	sort.temp = ours.sort_temp.data;
	sort.temp_bytes = ours.sort_temp.num_items;
	return sort;
}

template <typename Key>
static void
bench_locality(const std::string &name, mgpu_sort_shape shape, uint64_t num_items, int order, uint64_t distance)
{
	if (is_left_out(name))
		return;

	bool		indexed = shape == MGPU_SHAPE_U32_INDEX || shape == MGPU_SHAPE_U64_INDEX;
	device_items<Key> keys(num_items);
	device_items<Key> out(num_items);
	device_items<uint32_t> indices(indexed ? num_items : 0);
	device_items<uint32_t> out_indices(indexed ? num_items : 0);
	our_sort<Key> ours(shape, num_items, nullptr, 0);
	/* keys as fresh in the cache as ours are */
	Key		   *fresh_keys = reinterpret_cast<Key *>(ours.regions[0].data);
	auto		radix = [&] (void *temp, size_t &bytes) {
		return indexed ? cub::DeviceRadixSort::SortPairs(temp, bytes, fresh_keys, out.data, indices.data,
														 out_indices.data, (int64_t) num_items) :
			cub::DeviceRadixSort::SortKeys(temp, bytes, fresh_keys, out.data, (int64_t) num_items);
	};
	size_t		radix_bytes = rival_bytes(radix);
	device_items<char> temp(radix_bytes);
	mgpu_cost_estimate estimate = {};
	mgpu_sort_request sorted = make_plain_request(ours);
	mgpu_algorithm ran = MGPU_ALGORITHM_AUTO;

	fill_keys<<<ctas(num_items), THREADS>>>(keys.data, num_items, order, distance);
	REQUIRE_CUDA(cudaGetLastError());
	if (indexed)
		REQUIRE_CUDA(mgpu_launch_iota(indices.data, num_items, nullptr));

	std::vector<piece> pieces = {copy_piece(keys, out), ours.as_piece(keys.data), rival_piece(temp, radix_bytes, radix),
	ours.as_piece(keys.data), ours.as_piece(keys.data)};
	double		passes;

	pieces[2].prepare = pieces[1].prepare;
	pieces[1].run = [&] {
		sorted = make_plain_request(ours);
		REQUIRE_CUDA(mgpu_auto_sort(shape, &sorted, sizeof(Key), &ran));
	};
	pieces[4].run = [&] {
		mgpu_sort_request merged = make_plain_request(ours);

		REQUIRE_CUDA(mgpu_find_sorter(MGPU_ALGORITHM_MERGE, shape)->sort(&merged));
	};
	time_pieces(pieces);
	passes = passes_worth(ours.stats.data);
	pieces[1].prepare();
	REQUIRE_CUDA(mgpu_estimate_costs(&ours.request, sizeof(Key) * 8, &estimate));
	pieces[2].run();
	pieces[1].run();
	REQUIRE_CUDA(cudaDeviceSynchronize());
	ran = mgpu_auto_ran(&sorted.pending, ran);
	require_equal(sorted.keys[sorted.current], out.data, num_items * sizeof(Key), name.c_str());
	if (indexed)
		require_equal(sorted.indices[sorted.current], out_indices.data, num_items * 4, name.c_str());
	report(name, num_items, 0, pieces, {"radix sort"}, passes);
	printf("%36s ran: %s; locality sort's passes %.3f ms (predicted %.3f, of %.2f passes), merge sort %.3f ms (%.3f), "
		   "radix sort of %u bits predicted %.3f ms\n", "", ran == MGPU_ALGORITHM_LOCALITY ? "locality" :
		   ran == MGPU_ALGORITHM_RADIX ? "radix sort" : "merge sort", pieces[3].median(), estimate.locality_ms,
		   estimate.passes, pieces[4].median(), estimate.merge_ms, estimate.key_bits, estimate.radix_ms);
	fflush(stdout);
}

/* What MGPU_LOCALITY_COSTS should be. */
template <typename Key>
static void
bench_orders(const std::string &name, mgpu_sort_shape shape, uint64_t num_items)
{
	bench_locality<Key>(name + ", sorted", shape, num_items, ORDER_SORTED, 0);
	bench_locality<Key>(name + ", reversed", shape, num_items, ORDER_REVERSED, 0);
	for (uint64_t distance = 100; distance <= num_items; distance *= 10)
		bench_locality<Key>(name + ", within " + std::to_string(distance), shape, num_items, ORDER_NEAR, distance);
	for (uint64_t distance : {100, 10000})
		bench_locality<Key>(name + ", wide, within " + std::to_string(distance), shape, num_items, ORDER_WIDE, distance);
	bench_locality<Key>(name + ", random", shape, num_items, ORDER_RANDOM, 0);
}

static void
bench_hand_over(uint64_t num_items)
{
	bench_orders<uint32_t>("int4", MGPU_SHAPE_U32, num_items);
	bench_orders<uint64_t>("int8", MGPU_SHAPE_U64, num_items);
	bench_orders<uint32_t>("int4 with indices", MGPU_SHAPE_U32_INDEX, num_items);
	bench_orders<uint64_t>("int8 with indices", MGPU_SHAPE_U64_INDEX, num_items);
}

/* Segments of one mean; all shapes, or those of the table. */
static void
bench_mean(uint64_t num_items, uint32_t mean, bool all_shapes)
{
	segments	cut(num_items, mean);
	std::string name = "mean " + std::to_string(mean);

	bench_segments<uint32_t>("int4, " + name, num_items, cut);
	if (all_shapes)
	{
		bench_segments<uint64_t>("int8, " + name, num_items, cut);
		bench_segment_pairs("int4 with indices, " + name, num_items, cut);
	}
}

static void
bench_all(uint64_t num_items)
{
	for (uint32_t mean : {1, 10, 30, 100, 300, 1000, 10000, 100000, 1000000})
		bench_mean(num_items, mean, mean == 10 || mean == 100 || mean == 10000);

	segments	power_law(num_items);

	bench_segments<uint32_t>("int4, power law", num_items, power_law);
	bench_locality<uint32_t>("int4, sorted", MGPU_SHAPE_U32, num_items, ORDER_SORTED, 0);
	for (uint64_t distance : {100, 10000, 1000000})
		bench_locality<uint32_t>("int4, within " + std::to_string(distance), MGPU_SHAPE_U32, num_items, ORDER_NEAR, distance);
	bench_locality<uint32_t>("int4, reversed", MGPU_SHAPE_U32, num_items, ORDER_REVERSED, 0);
	bench_locality<uint32_t>("int4, random", MGPU_SHAPE_U32, num_items, ORDER_RANDOM, 0);
	bench_locality<uint64_t>("int8, within 100", MGPU_SHAPE_U64, num_items, ORDER_NEAR, 100);
}

int
main(int argc, char **argv)
{
	uint64_t	only_items = 0;
	uint32_t	only_mean = 0;
	bool		locality = false;
	int			num_devices = 0;
	cudaError_t status;

	for (int i = 1; i < argc; i++)
	{
		if (i + 1 < argc && strcmp(argv[i], "--items") == 0)
			only_items = strtoull(argv[++i], nullptr, 10);
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
	REQUIRE_CUDA(cudaEventCreate(&begin_event));
	REQUIRE_CUDA(cudaEventCreate(&end_event));
	if (csv != nullptr)
		fprintf(csv, "case,items,segments,ms,gkeys_per_s,copy_ms,passes,rival_1_ms,rival_2_ms,best_rival_ratio\n");
	if (locality)
	{
		for (uint64_t num_items : {UINT64_C(1000000), UINT64_C(10000000), UINT64_C(100000000)})
		{
			if (only_items == 0)
				bench_hand_over(num_items);
			else if (num_items == UINT64_C(1000000))
				bench_hand_over(only_items);	/* once, with the number given */
		}
	}
	else
	{
		for (uint64_t num_items : {UINT64_C(1000000), UINT64_C(10000000), UINT64_C(100000000)})
		{
			if (only_items != 0 && num_items != UINT64_C(1000000))
				continue;			/* once, with the number given */
			if (only_mean != 0)
				bench_mean(only_items != 0 ? only_items : num_items, only_mean, true);
			else
				bench_all(only_items != 0 ? only_items : num_items);
		}
	}
	if (csv != nullptr)
		fclose(csv);
	return 0;
}

/*
 * kernel_ops_bench.cu
 *		Merge, bulk remove, bulk insert and the odd-even network against others.
 *
 *	kernel_ops_bench [--items N] [--rounds N] [--only TEXT] [--csv FILE]
 *
 * Each case is timed in turn with its rival and with a device copy of as many
 * bytes, all in one run, and every figure is a median: ms, GB/s of the bytes
 * that the work cannot do without, their share of the copy's, and the rival's
 * time as a multiple.  Rivals are cub::DeviceMerge, cub::DeviceSelect::Flagged
 * and a network of one launch a stride; an insert has none.  Both write to the
 * same place; then each runs once more, and the results are compared byte by
 * byte.  --only takes the cases whose names hold TEXT.
 *
 * Whoever runs second on the same data would find part of it in the cache: at
 * 10M items all of it.  So a kernel that reads something else, more than the
 * cache holds, runs before every timing and is not part of it.  It also gives
 * the host time to enqueue the work: launches cost what they cost the device.
 */
#include <cuda_runtime.h>

#include <cub/device/device_merge.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "kernel_bench_device.cuh"
#include "merge/ops.h"

#define EVICTED_BYTES (UINT64_C(256) << 20)

static int	rounds = 15;
static const char *only = "";
static FILE *csv = nullptr;
static cudaEvent_t begin_event;
static cudaEvent_t end_event;
static char *copy_from;
static char *copy_to;
static uint64_t copy_capacity;

typedef std::function<void ()> work;

/* ------------------------------------------------------------------ helpers */

template <typename Item>
static __global__ void
fill_random(Item *items, uint64_t num_items, uint64_t seed)
{
	uint64_t	item = (uint64_t) blockIdx.x * THREADS + threadIdx.x;

	if (item < num_items)
	{
		uint64_t	bits = mix(item + seed * UINT64_C(0x9E3779B97F4A7C15));

		/* whole numbers, so that floats have their share of everything but NaN */
		items[item] = (Item) (int64_t) (sizeof(Item) == 4 ? (int32_t) bits : (int64_t) bits);
	}
}

/* removed: 1 for one item in one_in; flags: 1 for the rest. */
static __global__ void
fill_flags(uint8_t *flags, uint8_t *removed, uint64_t num_items, uint32_t one_in)
{
	uint64_t	item = (uint64_t) blockIdx.x * THREADS + threadIdx.x;

	if (item < num_items)
	{
		removed[item] = mix(item) % one_in == 0;
		flags[item] = !removed[item];
	}
}

static __global__ void
count_differences(const uint8_t *first, const uint8_t *second, uint64_t bytes, unsigned long long *count)
{
	uint64_t	byte = (uint64_t) blockIdx.x * THREADS + threadIdx.x;

	if (byte < bytes && first[byte] != second[byte])
		atomicAdd(count, 1ull);
}

static void
require_equal(const void *first, const void *second, uint64_t bytes, const char *what)
{
	device_items<unsigned long long> count(1);
	unsigned long long differences;

	REQUIRE_CUDA(cudaMemset(count.data, 0, sizeof(differences)));
	count_differences<<<ctas(bytes), THREADS>>>(static_cast<const uint8_t *>(first),
												static_cast<const uint8_t *>(second), bytes, count.data);
	REQUIRE_CUDA(cudaMemcpy(&differences, count.data, sizeof(differences), cudaMemcpyDeviceToHost));
	if (differences != 0)
	{
		fprintf(stderr, "%s: %llu bytes differ\n", what, differences);
		exit(1);
	}
}

/* Keys that agree in one bit: of lists that do not agree in it, runs lie behind each other. */
template <typename Item>
static __global__ void
set_bit(Item *items, uint64_t num_items, Item bit, bool set)
{
	uint64_t	item = (uint64_t) blockIdx.x * THREADS + threadIdx.x;

	if (item < num_items)
		items[item] = set ? items[item] | bit : items[item] & ~bit;
}

/* Random items, sorted if so asked; bit 0: all of them. */
template <typename Item>
static void
make_items(device_items<Item> &items, uint64_t seed, bool sorted, uint64_t bit = 0)
{
	device_items<Item> unsorted(items.num_items);
	size_t		bytes = 0;

	fill_random<<<ctas(items.num_items), THREADS>>>(sorted ? unsorted.data : items.data, items.num_items, seed);
	REQUIRE_CUDA(cudaGetLastError());
	if constexpr (std::is_integral<Item>::value)
	{
		if (bit != 0)
			set_bit<<<ctas(items.num_items), THREADS>>>(unsorted.data, items.num_items, (Item) bit, seed % 2 == 0);
		REQUIRE_CUDA(cudaGetLastError());
	}
	if (!sorted)
		return;
	REQUIRE_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, bytes, unsorted.data, items.data, (int64_t) items.num_items));

	device_items<char> temp(bytes);

	REQUIRE_CUDA(cub::DeviceRadixSort::SortKeys(temp.data, bytes, unsorted.data, items.data, (int64_t) items.num_items));
	REQUIRE_CUDA(cudaDeviceSynchronize());
}

/* Read all of it; the sum is stored only where it is what no caller's bytes come to. */
static __global__ void
read_all(const uint4 *vectors, uint64_t num_vectors, uint32_t *sum_out)
{
	uint32_t	sum = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * THREADS + threadIdx.x; i < num_vectors;
		 i += (uint64_t) gridDim.x * THREADS)
		sum |= vectors[i].x ^ vectors[i].y ^ vectors[i].z ^ vectors[i].w;
	if (sum != 0)
		*sum_out = sum;
}

static double
time_once(const work &piece)
{
	float		milliseconds;

	read_all<<<1024, THREADS>>>(reinterpret_cast<const uint4 *>(copy_from), EVICTED_BYTES / sizeof(uint4),
								reinterpret_cast<uint32_t *>(copy_to));
	REQUIRE_CUDA(cudaEventRecord(begin_event));
	piece();
	REQUIRE_CUDA(cudaEventRecord(end_event));
	REQUIRE_CUDA(cudaEventSynchronize(end_event));
	REQUIRE_CUDA(cudaEventElapsedTime(&milliseconds, begin_event, end_event));
	return milliseconds;
}

static double
median(std::vector<double> times)
{
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

/* Time ours and the rival in turn; rival may be empty. */
static void
report(const std::string &name, uint64_t num_items, uint64_t bytes, const work &ours, const work &rival)
{
	uint64_t	half = std::min(bytes / 2, copy_capacity);
	std::vector<double> times[3];
	double		medians[3] = {0, 0, 0};
	const work	pieces[3] = {
		[half] { REQUIRE_CUDA(cudaMemcpyAsync(copy_to, copy_from, half, cudaMemcpyDeviceToDevice)); }, ours, rival
	};

	for (int round = -2; round < rounds; round++)
		for (int piece = 0; piece < 3; piece++)
			if (pieces[piece])
			{
				double		milliseconds = time_once(pieces[piece]);

				if (round >= 0)
					times[piece].push_back(milliseconds);
			}
	for (int piece = 0; piece < 3; piece++)
		if (!times[piece].empty())
			medians[piece] = median(times[piece]);

	double		copy_rate = half * 2 / medians[0] / 1e6;
	double		rate = bytes / medians[1] / 1e6;

	printf("%-40s %9llu %8.4f ms %5.0f GB/s %5.1f %% of copy", name.c_str(), (unsigned long long) num_items,
		   medians[1], rate, rate / copy_rate * 100);
	if (rival)
		printf("  rival %8.4f ms  x %.2f", medians[2], medians[2] / medians[1]);
	printf("\n");
	fflush(stdout);
	if (csv != nullptr)
		fprintf(csv, "\"%s\",%llu,%.5f,%.1f,%.4f,%.5f,%.4f\n", name.c_str(), (unsigned long long) num_items,
				medians[1], rate, rate / copy_rate, medians[2], medians[2] / medians[1]);
}

static bool
is_left_out(const char *name)
{
	return strstr(name, only) == nullptr;
}

/* -------------------------------------------------------------------- merge */

template <typename Key, typename Value>
static void
bench_merge(const char *name, uint32_t kind, uint64_t num_a_items, uint64_t num_b_items, bool pairs, uint64_t bit = 0)
{
	if (is_left_out(name))
		return;

	uint64_t	num_items = num_a_items + num_b_items;
	uint64_t	values = pairs ? num_items : 0;
	uint64_t	bytes = 2 * (num_items * sizeof(Key) + values * sizeof(Value));
	device_items<Key> a(num_a_items);
	device_items<Key> b(num_b_items);
	device_items<Key> out(num_items);
	device_items<Key> rival_out(num_items);
	device_items<Value> in_values(values);
	device_items<Value> out_values(values);
	device_items<Value> rival_values(values);
	device_items<mgpu_order_check> check(1);
	device_items<char> temp(mgpu_merge_temp_bytes(sizeof(Key), pairs ? sizeof(Value) : 0, num_a_items, num_b_items));
	const Value *b_values = in_values.data + (pairs ? num_a_items : 0);
	mgpu_merge_request request = {{kind, sizeof(Key), 0}, pairs ? (uint32_t) sizeof(Value) : 0, a.data, b.data,
		out.data, in_values.data, b_values, out_values.data, num_a_items, num_b_items, check.data, temp.data, nullptr};
	size_t		cub_bytes = 0;

	make_items(a, 1, true, bit);
	make_items(b, 2, true, bit);
	if (pairs)
		make_items(in_values, 3, false);
	REQUIRE_CUDA(cudaMemset(check.data, 0xFF, sizeof(mgpu_order_check)));
	if (pairs)
		REQUIRE_CUDA(cub::DeviceMerge::MergePairs(nullptr, cub_bytes, a.data, in_values.data, (int64_t) num_a_items, b.data,
												  b_values, (int64_t) num_b_items, rival_out.data, rival_values.data));
	else
		REQUIRE_CUDA(cub::DeviceMerge::MergeKeys(nullptr, cub_bytes, a.data, (int64_t) num_a_items, b.data,
												 (int64_t) num_b_items, rival_out.data));

	device_items<char> cub_temp(cub_bytes);

	auto		rival = [&] (Key *to, Value *values_to) {
		if (pairs)
			REQUIRE_CUDA(cub::DeviceMerge::MergePairs(cub_temp.data, cub_bytes, a.data, in_values.data, (int64_t) num_a_items,
													  b.data, b_values, (int64_t) num_b_items, to, values_to));
		else
			REQUIRE_CUDA(cub::DeviceMerge::MergeKeys(cub_temp.data, cub_bytes, a.data, (int64_t) num_a_items, b.data,
													 (int64_t) num_b_items, to));
	};

	report(name, num_items, bytes, [&] { REQUIRE_CUDA(mgpu_launch_merge(&request)); },
		   [&] { rival(out.data, out_values.data); });
	rival(rival_out.data, rival_values.data);
	REQUIRE_CUDA(mgpu_launch_merge(&request));
	require_equal(out.data, rival_out.data, num_items * sizeof(Key), name);
	if (pairs)
		require_equal(out_values.data, rival_values.data, values * sizeof(Value), name);

	mgpu_order_check found;

	REQUIRE_CUDA(cudaMemcpy(&found, check.data, sizeof(found), cudaMemcpyDeviceToHost));
	if (found.suspect != UINT64_MAX)
	{
		fprintf(stderr, "%s: sorted input reported as unsorted\n", name);
		exit(1);
	}
}

/* --------------------------------------------------- bulk remove and insert */

/* The places of non-zero flags. */
static uint64_t
select_places(device_items<uint32_t> &places, const uint8_t *flags, uint64_t num_items)
{
	device_items<uint64_t> count(1);
	size_t		bytes = 0;
	uint64_t	num_places;
	thrust::counting_iterator<uint32_t> numbers(0);

	REQUIRE_CUDA(cub::DeviceSelect::Flagged(nullptr, bytes, numbers, flags, places.data, count.data,
											(int64_t) num_items));

	device_items<char> temp(bytes);

	REQUIRE_CUDA(cub::DeviceSelect::Flagged(temp.data, bytes, numbers, flags, places.data, count.data,
											(int64_t) num_items));
	REQUIRE_CUDA(cudaMemcpy(&num_places, count.data, sizeof(num_places), cudaMemcpyDeviceToHost));
	return num_places;
}

/* Remove one item in one_in; items of a size CUB moves as they are. */
template <typename Item, typename Filler>
static void
bench_remove(const char *name, uint64_t num_items, uint32_t one_in)
{
	if (is_left_out(name))
		return;

	device_items<Item> items(num_items);
	device_items<Item> out(num_items);
	device_items<Item> rival_out(num_items);
	device_items<uint8_t> flags(num_items);
	device_items<uint8_t> removed(num_items);
	device_items<uint32_t> positions(num_items);
	device_items<uint64_t> count(1);
	device_items<Filler> filler(num_items * sizeof(Item) / sizeof(Filler));
	size_t		cub_bytes = 0;
	uint64_t	num_positions;

	make_items(filler, 5, false);
	REQUIRE_CUDA(cudaMemcpy(items.data, filler.data, num_items * sizeof(Item), cudaMemcpyDeviceToDevice));
	fill_flags<<<ctas(num_items), THREADS>>>(flags.data, removed.data, num_items, one_in);
	num_positions = select_places(positions, removed.data, num_items);
	REQUIRE_CUDA(cub::DeviceSelect::Flagged(nullptr, cub_bytes, items.data, flags.data, rival_out.data, count.data,
											(int64_t) num_items));

	uint64_t	bytes = (2 * num_items - num_positions) * sizeof(Item) + num_positions * sizeof(uint32_t);
	device_items<char> cub_temp(cub_bytes);
	device_items<char> temp(mgpu_remove_temp_bytes(sizeof(Item), num_items, num_positions));
	mgpu_bulk_request request = {sizeof(Item), items.data, num_items, positions.data, num_positions, nullptr, out.data,
	temp.data, nullptr};
	auto		rival = [&] (Item *to) {
		REQUIRE_CUDA(cub::DeviceSelect::Flagged(cub_temp.data, cub_bytes, items.data, flags.data, to, count.data,
												(int64_t) num_items));
	};

	report(name, num_items, bytes, [&] { REQUIRE_CUDA(mgpu_launch_remove(&request)); }, [&] { rival(out.data); });
	rival(rival_out.data);
	REQUIRE_CUDA(mgpu_launch_remove(&request));
	require_equal(out.data, rival_out.data, (num_items - num_positions) * sizeof(Item), name);
}

/* Insert one item for every one_in, or all of them at one position. */
template <typename Item, typename Filler>
static void
bench_insert(const char *name, uint64_t num_items, uint32_t one_in, bool one_position)
{
	if (is_left_out(name))
		return;

	device_items<uint8_t> flags(num_items);
	device_items<uint8_t> removed(num_items);
	device_items<uint32_t> positions(num_items);
	uint64_t	num_positions;

	fill_flags<<<ctas(num_items), THREADS>>>(flags.data, removed.data, num_items, one_in);
	num_positions = select_places(positions, removed.data, num_items);
	if (one_position)
	{
		std::vector<uint32_t> same(num_positions, (uint32_t) (num_items / 2));

		REQUIRE_CUDA(cudaMemcpy(positions.data, same.data(), num_positions * 4, cudaMemcpyHostToDevice));
	}

	uint64_t	num_out = num_items + num_positions;
	uint64_t	bytes = 2 * num_out * sizeof(Item) + num_positions * sizeof(uint32_t);
	device_items<Item> items(num_items);
	device_items<Item> inserted(num_positions);
	device_items<Item> out(num_out);
	device_items<char> temp(mgpu_insert_temp_bytes(sizeof(Item), num_items, num_positions));
	mgpu_bulk_request request = {sizeof(Item), items.data, num_items, positions.data, num_positions, inserted.data,
	out.data, temp.data, nullptr};
	device_items<Filler> filler(num_items * sizeof(Item) / sizeof(Filler));

	make_items(filler, 7, false);
	REQUIRE_CUDA(cudaMemcpy(items.data, filler.data, num_items * sizeof(Item), cudaMemcpyDeviceToDevice));
	REQUIRE_CUDA(cudaMemcpy(inserted.data, filler.data, num_positions * sizeof(Item), cudaMemcpyDeviceToDevice));
	report(name, num_out, bytes, [&] { REQUIRE_CUDA(mgpu_launch_insert(&request)); }, work());
}

/* ----------------------------------------------------------------- odd-even */

/* The plain network: one launch a stride, one thread an index. */
template <typename Key>
static __global__ void
plain_stride(Key *keys, uint64_t num_items, uint64_t size, uint64_t stride)
{
	uint64_t	left = (uint64_t) blockIdx.x * THREADS + threadIdx.x;
	uint64_t	right = left + stride;
	uint64_t	q = (left & (size - 1)) / stride;
	bool		paired = 2 * stride == size ? q % 2 == 0 : q % 2 == 1 && q != size / stride - 1;

	if (paired && right < num_items)
	{
		Key			left_key = keys[left];
		Key			right_key = keys[right];

		if (right_key < left_key)
		{
			keys[left] = right_key;
			keys[right] = left_key;
		}
	}
}

template <typename Key>
static void
bench_odd_even(const char *name, uint64_t num_items)
{
	if (is_left_out(name))
		return;

	device_items<Key> keys(num_items);
	device_items<Key> first(num_items);
	device_items<Key> second(num_items);
	device_items<Key> plain(num_items);
	mgpu_odd_even_request request = {sizeof(Key), {first.data, second.data}, 0, num_items, nullptr};
	int			saved_rounds = rounds;

	make_items(keys, 11, false);
	rounds = 3;
	/* both copy their input first: a copy's time is part of either figure */
	report(name, num_items, 2 * num_items * sizeof(Key),
		   [&] {
			   request.current = 0;
			   REQUIRE_CUDA(cudaMemcpyAsync(first.data, keys.data, num_items * sizeof(Key), cudaMemcpyDeviceToDevice));
			   REQUIRE_CUDA(mgpu_launch_odd_even_sort(&request));
		   },
		   [&] {
			   REQUIRE_CUDA(cudaMemcpyAsync(plain.data, keys.data, num_items * sizeof(Key), cudaMemcpyDeviceToDevice));
			   for (uint64_t size = 2; size / 2 < num_items; size *= 2)
				   for (uint64_t stride = size / 2; stride >= 1; stride /= 2)
					   plain_stride<<<ctas(num_items), THREADS>>>(plain.data, num_items, size, stride);
			   REQUIRE_CUDA(cudaGetLastError());
		   });
	rounds = saved_rounds;
	require_equal(request.current == 0 ? first.data : second.data, plain.data, num_items * sizeof(Key), name);
}

static void
bench_all(uint64_t num_items)
{
	uint64_t	half = num_items / 2;

	bench_merge<int32_t, int32_t>("merge int4", MGPU_KEY_SIGNED, half, half, false);
	bench_merge<int64_t, int32_t>("merge int8", MGPU_KEY_SIGNED, half, half, false);
	bench_merge<float, int32_t>("merge float4", MGPU_KEY_FLOAT, half, half, false);
	bench_merge<double, int32_t>("merge float8", MGPU_KEY_FLOAT, half, half, false);
	bench_merge<int32_t, int32_t>("merge int4, 1 : n", MGPU_KEY_SIGNED, 1, num_items - 1, false);
	bench_merge<int32_t, int32_t>("merge int4, n : 1000", MGPU_KEY_SIGNED, num_items - 1000, 1000, false);
	bench_merge<int32_t, int32_t>("merge int4, n : n / 100", MGPU_KEY_SIGNED, num_items - num_items / 100, num_items / 100, false);
	bench_merge<int32_t, int32_t>("merge int4, runs of 1/2048", MGPU_KEY_SIGNED, half, half, false, UINT64_C(1) << 20);
	bench_merge<int32_t, int32_t>("merge int4 with int4", MGPU_KEY_SIGNED, half, half, true);
	bench_merge<int32_t, int64_t>("merge int4 with int8", MGPU_KEY_SIGNED, half, half, true);
	bench_merge<int64_t, int64_t>("merge int8 with int8", MGPU_KEY_SIGNED, half, half, true);
	bench_remove<uint8_t, int32_t>("remove 1 in 3, width 1", num_items, 3);
	bench_remove<uint16_t, int32_t>("remove 1 in 3, width 2", num_items, 3);
	bench_remove<uint32_t, int32_t>("remove 1 in 3, width 4", num_items, 3);
	bench_remove<uint32_t, int32_t>("remove 1 in 100, width 4", num_items, 100);
	bench_remove<uint64_t, int32_t>("remove 1 in 3, width 8", num_items, 3);
	bench_remove<uint4, int32_t>("remove 1 in 3, width 16", num_items, 3);
	bench_insert<uint8_t, int32_t>("insert 1 for 3, width 1", num_items, 3, false);
	bench_insert<uint16_t, int32_t>("insert 1 for 3, width 2", num_items, 3, false);
	bench_insert<uint32_t, int32_t>("insert 1 for 3, width 4", num_items, 3, false);
	bench_insert<uint32_t, int32_t>("insert 1 for 10 at one position, width 4", num_items, 10, true);
	bench_insert<uint64_t, int32_t>("insert 1 for 3, width 8", num_items, 3, false);
	bench_insert<uint4, int32_t>("insert 1 for 3, width 16", num_items, 3, false);
	bench_odd_even<uint32_t>("odd-even sort, 4 bytes", num_items);
	bench_odd_even<uint64_t>("odd-even sort, 8 bytes", num_items);
}

int
main(int argc, char **argv)
{
	uint64_t	only_items = 0;
	int			num_devices = 0;
	cudaError_t status;

	for (int i = 1; i < argc; i++)
	{
		if (i + 1 < argc && strcmp(argv[i], "--items") == 0)
			only_items = strtoull(argv[++i], nullptr, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0)
			rounds = std::max(1, atoi(argv[++i]));
		else if (i + 1 < argc && strcmp(argv[i], "--only") == 0)
			only = argv[++i];
		else if (i + 1 < argc && strcmp(argv[i], "--csv") == 0)
			csv = fopen(argv[++i], "w");
		else
		{
			fprintf(stderr, "usage: kernel_ops_bench [--items N] [--rounds N] [--only TEXT] [--csv FILE]\n");
			return 2;
		}
	}
	if (only_items != 0 && only_items < 2000)
	{
		fprintf(stderr, "kernel_ops_bench: at least 2000 items\n");
		return 2;
	}
	status = cudaGetDeviceCount(&num_devices);
	if (status != cudaSuccess || num_devices == 0)
	{
		printf("no usable GPU: %s\n", status != cudaSuccess ? cudaGetErrorString(status) : "no device");
		return 77;
	}
	copy_capacity = UINT64_C(4) << 30;
	REQUIRE_CUDA(cudaEventCreate(&begin_event));
	REQUIRE_CUDA(cudaEventCreate(&end_event));
	REQUIRE_CUDA(cudaMalloc(&copy_from, copy_capacity));
	REQUIRE_CUDA(cudaMalloc(&copy_to, copy_capacity));
	REQUIRE_CUDA(cudaMemset(copy_from, 0x5A, copy_capacity));
	if (csv != nullptr)
		fprintf(csv, "case,items,ms,gb_per_s,share_of_copy,rival_ms,rival_ratio\n");
	if (only_items != 0)
		bench_all(only_items);
	else
	{
		for (uint64_t num_items : {UINT64_C(1000000), UINT64_C(10000000), UINT64_C(100000000)})
			bench_all(num_items);
	}
	if (csv != nullptr)
		fclose(csv);
	return 0;
}

/*
 * kernel_segmented_test.cu
 *		Tests of the segmented sort and the locality sort.
 *
 *	kernel_segmented_test [--quick | --tiny] [--clean] [--own]
 *
 * First all steps on the host (kernel_segmented_host.cu), then the kernels
 * against std::stable_sort inside segments, in memory that is poisoned and
 * between bytes that nobody may touch, with the counts of every pass.  --quick
 * runs a set small enough for compute-sanitizer's memcheck and synccheck.  --tiny
 * is for its racecheck and initcheck, under which a kernel takes a thousand times
 * as long: every kernel on two or three sort tiles, and nothing on the host.
 * --clean and --own are taken for kernel_test's sake and change nothing: no error
 * is made on purpose here, and no kernel is CUB's.  Exits with 0 when all passed, 1
 * when something failed and 77 where there is no GPU and the host's checks passed.
 */
#include "kernel_segmented_test.cuh"

#include "require_cuda.cuh"
#include "segmented/segmented_sort.cuh"

#define CANARY 0xA5
#define CANARY_BYTES 1024

int			tests_passed = 0;
int			tests_failed = 0;
bool		quick = false;
static bool tiny = false;
std::mt19937_64 random_bits(20250119);

/* One array in device memory that all cases share, poisoned, with canaries around. */
struct device_array
{
	char	   *base = nullptr;
	char	   *data = nullptr;
	uint64_t	capacity = 0;
	uint64_t	bytes = 0;

	void
	reset(uint64_t new_bytes)
	{
		if (base == nullptr || new_bytes > capacity)
		{
			REQUIRE_CUDA(cudaFree(base));
			capacity = new_bytes;
			REQUIRE_CUDA(cudaMalloc((void **) &base, capacity + 2 * CANARY_BYTES));
			data = base + CANARY_BYTES;
		}
		bytes = new_bytes;
		REQUIRE_CUDA(cudaMemset(base, CANARY, bytes + 2 * CANARY_BYTES));
	}

	bool
	intact() const
	{
		std::vector<uint8_t> around(2 * CANARY_BYTES);

		REQUIRE_CUDA(cudaMemcpy(around.data(), base, CANARY_BYTES, cudaMemcpyDeviceToHost));
		REQUIRE_CUDA(cudaMemcpy(around.data() + CANARY_BYTES, data + bytes, CANARY_BYTES, cudaMemcpyDeviceToHost));
		return std::all_of(around.begin(), around.end(), [] (uint8_t byte) { return byte == CANARY; });
	}

	template <typename Item>
	std::vector<Item>
	download(uint64_t offset, uint64_t num_items) const
	{
		std::vector<Item> items(num_items);

		REQUIRE_CUDA(cudaMemcpy(items.data(), data + offset, num_items * sizeof(Item), cudaMemcpyDeviceToHost));
		return items;
	}
};

static device_array regions[2];
static device_array d_heads;
static device_array d_stats;
static device_array temp;

/* Tiles of a shape on this device: of the passes, and of a sort tile. */
struct shape_tiles
{
	uint32_t	tile_items;
	uint32_t	sort_tiles;
};

static shape_tiles
tiles_of(mgpu_sort_shape shape, uint64_t num_items, uint64_t num_segments)
{
	bool		segmented = num_segments > 1;
	bool		large;

	REQUIRE_CUDA(mgpu_is_large_device(&large));
	large = mgpu_takes_large_tiles(large, num_items, segmented ? num_segments : 1);
	switch (shape)
	{
		case MGPU_SHAPE_U32:
			return {segmented ? mgpu_segmented_u32::large::tile_items : mgpu_locality_u32::large::tile_items,
				large ? mgpu_segmented_u32::large::sort_tiles : mgpu_segmented_u32::small::sort_tiles};
		case MGPU_SHAPE_U64:
		case MGPU_SHAPE_U32_INDEX:
			return {mgpu_segmented_u64::large::tile_items,
				large ? mgpu_segmented_u64::large::sort_tiles : mgpu_segmented_u64::small::sort_tiles};
		default:
			return {mgpu_segmented_u128::large::tile_items, mgpu_segmented_u128::large::sort_tiles};
	}
}

/* Set up a request, with its keys and heads on the device. */
template <typename Key>
static mgpu_segmented_request
make_request(mgpu_sort_shape shape, const std::vector<uint32_t> &heads, const std::vector<Key> &keys)
{
	static int	current = 0;
	mgpu_segmented_request request = {};

	request.shape = shape;
	request.current = current ^= 1;
	request.num_items = keys.size();
	request.num_segments = heads.size();
	for (int i = 0; i < 2; i++)
	{
		regions[i].reset(mgpu_segmented_region_bytes(shape, keys.size()));
		request.regions[i] = regions[i].data;
	}
	temp.reset(mgpu_segmented_temp_bytes(shape, keys.size()));
	request.temp = temp.data;
	request.temp_bytes = temp.bytes;
	d_stats.reset(sizeof(mgpu_segmented_stats));
	request.stats = reinterpret_cast<mgpu_segmented_stats *>(d_stats.data);
	d_heads.reset(heads.size() * sizeof(uint32_t));
	REQUIRE_CUDA(cudaMemcpy(d_heads.data, heads.data(), d_heads.bytes, cudaMemcpyHostToDevice));
	request.segment_heads = heads.empty() ? nullptr : reinterpret_cast<const uint32_t *>(d_heads.data);
	REQUIRE_CUDA(cudaMemcpy(request.regions[request.current], keys.data(), keys.size() * sizeof(Key),
							cudaMemcpyHostToDevice));
	return request;
}

/* A case, the same for keys alone and with indices. */
template <typename Key>
struct sort_case
{
	int			segments;
	int			pattern;
	std::vector<uint32_t> heads;
	std::vector<Key> keys;
	std::vector<Key> sorted;
	std::vector<uint32_t> indices;
	uint64_t	most_items;		/* of a segment */

	sort_case(int segments_, int pattern_, uint64_t num_items, uint32_t tile_items)
		: segments(segments_), pattern(pattern_), heads(make_heads(segments_, num_items, tile_items)),
		keys(make_keys<Key>(pattern_, num_items, heads)), sorted(keys), most_items(num_items)
	{
		sort_segments(heads, sorted, &indices);
		if (!heads.empty())
			most_items = num_items - heads.back();
		for (size_t i = 0; i + 1 < heads.size(); i++)
			most_items = std::max<uint64_t>(most_items, heads[i + 1] - heads[i]);
	}
};

template <typename Key>
static void
check_sort(mgpu_sort_shape shape, const sort_case<Key> &sort)
{
	mgpu_segmented_request request = make_request(shape, sort.heads, sort.keys);
	const device_array &out = regions[request.current];
	uint64_t	num_items = request.num_items;
	shape_tiles tiles = tiles_of(shape, num_items, request.num_segments);
	bool		indexed = shape == MGPU_SHAPE_U32_INDEX || shape == MGPU_SHAPE_U64_INDEX;
	mgpu_segmented_stats stats;
	cudaError_t code;
	bool		equal;

	code = mgpu_launch_segmented_sort(&request);
	REQUIRE_CUDA(cudaDeviceSynchronize());
	REQUIRE_CUDA(code);
	equal = out.download<Key>(0, num_items) == sort.sorted;
	if (indexed)
		equal = out.download<uint32_t>(mgpu_segmented_index_offset(shape, num_items), num_items) == sort.indices && equal;
	expect(equal, "shape %d, %llu items, %s, %s", shape, (unsigned long long) num_items,
		   segment_pattern_name(sort.segments), key_pattern_name(sort.pattern));
	REQUIRE_CUDA(cudaMemcpy(&stats, d_stats.data, sizeof(stats), cudaMemcpyDeviceToHost));
	expect(stats_are_sound(stats, num_items, tiles.tile_items, sort.pattern == KEYS_SORTED) &&
		   stats_halve(stats, tiles.sort_tiles, sort.most_items, tiles.tile_items),
		   "statistics, shape %d, %llu items, %s, %s", shape, (unsigned long long) num_items,
		   segment_pattern_name(sort.segments), key_pattern_name(sort.pattern));
	expect(regions[0].intact() && regions[1].intact() && temp.intact() && d_heads.intact() && d_stats.intact() &&
		   d_heads.download<uint32_t>(0, sort.heads.size()) == sort.heads,
		   "memory of others was written: shape %d, %llu items, %s", shape, (unsigned long long) num_items,
		   segment_pattern_name(sort.segments));
}

template <typename Key>
static void
check_case(int segments, int pattern, uint64_t num_items)
{
	mgpu_sort_shape plain = sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32;
	mgpu_sort_shape indexed = sizeof(Key) == 8 ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U32_INDEX;
	sort_case<Key> sort(segments, pattern, num_items, tiles_of(plain, num_items, 2).tile_items);

	check_sort(plain, sort);
	check_sort(indexed, sort);
}

template <typename Key>
static void
check_cases()
{
	uint64_t	tile = tiles_of(sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32, 0, 2).tile_items;
	std::vector<uint64_t> sizes = {1, 2, 33, 1000, tile, 2 * tile - 1, 2 * tile, 2 * tile + 1, 4 * tile + 1, 9 * tile + 5};

	if (quick)
		sizes = {1, 33, 2 * tile + 1, 9 * tile + 5};
	else
		for (int i = 0; i < 6; i++)
			sizes.push_back(1 + random_below(40 * tile));
	for (uint64_t size : sizes)
		for (int segments = 0; segments < NUM_SEGMENT_PATTERNS; segments++)
		{
			for (int pattern : {KEYS_RANDOM, KEYS_SORTED, KEYS_LARGEST})
				if (!quick || pattern != KEYS_LARGEST)
					check_case<Key>(segments, pattern, size);
			check_case<Key>(segments, (int) random_below(NUM_KEY_PATTERNS), size);
			if (segments == SEGMENTS_NONE)
				for (int pattern = 0; pattern < NUM_KEY_PATTERNS; pattern++)
					check_case<Key>(segments, pattern, size);
		}
	if (quick)
	{
		check_case<Key>(SEGMENTS_POWER_LAW, KEYS_RANDOM, MGPU_SEGMENTED_LARGE_ITEMS + 12345);	/* in large tiles */
		return;
	}
	for (int segments = 0; segments < NUM_SEGMENT_PATTERNS; segments++)
		for (int pattern : {KEYS_RANDOM, KEYS_SORTED, KEYS_FEW, KEYS_NEAR_10000})
			check_case<Key>(segments, pattern, 3000000 + random_below(100000));
}

/* Every kernel: two sort tiles and a bit are planned, merged and collected. */
template <typename Key>
static void
check_tiny_cases()
{
	uint64_t	tile = tiles_of(sizeof(Key) == 8 ? MGPU_SHAPE_U64 : MGPU_SHAPE_U32, 0, 2).tile_items;

	check_case<Key>(SEGMENTS_NONE, KEYS_RANDOM, 4 * tile + 5);
	check_case<Key>(SEGMENTS_NONE, KEYS_REVERSED, 2 * tile + 5);
	check_case<Key>(SEGMENTS_MEAN_10, KEYS_RANDOM, 2 * tile + 5);
	check_case<Key>(SEGMENTS_MEAN_10000, KEYS_RANDOM, 4 * tile + 5);
	check_case<Key>(SEGMENTS_EACH, KEYS_RANDOM, tile);
	check_case<Key>(SEGMENTS_CLASS_EDGES, KEYS_RANDOM, 8 * tile + 5);
	check_case<Key>(SEGMENTS_MEAN_1000, KEYS_SORTED, 2 * tile + 5);
}

int
main(int argc, char **argv)
{
	int			num_devices = 0;
	cudaError_t status;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--tiny") == 0)
			quick = tiny = true;
		else if (strcmp(argv[i], "--quick") == 0)
			quick = true;
		else if (strcmp(argv[i], "--clean") != 0 && strcmp(argv[i], "--own") != 0)
		{
			fprintf(stderr, "usage: kernel_segmented_test [--quick | --tiny] [--clean] [--own]\n");
			return 2;
		}
	}
	if (!tiny)
		test_on_host();
	printf("on the host: %d passed, %d failed\n", tests_passed, tests_failed);
	fflush(stdout);
	status = cudaGetDeviceCount(&num_devices);
	if (status != cudaSuccess || num_devices == 0)
	{
		printf("no usable GPU: %s\n", status != cudaSuccess ? cudaGetErrorString(status) : "no device");
		printf("%d passed, %d failed\n", tests_passed, tests_failed);
		return tests_failed == 0 ? 77 : 1;
	}
	if (tiny)
	{
		check_tiny_cases<uint32_t>();
		check_tiny_cases<uint64_t>();
	}
	else
	{
		check_cases<uint32_t>();
		check_cases<uint64_t>();
	}
	printf("%d passed, %d failed\n", tests_passed, tests_failed);
	return tests_failed == 0 ? 0 : 1;
}

/*
 * kernel_ops_test.cu
 *		Tests of merge, bulk remove, bulk insert and the odd-even network.
 *
 *	kernel_ops_test [--quick | --tiny] [--clean] [--own]
 *
 * First the index arithmetic on the host (kernel_ops_host.cu, kernel_ops_host_merge.cu,
 * kernel_ops_search.cu), then every kernel against a plain reference and the boundaries
 * of tiles (kernel_ops_splits.cu), with inputs at any phase, and outputs and temporary
 * memory between bytes that nobody may touch.  --quick runs a set small enough for
 * compute-sanitizer's memcheck and synccheck.  --tiny is for
 * its racecheck and initcheck, under which a kernel takes a thousand times as long:
 * every kernel on one or two tiles and a bit, once or twice, and nothing on the
 * host.  --clean and --own are taken for kernel_test's sake and change nothing:
 * no error is made on purpose here, and no kernel is CUB's.  Exits with 0 when all
 * passed, 1 when something failed and 77 where there is no GPU and the host's
 * checks passed.
 */
#include "kernel_ops_device.cuh"

#include "merge/bulk_tile.cuh"
#include "merge/merge_tile.cuh"

int			tests_passed = 0;
int			tests_failed = 0;
bool		quick = false;
static bool tiny = false;
std::mt19937_64 random_bits(20250118);

/* ------------------------------------------------------------------- merge */

static mgpu_order_check
run_merge(mgpu_merge_request request)
{
	device_array check(sizeof(mgpu_order_check), 0);
	device_array temp(mgpu_merge_temp_bytes(request.codec.width, request.value_width, request.num_a_items,
											request.num_b_items), 0);
	mgpu_order_check found;

	REQUIRE_CUDA(cudaMemset(check.data, 0xFF, check.bytes));
	request.check = reinterpret_cast<mgpu_order_check *>(check.data);
	request.temp = temp.data;
	REQUIRE_CUDA(mgpu_launch_merge(&request));
	REQUIRE_CUDA(mgpu_launch_find_unsorted(&request));
	REQUIRE_CUDA(cudaDeviceSynchronize());
	expect(temp.is_surrounded(), "temporary memory of a merge of %llu : %llu items",
		   (unsigned long long) request.num_a_items, (unsigned long long) request.num_b_items);
	REQUIRE_CUDA(cudaMemcpy(&found, check.data, sizeof(found), cudaMemcpyDeviceToHost));
	return found;
}

/* Merge a and b, sorted or not, with values of any width; 0: keys alone. */
static void
test_merge(const mgpu_codec &codec, uint32_t value_width, const byte_array &a, const byte_array &b)
{
	uint64_t	a_items = a.size() / codec.width;
	uint64_t	b_items = b.size() / codec.width;
	uint64_t	a_bad = reference_unsorted(codec, a);
	uint64_t	b_bad = reference_unsorted(codec, b);
	bool		sorted = a_bad == UINT64_MAX && b_bad == UINT64_MAX;
	byte_array	a_values = random_bytes(a_items * value_width);
	byte_array	b_values = random_bytes(b_items * value_width);
	device_array d_a(a, random_bits() % 16 * codec.width);
	device_array d_b(b, random_bits() % 16 * codec.width);
	device_array d_a_values(a_values, random_bits() % 16 * value_width);
	device_array d_b_values(b_values, random_bits() % 16 * value_width);
	device_array out(a.size() + b.size(), 0);
	device_array out_values(a_values.size() + b_values.size(), 0);
	std::vector<uint32_t> sources = reference_merge(codec, a, b);
	byte_array	merged_values = value_width == 0 ? byte_array() :
		reference_gather(sources, a_values, b_values, value_width);
	mgpu_order_check found = run_merge({codec, value_width, d_a.data, d_b.data, out.data, d_a_values.data,
		d_b_values.data, out_values.data, a_items, b_items, nullptr, nullptr, nullptr});

	expect(found.suspect == (sorted ? UINT64_MAX : 0) && found.position[0] == a_bad && found.position[1] == b_bad &&
		   (!sorted || (out.holds(reference_gather(sources, a, b, codec.width)) && out_values.holds(merged_values))),
		   "merge, width %u, kind %u, descending %u, values of %u, %llu : %llu items, %s", codec.width, codec.kind,
		   codec.descending, value_width, (unsigned long long) a_items, (unsigned long long) b_items,
		   sorted ? "sorted" : "unsorted");
}

static const mgpu_codec all_codecs[] = {
	{MGPU_KEY_UNSIGNED, 1, 0}, {MGPU_KEY_UNSIGNED, 1, 1}, {MGPU_KEY_SIGNED, 2, 0}, {MGPU_KEY_SIGNED, 2, 1},
	{MGPU_KEY_SIGNED, 4, 0}, {MGPU_KEY_UNSIGNED, 4, 1}, {MGPU_KEY_SIGNED, 8, 0}, {MGPU_KEY_UNSIGNED, 8, 1},
	{MGPU_KEY_FLOAT, 4, 0}, {MGPU_KEY_FLOAT, 4, 1}, {MGPU_KEY_FLOAT, 8, 0}, {MGPU_KEY_FLOAT, 8, 1},
	{MGPU_KEY_BYTES, 16, 0}, {MGPU_KEY_BYTES, 16, 1}
};

static const uint32_t value_widths[] = {0, 1, 2, 4, 8, 16};

static void
test_merges_of(const mgpu_codec &codec, uint64_t tile)
{
	const uint64_t lengths[][2] = {{0, 1}, {1, 0}, {1, 1}, {2, 1}, {0, tile + 1}, {tile - 1, 0}, {tile / 2, tile / 2},
	{tile, tile}, {tile / 2, tile - tile / 2 + 1}, {1, 5 * tile + 3}, {5 * tile + 3, 1}, {4 * tile + 7, 3 * tile + 11}};
	int			turn = 0;

	for (int pattern = 0; pattern < NUM_DATA_PATTERNS; pattern++)
		for (const auto &length : lengths)
		{
			byte_array	a = sort_keys(codec, make_keys(codec, pattern, 0, length[0]));
			byte_array	b = sort_keys(codec, make_keys(codec, pattern, 1, length[1]));

			/* keys alone and one width of values: all widths in turn */
			turn++;
			test_merge(codec, 0, a, b);
			test_merge(codec, value_widths[1 + turn % 5], a, b);
			if (quick && turn % 7 != 0)
				continue;
			test_merge(codec, value_widths[turn % 6], make_keys(codec, pattern, 0, length[0]), b);
			test_merge(codec, value_widths[turn % 6], a, make_keys(codec, pattern, 1, length[1]));
		}
}

/*
 * One pair out of order, anywhere in long lists: at tiles' and threads' edges too.
 * With a short b most tiles hold items of a alone, and the pair is a's.
 */
static void
test_one_swap(const mgpu_codec &codec, uint64_t num_a_items, uint64_t num_b_items, int times)
{
	byte_array	lists[2] = {sort_keys(codec, make_keys(codec, DATA_RANDOM, 0, num_a_items)),
	sort_keys(codec, make_keys(codec, DATA_RANDOM, 1, num_b_items))};
	uint32_t	width = codec.width;

	for (int i = 0; i < times; i++)
	{
		byte_array &list = lists[num_a_items == num_b_items ? i % 2 : 0];
		uint64_t	item = random_bits() % (list.size() / width - 1);
		uint8_t    *pair = &list[item * width];

		std::swap_ranges(pair, pair + width, pair + width);
		test_merge(codec, i % 3 == 0 ? 4 : 0, lists[0], lists[1]);
		std::swap_ranges(pair, pair + width, pair + width);
	}
}

/* Tiles enough for some that start while boundaries are still searched, and some that prefetch. */
static void
test_long_merge(const mgpu_codec &codec, uint32_t value_width, uint64_t list_items)
{
	uint64_t	num_items = quick ? list_items / 8 : list_items;
	byte_array	a = sort_keys(codec, make_keys(codec, DATA_RANDOM, 0, num_items));
	byte_array	b = sort_keys(codec, make_keys(codec, DATA_RANDOM, 1, num_items));

	test_merge(codec, value_width, a, b);
}

static void
test_merges()
{
	for (const mgpu_codec &codec : all_codecs)
		test_merges_of(codec, codec.width == 16 ? mgpu_merge_pairs_tuning<16>::tile_items :
					   codec.width == 8 ? mgpu_merge_keys_tuning<8>::tile_items : mgpu_merge_keys_tuning<4>::tile_items);
	for (const mgpu_codec &codec : {mgpu_codec{MGPU_KEY_SIGNED, 4, 0}, mgpu_codec{MGPU_KEY_FLOAT, 8, 1},
			 mgpu_codec{MGPU_KEY_BYTES, 16, 0}})
	{
		uint64_t	num_items = quick ? 20000 : 200000;

		test_one_swap(codec, num_items, num_items, quick ? 8 : codec.width == 4 ? 200 : 100);
		test_one_swap(codec, num_items, 3, quick ? 6 : 60);
	}
	test_long_merge({MGPU_KEY_SIGNED, 4, 0}, 0, 7000000);
	test_long_merge({MGPU_KEY_SIGNED, 4, 0}, 8, 5000000);
	test_long_merge({MGPU_KEY_UNSIGNED, 8, 1}, 0, 4000000);
	test_long_merge({MGPU_KEY_FLOAT, 4, 0}, 0, 7000000);
	test_long_merge({MGPU_KEY_FLOAT, 8, 1}, 4, 4000000);
	test_long_merge({MGPU_KEY_BYTES, 16, 0}, 0, 2000000);
	for (uint64_t few : {0, 1, 1000})
	{
		const mgpu_codec codec = {MGPU_KEY_SIGNED, 4, 0};
		byte_array	a = sort_keys(codec, make_keys(codec, DATA_RANDOM, 0, few));
		byte_array	b = sort_keys(codec, make_keys(codec, DATA_RANDOM, 1, quick ? 3000000 : 20000000));

		test_merge(codec, 0, a, b);
		test_merge(codec, 8, b, a);
	}
}

/* -------------------------------------------------- bulk remove and insert */

static cudaError_t
run_bulk(cudaError_t (*launch) (const mgpu_bulk_request *), uint64_t temp_bytes, mgpu_bulk_request request)
{
	device_array temp(temp_bytes, 0);
	cudaError_t status;

	request.temp = temp.data;
	status = launch(&request);
	if (status == cudaSuccess)
		status = cudaDeviceSynchronize();
	expect(temp.is_surrounded(), "temporary memory of a bulk operation, %llu items, %llu positions",
		   (unsigned long long) request.num_items, (unsigned long long) request.num_positions);
	return status;
}

static void
test_remove(uint32_t width, uint64_t num_items, const std::vector<uint32_t> &positions, const char *what)
{
	byte_array	items = random_bytes(num_items * width);
	byte_array	expected = reference_remove(items, positions, width);
	device_array d_items(items, random_bits() % 16 * width);
	device_array d_positions(bytes_of(positions), random_bits() % 4 * 4);
	device_array out(expected.size(), 0);

	REQUIRE_CUDA(run_bulk(mgpu_launch_remove, mgpu_remove_temp_bytes(width, num_items, positions.size()),
		{width, d_items.data, num_items, reinterpret_cast<const uint32_t *>(d_positions.data), positions.size(), nullptr,
		out.data, nullptr, nullptr}));
	expect(out.holds(expected), "remove, width %u, %llu of %llu items (%s)", width,
		   (unsigned long long) positions.size(), (unsigned long long) num_items, what);
}

static void
test_insert(uint32_t width, uint64_t num_items, const std::vector<uint32_t> &positions, const char *what)
{
	byte_array	items = random_bytes(num_items * width);
	byte_array	inserted = random_bytes(positions.size() * width);
	byte_array	expected = reference_insert(items, positions, inserted, width);
	device_array d_items(items, random_bits() % 16 * width);
	device_array d_inserted(inserted, random_bits() % 16 * width);
	device_array d_positions(bytes_of(positions), random_bits() % 4 * 4);
	device_array out(expected.size(), 0);

	REQUIRE_CUDA(run_bulk(mgpu_launch_insert, mgpu_insert_temp_bytes(width, num_items, positions.size()),
		{width, d_items.data, num_items, reinterpret_cast<const uint32_t *>(d_positions.data), positions.size(),
		d_inserted.data, out.data, nullptr, nullptr}));
	expect(out.holds(expected), "insert, width %u, %llu into %llu items (%s)", width,
		   (unsigned long long) positions.size(), (unsigned long long) num_items, what);
}

static void
test_bulk_width(uint32_t width, uint64_t remove_tile, uint64_t insert_tile)
{
	static const char *const names[NUM_POSITION_PATTERNS] = {
		"none", "first", "last", "every second", "random", "run", "all"
	};

	for (uint64_t tile : {remove_tile, insert_tile})
		for (uint64_t size : {UINT64_C(0), UINT64_C(1), UINT64_C(2), UINT64_C(31), UINT64_C(33), tile - 1, tile, tile + 1,
				 2 * tile, 7 * tile + 29})
			for (int pattern = 0; pattern < NUM_POSITION_PATTERNS; pattern++)
			{
				test_remove(width, size, make_positions(pattern, size), names[pattern]);
				for (uint64_t count : {UINT64_C(0), UINT64_C(1), tile - 1, size, 3 * tile + 5})
					if (!quick || count != size)
						test_insert(width, size, make_insertions(pattern, size, count), names[pattern]);
			}
}

static void
test_bulk()
{
	test_bulk_width(1, mgpu_remove_tuning<1>::tile_items, mgpu_insert_tuning<1>::tile_items);
	test_bulk_width(2, mgpu_remove_tuning<2>::tile_items, mgpu_insert_tuning<2>::tile_items);
	test_bulk_width(4, mgpu_remove_tuning<4>::tile_items, mgpu_insert_tuning<4>::tile_items);
	test_bulk_width(8, mgpu_remove_tuning<8>::tile_items, mgpu_insert_tuning<8>::tile_items);
	test_bulk_width(16, mgpu_remove_tuning<16>::tile_items, mgpu_insert_tuning<16>::tile_items);
	if (quick)
		return;
	test_remove(4, 20000000, make_positions(POSITIONS_RANDOM, 20000000), "random");
	test_remove(4, 20000000, make_positions(POSITIONS_RUN, 20000000), "run");
	test_insert(4, 10000000, make_insertions(POSITIONS_RANDOM, 10000000, 5000000), "random");
	test_insert(8, 10000000, make_insertions(POSITIONS_RUN, 10000000, 10000000), "one position");
}

/* ---------------------------------------------------------------- odd-even */

template <typename Key>
static void
test_odd_even(uint64_t num_items, int pattern)
{
	std::vector<Key> keys(num_items);
	byte_array	contents(num_items * sizeof(Key));
	byte_array	expected(contents.size());

	for (uint64_t i = 0; i < num_items; i++)
		keys[i] = pattern == 0 ? (Key) random_bits() : pattern == 1 ? (Key) (random_bits() % 3) * ((Key) ~(Key) 0 / 2) :
			pattern == 2 ? (Key) (num_items - i) : (Key) i;
	memcpy(contents.data(), keys.data(), contents.size());
	std::sort(keys.begin(), keys.end());
	memcpy(expected.data(), keys.data(), expected.size());

	device_array first(contents, 0);
	device_array second(contents.size(), 0);
	mgpu_odd_even_request request = {sizeof(Key), {second.data, first.data}, 1, num_items, nullptr};

	REQUIRE_CUDA(mgpu_launch_odd_even_sort(&request));
	REQUIRE_CUDA(cudaDeviceSynchronize());
	expect((request.current == 1 ? first : second).holds(expected), "odd-even sort of %llu keys of %d bytes, pattern %d",
		   (unsigned long long) num_items, (int) sizeof(Key), pattern);
}

static void
test_odd_even_sorts()
{
	for (uint64_t size : {0, 1, 2, 3, 16, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 16385, 50000, 131072, 300001})
		for (int pattern = 0; pattern < 4; pattern++)
		{
			if (quick && size > 60000)
				continue;
			test_odd_even<uint32_t>(size, pattern);
			test_odd_even<uint64_t>(size, pattern);
		}
	if (quick)
		return;
	for (uint64_t size : {1 << 20, (1 << 22) + 1, 20000003})
	{
		test_odd_even<uint32_t>(size, 0);
		test_odd_even<uint64_t>(size, 0);
	}
}

/* -------------------------------------------------------------------- tiny */

/*
 * Keys of every kind; unsorted ones go through the search for the first bad one.
 * Random floats make tiles of both signs, interleaved ones make plain tiles.
 */
static void
test_tiny_merges()
{
	const mgpu_codec int4 = {MGPU_KEY_SIGNED, 4, 0};

	for (const mgpu_codec &codec : all_codecs)
	{
		uint64_t	tile = codec.width == 16 ? mgpu_merge_pairs_tuning<16>::tile_items :
			codec.width == 8 ? mgpu_merge_keys_tuning<8>::tile_items : mgpu_merge_keys_tuning<4>::tile_items;
		byte_array	a = sort_keys(codec, make_keys(codec, DATA_RANDOM, 0, tile + 5));
		byte_array	b = sort_keys(codec, make_keys(codec, DATA_RANDOM, 1, tile / 2 + 3));

		test_merge(codec, 0, a, b);
		test_merge(codec, 4, a, b);
		test_merge(codec, 0, make_keys(codec, DATA_RANDOM, 0, 100), b);
		if (codec.kind != MGPU_KEY_FLOAT)
			continue;
		a = sort_keys(codec, make_keys(codec, DATA_INTERLEAVED, 0, tile));
		b = sort_keys(codec, make_keys(codec, DATA_INTERLEAVED, 1, tile));
		test_merge(codec, 0, a, b);
		test_merge(codec, 4, a, b);
	}
	for (uint32_t value_width : {0, 4})
		test_merge(int4, value_width, sort_keys(int4, make_keys(int4, DATA_RANDOM, 0, 2)),
				   sort_keys(int4, make_keys(int4, DATA_RANDOM, 1, 20000)));
	for (uint32_t value_width : value_widths)
		test_merge(int4, value_width, sort_keys(int4, make_keys(int4, DATA_FEW, 0, 4000)),
				   sort_keys(int4, make_keys(int4, DATA_FEW, 1, 6000)));
}

static void
test_tiny_bulk(uint32_t width, uint64_t remove_tile, uint64_t insert_tile)
{
	test_remove(width, remove_tile + 29, make_positions(POSITIONS_RANDOM, remove_tile + 29), "random");
	test_insert(width, insert_tile, make_insertions(POSITIONS_RANDOM, insert_tile, insert_tile / 2), "random");
}

static void
test_tiny()
{
	test_tiny_merges();
	test_tiny_bulk(1, mgpu_remove_tuning<1>::tile_items, mgpu_insert_tuning<1>::tile_items);
	test_tiny_bulk(2, mgpu_remove_tuning<2>::tile_items, mgpu_insert_tuning<2>::tile_items);
	test_tiny_bulk(4, mgpu_remove_tuning<4>::tile_items, mgpu_insert_tuning<4>::tile_items);
	test_tiny_bulk(8, mgpu_remove_tuning<8>::tile_items, mgpu_insert_tuning<8>::tile_items);
	test_tiny_bulk(16, mgpu_remove_tuning<16>::tile_items, mgpu_insert_tuning<16>::tile_items);
	test_splits(3000, POSITIONS_RANDOM);
	/* whole tiles, and strides beyond them */
	test_odd_even<uint32_t>(MGPU_ODD_EVEN_BYTES / 4 + 1, 0);
	test_odd_even<uint64_t>(MGPU_ODD_EVEN_BYTES / 8 + 1, 0);
	test_odd_even<uint32_t>(40000, 0);
	test_odd_even<uint64_t>(20000, 0);
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
			fprintf(stderr, "usage: kernel_ops_test [--quick | --tiny] [--clean] [--own]\n");
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
		return tests_failed == 0 ? 77 : 1;
	}
	if (tiny)
	{
		test_tiny();
		printf("%d passed, %d failed\n", tests_passed, tests_failed);
		return tests_failed == 0 ? 0 : 1;
	}
	test_merges();
	printf("with merges: %d passed, %d failed\n", tests_passed, tests_failed);
	fflush(stdout);
	test_all_splits();
	test_bulk();
	printf("with remove and insert: %d passed, %d failed\n", tests_passed, tests_failed);
	fflush(stdout);
	test_odd_even_sorts();
	printf("%d passed, %d failed\n", tests_passed, tests_failed);
	return tests_failed == 0 ? 0 : 1;
}

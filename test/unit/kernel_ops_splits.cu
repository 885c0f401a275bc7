/*
 * kernel_ops_splits.cu
 *		Boundaries of tiles against those that a walk over the lists finds.
 */
#include "kernel_ops_device.cuh"

#include "merge/bulk_tile.cuh"
#include "merge/merge_tile.cuh"

#define SPLIT_TILE_ITEMS 64

/* Are all boundaries of a search found? */
template <class Search>
static void
test_splits_of(const Search &search, uint32_t num_tiles, const std::vector<uint32_t> &expected, const char *what)
{
	device_array splits(mgpu_splits_bytes(search.tiled_items(), search.tile_items), 0);

	REQUIRE_CUDA(mgpu_enqueue_splits(search, num_tiles, reinterpret_cast<uint32_t *>(splits.data), nullptr));
	REQUIRE_CUDA(cudaDeviceSynchronize());
	expect(splits.holds(bytes_of(expected)), "boundaries of %u tiles, %s", num_tiles, what);
}

/* Tiles are small, so that few items make many. */
void
test_splits(uint32_t num_tiles, int pattern)
{
	uint64_t	num_items = (uint64_t) num_tiles * SPLIT_TILE_ITEMS - 3;
	std::vector<uint32_t> positions = make_positions(pattern, num_items);
	std::vector<uint32_t> insertions = make_insertions(pattern, num_items - num_items / 4, num_items / 4);
	device_array d_positions(bytes_of(positions), 0);
	device_array d_insertions(bytes_of(insertions), 0);
	mgpu_remove_search remove = {reinterpret_cast<const uint32_t *>(d_positions.data), positions.size(), num_items,
	SPLIT_TILE_ITEMS};
	mgpu_insert_search insert = {reinterpret_cast<const uint32_t *>(d_insertions.data), insertions.size(),
	num_items - insertions.size(), SPLIT_TILE_ITEMS};
	std::vector<uint32_t> removed(num_tiles + 1);
	std::vector<uint32_t> inserted(num_tiles + 1);
	uint64_t	num_removed = 0;
	uint64_t	num_inserted = 0;

	for (uint64_t tile = 0; tile <= num_tiles; tile++)
	{
		while (num_removed < positions.size() && positions[num_removed] < tile * SPLIT_TILE_ITEMS)
			num_removed++;
		while (num_inserted < insertions.size() && insertions[num_inserted] + num_inserted < insert.diagonal(tile))
			num_inserted++;
		removed[tile] = (uint32_t) num_removed;
		inserted[tile] = (uint32_t) num_inserted;
	}
	test_splits_of(remove, num_tiles, removed, "remove");
	test_splits_of(insert, num_tiles, inserted, "insert");
}

/* Those of a merge of two lists of equal length. */
template <class Order>
static void
test_merge_splits(const mgpu_codec &codec, uint32_t num_tiles, int pattern)
{
	typedef typename Order::Stored Stored;
	uint64_t	num_items = (uint64_t) num_tiles * SPLIT_TILE_ITEMS - 3;
	byte_array	a = sort_keys(codec, make_keys(codec, pattern, 0, num_items / 2));
	byte_array	b = sort_keys(codec, make_keys(codec, pattern, 1, num_items - num_items / 2));
	device_array d_a(a, 0);
	device_array d_b(b, 0);
	mgpu_merge_lists<Order> lists = {reinterpret_cast<const Stored *>(d_a.data), reinterpret_cast<const Stored *>(d_b.data),
		num_items / 2, num_items - num_items / 2, Order(codec), SPLIT_TILE_ITEMS};
	std::vector<uint32_t> sources = reference_merge(codec, a, b);
	std::vector<uint32_t> expected;
	uint32_t	from_a = 0;

	for (uint64_t item = 0; item < num_items; item++)
	{
		if (item % SPLIT_TILE_ITEMS == 0)
			expected.push_back(from_a);
		from_a += sources[item] < num_items / 2;
	}
	expected.push_back(from_a);
	test_splits_of(lists, num_tiles, expected, "merge");
}

void
test_all_splits()
{
	for (int pattern = 0; pattern < NUM_POSITION_PATTERNS; pattern++)
		for (uint32_t num_tiles : {1, 17, 3001, 20001, 130003})
			if (!quick || num_tiles <= 20001)
				test_splits(num_tiles, pattern);
	for (int pattern = 0; pattern < NUM_DATA_PATTERNS; pattern++)
		for (uint32_t num_tiles : {1, 8001, 20001})
			if (!quick || num_tiles == 8001)
			{
				test_merge_splits<mgpu_integer_order<uint16_t>>({MGPU_KEY_SIGNED, 2, 0}, num_tiles, pattern);
				test_merge_splits<mgpu_integer_order<uint32_t>>({MGPU_KEY_SIGNED, 4, 0}, num_tiles, pattern);
				test_merge_splits<mgpu_integer_order<uint64_t>>({MGPU_KEY_UNSIGNED, 8, 1}, num_tiles, pattern);
				test_merge_splits<mgpu_float_order<uint32_t>>({MGPU_KEY_FLOAT, 4, 1}, num_tiles, pattern);
				test_merge_splits<mgpu_float_order<uint64_t>>({MGPU_KEY_FLOAT, 8, 0}, num_tiles, pattern);
				test_merge_splits<mgpu_bytes_order>({MGPU_KEY_BYTES, 16, 0}, num_tiles, pattern);
			}
}

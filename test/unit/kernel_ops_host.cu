/*
 * kernel_ops_host.cu
 *		Index arithmetic of remove, insert and the odd-even network; that of merges is
 *		in kernel_ops_host_merge.cu.
 *
 * Emulates CTAs with the very functions that the kernels are made of: a loop
 * over threads stands for what runs between two barriers.
 */
#include "kernel_ops_search.cuh"

#include "merge/odd_even.cuh"

/* -------------------------------------------------------------------- bulk */

/* Masks and ranks of all rows of a tile from its flags. */
static void
rank_rows(const std::vector<uint8_t> &flags, uint32_t num_items, bool of_unset, std::vector<uint32_t> &masks,
		  std::vector<uint32_t> &ranks)
{
	uint32_t	rank = 0;

	masks.clear();
	ranks.clear();
	for (uint32_t row = 0; row < flags.size() / 32; row++)
	{
		uint32_t	mask = 0;

		for (uint32_t word = 0; word < 8; word++)
		{
			uint32_t	bytes;

			memcpy(&bytes, &flags[row * 32 + word * 4], 4);
			mask |= mgpu_flag_bits(bytes) << (word * 4);
		}
		if (of_unset)
			mask = ~mask & mgpu_row_bits(row, num_items);
		masks.push_back(mask);
		ranks.push_back(rank);
		rank += (uint32_t) __builtin_popcount(mask);
	}
}

static uint32_t
rank_in(const std::vector<uint32_t> &masks, const std::vector<uint32_t> &ranks, uint32_t item)
{
	return ranks[item / 32] + (uint32_t) __builtin_popcount(masks[item / 32] & ((1u << item % 32) - 1));
}

static void
check_remove(uint64_t num_items, const std::vector<uint32_t> &positions, uint32_t tile_items)
{
	mgpu_remove_search search = {positions.data(), positions.size(), num_items, tile_items};
	byte_array	items = random_bytes(num_items);
	byte_array	kept(num_items - positions.size());
	std::vector<uint32_t> masks;
	std::vector<uint32_t> ranks;
	bool		splits_right = true;

	for (uint64_t tile = 0; tile < mgpu_divide_up(num_items, tile_items); tile++)
	{
		uint64_t	begin = tile * tile_items;
		uint64_t	count = std::min<uint64_t>(tile_items, num_items - begin);
		uint64_t	split = find_split(search, tile);
		uint64_t	end_split = find_split(search, tile + 1);
		std::vector<uint8_t> flags(tile_items, 0);

		splits_right &= split == positions_before(positions, begin);
		splits_right &= end_split == positions_before(positions, begin + count);
		for (uint64_t i = split; i < end_split; i++)
			flags[positions[i] - begin] = 1;
		rank_rows(flags, (uint32_t) count, true, masks, ranks);
		for (uint32_t item = 0; item < count; item++)
			if (masks[item / 32] >> item % 32 & 1)
				kept[begin - split + rank_in(masks, ranks, item)] = items[begin + item];
	}
	expect(splits_right && kept == reference_remove(items, positions, 1), "host remove, %llu of %llu items",
		   (unsigned long long) positions.size(), (unsigned long long) num_items);
}

static void
check_insert(uint64_t num_items, const std::vector<uint32_t> &positions, uint32_t tile_items)
{
	mgpu_insert_search search = {positions.data(), positions.size(), num_items, tile_items};
	byte_array	items = random_bytes(num_items);
	byte_array	inserted = random_bytes(positions.size());
	byte_array	all(num_items + positions.size());
	std::vector<uint32_t> masks;
	std::vector<uint32_t> ranks;

	for (uint64_t tile = 0; tile < mgpu_divide_up(all.size(), tile_items); tile++)
	{
		uint64_t	begin = tile * tile_items;
		uint64_t	count = search.diagonal(tile + 1) - begin;
		uint64_t	split = find_split(search, tile);
		uint64_t	end_split = find_split(search, tile + 1);
		std::vector<uint8_t> flags(tile_items, 0);

		for (uint64_t i = split; i < end_split; i++)
			flags.at(positions[i] + i - begin) = 1;
		rank_rows(flags, (uint32_t) count, false, masks, ranks);
		for (uint32_t item = 0; item < count; item++)
		{
			uint32_t	rank = rank_in(masks, ranks, item);

			all[begin + item] = masks[item / 32] >> item % 32 & 1 ? inserted.at(split + rank) :
				items.at(begin - split + item - rank);
		}
	}
	expect(all == reference_insert(items, positions, inserted, 1), "host insert, %llu into %llu items",
		   (unsigned long long) positions.size(), (unsigned long long) num_items);
}

static void
check_bulk()
{
	const uint32_t tile = 1024;
	const uint64_t sizes[] = {1, 2, 31, 32, 33, tile - 1, tile, tile + 1, 3 * tile, 5 * tile + 17};
	bool		bits_right = true;

	for (uint32_t bits = 0; bits < 16; bits++)
		bits_right &= mgpu_flag_bits((bits & 1) | (bits >> 1 & 1) << 8 | (bits >> 2 & 1) << 16 | bits >> 3 << 24) == bits;
	expect(bits_right && mgpu_row_bits(0, 32) == UINT32_MAX && mgpu_row_bits(1, 33) == 1 && mgpu_row_bits(2, 33) == 0,
		   "host flags to bits");
	check_searches();
	for (uint64_t size : sizes)
		for (int pattern = 0; pattern < NUM_POSITION_PATTERNS; pattern++)
		{
			check_remove(size, make_positions(pattern, size), tile);
			for (uint64_t count : {UINT64_C(0), UINT64_C(1), size, 2 * size + 7, UINT64_C(3000)})
			{
				check_insert(size, make_insertions(pattern, size, count), tile);
				check_insert(0, make_insertions(pattern, 0, count), tile);
			}
		}
}

/* ---------------------------------------------------------------- odd-even */

/* exchange_windows, threads in turn. */
template <typename Key>
static void
emulate_window(const std::vector<Key> &in, std::vector<Key> &out, const mgpu_odd_even_launch &launch, uint64_t cta)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	std::vector<Key> window(Shape::shared_items);

	for (uint32_t item = 0; item < Shape::window_items; item++)
	{
		uint64_t	index = mgpu_odd_even_index<Key>(launch, cta, item);

		window.at(mgpu_padded<Key>(item)) = index < in.size() ? in[index] : mgpu_largest_key<Key>();
	}
	for (uint32_t size = launch.log_first_size; size <= launch.log_last_size; size++)
		for (int stride = mgpu_odd_even_log_first(launch, size); stride >= (int) launch.log_last_stride; stride--)
			for (uint32_t thread = 0; thread < Shape::threads; thread++)
				mgpu_exchange_window(window.data(), thread, launch, cta, size, (uint32_t) stride);
	for (uint32_t item = 0; item < Shape::window_items; item++)
	{
		uint64_t	index = mgpu_odd_even_index<Key>(launch, cta, item);

		if (index < out.size() && mgpu_odd_even_is_core<Key>(launch, item))
			out[index] = window[mgpu_padded<Key>(item)];
	}
}

template <typename Key>
static void
check_odd_even(uint64_t num_items, int num_distinct_bits)
{
	std::vector<Key> keys(num_items);
	std::vector<Key> expected;
	std::vector<Key> out(num_items, 0);

	for (Key &key : keys)
		key = (Key) (random_bits() >> (64 - num_distinct_bits)) << (sizeof(Key) * 8 - num_distinct_bits);
	expected = keys;
	std::sort(expected.begin(), expected.end());
	mgpu_plan_odd_even<Key>(num_items, [&] (const mgpu_odd_even_launch &launch)
	{
		for (uint64_t cta = 0; cta < launch.num_ctas; cta++)
			emulate_window(keys, out, launch, cta);
		std::fill(keys.begin(), keys.end(), (Key) 0);
		keys.swap(out);
	});
	expect(keys == expected, "host odd-even sort of %llu keys of %d bytes", (unsigned long long) num_items,
		   (int) sizeof(Key));
}

/* Does a launch of some strides of one size read rows enough around what it writes? */
template <typename Key>
static bool
has_margin(const mgpu_odd_even_launch &launch)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	log_first = launch.log_first_stride - launch.log_unit + Shape::log_row;	/* in the window */
	uint32_t	margin = launch.margin_rows << Shape::log_row;

	if (launch.log_first_stride + 1 == launch.log_last_size)
		return margin == 0 && log_first + 1 == Shape::log_window;
	return margin >= (2u << log_first) - 1 && margin % (2u << log_first) == 0 && 2 * launch.margin_rows < Shape::rows &&
		(Shape::rows - 2 * launch.margin_rows) * Shape::row_items % (2u << log_first) == 0;
}

/* Every stride of every level runs once, in order, with rows enough around it. */
template <typename Key>
static void
check_plan(uint64_t num_items)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	uint32_t	log_size = 0;
	uint32_t	left = 0;		/* strides of this size */
	bool		right = true;

	mgpu_plan_odd_even<Key>(num_items, [&] (const mgpu_odd_even_launch &launch)
	{
		right &= launch.num_ctas <= INT32_MAX && launch.log_unit >= Shape::log_row &&
			(launch.log_last_stride >= launch.log_unit || launch.log_unit == Shape::log_row);
		if (log_size == 0)
		{
			right &= launch.log_first_size == 1 && launch.log_last_size == Shape::log_window && launch.margin_rows == 0 &&
				launch.log_first_stride == Shape::log_window - 1 && launch.log_last_stride == 0;
			log_size = Shape::log_window;
			return;
		}
		if (left == 0)
			left = ++log_size;
		right &= launch.log_first_size == log_size && launch.log_last_size == log_size &&
			launch.log_first_stride == left - 1 && launch.log_last_stride <= launch.log_first_stride &&
			has_margin<Key>(launch);
		left = launch.log_last_stride;
	});
	expect(right && left == 0 && UINT64_C(1) << log_size >= num_items, "plan of an odd-even sort of %llu keys of %d bytes",
		   (unsigned long long) num_items, (int) sizeof(Key));
}

void
test_on_host()
{
	check_all_merges();
	check_bulk();
	for (uint64_t size : {2, 3, 17, 1000, 4096, 8191, 8192, 8193, 16385, 20000, 65536, 70001})
	{
		check_odd_even<uint32_t>(size, 32);
		check_odd_even<uint64_t>(size, size % 2 ? 64 : 3);
	}
	if (!quick)
	{
		check_odd_even<uint32_t>(300001, 32);
		check_odd_even<uint64_t>(300001, 64);
	}
	for (uint32_t log_size = 1; log_size <= 32; log_size++)
		for (uint64_t size : {(UINT64_C(1) << log_size) - 1, UINT64_C(1) << log_size, (UINT64_C(1) << log_size) + 1})
			if (size >= 2 && size <= MGPU_MAX_ITEMS)
			{
				check_plan<uint32_t>(size);
				check_plan<uint64_t>(size);
			}
}

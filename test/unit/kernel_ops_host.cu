/*
 * kernel_ops_host.cu
 *		Index arithmetic of merge, remove, insert and the odd-even network.
 *
 * Emulates CTAs with the very functions that the kernels are made of: a loop
 * over threads stands for what runs between two barriers.
 */
#include "kernel_ops_search.cuh"

#include "odd_even.cuh"

/* ------------------------------------------------------------------- merge */

static uint64_t plain_tiles = 0;	/* that emulated merges met */

template <typename Stored>
struct aligned_items
{
	std::vector<mgpu_words> memory;
	Stored	   *items;

	/* `phase` items past a 16-byte boundary */
	aligned_items(uint64_t num_items, uint32_t phase)
		: memory((num_items + phase) * sizeof(Stored) / sizeof(mgpu_words) + 2),
		items(reinterpret_cast<Stored *>(memory.data()) + phase)
	{
	}
};

/* Copy an interval as mgpu_load_list does; false if it leaves its place. */
template <class Order>
static bool
load_list(typename Order::Stored *slots, uint32_t slot, uint32_t capacity, const typename Order::Stored *list,
		  uint64_t begin, uint32_t num_items, uint64_t list_items, uint32_t gaps, const Order &order)
{
	uint32_t	load_items = num_items + (begin + num_items < list_items);

	if (slot + num_items + gaps > capacity || mgpu_phase(slots + slot) != mgpu_phase(list + begin))
		return false;
	for (uint32_t i = 0; i < load_items; i++)
		slots[slot + i] = list[begin + i];
	for (uint32_t i = load_items; i < num_items + gaps; i++)
		slots[slot + i] = order.last;
	return true;
}

/* Note where every output of a thread comes from. */
struct note_sources
{
	uint32_t   *sources;
	bool	   *placed;
	mgpu_merge_tile tile;
	uint64_t	a_items;
	uint32_t	first;
	uint32_t	capacity;

	template <typename Held>
	__host__ __device__ void
	operator()(int i, Held, uint32_t slot) const
	{
		*placed = *placed && slot + 1 < capacity;
		if (first + i < tile.a_items + tile.b_items)
			sources[tile.begin + first + i] = (uint32_t) (slot < tile.b_slot ? tile.a_begin + slot - tile.a_slot :
														  a_items + tile.b_begin + slot - tile.b_slot);
	}
};

/* Every thread's share of a tile; false if the check finds disorder. */
template <class Tuning, class Order>
static bool
emulate_shares(const typename Order::Stored *slots, const mgpu_merge_tile &tile, const Order &order, note_sources note)
{
	constexpr int items = Tuning::items_per_thread;
	std::vector<uint32_t> starts;
	std::vector<uint32_t> stops;
	bool		in_order = true;

	for (uint32_t thread = 0; thread < (uint32_t) Tuning::threads; thread++)
	{
		mgpu_share	share = mgpu_find_share(slots, tile, order, thread * items);

		note.first = thread * items;
		starts.push_back(share.a);
		in_order &= mgpu_merge_share<items>(slots, share, order, note);
		stops.push_back(share.a);
	}
	starts.push_back(tile.a_slot + tile.a_items);
	for (uint32_t thread = 0; thread < (uint32_t) Tuning::threads; thread++)
		in_order &= stops[thread] == starts[thread + 1];
	return in_order;
}

/* In the order that mgpu_in_tile_order takes, found as mgpu_sort_of_tile does. */
template <class Tuning, class Order>
static bool
emulate_tile(const mgpu_merge_lists<Order> &lists, const typename Order::Stored *slots, const mgpu_merge_tile &tile,
			 note_sources note)
{
	if constexpr (Order::has_plain_tiles)
	{
		bool		plain = true;
		bool		negative = false;
		bool		positive = false;

		for (uint32_t number = 0; number < MGPU_TILE_ENDS; number++)
		{
			mgpu_tile_end end = mgpu_look_at_end(lists, tile, number);

			plain &= end.allows_plain;
			negative |= end.negative;
			positive |= end.positive;
		}
		if (plain && !(negative && positive))
		{
			plain_tiles++;
			return emulate_shares<Tuning>(slots, tile, lists.order.plain(negative), note);
		}
	}
	return emulate_shares<Tuning>(slots, tile, lists.order, note);
}

/* Merge by emulated CTAs.  *in_order says what the check found. */
template <class Order, class Tuning>
static std::vector<uint32_t>
emulate_merge(const mgpu_merge_lists<Order> &lists, bool *in_order, bool *placed)
{
	typedef typename Order::Stored Stored;
	constexpr int items = Tuning::items_per_thread;
	constexpr uint32_t capacity = mgpu_merge_capacity<Stored>(Tuning::tile_items, items);
	uint64_t	num_items = lists.a_items + lists.b_items;
	aligned_items<Stored> shared(capacity, 0);
	std::vector<uint32_t> sources(num_items, UINT32_MAX);
	bool		in_tile = random_bits() % 2;	/* all boundaries by one kind of search */

	for (uint64_t number = 0; number < mgpu_tiles_of(num_items, Tuning::tile_items); number++)
	{
		mgpu_merge_tile tile;
		uint32_t	split = find_either(lists, number, in_tile);
		uint32_t	end_split = find_either(lists, number + 1, in_tile);

		if (!mgpu_place_tile(lists, number, split, end_split, tile))
		{
			*in_order = false;
			continue;
		}
		*placed &= load_list(shared.items, tile.a_slot, tile.b_slot, lists.a, tile.a_begin, tile.a_items,
							 lists.a_items, 1, lists.order);
		*placed &= load_list(shared.items, tile.b_slot, capacity, lists.b, tile.b_begin, tile.b_items,
							 lists.b_items, 1 + items, lists.order);
		if (!*placed)
			return sources;
		*in_order &= emulate_tile<Tuning>(lists, shared.items, tile,
										  {sources.data(), placed, tile, lists.a_items, 0, capacity});
	}
	return sources;
}

template <class Order, class Tuning>
static void
check_merge(const mgpu_codec &codec, const byte_array &a, const byte_array &b, bool sorted, const char *what)
{
	typedef typename Order::Stored Stored;
	uint32_t	vector_items = MGPU_VECTOR_BYTES / sizeof(Stored);
	uint64_t	a_items = a.size() / sizeof(Stored);
	uint64_t	b_items = b.size() / sizeof(Stored);
	aligned_items<Stored> a_list(a_items, (uint32_t) (random_bits() % vector_items));
	aligned_items<Stored> b_list(b_items, (uint32_t) (random_bits() % vector_items));
	bool		in_order = true;
	bool		placed = true;
	std::vector<uint32_t> sources;

	std::copy(a.begin(), a.end(), reinterpret_cast<uint8_t *>(a_list.items));
	std::copy(b.begin(), b.end(), reinterpret_cast<uint8_t *>(b_list.items));

	mgpu_merge_lists<Order> lists = {a_list.items, b_list.items, a_items, b_items, Order(codec), Tuning::tile_items};

	sources = emulate_merge<Order, Tuning>(lists, &in_order, &placed);
	expect(placed && in_order == sorted && (!sorted || sources == reference_merge(codec, a, b)),
		   "host merge, width %u, kind %u, descending %u, %llu : %llu items, %s", codec.width, codec.kind,
		   codec.descending, (unsigned long long) a_items, (unsigned long long) b_items, what);
}

/* Swap two neighbours of different codes, so that the list is not sorted. */
static bool
disorder(const mgpu_codec &codec, byte_array &keys)
{
	std::vector<key_code> codes = codes_of(codec, keys);
	uint64_t	start = codes.empty() ? 0 : random_bits() % codes.size();

	for (size_t i = 0; i + 1 < codes.size(); i++)
	{
		size_t		item = (start + i) % (codes.size() - 1);

		if (codes[item] < codes[item + 1])
		{
			std::swap_ranges(&keys[item * codec.width], &keys[item * codec.width] + codec.width,
							 &keys[(item + 1) * codec.width]);
			return true;
		}
	}
	return false;
}

template <class Order, class Tuning>
static void
check_merges(const mgpu_codec &codec)
{
	const uint64_t tile = Tuning::tile_items;
	const uint64_t lengths[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 3 * tile}, {3 * tile, 1}, {0, tile + 1},
	{tile / 2, tile - tile / 2}, {tile / 2, tile - tile / 2 + 1}, {tile - 1, 0}, {tile + 7, tile + 3},
	{2 * tile + 5, 900}};

	for (int pattern = 0; pattern < NUM_DATA_PATTERNS; pattern++)
		for (const auto &length : lengths)
		{
			byte_array	a = sort_keys(codec, make_keys(codec, pattern, 0, length[0]));
			byte_array	b = sort_keys(codec, make_keys(codec, pattern, 1, length[1]));

			check_merge<Order, Tuning>(codec, a, b, true, "sorted");
			if (disorder(codec, a))
				check_merge<Order, Tuning>(codec, a, b, false, "one pair of a swapped");
			if (disorder(codec, b))
				check_merge<Order, Tuning>(codec, a, b, false, "one pair of b swapped");
			a = make_keys(codec, pattern, 0, length[0]);
			check_merge<Order, Tuning>(codec, a, b, reference_unsorted(codec, a) == UINT64_MAX &&
									   reference_unsorted(codec, b) == UINT64_MAX, "a shuffled");
		}
}

/*
 * A tile of numbers of one sign, and behind it, where the next tile begins, every
 * kind of float: in a or in b, with the other list all before, all behind or none.
 */
template <class Order, class Tuning>
static void
check_plain_tiles(const mgpu_codec &codec)
{
	typedef typename Order::Stored Stored;
	const Stored sign = Order::sign;
	const Stored one = sizeof(Stored) == 8 ? (Stored) UINT64_C(0x3FF0000000000000) : (Stored) 0x3F800000;
	const Stored followers[] = {0, sign, 1, (Stored) (sign | 1), one, (Stored) (sign | one), Order::infinity,
		(Stored) (sign | Order::infinity), (Stored) (Order::infinity | 1), (Stored) (sign | Order::infinity | 1),
	(Stored) ~sign, (Stored) ~(Stored) 0};
	uint64_t	before = plain_tiles;

	for (Stored tile_sign : {(Stored) 0, sign})
		for (Stored follower : followers)
			for (int other = 0; other < 3; other++)
			{
				std::vector<Stored> list(Tuning::tile_items);
				std::vector<Stored> others(other == 0 ? 0 : 50, (Stored) (tile_sign | (other == 1 ? 1 : Order::infinity)));
				byte_array	keys(list.size() * sizeof(Stored));
				byte_array	other_keys(others.size() * sizeof(Stored));
				bool		sorted;

				for (Stored &key : list)
					key = tile_sign | (one + (Stored) (random_bits() % 1000));
				memcpy(keys.data(), list.data(), keys.size());
				memcpy(other_keys.data(), others.data(), other_keys.size());
				keys = sort_keys(codec, keys);
				keys.insert(keys.end(), reinterpret_cast<const uint8_t *>(&follower),
							reinterpret_cast<const uint8_t *>(&follower) + sizeof(follower));
				sorted = reference_unsorted(codec, keys) == UINT64_MAX;
				check_merge<Order, Tuning>(codec, keys, other_keys, sorted, "a follower in a");
				check_merge<Order, Tuning>(codec, other_keys, keys, sorted, "a follower in b");
			}
	expect(plain_tiles > before + 100, "host merge, width %u, descending %u: %llu plain tiles", codec.width,
		   codec.descending, (unsigned long long) (plain_tiles - before));
}

static void
check_all_merges()
{
	for (uint32_t descending = 0; descending < 2; descending++)
	{
		const mgpu_codec codecs[] = {
			{MGPU_KEY_UNSIGNED, 1, descending}, {MGPU_KEY_SIGNED, 2, descending}, {MGPU_KEY_SIGNED, 4, descending},
			{MGPU_KEY_SIGNED, 8, descending}, {MGPU_KEY_FLOAT, 4, descending}, {MGPU_KEY_FLOAT, 8, descending},
		{MGPU_KEY_BYTES, 16, descending}};

		check_merges<mgpu_integer_order<uint8_t>, mgpu_merge_keys_tuning<1>>(codecs[0]);
		check_merges<mgpu_integer_order<uint16_t>, mgpu_merge_pairs_tuning<2>>(codecs[1]);
		check_merges<mgpu_integer_order<uint32_t>, mgpu_merge_keys_tuning<4>>(codecs[2]);
		check_merges<mgpu_integer_order<uint64_t>, mgpu_merge_pairs_tuning<8>>(codecs[3]);
		check_merges<mgpu_float_order<uint32_t>, mgpu_merge_keys_tuning<4>>(codecs[4]);
		check_merges<mgpu_float_order<uint64_t>, mgpu_merge_keys_tuning<8>>(codecs[5]);
		check_merges<mgpu_bytes_order, mgpu_merge_pairs_tuning<16>>(codecs[6]);
		check_plain_tiles<mgpu_float_order<uint32_t>, mgpu_merge_keys_tuning<4>>(codecs[4]);
		check_plain_tiles<mgpu_float_order<uint64_t>, mgpu_merge_pairs_tuning<8>>(codecs[5]);
	}
}

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

	for (uint64_t tile = 0; tile < mgpu_tiles_of(num_items, tile_items); tile++)
	{
		uint64_t	begin = tile * tile_items;
		uint64_t	count = std::min<uint64_t>(tile_items, num_items - begin);
		uint64_t	split = find_split<MGPU_OPS_TILE_PROBES>(search, tile);
		uint64_t	end_split = find_split<MGPU_OPS_FEW_PROBES>(search, tile + 1);
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

	for (uint64_t tile = 0; tile < mgpu_tiles_of(all.size(), tile_items); tile++)
	{
		uint64_t	begin = tile * tile_items;
		uint64_t	count = search.diagonal(tile + 1) - begin;
		uint64_t	split = find_split<MGPU_OPS_MANY_PROBES>(search, tile);
		uint64_t	end_split = find_split<MGPU_OPS_TILE_PROBES>(search, tile + 1);
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

template <typename Key>
static void
emulate_tiles(const std::vector<Key> &in, std::vector<Key> &out, uint64_t cta)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	std::vector<Key> tile(Shape::shared_items);
	uint64_t	begin = cta * Shape::window_items;

	for (uint32_t thread = 0; thread < Shape::threads; thread++)
	{
		Key			keys[Shape::items];

		for (uint32_t i = 0; i < Shape::items; i++)
		{
			uint64_t	item = begin + i * Shape::threads + thread;

			keys[i] = item < in.size() ? in[item] : mgpu_largest_key<Key>();
		}
		mgpu_sort_own(keys);
		for (uint32_t i = 0; i < Shape::items; i++)
			tile.at(mgpu_padded<Key>(thread * Shape::items + i)) = keys[i];
	}
	for (uint32_t log_size = MGPU_ODD_EVEN_LOG_ITEMS + 1; log_size <= Shape::log_window; log_size++)
	{
		for (uint32_t thread = 0; thread < Shape::threads; thread++)
			mgpu_exchange_column(tile.data(), thread, log_size);
		for (int log_stride = (int) log_size - MGPU_ODD_EVEN_LOG_ITEMS - 1; log_stride >= 0; log_stride--)
			for (uint32_t thread = 0; thread < Shape::threads; thread++)
				mgpu_exchange_window(tile.data(), thread, 0, mgpu_size_mask(log_size), log_stride);
	}
	for (uint32_t item = 0; item < Shape::window_items && begin + item < in.size(); item++)
		out[begin + item] = tile[mgpu_padded<Key>(item)];
}

/* Columns (strides of their own first) and windows. */
template <typename Key>
static void
emulate_rows(const std::vector<Key> &in, std::vector<Key> &out, const mgpu_odd_even_launch &launch, uint64_t cta)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	bool		columns = launch.kind == MGPU_ODD_EVEN_COLUMNS;
	mgpu_odd_even_place place = mgpu_odd_even_place_of<Key>(launch, cta);
	uint32_t	origin = columns ? 0 : (uint32_t) place.first_row << Shape::log_row;
	uint32_t	mask = mgpu_size_mask(columns ? Shape::log_window : launch.log_size);
	int			first = columns ? Shape::log_window - MGPU_ODD_EVEN_LOG_ITEMS - 1 : launch.log_first;
	int			last = columns ? Shape::log_row : launch.log_last;
	std::vector<Key> window(Shape::shared_items);

	for (uint32_t thread = 0; thread < Shape::threads; thread++)
	{
		uint64_t	index = mgpu_odd_even_index<Key>(launch, place, thread);
		Key			keys[Shape::items];

		for (uint32_t i = 0; i < Shape::items; i++, index += mgpu_odd_even_step<Key>(launch))
			keys[i] = index < in.size() ? in[index] : mgpu_largest_key<Key>();
		if (columns)
			mgpu_level_own(keys, MGPU_ODD_EVEN_LOG_ITEMS);
		for (uint32_t i = 0; i < Shape::items; i++)
			window.at(mgpu_padded<Key>(thread + i * Shape::threads)) = keys[i];
	}
	for (int log_stride = first; log_stride >= last; log_stride--)
		for (uint32_t thread = 0; thread < Shape::threads; thread++)
			mgpu_exchange_window(window.data(), thread, origin, mask, log_stride);
	for (uint32_t item = 0; item < Shape::window_items; item++)
	{
		uint64_t	index = mgpu_odd_even_index<Key>(launch, place, item);

		if (index < out.size() && mgpu_odd_even_is_core<Key>(launch, item))
			out[index] = window[mgpu_padded<Key>(item)];
	}
}

template <typename Key>
static void
check_odd_even(uint64_t num_items, int num_distinct_bits)
{
	mgpu_odd_even_launch launches[MGPU_ODD_EVEN_MAX_LAUNCHES];
	int			num_launches = mgpu_plan_odd_even<Key>(num_items, launches);
	std::vector<Key> keys(num_items);
	std::vector<Key> expected;
	std::vector<Key> out(num_items, 0);

	for (Key &key : keys)
		key = (Key) (random_bits() >> (64 - num_distinct_bits)) << (sizeof(Key) * 8 - num_distinct_bits);
	expected = keys;
	std::sort(expected.begin(), expected.end());
	for (int i = 0; i < num_launches; i++)
	{
		for (uint64_t cta = 0; cta < launches[i].num_ctas; cta++)
		{
			if (launches[i].kind == MGPU_ODD_EVEN_TILES)
				emulate_tiles(keys, out, cta);
			else
				emulate_rows(keys, out, launches[i], cta);
		}
		std::fill(keys.begin(), keys.end(), (Key) 0);
		keys.swap(out);
	}
	expect(keys == expected, "host odd-even sort of %llu keys of %d bytes", (unsigned long long) num_items,
		   (int) sizeof(Key));
}

/* Every stride of every level runs once, in order, with rows enough around it. */
template <typename Key>
static void
check_plan(uint64_t num_items)
{
	typedef mgpu_odd_even_shape<Key> Shape;
	mgpu_odd_even_launch launches[MGPU_ODD_EVEN_MAX_LAUNCHES];
	int			num_launches = mgpu_plan_odd_even<Key>(num_items, launches);
	int			next = 1;
	bool		right = num_launches <= MGPU_ODD_EVEN_MAX_LAUNCHES && launches[0].kind == MGPU_ODD_EVEN_TILES;

	for (uint32_t log_size = Shape::log_window + 1; UINT64_C(1) << (log_size - 1) < num_items; log_size++)
	{
		int			stride = (int) log_size - 1 - Shape::log_rows;

		right &= next < num_launches && launches[next].kind == MGPU_ODD_EVEN_COLUMNS &&
			launches[next].log_size == log_size && launches[next].log_unit >= Shape::log_row;
		for (next++; right && stride >= 0; next++)
		{
			const mgpu_odd_even_launch &launch = launches[next];
			uint32_t	shift = launch.log_unit - Shape::log_row;	/* linear to items */
			uint32_t	margin = launch.margin_rows << Shape::log_row;

			right &= next < num_launches && launch.kind == MGPU_ODD_EVEN_WINDOW &&
				launch.log_first + shift == (uint32_t) stride && launch.log_size + shift == log_size &&
				launch.log_last <= launch.log_first && margin >= (2u << launch.log_first) - 1 &&
				margin % (2u << launch.log_first) == 0 && 2 * launch.margin_rows < Shape::rows &&
				(Shape::rows - 2 * launch.margin_rows) * Shape::row_items % (2u << launch.log_first) == 0 &&
				launch.num_ctas <= INT32_MAX;
			stride = (int) (launch.log_last + shift) - 1;
		}
		right &= stride == -1;
	}
	expect(right && next == num_launches, "plan of an odd-even sort of %llu keys of %d bytes",
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

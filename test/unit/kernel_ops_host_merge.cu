/*
 * kernel_ops_host_merge.cu
 *		Index arithmetic of merges: tiles, shares of threads, and tiles that need no
 *		look at each key.
 *
 * Emulated as in kernel_ops_host.cu.
 */
#include "kernel_ops_search.cuh"

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
struct record_sources
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
emulate_shares(const typename Order::Stored *slots, const mgpu_merge_tile &tile, const Order &order, record_sources record)
{
	constexpr int items = Tuning::items_per_thread;
	std::vector<uint32_t> starts;
	std::vector<uint32_t> stops;
	bool		in_order = true;

	for (uint32_t thread = 0; thread < (uint32_t) Tuning::threads; thread++)
	{
		mgpu_share	share = mgpu_find_share(slots, tile, order, thread * items);

		record.first = thread * items;
		starts.push_back(share.a);
		in_order &= mgpu_merge_share<items>(slots, share, order, record);
		stops.push_back(share.a);
	}
	starts.push_back(tile.a_slot + tile.a_items);
	for (uint32_t thread = 0; thread < (uint32_t) Tuning::threads; thread++)
		in_order &= stops[thread] == starts[thread + 1];
	return in_order;
}

/* In the order that mgpu_in_tile_order takes, found as mgpu_kind_of_tile does. */
template <class Tuning, class Order>
static bool
emulate_tile(const mgpu_merge_lists<Order> &lists, const typename Order::Stored *slots, const mgpu_merge_tile &tile,
			 record_sources record)
{
	if constexpr (Order::has_plain_tiles)
	{
		bool		plain = true;
		bool		negative = false;
		bool		positive = false;

		for (uint32_t number = 0; number < MGPU_TILE_ENDS; number++)
		{
			mgpu_tile_end end = mgpu_read_tile_end(lists, tile, number);

			plain &= end.allows_plain;
			negative |= end.negative;
			positive |= end.positive;
		}
		if (plain && !(negative && positive))
		{
			plain_tiles++;
			return emulate_shares<Tuning>(slots, tile, lists.order.plain(negative), record);
		}
	}
	return emulate_shares<Tuning>(slots, tile, lists.order, record);
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

	for (uint64_t number = 0; number < mgpu_divide_up(num_items, Tuning::tile_items); number++)
	{
		mgpu_merge_tile tile;
		uint2		splits = make_uint2(find_split(lists, number), find_split(lists, number + 1));

		if (!mgpu_place_tile(lists, number, splits, tile))
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

void
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

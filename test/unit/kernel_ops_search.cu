/*
 * kernel_ops_search.cu
 *		Searches for tiles' boundaries: right on any lists, in few rounds on most.
 *
 * What lists are in order says where each boundary is.  On others, and with
 * distances that are no distances, a search still ends, reads nothing outside its
 * range, and takes no more rounds than it may.
 */
#include "kernel_ops_search.cuh"

#include <cmath>
#include <limits>

uint64_t	search_rounds = 0;

/* --------------------------------------------------------------- positions */

/*
 * Splits of long lists.  Where positions are spread alike, a search takes few
 * rounds; where they are not, a few beyond those of even probes at the most.
 */
static void
check_long_searches(int pattern, uint64_t most_rounds)
{
	const uint64_t num_items = 1000000;
	const uint32_t tile_items = 8192;
	std::vector<uint32_t> positions = make_positions(pattern, num_items);
	std::vector<uint32_t> insertions = make_insertions(pattern, num_items, num_items / 2);
	mgpu_remove_search remove = {positions.data(), positions.size(), num_items, tile_items};
	mgpu_insert_search insert = {insertions.data(), insertions.size(), num_items, tile_items};
	bool		right = true;
	uint64_t	rounds = 0;

	for (uint64_t tile = 0; tile <= mgpu_divide_up(num_items, tile_items); tile++)
	{
		search_rounds = 0;
		right &= find_split(remove, tile) == positions_before(positions, tile * tile_items);
		rounds = std::max(rounds, search_rounds);
	}
	for (uint64_t tile = 0; tile <= mgpu_divide_up(num_items + insertions.size(), tile_items); tile++)
	{
		uint64_t	split;

		search_rounds = 0;
		split = find_split(insert, tile);
		rounds = std::max(rounds, search_rounds);
		/* the last insertion before the diagonal lies there, and the next one does not */
		right &= split == 0 || insertions[split - 1] + split - 1 < insert.diagonal(tile);
		right &= split == insertions.size() || insertions[split] + split >= insert.diagonal(tile);
	}
	expect(right && rounds <= most_rounds, "host searches, pattern %d: %llu rounds", pattern, (unsigned long long) rounds);
}

/* ------------------------------------------------------------- any distances */

/* Distances that a search may be told. */
typedef enum distance_kind
{
	DISTANCES_TRUE = 0,
	DISTANCES_NONE,
	DISTANCES_REVERSED,
	DISTANCES_RANDOM,
	DISTANCES_NAN,
	DISTANCES_INFINITE,
	DISTANCES_LARGE_BEHIND,		/* so that the next item before the boundary seems to be it */
	DISTANCES_LARGE_BEFORE,
	NUM_DISTANCE_KINDS
} distance_kind;

/* A Search that tells such distances, and records whether probes lie in its range. */
template <class Search>
struct watched_search
{
	const Search &search;
	int			kind;
	bool	   *in_range;

	MGPU_MEMBER void
	range(uint64_t tile, uint64_t &low, uint64_t &high) const
	{
		search.range(tile, low, high);
	}

	MGPU_MEMBER uint64_t
	expected(uint64_t tile) const
	{
		return search.expected(tile);
	}

	bool
	before(uint64_t tile, uint64_t probe) const
	{
		uint64_t	low;
		uint64_t	high;

		search.range(tile, low, high);
		*in_range &= probe >= low && probe < high;
		return probe >= low && probe < high && search.before(tile, probe);
	}

	float
	distance(uint64_t tile, uint64_t probe) const
	{
		float		sign = before(tile, probe) ? -1.0f : 1.0f;

		switch (kind)
		{
			case DISTANCES_TRUE:
				return search.distance(tile, probe);
			case DISTANCES_REVERSED:
				return -search.distance(tile, probe);
			case DISTANCES_RANDOM:
				return (float) (int64_t) random_bits();
			case DISTANCES_NAN:
				return std::numeric_limits<float>::quiet_NaN();
			case DISTANCES_INFINITE:
				return sign * std::numeric_limits<float>::infinity();
			case DISTANCES_LARGE_BEHIND:
				return sign < 0 ? -std::numeric_limits<float>::denorm_min() : std::numeric_limits<float>::max();
			case DISTANCES_LARGE_BEFORE:
				return sign > 0 ? std::numeric_limits<float>::denorm_min() : -std::numeric_limits<float>::max();
			default:
				return 0;
		}
	}
};

/* Rounds of probes in a range: even ones, the first, and those that guess wrong. */
static uint64_t
most_rounds_in(uint64_t num_items)
{
	uint64_t	rounds = 1 + MGPU_SPLIT_GUESSES;

	for (uint64_t items = num_items; items > 0; items /= MGPU_SPLIT_LANES + 1)
		rounds++;
	return rounds;
}

/* Is a split where what lies before the boundary ends? */
template <class Search>
static bool
is_split(const Search &search, uint64_t tile, uint64_t split)
{
	uint64_t	low;
	uint64_t	high;

	search.range(tile, low, high);
	return split >= low && split <= high && (split == low || search.before(tile, split - 1)) &&
		(split == high || !search.before(tile, split));
}

/* Search for all boundaries by distances of a kind; the most rounds of true ones are in *true_rounds. */
template <class Search>
static bool
finds_splits(const Search &search, uint64_t num_tiles, bool sorted, int kind, uint64_t *true_rounds)
{
	bool		right = true;
	watched_search<Search> watched = {search, kind, &right};

	for (uint64_t tile = 0; tile <= num_tiles; tile++)
	{
		uint64_t	low;
		uint64_t	high;
		uint64_t	split;

		search.range(tile, low, high);
		search_rounds = 0;
		split = find_split(watched, tile);
		right &= search_rounds <= most_rounds_in(high - low);
		right &= sorted ? is_split(search, tile, split) : split >= low && split <= high;
		if (kind == DISTANCES_TRUE)
			*true_rounds = std::max(*true_rounds, search_rounds);
	}
	return right;
}

/* A list without items, as long as any, whose distances bend. */
struct long_search
{
	uint64_t	low;
	uint64_t	high;
	uint64_t	split;
	uint64_t	guess;
	double		power;

	MGPU_MEMBER void
	range(uint64_t, uint64_t &from, uint64_t &to) const
	{
		from = low;
		to = high;
	}

	MGPU_MEMBER uint64_t
	expected(uint64_t) const
	{
		return guess;
	}

	bool
	before(uint64_t, uint64_t probe) const
	{
		return probe < split;
	}

	float
	distance(uint64_t, uint64_t probe) const
	{
		double		away = (double) probe - (double) split + 0.5;

		return (float) std::copysign(std::pow(std::fabs(away), power), away);
	}
};

static void
check_longest_ranges()
{
	const uint64_t most = UINT64_C(0xFFFFFFFE);
	uint64_t	rounds = 0;
	bool		right = true;

	for (uint64_t low : {UINT64_C(0), most / 2, most - 5000, most - 3})
		for (uint64_t high : {most - 2, most})
			for (uint64_t split : {low, low + 1, low + (high - low) / 3, low + (high - low) / 2, high - 1, high})
				for (uint64_t guess : {low, low + (high - low) / 2, high})
					for (double power : {0.3, 1.0, 3.0})
						for (int kind = 0; kind < NUM_DISTANCE_KINDS; kind++)
							right &= finds_splits(long_search {low, high, split, guess, power}, 0, true, kind, &rounds);
	expect(right, "host searches in the longest ranges, %llu rounds", (unsigned long long) rounds);
}

template <class Order>
static void
check_merge_search(const mgpu_codec &codec, const byte_array &a, const byte_array &b, int pattern, bool sorted)
{
	typedef typename Order::Stored Stored;
	/* aligned as their type is */
	std::vector<Stored> a_list(a.size() / sizeof(Stored));
	std::vector<Stored> b_list(b.size() / sizeof(Stored));
	mgpu_merge_lists<Order> lists = {a_list.data(), b_list.data(), a_list.size(), b_list.size(), Order(codec), 1024};
	uint64_t	num_tiles = mgpu_divide_up(lists.tiled_items(), lists.tile_items);
	/* random bits of floats are numbers of all sizes */
	bool		spread = sorted && pattern == DATA_RANDOM && codec.width >= 4 && codec.kind != MGPU_KEY_FLOAT;
	uint64_t	most_rounds = spread ? 6 : UINT64_MAX;
	uint64_t	rounds = 0;

	memcpy(a_list.data(), a.data(), a.size());
	memcpy(b_list.data(), b.data(), b.size());
	for (int kind = 0; kind < NUM_DISTANCE_KINDS; kind++)
	{
		bool		right = finds_splits(lists, num_tiles, sorted, kind, &rounds);

		expect(right && rounds <= most_rounds,
			   "host searches by distances %d: width %u, kind %u, descending %u, pattern %d%s, %llu rounds", kind, codec.width, codec.kind, codec.descending, pattern, sorted ? "" : ", unsorted",
			   (unsigned long long) rounds);
	}
}

template <class Order>
static void
check_merge_searches(uint32_t kind, uint32_t width)
{
	const uint64_t lengths[][2] = {{60011, 50023}, {100003, 1009}, {1009, 100003}, {20011, 3}};

	for (uint32_t descending = 0; descending < 2; descending++)
		for (int pattern = 0; pattern < NUM_DATA_PATTERNS; pattern++)
		{
			const mgpu_codec codec = {kind, width, descending};
			const auto &length = lengths[(pattern + descending) % 4];
			byte_array	a = make_keys(codec, pattern, 0, length[0]);
			byte_array	b = make_keys(codec, pattern, 1, length[1]);

			check_merge_search<Order>(codec, a, b, pattern, false);
			a = sort_keys(codec, a);
			b = sort_keys(codec, b);
			check_merge_search<Order>(codec, a, b, pattern, true);
		}
}

void
check_searches()
{
	for (int pattern = 0; pattern < NUM_POSITION_PATTERNS; pattern++)
		check_long_searches(pattern, pattern == POSITIONS_RANDOM ? 6 : 10);
	check_longest_ranges();
	check_merge_searches<mgpu_integer_order<uint8_t>>(MGPU_KEY_UNSIGNED, 1);
	check_merge_searches<mgpu_integer_order<uint16_t>>(MGPU_KEY_SIGNED, 2);
	check_merge_searches<mgpu_integer_order<uint32_t>>(MGPU_KEY_SIGNED, 4);
	check_merge_searches<mgpu_integer_order<uint64_t>>(MGPU_KEY_SIGNED, 8);
	check_merge_searches<mgpu_float_order<uint32_t>>(MGPU_KEY_FLOAT, 4);
	check_merge_searches<mgpu_float_order<uint64_t>>(MGPU_KEY_FLOAT, 8);
	check_merge_searches<mgpu_bytes_order>(MGPU_KEY_BYTES, 16);
}

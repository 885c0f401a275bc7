/*
 * kernel_test_single_launch.cu
 *		Single-launch sorts, tuning by tuning, and as requests take them.
 *
 * Sizes lie around borders of CTAs and what tiles hold.  The answer must say whether
 * the keys' order was used, and the result be on the keys' own side.  Results are
 * those of std::stable_sort.
 */
#include "kernel_test_arrays.cuh"
#include "executor/auto_sort.h"

#include <functional>

#include "sort/single_launch_sort.cuh"
#include "sort/tuning.cuh"

typedef enum single_launch_pattern
{
	SINGLE_LAUNCH_RANDOM = 0,	/* of so many bits, from a least key on that is not 0 */
	LAUNCH_FEW,
	SINGLE_LAUNCH_SORTED,
	SINGLE_LAUNCH_SORTED_EQUALS,
	SINGLE_LAUNCH_SORTED_BUT_PAIR,		/* two neighbours that are not, at a border of CTAs */
	SINGLE_LAUNCH_SORTED_BUT_LAST,
	SINGLE_LAUNCH_REVERSED,
	SINGLE_LAUNCH_REVERSED_EQUALS,		/* a pair of equal keys at a border of CTAs */
	SINGLE_LAUNCH_REVERSED_BUT_PAIR,
	SINGLE_LAUNCH_ALL_EQUAL,
	SINGLE_LAUNCH_ENDS,			/* the least and the largest key alone, in no order */
	NUM_SINGLE_LAUNCH_PATTERNS
} single_launch_pattern;

template <typename Key>
struct single_launch_case
{
	int			pattern;
	uint32_t	bits;
	std::vector<Key> keys;
	std::vector<Key> sorted;
	std::vector<uint32_t> indices;

	/* border: the first item of a CTA, not the first one's */
	single_launch_case(int pattern, uint32_t num_items, uint32_t border, uint32_t bits)
		: pattern(pattern), bits(bits), keys(num_items), sorted(num_items), indices(num_items)
	{
		for (uint32_t i = 0; i < num_items; i++)
		{
			keys[i] = key(i, num_items);
			indices[i] = i;
		}
		if (pattern == SINGLE_LAUNCH_SORTED_BUT_PAIR || pattern == SINGLE_LAUNCH_REVERSED_BUT_PAIR)
			std::swap(keys[border - 1], keys[border]);
		if (pattern == SINGLE_LAUNCH_REVERSED_EQUALS)
			keys[border] = keys[border - 1];
		if (pattern == SINGLE_LAUNCH_SORTED_BUT_LAST)
			keys[num_items - 1] = 0;
		std::stable_sort(indices.begin(), indices.end(), [&] (uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
		for (uint32_t i = 0; i < num_items; i++)
			sorted[i] = keys[indices[i]];
	}

	Key
	key(uint32_t i, uint32_t num_items) const
	{
		switch (pattern)
		{
			case LAUNCH_FEW:
				return (Key) (random_bits() % 5);
			case SINGLE_LAUNCH_SORTED:
			case SINGLE_LAUNCH_SORTED_BUT_PAIR:
			case SINGLE_LAUNCH_SORTED_BUT_LAST:
				return (Key) i * 3 + 1;
			case SINGLE_LAUNCH_SORTED_EQUALS:
				return (Key) (i / 7);
			case SINGLE_LAUNCH_REVERSED:
			case SINGLE_LAUNCH_REVERSED_EQUALS:
			case SINGLE_LAUNCH_REVERSED_BUT_PAIR:
				return (Key) (num_items - i) * 3;
			case SINGLE_LAUNCH_ALL_EQUAL:
				return (Key) 42;
			case SINGLE_LAUNCH_ENDS:
				return random_bits() % 2 ? 0 : (Key) ~(Key) 0;
			default:
				/* the range begins and ends in the middle of the type's, so that no digit of the keys is that of a sum */
				return (Key) (bits == sizeof(Key) * 8 ? random_bits() :
							  random_bits() % (UINT64_C(1) << bits) + ((UINT64_C(1) << (sizeof(Key) * 8 - 1)) - 77));
		}
	}
};

/* After `sort` of a request, which is to start. */
template <typename Key, typename Sort>
static void
check_single_launch(const char *name, mgpu_sort_shape shape, const single_launch_case<Key> &test, Sort sort)
{
	bool		indexed = shape == MGPU_SHAPE_U32_INDEX || shape == MGPU_SHAPE_U64_INDEX;
	bool		ordered = std::is_sorted(test.keys.begin(), test.keys.end()) ||
		(indexed ? std::is_sorted(test.keys.rbegin(), test.keys.rend(), std::less_equal<Key>()) :
		 std::is_sorted(test.keys.rbegin(), test.keys.rend()));
	uint32_t	num_items = (uint32_t) test.keys.size();
	mgpu_sort_request request = make_request(shape, num_items, sizeof(Key), mgpu_radix_sorters[shape].temp_bytes(num_items),
											 sizeof(Key) * 8);
	int			side = request.current;
	std::vector<Key> keys(num_items);
	std::vector<uint32_t> indices(num_items);
	cudaError_t code;

	REQUIRE_CUDA(cudaMemcpy(request.keys[side], test.keys.data(), num_items * sizeof(Key), cudaMemcpyHostToDevice));
	code = sort(&request);
	REQUIRE_CUDA(cudaDeviceSynchronize());
	CHECK(code == cudaSuccess && request.current == side && request.pending.question != 0, "%s, shape %d, %u items: %s", name,
		  shape, num_items, cudaGetErrorString(code));
	CHECK(mgpu_auto_ran(&request.pending, MGPU_ALGORITHM_RADIX) == (ordered ? MGPU_ALGORITHM_LOCALITY : MGPU_ALGORITHM_RADIX),
		  "answer, %s, shape %d, %u items, pattern %d", name, shape, num_items, test.pattern);
	REQUIRE_CUDA(cudaMemcpy(keys.data(), request.keys[side], num_items * sizeof(Key), cudaMemcpyDeviceToHost));
	CHECK(keys == test.sorted, "keys, %s, shape %d, %u items, pattern %d of %u bits", name, shape, num_items, test.pattern,
		  test.bits);
	CHECK(arrays_intact(&request, shape == MGPU_SHAPE_U32_INDEX), "memory behind an array was written: %s, shape %d, %u items",
		  name, shape, num_items);
	if (!indexed)
		return;
	REQUIRE_CUDA(cudaMemcpy(indices.data(), request.indices[side], num_items * sizeof(uint32_t), cudaMemcpyDeviceToHost));
	CHECK(indices == test.indices, "indices, %s, shape %d, %u items, pattern %d of %u bits", name, shape, num_items,
		  test.pattern, test.bits);
}

/* Every pattern, and ranges of every number of digits. */
template <typename Key, typename Sort>
static void
check_patterns(const char *name, mgpu_sort_shape shape, uint32_t num_items, uint32_t most_ctas, Sort sort)
{
	mgpu_single_launch_plan plan = mgpu_plan_single_launch(num_items, most_ctas, mgpu_single_launch_tuning::threads);
	uint32_t	border = plan.num_ctas < 2 ? 1 : plan.cta_items * (1 + (uint32_t) (random_bits() % (plan.num_ctas - 1)));

	for (int pattern = 0; pattern < NUM_SINGLE_LAUNCH_PATTERNS; pattern++)
	{
		if (!tiny || pattern == LAUNCH_FEW || pattern == SINGLE_LAUNCH_SORTED || pattern == SINGLE_LAUNCH_REVERSED)
			check_single_launch(name, shape, single_launch_case<Key>(pattern, num_items, border, sizeof(Key) * 8), sort);
	}
	for (uint32_t bits : {1u, 8u, 9u, 17u, 25u, 33u, 41u, 49u, 57u})
	{
		if (bits < sizeof(Key) * 8 && (!tiny || bits == 17))
			check_single_launch(name, shape, single_launch_case<Key>(SINGLE_LAUNCH_RANDOM, num_items, border, bits), sort);
	}
}

/* A tuning by itself, which takes any number of items that its tiles hold. */
template <typename Key, bool indexed, class Tuning>
static void
check_single_launch_tuning(const char *name)
{
	const mgpu_sort_shape shape = sizeof(Key) == 4 ? (indexed ? MGPU_SHAPE_U32_INDEX : MGPU_SHAPE_U32) :
		indexed ? MGPU_SHAPE_U64_INDEX : MGPU_SHAPE_U64;
	/* rows and numbers of launches of its own, beside those of requests */
	static device_array state;
	std::vector<uint32_t> sizes = {2000};
	uint32_t	num_ctas;
	uint32_t	most_items;

	REQUIRE_CUDA((mgpu_single_launch_count_ctas<Key, indexed, Tuning>(&num_ctas)));
	most_items = num_ctas * Tuning::tile_items;
	state.reserve(sizeof(mgpu_single_launch_state));
	REQUIRE_CUDA(cudaMemset(state.memory, 0, sizeof(mgpu_single_launch_state)));
	if (!tiny)
		sizes.insert(sizes.end(), {2, 31, 32, 33, num_ctas * 32 - 1, num_ctas * 32, num_ctas * 32 + 1, num_ctas * 128 + 1,
			17 * 32 + 5, 50021});
	if (!quick)
		sizes.insert(sizes.end(), {most_items / 2 + 1, most_items - 4096, most_items - 1, most_items});
	for (uint32_t num_items : sizes)
		check_patterns<Key>(name, shape, num_items, num_ctas, [&] (mgpu_sort_request *request)
		{
			return mgpu_single_launch_sort_by<Key, indexed, Tuning>(request, reinterpret_cast<mgpu_single_launch_state *>(state.memory));
		});
	/* one item more than fits is refused, before anything is enqueued */
	if (!quick)
	{
		mgpu_sort_request request = make_request(shape, most_items, sizeof(Key), 256, sizeof(Key) * 8);

		request.num_items++;
		CHECK((mgpu_single_launch_sort_by<Key, indexed, Tuning>(&request, reinterpret_cast<mgpu_single_launch_state *>(state.memory))) ==
			  cudaErrorCooperativeLaunchTooLarge && request.pending.question == 0, "%s: %u items and one were taken", name,
			  most_items);
	}
	REQUIRE_CUDA(cudaFree(state.memory));
}

/* Radix sorts, and those of `auto` that do the same, of what the device holds. */
template <typename Key>
static void
check_requests(mgpu_sort_shape shape)
{
	for (uint32_t num_items : {(uint32_t) MGPU_SINGLE_LAUNCH_MIN_ITEMS, (uint32_t) MGPU_SINGLE_LAUNCH_AUTO_MIN_ITEMS, 1000003u})
	{
		bool		holds;

		REQUIRE_CUDA(mgpu_single_launch_holds(shape, num_items, &holds));
		if (!holds || (quick && num_items > MGPU_SINGLE_LAUNCH_MIN_ITEMS))
			continue;
		check_patterns<Key>("radix", shape, num_items, 132, [&] (mgpu_sort_request *request)
		{
			return mgpu_radix_sorters[shape].sort(request);
		});
		if (sizeof(Key) > 4 || num_items < MGPU_SINGLE_LAUNCH_AUTO_MIN_ITEMS)
			continue;
		check_patterns<Key>("auto", shape, num_items, 132, [&] (mgpu_sort_request *request)
		{
			mgpu_algorithm ran;

			return mgpu_auto_sort(shape, request, sizeof(Key), &ran);
		});
	}
}

void
test_single_launch_sorts(void)
{
	const uint64_t most_items = quick ? 60000 : MGPU_SINGLE_LAUNCH_MOST_CTAS * mgpu_single_launch_tuning_u32_large::tile_items;
	bool		holds;

	REQUIRE_CUDA(mgpu_single_launch_holds(MGPU_SHAPE_U32, MGPU_SINGLE_LAUNCH_MIN_ITEMS, &holds));
	if (!holds)
		return;
	for (int side = 0; side < 2; side++)
	{
		arrays.keys[side].reserve(most_items * 8 + 1024);
		arrays.indices[side].reserve(most_items * 4);
	}
	arrays.temp.reserve(mgpu_radix_sorters[0].temp_bytes(most_items));
	check_single_launch_tuning<uint32_t, false, mgpu_single_launch_tuning>("single launch, u32");
	check_single_launch_tuning<uint32_t, true, mgpu_single_launch_tuning>("single launch, u32 + index");
	check_single_launch_tuning<uint64_t, false, mgpu_single_launch_tuning>("single launch, u64");
	check_single_launch_tuning<uint64_t, true, mgpu_single_launch_tuning>("single launch, u64 + index");
	check_single_launch_tuning<uint32_t, false, mgpu_single_launch_tuning_u32_large>("single launch, u32, large");
	if (!tiny)
	{
		check_requests<uint32_t>(MGPU_SHAPE_U32);
		check_requests<uint32_t>(MGPU_SHAPE_U32_INDEX);
		check_requests<uint64_t>(MGPU_SHAPE_U64);
		check_requests<uint64_t>(MGPU_SHAPE_U64_INDEX);
	}
	for (int side = 0; side < 2; side++)
	{
		REQUIRE_CUDA(cudaFree(arrays.keys[side].memory));
		REQUIRE_CUDA(cudaFree(arrays.indices[side].memory));
	}
	REQUIRE_CUDA(cudaFree(arrays.temp.memory));
}

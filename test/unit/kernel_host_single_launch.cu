/*
 * kernel_host_single_launch.cu
 *		Single-launch sorts, played on the host: which CTA holds what, and passes by the
 *		sums of groups and the rows of neighbours.
 */
#include "kernel_host_test.cuh"

#include <algorithm>
#include <random>
#include <vector>

#include "sort/single_launch_plan.cuh"

static std::mt19937_64 random_bits(20261122);

/* The items that threads hold, CTA by CTA, warp by warp, round by round, are those of the array as they lie. */
static void
test_shares(uint32_t num_items, uint32_t most_ctas, uint32_t threads)
{
	mgpu_single_launch_plan plan = mgpu_plan_single_launch(num_items, most_ctas, threads);
	uint32_t	next = 0;
	bool		in_order = plan.num_ctas <= most_ctas;

	for (uint32_t cta = 0; cta < plan.num_ctas; cta++)
	{
		uint32_t	tile_items = mgpu_single_launch_tile_items(plan, cta);

		in_order &= tile_items > 0 && tile_items <= plan.cta_items;
		for (uint32_t warp = 0; warp < threads / MGPU_SINGLE_LAUNCH_LANES; warp++)
			for (uint32_t i = 0; i < plan.warp_items; i++)
				if (warp * plan.warp_items + i < tile_items)
					in_order &= cta * plan.cta_items + warp * plan.warp_items + i == next++;
	}
	CHECK(in_order && next == num_items && plan.warp_items % (MGPU_SINGLE_LAUNCH_BATCH * MGPU_SINGLE_LAUNCH_LANES) == 0,
		  "%u items by %u CTAs of %u threads: %u held", num_items, most_ctas, threads, next);
}

/* No more rounds than a thread has items for, wherever a tile of that size holds the items. */
static void
test_capacity(uint32_t most_ctas, uint32_t threads, uint32_t items)
{
	uint32_t	most = most_ctas * threads * items;

	for (uint32_t num_items : {most, most - 1, most - 31, most - 32, most - 33, most / 2 + 1, most - threads * items + 1})
		CHECK(mgpu_plan_single_launch(num_items, most_ctas, threads).warp_items <= items * MGPU_SINGLE_LAUNCH_LANES &&
			  mgpu_plan_single_launch(num_items, most_ctas, threads).cta_items <= threads * items,
			  "%u items by %u CTAs of %u x %u", num_items, most_ctas, threads, items);
}

/* CTAs that add to the sums of a group: all before it, or all. */
static uint32_t
ctas_before(const mgpu_single_launch_plan &plan, uint32_t group)
{
	return group < mgpu_single_launch_groups(plan) ? group * MGPU_SINGLE_LAUNCH_GROUP_CTAS : plan.num_ctas;
}

/* What the CTAs tell each other of one digit. */
struct published_counts
{
	std::vector<std::vector<uint32_t>> rows;
	std::vector<std::vector<uint32_t>> sums;

	published_counts(const mgpu_single_launch_plan &plan, const std::vector<uint64_t> &keys, uint32_t digit)
		: rows(plan.num_ctas, std::vector<uint32_t>(MGPU_RADIX_DIGITS)),
		sums(mgpu_single_launch_groups(plan) + 1, std::vector<uint32_t>(MGPU_RADIX_DIGITS))
	{
		for (uint32_t item = 0; item < plan.num_items; item++)
			rows[item / plan.cta_items][keys[item] >> digit * MGPU_RADIX_BITS & (MGPU_RADIX_DIGITS - 1)]++;
		for (uint32_t cta = 0; cta < plan.num_ctas; cta++)
			for (uint32_t group = mgpu_single_launch_groups(plan); group > cta / MGPU_SINGLE_LAUNCH_GROUP_CTAS; group--)
				for (uint32_t value = 0; value < MGPU_RADIX_DIGITS; value++)
					sums[group][value] += rows[cta][value] + MGPU_SINGLE_LAUNCH_ONE_CTA;
	}
};

/* One pass, each item to the place that its CTA finds for it. */
static bool
play_pass(const mgpu_single_launch_plan &plan, const std::vector<uint64_t> &keys, std::vector<uint64_t> &moved, uint32_t digit)
{
	published_counts published(plan, keys, digit);
	const std::vector<uint32_t> &totals = published.sums[mgpu_single_launch_groups(plan)];
	bool		complete = true;

	for (uint32_t cta = 0; cta < plan.num_ctas; cta++)
	{
		uint32_t	group = cta / MGPU_SINGLE_LAUNCH_GROUP_CTAS;
		uint32_t	begin = 0;
		std::vector<uint32_t> places(MGPU_RADIX_DIGITS);

		for (uint32_t value = 0; value < MGPU_RADIX_DIGITS; value++)
		{
			complete &= published.sums[group][value] / MGPU_SINGLE_LAUNCH_ONE_CTA == ctas_before(plan, group) &&
				totals[value] / MGPU_SINGLE_LAUNCH_ONE_CTA == ctas_before(plan, mgpu_single_launch_groups(plan));
			places[value] = begin + published.sums[group][value] % MGPU_SINGLE_LAUNCH_ONE_CTA;
			for (uint32_t before = group * MGPU_SINGLE_LAUNCH_GROUP_CTAS; before < cta; before++)
				places[value] += published.rows[before][value];
			begin += totals[value] % MGPU_SINGLE_LAUNCH_ONE_CTA;
		}
		for (uint32_t i = 0; i < mgpu_single_launch_tile_items(plan, cta); i++)
		{
			uint64_t	key = keys[cta * plan.cta_items + i];
			uint32_t	place = places[key >> digit * MGPU_RADIX_BITS & (MGPU_RADIX_DIGITS - 1)]++;

			if (place >= plan.num_items)
				return false;
			moved[place] = key;
		}
	}
	return complete;
}

/* Keys of a range from `least` on, which they lose before the first pass; none is lost on the way. */
static void
test_passes(uint32_t num_items, uint32_t most_ctas, uint64_t least, uint64_t range)
{
	mgpu_single_launch_plan plan = mgpu_plan_single_launch(num_items, most_ctas, 512);
	std::vector<uint64_t> keys(num_items);
	std::vector<uint64_t> moved(num_items);
	std::vector<uint64_t> sorted;
	bool		right = true;

	for (uint64_t &key : keys)
		key = least + (range == UINT64_MAX ? random_bits() : random_bits() % (range + 1));
	keys[0] = least;
	keys[num_items - 1] = least + range;
	sorted = keys;
	std::sort(sorted.begin(), sorted.end());
	for (uint64_t &key : keys)
		key -= least;
	for (uint32_t digit = 0; digit < mgpu_single_launch_digits(range); digit++)
	{
		right &= play_pass(plan, keys, moved, digit);
		keys.swap(moved);
	}
	for (uint64_t &key : keys)
		key += least;
	CHECK(right && keys == sorted, "%u items by %u CTAs, keys from %llu on, of a range of %llu", num_items, most_ctas,
		  (unsigned long long) least, (unsigned long long) range);
}

void
test_single_launch_sorts_on_host()
{
	const uint64_t ranges[] = {1, 200, 255, 256, 65535, 65536, (UINT64_C(1) << 32) - 1, UINT64_C(1) << 32,
		(UINT64_C(1) << 56) - 1, UINT64_MAX >> 1};

	for (int turn = 0; turn < 400; turn++)
		test_shares(1 + random_bits() % 40000, 1 + random_bits() % MGPU_SINGLE_LAUNCH_MOST_CTAS, turn % 2 ? 512 : 256);
	for (uint32_t num_items : {1u, 31u, 32u, 33u, 32u * 132, 32u * 132 + 1, 1000000u, 132u * 512 * 16})
		test_shares(num_items, 132, 512);
	for (uint32_t most_ctas : {1u, 108u, 132u, 148u, (uint32_t) MGPU_SINGLE_LAUNCH_MOST_CTAS})
	{
		test_capacity(most_ctas, 512, mgpu_single_launch_tuning::items_per_thread);
		test_capacity(most_ctas, 512, mgpu_single_launch_tuning_u32_large::items_per_thread);
	}
	for (uint64_t range : ranges)
		for (uint32_t most_ctas : {1u, 15u, 16u, 17u, 132u})
		{
			test_passes(2 + random_bits() % 3000, most_ctas, 0, range);
			test_passes(2 + random_bits() % 20000, most_ctas, range <= UINT32_MAX ? UINT64_C(0x7FFFFFFF) - range / 3 : 1000003, range);
		}
	test_passes(5000, 132, 0, UINT64_MAX);
}

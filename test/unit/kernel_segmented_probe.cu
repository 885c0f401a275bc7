/*
 * kernel_segmented_probe.cu
 *		The locality probe, played on the host.
 *
 * Keys are a function of their place, so arrays of any size take no memory.
 */
#include "kernel_segmented_test.cuh"

#include "segmented/locality_probe.cuh"
#include "sort/tuning.cuh"

/* Key of a place: within `distance` of it, from any of them behind `random_from`. */
struct placed_keys
{
	uint64_t	num_items;
	uint64_t	distance;
	uint64_t	random_from;
	bool		reversed;

	uint64_t
	at(uint64_t item) const
	{
		uint64_t	place = reversed ? num_items - 1 - item : item;
		uint64_t	bits = (item + 1) * UINT64_C(0x9E3779B97F4A7C15);

		bits = (bits ^ bits >> 31) * UINT64_C(0x7FB5D329728EA185);
		bits ^= bits >> 29;
		return item >= random_from ? bits % num_items : place + bits % distance;
	}
};

/* What the CTAs of the kernel count. */
static mgpu_locality_counts
play_locality_probe(const mgpu_locality_plan &plan, const placed_keys &keys)
{
	uint64_t	stride = (plan.num_items - 1) / MGPU_LOCALITY_PROBE_THREADS;
	mgpu_locality_counts counts = {};

	for (uint32_t pass = 0; pass < plan.num_passes; pass++)
		for (uint32_t cta = 0; cta < MGPU_LOCALITY_PROBE_CTAS; cta++)
		{
			uint64_t	greatest_a = 0;
			uint64_t	least_b = UINT64_MAX;

			for (uint32_t thread = 0; thread < MGPU_LOCALITY_PROBE_THREADS; thread++)
			{
				uint64_t	key = keys.at(mgpu_locality_item(plan, pass, cta, thread));

				if (thread < MGPU_LOCALITY_PROBE_THREADS / 2)
					greatest_a = std::max(greatest_a, key);
				else
					least_b = std::min(least_b, key);
			}
			for (uint32_t thread = 0; thread < MGPU_LOCALITY_PROBE_THREADS; thread++)
			{
				uint64_t	key = keys.at(mgpu_locality_item(plan, pass, cta, thread));

				counts.moved[pass][cta] += thread < MGPU_LOCALITY_PROBE_THREADS / 2 ? least_b < key : key < greatest_a;
			}
		}
	for (uint32_t cta = 0; cta < MGPU_LOCALITY_PROBE_CTAS; cta++)
	{
		bool		unsorted = false;
		uint64_t	differing = 0;

		for (uint32_t thread = 0; thread < MGPU_LOCALITY_PROBE_THREADS; thread++)
		{
			uint64_t	item = mgpu_locality_neighbour(plan, cta, thread);

			unsorted |= keys.at(item + 1) < keys.at(item);
			differing |= (keys.at(item) ^ keys.at(0)) | (keys.at((thread + 1) * stride) ^ keys.at(0));
		}
		counts.unsorted[cta] = unsorted;
		counts.differing[cta] = differing;
	}
	for (uint32_t thread = 0; thread < MGPU_LOCALITY_PROBE_THREADS; thread++)
		counts.descents += keys.at((thread + 1) * stride) < keys.at(thread * stride);
	return counts;
}

static mgpu_cost_estimate
play_estimate(mgpu_sort_shape shape, const placed_keys &keys)
{
	mgpu_locality_plan plan = mgpu_plan_locality_probe(shape, keys.num_items);

	return mgpu_conclude(plan, play_locality_probe(plan, keys), shape, shape == MGPU_SHAPE_U32 || shape == MGPU_SHAPE_U32_INDEX ? 32 : 64);
}

/* Samples lie in the two lists that the pass merges. */
static void
check_samples(mgpu_sort_shape shape, uint64_t num_items)
{
	mgpu_locality_plan plan = mgpu_plan_locality_probe(shape, num_items);
	bool		inside = true;

	for (uint32_t pass = 0; pass < plan.num_passes; pass++)
		for (uint32_t cta = 0; cta < MGPU_LOCALITY_PROBE_CTAS; cta++)
		{
			uint64_t	run_items = (uint64_t) plan.first_run_items << pass;
			uint64_t	list = mgpu_locality_item(plan, pass, cta, 0) / run_items;

			inside &= list % 2 == 0;
			for (uint32_t thread = 0; thread < MGPU_LOCALITY_PROBE_THREADS; thread++)
			{
				uint64_t	item = mgpu_locality_item(plan, pass, cta, thread);

				inside &= item < num_items && item / run_items == list + (thread >= MGPU_LOCALITY_PROBE_THREADS / 2);
			}
		}
	for (uint32_t cta = 0; cta < MGPU_LOCALITY_PROBE_CTAS; cta++)
		inside &= mgpu_locality_neighbour(plan, cta, MGPU_LOCALITY_PROBE_THREADS - 1) + 1 < num_items;
	expect(inside, "a probe's samples, shape %d, %llu items", shape, (unsigned long long) num_items);
}

/*
 * Passes predicted for keys within a distance, against those that such keys take:
 * of the keys that are so near to an interface, half are on the wrong side.
 */
static void
check_distances(mgpu_sort_shape shape, uint64_t num_items)
{
	for (uint64_t distance = 100; distance <= num_items; distance *= 10)
	{
		mgpu_locality_plan plan = mgpu_plan_locality_probe(shape, num_items);
		mgpu_cost_estimate estimate = play_estimate(shape, {num_items, distance, UINT64_MAX, false});
		double		passes = 0;

		for (uint32_t pass = 0; pass < plan.num_passes; pass++)
		{
			double		run_items = (double) ((uint64_t) plan.first_run_items << pass);

			passes += distance < run_items ? distance / run_items / 2 : 1 - run_items / distance / 2;
		}
		expect(estimate.passes > 0.6 * passes - 0.1 && estimate.passes < 1.2 * passes + 0.1,
			   "shape %d, %llu items, within %llu: %.2f passes predicted, %.2f expected", shape,
			   (unsigned long long) num_items, (unsigned long long) distance, estimate.passes, passes);
	}
}

/* The sort that was measured to be a tenth faster or more is chosen. */
static void
check_choices()
{
	const mgpu_algorithm locality = MGPU_ALGORITHM_LOCALITY;
	const mgpu_algorithm radix = MGPU_ALGORITHM_RADIX;
	const mgpu_algorithm merge = MGPU_ALGORITHM_MERGE;
	const struct
	{
		mgpu_sort_shape shape;
		uint64_t	num_items;
		uint64_t	distance;
		mgpu_algorithm choice;
	}			measured[] = {
		{MGPU_SHAPE_U32, 100000000, 1000, locality}, {MGPU_SHAPE_U32, 100000000, 1000000, radix},
		{MGPU_SHAPE_U32, 10000000, 10000, radix}, {MGPU_SHAPE_U32, 10000000, 10000000, radix},
		{MGPU_SHAPE_U32, 1000000, 100, merge}, {MGPU_SHAPE_U32, 1000000, 1000000, merge},
		{MGPU_SHAPE_U64, 100000000, 10000, locality}, {MGPU_SHAPE_U64, 10000000, 10000, locality},
		{MGPU_SHAPE_U64, 10000000, 1000000, merge}, {MGPU_SHAPE_U64, 1000000, 1000000, merge},
		{MGPU_SHAPE_U32_INDEX, 100000000, 10000, radix}, {MGPU_SHAPE_U32_INDEX, 10000000, 10000, radix},
		{MGPU_SHAPE_U32_INDEX, 1000000, 1000000, radix}, {MGPU_SHAPE_U64_INDEX, 1000000, 1000000, merge},
		{MGPU_SHAPE_U64_INDEX, 100000000, 10000, radix}, {MGPU_SHAPE_U64_INDEX, 10000000, 10000, merge}
	};

	for (const auto &choice : measured)
		expect(play_estimate(choice.shape, {choice.num_items, choice.distance, UINT64_MAX, false}).choice == choice.choice,
			   "choice for shape %d, %llu items, within %llu", choice.shape, (unsigned long long) choice.num_items,
			   (unsigned long long) choice.distance);
	for (mgpu_sort_shape shape : {MGPU_SHAPE_U32, MGPU_SHAPE_U64, MGPU_SHAPE_U32_INDEX, MGPU_SHAPE_U64_INDEX})
	{
		const uint64_t num_items = 50000000;

		for (uint64_t sorted_items : {num_items, MGPU_PROBE_MIN_ITEMS})
		{
			expect(play_estimate(shape, {sorted_items, 1, UINT64_MAX, false}).passes == 0, "sorted, shape %d", shape);
			expect(play_estimate(shape, {sorted_items, 1, UINT64_MAX, false}).choice == locality, "sorted, shape %d", shape);
			expect(play_estimate(shape, {sorted_items, 1, UINT64_MAX, true}).choice == locality, "reversed, shape %d", shape);
			expect(play_estimate(shape, {sorted_items, 1, 0, false}).choice != locality, "random, shape %d", shape);
		}
		/* a batch appended: few tiles to sort, and only the last lists to merge */
		expect(play_estimate(shape, {num_items, 1, num_items / 100 * 98, false}).choice == locality, "appended, shape %d", shape);
	}
}

/* Keys of a narrow range are all read where a radix sort would gain digits by it, and only there. */
static void
check_reading()
{
	const struct
	{
		mgpu_sort_shape shape;
		uint64_t	num_items;
		uint64_t	distance;
		bool		reads;
	}			cases[] = {
		{MGPU_SHAPE_U32, 10000000, 1000000, true}, {MGPU_SHAPE_U32, 10000000, 1, false},
		{MGPU_SHAPE_U32, 100000000, 1000000, false}, {MGPU_SHAPE_U32, 1000000, 1000000, false},
		{MGPU_SHAPE_U64, 10000000, 1000000, true}, {MGPU_SHAPE_U64, 100000000, 1000000, true},
		{MGPU_SHAPE_U64, 100000000, 1, false}, {MGPU_SHAPE_U64_INDEX, 100000000, 10000, true}
	};

	for (const auto &one : cases)
	{
		mgpu_locality_plan plan = mgpu_plan_locality_probe(one.shape, one.num_items);
		uint32_t	key_bits = one.shape == MGPU_SHAPE_U32 ? 32 : 64;
		mgpu_locality_counts counts = play_locality_probe(plan, {one.num_items, one.distance, UINT64_MAX, false});

		expect(mgpu_pays_to_read(plan, counts, one.shape, key_bits) == one.reads, "reading all, shape %d, %llu items, within %llu",
			   one.shape, (unsigned long long) one.num_items, (unsigned long long) one.distance);
	}
	for (uint32_t bits = 0; bits < 64; bits++)
	{
		uint64_t	differing[3] = {0, UINT64_C(1) << bits, 1};

		expect(mgpu_count_key_bits(differing, 64) == bits / 8 * 8 + 8 &&
			   mgpu_count_key_bits(differing, 32) == std::min(bits / 8 * 8 + 8, UINT32_C(32)), "bits of keys up to %u", bits);
	}
}

void
test_locality_probe_on_host()
{
	for (mgpu_sort_shape shape : {MGPU_SHAPE_U32, MGPU_SHAPE_U64, MGPU_SHAPE_U32_INDEX, MGPU_SHAPE_U64_INDEX})
	{
		for (uint64_t num_items : {UINT64_C(1025), UINT64_C(16000), UINT64_C(300000), UINT64_C(3000017), MGPU_MAX_ITEMS})
			check_samples(shape, num_items);
		check_distances(shape, 10000000);
		check_distances(shape, 100000000);
	}
	check_choices();
	check_reading();
}

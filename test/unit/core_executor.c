/*
 * core_executor.c
 *		mgpu_cpu_executor against qsort.
 *
 * Cases have every key type, output, algorithm and distribution, and sizes around the
 * limits between strategies.
 */
#include "unit_sort.h"

static const mgpu_executor *const executor = &mgpu_cpu_executor;

/* Every type with every shape, algorithm and operation; the rest is random. */
static void
test_products(void)
{
	static const uint64_t sizes[] = {3, 499, 700, 1500, 3000};

	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (int shape = 0; shape < UNIT_NUM_SHAPES; shape++)
			for (uint32_t algorithm = MGPU_ALGORITHM_AUTO; algorithm <= MGPU_ALGORITHM_LOCALITY; algorithm++)
				for (uint32_t op = MGPU_OP_SORT; op <= MGPU_OP_SORT_PAIRS; op++)
					for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
					{
						unit_sort_case test = unit_sort_random(sizes[i]);

						test.type = &unit_types[type];
						test.shape = shape;
						test.algorithm = algorithm;
						test.op = op;
						test.outputs = op == MGPU_OP_SORT ? MGPU_OUT_KEYS : 1 + (uint32_t) unit_random_below(7);
						unit_sort_run(&test);
					}
}

/* Every size up to 300, and sizes around the thresholds. */
static void
test_sizes(void)
{
	for (uint64_t num_items = 0; num_items <= 300; num_items++)
		for (int i = 0; i < 4; i++)
		{
			unit_sort_case test = unit_sort_random(num_items);

			unit_sort_run(&test);
		}
	for (int i = 0; i < 3000; i++)
	{
		static const uint64_t thresholds[] = {128, 256, 400, 500, 512, 600, 750, 800, 1024, 1500, 2048, 3000};
		unit_sort_case test = unit_sort_random(thresholds[unit_random_below(12)] + unit_random_below(5) - 2);

		unit_sort_run(&test);
	}
}

/* The shipped tunables, at sizes where the strategy changes. */
static void
test_shipped_tunables(void)
{
	static const uint64_t sizes[] = {65537, 100000, 1048575, 1048577, 3000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int j = 0; j < (int) (sizes[i] > 1000000 ? unit_tiered(2, 4) : unit_tiered(6, 20)); j++)
		{
			unit_sort_case test = unit_sort_random(sizes[i]);

			test.algorithm = j % 2 ? test.algorithm : MGPU_ALGORITHM_AUTO;
			unit_sort_run(&test);
		}
}

int
main(void)
{
	mgpu_cpu_tuning shipped = mgpu_cpu_tunables;

	UNIT_CHECK(strcmp(executor->name, "cpu") == 0);
	unit_sort_shrink_tunables();
	test_sizes();
	test_products();
	mgpu_cpu_tunables = shipped;
	test_shipped_tunables();
	return unit_report();
}

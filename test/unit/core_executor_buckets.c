/*
 * core_executor_buckets.c
 *		mgpu_cpu_executor with few and with many buckets.
 *
 * Indices or values move together with their codes.
 */
#include "unit_sort.h"

/* Two planned buckets with short polls, then many buckets. */
static void
test_buckets(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	mgpu_cpu_tunables.max_buckets = 2;
	mgpu_cpu_tunables.poll_ms = 1;
	for (int i = 0; i < 500; i++)
	{
		unit_sort_case test = unit_sort_random(600 + unit_random_below(2000));

		test.algorithm = MGPU_ALGORITHM_AUTO;
		unit_sort_run(&test);
	}
	mgpu_cpu_tunables.max_buckets = 512;
	mgpu_cpu_tunables.pair_bucket_items = 10;
	mgpu_cpu_tunables.samples_per_bucket = 4;
	for (int i = 0; i < 100; i++)
	{
		unit_sort_case test = unit_sort_random(4000);

		test.algorithm = MGPU_ALGORITHM_AUTO;
		test.op = MGPU_OP_SORT_PAIRS;
		unit_sort_run(&test);
	}
	mgpu_cpu_tunables = before;
}

/* Pairs with every set of outputs: values move with the codes, or are gathered by index. */
static void
test_moved(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	for (int i = 0; i < 3000; i++)
	{
		unit_sort_case test = unit_sort_random(500 + unit_random_below(4000));

		mgpu_cpu_tunables.max_buckets = i % 8 == 1 ? 512 : before.max_buckets;
		test.op = MGPU_OP_SORT_PAIRS;
		test.algorithm = MGPU_ALGORITHM_AUTO;
		test.outputs = 1 + (uint32_t) i % 7;
		unit_sort_run(&test);
	}
	mgpu_cpu_tunables = before;
}

int
main(void)
{
	unit_sort_shrink_tunables();
	test_buckets();
	test_moved();
	return unit_report();
}

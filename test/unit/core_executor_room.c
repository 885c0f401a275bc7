/*
 * core_executor_room.c
 *		mgpu_cpu_executor where memory beside input and result is short: other
 *		algorithms, fewer buckets, values that move with their codes.
 */
#include "unit_sort.h"

/* No room for what the scatter saves; few planned buckets; tiny polls. */
static void
test_little_scratch(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	mgpu_cpu_tunables.scratch_bytes = 1;
	mgpu_cpu_tunables.pair_max_buckets = 3;
	mgpu_cpu_tunables.max_buckets = 2;
	mgpu_cpu_tunables.poll_ms = 1;
	for (int i = 0; i < 500; i++)
	{
		unit_sort_case test = unit_sort_random(600 + unit_random_below(2000));

		test.algorithm = MGPU_ALGORITHM_AUTO;
		unit_sort_run(&test);
	}
	/* more buckets than a byte holds */
	mgpu_cpu_tunables.pair_max_buckets = 512;
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

/* Pairs whose requested algorithm finds out, before it begins or halfway, that it has no room. */
static void
test_no_room_for_records(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	for (int i = 0; i < 600; i++)
	{
		unit_sort_case test = unit_sort_random(600 + unit_random_below(3000));

		mgpu_cpu_tunables.scratch_bytes = 1 + unit_random_below(100000);
		test.op = i % 4 ? MGPU_OP_SORT_PAIRS : MGPU_OP_SORT;
		if (test.op == MGPU_OP_SORT)
			test.outputs = MGPU_OUT_KEYS;
		test.algorithm = (mgpu_algorithm) (MGPU_ALGORITHM_MERGE + unit_random_below(3));
		unit_sort_run(&test);
	}
	mgpu_cpu_tunables = before;
}

/* Values that move with their codes: all at once, in groups of buckets, single large ones. */
static void
test_carried_values(void)
{
	mgpu_cpu_tuning before = mgpu_cpu_tunables;

	for (int i = 0; i < 2000; i++)
	{
		unit_sort_case test = unit_sort_random(500 + unit_random_below(4000));

		mgpu_cpu_tunables.scratch_bytes = i % 4 == 0 ? before.scratch_bytes : unit_random_below(50000);
		mgpu_cpu_tunables.pair_max_buckets = i % 8 == 1 ? 512 : before.pair_max_buckets;
		test.op = MGPU_OP_SORT_PAIRS;
		test.algorithm = MGPU_ALGORITHM_AUTO;
		test.outputs = i % 2 ? MGPU_OUT_VALUES : MGPU_OUT_VALUES | MGPU_OUT_KEYS;
		test.value_width = i % 3 ? 1 + (uint32_t) unit_random_below(2) : test.value_width;
		unit_sort_run(&test);
	}
	mgpu_cpu_tunables = before;
}

int
main(void)
{
	unit_sort_shrink_tunables();
	test_little_scratch();
	test_no_room_for_records();
	test_carried_values();
	return unit_report();
}

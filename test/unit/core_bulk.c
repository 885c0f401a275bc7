/*
 * core_bulk.c
 *		Bulk remove and bulk insert against loops over single values.
 */
#include "unit_run.h"

typedef enum pattern
{
	PATTERN_NONE,
	PATTERN_ALL,				/* remove: every position; insert: one before each */
	PATTERN_FIRST,
	PATTERN_LAST,				/* insert: at the end */
	PATTERN_SECOND,				/* every second position */
	PATTERN_ONE,				/* insert: many at one position */
	PATTERN_RANDOM,
	PATTERN_SPARSE,
	PATTERN_RUNS,				/* runs of neighbouring positions */
	NUM_PATTERNS
} pattern;

static const uint32_t widths[] = {1, 2, 4, 8, 16};

static bool
is_chosen(pattern chosen, uint64_t i, uint64_t num_items)
{
	switch (chosen)
	{
		case PATTERN_ALL:
			return true;
		case PATTERN_FIRST:
			return i == 0;
		case PATTERN_LAST:
			return i + 1 == num_items;
		case PATTERN_SECOND:
			return i % 2 == 1;
		case PATTERN_RANDOM:
			return unit_random_below(3) == 0;
		case PATTERN_SPARSE:
			return unit_random_below(200) == 0;
		case PATTERN_RUNS:
			return i / 37 % 3 == 1;
		default:
			return false;
	}
}

/* Ascending positions below limit; with repeat, a position may occur several times. */
static uint32_t *
make_positions(pattern chosen, uint64_t limit, bool repeat, uint64_t *num_positions)
{
	uint32_t   *positions = unit_allocate((limit * 3 + 500) * sizeof(*positions));
	uint32_t   *exact;
	uint64_t	one = unit_random_below(limit + 1);

	*num_positions = 0;
	for (uint64_t i = 0; i < limit; i++)
	{
		uint64_t	times = is_chosen(chosen, i, limit) ? 1 : 0;

		if (repeat && times > 0 && chosen == PATTERN_RANDOM)
			times += unit_random_below(3);
		if (repeat && chosen == PATTERN_ONE && (i == one || i + 1 == limit))
			times = 200;
		while (times-- > 0)
			positions[(*num_positions)++] = (uint32_t) i;
	}
	exact = unit_allocate(*num_positions * sizeof(*exact));
	memcpy(exact, positions, *num_positions * sizeof(*exact));
	free(positions);
	return exact;
}

static char *
random_bytes(uint64_t num_bytes)
{
	char	   *bytes = unit_allocate(num_bytes);

	for (uint64_t i = 0; i < num_bytes; i++)
		bytes[i] = (char) unit_random();
	return bytes;
}

/* The expected result of a removal; the caller frees it. */
static char *
remove_one_by_one(const char *values, uint64_t num_items, uint32_t width, const uint32_t *positions,
				  uint64_t num_positions)
{
	char	   *result = unit_allocate(num_items * width);
	uint64_t	next = 0;
	uint64_t	out = 0;

	for (uint64_t i = 0; i < num_items; i++)
		if (next < num_positions && positions[next] == i)
			next++;
		else
			memcpy(result + out++ * width, values + i * width, width);
	return result;
}

static char *
insert_one_by_one(const char *values, uint64_t num_items, uint32_t width, const uint32_t *positions,
				  const char *inserted, uint64_t num_positions)
{
	char	   *result = unit_allocate((num_items + num_positions) * width);
	uint64_t	next = 0;
	uint64_t	out = 0;

	for (uint64_t i = 0; i <= num_items; i++)
	{
		for (; next < num_positions && positions[next] == i; next++)
			memcpy(result + out++ * width, inserted + next * width, width);
		if (i < num_items)
			memcpy(result + out++ * width, values + i * width, width);
	}
	return result;
}

static void
run_case(uint32_t op, pattern chosen, uint32_t width, uint64_t num_items, unsigned streamed, int num_threads)
{
	mgpu_job	job = {.op = op,.value_width = width,.outputs = MGPU_OUT_VALUES,.num_items = num_items};
	mgpu_binding binding = {0};
	mgpu_run_stats stats = {0};
	mgpu_error	err = {0};
	bool		inserts = op == MGPU_OP_INSERT;
	uint32_t   *positions = make_positions(chosen, num_items + inserts, inserts, &job.num_b_items);
	char	   *values = random_bytes(num_items * width);
	char	   *inserted = random_bytes(job.num_b_items * width);
	uint64_t	num_out = inserts ? num_items + job.num_b_items : num_items - job.num_b_items;
	char	   *out = unit_allocate(num_out * width);
	char	   *expected;

	binding.in_values = values;
	binding.in_b_values = inserts ? inserted : NULL;
	binding.in_positions = positions;
	binding.out_values = out;
	UNIT_CONTEXT("op %u pattern %d width %u items %llu positions %llu streamed %x threads %d", op, (int) chosen, width,
				 (unsigned long long) num_items, (unsigned long long) job.num_b_items, streamed, num_threads);
	UNIT_CHECK(unit_run_job(&job, &binding, streamed, num_threads, &stats, &err) == MGPU_OK);
	expected = inserts ? insert_one_by_one(values, num_items, width, positions, inserted, job.num_b_items) :
		remove_one_by_one(values, num_items, width, positions, job.num_b_items);
	UNIT_CHECK(memcmp(out, expected, num_out * width) == 0);
	free(positions);
	free(values);
	free(inserted);
	free(out);
	free(expected);
}

/* Every operation, pattern and width, bound and streamed. */
static void
test_products(void)
{
	static const unsigned streams[] = {
		0, 1 << MGPU_CHANNEL_VALUES, 1 << MGPU_CHANNEL_B_VALUES,
		(1 << MGPU_CHANNEL_VALUES) | (1 << MGPU_CHANNEL_B_VALUES)
	};

	for (uint32_t op = MGPU_OP_REMOVE; op <= MGPU_OP_INSERT; op++)
		for (int chosen = 0; chosen < NUM_PATTERNS; chosen++)
			for (int width = 0; width < 5; width++)
				for (int streamed = 0; streamed < (op == MGPU_OP_INSERT ? 4 : 2); streamed++)
					for (int i = 0; i < 3; i++)
						run_case(op, (pattern) chosen, widths[width], unit_random_below(i == 0 ? 30 : 3000),
								 streams[streamed], 1 << unit_random_below(3));
}

static void
test_small(void)
{
	for (uint32_t op = MGPU_OP_REMOVE; op <= MGPU_OP_INSERT; op++)
		for (uint64_t num_items = 0; num_items < 70; num_items++)
			for (int chosen = 0; chosen < NUM_PATTERNS; chosen++)
				run_case(op, (pattern) chosen, widths[unit_random_below(5)], num_items,
						 unit_random_below(2) ? 1 << MGPU_CHANNEL_VALUES : 0, 1);
}

static void
test_bindings(void)
{
	uint32_t	value = 1;
	mgpu_job	job = {
		.op = MGPU_OP_REMOVE,.value_width = 4,.outputs = MGPU_OUT_VALUES,.num_items = 1,.num_b_items = 1
	};
	mgpu_binding binding = {.in_values = &value,.out_values = &value};
	mgpu_run_stats stats;
	mgpu_error	err;

	UNIT_CONTEXT("no positions");
	UNIT_CHECK(unit_run_job(&job, &binding, 0, 1, &stats, &err) == MGPU_BAD_JOB);
}

int
main(void)
{
	mgpu_cpu_tunables.slot_bytes = 512;
	mgpu_cpu_tunables.step_bytes = 1024;
	mgpu_cpu_tunables.threads_min_bytes = 512;
	test_products();
	test_small();
	test_bindings();
	return unit_report();
}

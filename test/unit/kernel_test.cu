/*
 * kernel_test.cu
 *		Tests of the kernels, the CUDA engine and the CUDA executor, without PostgreSQL.
 *
 *	kernel_test [--quick | --tiny] [--clean] [--own] [--auto | --sorts | --groups | --executor] [--large]
 *
 * --quick runs a set small enough for compute-sanitizer, --tiny for its racecheck; --clean leaves out what
 * makes a sanitizer report an error on purpose, --own CUB's sorts.  A part of the tests alone: --auto, sorts
 * behind the sortedness probe, --sorts, each sort by itself, --groups, pages of tables, or --executor, the engine and
 * the executor.  --large runs sorts of more than 2^31 items as well, which take 60 GB of device memory.  Exits with 0
 * when all passed, 1 when something failed and 77 where there is no GPU.
 */
#include "kernel_test.cuh"

#include <cstring>

#include "core/executor.h"

int			tests_passed = 0;
int			tests_failed = 0;
bool		quick = false;
bool		tiny = false;
bool		clean = false;
bool		own_only = false;
std::mt19937_64 random_bits(20250117);

const char *const pattern_names[NUM_PATTERNS] = {
	"random", "all largest", "few distinct", "sorted", "reversed", "all equal", "many largest", "bit reversed",
	"one bank"
};

/* The lowest `bits` bits of a number in reverse order. */
static uint64_t
reverse_bits(uint64_t number, int bits)
{
	uint64_t	reversed = 0;

	for (int bit = 0; bit < bits; bit++)
		reversed |= (number >> bit & 1) << (bits - 1 - bit);
	return reversed;
}

uint64_t
pattern_key(int pattern, uint64_t item, uint64_t num_items, int key_bits)
{
	uint64_t	mask = key_bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << key_bits) - 1;

	switch (pattern)
	{
		case PATTERN_ALL_LARGEST:
			return mask;
		case PATTERN_FEW:
			return random_bits() % 5 & mask;
		case PATTERN_SORTED:
			return item & mask;
		case PATTERN_REVERSED:
			return (num_items - item) & mask;
		case PATTERN_ALL_EQUAL:
			return 42 & mask;
		case PATTERN_MANY_LARGEST:
			return random_bits() % 2 ? mask : random_bits() & mask;
		case PATTERN_BIT_REVERSED:
			return reverse_bits(item, 24) & mask;
		case PATTERN_ONE_BANK:
			/* stretches of 32 items go to the two halves in turn */
			return (item / 32 % 2 * (num_items / 2) + item / 64 * 32 + item % 32) & mask;
		default:
			return random_bits() & mask;
	}
}

/* Whether a part of the tests is asked for: by its option, or as one of all. */
static bool
is_wanted(const char *only, const char *part)
{
	return only == nullptr || strcmp(only, part) == 0;
}

static void
report(const char *part)
{
	printf("%s: %d passed, %d failed\n", part, tests_passed, tests_failed);
	fflush(stdout);
}

static void
run_tests(const char *only, bool large)
{
	if (is_wanted(only, "--auto"))
	{
		test_auto_sorts();
		report("sorts of auto");
	}
	if (is_wanted(only, "--sorts"))
	{
		test_device_sorts();
		report("device sorts");
		if (!quick)
			test_k_way_sorts();
		if (large)
			test_large_sorts();
	}
	if (is_wanted(only, "--executor") && !tiny)
		test_engine();
	if (is_wanted(only, "--groups"))
	{
		test_programs();
		test_groups();
		report("engine and groups");
	}
	if (is_wanted(only, "--executor"))
	{
		if (!tiny)
		{
			test_executor();
			test_ops();
			test_op_runs();
		}
		report("with the executor");
	}
	if (is_wanted(only, "--executor") && !clean)
		test_sticky_failure();
}

int
main(int argc, char **argv)
{
	const char *only = nullptr;
	bool		large = false;
	int			count;
	mgpu_error	err;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--quick") == 0)
			quick = true;
		else if (strcmp(argv[i], "--tiny") == 0)
			quick = tiny = true;
		else if (strcmp(argv[i], "--clean") == 0)
			clean = true;
		else if (strcmp(argv[i], "--own") == 0)
			own_only = true;
		else if (strcmp(argv[i], "--auto") == 0 || strcmp(argv[i], "--sorts") == 0 ||
				 strcmp(argv[i], "--groups") == 0 || strcmp(argv[i], "--executor") == 0)
			only = argv[i];
		else if (strcmp(argv[i], "--large") == 0)
			large = true;
		else
		{
			fprintf(stderr, "usage: kernel_test [--quick | --tiny] [--clean] [--own] [--auto | --sorts | --groups | "
					"--executor] [--large]\n");
			return 2;
		}
	}
	if (mgpu_cuda_executor.num_devices(&count, &err) != MGPU_OK)
	{
		printf("no usable GPU: %s\n", err.message);
		return 77;
	}
	run_tests(only, large);
	printf("%d passed, %d failed\n", tests_passed, tests_failed);
	return tests_failed == 0 ? 0 : 1;
}

/*
 * kernel_test.cuh
 *		What the parts of kernel_test share: counting, input patterns, options.
 */
#ifndef MGPU_KERNEL_TEST_CUH
#define MGPU_KERNEL_TEST_CUH

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "require_cuda.cuh"

extern int	tests_passed;
extern int	tests_failed;
extern bool quick;				/* --quick: a set fit for compute-sanitizer */
extern bool tiny;				/* --tiny: a smaller set still, for racecheck */
extern bool clean;				/* --clean: no failure of CUDA's on purpose */
extern bool own_only;			/* --own: sorts of our own alone, not CUB's */
extern std::mt19937_64 random_bits;

/* Count a check; say what failed, but not for ever. */
#define CHECK(condition, ...) \
	do { \
		if (condition) \
			tests_passed++; \
		else if (++tests_failed <= 100) \
		{ \
			printf("FAILED %s:%d: %s: ", __FILE__, __LINE__, #condition); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

typedef enum key_pattern
{
	PATTERN_RANDOM = 0,
	PATTERN_ALL_LARGEST,		/* equal to the padding of partial tiles */
	PATTERN_FEW,
	PATTERN_SORTED,
	PATTERN_REVERSED,
	PATTERN_ALL_EQUAL,
	PATTERN_MANY_LARGEST,
	PATTERN_BIT_REVERSED,		/* every merge interleaves its runs one by one */
	PATTERN_ONE_BANK,			/* runs that send a warp's merges to few banks */
	NUM_PATTERNS
} key_pattern;

extern const char *const pattern_names[NUM_PATTERNS];

/* Keys with bits above key_bits clear. */
uint64_t	pattern_key(int pattern, uint64_t item, uint64_t num_items, int key_bits);

/*
 * kernel_test_sort.cu, kernel_test_auto.cu, kernel_test_large.cu, kernel_test_programs.cu, kernel_test_group.cu,
 * kernel_test_executor.cu, kernel_test_ops.cu, kernel_test_op_runs.cu and kernel_test_engine.cu
 */
void		test_device_sorts(void);
void		test_auto_sorts(void);
void		test_k_way_sorts(void);
void		test_large_sorts(void);

/* Before those of the executor, which counts the engine's copies from its first run on. */
void		test_engine(void);	/* the first of all: no device was used yet */
void		test_programs(void);
void		test_groups(void);
void		test_executor(void);
void		test_ops(void);
void		test_op_runs(void);

/* Loses the context: the last test of all. */
void		test_sticky_failure(void);

#endif							/* MGPU_KERNEL_TEST_CUH */

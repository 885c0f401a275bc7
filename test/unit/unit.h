/*
 * unit.h
 *		Helpers of the unit tests of src/core: counted checks and random numbers.
 *
 * A test program calls UNIT_CHECK any number of times and ends with "return
 * unit_report();", which prints "N passed, N failed".  A failed check prints its place,
 * and the program goes on; the first twenty failures are printed.  Random numbers are
 * the same in every run, unless the environment variable UNIT_SEED, a number, changes
 * them.  A program that fails prints its UNIT_SEED.
 */
#ifndef MGPU_UNIT_H
#define MGPU_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long unit_passed;
static unsigned long unit_failed;

/* Describes the current iteration for the message of a failed check; "" if unset. */
static char unit_context[256];

#define UNIT_MAX_MESSAGES 20

#define UNIT_CHECK(condition) unit_check((condition), __FILE__, __LINE__, #condition)

#define UNIT_CONTEXT(...) snprintf(unit_context, sizeof(unit_context), __VA_ARGS__)

/* How many trials a test makes: in the quick tier, and in the full one, which tools/run_tests says. */
static inline uint32_t
unit_tiered(uint32_t quick, uint32_t full)
{
	const char *tier = getenv("MGPU_TIER");

	return tier != NULL && strcmp(tier, "full") == 0 ? full : quick;
}

static inline void
unit_check(bool holds, const char *file, int line, const char *condition)
{
	if (holds)
	{
		unit_passed++;
		return;
	}
	if (++unit_failed <= UNIT_MAX_MESSAGES)
		fprintf(stderr, "%s:%d: failed: %s%s%s\n", file, line, condition,
				unit_context[0] ? " -- " : "", unit_context);
}

/* The state of xorshift64, never 0.  Each thread has its own; all but the first start alike. */
static _Thread_local uint64_t unit_random_state = UINT64_C(88172645463325252);

/* Runs before main, in the first thread.  Text that is not a number counts as the seed 0, which is as good as any other. */
__attribute__((constructor)) static void
unit_seed(void)
{
	const char *seed = getenv("UNIT_SEED");

	if (seed != NULL)
		unit_random_state ^= strtoull(seed, NULL, 10) * UINT64_C(0x9E3779B97F4A7C15);
	if (unit_random_state == 0)
		unit_random_state = 1;
}

static inline int
unit_report(void)
{
	const char *seed = getenv("UNIT_SEED");

	if (unit_failed > 0 && seed != NULL)
		fprintf(stderr, "to repeat it: UNIT_SEED=%s\n", seed);
	printf("%lu passed, %lu failed\n", unit_passed, unit_failed);
	return unit_failed == 0 ? 0 : 1;
}

static inline uint64_t
unit_random(void)
{
	unit_random_state ^= unit_random_state << 13;
	unit_random_state ^= unit_random_state >> 7;
	unit_random_state ^= unit_random_state << 17;
	return unit_random_state;
}

/* A random number below limit, which must not be 0. */
static inline uint64_t
unit_random_below(uint64_t limit)
{
	return unit_random() % limit;
}

static inline void *
unit_allocate(uint64_t bytes)
{
	void	   *memory = malloc(bytes > 0 ? bytes : 1);

	if (memory == NULL)
	{
		fprintf(stderr, "out of memory for %llu bytes\n", (unsigned long long) bytes);
		exit(2);
	}
	return memory;
}

#endif							/* MGPU_UNIT_H */

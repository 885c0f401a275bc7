/*
 * core_names.c
 *		Numbers of byte strings, given by several threads at once: the same for equal strings, others for others.
 */
#include <pthread.h>

#include "core/names.h"
#include "unit.h"

#define NUM_THREADS 4
#define NUM_STRINGS 20000
#define MOST_BYTES 300

static char strings[NUM_STRINGS][MOST_BYTES];
static uint32_t lengths[NUM_STRINGS];

/* What one thread has: all strings, from another one on each, some of them NULL. */
typedef struct numbering
{
	mgpu_names *names;
	uint32_t	first;
	bool		done;
	uint64_t	numbers[NUM_STRINGS];
} numbering;

static numbering of_threads[NUM_THREADS];

static void
make_strings(void)
{
	for (uint32_t i = 0; i < NUM_STRINGS; i++)
	{
		lengths[i] = i < 2 ? i : 8 + (uint32_t) unit_random_below(MOST_BYTES - 8);
		for (uint32_t k = 0; k < lengths[i]; k++)
			strings[i][k] = (char) unit_random_below(3);
		if (lengths[i] >= 8)
			memcpy(strings[i] + lengths[i] - sizeof(i), &i, sizeof(i));
	}
}

static bool
is_null(uint32_t string, uint32_t first)
{
	return (string + first) % 11 == 0;
}

static void *
number_all(void *context)
{
	numbering  *of = context;
	const char *bytes[MGPU_NAMED_ROWS];
	uint32_t	of_rows[MGPU_NAMED_ROWS];
	uint8_t		states[MGPU_NAMED_ROWS];
	uint64_t	numbers[MGPU_NAMED_ROWS];

	of->done = true;
	for (uint32_t begin = 0; begin < NUM_STRINGS; begin += MGPU_NAMED_ROWS)
	{
		uint32_t	count = NUM_STRINGS - begin < MGPU_NAMED_ROWS ? NUM_STRINGS - begin : MGPU_NAMED_ROWS;

		for (uint32_t i = 0; i < count; i++)
		{
			uint32_t	string = (begin + i + of->first) % NUM_STRINGS;

			bytes[i] = strings[string];
			of_rows[i] = lengths[string];
			states[i] = is_null(string, of->first);
		}
		of->done &= mgpu_names_number(of->names, bytes, of_rows, states, count, numbers);
		for (uint32_t i = 0; i < count; i++)
			of->numbers[(begin + i + of->first) % NUM_STRINGS] = numbers[i];
	}
	return NULL;
}

static int
compare_numbers(const void *x, const void *y)
{
	uint64_t	a = *(const uint64_t *) x;
	uint64_t	b = *(const uint64_t *) y;

	return a < b ? -1 : a > b;
}

/* The numbers of all strings, as some thread has given them, which agree. */
static void
check_numbers(const mgpu_names *names, uint64_t *numbers)
{
	for (uint32_t i = 0; i < NUM_STRINGS; i++)
	{
		uint32_t	length = 0;
		const char *found;

		numbers[i] = is_null(i, of_threads[0].first) ? of_threads[1].numbers[i] : of_threads[0].numbers[i];
		for (int t = 0; t < NUM_THREADS; t++)
			UNIT_CHECK(of_threads[t].numbers[i] == (is_null(i, of_threads[t].first) ? 0 : numbers[i]));
		found = mgpu_names_string(names, numbers[i], &length);
		UNIT_CHECK(found != NULL && length == lengths[i] && memcmp(found, strings[i], length) == 0 && (uintptr_t) found % 4 == 0);
	}
}

static void
test_threads(void)
{
	mgpu_names *names = mgpu_names_create();
	uint64_t	before = mgpu_names_memory(names);
	uint64_t   *numbers = malloc(NUM_STRINGS * sizeof(uint64_t));
	pthread_t	threads[NUM_THREADS];
	uint32_t	length;

	UNIT_CHECK(mgpu_names_string(names, 1, &length) == NULL);
	for (int t = 0; t < NUM_THREADS; t++)
	{
		of_threads[t].names = names;
		of_threads[t].first = (uint32_t) t * 4001;
		UNIT_CHECK(pthread_create(&threads[t], NULL, number_all, &of_threads[t]) == 0);
	}
	for (int t = 0; t < NUM_THREADS; t++)
	{
		pthread_join(threads[t], NULL);
		UNIT_CHECK(of_threads[t].done);
	}
	check_numbers(names, numbers);
	qsort(numbers, NUM_STRINGS, sizeof(uint64_t), compare_numbers);
	for (uint32_t i = 1; i < NUM_STRINGS; i++)
		UNIT_CHECK(numbers[i - 1] != numbers[i]);
	UNIT_CHECK(mgpu_names_memory(names) > before + NUM_STRINGS * MOST_BYTES / 2);
	mgpu_names_free(names);
	free(numbers);
}

int
main(void)
{
	make_strings();
	test_threads();
	mgpu_names_free(NULL);
	return unit_report();
}

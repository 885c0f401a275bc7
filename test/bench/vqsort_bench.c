/*
 * vqsort_bench.c
 *		Times the bare sort of an int4[] that PostgreSQL sends, or a bare memcpy, as
 *		the floors that mgpu_sort, merges and bulk changes are measured against.
 *
 * Reads COPY (SELECT a FROM t) TO STDOUT (FORMAT binary) of one int4[] without
 * NULLs on stdin, sorts its codes (see core/key_codec.h) again and again, and
 * prints the median milliseconds of the sort alone.  With --memcpy it reads
 * nothing and copies that many bytes instead, from and to memory that has been
 * touched before: a floor without page faults, on one thread.
 *
 *	 vqsort_bench [rounds]
 *	 vqsort_bench --memcpy bytes [rounds]
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/key_codec.h"
#include "core/unsigned_sort.h"

/* COPY's signature, flags and extension length; then fields and field length */
#define COPY_HEADER_BYTES 19
#define TUPLE_HEADER_BYTES 6
/* dimensions, flags, element type, size, lower bound */
#define ARRAY_HEADER_BYTES 20

static uint32_t
read_u32(const unsigned char *bytes)
{
	return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];
}

static void
fail(const char *what)
{
	fprintf(stderr, "vqsort_bench: %s\n", what);
	exit(1);
}

static uint32_t *
read_codes(uint64_t *num_items)
{
	unsigned char head[COPY_HEADER_BYTES + TUPLE_HEADER_BYTES + ARRAY_HEADER_BYTES];
	const unsigned char *array = head + COPY_HEADER_BYTES + TUPLE_HEADER_BYTES;
	uint32_t   *codes;

	if (fread(head, 1, sizeof(head), stdin) != sizeof(head) || memcmp(head, "PGCOPY\n\377\r\n", 11) != 0)
		fail("no binary COPY on stdin");
	if (read_u32(array) != 1 || read_u32(array + 4) != 0 || read_u32(array + 8) != 23)
		fail("not a one-dimensional int4[] without NULLs");
	*num_items = read_u32(array + 12);
	codes = malloc(*num_items * sizeof(uint32_t));
	if (codes == NULL)
		fail("out of memory");
	for (uint64_t i = 0; i < *num_items; i++)
	{
		unsigned char element[8];

		if (fread(element, 1, 8, stdin) != 8)
			fail("the array ends early");
		codes[i] = mgpu_encode_32(read_u32(element + 4), MGPU_KEY_SIGNED, 4);
	}
	return codes;
}

static double
sort_once(uint32_t *keys, const uint32_t *codes, uint64_t num_items)
{
	struct timespec start;
	struct timespec end;

	memcpy(keys, codes, num_items * sizeof(uint32_t));
	clock_gettime(CLOCK_MONOTONIC, &start);
	mgpu_sort_unsigned(keys, num_items, 4, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (uint64_t i = 1; i < num_items; i++)
		if (keys[i - 1] > keys[i])
			fail("the result is not sorted");
	return (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6;
}

static double
copy_once(char *to, char *from, size_t num_bytes)
{
	struct timespec start;
	struct timespec end;

	from[num_bytes / 2]++;
	clock_gettime(CLOCK_MONOTONIC, &start);
	memcpy(to, from, num_bytes);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (to[num_bytes / 2] != from[num_bytes / 2])
		fail("the copy differs");
	return (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median_of(double *times, int rounds)
{
	qsort(times, rounds, sizeof(double), compare_doubles);
	return times[rounds / 2];
}

static void
bench_memcpy(size_t num_bytes, double *times, int rounds)
{
	char	   *from = malloc(num_bytes);
	char	   *to = malloc(num_bytes);

	if (from == NULL || to == NULL || num_bytes == 0)
		fail("out of memory, or nothing to copy");
	memset(from, 1, num_bytes);
	memset(to, 2, num_bytes);
	for (int i = 0; i < rounds; i++)
		times[i] = copy_once(to, from, num_bytes);
	printf("%.3f memcpy\n", median_of(times, rounds));
	free(from);
	free(to);
}

static void
bench_sort(double *times, int rounds)
{
	uint64_t	num_items;
	uint32_t   *codes = read_codes(&num_items);
	uint32_t   *keys = malloc(num_items * sizeof(uint32_t));

	if (keys == NULL)
		fail("out of memory");
	for (int i = 0; i < rounds; i++)
		times[i] = sort_once(keys, codes, num_items);
	printf("%.3f %s\n", median_of(times, rounds), MGPU_WITH_HIGHWAY ? "vqsort" : "radix sort");
	free(keys);
	free(codes);
}

int
main(int argc, char **argv)
{
	bool		copies = argc > 2 && strcmp(argv[1], "--memcpy") == 0;
	int			rounds_at = copies ? 3 : 1;
	int			rounds = argc > rounds_at ? atoi(argv[rounds_at]) : 7;
	double	   *times = malloc((rounds > 0 ? rounds : 1) * sizeof(double));

	if (times == NULL || rounds < 1)
		fail("out of memory, or no rounds");
	if (copies)
		bench_memcpy(strtoull(argv[2], NULL, 10), times, rounds);
	else
		bench_sort(times, rounds);
	free(times);
	return 0;
}

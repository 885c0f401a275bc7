/*
 * unsigned_bench.cpp
 *		Times the sort of unsigned keys beneath all others beside what else sorts them.
 *
 * On one thread and on the same random keys: mgpu_sort_unsigned with scratch as it
 * ships, Highway's vqsort, a plain radix sort from the low digit up, and std::sort.
 * Prints nanoseconds a key, the smallest of several runs, and how many times faster
 * the best other one is.
 *
 *	 unsigned_bench [FILE.csv]
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

extern "C"
{
#include "core/cpu_tuning.h"
#include "core/unsigned_sort.h"
}
#if MGPU_WITH_HIGHWAY
#include "core/vqsort_highway.h"
#endif

static const uint64_t sizes[] = {300, 1000, 4000, 16000, 100000, 1000000, 10000000};

enum Sort {OURS, VQSORT, RADIX, STD_SORT, NUM_SORTS};
static const char *const names[NUM_SORTS] = {"mgpu_pg", "vqsort", "plain radix", "std::sort"};

static double
now_ns()
{
	timespec	time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

template <typename Key> static void
plain_radix(Key *keys, Key *scratch, uint64_t num_items)
{
	for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += 8)
	{
		uint64_t	next[257] = {0};

		for (uint64_t i = 0; i < num_items; i++)
			next[(uint8_t) (keys[i] >> shift) + 1]++;
		for (int digit = 0; digit < 256; digit++)
			next[digit + 1] += next[digit];
		for (uint64_t i = 0; i < num_items; i++)
			scratch[next[(uint8_t) (keys[i] >> shift)]++] = keys[i];
		std::swap(keys, scratch);
	}
}

template <typename Key> static void
run(Sort sort, std::vector<Key> &keys, std::vector<Key> &scratch)
{
	if (sort == OURS)
		mgpu_sort_unsigned(keys.data(), keys.size(), sizeof(Key), scratch.data());
#if MGPU_WITH_HIGHWAY
	else if (sort == VQSORT)
		mgpu_highway_sort(keys.data(), keys.size(), sizeof(Key));
#endif
	else if (sort == RADIX)
		plain_radix(keys.data(), scratch.data(), keys.size());
	else
		std::sort(keys.begin(), keys.end());
}

template <typename Key> static bool
bench(uint64_t num_items, FILE *csv)
{
	std::vector<Key> input(num_items), keys(num_items), scratch(num_items), sorted;
	uint64_t	random = 1;
	double		ns[NUM_SORTS];
	double		best_other = 1e300;
	bool		right = true;

	for (auto &key : input)
	{
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		key = static_cast<Key>((random ^ random << 32) >> (64 - 8 * sizeof(Key)));
	}
	sorted = input;
	std::sort(sorted.begin(), sorted.end());
	for (int sort = 0; sort < NUM_SORTS; sort++)
	{
		ns[sort] = 1e300;
		if (sort == VQSORT && !MGPU_WITH_HIGHWAY)
			continue;
		for (uint64_t round = 0; round < 3 || round * num_items < 1000000; round++)
		{
			keys = input;
			double		start = now_ns();

			run(static_cast<Sort>(sort), keys, scratch);
			ns[sort] = std::min(ns[sort], (now_ns() - start) / num_items);
			right &= keys == sorted;
		}
		if (sort != OURS)
			best_other = std::min(best_other, ns[sort]);
		if (csv != nullptr)
			fprintf(csv, "%zu,%llu,%s,%.3f\n", sizeof(Key), (unsigned long long) num_items, names[sort], ns[sort]);
	}
	printf("%5zu %9llu %8.2f %8.2f %8.2f %8.2f %8.2f   %s%s\n", sizeof(Key), (unsigned long long) num_items, ns[OURS],
		   ns[VQSORT] < 1e300 ? ns[VQSORT] : 0.0, ns[RADIX], ns[STD_SORT], best_other / ns[OURS],
		   mgpu_radix_is_faster(sizeof(Key)) ? "radix" : "vqsort", right ? "" : "  WRONG");
	return right;
}

int
main(int argc, char **argv)
{
	FILE	   *csv = argc > 1 ? fopen(argv[1], "a") : nullptr;
	bool		right = true;

	if (argc > 1 && csv == nullptr)
	{
		perror(argv[1]);
		return 1;
	}
	printf("bytes     items  mgpu_pg   vqsort    radix     std   best/us   chosen\n");
	if (csv != nullptr)
		fprintf(csv, "key_bytes,items,sort,ns_per_item\n");
	for (uint64_t num_items : sizes)
		right &= bench<uint16_t>(num_items, csv);
	for (uint64_t num_items : sizes)
		right &= bench<uint32_t>(num_items, csv);
	for (uint64_t num_items : sizes)
		right &= bench<uint64_t>(num_items, csv);
	if (csv != nullptr)
		fclose(csv);
	return right ? 0 : 1;
}

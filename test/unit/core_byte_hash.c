/*
 * core_byte_hash.c
 *		Hashes of bytes are spread evenly; short values are loaded, compared and copied exactly.
 */
#include <stdio.h>

#include "core/byte_hash.h"
#include "unit.h"

#define MOST_BYTES 70
#define NUM_KEYS (UINT64_C(1) << 16)

/* ---- spread */

static int
compare_hashes(const void *x, const void *y)
{
	uint64_t	a = *(const uint64_t *) x;
	uint64_t	b = *(const uint64_t *) y;

	return a < b ? -1 : a > b;
}

/* Chi-squared of some bits of the hashes, by as many buckets as there are keys over 16, in standard deviations. */
static double
deviation(const uint64_t *hashes, unsigned shift)
{
	uint64_t	num_buckets = NUM_KEYS / 16;
	uint32_t   *counts = calloc(num_buckets, sizeof(uint32_t));
	double		sum = 0;

	for (uint64_t i = 0; i < NUM_KEYS; i++)
		counts[(hashes[i] >> shift) % num_buckets]++;
	for (uint64_t i = 0; i < num_buckets; i++)
		sum += ((double) counts[i] - 16) * ((double) counts[i] - 16) / 16;
	free(counts);
	/* the variance is twice the number of buckets, here 4096 */
	return (sum - (double) num_buckets) / 90.5;
}

static void
check_hashes(uint64_t *hashes)
{
	uint64_t	num_equal = 0;

	UNIT_CHECK(deviation(hashes, 0) < 6);
	UNIT_CHECK(deviation(hashes, 26) < 6);
	UNIT_CHECK(deviation(hashes, 52) < 6);
	qsort(hashes, NUM_KEYS, sizeof(uint64_t), compare_hashes);
	for (uint64_t i = 1; i < NUM_KEYS; i++)
		num_equal += hashes[i] == hashes[i - 1];
	UNIT_CHECK(num_equal == 0);
}

/* Keys that differ in little: numbers written in one base or another, with some bytes in front and behind. */
static void
check_keys(const char *format)
{
	uint64_t   *hashes = unit_allocate(NUM_KEYS * sizeof(uint64_t));
	uint64_t   *others = unit_allocate(NUM_KEYS * sizeof(uint64_t));
	char		key[MOST_BYTES];

	UNIT_CONTEXT("keys %s", format);
	for (uint64_t i = 0; i < NUM_KEYS; i++)
	{
		size_t		size = (size_t) snprintf(key, sizeof(key), format, (unsigned) i);

		hashes[i] = mgpu_byte_hash(key, size, 0);
		others[i] = mgpu_byte_hash(key, size, UINT64_C(0x9fb21c651e98df25)) ^ hashes[i];
	}
	check_hashes(hashes);
	/* what partitions are made with */
	check_hashes(others);
	free(hashes);
	free(others);
}

/* Each bit of a key changes half of the hash's bits. */
static void
check_bits(size_t size)
{
	char		key[MOST_BYTES];

	UNIT_CONTEXT("%zu bytes", size);
	for (size_t bit = 0; bit < size * 8; bit++)
	{
		unsigned	changed = 0;

		for (int i = 0; i < 64; i++)
		{
			uint64_t	hash;

			for (size_t byte = 0; byte < size; byte++)
				key[byte] = (char) unit_random();
			hash = mgpu_byte_hash(key, size, 0);
			key[bit / 8] ^= (char) (1 << bit % 8);
			changed += (unsigned) __builtin_popcountll(hash ^ mgpu_byte_hash(key, size, 0));
		}
		/* the mean is 2048, the standard deviation 32 */
		UNIT_CHECK(changed > 2048 - 250 && changed < 2048 + 250);
	}
}

static void
check_zeros(void)
{
	static const char zeros[MOST_BYTES];

	for (size_t size = 0; size < MOST_BYTES; size++)
		for (size_t other = 0; other < size; other++)
			UNIT_CHECK(mgpu_byte_hash(zeros, size, 0) != mgpu_byte_hash(zeros, other, 0));
}

/* ---- short values */

static void
check_short(size_t size)
{
	char		x[MOST_BYTES + 2];
	char		y[MOST_BYTES + 2];

	UNIT_CONTEXT("%zu bytes", size);
	for (size_t i = 0; i < sizeof(x); i++)
		x[i] = y[i] = (char) unit_random();
	x[0] = (char) ~y[0];
	x[size + 1] = (char) ~y[size + 1];
	UNIT_CHECK(mgpu_same_bytes(x + 1, y + 1, size));
	for (size_t i = 1; i <= size; i++)
	{
		y[i] ^= (char) (1 << unit_random_below(8));
		UNIT_CHECK(!mgpu_same_bytes(x + 1, y + 1, size));
		y[i] = x[i];
	}
	if (size < 4 || size > 16)
		return;
	memset(y, 7, sizeof(y));
	mgpu_copy_short(y + 1, x + 1, size);
	UNIT_CHECK(memcmp(x + 1, y + 1, size) == 0 && y[0] == 7 && y[size + 1] == 7);
}

int
main(void)
{
	check_keys("%u");
	check_keys("%x");
	check_keys("%016x");
	check_keys("name %u of a longer text");
	check_keys("%u is at the front of a text of three pieces or so");
	check_keys("a text of some pieces, with its number behind: %05u");
	for (size_t size = 1; size < 40; size++)
		check_bits(size);
	check_zeros();
	for (size_t size = 0; size < MOST_BYTES; size++)
		check_short(size);
	return unit_report();
}

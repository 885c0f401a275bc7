/*
 * core_split.c
 *		Two-way splits with and without vectors, bounds, and classification.
 */
#include <math.h>

#include "core/cpu/split.h"
#include "unit.h"

static mgpu_u128
load_code(const void *codes, uint32_t width, uint64_t i)
{
	mgpu_u128	code = 0;

	memcpy(&code, (const char *) codes + i * width, width);
	return code;
}

static void
check_split(uint32_t width, uint64_t num_items, unsigned bits, bool vectors)
{
	char	   *codes = unit_allocate(num_items * width);
	char	   *before = unit_allocate(num_items * width);
	char	   *spill = unit_allocate(num_items * width + 64);
	mgpu_bounds bounds = {.num_buckets = 2};
	uint32_t	sizes[2];
	uint64_t	next[2];
	bool		in_place = true;

	for (uint64_t i = 0; i < num_items; i++)
	{
		mgpu_u128	code = (mgpu_u128) unit_random() << 64 | unit_random();

		code >>= 128 - width * 8;
		code >>= width * 8 - (bits < width * 8 ? bits : width * 8);
		/* codes in the upper half of the range, where a signed comparison fails */
		if (i % 3 == 0)
			code = ~code;
		memcpy(before + i * width, &code, width);
	}
	if (num_items > 0)
		bounds.bound[0] = load_code(before, width, unit_random_below(num_items));
	memcpy(codes, before, num_items * width);
	mgpu_split_buckets(&(mgpu_split) {&bounds, width, vectors, spill, sizes}, codes, num_items);
	next[0] = 0;
	next[1] = sizes[0];
	for (uint64_t i = 0; i < num_items; i++)
	{
		mgpu_u128	code = load_code(before, width, i);

		in_place &= load_code(codes, width, next[code > bounds.bound[0]]++) == code;
	}
	UNIT_CONTEXT("split width %u items %llu bits %u vectors %d", width, (unsigned long long) num_items, bits, vectors);
	UNIT_CHECK(next[0] == sizes[0] && next[1] == num_items && sizes[0] + sizes[1] == num_items);
	UNIT_CHECK(in_place);
	free(spill);
	free(before);
	free(codes);
}

static void
test_splits(void)
{
	for (int vectors = 0; vectors < 2; vectors++)
		for (uint32_t width = 4; width <= 16; width *= 2)
			for (uint64_t num_items = 0; num_items < 200; num_items++)
			{
				check_split(width, num_items, 1 + (unsigned) unit_random_below(128), vectors);
				check_split(width, num_items * 37, 128, vectors);
			}
}

/* Samples of num_distinct values, of which smaller values are more frequent. */
static void
fill_samples(void *samples, uint32_t width, uint64_t num_samples, uint64_t num_distinct)
{
	for (uint64_t i = 0; i < num_samples; i++)
	{
		double		uniform = (double) (unit_random() >> 11) / 9007199254740992.0;
		uint64_t	rank = (uint64_t) (pow((double) num_distinct, uniform)) - 1;
		mgpu_u128	code = (mgpu_u128) rank * UINT64_C(0x9E3779B1);

		if (unit_random_below(50) == 0)
			code = ~(mgpu_u128) 0;
		if (width == 16)
			code = code << 60 | code;
		memcpy((char *) samples + i * width, &code, width);
	}
}

static uint32_t
bucket_of(const mgpu_bounds *bounds, mgpu_u128 code)
{
	uint32_t	bucket = 0;

	while (bucket + 1 < bounds->num_buckets && code > bounds->bound[bucket])
		bucket++;
	return bucket;
}

static void
check_classify(const mgpu_bounds *bounds, uint32_t width, const void *samples, uint64_t num_samples)
{
	uint16_t	buckets[100];
	mgpu_u128	wide[100];
	uint64_t	narrow[100];
	bool		matches = true;
	uint32_t	num_items = 1 + (uint32_t) unit_random_below(100);

	for (uint32_t i = 0; i < num_items; i++)
	{
		mgpu_u128	code = load_code(samples, width, unit_random_below(num_samples));

		code += unit_random_below(3);
		code = width == 16 ? code - 1 : (uint64_t) (code - 1);
		wide[i] = code;
		narrow[i] = (uint64_t) code;
	}
	mgpu_classify(bounds, width == 16 ? (const void *) wide : narrow, width, buckets, num_items);
	for (uint32_t i = 0; i < num_items; i++)
		matches &= buckets[i] == bucket_of(bounds, wide[i]);
	UNIT_CHECK(matches);
}

/* A split by bounds agrees with bucket_of, and the sizes of its buckets add up. */
static void
check_split_buckets(const mgpu_bounds *bounds, uint32_t width, const void *samples, uint64_t num_samples)
{
	char	   *codes = unit_allocate(num_samples * width);
	char	   *spill = unit_allocate(num_samples * width + 64);
	uint32_t	sizes[MGPU_MAX_BUCKETS];
	uint64_t	i = 0;
	bool		in_bucket = true;

	memcpy(codes, samples, num_samples * width);
	mgpu_split_buckets(&(mgpu_split) {bounds, width, true, spill, sizes}, codes, num_samples);
	for (uint32_t bucket = 0; bucket < bounds->num_buckets; bucket++)
	{
		mgpu_u128	constant;
		bool		is_constant = mgpu_bucket_is_constant(bounds, bucket, &constant);

		for (uint32_t j = 0; j < sizes[bucket] && i < num_samples; j++, i++)
		{
			mgpu_u128	code = load_code(codes, width, i);

			in_bucket &= bucket_of(bounds, code) == bucket && (!is_constant || code == constant);
		}
	}
	UNIT_CHECK(i == num_samples);
	UNIT_CHECK(in_bucket);
	free(spill);
	free(codes);
}

static void
test_bounds(void)
{
	static const uint64_t distinct[] = {1, 2, 3, 10, 1000, 100000000};
	static const uint32_t planned[] = {1, 2, 3, 8, 100, MGPU_MAX_PLANNED_BUCKETS};
	static mgpu_bounds bounds;

	for (uint32_t width = 4; width <= 16; width *= 2)
		for (size_t i = 0; i < 6; i++)
			for (size_t j = 0; j < 6; j++)
			{
				uint64_t	num_samples = planned[j] * 20;
				char	   *samples = unit_allocate(num_samples * width);

				fill_samples(samples, width, num_samples, distinct[i]);
				UNIT_CONTEXT("bounds width %u distinct %llu planned %u", width,
							 (unsigned long long) distinct[i], planned[j]);
				mgpu_bounds_choose(&bounds, samples, num_samples, width, planned[j]);
				UNIT_CHECK(bounds.num_buckets >= 1 && bounds.num_buckets < 2 * planned[j]);
				for (uint32_t k = 1; k + 1 < bounds.num_buckets; k++)
					UNIT_CHECK(bounds.bound[k - 1] < bounds.bound[k]);
				for (int k = 0; k < 20; k++)
					check_classify(&bounds, width, samples, num_samples);
				check_split_buckets(&bounds, width, samples, num_samples);
				free(samples);
			}
}

/* A key that is most of the input gets its own bucket. */
static void
test_frequent_code(void)
{
	static mgpu_bounds bounds;
	uint32_t	samples[1000];
	mgpu_u128	code = 0;
	bool		found = false;

	for (uint32_t i = 0; i < 1000; i++)
		samples[i] = i % 10 ? 12345 : i * 100;
	mgpu_bounds_choose(&bounds, samples, 1000, 4, 16);
	for (uint32_t bucket = 0; bucket < bounds.num_buckets; bucket++)
		found |= mgpu_bucket_is_constant(&bounds, bucket, &code) && code == 12345;
	UNIT_CONTEXT("%s", "frequent code");
	UNIT_CHECK(found);
}

static void
test_positions(void)
{
	uint32_t	positions[2][1000];
	uint32_t	quarters[4] = {0};

	mgpu_sample_positions(positions[0], 1000, 400);
	mgpu_sample_positions(positions[1], 1000, 400);
	UNIT_CONTEXT("%s", "positions");
	UNIT_CHECK(memcmp(positions[0], positions[1], sizeof(positions[0])) != 0);
	for (int i = 0; i < 1000; i++)
	{
		UNIT_CHECK(positions[0][i] < 400);
		quarters[positions[0][i] / 100 % 4]++;
	}
	for (int i = 0; i < 4; i++)
		UNIT_CHECK(quarters[i] > 150);
}

int
main(void)
{
	test_splits();
	test_bounds();
	test_frequent_code();
	test_positions();
	return unit_report();
}

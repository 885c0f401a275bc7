/*
 * core_sort_now.c
 *		The sorts of cpu_sort.h against qsort.
 *
 * The tests cover every small size and some large ones, with guards around the keys,
 * and 16-byte keys that are aligned to only 8 bytes.
 */
#include "core/cpu_sort.h"
#include "core/cpu_tuning.h"
#include "core/order_codes.h"
#include "core/small_sort.h"
#include "unit_keys.h"

#define GUARD_BYTES 64
#define GUARD 0xA5

/* A copy between guard bytes, which show overruns. */
static char *
guarded(const void *data, uint64_t bytes)
{
	char	   *memory = unit_allocate(bytes + 2 * GUARD_BYTES);

	memset(memory, GUARD, bytes + 2 * GUARD_BYTES);
	memcpy(memory + GUARD_BYTES, data, bytes);
	return memory + GUARD_BYTES;
}

static void
check_and_free(char *data, uint64_t bytes)
{
	for (int i = 1; i <= GUARD_BYTES; i++)
	{
		UNIT_CHECK((unsigned char) data[-i] == GUARD);
		UNIT_CHECK((unsigned char) data[bytes + (uint64_t) i - 1] == GUARD);
	}
	free(data - GUARD_BYTES);
}

static void
check_sort(const unit_type *type, unit_shape shape, uint64_t num_items, uint32_t descending, uint64_t offset)
{
	uint64_t	bytes = num_items * type->width;
	char	   *keys = unit_allocate(bytes);
	unit_code  *order = unit_allocate((num_items + 1) * sizeof(*order));
	uint32_t   *positions = unit_allocate(num_items * sizeof(uint32_t));
	char	   *padded,
			   *sorted,
			   *indices;

	unit_fill(type, shape, keys, num_items);
	unit_order(type, keys, num_items, descending, order);
	UNIT_CONTEXT("%s %s items %llu descending %u", type->name, unit_shape_names[shape],
				 (unsigned long long) num_items, descending);

	/* with an offset, 16-byte keys are not naturally aligned */
	padded = unit_allocate(bytes + offset);
	memcpy(padded + offset, keys, bytes);
	sorted = guarded(padded, bytes + offset);
	mgpu_cpu_sort_keys_now(sorted + offset, num_items, type->kind, type->width, descending);
	for (uint64_t i = 0; i < num_items; i++)
	{
		char		key[16];

		unit_canonical_key(type, keys, order[i].index, key);
		UNIT_CHECK(memcmp(sorted + offset + i * type->width, key, type->width) == 0);
	}
	check_and_free(sorted, bytes + offset);

	if (num_items <= MGPU_CPU_NOW_PAIRS)
	{
		indices = guarded(positions, num_items * sizeof(uint32_t));
		memcpy(padded + offset, keys, bytes);
		mgpu_cpu_argsort_now(padded + offset, (uint32_t *) indices, (uint32_t) num_items, type->kind,
							 type->width, descending);
		for (uint64_t i = 0; i < num_items; i++)
			UNIT_CHECK(((uint32_t *) indices)[i] == order[i].index);
		UNIT_CHECK(memcmp(padded + offset, keys, bytes) == 0);
		check_and_free(indices, num_items * sizeof(uint32_t));
	}
	free(padded);
	free(positions);
	free(order);
	free(keys);
}

static void
test_small_sizes(void)
{
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (uint64_t num_items = 0; num_items <= 300; num_items++)
		{
			uint64_t	offset = num_items % 2 * 8;

			check_sort(&unit_types[type], UNIT_RANDOM, num_items, (uint32_t) (num_items / 2 % 2), offset);
			check_sort(&unit_types[type], (unit_shape) (num_items % UNIT_NUM_SHAPES), num_items,
					   (uint32_t) (num_items / 3 % 2), offset);
		}
}

static void
test_shapes(void)
{
	static const uint64_t sizes[] = {2, 33, 57, 89, 129, 1000, 1024, 1025, 5000, 40000};

	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (int shape = 0; shape < UNIT_NUM_SHAPES; shape++)
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
				for (uint32_t descending = 0; descending <= 1; descending++)
					check_sort(&unit_types[type], shape, sizes[i], descending, i % 2 * 8);
}

/* The most keys that mgpu_cpu_sort_keys_now takes, checked by order and checksum. */
static void
test_largest(void)
{
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
	{
		uint32_t	width = unit_types[type].width;
		uint64_t	num_items = MGPU_CPU_NOW_KEYS_BYTES / width;
		char	   *keys = unit_allocate(MGPU_CPU_NOW_KEYS_BYTES);
		uint64_t	sum = 0;
		bool		in_order = true;

		unit_fill(&unit_types[type], UNIT_RANDOM, keys, num_items);
		for (uint64_t i = 0; i < num_items; i++)
		{
			unit_code	code = unit_code_of(&unit_types[type], keys, i, 0);

			sum += code.high * 3 + code.low;
		}
		mgpu_cpu_sort_keys_now(keys, num_items, unit_types[type].kind, width, 0);
		for (uint64_t i = 0; i < num_items; i++)
		{
			unit_code	code = unit_code_of(&unit_types[type], keys, i, 0);

			sum -= code.high * 3 + code.low;
			if (i > 0)
			{
				unit_code	before = unit_code_of(&unit_types[type], keys, i - 1, 0);

				in_order &= unit_compare_codes(&before, &code) < 0;
			}
		}
		UNIT_CONTEXT("largest %s", unit_types[type].name);
		UNIT_CHECK(in_order);
		UNIT_CHECK(sum == 0);
		free(keys);
	}
}

/*
 * Codes with long common prefixes at several levels, which order_codes.h has to
 * separate: shift > 0, long runs, runs inside runs.
 */
static void
test_order_levels(void)
{
	static mgpu_u128 wide[5000];
	static uint64_t narrow[5000];
	static uint64_t packed[5000];
	static unit_code order[5000];

	for (int round = 0; round < 40; round++)
	{
		uint32_t	num_items = 1 + (uint32_t) unit_random_below(5000);
		uint64_t	mask = mgpu_order_mask(num_items);
		unsigned	spread = (unsigned) unit_random_below(64);

		for (uint32_t i = 0; i < num_items; i++)
		{
			uint64_t	high = unit_random_below(3) == 0 ? unit_random() : unit_random() >> spread >> 1;
			uint64_t	low = unit_random_below(3) == 0 ? unit_random() : unit_random() >> (63 - spread) >> 1;

			if (round % 4 == 0)
				high = unit_random_below(2) * UINT64_MAX;
			wide[i] = (mgpu_u128) high << 64 | low;
			narrow[i] = low;
			order[i] = (unit_code) {high, low, i};
		}
		UNIT_CONTEXT("order levels round %d items %u", round, num_items);
		qsort(order, num_items, sizeof(order[0]), unit_compare_codes);
		mgpu_order_codes_u128(wide, packed, num_items);
		for (uint32_t i = 0; i < num_items; i++)
			UNIT_CHECK((packed[i] & mask) == order[i].index);
		for (uint32_t i = 0; i < num_items; i++)
			order[i] = (unit_code) {0, narrow[i], i};
		qsort(order, num_items, sizeof(order[0]), unit_compare_codes);
		mgpu_order_codes_u64(narrow, packed, num_items);
		for (uint32_t i = 0; i < num_items; i++)
			UNIT_CHECK((packed[i] & mask) == order[i].index);
	}
}

/* mgpu_cpu_run_now, in segments: keys with all of their bits, in place or not, and their indices. */
static void
check_job(const unit_type *type, uint64_t num_items, uint64_t segment_items, bool in_place)
{
	char	   *keys = unit_allocate(num_items * type->width);
	char	   *sorted = unit_allocate(num_items * type->width);
	uint32_t   *indices = unit_allocate(num_items * sizeof(uint32_t));
	uint32_t   *heads = unit_allocate(num_items * sizeof(uint32_t));
	unit_code  *order = unit_allocate((num_items + 1) * sizeof(*order));
	mgpu_job	job = {
		.op = MGPU_OP_SORT,.key_kind = type->kind,.key_width = type->width,.outputs = MGPU_OUT_KEYS,
		.descending = (uint32_t) (num_items % 2),.num_items = num_items
	};
	mgpu_binding binding = {.in_keys = in_place ? sorted : keys,.out_keys = sorted,.in_segment_heads = heads};
	mgpu_error	error;

	unit_fill(type, UNIT_RANDOM, keys, num_items);
	for (uint64_t i = 0; i < num_items && type->kind == MGPU_KEY_FLOAT; i += 3)
	{
		memset(keys + i * type->width, 0, type->width);
		keys[(i + 1) * type->width - 1] = i % 2 == 0 ? 0 : (char) 0x80;
	}
	memcpy(sorted, keys, num_items * type->width);
	if (segment_items < num_items)
		for (uint64_t i = 0; i < num_items; i += segment_items)
			heads[job.num_segments++] = (uint32_t) i;
	UNIT_CONTEXT("job %s items %llu segments of %llu", type->name, (unsigned long long) num_items, (unsigned long long) segment_items);
	UNIT_CHECK(mgpu_cpu_run_now(&job, &binding, &error) == MGPU_OK);
	job.op = MGPU_OP_SORT_PAIRS;
	job.outputs = MGPU_OUT_INDICES;
	binding.in_keys = keys;
	binding.out_indices = indices;
	UNIT_CHECK(mgpu_cpu_run_now(&job, &binding, &error) == MGPU_OK);
	for (uint64_t begin = 0; begin < num_items; begin += segment_items)
	{
		uint64_t	items = begin + segment_items < num_items ? segment_items : num_items - begin;

		unit_order(type, keys + begin * type->width, items, job.descending, order);
		for (uint64_t i = 0; i < items; i++)
		{
			UNIT_CHECK(indices[begin + i] == begin + order[i].index);
			UNIT_CHECK(memcmp(sorted + (begin + i) * type->width, keys + (begin + order[i].index) * type->width, type->width) == 0);
		}
	}
	free(order);
	free(heads);
	free(indices);
	free(sorted);
	free(keys);
}

static void
test_jobs(void)
{
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (uint64_t num_items = 1; num_items <= 1000; num_items = num_items * 3 + 1)
			for (uint64_t segment_items = 1; segment_items <= num_items; segment_items = segment_items * 4 + 1)
			{
				check_job(&unit_types[type], num_items, segment_items, false);
				check_job(&unit_types[type], num_items, segment_items, true);
			}
}

int
main(void)
{
	for (uint32_t width = 1; width <= 16; width *= 2)
		UNIT_CHECK(mgpu_small_limit(width) >= 1 && mgpu_small_limit(width) <= MGPU_SMALL_MAX);
	for (mgpu_radix_choice radix = MGPU_RADIX_IF_FASTER; radix <= MGPU_RADIX_ALWAYS; radix++)
	{
		mgpu_cpu_tunables.radix = radix;
		test_small_sizes();
		test_shapes();
		test_largest();
		test_jobs();
	}
	test_order_levels();
	return unit_report();
}

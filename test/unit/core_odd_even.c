/*
 * core_odd_even.c
 *		The odd-even mergesort network against qsort.
 *
 * The tests cover every length up to 300 and some large ones, all key types, and the
 * compare-exchanges of each instruction set.
 */
#include "core/cpu/exchange.h"
#include "unit_run.h"

static void
run_case(const unit_type *type, unit_shape shape, uint32_t descending, uint64_t num_items, bool streamed,
		 int num_threads)
{
	uint32_t	width = type->width;
	mgpu_job	job = {
		.op = MGPU_OP_ODD_EVEN_SORT,.key_kind = type->kind,.key_width = width,.outputs = MGPU_OUT_KEYS,
		.descending = descending,.num_items = num_items
	};
	char	   *keys = unit_allocate(num_items * width);
	char	   *out = unit_allocate(num_items * width);
	unit_code  *order = unit_allocate((num_items + 1) * sizeof(*order));
	mgpu_binding binding = {.in_keys = keys,.out_keys = out};
	mgpu_run_stats stats = {0};
	mgpu_error	err = {0};
	char		key[16];

	unit_fill(type, shape, keys, num_items);
	unit_order(type, keys, num_items, descending, order);
	UNIT_CONTEXT("%s %s descending %u items %llu streamed %d threads %d", type->name, unit_shape_names[shape],
				 descending, (unsigned long long) num_items, streamed, num_threads);
	UNIT_CHECK(unit_run_job(&job, &binding, streamed, num_threads, &stats, &err) == MGPU_OK);
	for (uint64_t i = 0; i < num_items; i++)
	{
		unit_canonical_key(type, keys, order[i].index, key);
		UNIT_CHECK(memcmp(out + i * width, key, width) == 0);
	}
	free(keys);
	free(out);
	free(order);
}

static void
random_case(uint64_t num_items)
{
	run_case(&unit_types[unit_random_below(UNIT_NUM_TYPES)], (unit_shape) unit_random_below(UNIT_NUM_SHAPES),
			 (uint32_t) unit_random_below(2), num_items, unit_random_below(2) == 0, 1 << unit_random_below(3));
}

static void
test_lengths(void)
{
	for (uint64_t num_items = 0; num_items <= 300; num_items++)
		for (int i = 0; i < 6; i++)
			random_case(num_items);
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (int i = 0; i < 12; i++)
			run_case(&unit_types[type], UNIT_RANDOM, (uint32_t) (i % 2), unit_random_below(20000),
					 i % 3 == 0, 1 + i % 4);
}

/* Lengths at powers of two, where blocks end, and one below and above. */
static void
test_powers(void)
{
	for (uint64_t power = 64; power <= 16384; power *= 2)
		for (uint64_t off = 0; off < 3; off++)
			for (int i = 0; i < 6; i++)
				random_case(power + off - 1);
}

static void
test_exchanges(void)
{
	for (int level = MGPU_EXCHANGE_PORTABLE; level <= (int) mgpu_exchange_best_level(); level++)
		for (uint32_t width = 1; width <= 16; width *= 2)
			for (uint64_t stride = 1; stride <= 64; stride *= 2)
			{
				uint64_t	num_runs = 1 + unit_random_below(9);
				uint64_t	num_codes = num_runs * 2 * stride;
				unsigned char *codes = unit_allocate(num_codes * width);
				unsigned char *before = unit_allocate(num_codes * width);

				for (uint64_t i = 0; i < num_codes * width; i++)
					codes[i] = before[i] = (unsigned char) (unit_random() >> 20);
				mgpu_exchange_runs((mgpu_exchange_level) level, codes, num_runs, stride, width);
				UNIT_CONTEXT("level %d width %u stride %llu", level, width, (unsigned long long) stride);
				for (uint64_t i = 0; i < num_codes; i++)
				{
					uint64_t	low = i & ~stride;
					uint64_t	high = i | stride;
					int			order = 0;

					for (int byte = (int) width - 1; byte >= 0 && order == 0; byte--)
						order = before[low * width + (uint32_t) byte] - before[high * width + (uint32_t) byte];
					UNIT_CHECK(memcmp(codes + i * width, before + ((order > 0) == (i == low) ? high : low) * width,
									  width) == 0);
				}
				free(codes);
				free(before);
			}
}

int
main(void)
{
	test_exchanges();
	random_case(300000);
	mgpu_cpu_tunables.slot_bytes = 1024;
	mgpu_cpu_tunables.step_bytes = 1024;
	mgpu_cpu_tunables.threads_min_bytes = 512;
	for (uint64_t vectors = 0; vectors < 2; vectors++)
	{
		mgpu_cpu_tunables.vectors = vectors;
		mgpu_cpu_tunables.chunk_bytes = 1024;
		test_lengths();
		test_powers();
		mgpu_cpu_tunables.chunk_bytes = 1;
		test_lengths();
	}
	return unit_report();
}

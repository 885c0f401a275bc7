/*
 * core_merge.c
 *		Merges of two sorted inputs against a serial merge.
 *
 * The tests cover cuts at any diagonal, both executor operations, and unsorted inputs.
 */
#include "core/cpu_merge_path.h"
#include "unit_run.h"

/* Two lists of one type, sorted by code.  Floats may have any bits. */
typedef struct list_pair
{
	const unit_type *type;
	uint32_t	descending;
	char	   *a;
	char	   *b;
	uint64_t	num_a;
	uint64_t	num_b;
	uint32_t   *order;			/* the merged order: index in a, or num_a + index in b */
} list_pair;

static int
compare_items(const list_pair *lists, const char *x, const char *y)
{
	unit_code	a = unit_code_of(lists->type, x, 0, lists->descending);
	unit_code	b = unit_code_of(lists->type, y, 0, lists->descending);

	return unit_compare_codes(&a, &b);
}

static char *
make_list(const list_pair *lists, unit_shape shape, uint64_t num_items)
{
	uint32_t	width = lists->type->width;
	char	   *keys = unit_allocate(num_items * width);
	char	   *sorted = unit_allocate(num_items * width);
	unit_code  *order = unit_allocate((num_items + 1) * sizeof(*order));

	unit_fill(lists->type, shape, keys, num_items);
	unit_order(lists->type, keys, num_items, lists->descending, order);
	for (uint64_t i = 0; i < num_items; i++)
		memcpy(sorted + i * width, keys + (uint64_t) order[i].index * width, width);
	free(keys);
	free(order);
	return sorted;
}

static const char *
source_of(const list_pair *lists, uint32_t index)
{
	uint32_t	width = lists->type->width;

	return index < lists->num_a ? lists->a + (uint64_t) index * width : lists->b + (index - lists->num_a) * width;
}

static list_pair
make_lists(const unit_type *type, uint32_t descending, unit_shape a, unit_shape b, uint64_t num_a, uint64_t num_b)
{
	list_pair	lists = {.type = type,.descending = descending,.num_a = num_a,.num_b = num_b};
	uint64_t	i = 0;
	uint64_t	j = 0;

	lists.a = make_list(&lists, a, num_a);
	lists.b = make_list(&lists, b, num_b);
	lists.order = unit_allocate((num_a + num_b) * sizeof(uint32_t));
	while (i + j < num_a + num_b)
	{
		bool		from_b = i == num_a ||
			(j < num_b && compare_items(&lists, lists.b + j * type->width, lists.a + i * type->width) < 0);

		lists.order[i + j] = (uint32_t) (from_b ? num_a + j : i);
		if (from_b)
			j++;
		else
			i++;
	}
	return lists;
}

static void
free_lists(list_pair *lists)
{
	free(lists->a);
	free(lists->b);
	free(lists->order);
}

/* Merge in one to four parts, with and without indices. */
static void
check_cuts(const list_pair *pair, bool vectors)
{
	uint32_t	width = pair->type->width;
	uint64_t	num_items = pair->num_a + pair->num_b;
	uint64_t	num_cuts = 1 + unit_random_below(4);
	mgpu_lists	lists = {.vectors = vectors,.a = pair->a,.b = pair->b,.num_a = pair->num_a,.num_b = pair->num_b};
	char	   *out = unit_allocate(num_items * width);
	uint32_t   *indices = unit_allocate(num_items * sizeof(*indices));

	mgpu_codec_init(&lists.codec, pair->type->kind, width, pair->descending);
	for (int with_indices = 0; with_indices < 2; with_indices++)
	{
		mgpu_cut	cut = {0};

		memset(out, 0x5A, num_items * width);
		for (uint64_t i = 1; i <= num_cuts; i++)
		{
			cut.end = num_items * i / num_cuts;
			cut.a_end = mgpu_merge_path(&lists, cut.end);
			mgpu_merge_cut(&lists, &cut, out + cut.begin * width, with_indices ? indices + cut.begin : NULL);
			cut.begin = cut.end;
			cut.a_begin = cut.a_end;
		}
		for (uint64_t i = 0; i < num_items; i++)
		{
			UNIT_CHECK(memcmp(out + i * width, source_of(pair, pair->order[i]), width) == 0);
			if (with_indices)
				UNIT_CHECK(indices[i] == pair->order[i]);
		}
	}
	UNIT_CHECK(mgpu_first_unsorted(&lists.codec, vectors, pair->a, 0, pair->num_a) == pair->num_a);
	free(out);
	free(indices);
}

static const uint64_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 64, 100, 1000, 1023, 5000, 40000};

#define NUM_LENGTHS ((int) (sizeof(lengths) / sizeof(lengths[0])))

static unit_shape
random_shape(void)
{
	return (unit_shape) unit_random_below(UNIT_NUM_SHAPES);
}

static void
test_cuts(void)
{
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (int i = 0; i < NUM_LENGTHS; i++)
			for (int j = 0; j < NUM_LENGTHS; j++)
			{
				list_pair	lists;

				if (lengths[i] + lengths[j] > 6000 && unit_random_below(4) > 0)
					continue;
				lists = make_lists(&unit_types[type], (uint32_t) unit_random_below(2), random_shape(), random_shape(),
								   lengths[i], lengths[j]);
				UNIT_CONTEXT("%s, %llu and %llu", unit_types[type].name,
							 (unsigned long long) lengths[i], (unsigned long long) lengths[j]);
				check_cuts(&lists, false);
				check_cuts(&lists, true);
				free_lists(&lists);
			}
}

/* Merges of lists with space for padding.  Many of their codes equal the largest code, as padding does. */
static void
test_padding(void)
{
	for (int type = 0; type < 4; type++)
		for (int i = 0; i < 400; i++)
		{
			uint64_t	num_a = unit_random_below(i % 4 == 0 ? 3000 : 60);
			uint64_t	num_b = unit_random_below(i % 3 == 0 ? 3000 : 60);
			uint32_t	width = unit_types[type].width;
			list_pair	lists = make_lists(&unit_types[type], (uint32_t) (i % 2), i % 5 ? UNIT_MAXIMA : UNIT_RANDOM,
										   i % 7 ? UNIT_MAXIMA : UNIT_FEW, num_a, num_b);
			char	   *padded = unit_allocate((num_a + num_b + 2 * MGPU_MERGE_AHEAD) * width);
			char	   *out = unit_allocate((num_a + num_b) * width);
			mgpu_codec	codec;

			mgpu_codec_init(&codec, unit_types[type].kind, width, (uint32_t) (i % 2));
			memcpy(padded, lists.a, num_a * width);
			memcpy(mgpu_padded_b(&codec, padded, num_a), lists.b, num_b * width);
			mgpu_merge_padded(&codec, i % 11 > 0, padded, num_a, num_b, out);
			UNIT_CONTEXT("padding, %s, %llu and %llu", unit_types[type].name,
						 (unsigned long long) num_a, (unsigned long long) num_b);
			for (uint64_t k = 0; k < num_a + num_b; k++)
				UNIT_CHECK(memcmp(out + k * width, source_of(&lists, lists.order[k]), width) == 0);
			free(padded);
			free(out);
			free_lists(&lists);
		}
}

/* A merge by the executor. */
typedef struct merge_run
{
	mgpu_job	job;
	mgpu_binding binding;
	char	   *values;			/* values of a, then of b */
	char	   *out_keys;
	char	   *out_values;
	uint32_t   *out_indices;
} merge_run;

static merge_run
make_run(const list_pair *lists, uint32_t op, uint32_t outputs, uint32_t value_width)
{
	uint64_t	num_items = lists->num_a + lists->num_b;
	merge_run	run = {
		.job = {
			.op = op,.key_kind = lists->type->kind,.key_width = lists->type->width,
			.value_width = outputs & MGPU_OUT_VALUES ? value_width : 0,.outputs = outputs,
			.descending = lists->descending,.num_items = lists->num_a,.num_b_items = lists->num_b
		}
	};

	run.values = unit_allocate(num_items * value_width);
	run.out_keys = unit_allocate(num_items * lists->type->width);
	run.out_values = unit_allocate(num_items * value_width);
	run.out_indices = unit_allocate(num_items * sizeof(uint32_t));
	for (uint64_t i = 0; i < num_items * value_width; i++)
		run.values[i] = (char) unit_random();
	run.binding.in_keys = lists->a;
	run.binding.in_b_keys = lists->b;
	if (outputs & MGPU_OUT_VALUES)
	{
		run.binding.in_values = run.values;
		run.binding.in_b_values = run.values + lists->num_a * value_width;
		run.binding.out_values = run.out_values;
	}
	run.binding.out_keys = outputs & MGPU_OUT_KEYS ? run.out_keys : NULL;
	run.binding.out_indices = outputs & MGPU_OUT_INDICES ? run.out_indices : NULL;
	return run;
}

static void
free_run(merge_run *run)
{
	free(run->values);
	free(run->out_keys);
	free(run->out_values);
	free(run->out_indices);
}

static void
check_run(const list_pair *lists, uint32_t op, uint32_t outputs, uint32_t value_width, unsigned streamed,
		  int num_threads)
{
	merge_run	run = make_run(lists, op, outputs, value_width);
	uint32_t	width = lists->type->width;
	mgpu_run_stats stats = {0};
	mgpu_error	err = {0};

	UNIT_CONTEXT("%s op %u outputs %u width %u streamed %x threads %d, %llu and %llu", lists->type->name, op, outputs,
				 value_width, streamed, num_threads, (unsigned long long) lists->num_a,
				 (unsigned long long) lists->num_b);
	UNIT_CHECK(unit_run_job(&run.job, &run.binding, streamed, num_threads, &stats, &err) == MGPU_OK);
	UNIT_CHECK(stats.algorithm == MGPU_ALGORITHM_MERGE);
	for (uint64_t i = 0; i < lists->num_a + lists->num_b; i++)
	{
		uint32_t	index = lists->order[i];

		if (outputs & MGPU_OUT_KEYS)
			UNIT_CHECK(memcmp(run.out_keys + i * width, source_of(lists, index), width) == 0);
		if (outputs & MGPU_OUT_INDICES)
			UNIT_CHECK(run.out_indices[i] == index);
		if (outputs & MGPU_OUT_VALUES)
			UNIT_CHECK(memcmp(run.out_values + i * value_width, run.values + (uint64_t) index * value_width,
							  value_width) == 0);
	}
	free_run(&run);
}

static void
test_runs(int num_cases)
{
	static const uint32_t value_widths[] = {1, 2, 4, 8, 16};

	for (int i = 0; i < num_cases; i++)
	{
		bool		pairs = unit_random_below(2) == 0;
		uint32_t	outputs = pairs ? 1 + (uint32_t) unit_random_below(7) : MGPU_OUT_KEYS;
		unsigned	streamed = (unsigned) unit_random_below(16) & (outputs & MGPU_OUT_VALUES ? 15 : 5);
		const unit_type *type = &unit_types[i % UNIT_NUM_TYPES];
		list_pair	lists = make_lists(type, (uint32_t) unit_random_below(2), random_shape(),
									   random_shape(),
									   lengths[unit_random_below(NUM_LENGTHS - 1)],
									   lengths[unit_random_below(NUM_LENGTHS - 1)]);

		check_run(&lists, pairs ? MGPU_OP_MERGE_PAIRS : MGPU_OP_MERGE, outputs, value_widths[unit_random_below(5)],
				  streamed, 1 << unit_random_below(3));
		free_lists(&lists);
	}
}

/* Swap two neighbours.  Returns the first position below its predecessor; num_items if there is none. */
static uint64_t
disturb(const list_pair *lists, char *items, uint64_t num_items, uint64_t position)
{
	uint32_t	width = lists->type->width;
	char		key[16];

	memcpy(key, items + position * width, width);
	memcpy(items + position * width, items + (position + 1) * width, width);
	memcpy(items + (position + 1) * width, key, width);
	for (uint64_t i = 1; i < num_items; i++)
		if (compare_items(lists, items + i * width, items + (i - 1) * width) < 0)
			return i;
	return num_items;
}

static void
check_unsorted(const list_pair *lists, int input, uint64_t position)
{
	merge_run	run = make_run(lists, MGPU_OP_MERGE_PAIRS, MGPU_OUT_KEYS | MGPU_OUT_INDICES, 1);
	mgpu_run_stats stats = {0};
	mgpu_error	err = {0};

	for (int num_threads = 1; num_threads <= 2; num_threads++)
	{
		mgpu_status status = unit_run_job(&run.job, &run.binding, num_threads == 1 ? 0 : 5, num_threads, &stats, &err);

		UNIT_CONTEXT("%s, input %d, position %llu", lists->type->name, input, (unsigned long long) position);
		UNIT_CHECK(status == MGPU_NOT_SORTED && err.status == MGPU_NOT_SORTED);
		UNIT_CHECK(stats.unsorted_input == input && stats.unsorted_position == position);
	}
	free_run(&run);
}

/* Swapped neighbours at many positions of either input, and in both at once. */
static void
test_unsorted(void)
{
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (uint64_t position = 0; position + 1 < 400; position += 1 + position / 8)
			for (int input = 0; input < 3; input++)
			{
				list_pair	lists = make_lists(&unit_types[type], (uint32_t) (position % 2),
											   UNIT_RANDOM, UNIT_RANDOM, 400, 400);
				uint64_t	found_a = input != 1 ? disturb(&lists, lists.a, 400, position) : 400;
				uint64_t	found_b = input != 0 ? disturb(&lists, lists.b, 400, 399 - position - 1) : 400;

				if (found_a < 400)
					check_unsorted(&lists, 0, found_a);
				else if (found_b < 400)
					check_unsorted(&lists, 1, found_b);
				free_lists(&lists);
			}
}

/* Random inputs: no access outside of them, and the right first position is reported. */
static void
test_disorder(void)
{
	for (int i = 0; i < 300; i++)
	{
		list_pair	lists = make_lists(&unit_types[i % UNIT_NUM_TYPES], 0, UNIT_RANDOM, UNIT_RANDOM,
									   2 + unit_random_below(3000), unit_random_below(3000));
		uint64_t	found;

		unit_fill(lists.type, UNIT_RANDOM, lists.a, lists.num_a);
		unit_fill(lists.type, UNIT_RANDOM, lists.b, lists.num_b);
		found = disturb(&lists, lists.a, lists.num_a, 0);
		if (found < lists.num_a)
			check_unsorted(&lists, 0, found);
		free_lists(&lists);
	}
}

int
main(void)
{
	test_cuts();
	test_padding();
	mgpu_cpu_tunables.slot_bytes = 1024;
	mgpu_cpu_tunables.threads_min_bytes = 512;
	for (int i = 0; i < 2; i++)
	{
		mgpu_cpu_tunables.merge_items = i == 0 ? 128 : 1000;
		mgpu_cpu_tunables.vectors = (uint64_t) i;
		test_runs(300);
		test_unsorted();
		test_disorder();
	}
	return unit_report();
}

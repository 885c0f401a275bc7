/*
 * core_segsort.c
 *		Segmented sorts and the tile-based mergesort, against qsort of each segment.
 *
 * The mergesort runs with and without segments, and the statistics of its passes are
 * checked.  The tunables are shrunk so that a few thousand items make several tiles,
 * chunks, units and tasks, and long segments.
 */
#include "core/cpu_vector.h"
#include "unit_sort.h"

#define TILE 16

typedef enum layout
{
	LAYOUT_NONE,				/* not segmented */
	LAYOUT_ONE,
	LAYOUT_EACH,				/* one item in each segment */
	LAYOUT_EDGES,				/* segments end at edges of tiles, or one item before or after */
	LAYOUT_TINY,
	LAYOUT_MIXED,				/* tiny segments and a few huge ones */
	LAYOUT_WIDE,
	NUM_LAYOUTS
} layout;

typedef struct test_case
{
	const unit_type *type;
	unit_shape	shape;
	layout		heads;
	uint32_t	op;
	uint32_t	outputs;
	uint32_t	value_width;
	uint32_t	descending;
	uint32_t	algorithm;
	uint64_t	num_items;
	int			num_threads;
	unsigned	streamed;
} test_case;

/* Memory of exactly the bytes that the executor may use, so that ASan finds overruns. */
typedef struct test_data
{
	char	   *keys;
	char	   *values;
	uint32_t   *heads;
	uint64_t	num_segments;
	char	   *out_keys;
	char	   *out_values;
	uint32_t   *out_indices;
} test_data;

static uint64_t
segment_length(layout heads, uint64_t begin)
{
	switch (heads)
	{
		case LAYOUT_EACH:
			return 1;
		case LAYOUT_EDGES:
			/* up to an edge of a tile, or one item less or more */
			return TILE * (1 + unit_random_below(3)) - begin % TILE + unit_random_below(3) - 1;
		case LAYOUT_TINY:
			return 1 + unit_random_below(12);
		case LAYOUT_MIXED:
			return unit_random_below(40) == 0 ? 1 + unit_random_below(1500) : 1 + unit_random_below(4);
		case LAYOUT_WIDE:
			return 1 + unit_random_below(600);
		default:
			return UINT64_MAX;
	}
}

static void
make_heads(const test_case *test, test_data *data)
{
	uint32_t   *heads = unit_allocate((test->num_items + 1) * sizeof(*heads));

	data->num_segments = 0;
	for (uint64_t begin = 0; begin < test->num_items;)
	{
		uint64_t	length = segment_length(test->heads, begin);

		heads[data->num_segments++] = (uint32_t) begin;
		begin = length < test->num_items - begin ? begin + (length > 0 ? length : 1) : test->num_items;
	}
	data->heads = unit_allocate(data->num_segments * sizeof(*heads));
	memcpy(data->heads, heads, data->num_segments * sizeof(*heads));
	free(heads);
}

static void
make_data(const test_case *test, test_data *data)
{
	uint64_t	num_items = test->num_items;

	data->keys = unit_allocate(num_items * test->type->width);
	data->values = unit_allocate(num_items * test->value_width);
	data->out_keys = unit_allocate(num_items * test->type->width);
	data->out_values = unit_allocate(num_items * test->value_width);
	data->out_indices = unit_allocate(num_items * sizeof(uint32_t));
	unit_fill(test->type, test->shape, data->keys, num_items);
	for (uint64_t i = 0; i < num_items * test->value_width; i++)
		data->values[i] = (char) unit_random();
	make_heads(test, data);
}

static void
free_data(test_data *data)
{
	free(data->keys);
	free(data->values);
	free(data->heads);
	free(data->out_keys);
	free(data->out_values);
	free(data->out_indices);
}

static void
check_item(const test_case *test, const test_data *data, uint64_t i, uint32_t index)
{
	uint32_t	width = test->type->width;
	char		key[16];

	unit_canonical_key(test->type, data->keys, index, key);
	if (test->outputs & MGPU_OUT_KEYS)
		UNIT_CHECK(memcmp(data->out_keys + i * width, key, width) == 0);
	if (test->outputs & MGPU_OUT_INDICES)
		UNIT_CHECK(data->out_indices[i] == index);
	if (test->outputs & MGPU_OUT_VALUES)
		UNIT_CHECK(memcmp(data->out_values + i * test->value_width,
						  data->values + (uint64_t) index * test->value_width, test->value_width) == 0);
}

/* Returns whether the input was in order. */
static bool
check_result(const test_case *test, const test_data *data)
{
	unit_code  *order = unit_allocate((test->num_items + 1) * sizeof(*order));
	bool		in_order = true;

	for (uint64_t segment = 0; segment < data->num_segments; segment++)
	{
		uint64_t	begin = data->heads[segment];
		uint64_t	end = segment + 1 < data->num_segments ? data->heads[segment + 1] : test->num_items;

		unit_order(test->type, data->keys + begin * test->type->width, end - begin, test->descending, order);
		for (uint64_t i = begin; i < end; i++)
		{
			check_item(test, data, i, order[i - begin].index + (uint32_t) begin);
			in_order = in_order && order[i - begin].index == i - begin;
		}
	}
	free(order);
	return in_order;
}

static void
check_stats(const test_case *test, const mgpu_run_stats *stats, bool in_order)
{
	bool		is_tiled = (test->algorithm == MGPU_ALGORITHM_MERGE || test->algorithm == MGPU_ALGORITHM_LOCALITY) &&
		(test->op == MGPU_OP_SORT || test->type->width <= 4);

	if (test->num_items == 0)
		return;
	UNIT_CHECK(is_tiled == (stats->num_tiles > 0));
	UNIT_CHECK(!is_tiled || stats->algorithm == (mgpu_algorithm) test->algorithm);
	UNIT_CHECK(stats->num_passes == 0 || UINT64_C(1) << (stats->num_passes - 1) < stats->num_tiles);
	UNIT_CHECK(UINT64_C(1) << stats->num_passes >= stats->num_tiles);
	for (int pass = 0; pass < stats->num_passes; pass++)
	{
		UNIT_CHECK(stats->passes[pass].merge_tiles + stats->passes[pass].copy_tiles <= stats->num_tiles);
		if (in_order)
			UNIT_CHECK(stats->passes[pass].merge_tiles + stats->passes[pass].copy_tiles == 0);
	}
}

static void
run_case(const test_case *test)
{
	mgpu_job	job = {
		.op = test->op,.key_kind = test->type->kind,.key_width = test->type->width,
		.value_width = test->outputs & MGPU_OUT_VALUES ? test->value_width : 0,.outputs = test->outputs,
		.descending = test->descending,.algorithm = test->algorithm,.num_items = test->num_items
	};
	mgpu_binding binding = {0};
	mgpu_run_stats stats = {0};
	mgpu_error	err = {0};
	test_data	data;

	make_data(test, &data);
	job.num_segments = test->heads == LAYOUT_NONE ? 0 : data.num_segments;
	binding.in_keys = data.keys;
	binding.in_values = data.values;
	binding.in_segment_heads = data.heads;
	binding.out_keys = test->outputs & MGPU_OUT_KEYS ? data.out_keys : NULL;
	binding.out_values = test->outputs & MGPU_OUT_VALUES ? data.out_values : NULL;
	binding.out_indices = test->outputs & MGPU_OUT_INDICES ? data.out_indices : NULL;
	UNIT_CONTEXT("%s %s layout %d op %u outputs %u descending %u algorithm %u items %llu threads %d streamed %x",
				 test->type->name, unit_shape_names[test->shape], (int) test->heads, test->op, test->outputs,
				 test->descending, test->algorithm, (unsigned long long) test->num_items, test->num_threads,
				 test->streamed);
	UNIT_CHECK(unit_run_job(&job, &binding, test->streamed, test->num_threads, &stats, &err) == MGPU_OK);
	check_stats(test, &stats, check_result(test, &data));
	free_data(&data);
}

static test_case
random_case(uint64_t num_items)
{
	static const uint32_t value_widths[] = {1, 2, 4, 8, 16};
	test_case	test;

	test.type = &unit_types[unit_random_below(UNIT_NUM_TYPES)];
	test.shape = (unit_shape) unit_random_below(UNIT_NUM_SHAPES);
	test.heads = (layout) unit_random_below(NUM_LAYOUTS);
	test.op = unit_random_below(2) == 0 ? MGPU_OP_SORT : MGPU_OP_SORT_PAIRS;
	test.outputs = test.op == MGPU_OP_SORT ? MGPU_OUT_KEYS : 1 + (uint32_t) unit_random_below(7);
	test.value_width = value_widths[unit_random_below(5)];
	test.descending = (uint32_t) unit_random_below(2);
	test.algorithm = (uint32_t) unit_random_below(4);
	test.num_items = num_items;
	test.num_threads = 1 << unit_random_below(3);
	test.streamed = unit_random_below(2) == 0 ? 0 : test.outputs & MGPU_OUT_VALUES ? 3 : 1;
	return test;
}

/* Every type, layout and algorithm, for keys and for pairs; the rest is random. */
static void
test_products(void)
{
	for (int type = 0; type < UNIT_NUM_TYPES; type++)
		for (int heads = 0; heads < NUM_LAYOUTS; heads++)
			for (uint32_t algorithm = 0; algorithm < 4; algorithm++)
				for (uint32_t op = MGPU_OP_SORT; op <= MGPU_OP_SORT_PAIRS; op++)
				{
					test_case	test = random_case(unit_random_below(4000));

					test.type = &unit_types[type];
					test.heads = (layout) heads;
					test.algorithm = algorithm;
					test.op = op;
					test.outputs = op == MGPU_OP_SORT ? MGPU_OUT_KEYS : MGPU_OUT_KEYS | MGPU_OUT_INDICES;
					test.streamed &= 1;
					run_case(&test);
				}
}

/* Lengths at multiples of a tile, a chunk and a block, and one below and above. */
static void
test_sizes(void)
{
	static const uint64_t sizes[] = {0, 1, 2, TILE, 2 * TILE, 4 * TILE, 16 * TILE, 64 * TILE, 512, 2048};

	for (int size = 0; size < (int) (sizeof(sizes) / sizeof(sizes[0])); size++)
		for (uint64_t off = 0; off < 3; off++)
			for (int i = 0; i < 20; i++)
			{
				test_case	test;

				if (sizes[size] + off == 0)
					continue;
				test = random_case(sizes[size] + off - 1);
				run_case(&test);
			}
}

static void
test_random(int num_cases)
{
	for (int i = 0; i < num_cases; i++)
	{
		test_case	test = random_case(unit_random_below(i % 10 == 0 ? 30000 : 3000));

		run_case(&test);
	}
}

/* Once lists are longer than segments, each pass merges about half as much as the pass before. */
static void
test_halving(void)
{
	static const uint64_t num_items = 1 << 16;
	uint32_t   *keys = unit_allocate(num_items * sizeof(*keys));
	uint32_t   *out = unit_allocate(num_items * sizeof(*out));
	uint32_t   *heads = unit_allocate(num_items * sizeof(*heads));
	mgpu_job	job = {
		.op = MGPU_OP_SORT,.key_kind = MGPU_KEY_UNSIGNED,.key_width = 4,.outputs = MGPU_OUT_KEYS,
		.algorithm = MGPU_ALGORITHM_MERGE,.num_items = num_items
	};
	mgpu_binding binding = {.in_keys = keys,.out_keys = out,.in_segment_heads = heads};
	mgpu_run_stats stats;
	mgpu_error	err;

	for (uint64_t begin = 0; begin < num_items; begin += 1 + unit_random_below(3 * TILE))
		heads[job.num_segments++] = (uint32_t) begin;
	for (uint64_t i = 0; i < num_items; i++)
		keys[i] = (uint32_t) unit_random();
	UNIT_CONTEXT("halving");
	UNIT_CHECK(unit_run_job(&job, &binding, 0, 2, &stats, &err) == MGPU_OK);
	UNIT_CHECK(stats.num_tiles == num_items / TILE && stats.num_passes == 12);
	for (int pass = 2; pass + 1 < stats.num_passes; pass++)
		UNIT_CHECK(stats.passes[pass + 1].merge_tiles <= stats.passes[pass].merge_tiles * 6 / 10 + 8);
	UNIT_CHECK(stats.passes[0].merge_tiles > stats.num_tiles / 2);
	UNIT_CHECK(stats.passes[stats.num_passes - 1].merge_tiles <= 8);
	free(keys);
	free(out);
	free(heads);
}

/* The sorting networks alone, at every length they support and the first that they refuse. */
static void
test_networks(void)
{
	static const unit_type types[] = {{"u4", MGPU_KEY_UNSIGNED, 4}, {"u8", MGPU_KEY_UNSIGNED, 8}};
	static const uint32_t head = 0;

	for (int type = 0; type < 2; type++)
	{
		uint32_t	width = types[type].width;
		mgpu_flips	flips = {.width = width};
		uint32_t	most = mgpu_vector_sort_max(width);

		for (uint32_t length = 1; length <= most + (most > 0); length++)
		{
			char	   *items = unit_allocate(length * width);
			char	   *sorted = unit_allocate(length * width);
			unit_code  *order = unit_allocate(length * sizeof(*order));
			uint64_t	done;

			unit_fill(&types[type], length % 2 ? UNIT_RANDOM : UNIT_FEW, items, length);
			unit_order(&types[type], items, length, 0, order);
			done = mgpu_vector_sort_segments(items, sorted, &head, 1, length, &flips);
			UNIT_CONTEXT("network of %u items of %u bytes", length, width);
			UNIT_CHECK(done == (length <= most));
			for (uint32_t i = 0; i < length && done > 0; i++)
				UNIT_CHECK(memcmp(sorted + i * width, items + order[i].index * width, width) == 0);
			free(items);
			free(sorted);
			free(order);
		}
	}
}

/* Merges of two adjacent lists in registers, at every total length and random cuts. */
static void
test_short_merges(void)
{
	static const unit_type types[] = {{"u4", MGPU_KEY_UNSIGNED, 4}, {"u8", MGPU_KEY_UNSIGNED, 8}};

	for (int type = 0; type < 2; type++)
	{
		uint32_t	width = types[type].width;
		uint32_t	most = mgpu_vector_sort_max(width);

		for (uint32_t length = 2; length <= most; length++)
			for (int i = 0; i < 8; i++)
			{
				uint32_t	num_a = 1 + (uint32_t) unit_random_below(length - 1);
				uint64_t	flip = i % 2 ? ~UINT64_C(0) : 0;
				mgpu_flips	flips = {width, 0, flip};
				uint32_t	heads[2] = {0, num_a};
				uint32_t	head = 0;
				char	   *items = unit_allocate(length * width);
				char	   *sorted = unit_allocate(length * width);
				char	   *merged = unit_allocate(length * width);

				unit_fill(&types[type], i % 4 < 2 ? UNIT_RANDOM : UNIT_FEW, items, length);
				mgpu_vector_sort_segments(items, sorted, &head, 1, length, &flips);
				mgpu_vector_sort_segments(items, merged, heads, 2, length, &flips);
				mgpu_vector_merge_short(merged, num_a, length - num_a, width, flip);
				UNIT_CONTEXT("short merge of %u and %u items of %u bytes", num_a, length - num_a, width);
				UNIT_CHECK(memcmp(merged, sorted, length * width) == 0);
				free(items);
				free(sorted);
				free(merged);
			}
	}
}

/* Cancel or release runs after some polls.  ASan finds memory that is left. */
static void
test_cancel(void)
{
	static const uint64_t num_items = 100000;
	mgpu_cpu_tuning before = mgpu_cpu_tunables;
	uint32_t   *keys = unit_allocate(num_items * sizeof(*keys));
	uint32_t   *out = unit_allocate(num_items * sizeof(*out));
	uint32_t   *indices = unit_allocate(num_items * sizeof(*indices));
	uint32_t	heads[] = {0, 3, 40000, 40001, 90000};
	mgpu_exec_options options = {.device = -1,.num_threads = 2};
	mgpu_error	err;

	mgpu_cpu_tunables.poll_ms = 1;
	for (uint64_t i = 0; i < num_items; i++)
		keys[i] = (uint32_t) unit_random();
	for (int i = 0; i < 120; i++)
	{
		mgpu_job	job = {
			.op = i % 2 ? MGPU_OP_SORT : MGPU_OP_SORT_PAIRS,.key_kind = MGPU_KEY_UNSIGNED,.key_width = 4,
			.outputs = i % 2 ? MGPU_OUT_KEYS : MGPU_OUT_INDICES,.num_items = num_items,
			.algorithm = (uint32_t) (i % 3 == 0 ? MGPU_ALGORITHM_MERGE : MGPU_ALGORITHM_AUTO),.num_segments = 5
		};
		mgpu_binding binding = {.in_keys = keys,.out_keys = out,.out_indices = indices,.in_segment_heads = heads};
		mgpu_status status;
		mgpu_run   *run;

		UNIT_CONTEXT("cancel %d", i);
		UNIT_CHECK(mgpu_cpu_executor.open(&job, &binding, &options, &run, &err) == MGPU_OK);
		UNIT_CHECK(mgpu_cpu_executor.submit(run, &err) == MGPU_OK);
		status = MGPU_PENDING;
		for (int polls = i / 6; polls > 0 && status == MGPU_PENDING; polls--)
			status = mgpu_cpu_executor.poll(run, &err);
		if (i % 5 > 0)
		{
			mgpu_cpu_executor.cancel(run);
			UNIT_CHECK(mgpu_cpu_executor.poll(run, &err) == (status == MGPU_OK ? MGPU_OK : MGPU_CANCELLED));
		}
		mgpu_cpu_executor.release(run);
	}
	mgpu_cpu_tunables = before;
	free(keys);
	free(out);
	free(indices);
}

static void
shrink_tunables(void)
{
	unit_sort_shrink_tunables();
	mgpu_cpu_tunables.tile_items = TILE;
	mgpu_cpu_tunables.segment_task_items = 700;
	mgpu_cpu_tunables.segment_items = 900;
}

int
main(void)
{
	test_networks();
	test_short_merges();
	shrink_tunables();
	for (uint64_t vectors = 0; vectors < 2; vectors++)
	{
		mgpu_cpu_tunables.vectors = vectors;
		test_products();
		test_sizes();
		test_random(300);
		test_halving();
		test_cancel();
	}
	/* every segment larger than a block is sorted like an array */
	mgpu_cpu_tunables.segment_items = 1;
	test_random(200);
	mgpu_cpu_tunables.segment_items = 900;
	/* one chunk for all items, then units larger than a chunk's few tiles */
	mgpu_cpu_tunables.chunk_bytes = 65536;
	test_random(200);
	mgpu_cpu_tunables.tile_items = 4;
	mgpu_cpu_tunables.chunk_bytes = 1;
	test_random(200);
	return unit_report();
}
